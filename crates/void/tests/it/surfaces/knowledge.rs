//! A draft of what the owner keeps, wherever a yes is given: all that it binds is there, what hides in it is seen, and where the
//! whole does not fit there is no yes.

use serde_json::json;

use super::cards::{ALL, labels};
use super::*;

/// A page with this text, a draft of another one, and what the owner is asked.
fn drafted(stage: &Stage, old: &str, new: &str) -> (String, Value) {
    let lab = &stage.bridge.lab;
    let name = [
        "token",
        "new",
        "--kind",
        "agent",
        "--name",
        "companion",
        "--cap",
        "suggest",
    ];
    let agent = lab.json(&name, 0);
    let space = stage
        .server
        .call("POST", "/api/spaces", Some(&json!({"title": "Lab"})))
        .1;
    let space = word(&space, "id");
    let page = json!({"title": "Caddy", "body": old});
    let path = format!("/api/spaces/{space}/pages");
    let page = stage.server.call("POST", &path, Some(&page)).1;
    let body = json!({"entity": "page", "op": "update", "id": page["id"], "fields": {"body": new},
        "reason": "you asked for it"});
    let path = format!("/api/spaces/{space}/drafts");
    let (status, row) = call(
        lab.address,
        "POST",
        &path,
        word(&agent, "token"),
        Some(&body),
    )
    .unwrap();
    assert_eq!(status, 200, "{row}");
    (word(&page, "id").to_owned(), stage.row(word(&row, "id")))
}

fn body_now(stage: &Stage, page: &str) -> String {
    let page = stage
        .server
        .call("GET", &format!("/api/pages/{page}"), None)
        .1;
    word(&page, "body").to_owned()
}

/// What hides: a blank that shows as nothing, a turn of the text, a letter of another script, and one blank more.
const OLD: &str = "Restart it with care.\nrun copy now\nwait here\n";
const NEW: &str = "Restart it ge\u{200b}ntly\u{202e}.\nrun c\u{43e}py now\nwait  here\n";

#[test]
fn every_bound_value_of_a_draft_is_on_every_surface_that_approves() {
    let stage = Stage::set(ALL);
    let (page, row) = drafted(&stage, OLD, NEW);
    let (id, code) = (word(&row, "id"), word(&row, "code"));
    let path = format!("/api/proposals/{id}/card");
    let card = stage.server.call("GET", &path, None).1;
    let bound = card["bound"].as_array().unwrap();
    let mut expected: Vec<&str> = bound.iter().map(|bound| word(bound, "value")).collect();
    for value in [
        "knowledge",
        "update",
        "1",
        "Caddy",
        "Lab",
        &page,
        word(&row, "digest"),
    ] {
        assert!(expected.contains(&value), "{value} is missing in {card}");
    }
    expected.extend([word(&card, "consequence"), word(&card, "checked_by")]);
    let summary = row["change"]["summary"].as_array().unwrap().iter();
    expected.extend(summary.map(|line| line.as_str().unwrap()));
    let message = stage.on_phone(&row, "What changes");
    let push = stage.pushed(&row, "What changes");
    let file = stage.file(id, "u{200b}");
    assert!(
        message.labels().iter().any(|label| label == "Approve…"),
        "{message:?}"
    );
    assert!(labels(&push).contains(&"Approve".to_owned()), "{push}");
    let pushed = format!("{}\n{}", word(&push, "title"), word(&push, "message"));
    let surfaces = [
        ("link page", stage.link_page(code)),
        ("command line", stage.shown_by_cli(code)),
        ("telegram", message.text.clone()),
        ("ntfy", pushed),
        (
            "file",
            file.to_string().replace("\\\\", "\\").replace("\\\"", "\""),
        ),
    ];
    for (surface, text) in &surfaces {
        says_all(surface, text, &expected);
    }
    // By words where there is room to draw them, else line by line.
    let page_html = surfaces[0].1.split("<details").next().unwrap();
    assert!(
        page_html.contains("<del") && page_html.contains("<ins"),
        "{page_html}"
    );
    assert!(surfaces[1].1.contains("[-with care-]"), "{}", surfaces[1].1);
    let unified = stage.bridge.lab.void(&["inbox", "show", code, "--unified"]);
    let unified = String::from_utf8(unified.stdout).unwrap();
    for text in [&unified, &surfaces[2].1, &surfaces[3].1, &surfaces[4].1] {
        assert!(text.contains("-Restart it with care."), "{text}");
    }
    // A yes on the phone stores exactly that.
    assert_eq!(body_now(&stage, &page), OLD);
    let yes = stage.arm(Surface::Telegram, Wish::Approve, &row);
    yes();
    eventually_blocking("the draft to be stored", || {
        (stage.row(id)["status"] == "executed").then_some(())
    });
    assert_eq!(body_now(&stage, &page), NEW);
}

/// All of these, the reason, and what hides in the draft by its number and never as itself.
fn says_all(surface: &str, text: &str, expected: &[&str]) {
    let hidden = [
        "ge\\u{200b}ntly\\u{202e}",
        "c\\u{43e}py",
        "you asked for it",
    ];
    for value in expected.iter().chain(&hidden) {
        assert!(
            text.contains(value),
            "{surface} does not say {value}: {text}"
        );
    }
    let is_hidden = |c: char| matches!(c, '\u{200b}' | '\u{202e}' | '\u{43e}');
    assert!(!text.contains(is_hidden), "{surface}: {text}");
}

#[test]
fn a_draft_that_does_not_fit_is_read_elsewhere_and_approved_there() {
    let stage = Stage::set(ALL);
    let new: String = (0..900)
        .map(|n| format!("a line with the number {n}\n"))
        .collect();
    let (page, row) = drafted(&stage, OLD, &new);
    let (id, code) = (word(&row, "id"), word(&row, "code"));
    let message = stage.on_phone(&row, "Too long for a message");
    let may_approve = |label: &String| label.contains("Approve") || label.starts_with("Yes");
    assert!(!message.labels().iter().any(may_approve), "{message:?}");
    assert!(
        message.text.contains("it is long: 900 lines are added"),
        "{}",
        message.text
    );
    let push = stage.pushed(&row, "Too long for a message");
    assert!(!labels(&push).iter().any(may_approve), "{push}");
    // Where it is whole, all of it is there.
    let (shown, html) = (stage.shown_by_cli(code), stage.link_page(code));
    for number in [0, 450, 899] {
        let line = format!("a line with the number {number}");
        assert!(shown.contains(&line) && html.contains(&line), "{line}");
    }
    assert_eq!(body_now(&stage, &page), OLD);
    let done = stage
        .bridge
        .lab
        .json(&["inbox", "approve", code, "--yes"], 0);
    assert_eq!(word(&done, "status"), "executed");
    assert_eq!(stage.row(id)["verification"], "verified");
    assert_eq!(body_now(&stage, &page), new);
}

/// The terminal shows both when the base moved, and asks again.
#[test]
fn a_moved_base_is_shown_in_the_terminal_and_asked_again_there() {
    let stage = Stage::set([Surface::Cli]);
    let old = "one\n\ntwo\n\nthree\n";
    let (page, row) = drafted(&stage, old, "one, gently\n\ntwo\n\nthree\n");
    let code = word(&row, "code");
    let mine = json!({"base_revision": 1, "body": "one\n\ntwo\n\nthree, mine\n"});
    let path = format!("/api/pages/{page}");
    assert_eq!(stage.server.call("PUT", &path, Some(&mine)).0, 200);
    let shown = stage.shown_by_cli(code);
    assert!(shown.contains("it was changed by"), "{shown}");
    assert!(shown.contains("three{+, mine+}"), "{shown}");
    let lab = &stage.bridge.lab;
    let refused = lab.json(&["inbox", "approve", code, "--yes"], 6);
    assert_eq!(refused["error"]["code"], "base_moved", "{refused}");
    let again = lab.json(&["inbox", "again", word(&row, "id")], 7);
    assert_eq!(again["again_of"], row["id"], "{again}");
    lab.json(&["inbox", "approve", word(&again, "code"), "--yes"], 0);
    assert_eq!(
        body_now(&stage, &page),
        "one, gently\n\ntwo\n\nthree, mine\n"
    );
}
