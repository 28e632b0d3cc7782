//! What `void kb`, `void inbox` and `void conversations` answer where something is missing, misspelt, twice there or too wide for
//! the terminal: what is wrong, and the command that goes on.

use serde_json::json;

use crate::lab::{Lab, word};

/// An installation with one space of its own beside the first one.
fn lab() -> (Lab, crate::lab::Server) {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    lab.json(&["kb", "new", "Garage", "--kind", "space"], 0);
    (lab, server)
}

#[test]
fn ids_days_and_names_stay_whole_in_a_terminal() {
    let (lab, _server) = lab();
    let title = "Write down how to restart what matters most in this house";
    let args = [
        "kb",
        "new",
        title,
        "--kind",
        "task",
        "--space",
        "Garage",
        "--due",
        "2030-12-01",
    ];
    let made = lab.json(&args, 0);
    let seen = |columns: usize| {
        let seen = lab.on_terminal(&["kb", "ls", "tasks", "--space", "Garage"], columns);
        // Looks take no room.
        seen.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "")
    };
    let shown = seen(80);
    let id = format!("  id: {}", word(&made, "id"));
    assert!(shown.lines().any(|line| line.trim_end() == id), "{shown}");
    assert!(shown.contains("2030-12-01"), "{shown}");
    assert!(
        shown
            .lines()
            .all(|line| line.trim_end().chars().count() <= 80),
        "{shown}"
    );
    // Where there is room it is a column, as programs that read columns know it.
    let wide = seen(200);
    assert!(
        wide.lines()
            .next()
            .is_some_and(|line| line.trim_end().ends_with("ID")),
        "{wide}"
    );
}

#[test]
fn what_is_misspelt_or_twice_there_is_told_with_the_way_on() {
    let (lab, _server) = lab();
    lab.json(
        &["kb", "new", "Power cut", "--space", "Garage", "--text", "x"],
        0,
    );
    let told = |args: &[&str], code: i32| told(&lab, args, code);
    let near = told(&["kb", "show", "Powr cut"], 5);
    assert!(
        near.contains("did you mean \"Power cut\"?") && near.contains("kb search"),
        "{near}"
    );
    let far = told(&["kb", "show", "Zzzzzz"], 5);
    assert!(!far.contains("did you mean"), "{far}");
    lab.json(
        &["kb", "new", "Power cut", "--space", "Home", "--text", "y"],
        0,
    );
    let twice = told(&["kb", "show", "Power cut"], 2);
    assert!(
        twice.contains("in \"Garage\"")
            && twice.contains("in \"Home\"")
            && twice.contains("add --space"),
        "{twice}"
    );
}

/// What a command was refused with, and what it says to do next.
fn told(lab: &Lab, args: &[&str], code: i32) -> String {
    let error = lab.json(args, code)["error"].clone();
    format!(
        "{} | {}",
        word(&error, "message"),
        error["next"].as_str().unwrap_or_default()
    )
}

#[test]
fn what_is_of_another_kind_or_missing_is_told_with_the_way_on() {
    let (lab, _server) = lab();
    lab.json(
        &["kb", "new", "Power cut", "--space", "Home", "--text", "y"],
        0,
    );
    let told = |args: &[&str], code: i32| told(&lab, args, code);
    let state = told(&["kb", "new", "x", "--space", "Home", "--state", "done"], 2);
    assert!(
        state.contains("--state is of a task, and this is a page") && state.contains("--kind task"),
        "{state}"
    );
    let due = told(
        &[
            "kb",
            "edit",
            "Power cut",
            "--space",
            "Home",
            "--due",
            "2030-01-01",
        ],
        2,
    );
    assert!(due.contains("--due is of a task"), "{due}");
    for args in [
        &[
            "kb",
            "restore",
            "Power cut",
            "--space",
            "Home",
            "--revision",
            "9",
        ][..],
        &["kb", "diff", "Power cut", "--space", "Home", "--to", "9"],
    ] {
        let revision = told(args, 5);
        assert!(
            revision.contains("no such revision") && revision.contains("kb history"),
            "{revision}"
        );
    }
    let unsaid = told(&["kb", "vouch", "Power cut", "--space", "Home"], 2);
    assert!(
        unsaid.contains("it is 1 now") && unsaid.contains("--revision 1"),
        "{unsaid}"
    );
    let nothing = told(&["kb", "search", " "], 2);
    assert!(nothing.contains("nothing to look for"), "{nothing}");
    assert_eq!(
        lab.json(&["kb", "show", "Power cut", "--space", "Home"], 0)["revision"],
        1,
        "none of it was written"
    );
}

#[test]
fn a_project_is_named_by_its_title_in_its_own_space() {
    let (lab, _server) = lab();
    let project = lab.json(
        &[
            "kb", "new", "Move", "--kind", "project", "--space", "Garage",
        ],
        0,
    );
    let args = |space: &'static str| {
        [
            "kb",
            "new",
            "Pack",
            "--kind",
            "task",
            "--space",
            space,
            "--project",
            "move",
        ]
    };
    let task = lab.json(&args("Garage"), 0);
    assert_eq!(task["project_id"], project["id"]);
    lab.json(&args("Home"), 5);
    let out = lab.json(&["kb", "edit", "Pack", "--project", "none"], 0);
    assert_eq!(out["project_id"], json!(null));
}

#[test]
fn what_changed_nothing_is_not_said_to_have() {
    let (lab, _server) = lab();
    lab.json(
        &["kb", "new", "Pack", "--kind", "task", "--space", "Garage"],
        0,
    );
    let same = lab.on_terminal(&["kb", "edit", "Pack", "--state", "open"], 80);
    assert!(same.contains("Nothing changed in the task Pack"), "{same}");
    let other = lab.on_terminal(&["kb", "edit", "Pack", "--state", "done"], 80);
    assert!(
        other.contains("Changed the task Pack   revision 2"),
        "{other}"
    );
}

#[test]
fn an_empty_list_says_what_fills_it() {
    let (lab, _server) = lab();
    for (args, way) in [
        (
            &["kb", "ls", "refs", "--space", "Garage"][..],
            "kb capture ADDRESS --space Garage",
        ),
        (
            &["kb", "ls", "tasks", "--space", "Garage"],
            "kb new TITLE --kind task --space Garage",
        ),
        (
            &["kb", "attachments", "--space", "Garage"],
            "kb attach FILE --space Garage",
        ),
    ] {
        let shown = lab.void(args);
        let told = String::from_utf8(shown.stderr).unwrap();
        assert!(told.contains(way), "{told}");
        assert!(shown.stdout.is_empty(), "a program reads no rows");
    }
}

#[test]
fn a_runbook_of_nothing_that_is_here_is_written_and_said_to_be_that() {
    let (lab, _server) = lab();
    lab.json(
        &["kb", "new", "Help", "--space", "Garage", "--text", "x"],
        0,
    );
    let shown = lab.void(&["kb", "runbook", "Help", "--service", "cady"]);
    assert!(shown.status.success());
    let told = String::from_utf8(shown.stderr).unwrap();
    assert!(told.contains("nothing here is called cady"), "{told}");
}

#[test]
fn a_draft_is_called_by_what_it_is_about_and_a_yes_leads_there() {
    let (lab, _server) = lab();
    let say = [
        "chat",
        "--space",
        "Garage",
        "-m",
        "note that pve2 has the GPU",
    ];
    let said = String::from_utf8(lab.void(&say).stdout).unwrap();
    assert!(
        said.contains("“cancel that” withdraws it"),
        "without looks it is in quotes: {said}"
    );
    assert!(
        said.contains("pve2 has the GPU") && !said.contains("Pve2"),
        "{said}"
    );
    let listed = lab.on_terminal(&["inbox", "ls"], 100);
    assert!(
        listed.contains("Write a page: pve2 has the GPU"),
        "{listed}"
    );
    let inbox = lab.json(&["inbox", "ls"], 0);
    let code = word(&inbox["items"][0], "code").to_owned();
    let yes = lab.on_terminal(&["inbox", "approve", &code, "--yes"], 100);
    assert!(yes.contains("next: ") && yes.contains("kb show "), "{yes}");
    assert!(
        !yes.contains("copies were not counted") && !yes.contains("void reload"),
        "{yes}"
    );
}

#[test]
fn conversations_of_everybody_are_listed_together_and_none_goes_without_a_question() {
    let (lab, _server) = lab();
    for say in [
        &["chat", "-m", "hello"][..],
        &[
            "chat",
            "--space",
            "Garage",
            "-m",
            "note that pve2 has the GPU",
        ],
    ] {
        assert!(lab.void(say).status.success());
    }
    let all = lab.json(&["conversations", "ls"], 0);
    let rows = all["conversations"].as_array().unwrap();
    let agents: Vec<&str> = rows.iter().map(|row| word(row, "agent")).collect();
    assert_eq!(agents, ["companion", "little-blue"], "newest first");
    let found = lab.json(&["conversations", "search", "pve2"], 0);
    assert_eq!(found["conversations"].as_array().unwrap().len(), 1);
    let one = lab.json(&["conversations", "ls", "--limit", "1"], 0);
    assert_eq!(
        (one["conversations"].as_array().unwrap().len(), &one["cut"]),
        (1, &json!(true))
    );
    let id = word(&rows[0], "conversation_id").to_owned();
    let unasked = lab.json(&["conversations", "rm", &id], 2);
    assert_eq!(unasked["error"]["next"], "add --yes");
    assert!(
        lab.void(&["conversations", "show", &id]).status.success(),
        "it is there"
    );
    lab.json(&["conversations", "rm", &id, "--yes"], 0);
    assert!(!lab.void(&["conversations", "show", &id]).status.success());
}

#[test]
fn what_was_read_from_outside_is_counted_and_told_with_the_way_on() {
    let (lab, _server) = lab();
    lab.json(
        &[
            "kb",
            "new",
            "Fuses",
            "--kind",
            "ref",
            "--address",
            "https://fuses.example/",
            "--text",
            "They blow.",
            "--space",
            "Garage",
        ],
        0,
    );
    let ask = [
        "chat",
        "--space",
        "Garage",
        "-m",
        "what do I know about fuses?",
    ];
    let said = String::from_utf8(lab.void(&ask).stdout).unwrap();
    assert!(said.contains("Read from outside: 1 ref."), "{said}");
    assert!(!said.contains("ref:"), "no id: {said}");
    assert!(
        said.contains("without it: ") && said.contains("--space Garage --new"),
        "{said}"
    );
    let own = ["chat", "-m", "hello"];
    let own = String::from_utf8(lab.void(&own).stdout).unwrap();
    assert!(!own.contains("Read from outside"), "{own}");
}
