//! What `void provision ssh` prints is what a host needs: its own checker accepts the list, sudo
//! accepts the lines and allows exactly those commands, and Void finds no drift.

mod local;
mod machines;
mod own_lab;
mod proxmox;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::lab::{Lab, VOID, word};

fn catalogue() -> Value {
    json!({
        "hosts": {"ct100": "192.168.1.230", "z": "192.168.1.124"},
        "actions": [
            {"id": "restart-caddy", "kind": "service_restart", "host": "ct100", "service": "caddy", "tier": "safe", "cooldown_s": 60, "max_per_hour": 6},
            {"id": "restart-odd", "kind": "service_restart", "host": "ct100", "service": "wg-quick@wg0:1.service", "tier": "risky", "timeout_s": 30},
            {"id": "restart-plain", "kind": "service_restart", "host": "ct100", "service": "plain", "tier": "safe"},
            {"id": "restart-zero", "kind": "service_restart", "host": "ct100", "service": "zero", "tier": "safe", "cooldown_s": 0},
            {"id": "stop-ct107", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky", "via": "host"},
            {"id": "reboot-vm9", "kind": "guest_power", "guest": "qemu", "node": "z", "vmid": 900, "op": "reboot", "tier": "risky", "via": "host"},
            {"id": "scale-grafana", "kind": "scale", "node": "z", "service": "grafana", "tier": "risky", "via": "host",
             "params": {"replicas": {"type": "integer", "min": 0, "max": 5}}},
            {"id": "start-ct107", "kind": "guest_power", "node": "z", "vmid": 107, "op": "start", "tier": "safe"},
        ],
    })
}

fn plan(host: &str) -> (Lab, Value) {
    let mut lab = Lab::new();
    fs::write(lab.path("actions.json"), catalogue().to_string()).unwrap();
    with_key(&mut lab);
    let plan = lab.json(&["provision", "ssh", host], 0);
    (lab, plan)
}

/// A key pair that Void connects with.
fn with_key(lab: &mut Lab) {
    let key = lab.path("void-key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status()
        .unwrap();
    assert!(made.success());
    let key = key.display().to_string();
    lab.environment.push(("ACTIONS_SSH_KEY".into(), key));
}

/// Without the key, the machine would be open to nobody, and somebody would find that out later.
#[test]
fn without_a_key_nothing_is_printed() {
    let mut lab = Lab::new();
    fs::write(lab.path("actions.json"), catalogue().to_string()).unwrap();
    let none = lab.void(&["provision", "ssh", "ct100"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(none.stdout.is_empty());
    let said = String::from_utf8(none.stderr).unwrap();
    assert!(said.contains("next: ssh-keygen -t ed25519"), "{said}");
    with_key(&mut lab);
    lab.json(&["provision", "ssh", "ct100"], 0);
    let public = lab.path("void-key.pub");
    for bad in [
        "",
        "not a key\n",
        "ssh-ed25519\n",
        "ssh-ed25519 AAAA\u{7}\n",
    ] {
        fs::write(&public, bad).unwrap();
        let refused = lab.json(&["provision", "ssh", "ct100"], 3);
        let next = word(&refused["error"], "next");
        assert!(next.starts_with("ssh-keygen -y -f "), "{bad:?}: {next}");
    }
    // This machine has no SSH in between.
    let here = lab.json(&["provision", "ssh", "local"], 2);
    assert_eq!(here["error"]["next"], json!("void provision local"));
}

#[test]
fn the_list_holds_the_hosts_actions_and_nothing_else() {
    let (_lab, plan) = plan("ct100");
    let entries = plan["list"]["entries"].as_array().unwrap();
    let ids: Vec<&str> = entries.iter().map(|entry| word(entry, "id")).collect();
    assert_eq!(
        ids,
        [
            "restart-caddy",
            "restart-odd",
            "restart-plain",
            "restart-zero"
        ]
    );
    // A written cooldown is everybody's; the default is for whoever comes without a ticket; 0 is none, and
    // then a bare id is refused.
    let brakes = |at: usize| (&entries[at]["cooldown_s"], &entries[at]["bare_cooldown_s"]);
    assert_eq!(brakes(0), (&json!(60), &Value::Null));
    assert_eq!(brakes(1), (&Value::Null, &Value::Null));
    assert_eq!(brakes(2), (&Value::Null, &json!(60)));
    assert_eq!(brakes(3), (&Value::Null, &Value::Null));
    assert_eq!(
        entries[0]["argv"],
        json!([
            "/usr/bin/sudo",
            "-n",
            "/usr/bin/systemctl",
            "restart",
            "caddy"
        ])
    );
    assert_eq!(
        (
            entries[0]["cooldown_s"].as_u64(),
            entries[0]["max_per_hour"].as_u64()
        ),
        (Some(60), Some(6))
    );
    assert_eq!(word(&entries[0], "def").len(), 64);
    for (way, program) in [
        ("packaged", "/usr/bin/void-act"),
        ("copied", "/usr/local/bin/void-act"),
    ] {
        let line = word(&plan["authorized_keys"], way);
        let begins = format!("restrict,command=\"{program}\" ssh-ed25519 ");
        assert!(line.starts_with(&begins), "{line}");
    }

    let (lab, plan) = self::plan("z");
    let argv: Vec<&Value> = plan["list"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["argv"])
        .collect();
    assert_eq!(
        argv[0],
        &json!(["/usr/bin/sudo", "-n", "/usr/sbin/qm", "reboot", "900"])
    );
    assert_eq!(
        argv[1],
        &json!(["/usr/local/lib/void-act/scale", "grafana", {"param": "replicas"}])
    );
    assert_eq!(
        argv[2],
        &json!(["/usr/bin/sudo", "-n", "/usr/sbin/pct", "stop", "107"])
    );
    assert_eq!(
        argv.len(),
        3,
        "what goes to the Proxmox API is not on a host's list"
    );
    let unknown = lab.json(&["provision", "ssh", "ct10"], 5);
    assert_eq!(unknown["error"]["next"], json!("did you mean ct100?"));
}

/// The printed script creates the very files; `void-act --check` and `visudo` look at them.
#[test]
fn the_hosts_own_checkers_accept_what_is_printed() {
    for host in ["ct100", "z"] {
        let (lab, plan) = plan(host);
        let list = lab.path("printed.json");
        fs::write(&list, plan["list"].to_string()).unwrap();
        fs::set_permissions(&list, fs::Permissions::from_mode(0o644)).unwrap();
        let checked = Command::new(VOID)
            .args(["act", "--check", "--trust-own-list", "--list"])
            .arg(&list)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&checked.stdout).into_owned();
        // What an owner has to write for a node kind is not on this machine, and is named.
        let errors: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("error"))
            .collect();
        match host {
            "z" => assert!(
                matches!(errors[..], [one] if one.contains("/usr/local/lib/void-act/scale")),
                "{said}"
            ),
            _ => assert!(checked.status.success() && errors.is_empty(), "{said}"),
        }
        let lines: Vec<&str> = plan["sudoers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap())
            .collect();
        let sudoers = lab.path("sudoers");
        fs::write(&sudoers, format!("{}\n", lines.join("\n"))).unwrap();
        fs::set_permissions(&sudoers, fs::Permissions::from_mode(0o440)).unwrap();
        let checked = Command::new("visudo")
            .arg("-cf")
            .arg(&sudoers)
            .output()
            .unwrap();
        assert!(
            checked.status.success(),
            "{lines:?}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
        let script = String::from_utf8(lab.void(&["provision", "ssh", host]).stdout).unwrap();
        let shell = Command::new("sh")
            .args(["-n", "-c", &script])
            .output()
            .unwrap();
        assert!(
            shell.status.success(),
            "{}",
            String::from_utf8_lossy(&shell.stderr)
        );
        assert!(script.contains("\nset -eu\n"), "{script}");
        assert!(script.contains("\necho 'Done: "), "{script}");
        for line in lines {
            assert!(script.contains(line), "{line}");
        }
    }
}

/// Real sudo, real account: the printed lines allow the printed commands and no others.
#[test]
fn sudo_allows_exactly_the_printed_commands() {
    // Makes the account.
    drop(void_testkit::sshd::Sshd::start());
    let (_lab, plan) = plan("ct100");
    let lines: Vec<&str> = plan["sudoers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    let file = Installed::new(&format!("{}\n", lines.join("\n")));
    // There is no systemd in a container: systemctl fails by itself, but sudo has let it start.
    for entry in plan["list"]["entries"].as_array().unwrap() {
        let argv: Vec<&str> = entry["argv"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let ran = as_voidact(&argv);
        assert!(
            !refused(&ran),
            "{argv:?}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    let other: [&[&str]; 6] = [
        &["/usr/bin/systemctl", "stop", "caddy"],
        &["/usr/bin/systemctl", "restart", "caddy", "nginx"],
        &["/usr/bin/systemctl", "restart", "nginx"],
        &["/usr/bin/systemctl", "restart"],
        &["/bin/sh", "-c", "id"],
        &["/usr/bin/systemctl", "restart", "wg-quick@wg0:2.service"],
    ];
    for command in other {
        let ran = as_voidact(&[&["/usr/bin/sudo", "-n"], command].concat());
        assert!(refused(&ran), "{command:?} was allowed");
    }
    drop(file);
}

fn as_voidact(argv: &[&str]) -> Output {
    Command::new("setpriv")
        .args(["--reuid=voidact", "--regid=voidact", "--clear-groups", "--"])
        .args(argv)
        .output()
        .unwrap()
}

fn refused(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    said.contains("a password is required") || said.contains("not allowed")
}

/// A file in sudoers.d for as long as the test runs.
struct Installed(std::path::PathBuf);

impl Installed {
    fn new(text: &str) -> Self {
        let path = std::path::PathBuf::from(format!(
            "/etc/sudoers.d/void-act-test-{}",
            std::process::id()
        ));
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        Self(path)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
