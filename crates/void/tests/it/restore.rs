//! Backups through the command line: an older copy cannot revive an old approval (I34), however it
//! comes back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use void_testkit::{eventually_blocking, postgres_database};

use crate::lab::{Lab, call, word};

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

const SAFE: &str = "/api/actions/safe-one/run";

fn status_as(lab: &Lab, token: &str, method: &str, path: &str) -> u16 {
    call(lab.address, method, path, token, None).unwrap().0
}

/// An agent's token and one that is revoked after the copy was made, which looks live in the copy.
fn copy_before_revoking(lab: &Lab) -> (String, [String; 2]) {
    let mut server = lab.serve(&[]);
    let token = |name: &str| {
        let args = [
            "token", "new", "--kind", "agent", "--name", name, "--cap", "act",
        ];
        lab.json(&args, 0)
    };
    let (kept, revoked) = (token("kept"), token("revoked"));
    let made = lab.json(&["backup", "create"], 0);
    lab.json(&["token", "revoke", word(&revoked, "id")], 0);
    let texts = [&kept, &revoked].map(|token| word(token, "token").to_owned());
    assert_eq!(status_as(lab, &texts[1], "POST", SAFE), 401);
    assert!(server.terminate().success());
    (word(&made, "file").to_owned(), texts)
}

/// Nothing of the copy opens anything; the owner's own token does, and lets the known one in again.
fn check_nothing_is_revived(lab: &Lab, [kept, revoked]: &[String; 2]) {
    let _server = lab.serve(&[]);
    for token in [kept, revoked] {
        assert_eq!(status_as(lab, token, "POST", SAFE), 401, "in quarantine");
        assert_eq!(status_as(lab, token, "GET", "/api/freeze"), 401);
    }
    assert_eq!(
        lab.effects(),
        Vec::<String>::new(),
        "no revoked token ran anything"
    );
    let status = lab.json(&["status"], 0);
    assert_eq!(status["frozen"], json!(true), "it starts frozen: {status}");
    let listed = lab.json(&["quarantine", "ls"], 0);
    let listed = listed["quarantined"].as_array().unwrap().clone();
    assert_eq!(status["quarantined"], json!(listed.len()));
    let id = |name: &str| {
        let found = listed.iter().find(|one| word(one, "name") == name);
        word(
            found.unwrap_or_else(|| panic!("{name} in {listed:?}")),
            "id",
        )
        .to_owned()
    };
    let marked = |name: &str| {
        let listed = lab.json(&["token", "ls"], 0);
        let tokens = listed["tokens"].as_array().unwrap();
        let token = tokens.iter().find(|token| word(token, "name") == name);
        token.unwrap()["quarantined"].clone()
    };
    assert_eq!(
        (marked("kept"), marked("revoked")),
        (json!(true), json!(true))
    );
    let shown = String::from_utf8(lab.void(&["token", "ls"]).stdout).unwrap();
    let of_kept = shown.lines().find(|line| line.contains("kept")).unwrap();
    assert!(
        of_kept.contains("quarantined") && !of_kept.contains("live"),
        "{shown}"
    );
    lab.json(&["quarantine", "confirm", "kept"], 0);
    assert_eq!(
        (marked("kept"), marked("revoked")),
        (json!(false), json!(true))
    );
    lab.json(&["quarantine", "confirm", "agent"], 5);
    lab.json(&["quarantine", "remove", "agent revoked"], 0);
    let twice = lab.json(&["quarantine", "confirm", &id("agent revoked")], 5);
    assert_eq!(twice["error"]["code"], json!("not_found"), "{twice}");
    lab.json(&["thaw"], 0);
    assert_eq!(
        status_as(lab, kept, "POST", SAFE),
        200,
        "the owner knows it"
    );
    assert_eq!(
        status_as(lab, revoked, "POST", SAFE),
        401,
        "revoked for good"
    );
    let tokens = lab.json(&["token", "ls"], 0).to_string();
    assert!(tokens.contains("revoked_at"), "{tokens}");
    check_only_the_owner_brings_the_agent_back(lab);
}

/// With its last token the agent is withdrawn again, and its name is nobody else's.
fn check_only_the_owner_brings_the_agent_back(lab: &Lab) {
    let entries = lab.json(&["audit", "ls"], 0).to_string();
    assert!(entries.contains("agent.withdrawn"), "{entries}");
    let newcomer = [
        "token", "new", "--kind", "agent", "--name", "revoked", "--cap", "act",
    ];
    let refused = lab.json(&newcomer, 6);
    assert_eq!(refused["error"]["code"], json!("name_withdrawn"));
    // The owner brings back the same agent by saying so.
    lab.json(&[&newcomer[..], &["--restore"]].concat(), 0);
    let entries = lab.json(&["audit", "ls"], 0).to_string();
    assert!(entries.contains("agent.restored"), "{entries}");
}

/// A restored copy brought back a revoked token, which then ran an action.
#[test]
fn a_restored_copy_revives_no_revoked_token() {
    let lab = lab_with_backups();
    let (copy, tokens) = copy_before_revoking(&lab);
    let restored = lab.json(&["backup", "restore", &copy, "--yes"], 0);
    assert!(restored["quarantined"].as_u64().unwrap() >= 2, "{restored}");
    check_nothing_is_revived(&lab, &tokens);
}

#[test]
fn a_copy_put_in_place_by_hand_revives_no_revoked_token() {
    let lab = lab_with_backups();
    let (copy, tokens) = copy_before_revoking(&lab);
    for extension in ["db", "db-wal", "db-shm"] {
        let _ = fs::remove_file(lab.data().join("void").with_extension(extension));
    }
    fs::copy(copy, lab.data().join("void.db")).unwrap();
    check_nothing_is_revived(&lab, &tokens);
}

/// As on a new machine, or after somebody has deleted it: nothing beside the database says how far it was.
fn put_in_place_without_note(lab: &Lab, copy: &str) {
    for extension in ["db", "db-wal", "db-shm"] {
        let _ = fs::remove_file(lab.data().join("void").with_extension(extension));
    }
    fs::copy(copy, lab.data().join("void.db")).unwrap();
    fs::remove_file(lab.data().join("witness.json")).unwrap();
}

#[test]
fn an_old_copy_without_its_note_revives_no_approval() {
    let lab = lab_with_backups();
    let (id, copy) = copy_before_approval(&lab);
    put_in_place_without_note(&lab, &copy);
    check_it_is_void(&lab, &id);
    assert!(
        lab.log().contains("no note (witness.json)"),
        "{}",
        lab.log()
    );
}

#[test]
fn an_old_copy_without_its_note_revives_no_revoked_token() {
    let lab = lab_with_backups();
    let (copy, tokens) = copy_before_revoking(&lab);
    put_in_place_without_note(&lab, &copy);
    check_nothing_is_revived(&lab, &tokens);
}

fn is_frozen(lab: &Lab) -> bool {
    lab.json(&["status"], 0)["frozen"] == json!(true)
}

fn new_token(lab: &Lab, name: &str) {
    let args = [
        "token", "new", "--kind", "agent", "--name", name, "--cap", "act",
    ];
    lab.json(&args, 0);
}

/// It is written beside and renamed, so half of one is no crash of ours.
#[test]
fn a_note_that_cannot_be_read_is_no_note() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    new_token(&lab, "blue");
    assert!(server.terminate().success());
    for broken in ["", "{\"audit_seq\": 3", "{}", "null"] {
        fs::write(lab.data().join("witness.json"), broken).unwrap();
        let mut server = lab.serve(&[]);
        assert!(is_frozen(&lab), "{broken}");
        let listed = lab.json(&["quarantine", "ls"], 0);
        assert_eq!(listed["quarantined"].as_array().unwrap().len(), 1);
        lab.json(&["quarantine", "confirm", "--all"], 0);
        lab.json(&["thaw"], 0);
        // The owner is asked once, also if the server is killed right after.
        server.kill();
        let mut server = lab.serve(&[]);
        assert!(!is_frozen(&lab), "{broken}");
        let listed = lab.json(&["quarantine", "ls"], 0);
        assert_eq!(listed["quarantined"].as_array().unwrap().len(), 0);
        let none = lab.void(&["quarantine", "confirm", "--all"]);
        assert_eq!(none.stdout, b"Nothing is in quarantine.\n", "{none:?}");
        assert!(server.terminate().success());
    }
}

/// What must not look like an older copy: a first start, also one that is killed at once, and any restart.
#[test]
fn a_first_start_a_crash_and_a_restart_are_no_restore() {
    let lab = Lab::new();
    for _ in 0..3 {
        let mut server = lab.serve(&[]);
        assert!(!is_frozen(&lab), "{}", lab.log());
        server.kill();
    }
    let mut server = lab.serve(&[]);
    assert!(!is_frozen(&lab));
    assert!(server.terminate().success());
    let _server = lab.serve(&[]);
    assert!(!is_frozen(&lab));
    let entries = lab.json(&["audit", "ls"], 0).to_string();
    assert!(!entries.contains("store.rolled_back"), "{entries}");
}

/// The command has said it already; the start after it does not say it again.
#[test]
fn a_restore_by_command_is_recorded_once() {
    let lab = lab_with_backups();
    let (_, copy) = copy_before_approval(&lab);
    lab.json(&["backup", "restore", &copy, "--yes"], 0);
    let _server = lab.serve(&[]);
    assert!(is_frozen(&lab));
    let entries = lab.json(&["audit", "ls"], 0).to_string();
    assert!(entries.contains("backup.restored"), "{entries}");
    assert!(!entries.contains("store.rolled_back"), "{entries}");
}

#[test]
fn on_postgres_a_lost_note_is_a_restore_unless_another_instance_is_there() {
    let mut first = Lab::new();
    let url = postgres_database();
    first.database_url = Some(url.clone());
    let mut server = first.serve(&[]);
    new_token(&first, "blue");
    // One that joins has no note, and voids nothing.
    let mut second = Lab::new();
    second.database_url = Some(url);
    let mut joined = second.serve(&[]);
    assert!(joined.has_ended().is_none(), "{}", second.log());
    assert!(!is_frozen(&second) && !is_frozen(&first));
    assert!(server.terminate().success());
    assert!(joined.terminate().success());
    // It has one now, so it may come back alone.
    let mut joined = second.serve(&[]);
    assert!(!is_frozen(&second), "{}", second.log());
    assert!(joined.terminate().success());
    // The first lost its own, and nobody is there who could say how far the record was.
    fs::remove_file(first.data().join("witness.json")).unwrap();
    let _server = first.serve(&[]);
    assert!(is_frozen(&first), "{}", first.log());
    let listed = first.json(&["quarantine", "ls"], 0);
    assert_eq!(listed["quarantined"].as_array().unwrap().len(), 1);
}

/// Others read neither the copies nor their folder, also where both were open before.
#[test]
fn copies_and_their_folder_are_private() {
    let lab = lab_with_backups();
    let folder = lab.data().join("backups");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let old = folder.join("void-2026-01-01T00-00-00.000Z.db");
    fs::write(&old, "").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).unwrap();
    let server = lab.serve(&[]);
    let made = lab.json(&["backup", "create"], 0);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(std::path::Path::new(word(&made, "file"))), 0o600);
    assert_eq!(mode(&old), 0o600);
    // A folder that is also somebody else's is left alone, and gets no copies.
    fs::write(folder.join("holiday.jpg"), "").unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let output = lab.void(&["backup", "create"]);
    assert!(!output.status.success());
    assert_eq!(mode(&folder), 0o755);
    drop(server);
}

#[test]
fn copies_made_by_hand_do_not_push_daily_ones_out() {
    let lab = lab_with_backups();
    let server = lab.serve(&[]);
    let files = || {
        let listed = lab.json(&["backup", "ls"], 0);
        let listed = listed["backups"].as_array().unwrap().clone();
        let names = listed.iter().map(|copy| word(copy, "file").to_owned());
        names.collect::<Vec<String>>()
    };
    let daily = |files: &[String]| files.iter().filter(|file| !file.contains("manual")).count();
    eventually_blocking("the first daily copy", || {
        (daily(&files()) == 1).then_some(())
    });
    for _ in 0..16 {
        lab.json(&["backup", "create"], 0);
    }
    let files = files();
    assert_eq!((files.len(), daily(&files)), (15, 1), "{files:?}");
    drop(server);
}

/// The database is another, the note beside Void's data is not: whoever puts an older copy of it in place meets it.
#[test]
fn a_database_that_went_back_revives_no_token_on_postgres() {
    let mut lab = Lab::new();
    lab.database_url = Some(postgres_database());
    let mut server = lab.serve(&[]);
    let args = [
        "token", "new", "--kind", "agent", "--name", "kept", "--cap", "act",
    ];
    let kept = word(&lab.json(&args, 0), "token").to_owned();
    assert_eq!(status_as(&lab, &kept, "POST", SAFE), 200);
    assert!(server.terminate().success());
    // As if the note had seen more than the database has now.
    let note = lab.data().join("witness.json");
    let mut noted: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    noted["audit_seq"] = json!(noted["audit_seq"].as_u64().unwrap() + 5);
    fs::write(&note, noted.to_string()).unwrap();
    let _server = lab.serve(&[]);
    assert_eq!(status_as(&lab, &kept, "POST", SAFE), 401);
    let status = lab.json(&["status"], 0);
    assert_eq!(
        (&status["frozen"], &status["quarantined"]),
        (&json!(true), &json!(1))
    );
    let listed = lab.json(&["token", "ls"], 0);
    assert_eq!(listed["tokens"][0]["quarantined"], json!(true), "{listed}");
    let id = word(&listed["tokens"][0], "id").to_owned();
    lab.json(&["quarantine", "confirm", &id], 0);
    lab.json(&["thaw"], 0);
    assert_eq!(status_as(&lab, &kept, "GET", "/api/freeze"), 200);
    assert_eq!(lab.effects(), ["safe-one"]);
}
