//! Which run is undone, and how many requests are taken back at once.

use serde_json::{Map, Value, json};

use super::{lab, play_after};
use crate::brains::{Block, Message};

/// iVentoy was stopped by nightly, then started again by the owner, then Caddy was restarted.
fn used(tool: &str, arguments: &Map<String, Value>) -> Value {
    let run = |code: &str, id: &str, label: &str, by: &str, minute: u32| {
        json!({"code": code, "action_id": id, "label": label, "status": "executed", "display_state": "unconfirmed",
            "asked_by": by, "asked_at": format!("2026-11-16T19:{minute:02}:00.000Z"),
            "ended_at": format!("2026-11-16T19:{minute:02}:01.000Z")})
    };
    match tool {
        "recent_activity" => {
            json!({"at": "2026-11-16T20:00:00.000Z", "waiting": [], "running": [], "record": [],
            "ended": [
                run("3CCC", "restart-caddy", "Restart Caddy", "owner", 30),
                run("2BBB", "start-ct107", "Start iVentoy", "owner", 20),
                run("1AAA", "stop-ct107", "Stop iVentoy", "nightly", 10),
            ]})
        }
        "list_actions" => {
            let mut listed = lab(tool, arguments);
            for action in listed["actions"].as_array_mut().unwrap() {
                if action["id"] == "start-ct107" {
                    action["inverse"] = json!("stop-ct107");
                }
            }
            listed
        }
        _ => lab(tool, arguments),
    }
}

/// The same before anybody started iVentoy again.
fn not_undone(tool: &str, arguments: &Map<String, Value>) -> Value {
    let mut told = used(tool, arguments);
    if let Some(ended) = told.get_mut("ended").and_then(Value::as_array_mut) {
        ended.retain(|row| row["action_id"] != "start-ct107");
    }
    told
}

type Tools = fn(&str, &Map<String, Value>) -> Value;

/// Says one thing after the other; what she said last.
fn talk(said: &[&str], tools: Tools) -> String {
    let mut before: Vec<Message> = Vec::new();
    let mut last = String::new();
    for text in said {
        (_, last) = play_after(&before, text, true, tools);
        before.push(Message::User((*text).to_owned()));
        before.push(Message::Assistant(vec![Block::Text(last.clone())]));
    }
    last
}

#[test]
fn the_run_that_was_asked_about_is_undone_and_no_other() {
    for (said, offered) in [
        // Not the last thing that ran.
        (
            &["who stopped iventoy?", "undo that"][..],
            "Shall I run `start-ct107`?",
        ),
        (
            &["wer hat iventoy gestoppt?", "mach das rückgängig"],
            "Shall I run `start-ct107`?",
        ),
        (&["undo the stop of iventoy"], "Shall I run `start-ct107`?"),
        (&["undo 1aaa"], "Shall I run `start-ct107`?"),
        (
            &["who stopped iventoy?", "undo the last thing"],
            "names nothing that undoes it.",
        ),
        (
            &["who restarted caddy?", "undo that"],
            "names nothing that undoes it.",
        ),
        (
            &["who rebooted iventoy?", "undo that"],
            "*Undo the last thing* asks about that one.",
        ),
        (
            &["who stopped grafana?", "undo that"],
            "*Undo the last thing* asks about that one.",
        ),
    ] {
        let told = talk(said, not_undone);
        assert!(told.ends_with(offered), "{said:?}: {told}");
    }
}

#[test]
fn what_is_undone_already_is_told_and_not_undone_again() {
    for said in [
        &["who stopped iventoy?", "undo that"][..],
        &["wer hat iventoy gestoppt?", "mach das rückgängig"],
        &["undo the stop of iventoy"],
        &["undo 1aaa"],
    ] {
        let told = talk(said, used);
        assert!(told.contains("It is undone already:"), "{said:?}: {told}");
        assert!(told.contains("Start iVentoy ran"), "{said:?}: {told}");
        assert!(told.ends_with("Nothing was run."), "{said:?}: {told}");
    }
    // The start itself is not undone: of both only its inverse is left to ask about.
    for said in [
        &["who started iventoy?", "undo that"][..],
        &["what happened to iventoy?", "undo that"],
    ] {
        let told = talk(said, used);
        let offered = "Shall I ask for `stop-ct107`? It waits for your yes then.";
        assert!(told.ends_with(offered), "{said:?}: {told}");
    }
}

#[test]
fn more_than_a_turn_can_take_back_is_taken_back_in_two() {
    let code = |n: u32| format!("9AB{}", char::from_u32(u32::from(b'A') + n).unwrap());
    let mut before: Vec<Message> = Vec::new();
    for n in 0..10 {
        before.push(Message::User("stop iventoy".to_owned()));
        let told = format!("It waits for your yes: **{}**. Nothing has run.", code(n));
        before.push(Message::Assistant(vec![Block::Text(told)]));
    }
    let withdrawn = |_: &str, _: &Map<String, Value>| json!({"outcome": "refused", "display_state": "withdrawn"});
    let (calls, told) = play_after(&before, "withdraw everything", true, withdrawn);
    assert_eq!(calls, ["withdraw_proposal"; 8]);
    assert!(
        told.ends_with("**9ABI**, **9ABJ** still wait: say it again."),
        "{told}"
    );
    before.push(Message::User("withdraw everything".to_owned()));
    before.push(Message::Assistant(vec![Block::Text(told)]));
    let (calls, told) = play_after(&before, "withdraw everything", true, withdrawn);
    assert_eq!(calls, ["withdraw_proposal"; 2], "{told}");
}
