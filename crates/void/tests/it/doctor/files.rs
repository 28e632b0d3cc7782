//! What lies on this machine: definitions, keys, the data folder, backups.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::pve::set;
use super::{amiss, fine, problem, report};
use crate::lab::{Lab, catalogue, word};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn an_invalid_catalogue_is_named_with_all_that_is_wrong() {
    let lab = Lab::new();
    fs::write(lab.path("actions.json"), "{\"actions\": [{}]}").unwrap();
    let (message, next) = problem(&report(&lab), "catalogue");
    assert!(message.contains("actions[0].id: is missing"), "{message}");
    assert!(message.contains("actions[0].tier"), "{message}");
    assert!(next.starts_with("void actions lint /"), "{next}");
}

#[test]
fn an_invalid_services_file_is_named() {
    let mut lab = Lab::new();
    let file = lab.path("services.json").display().to_string();
    set(&mut lab, "SERVICES_CONFIG", &file);
    fs::write(&file, "{\"services\": [{\"id\": \"caddy\"}]}").unwrap();
    let (message, next) = problem(&report(&lab), "services");
    assert!(message.contains("services[0].check"), "{message}");
    assert!(next.contains("void config check"), "{next}");
    fs::remove_file(&file).unwrap();
    problem(&report(&lab), "services");
}

#[test]
fn a_check_that_nobody_makes_is_named() {
    let mut actions = catalogue();
    actions["actions"][0]["verify"] = json!({"service": "cady"});
    let mut lab = Lab::with(&actions);
    let file = lab.path("services.json").display().to_string();
    let services = json!({"services": [{"id": "caddy", "label": "Caddy", "check": {"kind": "tcp", "address": "127.0.0.1:9"}}]});
    fs::write(&file, services.to_string()).unwrap();
    set(&mut lab, "SERVICES_CONFIG", &file);
    let (message, next) = problem(&report(&lab), "services");
    assert!(
        message.contains("safe-one: its check is the service cady"),
        "{message}"
    );
    assert!(next.starts_with("did you mean caddy?"), "{next}");
    actions["actions"][0]["verify"] = json!({"service": "caddy"});
    lab.write_catalogue(&actions);
    fine(&report(&lab), "services");
}

#[test]
fn a_missing_or_too_open_key_file_is_named() {
    let mut lab = Lab::with(&json!({
        "hosts": {"ct100": "192.0.2.1"},
        "actions": [{"id": "restart-caddy", "kind": "service_restart", "host": "ct100", "service": "caddy", "tier": "safe"}],
    }));
    let (message, next) = problem(&report(&lab), "ssh key");
    assert!(message.starts_with("none is set"), "{message}");
    assert!(next.contains("[ssh] in void.toml"), "{next}");

    let key = lab.path("key");
    let shown = key.display().to_string();
    set(&mut lab, "ACTIONS_SSH_KEY", &shown);
    let (message, next) = problem(&report(&lab), "ssh key");
    assert!(message.starts_with(&shown), "{message}");
    assert!(next.starts_with("ssh-keygen "), "{next}");

    fs::write(&key, "x").unwrap();
    for open in [0o640, 0o604, 0o644] {
        mode(&key, open);
        let (message, next) = problem(&report(&lab), "ssh key");
        assert!(message.contains("others can read"), "{message}");
        assert_eq!(next, format!("chmod 600 {shown}"));
    }
    mode(&key, 0o600);
    fine(&report(&lab), "ssh key");
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    problem(&report(&lab), "ssh key");
}

#[test]
fn a_secret_that_others_can_read_is_named() {
    let mut lab = Lab::new();
    set(&mut lab, "OWNER_TOKEN", "");
    let file = lab.data().join("owner.token");
    fs::write(&file, crate::lab::OWNER).unwrap();
    mode(&file, 0o644);
    let (message, next) = problem(&report(&lab), "secret file");
    assert!(message.ends_with("owner.token"), "{message}");
    assert_eq!(next, format!("chmod 600 {}", file.display()));
    mode(&file, 0o600);
    assert_eq!(amiss(&report(&lab), "secret file").len(), 0);
    // A reference that leads nowhere is said, and does not end the look at the rest.
    set(&mut lab, "VOID_LISTEN", "127.0.0.1:1");
    let settings = "owner_token = \"file:/nonexistent/owner\"\n";
    fs::write(lab.data().join("void.toml"), settings).unwrap();
    let (message, _) = problem(&report(&lab), "server");
    assert!(message.contains("/nonexistent/owner"), "{message}");
}

#[test]
fn a_path_that_ssh_would_not_take_is_named() {
    let mut lab = Lab::new();
    let file = lab.path("known hosts").display().to_string();
    set(&mut lab, "VOID_KNOWN_HOSTS", &file);
    let (message, next) = problem(&report(&lab), "settings");
    assert!(message.starts_with(&file), "{message}");
    assert_eq!(next, "void config show");
}

#[test]
fn a_data_folder_for_everyone_is_named() {
    let lab = Lab::new();
    mode(&lab.data(), 0o755);
    let (_, next) = problem(&report(&lab), "data");
    assert_eq!(next, format!("chmod 700 {}", lab.data().display()));
    mode(&lab.data(), 0o700);
    fine(&report(&lab), "data");
}

/// A file system of its own, taken away at the end.
struct Mounted(std::path::PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_named() {
    let mut lab = Lab::new();
    let disk = lab.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=16m,mode=0700", "void"];
    let mounted = Command::new("mount").args(mount).arg(&disk).status();
    assert!(mounted.unwrap().success());
    let mounted = Mounted(disk.clone());
    set(&mut lab, "VOID_DATA", disk.to_str().unwrap());
    let (message, next) = problem(&report(&lab), "disk");
    assert!(message.starts_with("only 16.0 MiB are free"), "{message}");
    assert!(next.starts_with("free some space: du "), "{next}");
    drop(mounted);
}

#[test]
fn a_stale_backup_is_named() {
    let lab = Lab::new();
    let found = amiss(&report(&lab), "backups");
    assert_eq!(word(&found[0], "message"), "they are switched off");
    fs::write(lab.data().join("void.toml"), "").unwrap();
    let found = amiss(&report(&lab), "backups");
    assert_eq!(word(&found[0], "message"), "there is none yet");

    let folder = lab.data().join("backups");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("void-2024-02-29T20-55-00.123Z.db"), "x").unwrap();
    let (message, next) = problem(&report(&lab), "backups");
    assert_eq!(message, "the newest is from 2024-02-29T20:55:00.123Z");
    assert!(next.starts_with("void backup create"), "{next}");
}

/// Looking leaves no trace: not in the folder, not in the files.
#[test]
fn it_changes_nothing() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    assert_eq!(
        server.call("POST", "/api/actions/safe-one/run", None).0,
        200
    );
    server.kill();
    let look = || {
        // All but what SQLite writes into its own scratch file.
        let command = "find . -printf '%P %u %m\\n' | sort; \
                       find . -type f ! -name void.db-shm -exec sha256sum {} + | sort";
        let listed = Command::new("sh")
            .args(["-c", command])
            .current_dir(lab.folder.path())
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    };
    let before = look();
    assert!(before.contains("void.db-wal"), "{before}");
    let report = report(&lab);
    fine(&report, "audit");
    assert_eq!(look(), before);
}
