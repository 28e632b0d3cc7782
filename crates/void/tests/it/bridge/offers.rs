//! A foreign executor: it takes what is offered, once, and Void never executes it itself.

use std::fs;

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use super::folder::Bridge;
use crate::lab::{Server, word};

fn approve(server: &Server, id: &str) -> Value {
    let path = format!("/api/actions/pending/{id}/approve?wait=0");
    let (status, row) = server.call("POST", &path, None);
    assert_eq!(status, 200, "{row}");
    row
}

#[test]
fn a_foreign_executor_takes_an_offer_and_reports() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let mut wish = Bridge::wish("deploy-7", "deploy_service", "n1", "web");
    wish["details"]["image"] = json!("web:7");
    bridge.drop_file(&wish);
    let row = bridge.wait_for_row(&server, "deploy-web");
    assert_eq!(row["params"], json!({"image": "web:7"}));
    let id = word(&row, "id").to_owned();
    assert_eq!(word(&approve(&server, &id), "status"), "approved");
    let offer = bridge.wait_for("approved", "deploy-7");
    assert_eq!(
        (word(&offer, "status"), &offer["details"]["image"]),
        ("approved", &json!("web:7"))
    );
    bridge.assert_only_in("approved", "deploy-7");
    bridge.settle(&server);
    bridge.assert_only_in("approved", "deploy-7");

    bridge.mv("approved", "running", "deploy-7");
    bridge.wait_for_status(&server, &id, "running");
    // The executor's own words come with its report.
    let mut report = bridge.read("running", "deploy-7").unwrap();
    report["result"] = json!({"exit": 0});
    bridge.write("running", "deploy-7", &report);
    bridge.mv("running", "completed", "deploy-7");
    let row = bridge.wait_for_status(&server, &id, "executed");
    assert_eq!(row["result"]["result"], json!({"exit": 0}));
    assert_eq!(row["verification"], "unverified");
    let file = eventually_blocking("the final file", || {
        bridge
            .read("completed", "deploy-7")
            .filter(|file| file["outcome"].is_object())
    });
    let by: Vec<&str> = file["transition_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| word(step, "by"))
        .collect();
    assert_eq!(by, ["file", "api", "file", "file"]);
    assert!(
        bridge.lab.effects().is_empty(),
        "Void itself executed nothing"
    );
}

#[test]
fn a_failure_a_shortcut_and_a_safe_offer() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let id = bridge.queue(&server, "deploy-db");
    approve(&server, &id);
    bridge.wait_for("approved", &id);
    let mut report = bridge.read("approved", &id).unwrap();
    report["error"] = json!("image not found\u{1b}[31m");
    bridge.mv("approved", "running", &id);
    bridge.write("running", &id, &report);
    bridge.mv("running", "failed", &id);
    let row = bridge.wait_for_status(&server, &id, "failed");
    assert_eq!(row["error"]["code"], "executor_failed");
    assert!(!row["error"].to_string().contains('\u{1b}'), "{row}");

    // From approved/ to completed/ without a stop in running/.
    let id = bridge.queue(&server, "deploy-db");
    approve(&server, &id);
    bridge.wait_for("approved", &id);
    bridge.mv("approved", "completed", &id);
    bridge.wait_for_status(&server, &id, "executed");

    // Safe: policy approves it, and it is offered at once.
    let (_, run) = server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    let id = word(&run, "action_row_id").to_owned();
    assert_eq!(word(&run, "status"), "approved", "{run}");
    bridge.wait_for("approved", &id);
    // Its target is taken while it is offered.
    let (status, busy) = server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    assert_eq!((status, &busy["error"]["code"]), (409, &json!("busy")));
    bridge.mv("approved", "running", &id);
    bridge.wait_for_status(&server, &id, "running");
    bridge.mv("running", "completed", &id);
    bridge.wait_for_status(&server, &id, "executed");
    assert!(bridge.lab.effects().is_empty());
}

#[test]
fn a_freeze_takes_offers_back_and_a_thaw_makes_them_again() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let id = bridge.queue(&server, "deploy-db");
    approve(&server, &id);
    bridge.wait_for("approved", &id);
    assert_eq!(server.call("POST", "/api/freeze", None).0, 200);
    bridge.wait_for("pending", &id);
    bridge.assert_only_in("pending", &id);
    assert_eq!(server.call("DELETE", "/api/freeze", None).0, 200);
    bridge.wait_for("approved", &id);
    bridge.assert_only_in("approved", &id);
}

#[test]
fn an_edited_offer_is_replaced_before_it_can_be_taken() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let id = bridge.queue(&server, "deploy-db");
    approve(&server, &id);
    let mut offer = bridge.wait_for("approved", &id);
    offer["service"] = json!("web");
    bridge.write("approved", &id, &offer);
    bridge.wait_for_invalid(&format!("{id}.json"));
    let file = eventually_blocking("the true offer", || {
        bridge
            .read("approved", &id)
            .filter(|file| word(file, "service") == "db")
    });
    assert_eq!(word(&file, "status"), "approved");
}

/// An executor that takes a file away and never reports: unknown after its time, and a late report
/// settles it.
#[test]
fn a_lost_file_is_unknown_after_its_time_and_a_late_report_settles_it() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let (_, run) = server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    let id = word(&run, "action_row_id").to_owned();
    let offer = bridge.wait_for("approved", &id);
    fs::rename(
        bridge.path("approved", &id),
        bridge.lab.path("elsewhere.json"),
    )
    .unwrap();
    bridge.wait_for_status(&server, &id, "running");
    // One second of its own, and the margin that every run has.
    let row = bridge.wait_for_status(&server, &id, "unknown");
    assert_eq!(row["error"]["code"], "no_end");
    let file = eventually_blocking("the outcome in the file", || {
        bridge
            .read("running", &id)
            .filter(|file| file["outcome"].is_object())
    });
    assert_eq!(file["outcome"]["status"], "unknown");
    fs::remove_file(bridge.path("running", &id)).unwrap();
    bridge.write("completed", &id, &offer);
    bridge.wait_for_status(&server, &id, "executed");
}

#[test]
fn with_the_bridge_off_nothing_is_offered_and_what_was_is_unknown() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let offered = bridge.queue(&server, "deploy-db");
    approve(&server, &offered);
    bridge.wait_for("approved", &offered);
    drop(server);
    let mut bridge = bridge;
    bridge.lab.environment.clear();
    let server = bridge.lab.serve(&[]);
    let row = bridge.wait_for_status(&server, &offered, "unknown");
    assert_eq!(row["error"]["code"], "bridge_off");
    let id = bridge.queue(&server, "deploy-web");
    assert!(id.is_empty(), "its image is missing");
    let (_, run) = server.call("POST", "/api/actions/restart-web/run", None);
    // The outcome of the first may still be under way on another target; this one has none to wait for.
    assert_eq!(run["error"]["code"], "not_configured", "{run}");
}
