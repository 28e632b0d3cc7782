//! Machines behind a real sshd: drift, a stop file, a key that is unknown or another one, and nobody
//! there at all.

use serde_json::{Value, json};
use void_testkit::sshd::Sshd;

use super::pve::set;
use super::{amiss, fine, problem, report};
use crate::lab::{Lab, Server, word};

struct Machine {
    sshd: Sshd,
    lab: Lab,
    server: Server,
}

impl Machine {
    /// With its list as `void provision ssh` prints it. `pinned` puts its key into the catalogue.
    fn new(pinned: bool) -> Self {
        let sshd = Sshd::start();
        let mut host = json!({"address": "127.0.0.1", "port": sshd.port, "user": sshd.account()});
        if pinned {
            host["host_key"] = json!(sshd.host_key);
        }
        let restart = |id: &str, service: &str| json!({"id": id, "kind": "service_restart", "host": "ct100", "service": service, "tier": "safe"});
        let catalogue = json!({
            "hosts": {"ct100": host},
            "actions": [restart("restart-caddy", "caddy"), restart("restart-smb", "smbd")],
        });
        let mut lab = Lab::with(&catalogue);
        set(&mut lab, "ACTIONS_SSH_KEY", sshd.key.to_str().unwrap());
        let server = lab.serve(&[]);
        let machine = Self { sshd, lab, server };
        machine.write_list(|_| {});
        machine
    }

    fn write_list(&self, change: impl FnOnce(&mut Value)) {
        let mut list = self.lab.json(&["provision", "ssh", "ct100"], 0)["list"].take();
        list["stop_file"] = json!(self.sshd.path("stop"));
        // sudo lets this account run nothing here, and the host would say so.
        for entry in list["entries"].as_array_mut().unwrap() {
            entry["argv"] = json!(["/usr/bin/true"]);
        }
        change(&mut list);
        self.sshd.write("list.json", &list.to_string(), 0o644);
    }

    fn trust(&self) {
        let (_, next) = problem(&report(&self.lab), "host key");
        assert!(next.contains("ssh-keygen -lf "), "{next}");
        assert!(
            next.ends_with("void hosts trust ct100 --fingerprint SHA256:…"),
            "{next}"
        );
        let fingerprint = self.fingerprint();
        let trust = ["hosts", "trust", "ct100", "--fingerprint", &fingerprint];
        self.lab.json(&trust, 0);
    }

    /// As the owner reads it on the machine itself.
    fn fingerprint(&self) -> String {
        let printed = std::process::Command::new("ssh-keygen")
            .arg("-lf")
            .arg(self.sshd.path("host_key.pub"))
            .output()
            .unwrap();
        let line = String::from_utf8(printed.stdout).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    }
}

#[test]
fn a_list_that_no_longer_fits_is_named() {
    let machine = Machine::new(true);
    fine(&report(&machine.lab), "host");
    machine.write_list(|list| {
        list["entries"].as_array_mut().unwrap().pop();
    });
    let (message, next) = problem(&report(&machine.lab), "host");
    assert!(message.contains("no entry"), "{message}");
    assert_eq!(next, "void provision ssh ct100");

    machine.write_list(|_| {});
    machine.sshd.write("stop", "", 0o644);
    let found = amiss(&report(&machine.lab), "host");
    assert!(
        word(&found[0], "message").contains("stop file"),
        "{found:?}"
    );
    drop(machine.server);
}

#[test]
fn a_machine_that_is_not_there_is_named() {
    let mut machine = Machine::new(true);
    machine.sshd.stop();
    let (message, next) = problem(&report(&machine.lab), "host");
    assert!(
        message.starts_with("ct100: ") && message.contains("cannot be reached"),
        "{message}"
    );
    assert!(next.ends_with("void hosts check ct100"), "{next}");
}

#[test]
fn without_a_server_nobody_is_asked_and_that_is_said() {
    let found = amiss(&report(&Lab::new()), "host");
    let words: Vec<&str> = found.iter().map(|one| word(one, "message")).collect();
    assert_eq!(words, ["not asked: the server does that"]);
}

#[test]
fn an_unknown_and_a_changed_host_key_are_named() {
    let mut machine = Machine::new(false);
    let (message, _) = problem(&report(&machine.lab), "host key");
    assert!(message.contains("is unknown; it shows"), "{message}");
    assert!(message.contains(&machine.fingerprint()), "{message}");
    machine.trust();
    fine(&report(&machine.lab), "host");

    let before = machine.fingerprint();
    machine.sshd.change_host_key();
    machine.sshd.restart();
    let (message, next) = problem(&report(&machine.lab), "host key");
    assert!(message.contains("has changed"), "{message}");
    assert!(
        message.contains(&before) && message.contains(&machine.fingerprint()),
        "{message}"
    );
    assert!(next.starts_with("find out why"), "{next}");
    machine.trust();
    fine(&report(&machine.lab), "host");
}

#[test]
fn a_changed_key_that_the_catalogue_pins_is_changed_there() {
    let mut machine = Machine::new(true);
    machine.sshd.change_host_key();
    machine.sshd.restart();
    let (message, next) = problem(&report(&machine.lab), "host key");
    assert!(message.contains("has changed"), "{message}");
    assert!(
        next.ends_with("as host_key of ct100 into the catalogue"),
        "{next}"
    );
}

/// The list fits and is in place; what the account may do is asked of sudo itself.
#[test]
fn what_sudo_does_not_let_through_is_named() {
    let machine = Machine::new(true);
    fine(&report(&machine.lab), "host");
    machine.write_list(|list| {
        list["entries"][0]["argv"] = json!([
            "/usr/bin/sudo",
            "-n",
            "/usr/bin/systemctl",
            "restart",
            "caddy"
        ]);
    });
    let (message, next) = problem(&report(&machine.lab), "host");
    assert_eq!(
        message,
        "ct100: restart-caddy cannot run: sudo does not allow /usr/bin/systemctl restart caddy without a password"
    );
    assert_eq!(next, "void provision ssh ct100");
    machine.write_list(|list| {
        list["entries"][1]["argv"] = json!(["/nonexistent/program"]);
    });
    let (message, _) = problem(&report(&machine.lab), "host");
    assert!(
        message.starts_with("ct100: restart-smb cannot run: /nonexistent/program: "),
        "{message}"
    );
    let checked = machine.lab.void(&["hosts", "check", "ct100"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = String::from_utf8(checked.stdout).unwrap();
    assert!(
        said.contains("restart-smb cannot run") && said.contains("next: "),
        "{said}"
    );
}
