//! The node, killed with SIGKILL at every named point of its work, each time it is reached, and started again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;
use void_testkit::eventually_blocking;

use super::stand::{Stand, check_truth, nodes, rows_at_rest, wait_until_here};
use crate::lab::word;

/// Every `fail_point!("pull.…")` of the executor: a new point is covered the moment it is written.
fn points() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/node");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        let names = text.split("fail_point!(\"").skip(1);
        found.extend(
            names
                .filter_map(|rest| rest.split('"').next())
                .map(str::to_owned),
        );
    }
    assert!(found.len() >= 8, "{found:?}");
    found
}

/// Whether the point was reached that often.
fn killed_at(point: &str, occurrence: u32) -> bool {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    let chosen = format!("{point}#{occurrence}");
    let mut node = stand.run_with("n1", &[("VOID_FAILPOINT", &chosen)]);
    eventually_blocking("the node to be here or gone", || {
        let here = nodes(&server)
            .first()
            .is_some_and(|node| node["here"] == json!(true));
        (here || node.has_ended().is_some()).then_some(())
    });
    server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    let ended = eventually_blocking("an end, or the kill", || {
        let row = server.proposals().pop()?;
        let ended = !matches!(word(&row, "status"), "running" | "approved");
        let killed = node.has_ended().is_some();
        (ended || killed).then_some(killed)
    });
    // The answer may overtake the kill.
    let killed = ended
        || (0..20).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            node.has_ended().is_some()
        });
    node.kill();
    let _again = stand.run("n1");
    wait_until_here(&server, "n1");
    check_truth(&stand, &rows_at_rest(&server), &chosen);
    killed
}

fn every(points: Vec<String>) {
    for point in points {
        assert!(killed_at(&point, 1), "{point} is never reached");
        for occurrence in 2..=3 {
            if !killed_at(&point, occurrence) {
                break;
            }
        }
    }
}

#[test]
fn a_node_killed_anywhere_runs_nothing_twice_first_half() {
    every(points().into_iter().step_by(2).collect());
}

#[test]
fn a_node_killed_anywhere_runs_nothing_twice_second_half() {
    every(points().into_iter().skip(1).step_by(2).collect());
}

/// Done and not told, and the machine is gone: nobody knows, until it is back.
#[test]
fn a_node_that_does_not_return_leaves_an_unknown_outcome_until_it_does() {
    let stand = Stand::new();
    let text = fs::read_to_string(stand.lab.path("actions.json")).unwrap();
    let mut catalogue: serde_json::Value = serde_json::from_str(&text).unwrap();
    catalogue["actions"][0]["timeout_s"] = json!(1);
    fs::write(stand.lab.path("actions.json"), catalogue.to_string()).unwrap();
    let server = stand.lab.serve(&[]);
    stand.admit(&server, "n1", stand.lab.address);
    let mut node = stand.run_with("n1", &[("VOID_FAILPOINT", "pull.execute.after")]);
    wait_until_here(&server, "n1");
    server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    eventually_blocking("the kill", || node.has_ended());
    let status = || word(&server.proposals()[0], "status").to_owned();
    eventually_blocking("nobody to know", || (status() == "unknown").then_some(()));
    assert_eq!(stand.count("restart-web"), 1);
    let _again = stand.run("n1");
    check_truth(&stand, &rows_at_rest(&server), "after its return");
    assert_eq!(status(), "executed");
}
