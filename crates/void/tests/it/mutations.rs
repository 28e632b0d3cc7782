//! What runs is what was approved (I2): a definition that changes between asking, approving and
//! starting, in the catalogue, in the database or at the host, runs nothing.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::lab::{Lab, Server, catalogue, word};

/// The risky action with every field that a definition can have.
fn full_catalogue() -> Value {
    let mut catalogue = catalogue();
    catalogue["actions"][2] = json!({
        "id": "risky-one", "label": "Risky", "kind": "service_restart", "host": "local", "service": "risky-one",
        "tier": "risky", "risk": "guarded", "verify": {"service": "one"}, "inverse": "safe-one", "cooldown_s": 5,
        "max_per_hour": 5, "timeout_s": 50, "expires_s": 600, "agents": ["little-blue"],
    });
    catalogue
}

/// Every field changed, one at a time; what each becomes.
fn edits() -> Vec<(&'static str, Value)> {
    vec![
        ("label", json!("Harmless")),
        ("host", json!("other")),
        ("service", json!("other")),
        ("tier", json!("safe")),
        ("risk", json!("critical")),
        ("verify", json!({"service": "two"})),
        ("inverse", json!("safe-two")),
        ("cooldown_s", json!(6)),
        ("max_per_hour", json!(6)),
        ("timeout_s", json!(51)),
        ("expires_s", json!(601)),
        ("agents", json!(["somebody-else"])),
        ("via", json!("host")),
    ]
}

fn queue(server: &Server) -> Value {
    let (status, queued) = server.call("POST", "/api/actions/risky-one/run", None);
    assert_eq!(status, 200, "{queued}");
    let (_, row) = server.call(
        "GET",
        &format!("/api/proposals/{}", word(&queued, "action_row_id")),
        None,
    );
    row
}

fn approve(server: &Server, row: &Value) -> (u16, Value) {
    let body = json!({"digest": word(row, "digest")});
    server.call(
        "POST",
        &format!("/api/actions/pending/{}/approve", word(row, "id")),
        Some(&body),
    )
}

#[test]
fn a_definition_that_changed_over_a_restart_is_withdrawn_not_run() {
    for (field, to) in edits() {
        let mut before = full_catalogue();
        before["hosts"] = json!({"other": "local"});
        let lab = Lab::with(&before);
        let mut server = lab.serve(&[]);
        let row = queue(&server);
        assert!(server.terminate().success());
        let mut after = before.clone();
        after["actions"][2][field] = to.clone();
        if field == "tier" {
            after["actions"][2]["risk"] = json!("nominal");
        }
        lab.write_catalogue(&after);
        let server = lab.serve(&[]);
        let (_, now) = server.call("GET", &format!("/api/proposals/{}", word(&row, "id")), None);
        assert_eq!(
            (word(&now, "status"), word(&now["error"], "code")),
            ("cancelled", "definition_changed"),
            "{field}: {now}"
        );
        assert_eq!(approve(&server, &row).0, 409, "{field}");
        assert_eq!(lab.effects(), Vec::<String>::new(), "{field}");
    }
}

/// White space, order and spelling are not the definition.
#[test]
fn a_file_that_says_the_same_keeps_what_waits() {
    let lab = Lab::with(&full_catalogue());
    let mut server = lab.serve(&[]);
    let row = queue(&server);
    assert!(server.terminate().success());
    let same = serde_json::to_string_pretty(&full_catalogue())
        .unwrap()
        .replace("Risky", "\\u0052isky");
    fs::write(lab.path("actions.json"), format!("\n\n{same}  \n")).unwrap();
    let server = lab.serve(&[]);
    let (status, ran) = approve(&server, &row);
    assert_eq!((status, word(&ran, "status")), (200, "executed"), "{ran}");
}

#[test]
fn the_catalogue_on_disk_changes_nothing_while_the_server_runs() {
    let lab = Lab::with(&full_catalogue());
    let server = lab.serve(&[]);
    let row = queue(&server);
    let (_, before) = server.call("GET", "/api/actions", None);
    fs::write(lab.path("actions.json"), "{\"hosts\":{},\"actions\":[]}").unwrap();
    let (_, after) = server.call("GET", "/api/actions", None);
    assert_eq!(before, after);
    fs::remove_file(lab.path("actions.json")).unwrap();
    assert_eq!(word(&approve(&server, &row).1, "status"), "executed");
}

fn tamper(lab: &Lab, sql: &str) {
    let path: &Path = &lab.data().join("void.db");
    let db = Connection::open(path).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
    db.execute_batch("PRAGMA ignore_check_constraints = ON")
        .unwrap();
    assert!(db.execute(sql, []).unwrap() > 0, "{sql}");
}

/// Somebody with the database file edits the row between asking and approving.
#[test]
fn a_row_that_was_edited_in_the_database_runs_nothing() {
    let other_digest = "1".repeat(64);
    let edits = [
        "action_id = 'safe-one'".to_owned(),
        "action_id = 'critical-one'".to_owned(),
        "action_id = 'nowhere'".to_owned(),
        format!("digest = '{other_digest}'"),
        format!("exec_digest = '{other_digest}'"),
        "definition = replace(definition, 'risky-one', 'safe-one')".to_owned(),
        "definition = replace(definition, '\"timeout_s\":50', '\"timeout_s\":9999')".to_owned(),
        "definition = '{}'".to_owned(),
        "params = '{\"replicas\":1}'".to_owned(),
        "tier = 'harmless'".to_owned(),
        "epoch = 99".to_owned(),
        "expires_at = 1".to_owned(),
        "status = 'approved'".to_owned(),
        "status = 'running'".to_owned(),
        "requester_kind = 'root'".to_owned(),
    ];
    for edit in edits {
        let lab = Lab::with(&full_catalogue());
        let server = lab.serve(&[]);
        let row = queue(&server);
        tamper(&lab, &format!("UPDATE proposals SET {edit}"));
        let (status, answer) = approve(&server, &row);
        assert!((400..600).contains(&status), "{edit}: {answer}");
        // Whatever a restart makes of it, it does not run either.
        drop(server);
        let server = lab.serve(&[]);
        let (status, answer) = approve(&server, &row);
        assert!((400..600).contains(&status), "{edit}: {answer}");
        assert_eq!(lab.effects(), Vec::<String>::new(), "{edit}");
    }
}

/// The host checks the part that it can know, whatever the server believes.
#[test]
fn a_host_entry_made_for_another_definition_refuses() {
    type Edit = fn(&mut Value);
    let lab = Lab::with(&full_catalogue());
    let server = lab.serve(&[]);
    let list = fs::read_to_string(lab.path("list.json")).unwrap();
    let entry = |id: &str, edit: Edit| {
        let mut list: Value = serde_json::from_str(&list).unwrap();
        let entries = list["entries"].as_array_mut().unwrap();
        edit(
            entries
                .iter_mut()
                .find(|entry| entry["id"] == json!(id))
                .unwrap(),
        );
        fs::write(lab.path("list.json"), list.to_string()).unwrap();
    };
    let cases: [(&str, Edit); 4] = [
        ("another def", |entry| entry["def"] = json!("2".repeat(64))),
        ("no def", |entry| {
            entry.as_object_mut().unwrap().remove("def");
        }),
        ("another id", |entry| entry["id"] = json!("other-one")),
        ("needs a signature", |entry| entry["signed"] = json!(true)),
    ];
    for (name, edit) in cases {
        entry("risky-one", edit);
        let row = queue(&server);
        let (status, answer) = approve(&server, &row);
        assert_eq!(
            (status, word(&answer, "status")),
            (200, "failed"),
            "{name}: {answer}"
        );
        assert!(
            matches!(word(&answer["error"], "code"), "drift" | "refused_by_host"),
            "{name}: {answer}"
        );
        // The cooldown is the catalogue's; what never ran must not hold up the next case.
        tamper(
            &lab,
            "UPDATE proposals SET started_at = started_at - 3600000, lease_until = lease_until - 3600000, ticket_expires_at = ticket_expires_at - 3600000",
        );
    }
    fs::write(lab.path("list.json"), &list).unwrap();
    assert_eq!(lab.effects(), Vec::<String>::new());
    let row = queue(&server);
    assert_eq!(word(&approve(&server, &row).1, "status"), "executed");
}
