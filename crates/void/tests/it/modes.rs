//! Nobody but the account that runs Void reads what it writes, whatever the umask says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::lab::{Lab, word};

fn mode(path: &Path) -> u32 {
    let found = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    found.permissions().mode() & 0o777
}

/// Every file of the data folder that others may open.
fn open_files(lab: &Lab) -> Vec<String> {
    let settings = ["void.toml"];
    fs::read_dir(lab.data())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .filter(|entry| mode(&entry.path()) & 0o077 != 0)
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| !settings.contains(&name.as_str()))
        .collect()
}

#[test]
fn the_database_and_its_logs_are_for_one_account_from_the_first_start() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    lab.json(&["run", "risky-one"], 7);
    for name in ["void.db", "void.db-wal", "void.db-shm"] {
        assert_eq!(mode(&lab.data().join(name)), 0o600, "{name}");
    }
    assert_eq!(open_files(&lab), Vec::<String>::new());
    server.kill();
    drop(server);

    // What an older release left open is closed.
    for name in ["void.db", "void.db-wal", "void.db-shm"] {
        let path = lab.data().join(name);
        if path.exists() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
    }
    let _server = lab.serve(&[]);
    lab.json(&["run", "risky-one"], 7);
    assert_eq!(open_files(&lab), Vec::<String>::new());
}

#[test]
fn what_a_restore_replaced_stays_closed() {
    let lab = Lab::new();
    let settings = lab.data().join("void.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("enabled = false", "enabled = true")).unwrap();
    let mut server = lab.serve(&[]);
    let copy = lab.json(&["backup", "create"], 0);
    let name = Path::new(word(&copy, "file"))
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    // A bare name is one of the folder's.
    assert_eq!(
        lab.json(&["backup", "verify", &name], 0)["valid"],
        json!(true)
    );
    server.kill();
    drop(server);
    fs::set_permissions(
        lab.data().join("void.db"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    let restored = lab.json(&["backup", "restore", &name, "--yes"], 0);
    assert_eq!(mode(Path::new(word(&restored, "replaced"))), 0o600);
    assert_eq!(mode(&lab.data().join("void.db")), 0o600);
    assert_eq!(open_files(&lab), Vec::<String>::new());
}

#[test]
fn an_export_is_private_and_replaces_nothing_unasked() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let file = lab.path("audit.jsonl");
    let shown = file.to_str().unwrap();
    lab.json(&["audit", "export", shown], 0);
    assert_eq!(mode(&file), 0o600);
    let first = fs::read(&file).unwrap();
    lab.json(&["freeze"], 0);
    let refused = lab.json(&["audit", "export", shown], 2);
    assert!(
        word(&refused["error"], "next").contains("--force"),
        "{refused}"
    );
    assert_eq!(fs::read(&file).unwrap(), first, "it was not touched");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    lab.json(&["audit", "export", shown, "--force"], 0);
    assert_eq!(mode(&file), 0o600);
    assert!(fs::read(&file).unwrap().len() > first.len());
    // What is no plain file is written into, and not made private.
    let special = lab.void(&["audit", "export", "/dev/null"]);
    assert_eq!(special.status.code(), Some(0));
    assert_eq!(mode(Path::new("/dev/null")), 0o666);
}
