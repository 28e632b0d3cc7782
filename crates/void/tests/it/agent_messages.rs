//! `void agents send` and `mailbox`, and what `void doctor` says of the allow-list.

use std::fs;

use serde_json::json;

use crate::doctor::{problem, report};
use crate::lab::Lab;

fn said(lab: &Lab, args: &[&str]) -> String {
    let output = lab.void(args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "void {args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_owner_writes_to_an_agent_and_looks_into_its_mailbox() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let empty = said(&lab, &["agents", "mailbox", "sentinel"]);
    assert_eq!(
        empty,
        "sentinel: 0 waiting, 0 handed out, 0 acknowledged, 0 that reach nobody\n"
    );
    let sent = said(
        &lab,
        &[
            "agents", "send", "sentinel", "look", "at", "caddy", "--key", "k",
        ],
    );
    assert!(
        sent.starts_with("It is in sentinel's mailbox.\n  id: "),
        "{sent}"
    );
    let again = said(
        &lab,
        &["agents", "send", "sentinel", "look at caddy", "--key", "k"],
    );
    assert!(again.contains("already, and is there once"), "{again}");
    let mailbox = said(&lab, &["agents", "mailbox", "sentinel"]);
    assert!(mailbox.starts_with("sentinel: 1 waiting, "), "{mailbox}");
    let row = mailbox.lines().nth(2).unwrap();
    for word in ["owner", "waiting", "\"look at caddy\""] {
        assert!(row.contains(word), "{mailbox}");
    }
    assert!(
        mailbox.lines().all(|line| line.chars().count() <= 80),
        "{mailbox}"
    );
    let whole = lab.json(&["agents", "mailbox", "sentinel", "--state", "open"], 0);
    assert_eq!(whole["messages"][0]["text"], "look at caddy");
    let dead = lab.json(&["agents", "mailbox", "sentinel", "--state", "dead"], 0);
    assert_eq!(dead["messages"], json!([]));
    for args in [
        ["agents", "send", "nobody-here", "x"],
        ["agents", "mailbox", "nobody-here", "--json"],
    ] {
        assert_ne!(lab.void(&args).status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn doctor_names_what_is_wrong_with_the_allow_list() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    // The tree is there once somebody is told of it.
    lab.json(&["agents", "tree"], 0);
    let file = lab.data().join("meta/routes.json");
    fs::write(&file, "{\"sentinel\": \"companion\"}").unwrap();
    assert!(server.terminate().success());
    let looks = |lab: &Lab| {
        let (message, next) = problem(&report(lab), "tree");
        assert!(
            message.contains("routes.json: sentinel has no list of names"),
            "{message}"
        );
        assert!(next.contains("mend routes.json"), "{next}");
    };
    // From the file, and from the server that read it.
    looks(&lab);
    let _server = lab.serve(&[]);
    looks(&lab);
}
