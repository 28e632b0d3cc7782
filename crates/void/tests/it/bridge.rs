//! The file bridge of the real server: a real folder, real second writers, a full disk, hostile files.
//! Effects are counted outside Void.

pub mod folder;
mod hostile;
mod offers;
mod races;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use self::folder::Bridge;
use crate::lab::word;

#[test]
fn every_proposal_has_a_file_that_follows_it_within_a_second() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let id = bridge.queue(&server, "risky-one");
    let file = bridge.wait_for("pending", &id);
    assert_eq!(
        (
            word(&file, "type"),
            word(&file, "node"),
            word(&file, "service")
        ),
        ("restart_service", "local", "risky-one")
    );
    assert_eq!(
        (word(&file, "status"), word(&file, "risk")),
        ("pending", "guarded")
    );
    assert!(file["created_at"].is_i64() && file["updated_at"].is_i64());
    assert_eq!(file["transition_history"][0]["from"], Value::Null);

    let asked = Instant::now();
    let path = format!("/api/actions/pending/{id}/approve?wait=0");
    assert_eq!(server.call("POST", &path, None).0, 200);
    let file = bridge.wait_for("completed", &id);
    assert!(
        asked.elapsed() < Duration::from_secs(1),
        "{:?}",
        asked.elapsed()
    );
    let history: Vec<(&str, &str, &str)> = file["transition_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (word(step, "from"), word(step, "to"), word(step, "by")))
        .collect();
    assert_eq!(
        history,
        [
            ("", "pending", "api"),
            ("pending", "approved", "api"),
            ("approved", "running", "system"),
            ("running", "completed", "system"),
        ]
    );
    assert_eq!(file["outcome"]["status"], "executed");
    bridge.assert_only_in("completed", &id);

    let other = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &other);
    let path = format!("/api/actions/pending/{other}/reject");
    assert_eq!(server.call("POST", &path, None).0, 200);
    assert_eq!(
        word(&bridge.wait_for("rejected", &other), "status"),
        "rejected"
    );

    let third = bridge.queue(&server, "risky-one");
    let path = format!("/api/proposals/{third}/cancel");
    assert_eq!(server.call("POST", &path, None).0, 200);
    let file = bridge.wait_for("rejected", &third);
    assert_eq!(file["outcome"]["status"], "cancelled");
    assert_eq!(bridge.lab.effects(), ["risky-one"]);
}

#[test]
fn a_dropped_file_becomes_a_proposal_that_always_waits() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    // Safe in the catalogue, and still nothing runs; its risk can only rise.
    let mut wish = Bridge::wish("restart-1", "restart_service", "local", "safe-one");
    wish["risk"] = json!("critical");
    wish["details"] = json!({"image": "", "reason": "it hangs", "diff": "- a\n+ b"});
    bridge.drop_file(&wish);
    let row = bridge.wait_for_row(&server, "safe-one");
    assert_eq!(
        (word(&row, "status"), word(&row, "risk")),
        ("pending", "critical")
    );
    assert_eq!(row["requested_by"]["name"], "file");
    assert_eq!(word(&row, "reason"), "it hangs");
    let file = eventually_blocking("the file to be rewritten", || {
        bridge
            .read("pending", "restart-1")
            .filter(|file| file["void"].is_object())
    });
    assert_eq!(word(&file, "action_id"), "restart-1");
    assert_eq!(file["details"]["diff"], "- a\n+ b");
    assert_eq!(file["void"]["proposal"], row["id"]);
    assert_eq!(file["transition_history"][0]["by"], "file");
    assert!(bridge.lab.effects().is_empty());

    let path = format!("/api/actions/pending/{}/approve", word(&row, "id"));
    let digest = json!({"digest": row["digest"]});
    assert_eq!(server.call("POST", &path, Some(&digest)).0, 200);
    let file = bridge.wait_for("completed", "restart-1");
    assert_eq!(file["details"]["diff"], "- a\n+ b");
    assert_eq!(bridge.lab.effects(), ["safe-one"]);
    bridge.assert_only_in("completed", "restart-1");
}

/// Agents of the source documents write the image that runs into every file.
#[test]
fn an_image_in_a_restart_file_is_kept_and_in_a_deploy_without_one_refused() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let mut wish = Bridge::wish("restart-1", "restart_service", "local", "risky-one");
    wish["details"]["image"] = json!("grafana/grafana:11.2.1");
    bridge.drop_file(&wish);
    let row = bridge.wait_for_row(&server, "risky-one");
    assert_eq!(row["params"], json!({}), "{row}");
    let file = eventually_blocking("the file to be rewritten", || {
        bridge
            .read("pending", "restart-1")
            .filter(|file| file["void"].is_object())
    });
    assert_eq!(file["details"]["image"], "grafana/grafana:11.2.1");
    bridge.settle(&server);
    bridge.assert_only_in("pending", "restart-1");
    let path = format!("/api/actions/pending/{}/approve", word(&row, "id"));
    let digest = json!({"digest": row["digest"]});
    assert_eq!(server.call("POST", &path, Some(&digest)).0, 200);
    let file = bridge.wait_for("completed", "restart-1");
    assert_eq!(file["details"]["image"], "grafana/grafana:11.2.1");
    assert_eq!(bridge.lab.effects(), ["risky-one"]);
    // Whoever deploys would believe that this image runs then.
    let mut wish = Bridge::wish("deploy-1", "deploy_service", "n1", "db");
    wish["details"]["image"] = json!("db:2");
    bridge.drop_file(&wish);
    let why = bridge.wait_for_invalid("deploy-1.json");
    assert!(why.contains("image"), "{why}");
}

#[test]
fn an_action_id_is_used_once() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let wish = Bridge::wish("once", "restart_service", "local", "risky-one");
    bridge.drop_file(&wish);
    let row = bridge.wait_for_row(&server, "risky-one");
    let path = format!("/api/actions/pending/{}/approve", word(&row, "id"));
    assert_eq!(server.call("POST", &path, None).0, 200);
    bridge.wait_for("completed", "once");
    bridge.drop_file(&wish);
    let reason = bridge.wait_for_invalid("once.json");
    assert!(reason.contains("several states"), "{reason}");
    // The owner has tidied up meanwhile.
    fs::remove_file(bridge.path("completed", "once")).unwrap();
    bridge.drop_file(&wish);
    let reason = bridge.wait_for_invalid("once.json.1");
    assert!(reason.contains("used before"), "{reason}");
    assert_eq!(server.proposals().len(), 1);
    assert_eq!(bridge.lab.effects(), ["risky-one"]);
}

#[test]
fn the_same_request_joins_the_one_that_waits() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    bridge.drop_file(&Bridge::wish(
        "first",
        "restart_service",
        "local",
        "risky-one",
    ));
    bridge.wait_for_row(&server, "risky-one");
    bridge.drop_file(&Bridge::wish(
        "second",
        "restart_service",
        "local",
        "risky-one",
    ));
    let file = bridge.wait_for("rejected", "second");
    assert_eq!(file["outcome"]["status"], "joined");
    let rows = server.proposals();
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert_eq!(rows[0]["count"], 2);
    bridge.assert_only_in("pending", "first");
}

#[test]
fn a_move_decides_nothing_unless_the_owner_allowed_it() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    for to in ["approved", "rejected", "running", "completed", "failed"] {
        let id = bridge.queue(&server, "risky-one");
        bridge.wait_for("pending", &id);
        bridge.mv("pending", to, &id);
        let file = eventually_blocking("the file to be back with a note", || {
            bridge
                .read("pending", &id)
                .filter(|file| bridge.notes(file) == 1)
        });
        bridge.assert_only_in("pending", &id);
        let last = file["transition_history"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        assert_eq!(
            (word(&last, "from"), word(&last, "to"), word(&last, "by")),
            (to, "pending", "system")
        );
        let path = format!("/api/proposals/{id}");
        assert_eq!(
            word(&server.call("GET", &path, None).1, "status"),
            "pending"
        );
        let path = format!("/api/proposals/{id}/cancel");
        assert_eq!(server.call("POST", &path, None).0, 200);
    }
    assert!(bridge.lab.effects().is_empty());
}

#[test]
fn where_it_is_allowed_a_move_is_the_owners_decision_but_never_for_what_is_critical() {
    let bridge = Bridge::with_decisions();
    let server = bridge.serve();
    let id = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &id);
    bridge.mv("pending", "approved", &id);
    let file = bridge.wait_for("completed", &id);
    assert_eq!(file["transition_history"][1]["by"], "file");
    assert_eq!(bridge.notes(&file), 0, "one move is one decision: {file}");
    let (_, refused) = server.call("GET", "/api/audit?verb=decision.refused", None);
    assert_eq!(refused["entries"], json!([]));
    assert_eq!(bridge.lab.effects(), ["risky-one"]);

    let id = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &id);
    bridge.mv("pending", "rejected", &id);
    let row = eventually_blocking("the rejection", || {
        let row = server.call("GET", &format!("/api/proposals/{id}"), None).1;
        (word(&row, "status") == "rejected").then_some(row)
    });
    assert_eq!(row["resolved_by"], "owner-file");

    let id = bridge.queue(&server, "critical-one");
    bridge.wait_for("pending", &id);
    bridge.mv("pending", "approved", &id);
    eventually_blocking("the file to be back with a note", || {
        bridge
            .read("pending", &id)
            .filter(|file| bridge.notes(file) == 1)
    });
    assert_eq!(bridge.lab.effects(), ["risky-one"], "nothing critical ran");
}

#[test]
fn an_edited_file_decides_nothing() {
    let bridge = Bridge::with_decisions();
    let server = bridge.serve();
    let id = bridge.queue(&server, "risky-one");
    let mut file = bridge.wait_for("pending", &id);
    // Somebody swaps the service under the operator's eyes.
    file["service"] = json!("safe-one");
    bridge.write("pending", &id, &file);
    bridge.mv("pending", "approved", &id);
    bridge.wait_for_invalid(&format!("{id}.json"));
    bridge.wait_for("pending", &id);
    // Without the digest nobody knows what the operator saw.
    let mut file = bridge.wait_for("pending", &id);
    file.as_object_mut().unwrap().remove("void");
    bridge.write("approved", &id, &file);
    fs::remove_file(bridge.path("pending", &id)).ok();
    eventually_blocking("the file to be back with a note", || {
        bridge
            .read("pending", &id)
            .filter(|file| bridge.notes(file) >= 1)
    });
    assert!(bridge.lab.effects().is_empty());
}

#[test]
fn a_second_decision_is_told_about_the_first_and_changes_nothing() {
    let bridge = Bridge::with_decisions();
    let server = bridge.serve();
    let id = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &id);
    let path = format!("/api/actions/pending/{id}/approve");
    assert_eq!(server.call("POST", &path, None).0, 200);
    bridge.wait_for("completed", &id);
    // An operator with an old listing.
    bridge.mv("completed", "approved", &id);
    let file = eventually_blocking("the file to be back with a note", || {
        bridge
            .read("completed", &id)
            .filter(|file| bridge.notes(file) == 1)
    });
    let last = file["transition_history"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert!(
        word(&last, "note").contains("already approved by owner (API)"),
        "{last}"
    );
    bridge.assert_only_in("completed", &id);
    assert_eq!(bridge.lab.effects(), ["risky-one"]);
}

#[test]
fn a_restart_reconciles_what_happened_meanwhile() {
    let bridge = Bridge::with_decisions();
    let mut server = bridge.serve();
    let moved = bridge.queue(&server, "risky-one");
    let deleted = bridge.queue(&server, "critical-one");
    bridge.wait_for("pending", &moved);
    bridge.wait_for("pending", &deleted);
    server.kill();
    bridge.mv("pending", "rejected", &moved);
    fs::remove_file(bridge.path("pending", &deleted)).unwrap();
    bridge.drop_file(&Bridge::wish(
        "meanwhile",
        "restart_service",
        "local",
        "safe-one",
    ));
    let server = bridge.serve();
    bridge.wait_for_row(&server, "safe-one");
    eventually_blocking("the rejection", || {
        let row = server
            .call("GET", &format!("/api/proposals/{moved}"), None)
            .1;
        (word(&row, "status") == "rejected").then_some(())
    });
    bridge.wait_for("pending", &deleted);
    bridge.assert_only_in("pending", "meanwhile");
    // Twice more: nothing changes any more.
    bridge.settle(&server);
    let before = bridge.listing();
    drop(server);
    let server = bridge.serve();
    bridge.settle(&server);
    assert_eq!(bridge.listing(), before);
}

#[test]
fn the_command_line_shows_and_follows_it() {
    let bridge = Bridge::new();
    let off = crate::lab::Lab::new();
    let server = off.serve(&[]);
    let status = off.json(&["bridge", "status"], 0);
    assert_eq!(status["enabled"], false);
    assert_eq!(off.json(&["bridge", "watch"], 1)["error"]["code"], "off");
    drop(server);

    let server = bridge.serve();
    fs::write(bridge.dir().join("pending/half.json"), "{").unwrap();
    bridge.wait_for_invalid("half.json");
    bridge.queue(&server, "risky-one");
    let status = eventually_blocking("the count", || {
        let status = bridge.lab.json(&["bridge", "status"], 0);
        (status["counts"]["pending"] == 1).then_some(status)
    });
    assert_eq!(
        (&status["enabled"], &status["decisions"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(status["invalid"][0]["file"], "half.json");
    assert!(
        word(&status["invalid"][0], "reason").contains("not valid JSON"),
        "{status}"
    );
    assert!(status["last_scan_at"].is_string());
    let shown = bridge.lab.void(&["bridge", "status"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("a move decides nothing") && shown.contains("half.json"),
        "{shown}"
    );

    let settings = bridge.lab.json(&["config", "show"], 0);
    let line = settings["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["name"] == "bridge.dir")
        .unwrap();
    assert_eq!(line["source"], "environment VOID_BRIDGE_DIR");

    let watching = bridge.lab.start(&["bridge", "watch", "--json"]);
    let line = eventually_blocking("a line about the move", || {
        let id = bridge.queue(&server, "critical-one");
        let path = format!("/api/actions/pending/{id}/reject");
        assert_eq!(server.call("POST", &path, None).0, 200);
        watching
            .lines()
            .into_iter()
            .find(|line| line.contains("\"to\":\"rejected\""))
    });
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["note"], "rejected");
}
