//! The record: a broken chain is found while the server runs, and without it.

use rusqlite::Connection;
use serde_json::json;

use super::{fine, problem, report};
use crate::lab::Lab;

fn edit(lab: &Lab, sql: &str) {
    let database = Connection::open(lab.data().join("void.db")).unwrap();
    database
        .busy_timeout(std::time::Duration::from_secs(5))
        .unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1);
}

fn with_entries() -> (Lab, crate::lab::Server) {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    for _ in 0..3 {
        server.call("POST", "/api/actions/safe-one/run", None);
    }
    (lab, server)
}

#[test]
fn an_edited_entry_is_found_while_the_server_runs() {
    let (lab, _server) = with_entries();
    fine(&report(&lab), "audit");
    edit(&lab, "UPDATE facts SET actor = 'nobody' WHERE seq = 3");
    let (message, next) = problem(&report(&lab), "audit");
    assert!(
        message.contains("entry 3") && message.contains("not what was written"),
        "{message}"
    );
    assert!(next.starts_with("void audit verify"), "{next}");
    assert_eq!(lab.json(&["audit", "verify"], 1)["intact"], json!(false));
}

#[test]
fn a_cut_tail_is_found_while_the_server_runs() {
    let (lab, _server) = with_entries();
    edit(
        &lab,
        "DELETE FROM facts WHERE seq = (SELECT max(seq) FROM facts)",
    );
    let (message, _) = problem(&report(&lab), "audit");
    assert!(message.contains("it is missing"), "{message}");
}

#[test]
fn a_broken_chain_is_found_without_a_server() {
    let (lab, mut server) = with_entries();
    assert!(server.terminate().success());
    fine(&report(&lab), "audit");
    edit(&lab, "UPDATE facts SET detail = '{}' WHERE seq = 4");
    let (message, next) = problem(&report(&lab), "audit");
    assert!(
        message.contains('4') && message.contains("broken"),
        "{message}"
    );
    assert!(next.contains("void backup restore"), "{next}");
}
