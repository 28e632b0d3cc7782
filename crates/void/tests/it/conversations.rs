//! `void chat --space` and `void conversations`: talking in a space without a model, and what is left of it.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::lab::{Lab, word};

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The id of the only conversation in a list.
fn only(list: &Value) -> String {
    let rows = list["conversations"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{list}");
    word(&rows[0], "conversation_id").to_owned()
}

#[test]
fn a_talk_in_a_space_drafts_and_is_found_again() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    let said = lab.void(&[
        "chat",
        "--space",
        "garage",
        "-m",
        "make a task: renew the Größe certificate",
    ]);
    let text = out(&said);
    assert!(said.status.success(), "{text}");
    assert!(
        text.contains("draft") && text.contains("Waits for your yes"),
        "{text}"
    );
    let inbox = lab.json(&["inbox", "ls"], 0);
    assert!(
        inbox.to_string().contains("Renew the Größe certificate"),
        "{inbox}"
    );
    assert_eq!(
        lab.json(&["kb", "ls", "tasks", "--space", "Garage"], 0)["tasks"],
        json!([])
    );
    let listed = lab.json(&["conversations", "ls", "--space", "Garage"], 0);
    let id = only(&listed);
    assert_eq!(word(&listed["conversations"][0], "agent"), "companion");
    let found = lab.json(
        &["conversations", "search", "GRÖSSE", "--space", "Garage"],
        0,
    );
    assert_eq!(found["conversations"], json!([]), "another word");
    let found = lab.json(
        &[
            "conversations",
            "search",
            "gRÖße",
            "renew",
            "--space",
            "Garage",
        ],
        0,
    );
    assert_eq!(only(&found), id);
    assert!(
        word(&found["conversations"][0], "found").contains("Größe"),
        "{found}"
    );
    // Little Blue's are others.
    assert_eq!(
        lab.json(&["conversations", "ls", "--agent", "little-blue"], 0)["conversations"],
        json!([])
    );
}

#[test]
fn a_talk_is_read_kept_elsewhere_and_deleted_and_its_draft_stays() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    let note = "make a task: renew the Größe certificate";
    lab.void(&["chat", "--space", "Garage", "-m", note]);
    let id = only(&lab.json(&["conversations", "ls", "--space", "Garage"], 0));
    let shown = out(&lab.void(&["conversations", "show", &id]));
    assert!(
        shown.contains("│ make a task: renew the Größe certificate"),
        "{shown}"
    );
    assert!(shown.contains("Void: Waits for your yes"), "{shown}");
    let file = lab.path("talk.json");
    let path = file.to_str().unwrap();
    assert!(
        lab.void(&["conversations", "export", &id, "--file", path])
            .status
            .success()
    );
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept["messages"].as_array().unwrap().len(), 2);
    let again = lab.void(&["conversations", "export", &id, "--file", path]);
    assert!(!again.status.success(), "what is there is not written over");
    lab.json(&["conversations", "rm", &id, "--yes"], 0);
    let gone = lab.void(&["conversations", "show", &id]);
    assert!(!gone.status.success());
    assert_eq!(
        lab.json(&["conversations", "ls", "--space", "Garage"], 0)["conversations"],
        json!([])
    );
    // What was drafted in it waits as before.
    let inbox = lab.json(&["inbox", "ls"], 0);
    assert!(
        inbox.to_string().contains("Renew the Größe certificate"),
        "{inbox}"
    );
}

#[test]
fn what_is_looked_at_goes_with_what_is_said() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    let page = [
        "kb",
        "new",
        "Caddy notes",
        "--space",
        "Garage",
        "--text",
        "It listens on 443.",
    ];
    let page = lab.json(&page, 0);
    let view = format!("page:{}", word(&page, "id"));
    let said = [
        "chat",
        "--space",
        "Garage",
        "--looking-at",
        &view,
        "-m",
        "read this to me",
    ];
    let text = out(&lab.void(&said));
    assert!(text.contains("It listens on 443."), "{text}");
    let said = [
        "chat",
        "--space",
        "Garage",
        "--looking-at",
        "page",
        "-m",
        "read this to me",
    ];
    assert!(!lab.void(&said).status.success());
    let said = ["chat", "--space", "Nowhere", "-m", "hello"];
    assert!(!lab.void(&said).status.success());
}
