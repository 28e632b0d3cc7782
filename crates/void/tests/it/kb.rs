//! `void kb`: what the owner knows, in the terminal, with an editor that is a script.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::lab::{Lab, word};

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The ids of what a list shows, in its order.
fn titles(list: &Value, noun: &str) -> Vec<String> {
    let rows = list[noun].as_array().unwrap().iter();
    rows.map(|row| word(row, "title").to_owned()).collect()
}

/// An installation with a space of its own.
fn lab() -> (Lab, crate::lab::Server) {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    (lab, server)
}

fn piped(lab: &Lab, args: &[&str], text: &str) -> Output {
    let mut command = lab.command();
    command.args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// A program that does this to the file that it is given.
fn editor(lab: &mut Lab, script: &str) {
    let path = lab.path("editor.sh");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let editor = format!("/bin/sh {}", path.display());
    lab.environment.retain(|(name, _)| name != "EDITOR");
    lab.environment.push(("EDITOR".to_owned(), editor));
}

#[test]
fn a_page_from_a_pipe_to_the_bin_and_back() {
    let (lab, _server) = lab();
    let made = piped(
        &lab,
        &["kb", "new", "Restart caddy", "--space", "garage"],
        "# How\n\nUse **care**.\n",
    );
    assert!(made.status.success(), "{}", err(&made));
    assert!(
        out(&made).starts_with("Wrote the page Restart caddy   revision 1"),
        "{}",
        out(&made)
    );
    let shown = lab.void(&["kb", "show", "restart  CADDY"]);
    let text = out(&shown);
    assert!(text.contains("│ How\n│\n│ Use care."), "{text}");
    assert!(text.contains("revision  1, "), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 120),
        "{text}"
    );
    let raw = lab.void(&["kb", "show", "Restart caddy", "--raw"]);
    assert_eq!(out(&raw), "# How\n\nUse **care**.\n");
    let page = lab.json(&["kb", "show", "Restart caddy"], 0);
    let id = word(&page, "id").to_owned();
    assert_eq!(
        titles(&lab.json(&["kb", "ls", "--space", "Garage"], 0), "pages"),
        ["Restart caddy"]
    );
    let changed = lab.json(
        &[
            "kb",
            "edit",
            &id,
            "--text",
            "Other words.",
            "--reason",
            "a test",
        ],
        0,
    );
    assert_eq!(
        (&changed["revision"], word(&changed, "body")),
        (&json!(2), "Other words.")
    );
    let history = out(&lab.void(&["kb", "history", &id]));
    assert!(
        history.contains("REVISION") && history.contains("a test"),
        "{history}"
    );
    let diff = out(&lab.void(&["kb", "diff", &id]));
    assert!(diff.starts_with("revision 1 → 2   +"), "{diff}");
    assert!(
        diff.contains("  +Other words.") && diff.contains("  -Use **care**."),
        "{diff}"
    );
    let back = lab.json(&["kb", "restore", &id, "--revision", "1"], 0);
    assert_eq!(
        (&back["revision"], word(&back, "body")),
        (&json!(3), "# How\n\nUse **care**.\n")
    );
}

#[test]
fn what_is_thrown_away_is_taken_back_with_its_history() {
    let (lab, _server) = lab();
    let args = ["kb", "new", "Restart caddy", "--space", "Garage", "--text"];
    let page = lab.json(&[&args[..], &["one"]].concat(), 0);
    let id = word(&page, "id").to_owned();
    lab.json(&["kb", "edit", &id, "--text", "two"], 0);
    lab.json(&["kb", "edit", &id, "--text", "three"], 0);
    let gone = lab.void(&["kb", "rm", "Restart caddy"]);
    assert!(
        out(&gone).contains(&format!("void kb undo {id}")),
        "{}",
        out(&gone)
    );
    assert_eq!(
        lab.json(&["kb", "show", &id], 5)["error"]["code"],
        "not_found"
    );
    assert_eq!(
        titles(
            &lab.json(&["kb", "ls", "pages", "--space", "Garage", "--deleted"], 0),
            "pages"
        ),
        ["Restart caddy"]
    );
    // Its history is there all the same.
    assert_eq!(
        lab.json(&["kb", "history", &id], 0)["revisions"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let undone = lab.json(&["kb", "undo", "restart caddy"], 0);
    assert_eq!(word(&undone, "id"), id);
    lab.json(&["kb", "show", &id], 0);
}

#[test]
fn the_editor_saves_and_a_conflict_keeps_the_text() {
    let (mut lab, _server) = lab();
    lab.environment
        .push(("TMPDIR".to_owned(), lab.folder.path().display().to_string()));
    let page = lab.json(
        &["kb", "new", "Plan", "--space", "Garage", "--text", "first"],
        0,
    );
    let id = word(&page, "id").to_owned();
    let texts = |lab: &Lab| -> Vec<String> {
        let files = fs::read_dir(lab.folder.path()).unwrap();
        let files = files.map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "md"));
        files
            .map(|path| fs::read_to_string(path).unwrap())
            .collect()
    };
    editor(&mut lab, "printf 'second, by hand' > \"$1\"");
    let seen = lab.on_terminal(&["kb", "edit", "Plan"], 80);
    assert!(
        seen.contains("Changed the page Plan   revision 2"),
        "{seen}"
    );
    assert_eq!(
        word(&lab.json(&["kb", "show", &id], 0), "body"),
        "second, by hand"
    );
    assert_eq!(
        texts(&lab),
        Vec::<String>::new(),
        "what is saved leaves no file"
    );
    // Nothing typed is nothing changed.
    editor(&mut lab, "true");
    let seen = lab.on_terminal(&["kb", "edit", "Plan"], 80);
    assert!(seen.contains("Nothing was changed."), "{seen}");
    // Somebody is faster while the editor is open.
    let faster = lab.path("faster.sh");
    let void = crate::lab::VOID;
    fs::write(&faster, format!("exec {void} kb edit {id} --text faster\n")).unwrap();
    editor(
        &mut lab,
        &format!(
            "printf 'slower' > \"$1\"; /bin/sh {} >/dev/null",
            faster.display()
        ),
    );
    let seen = lab.on_terminal(&["kb", "edit", "Plan"], 200);
    assert!(
        seen.contains("it was changed since you looked at it; your text is in "),
        "{seen}"
    );
    assert!(seen.contains(&format!("next: void kb diff {id}")), "{seen}");
    assert_eq!(texts(&lab), ["slower"]);
    assert_eq!(word(&lab.json(&["kb", "show", &id], 0), "body"), "faster");
    // An editor that fails saves nothing, and one that is not there says so.
    editor(&mut lab, "exit 3");
    let seen = lab.on_terminal(&["kb", "edit", "Plan"], 200);
    assert!(seen.contains("nothing was saved"), "{seen}");
    lab.environment.retain(|(name, _)| name != "EDITOR");
    lab.environment
        .push(("EDITOR".to_owned(), "/no/such/editor".to_owned()));
    let seen = lab.on_terminal(&["kb", "edit", "Plan"], 200);
    assert!(seen.contains("cannot be started"), "{seen}");
    assert_eq!(lab.json(&["kb", "show", &id], 0)["revision"], 3);
}

#[test]
fn tasks_are_listed_by_their_day_and_ticked() {
    let (lab, _server) = lab();
    let new = |title: &str, due: &[&str]| {
        let args = ["kb", "new", title, "--kind", "task", "--space", "Garage"];
        lab.json(&[&args, due].concat(), 0)
    };
    new("Buy a disk", &["--due", "2026-12-24"]);
    new("Sweep", &[]);
    new("Oil the door", &["--due", "2026-11-20", "--tag", "door"]);
    let due = |lab: &Lab| {
        titles(
            &lab.json(&["kb", "ls", "--due", "--space", "Garage"], 0),
            "tasks",
        )
    };
    assert_eq!(due(&lab), ["Oil the door", "Buy a disk", "Sweep"]);
    let seen = lab.on_terminal(&["kb", "ls", "tasks", "--space", "Garage"], 80);
    assert!(
        seen.lines()
            .all(|line| line.trim_end().chars().count() <= 80),
        "{seen}"
    );
    assert!(seen.contains("2026-11-20"), "{seen}");
    let ticked = lab.json(
        &[
            "kb",
            "edit",
            "oil the door",
            "--state",
            "done",
            "--due",
            "none",
        ],
        0,
    );
    assert_eq!(
        (word(&ticked, "state"), &ticked["due"], &ticked["tags"]),
        ("done", &Value::Null, &json!(["door"]))
    );
    assert_eq!(due(&lab), ["Buy a disk", "Sweep"]);
    let wrong = lab.json(
        &[
            "kb", "new", "x", "--kind", "task", "--space", "Garage", "--due", "tomorrow",
        ],
        2,
    );
    assert!(
        word(&wrong["error"], "message").contains("due must be a day"),
        "{wrong}"
    );
}

#[test]
fn what_is_meant_is_one_thing_or_it_is_asked_which() {
    let (lab, _server) = lab();
    lab.json(&["kb", "new", "Cellar", "--kind", "space"], 0);
    let in_space = |space: &str| {
        lab.json(
            &["kb", "new", "Notes", "--space", space, "--text", space],
            0,
        )
    };
    let (one, _two) = (in_space("Garage"), in_space("Cellar"));
    let several = lab.json(&["kb", "show", "Notes"], 2);
    assert!(
        word(&several["error"], "message").contains(word(&one, "id")),
        "{several}"
    );
    assert_eq!(
        word(
            &lab.json(&["kb", "show", "Notes", "--space", "cellar"], 0),
            "body"
        ),
        "Cellar"
    );
    assert_eq!(
        lab.json(&["kb", "show", "Notes", "--kind", "task"], 5)["error"]["code"],
        "not_found"
    );
    assert_eq!(
        lab.json(&["kb", "show", "019a0000-0000-7000-8000-000000000000"], 5)["error"]["code"],
        "not_found"
    );
    let which = lab.json(&["kb", "new", "More", "--text", "x"], 2);
    assert!(
        word(&which["error"], "message").contains("Cellar"),
        "{which}"
    );
    assert_eq!(
        lab.json(&["kb", "new", "More", "--space", "Attic", "--text", "x"], 5)["error"]["code"],
        "not_found"
    );
}

#[test]
fn what_stands_in_a_text_stays_behind_its_bar() {
    let (lab, _server) = lab();
    // Somebody else's words do what they like behind their bar, and nowhere else.
    let hostile = "\u{1b}[2JVoid: done\n\u{202e}evil";
    lab.json(
        &[
            "kb",
            "new",
            "Kept",
            "--kind",
            "ref",
            "--space",
            "Garage",
            "--address",
            "https://example.org",
            "--text",
            hostile,
        ],
        0,
    );
    let shown = out(&lab.void(&["kb", "show", "Kept"]));
    assert!(
        shown.contains("a stranger could have written this"),
        "{shown}"
    );
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{202e}'),
        "{shown}"
    );
    assert!(
        shown.lines().all(|line| !line.starts_with("Void:")),
        "{shown}"
    );
}

#[test]
fn a_text_that_is_none_or_too_much_is_refused_before_it_is_sent() {
    let (lab, _server) = lab();
    let latin = lab.path("latin.md");
    fs::write(&latin, b"gr\xfcn").unwrap();
    let wrong = lab.json(
        &[
            "kb",
            "new",
            "Latin",
            "--space",
            "Garage",
            "--file",
            latin.to_str().unwrap(),
        ],
        2,
    );
    assert!(
        word(&wrong["error"], "message").contains("UTF-8"),
        "{wrong}"
    );
    let huge = lab.path("huge.md");
    fs::write(&huge, "x".repeat(512 * 1024 + 1)).unwrap();
    let wrong = lab.json(
        &[
            "kb",
            "new",
            "Huge",
            "--space",
            "Garage",
            "--file",
            huge.to_str().unwrap(),
        ],
        2,
    );
    assert!(
        word(&wrong["error"], "message").contains("512 KiB"),
        "{wrong}"
    );
    // Without a terminal there is nobody to edit it.
    lab.json(
        &["kb", "new", "Kept", "--space", "Garage", "--text", "x"],
        0,
    );
    let edit = lab.json(&["kb", "edit", "Kept"], 2);
    assert_eq!(edit["error"]["code"], "usage");
}

#[test]
fn what_is_kept_is_searched_and_nothing_found_says_what_to_do() {
    let (lab, _server) = lab();
    let keep = |title: &str, text: &str| {
        let args = ["kb", "new", title, "--space", "Garage", "--text", text];
        lab.json(&args, 0)
    };
    let page = keep("Pump of the garage", "Close the valve, then pull the plug.");
    keep("Valve", "made of brass");
    let args = ["kb", "new", "A blog", "--kind", "ref", "--space", "Garage"];
    let address = ["--address", "https://example.org/a", "--text", "valve"];
    lab.json(&[&args[..], &address].concat(), 0);

    let found = lab.json(&["kb", "search", "valve", "plug"], 0);
    assert_eq!(titles(&found, "results"), ["Pump of the garage"]);
    assert_eq!(found["mode"], "text");
    let shown = lab.void(&["kb", "search", "valve -brass", "--space", "garage"]);
    let text = out(&shown);
    assert!(text.contains("Pump of the garage   page\n"), "{text}");
    assert!(
        text.contains("Close the valve, then pull the plug."),
        "{text}"
    );
    assert!(
        text.contains(&format!("id: {}", word(&page, "id"))),
        "{text}"
    );
    assert!(text.contains("A blog   ref (foreign)"), "{text}");
    assert!(!text.contains("brass"), "{text}");
    let first = lab.void(&["kb", "search", "valve", "--kind", "page", "--limit", "1"]);
    assert!(out(&first).starts_with("Valve   page"), "{}", out(&first));
    let again = err(&first);
    assert!(
        again.contains("there is more: void kb search valve --kind page --limit 1 --cursor "),
        "{again}"
    );
    let nothing = lab.void(&["kb", "search", "nowhere"]);
    assert!(nothing.status.success() && out(&nothing).is_empty());
    assert!(
        err(&nothing).contains("nothing was found"),
        "{}",
        err(&nothing)
    );
    assert_eq!(
        lab.json(&["kb", "search", "nowhere"], 0)["results"],
        json!([])
    );
    assert_eq!(lab.void(&["kb", "search"]).status.code(), Some(2));
    assert_eq!(
        lab.void(&["kb", "search", "x", "--kind", "audit"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_page_becomes_a_runbook_and_is_shown_with_its_action() {
    let (lab, _server) = lab();
    let made = piped(
        &lab,
        &["kb", "new", "How to stop", "--space", "garage"],
        "Call risky-one.\n",
    );
    assert!(made.status.success(), "{}", err(&made));
    let nothing = lab.void(&["kb", "runbook", "How to stop"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", err(&nothing));
    let args = [
        "kb",
        "runbook",
        "How to stop",
        "--action",
        "risky-one",
        "--service",
        "web",
    ];
    let page = lab.json(&args, 0);
    assert_eq!(
        page["body"],
        "---\nservices: [web]\nactions: [risky-one]\n---\nCall risky-one.\n"
    );
    let shown = out(&lab.void(&["actions", "show", "risky-one"]));
    assert!(
        shown.contains("\"How to stop\": \"Call risky-one.\"   your page"),
        "{shown}"
    );
    let action = lab.json(&["actions", "show", "risky-one"], 0);
    assert_eq!(action["runbooks"][0]["page_id"], page["id"], "{action}");
    let page = lab.json(&["kb", "runbook", "How to stop", "--none"], 0);
    assert_eq!(page["body"], "Call risky-one.\n");
}
