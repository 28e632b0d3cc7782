//! What `void provision proxmox` prints is what Proxmox needs: put into a rehearsal server, it makes a
//! token that fits the catalogue, switches its guests and no other one.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use void_rehearsal::proxmox::{Access, Acl, GuestStatus, Privsep, Token, User};

use crate::doctor::{fine, pve, report};
use crate::lab::{Lab, word};

fn printed(lab: &Lab) -> String {
    let output = lab.void(&["provision", "proxmox"]);
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// A `pveum` that keeps its accounts in memory: enough of it for what is printed, and nothing beside.
#[derive(Default)]
struct Pveum {
    roles: BTreeMap<String, Vec<String>>,
    users: BTreeMap<String, User>,
}

impl Pveum {
    /// Runs every line of a script that is a `pveum` command; `a || b` as a shell does.
    fn run(&mut self, script: &str) {
        for line in script.lines().filter(|line| line.starts_with("pveum ")) {
            let line = line.replace(" 2>/dev/null", "");
            let worked = line.split(" || ").any(|command| self.command(command));
            assert!(worked, "{line}");
        }
    }

    fn command(&mut self, command: &str) -> bool {
        // The shell itself takes the words apart.
        let words = Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {command}")])
            .output()
            .unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        let words: Vec<&str> = words.lines().collect();
        let option = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            words[at.unwrap_or_else(|| panic!("{command}: no {name}")) + 1].to_owned()
        };
        match words[1..] {
            ["role", verb @ ("add" | "modify"), name, ..] => {
                let privileges = option("--privs");
                let privileges = privileges.split(' ').map(str::to_owned).collect();
                if (verb == "add") == self.roles.contains_key(name) {
                    return false;
                }
                self.roles.insert(name.to_owned(), privileges);
            }
            ["user", "add", id, "--comment", _] => {
                if self.users.contains_key(id) {
                    return false;
                }
                let user = User::new(id, Vec::new(), Vec::new());
                self.users.insert(id.to_owned(), user);
            }
            ["user", "modify", id, "--comment", _] => return self.users.contains_key(id),
            [
                "user",
                "token",
                verb @ ("add" | "modify"),
                id,
                name,
                "--privsep",
                "1",
            ] => {
                let tokens = &mut self.users.get_mut(id).unwrap().tokens;
                let known = tokens.iter_mut().find(|token| token.name == name);
                match (verb, known) {
                    ("add", None) => tokens.push(Token::separated(name, pve::SECRET, Vec::new())),
                    ("modify", Some(token)) => token.privsep = Privsep::On,
                    _ => return false,
                }
            }
            ["acl", verb @ ("modify" | "delete"), path, ..] => {
                let privileges = &self.roles[&option("--roles")];
                let privileges: Vec<&str> = privileges.iter().map(String::as_str).collect();
                let acl = Acl::new(path, &privileges);
                let user = self.users.get_mut(&option("--users")).unwrap();
                let token = option("--tokens");
                let (owner, name) = token.split_once('!').unwrap();
                assert_eq!(owner, user.id);
                let token = user.tokens.iter_mut().find(|token| token.name == name);
                for held in [&mut user.acl, &mut token.unwrap().acl] {
                    held.retain(|one| *one != acl);
                    if verb == "modify" {
                        held.push(acl.clone());
                    }
                }
            }
            ref other => panic!("{other:?} is no command that Void prints"),
        }
        true
    }

    fn access(&self) -> Access {
        Access {
            users: self.users.values().cloned().collect(),
            pools: Vec::new(),
        }
    }
}

/// The proof: a server with these accounts and no others.
#[test]
fn what_is_printed_makes_a_token_that_fits() {
    let server = pve::start(Access::default());
    let lab = pve::lab(&server);
    let mut pveum = Pveum::default();
    pveum.run(&printed(&lab));
    server.set_access(pveum.access());
    fine(&report(&lab), "proxmox rights");

    // Switching a guest of the catalogue works, from the command line to the guest.
    let void = lab.serve(&[]);
    let ran = lab.json(&["run", "start-vm104", "--wait", "20"], 0);
    assert_eq!(word(&ran["row"], "verification"), "verified", "{ran}");
    assert_eq!(server.guest(104).unwrap().status, GuestStatus::Running);
    drop(void);

    // Another guest is refused by Proxmox itself, whatever the catalogue says by then.
    let mut wider = pve::catalogue();
    let start = json!({"id": "start-ct108", "kind": "guest_power", "node": "z", "vmid": 108, "guest": "lxc", "op": "start", "tier": "safe"});
    wider["actions"].as_array_mut().unwrap().push(start);
    lab.write_catalogue(&wider);
    let _void = lab.serve(&[]);
    let refused = lab.json(&["run", "start-ct108", "--wait", "20"], 1);
    let code = word(&refused["row"]["error"], "code").to_owned();
    assert!(
        ["no_privilege", "no_such_guest"].contains(&&*code),
        "{refused}"
    );
    assert_eq!(server.guest(108).unwrap().status, GuestStatus::Stopped);
    assert!(server.effects().iter().all(|effect| effect.vmid == 104));

    // Run again after the change, it fits again, and the old grants are as they were.
    let before = pveum.users["void@pve"].acl.len();
    pveum.run(&printed(&lab));
    assert_eq!(pveum.users["void@pve"].acl.len(), before + 1);
    assert_eq!(pveum.users["void@pve"].tokens.len(), 1);
    server.set_access(pveum.access());
    fine(&report(&lab), "proxmox rights");
    lab.json(&["run", "start-ct108", "--wait", "20"], 0);

    // Back again: the doctor names the command, and with it the token fits.
    lab.write_catalogue(&pve::catalogue());
    let found = crate::doctor::amiss(&report(&lab), "proxmox rights");
    pveum.run(word(&found[0], "next"));
    server.set_access(pveum.access());
    fine(&report(&lab), "proxmox rights");
}

#[test]
fn only_guests_that_go_through_proxmox_are_granted() {
    let mut actions = pve::catalogue();
    let by_host = json!({"id": "stop-ct109", "kind": "guest_power", "node": "z", "vmid": 109, "op": "stop", "tier": "risky", "via": "host"});
    actions["actions"].as_array_mut().unwrap().push(by_host);
    actions["hosts"] = json!({"z": "192.0.2.1"});
    let mut lab = Lab::with(&actions);
    let services = json!({"services": [{"id": "spare", "label": "Spare", "node": "z", "vmid": 108, "check": {"kind": "guest"}}]});
    fs::write(lab.path("services.json"), services.to_string()).unwrap();
    let path = lab.path("services.json").display().to_string();
    pve::set(&mut lab, "SERVICES_CONFIG", &path);
    let plan = lab.json(&["provision", "proxmox"], 0);
    let guests = plan["guests"].as_array().unwrap();
    let granted: Vec<(u64, &str)> = guests
        .iter()
        .map(|guest| (guest["vmid"].as_u64().unwrap(), word(guest, "role")))
        .collect();
    assert_eq!(
        granted,
        [(104, "VoidPower"), (107, "VoidPower"), (108, "VoidWatch")]
    );
    assert_eq!(guests[1]["actions"], json!(["start-ct107", "stop-ct107"]));
    assert_eq!(
        plan["roles"],
        json!({"VoidPower": ["VM.PowerMgmt", "VM.Audit"], "VoidWatch": ["VM.Audit"]})
    );
    assert_eq!(word(&plan, "token"), "void@pve!actions");

    // What is printed for people is a script, and holds every command.
    let script = printed(&lab);
    let checked = Command::new("sh").args(["-n", "-c", &script]).status();
    assert!(checked.unwrap().success());
    for command in plan["commands"].as_array().unwrap() {
        assert!(
            script.lines().any(|line| line == command.as_str().unwrap()),
            "{command}"
        );
    }
    for command in plan["removal"].as_array().unwrap() {
        assert!(
            script.contains(&format!("#   {}", command.as_str().unwrap())),
            "{command}"
        );
    }
    assert!(
        script.contains("PROXMOX_API_TOKEN='void@pve!actions=VALUE'"),
        "{script}"
    );
}

/// The names are those of the token that is set; its secret is nobody's business.
#[test]
fn a_token_that_is_there_keeps_its_name() {
    let mut lab = Lab::with(&pve::catalogue());
    let token = format!("lab@pam!second={}", pve::SECRET);
    pve::set(&mut lab, "PROXMOX_API_TOKEN", &token);
    pve::set(&mut lab, "PROXMOX_API_URL", "https://192.0.2.7:8006");
    let script = printed(&lab);
    assert!(
        script.contains("pveum user token add lab@pam second --privsep 1"),
        "{script}"
    );
    assert!(script.contains("--tokens 'lab@pam!second'"), "{script}");
    assert!(script.contains("https://192.0.2.7:8006"), "{script}");
    assert!(!script.contains(pve::SECRET));
}

#[test]
fn without_guests_there_is_nothing_to_grant() {
    let lab = Lab::new();
    let output = lab.void(&["provision", "proxmox"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(output.stdout.is_empty());
    let error: Value = lab.json(&["provision", "proxmox"], 5);
    assert_eq!(word(&error["error"], "code"), "no_guests");
    assert!(
        word(&error["error"], "message").contains("no action of the catalogue switches a guest")
    );
    fs::write(lab.path("actions.json"), "{").unwrap();
    lab.json(&["provision", "proxmox"], 3);
}

/// The command for the fingerprint finds what pveproxy shows: its own certificate, else the node's.
#[test]
fn the_fingerprint_is_read_where_pveproxy_reads() {
    let lab = Lab::with(&pve::catalogue());
    let plan = lab.json(&["provision", "proxmox"], 0);
    let folder = lab.path("local");
    fs::create_dir(&folder).unwrap();
    let command =
        word(&plan, "fingerprint_command").replace("/etc/pve/local", folder.to_str().unwrap());
    let run = || {
        let output = Command::new("sh").args(["-c", &command]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(), "");
    let mut seen = Vec::new();
    for name in ["pve-ssl.pem", "pveproxy-ssl.pem"] {
        let server = pve::start(Access::default());
        fs::write(folder.join(name), server.ca_pem()).unwrap();
        let shown = run();
        let (_, fingerprint) = shown.trim().split_once('=').unwrap();
        assert_eq!(fingerprint.split(':').count(), 32, "{shown}");
        seen.push(fingerprint.to_owned());
    }
    assert_ne!(seen[0], seen[1], "its own certificate comes first");
}
