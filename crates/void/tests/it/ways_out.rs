//! Whatever is refused says what to do next, and what is said is true.

use std::fs;

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, catalogue, word};

fn out(lab: &Lab, args: &[&str]) -> String {
    String::from_utf8(lab.void(args).stdout).unwrap()
}

fn err(lab: &Lab, args: &[&str]) -> String {
    String::from_utf8(lab.void(args).stderr).unwrap()
}

pub fn settings(lab: &Lab, more: &str) {
    let file = lab.data().join("void.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{more}\n{text}")).unwrap();
}

#[test]
fn what_is_not_there_names_the_list_of_what_is() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    for (args, next) in [
        (&["inbox", "show", "ABCD"][..], "void inbox ls"),
        (&["services", "nope"], "void services"),
        (&["hosts", "check", "nope"], "void hosts ls"),
        (&["token", "revoke", "nope"], "void token ls"),
        (&["audit", "show", "999"], "void audit ls"),
        (&["node", "revoke", "zzz"], "void node ls"),
    ] {
        let refused = lab.json(args, 5);
        assert!(
            word(&refused["error"], "next").starts_with(next),
            "{args:?} {refused}"
        );
    }
    let queued = lab.json(&["run", "risky-one"], 7);
    let code = word(&queued["row"], "code");
    lab.json(&["inbox", "reject", code], 0);
    let again = lab.json(&["inbox", "approve", code, "--yes"], 8);
    assert_eq!(
        word(&again["error"], "next"),
        format!("void inbox show {code}")
    );
    let off = lab.json(&["backup", "create"], 6);
    assert_eq!(word(&off["error"], "code"), "backups_off");
    assert!(word(&off["error"], "next").contains("[backups]"), "{off}");
    let needed = lab.json(&["quarantine", "confirm"], 2);
    assert!(
        word(&needed["error"], "message").contains("--all"),
        "{needed}"
    );
    let long = "x".repeat(10_000);
    let refused = lab.json(&["freeze", "--reason", &long], 2);
    assert!(
        word(&refused["error"], "message").contains("bytes"),
        "{refused}"
    );
}

#[test]
fn what_a_host_refuses_names_the_way_out() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    fs::write(lab.path("stop"), "").unwrap();
    assert!(out(&lab, &["run", "safe-one"]).contains("next: remove the stop file"));
    fs::remove_file(lab.path("stop")).unwrap();
    let list = fs::read_to_string(lab.path("list.json")).unwrap();
    fs::write(
        lab.path("list.json"),
        list.replace("\"safe-two\"", "\"other\""),
    )
    .unwrap();
    assert!(out(&lab, &["run", "safe-two"]).contains("next: void provision local"));
    assert_eq!(lab.effects(), Vec::<String>::new());
}

#[test]
fn what_is_no_backup_is_never_answered_with_a_restore() {
    let lab = Lab::new();
    for verb in [
        &["verify", "/etc/passwd"][..],
        &["restore", "/etc/passwd", "--yes"],
    ] {
        let refused = lab.json(&[&["backup"], verb].concat(), 1);
        assert_eq!(word(&refused["error"], "code"), "not_a_backup");
        assert_eq!(word(&refused["error"], "next"), "void backup ls");
    }
    // A database of somebody else, or a copy that lost its end.
    let mut damaged = b"SQLite format 3\0".to_vec();
    damaged.resize(4096, 7);
    fs::write(lab.path("damaged.db"), damaged).unwrap();
    let path = lab.path("damaged.db");
    let refused = lab.json(&["backup", "verify", path.to_str().unwrap()], 1);
    let next = word(&refused["error"], "next");
    assert!(
        !next.contains("restore") && next.contains("void backup ls"),
        "{refused}"
    );
    assert_eq!(
        lab.json(&["backup", "verify", "nowhere.db"], 5)["error"]["code"],
        json!("not_found")
    );
}

#[test]
fn a_second_server_says_that_the_first_one_runs() {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    for args in [&["serve"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = err(&lab, args);
        assert!(
            said.contains("this Void runs already: process ") && said.contains("next: void status"),
            "{said}"
        );
        assert!(said.contains(&server.pid().to_string()), "{said}");
    }
    lab.json(&["status"], 0);
}

#[test]
fn a_mistake_is_told_where_it_was_made_and_with_all_others() {
    let lab = Lab::new();
    settings(
        &lab,
        "public_url = \"https://void.lan\"\ninstance = \"No Name\"\n[limits]\nsafe_runs_per_agent_hour = 0\n",
    );
    let both = lab.json(&["config", "check"], 3);
    let message = word(&both["error"], "message");
    assert!(
        message.contains("safe_runs_per_agent_hour") && message.contains("No Name"),
        "{message}"
    );

    let lab = Lab::new();
    fs::write(
        lab.data().join("services.json"),
        "{\"services\": [{\"id\": 7}]}",
    )
    .unwrap();
    fs::write(lab.path("actions.json"), "{\"actions\": [{\"id\": \"x\"}]}").unwrap();
    let both = lab.json(&["config", "check"], 3);
    let message = word(&both["error"], "message");
    assert!(
        message.contains("services.json") && message.contains("actions.json"),
        "{message}"
    );
    let refused = lab.json(&["serve"], 3);
    assert_ne!(word(&refused["error"], "next"), "void config check");

    let lab = Lab::new();
    settings(&lab, "[self]\nprotected = [\"nobody/nothing\"]");
    let said = out(&lab, &["config", "check"]);
    assert!(
        said.contains("warning void.toml, [self] protected"),
        "{said}"
    );
    assert!(!said.contains("line 1"), "{said}");
    let lab = Lab::new();
    settings(&lab, "[limits]\nopen_proposals = \"many\"");
    let said = word(&lab.json(&["config", "check"], 3)["error"], "message").to_owned();
    assert!(
        said.contains("a whole number") && !said.contains("u64"),
        "{said}"
    );
}

#[test]
fn a_wrong_command_line_is_json_where_json_was_asked_for() {
    let lab = Lab::new();
    for args in [
        &["frobnicate"][..],
        &["run"],
        &["run", "x", "--wait", "many"],
        &["--color", "x"],
        &[],
    ] {
        let refused = lab.json(args, 2);
        assert_eq!(word(&refused["error"], "code"), "usage", "{args:?}");
        let message = word(&refused["error"], "message");
        assert!(
            !message.is_empty() && !message.contains('\n'),
            "{args:?} {message}"
        );
    }
    let codes = lab.json(&["help-exit-codes"], 0);
    let row = |code: u64| {
        let rows = codes["exit_codes"].as_array().unwrap();
        rows.iter().find(|row| row["code"] == code).cloned()
    };
    assert_eq!(row(7).unwrap()["meaning"], "queued, waiting for approval");
    assert_eq!(row(130).unwrap()["meaning"], "interrupted");
    let script = lab.json(&["completions", "bash"], 0);
    assert!(word(&script, "script").contains("complete -F"));
    assert!(out(&lab, &["completions", "bash"]).contains("complete -F"));
}

#[test]
fn a_freeze_says_what_it_does_and_who_did_it() {
    let mut slow = catalogue();
    let action = json!({"id": "slow-one", "kind": "service_restart", "host": "local", "service": "slow-one", "tier": "safe", "cooldown_s": 0});
    slow["actions"].as_array_mut().unwrap().push(action);
    let lab = Lab::with(&slow);
    let _server = lab.serve(&[]);
    assert!(out(&lab, &["thaw"]).contains("Nothing was frozen."));
    lab.json(&["run", "slow-one", "--wait", "0"], 9);
    eventually_blocking("it runs", || {
        (lab.json(&["status"], 0)["running"] == 1).then_some(())
    });
    let said = out(&lab, &["freeze", "--reason", "hands off", "--for", "4h"]);
    assert!(
        said.contains("Nothing new starts") && said.contains("running:  1, to its end"),
        "{said}"
    );
    let status = lab.json(&["status"], 0);
    assert_eq!(
        (word(&status, "frozen_by"), word(&status, "frozen_reason")),
        ("owner-cli", "hands off")
    );
    assert!(status["frozen_until"].is_string());
    let said = out(&lab, &["status"]);
    assert!(
        said.contains("nothing new starts, by owner (command line), \"hands off\", until "),
        "{said}"
    );
    let refused = lab.json(&["run", "safe-one"], 6);
    assert!(
        word(&refused["error"], "message").contains("\"hands off\""),
        "{refused}"
    );
    assert_eq!(word(&refused["error"], "next"), "void thaw");
    let queued = lab.json(&["run", "risky-one"], 7);
    assert_eq!(word(&queued["freeze"], "reason"), "hands off");
    let said = out(&lab, &["run", "risky-one"]);
    assert!(
        said.contains("everything is frozen, by owner (command line)"),
        "{said}"
    );
    // What had started goes on to its end, and nothing else does anything.
    fs::write(lab.path("go"), "").unwrap();
    eventually_blocking("it ends", || (lab.effects() == ["slow-one"]).then_some(()));
    assert_eq!(lab.json(&["thaw"], 0)["was_frozen"], json!(true));
    assert_eq!(lab.json(&["thaw"], 0)["was_frozen"], json!(false));
    let status = lab.json(&["status"], 0);
    assert_eq!(
        (&status["frozen"], &status["frozen_by"]),
        (&json!(false), &Value::Null)
    );
    let help = out(&lab, &["freeze", "--help"]);
    assert!(help.contains("what runs now runs to its end"), "{help}");
}

#[test]
fn the_record_says_that_a_safe_run_was_let_through_by_policy() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["run", "safe-one"], 9);
    let queued = lab.json(&["run", "risky-one"], 7);
    lab.json(
        &["inbox", "approve", word(&queued["row"], "code"), "--yes"],
        9,
    );
    let listed = lab.json(&["audit", "ls"], 0);
    let entries = listed["entries"].as_array().unwrap();
    let approved: Vec<(&str, &str, &str)> = entries
        .iter()
        .filter(|entry| entry["verb"] == "proposal.approved")
        .map(|entry| {
            let detail = &entry["detail"];
            (
                word(entry, "actor"),
                word(detail, "approved_by"),
                word(detail, "requested_by"),
            )
        })
        .collect();
    assert_eq!(
        approved,
        [
            ("owner-cli", "owner-cli", "owner"),
            ("policy", "policy", "owner")
        ]
    );
    let created: Vec<&str> = entries
        .iter()
        .filter(|entry| entry["verb"] == "proposal.created")
        .map(|entry| word(entry, "actor"))
        .collect();
    assert_eq!(created, ["owner-cli", "owner-cli"]);
    lab.json(&["audit", "verify"], 0);
}

#[test]
fn tokens_are_withdrawn_by_name_or_by_how_their_id_begins() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let new = |kind: &str, name: &str, more: &[&str], code: i32| {
        let args = ["token", "new", "--kind", kind, "--name", name];
        lab.json(&[&args[..], more].concat(), code)
    };
    let refused = new("viewer", "v", &["--cap", "act"], 2);
    assert!(
        word(&refused["error"], "message").contains("a viewer reads"),
        "{refused}"
    );
    let refused = new("node", "nas", &[], 2);
    assert_eq!(word(&refused["error"], "next"), "void node invite nas");
    let said = err(&lab, &["token", "new", "--kind", "agent", "--name", "idle"]);
    assert!(said.contains("warning: without --cap"), "{said}");
    new("viewer", "wall", &[], 0);
    let blue = new("agent", "blue", &["--cap", "read"], 0);
    assert!(
        out(&lab, &["token", "ls"])
            .lines()
            .any(|line| line.contains("wall") && line.contains("reads"))
    );

    let live = || -> Vec<String> {
        let listed = lab.json(&["token", "ls"], 0);
        let tokens = listed["tokens"].as_array().unwrap();
        let live = tokens.iter().filter(|token| token["revoked_at"].is_null());
        live.map(|token| word(token, "name").to_owned()).collect()
    };
    lab.json(&["token", "revoke", "blue"], 0);
    assert!(!live().contains(&"blue".to_owned()));
    lab.json(&["token", "revoke", "blue"], 5);
    lab.json(&["token", "revoke", word(&blue, "id")], 5);
    // The same name in two kinds is not guessed at.
    new("agent", "wall", &["--cap", "read"], 0);
    let several = lab.json(&["token", "revoke", "wall"], 2);
    assert!(
        word(&several["error"], "message").contains("several tokens fit"),
        "{several}"
    );
    let before = live();
    let listed = lab.json(&["token", "ls"], 0);
    let viewer = listed["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .find(|token| token["kind"] == "viewer")
        .cloned()
        .unwrap();
    let id = word(&viewer, "id");
    lab.json(&["token", "revoke", id.get(..3).unwrap()], 5);
    lab.json(&["token", "revoke", id.get(..id.len() - 2).unwrap()], 0);
    assert_eq!(live().len(), before.len() - 1);
}

#[test]
fn an_invitation_says_when_its_address_is_no_use_elsewhere() {
    let lab = Lab::new();
    let server = lab.serve(&[]);
    let said = err(&lab, &["node", "invite", "nas"]);
    assert!(
        said.contains("No other machine reaches http://127.0.0.1"),
        "{said}"
    );
    assert!(
        said.contains("public_url") && said.contains("node ls"),
        "{said}"
    );
    drop(server);
    let mut lab = lab;
    lab.environment
        .push(("VOID_PUBLIC_URL".to_owned(), "https://void.lan/".to_owned()));
    let _server = lab.serve(&[]);
    let said = err(&lab, &["node", "invite", "nas"]);
    assert!(
        said.contains("node join https://void.lan --token") && !said.contains("No other machine"),
        "{said}"
    );
}

#[test]
fn the_doctor_names_a_service_that_is_down() {
    let lab = Lab::new();
    let dead = void_testkit::free_port();
    let services = json!({"services": [{"id": "web", "check": {"kind": "tcp", "address": format!("127.0.0.1:{dead}")}, "interval_s": 5}]});
    fs::write(lab.data().join("services.json"), services.to_string()).unwrap();
    let _server = lab.serve(&[]);
    eventually_blocking("it is known to be down", || {
        (lab.json(&["services"], 0)["services"][0]["status"] == "down").then_some(())
    });
    let said = out(&lab, &["doctor"]);
    assert!(
        said.contains("web is down") && said.contains("next: void services web"),
        "{said}"
    );
    assert!(!said.contains("Nothing is wrong."), "{said}");
    let strict = lab.void(&["doctor", "--strict"]);
    assert_eq!(strict.status.code(), Some(1));
}

#[test]
fn what_is_mistyped_or_gone_names_what_comes_next() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    for (args, code, next) in [
        (&["inbox", "approve", "NOPE"][..], 5, "void inbox ls"),
        (&["inbox", "ls", "--cursor", "zzz"], 2, "leave it out"),
        (
            &["run", "safe-one", "--param", "a"],
            2,
            "void actions show safe-one",
        ),
        (
            &["run", "safe-one", "--param", "a=1", "--param", "a=2"],
            2,
            "void actions show safe-one",
        ),
        (&["notify", "rm", "nope"], 5, "void notify ls"),
        (&["notify", "rm", "telegram:77"], 5, "void notify ls"),
        (&["notify", "retry", "nope"], 5, "void notify ls"),
        (
            &["quarantine", "confirm", "claude"],
            5,
            "void quarantine ls",
        ),
    ] {
        let refused = lab.json(args, code);
        let told = word(&refused["error"], "next");
        assert!(told.starts_with(next), "{args:?} {refused}");
    }
    // No field of the API stands before a sentence.
    let commit = "a".repeat(39);
    let refused = lab.json(&["agents", "config", "little-blue", "--apply", &commit], 2);
    let said = word(&refused["error"], "message");
    assert!(said.contains("whole id"), "{refused}");
}

/// What a server that is started would not answer is not answered with starting one.
#[test]
fn an_address_that_was_named_is_not_mended_by_a_server_elsewhere() {
    let lab = Lab::new();
    let nobody = "http://127.0.0.1:1";
    let refused = lab.json(&["--url", nobody, "status"], 10);
    let next = word(&refused["error"], "next");
    let names_serve = next.split_whitespace().any(|said| said == "serve");
    assert!(next.contains("--url") && !names_serve, "{next}");
    let refused = lab.json(&["status"], 10);
    assert!(word(&refused["error"], "next").starts_with("void serve"));
}

#[test]
fn a_slip_in_the_settings_keeps_nobody_from_a_server_that_runs() {
    let lab = Lab::new();
    let file = lab.data().join("void.toml");
    let sound = fs::read_to_string(&file).unwrap();
    let mut server = lab.serve(&[]);
    for slip in ["listn = \"x\"", "[limits", "allowed_hosts = 3"] {
        fs::write(&file, format!("{slip}\n{sound}")).unwrap();
        for args in [&["status"][..], &["freeze"], &["thaw"], &["inbox", "ls"]] {
            let said = lab.void(args);
            let noted = String::from_utf8_lossy(&said.stderr).into_owned();
            assert!(said.status.success(), "{slip} {args:?}: {noted}");
            assert!(
                noted.starts_with("warning: ") && noted.contains("line 1"),
                "{noted}"
            );
            assert!(noted.contains("next: void config check"), "{noted}");
        }
        lab.json(&["status"], 0);
        // What needs the settings does not go on without them.
        for args in [
            &["config", "check"][..],
            &["reload"],
            &["provision", "local"],
        ] {
            assert_eq!(lab.void(args).status.code(), Some(3), "{slip} {args:?}");
        }
    }
    // Nor does what needs this one.
    fs::write(&file, format!("owner_token = \"hunter2\"\n{sound}")).unwrap();
    let refused = lab.void(&["status"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    // Where the server is must be known: the token goes to no guess.
    fs::write(&file, format!("listn = \"x\"\n{sound}")).unwrap();
    assert!(server.terminate().success());
    assert_eq!(lab.void(&["status"]).status.code(), Some(3));
    fs::write(&file, sound).unwrap();
}

#[test]
fn a_restore_beside_a_running_server_is_refused_before_anything_is_asked() {
    let lab = Lab::new();
    let mut server = lab.serve(&[]);
    let copy = lab.path("copy.db");
    fs::write(&copy, b"SQLite format 3\0").unwrap();
    let restore = ["backup", "restore", copy.to_str().unwrap()];
    let refused = lab.json(&restore, 1);
    assert_eq!(word(&refused["error"], "code"), "in_use");
    assert_eq!(word(&refused["error"], "next"), "stop the server first");
    assert!(server.terminate().success());
    let refused = lab.json(&restore, 2);
    assert_eq!(word(&refused["error"], "next"), "add --yes");
}

#[test]
fn a_revoked_token_is_listed_with_nothing_that_it_may() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let new = [
        "token", "new", "--kind", "agent", "--name", "blue", "--cap", "read",
    ];
    lab.json(&new, 0);
    assert!(out(&lab, &["token", "ls"]).contains("read"));
    lab.json(&["token", "revoke", "blue"], 0);
    let listed = out(&lab, &["token", "ls"]);
    assert!(
        listed.contains("revoked") && !listed.contains("read"),
        "{listed}"
    );
}

#[test]
fn everybody_is_called_the_same_in_every_list() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "risky-one"], 7);
    lab.json(&["inbox", "reject", word(&queued["row"], "code")], 0);
    let listed = out(&lab, &["inbox", "ls", "--all"]);
    assert!(
        listed.contains("owner (command line)") && !listed.contains("owner-cli"),
        "{listed}"
    );
}
