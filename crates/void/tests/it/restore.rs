//! Backups through the command line: an older copy cannot revive an old approval (I34), however it
//! comes back.

use std::fs;

use serde_json::json;
use void_testkit::eventually_blocking;

use crate::lab::{Lab, word};

fn lab_with_backups() -> Lab {
    let lab = Lab::new();
    let settings = fs::read_to_string(lab.data().join("void.toml")).unwrap();
    fs::write(
        lab.data().join("void.toml"),
        settings.replace("enabled = false", "enabled = true"),
    )
    .unwrap();
    lab
}

/// Queues the risky action, copies the database, then approves: the copy has it still waiting.
fn copy_before_approval(lab: &Lab) -> (String, String) {
    let mut server = lab.serve(&[]);
    let (_, queued) = server.call("POST", "/api/actions/risky-one/run", None);
    let id = word(&queued, "action_row_id").to_owned();
    let made = lab.json(&["backup", "create"], 0);
    let (status, row) = server.call("POST", &format!("/api/actions/pending/{id}/approve"), None);
    assert_eq!((status, word(&row, "status")), (200, "executed"), "{row}");
    assert!(server.terminate().success());
    (id, word(&made, "file").to_owned())
}

fn check_it_is_void(lab: &Lab, id: &str) {
    let server = lab.serve(&[]);
    let (_, row) = server.call("GET", &format!("/api/proposals/{id}"), None);
    assert_eq!(word(&row, "status"), "cancelled", "{row}");
    assert_eq!(row["error"]["code"], json!("restored"));
    let (status, answer) = server.call(
        "POST",
        &format!("/api/actions/pending/{id}/approve"),
        Some(&json!({"digest": word(&row, "digest")})),
    );
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (409, Some("already_decided")),
        "{answer}"
    );
    assert_eq!(
        lab.effects(),
        ["risky-one"],
        "it ran once, before the copy came back"
    );
    let verified = lab.json(&["audit", "verify"], 0);
    assert_eq!(verified["intact"], json!(true), "{verified}");
}

#[test]
fn a_restored_copy_cannot_revive_an_approval() {
    let lab = lab_with_backups();
    let (id, copy) = copy_before_approval(&lab);
    let restored = lab.json(&["backup", "restore", &copy, "--yes"], 0);
    assert_eq!(restored["voided"], json!(1), "{restored}");
    assert!(fs::exists(word(&restored, "replaced")).unwrap());
    check_it_is_void(&lab, &id);
}

/// Somebody copies files around without asking Void.
#[test]
fn a_copy_put_in_place_by_hand_is_noticed_and_voided() {
    let lab = lab_with_backups();
    let (id, copy) = copy_before_approval(&lab);
    for extension in ["db", "db-wal", "db-shm"] {
        let _ = fs::remove_file(lab.data().join("void").with_extension(extension));
    }
    fs::copy(copy, lab.data().join("void.db")).unwrap();
    check_it_is_void(&lab, &id);
    assert!(
        lab.log().contains("older than the note beside it"),
        "{}",
        lab.log()
    );
}

#[test]
fn restoring_under_a_running_server_or_from_a_bad_file_is_refused() {
    let lab = lab_with_backups();
    let server = lab.serve(&[]);
    let made = lab.json(&["backup", "create"], 0);
    let copy = word(&made, "file").to_owned();
    let refused = lab.json(&["backup", "restore", &copy, "--yes"], 1);
    assert_eq!(refused["error"]["code"], json!("in_use"), "{refused}");
    drop(server);

    let bad = lab.path("bad.db");
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(&bad, bytes).unwrap();
    assert_eq!(
        lab.json(&["backup", "verify", bad.to_str().unwrap()], 1)["error"]["code"],
        json!("corrupt")
    );
    eventually_blocking("the killed server to let go", || {
        let refused = lab.json(&["backup", "restore", bad.to_str().unwrap(), "--yes"], 1);
        (refused["error"]["code"] == json!("corrupt")).then_some(())
    });
    assert_eq!(
        lab.json(&["backup", "verify", &copy], 0)["valid"],
        json!(true)
    );
    assert_eq!(
        lab.json(&["backup", "verify", "/nonexistent.db"], 5)["error"]["code"],
        json!("not_found")
    );
    let nobody = lab.json(&["backup", "restore", &copy], 2);
    assert_eq!(
        nobody["error"]["code"],
        json!("usage"),
        "it does not replace a database without being asked"
    );
}

#[test]
fn a_daily_copy_is_made_by_itself() {
    let lab = lab_with_backups();
    let server = lab.serve(&[]);
    eventually_blocking("the first daily copy", || {
        let copies = lab.json(&["backup", "ls"], 0);
        (!copies["backups"].as_array().unwrap().is_empty()).then_some(())
    });
    drop(server);
}
