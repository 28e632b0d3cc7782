//! 80 columns and closed pipes of what agents, the knowledge base and mutes are shown as.

use serde_json::json;

use super::{err, into_closed_pipe, out, set, wide};
use crate::agent_processes::{make_agent, plant};
use crate::lab::Lab;

const AGENT: &str = "the-agent-with-the-longest-name-of-all";
const SPACE: &str = "What everybody in this house should know before the lights go out";
const TITLE: &str =
    "How the service comes back that everybody in this house needs every single evening";

/// Somebody below somebody else, a page in a space, and a mute with a reason.
fn furnish(lab: &Lab) {
    make_agent(lab, AGENT);
    lab.json(&["kb", "new", SPACE, "--kind", "space"], 0);
    lab.json(&["kb", "new", TITLE, "--space", SPACE], 0);
    let mute = [
        "notify",
        "mute",
        "the-service-of-the-house",
        "--for",
        "1h",
        "--reason",
        TITLE,
    ];
    lab.json(&mute, 0);
}

const COMMANDS: [&[&str]; 5] = [
    &["agents", "tree"],
    &["agents", "can", AGENT],
    &["kb", "ls", "spaces"],
    &["kb", "ls", "--space", SPACE],
    &["notify", "ls"],
];

#[test]
fn eighty_columns_hold_the_tree_the_pages_and_the_mutes() {
    let mut lab = wide();
    plant(
        &lab,
        &json!({"root": null, "little-blue": "root", AGENT: "little-blue"}),
    );
    let _server = lab.serve(&[]);
    furnish(&lab);
    let whole = COMMANDS.map(|args| out(&lab.void(args)));
    for (args, text) in COMMANDS.iter().zip(&whole) {
        assert!(text.lines().count() >= 2, "{args:?} lists nothing: {text}");
    }
    assert!(
        whole[4].contains("the-service-of-the-house"),
        "{}",
        whole[4]
    );
    set(&mut lab, "COLUMNS", "80");
    for args in COMMANDS {
        for line in out(&lab.void(args)).lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
}

#[test]
fn a_closed_pipe_is_no_panic_of_the_tree_the_pages_and_the_mutes() {
    let lab = wide();
    plant(
        &lab,
        &json!({"root": null, "little-blue": "root", AGENT: "little-blue"}),
    );
    let _server = lab.serve(&[]);
    furnish(&lab);
    for args in COMMANDS {
        let ended = into_closed_pipe(&lab, args);
        let said = err(&ended);
        let is_told = said.contains("panicked") || said.contains("roken pipe");
        assert!(
            !is_told && ended.status.code() == Some(0),
            "{args:?}: {said}"
        );
    }
}
