//! The command line's conventions: data on standard output, messages on standard error, JSON
//! everywhere, and the exit codes of UX 2.2.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, OWNER, VOID, call, catalogue, word};

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_ran_unchecked_is_9_and_what_waits_is_7() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let ran = lab.void(&["run", "safe-one", "--reason", "because"]);
    assert_eq!(ran.status.code(), Some(9), "{}", err(&ran));
    assert!(
        out(&ran).starts_with("Ran, not confirmed"),
        "it does not say done without a check: {}",
        out(&ran)
    );
    assert!(out(&ran).contains("\"because\""));

    let queued = lab.void(&["run", "risky-one"]);
    assert_eq!(queued.status.code(), Some(7));
    assert!(
        out(&queued).contains("waits for a yes") && out(&queued).contains("void inbox approve "),
        "{}",
        out(&queued)
    );
    assert_eq!(lab.effects(), ["safe-one"]);
}

#[test]
fn run_prints_the_contract_with_the_row() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let ran = lab.json(&["run", "safe-one"], 9);
    assert_eq!(ran["executed"], json!(true));
    assert_eq!(ran["row"]["status"], json!("executed"));
    assert_eq!(ran["row"]["verification"], json!("unverified"));
    assert_eq!(ran["schema_version"], json!(1));
    let queued = lab.json(&["run", "risky-one"], 7);
    assert_eq!(queued["queued"], json!(true));
    assert_eq!(queued["action_row_id"], queued["row"]["id"]);
}

#[test]
fn approving_and_rejecting_from_the_terminal() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let code = |queued: &Value| word(&queued["row"], "code").to_owned();
    let first = code(&lab.json(&["run", "risky-one"], 7));
    let listed = lab.json(&["inbox", "ls"], 0);
    assert_eq!(
        listed["counts"],
        json!({"proposal": 1, "question": 0, "draft": 0, "failure": 0, "join": 0, "untold": 0})
    );
    assert_eq!(word(&listed["items"][0], "code"), first);
    assert_eq!(word(&listed["items"][0], "kind"), "proposal");

    // Nobody to ask, and nobody said yes: nothing happens.
    let nobody = lab.json(&["inbox", "approve", &first], 2);
    assert_eq!(nobody["error"]["code"], json!("usage"));
    assert_eq!(lab.effects(), Vec::<String>::new());
    let approved = lab.json(&["inbox", "approve", &first, "--yes"], 9);
    assert_eq!(
        (word(&approved, "status"), word(&approved, "resolved_by")),
        ("executed", "owner-cli")
    );
    assert_eq!(lab.effects(), ["risky-one"]);

    // The second decision is told about the first.
    let again = lab.json(&["inbox", "approve", &first, "--yes"], 8);
    assert_eq!(again["error"]["code"], json!("already_decided"));
    assert!(
        word(&again["error"], "message")
            .starts_with("already approved by owner (command line) at "),
        "{again}"
    );

    let second = code(&lab.json(&["run", "risky-one"], 7));
    let rejected = lab.json(&["inbox", "reject", &second, "--reason", "not now"], 0);
    assert_eq!(
        (
            word(&rejected, "status"),
            word(&rejected["error"], "message")
        ),
        ("rejected", "not now")
    );
    assert_eq!(
        lab.json(&["inbox", "approve", &second, "--yes"], 8)["error"]["code"],
        json!("already_decided")
    );

    let third = code(&lab.json(&["run", "risky-one"], 7));
    assert_eq!(
        word(&lab.json(&["inbox", "cancel", &third], 0), "status"),
        "cancelled"
    );
    assert_eq!(lab.effects(), ["risky-one"]);
}

#[test]
fn what_may_cut_you_off_needs_the_digest_you_saw() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "critical-one"], 7);
    let (code, digest) = (word(&queued["row"], "code"), word(&queued["row"], "digest"));
    let refused = lab.json(&["inbox", "approve", code, "--yes"], 2);
    assert!(
        word(&refused["error"], "next").contains(digest),
        "{refused}"
    );
    let other = "0".repeat(64);
    assert_eq!(
        lab.json(&["inbox", "approve", code, "--digest", &other], 6)["error"]["code"],
        json!("changed")
    );
    assert_eq!(lab.effects(), Vec::<String>::new());
    assert_eq!(
        word(
            &lab.json(&["inbox", "approve", code, "--digest", digest], 9),
            "status"
        ),
        "executed"
    );
}

#[test]
fn freezing_stops_and_thawing_lets_go() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let frozen = lab.json(&["freeze", "--reason", "hands off", "--for", "4h"], 0);
    assert_eq!(
        (
            frozen["frozen"].as_bool(),
            word(&frozen, "reason"),
            frozen["until"].is_string()
        ),
        (Some(true), "hands off", true)
    );
    assert_eq!(
        lab.json(&["run", "safe-one"], 6)["error"]["code"],
        json!("frozen")
    );
    let queued = lab.json(&["run", "risky-one"], 7);
    let code = word(&queued["row"], "code");
    assert_eq!(
        lab.json(&["inbox", "approve", code, "--yes"], 6)["error"]["code"],
        json!("frozen")
    );
    assert!(out(&lab.void(&["status"])).contains("nothing new starts"));
    assert_eq!(lab.effects(), Vec::<String>::new());
    assert_eq!(lab.json(&["thaw"], 0)["frozen"], json!(false));
    lab.json(&["inbox", "approve", code, "--yes"], 9);
    assert_eq!(lab.effects(), ["risky-one"]);
    assert_eq!(
        lab.json(&["freeze", "--for", "soon"], 2)["error"]["code"],
        json!("usage")
    );
}

#[test]
fn every_exit_code_of_the_table_is_reachable_and_means_what_it_says() {
    let lab = Lab::new();
    assert_eq!(
        lab.json(&["status"], 10)["error"]["code"],
        json!("unreachable"),
        "no server"
    );
    let _server = lab.serve(&[]);
    lab.json(&["status"], 0);
    assert_eq!(lab.void(&["frobnicate"]).status.code(), Some(2));
    assert_eq!(lab.void(&["run"]).status.code(), Some(2));
    assert_eq!(
        lab.void(&["run", "safe-one", "--wait", "301"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        lab.json(&["run", "safe-one", "--param", "x"], 2)["error"]["code"],
        json!("usage")
    );
    assert_eq!(
        lab.json(&["run", "safe-one", "--param", "x=1"], 2)["error"]["code"],
        json!("invalid")
    );
    let unknown = lab.json(&["run", "safe-oen"], 6);
    assert_eq!(
        (
            word(&unknown["error"], "code"),
            word(&unknown["error"], "next")
        ),
        ("unknown_action", "did you mean safe-one?")
    );
    assert_eq!(
        lab.json(&["inbox", "show", "ZZZZ"], 5)["error"]["code"],
        json!("not_found")
    );
    assert_eq!(
        lab.json(&["actions", "show", "nope"], 5)["error"]["code"],
        json!("unknown_action")
    );
    assert_eq!(
        lab.json(&["audit", "show", "999999"], 5)["error"]["code"],
        json!("not_found")
    );

    let mut stranger = Lab::new();
    stranger.address = lab.address;
    stranger.environment = vec![("OWNER_TOKEN".into(), "somebody-else".into())];
    assert_eq!(
        stranger.json(&["status"], 4)["error"]["code"],
        json!("unauthenticated")
    );

    fs::write(lab.path("bad.toml"), "listn = 1").unwrap();
    let bad = lab.path("bad.toml");
    let invalid = lab.json(&["--config", bad.to_str().unwrap(), "config", "show"], 3);
    assert!(
        word(&invalid["error"], "message").contains("did you mean `listen`?"),
        "{invalid}"
    );

    fs::write(
        lab.path("effect.sh"),
        "#!/bin/sh\necho no good >&2\nexit 4\n",
    )
    .unwrap();
    let failed = lab.json(&["run", "safe-one"], 1);
    assert_eq!(
        (failed["executed"].as_bool(), word(&failed, "status")),
        (Some(false), "failed")
    );
    assert_eq!(failed["row"]["result"]["exit"], json!(4));
    assert!(word(&failed["row"]["result"], "stderr").contains("no good"));
}

#[test]
fn a_target_that_cannot_be_reached_is_10() {
    let lab = Lab::with(&json!({
        "hosts": {"far": {"address": "127.0.0.1", "port": 1}},
        "actions": [{"id": "far-one", "kind": "service_restart", "host": "far", "service": "x", "tier": "safe"}],
    }));
    fs::write(lab.path("key"), "not really a key").unwrap();
    let mut lab = lab;
    lab.environment = vec![(
        "ACTIONS_SSH_KEY".into(),
        lab.path("key").display().to_string(),
    )];
    let _server = lab.serve(&[]);
    let ran = lab.json(&["run", "far-one"], 10);
    assert_eq!(ran["error"]["code"], json!("unreachable"), "{ran}");
}

#[test]
fn lists_have_words_for_empty() {
    let lab = Lab::with(&json!({"hosts": {}, "actions": []}));
    let _server = lab.serve(&[]);
    let cases: [(&[&str], &str); 5] = [
        (&["actions", "ls"], "nothing may run"),
        (&["inbox", "ls"], "Nothing waits for you."),
        (&["token", "ls"], "no tokens"),
        (&["hosts", "ls"], "no machines"),
        (&["backup", "ls"], "no backup"),
    ];
    for (args, words) in cases {
        let output = lab.void(args);
        assert!(
            output.status.success() && out(&output).contains(words),
            "{args:?}: {}{}",
            out(&output),
            err(&output)
        );
    }
}

#[test]
fn tokens_are_shown_once_and_cut_off_at_once() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let made = lab.json(
        &[
            "token",
            "new",
            "--kind",
            "agent",
            "--name",
            "little-blue",
            "--cap",
            "act",
        ],
        0,
    );
    let (id, token) = (
        word(&made, "id").to_owned(),
        word(&made, "token").to_owned(),
    );
    let listed = lab.void(&["token", "ls", "--json"]);
    assert!(out(&listed).contains("little-blue") && !out(&listed).contains(&token));
    let as_agent =
        |method: &str, path: &str| call(lab.address, method, path, &token, None).unwrap();
    assert_eq!(as_agent("POST", "/api/actions/safe-one/run").0, 200);
    let (_, queued) = as_agent("POST", "/api/actions/risky-one/run");
    let row = word(&queued, "action_row_id");
    let (status, body) = as_agent("POST", &format!("/api/actions/pending/{row}/approve"));
    assert_eq!(
        (status, body["error"]["code"].as_str()),
        (403, Some("owner_only")),
        "no agent approves anything"
    );
    assert_eq!(lab.effects(), ["safe-one"]);
    lab.json(&["token", "revoke", &id], 0);
    assert_eq!(as_agent("POST", "/api/actions/safe-one/run").0, 401);
    assert_eq!(
        lab.json(&["token", "revoke", &id], 5)["error"]["code"],
        json!("not_found")
    );
    assert_eq!(
        lab.json(
            &[
                "token", "new", "--kind", "agent", "--name", "x", "--cap", "approve"
            ],
            2
        )["error"]["code"],
        json!("invalid")
    );
}

/// Agents are held back where the file says nothing; whoever writes the file is told.
#[test]
fn lint_says_what_holds_agents_back() {
    let safe = |id: &str| json!({"id": id, "kind": "service_restart", "host": "local", "service": id, "tier": "safe"});
    let (mut lifted, mut written, mut risky) = (safe("lifted"), safe("written"), safe("risky"));
    lifted["cooldown_s"] = json!(0);
    written["cooldown_s"] = json!(5);
    risky["tier"] = json!("risky");
    let lab = Lab::with(&json!({"hosts": {}, "actions": [safe("plain"), lifted, written, risky]}));
    let notes = lab.json(&["actions", "lint"], 0)["notes"].clone();
    assert_eq!(
        notes,
        json!({
            "plain": "60 s between runs for agents; \"cooldown_s\" makes it everybody's and the host's, 0 lifts it",
            "lifted": "\"cooldown_s\": 0 lifts the 60 s between runs for agents; only their budget per hour is left",
        })
    );
    let ran = lab.void(&["actions", "lint"]);
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    for (id, note) in notes.as_object().unwrap() {
        let note = note.as_str().unwrap();
        let told = said.lines().filter(|line| line.contains(note)).count();
        assert_eq!(told, 1, "{said}");
        assert!(said.contains(&format!("{id}: {note}")), "{said}");
    }
}

#[test]
fn lint_names_everything_at_once_without_a_server() {
    let lab = Lab::new();
    let good = lab.json(&["actions", "lint"], 0);
    assert_eq!(
        (good["valid"].as_bool(), good["actions"].as_u64()),
        (Some(true), Some(4))
    );
    let bad = lab.path("bad.json");
    fs::write(&bad, "{\"hosts\":{},\n\"actions\":[\n{\"id\":\"-rf\",\"kind\":\"service_restart\",\"host\":\"x\",\"service\":\"a b\",\"tier\":\"saef\"}]}").unwrap();
    let found = lab.json(&["actions", "lint", bad.to_str().unwrap()], 3);
    let problems = found["problems"].as_array().unwrap();
    assert!(
        problems.len() >= 4 && problems.iter().all(|problem| problem["line"] == json!(3)),
        "{found}"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem["hint"] == json!("did you mean \"safe\"?")),
        "{found}"
    );
    assert_eq!(
        lab.json(&["actions", "lint", "/nonexistent"], 3)["error"]["code"],
        json!("config_invalid")
    );
    let schema: Value = serde_json::from_str(&out(&lab.void(&["actions", "schema"]))).unwrap();
    assert!(schema["$defs"]["action"].is_object());
}

/// A server with a catalogue that it cannot trust does not start, and says everything that is wrong.
#[test]
fn a_bad_catalogue_or_setting_stops_the_start() {
    let lab = Lab::new();
    fs::write(lab.path("actions.json"), "{\"actions\": [{}]}").unwrap();
    let refused = lab.void(&["serve"]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        err(&refused).contains("actions[0].id: is missing")
            && err(&refused).contains("actions[0].tier"),
        "{}",
        err(&refused)
    );
    fs::remove_file(lab.path("actions.json")).unwrap();
    assert_eq!(
        lab.void(&["serve"]).status.code(),
        Some(3),
        "a file that was named must be there"
    );
}

#[test]
fn with_nothing_but_a_data_folder_it_starts_and_makes_its_token() {
    let mut lab = Lab::new();
    fs::remove_file(lab.data().join("void.toml")).unwrap();
    lab.environment = vec![
        ("OWNER_TOKEN".into(), String::new()),
        ("ACTIONS_CONFIG".into(), String::new()),
    ];
    let _server = lab.serve(&[]);
    let file = lab.data().join("owner.token");
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).unwrap());
    assert_eq!(mode & 0o777, 0o600);
    let status = lab.json(&["status"], 0);
    assert_eq!(
        status["actions"],
        json!(0),
        "nothing may run until the owner says so"
    );
    assert_eq!(
        call(
            lab.address,
            "GET",
            "/api/status",
            fs::read_to_string(&file).unwrap().trim(),
            None
        )
        .unwrap()
        .0,
        200
    );
}

/// It was started with another address than the settings say; the command line asks where it is.
#[test]
fn the_server_of_a_data_folder_is_found_wherever_it_listens() {
    let lab = Lab::new();
    let other = "127.0.0.1:1";
    let status = |lab: &Lab| {
        let mut command = lab.command();
        command.args(["status", "--json"]).env("VOID_LISTEN", other);
        command.output().unwrap().status.code()
    };
    assert_ne!(status(&lab), Some(0), "nobody is there");
    let mut server = lab.serve(&[]);
    assert_eq!(status(&lab), Some(0));
    server.kill();
    assert_ne!(
        status(&lab),
        Some(0),
        "what the note of a killed one says is over"
    );
}

#[test]
fn the_record_is_listed_shown_exported_and_checked() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let ran = lab.json(&["run", "safe-one"], 9);
    let listed = lab.json(&["audit", "ls", "--subject", word(&ran["row"], "code")], 0);
    let verbs: Vec<&str> = listed["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| word(entry, "verb"))
        .collect();
    assert_eq!(
        verbs,
        [
            "proposal.executed",
            "proposal.started",
            "proposal.approved",
            "proposal.created"
        ]
    );
    let seq = listed["entries"][0]["seq"].to_string();
    assert_eq!(
        lab.json(&["audit", "show", &seq], 0)["verb"],
        json!("proposal.executed")
    );
    let head = word(&listed["head"], "hash");
    let file = lab.path("audit.jsonl");
    lab.json(&["audit", "export", file.to_str().unwrap()], 0);
    let checked = lab.json(
        &["audit", "verify", file.to_str().unwrap(), "--head", head],
        0,
    );
    assert_eq!(checked["intact"], json!(true), "{checked}");
    assert_eq!(lab.json(&["audit", "verify"], 0)["intact"], json!(true));

    let text = fs::read_to_string(&file).unwrap();
    let kept: Vec<&str> = text.lines().collect();
    fs::write(&file, format!("{}\n", kept[..kept.len() - 1].join("\n"))).unwrap();
    assert_eq!(
        lab.json(&["audit", "verify", file.to_str().unwrap()], 0)["intact"],
        json!(true),
        "a cut tail shows only with a head"
    );
    assert_eq!(
        lab.json(
            &["audit", "verify", file.to_str().unwrap(), "--head", head],
            1
        )["intact"],
        json!(false)
    );
    fs::write(&file, text.replace("owner-cli", "nobody")).unwrap();
    assert_eq!(
        lab.json(&["audit", "verify", file.to_str().unwrap()], 1)["intact"],
        json!(false)
    );
}

/// A file that begins in the middle is whole only for whoever says that a part is meant.
#[test]
fn a_record_without_its_beginning_has_an_exit_code_of_its_own() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    lab.json(&["run", "safe-one"], 9);
    let file = lab.path("audit.jsonl");
    let path = file.to_str().unwrap();
    lab.json(&["audit", "export", path], 0);
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 4);
    let rest = |from: usize| fs::write(&file, format!("{}\n", lines[from..].join("\n"))).unwrap();
    rest(2);
    let verify = |more: &[&str], code: i32| {
        lab.void(&[&["audit", "verify", path][..], more].concat())
            .status
            .code()
            == Some(code)
    };
    assert!(verify(&[], 11), "the first two entries are missing");
    assert!(verify(&["--from", "3"], 0));
    assert!(verify(&["--from", "2"], 11));
    assert!(
        verify(&["--from", "4"], 11),
        "it begins before what was meant"
    );
    assert!(verify(&["--from", "1"], 11));
    let refused = lab.void(&["audit", "verify", path, "--json"]);
    assert_eq!(refused.status.code(), Some(11));
    let said = format!(
        "{}{}",
        out(&refused),
        String::from_utf8_lossy(&refused.stderr)
    );
    assert!(said.contains("\"partial\""), "{said}");
    // Damage is damage, whatever part is meant; nothing at all has no beginning either.
    fs::write(&file, format!("{}\n{}\n", lines[2], lines[4])).unwrap();
    assert!(verify(&["--from", "3"], 1));
    rest(0);
    assert!(verify(&[], 0));
    assert!(
        verify(&["--from", "2"], 11),
        "a whole record is not the part that was meant"
    );
}

#[test]
fn watching_follows_to_the_end() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "risky-one"], 7);
    let (code, id) = (
        word(&queued["row"], "code").to_owned(),
        word(&queued["row"], "id").to_owned(),
    );
    let mut watching = Command::new(VOID)
        .env_clear()
        .env("VOID_DATA", lab.data())
        .env("VOID_LISTEN", lab.address.to_string())
        .env("OWNER_TOKEN", OWNER)
        .args(["inbox", "watch", &code, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(watching.stderr.take().unwrap());
    let mut first = String::new();
    notes.read_line(&mut first).unwrap();
    assert!(first.starts_with("watching "), "{first}");
    lab.json(&["inbox", "approve", &code, "--yes"], 9);
    let ended = watching.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(9));
    let lines: Vec<Value> = out(&ended)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<&str> = lines
        .iter()
        .map(|line| word(line, "event"))
        .filter(|event| !event.is_empty())
        .collect();
    assert_eq!(
        events,
        ["proposal.approved", "proposal.started", "proposal.executed"]
    );
    assert_eq!(word(lines.last().unwrap(), "id"), id);
}

#[test]
fn hostile_words_never_reach_a_terminal_as_themselves() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let words = "\u{1b}[2J\u{202e}gnp\u{200b}\r\nAPPROVED by owner";
    lab.void(&["run", "risky-one", "--reason", words]);
    for args in [&["inbox", "ls"][..], &["audit", "ls"]] {
        let shown = out(&lab.void(args));
        assert!(
            !shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\u{200b}'),
            "{args:?}: {shown:?}"
        );
    }
    let code = word(&lab.json(&["inbox", "ls"], 0)["items"][0], "code").to_owned();
    let shown = out(&lab.void(&["inbox", "show", &code]));
    assert!(
        shown.contains("your words") && !shown.contains("\nAPPROVED") && !shown.contains('\u{1b}'),
        "{shown:?}"
    );
    assert!(!shown.contains("their words"), "the owner said it: {shown}");
    assert!(!shown.contains("your diff"), "there is none: {shown}");
}

#[test]
fn colour_is_off_in_a_pipe_and_on_when_forced() {
    let mut lab = Lab::new();
    let _server = lab.serve(&[]);
    assert!(!out(&lab.void(&["actions", "ls"])).contains('\u{1b}'));
    assert!(out(&lab.void(&["actions", "ls", "--color", "always"])).contains('\u{1b}'));
    lab.environment = vec![("CLICOLOR_FORCE".into(), "1".into())];
    assert!(out(&lab.void(&["actions", "ls"])).contains('\u{1b}'));
    assert!(!out(&lab.void(&["actions", "ls", "--color", "never"])).contains('\u{1b}'));
    assert!(!out(&lab.void(&["actions", "ls", "--json"])).contains('\u{1b}'));
}

#[test]
fn help_version_completions_and_the_table_of_codes() {
    let lab = Lab::new();
    let help = out(&lab.void(&["--help"]));
    for word in [
        "serve",
        "status",
        "inbox",
        "freeze",
        "Examples:",
        "provision",
    ] {
        assert!(help.contains(word), "{word}");
    }
    assert_eq!(
        out(&lab.void(&["version"])),
        format!("void {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(
        lab.json(&["version"], 0)["version"],
        json!(env!("CARGO_PKG_VERSION"))
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            out(&lab.void(&["completions", shell])).contains("inbox"),
            "{shell}"
        );
    }
    let codes = out(&lab.void(&["help-exit-codes"]));
    assert!(codes.contains("7  queued, waiting for approval") && codes.contains("9  ran, but"));
}

#[test]
fn doctor_is_quiet_when_all_is_well_and_names_the_next_command_when_not() {
    let mut lab = Lab::new();
    let down = lab.json(&["doctor"], 1);
    let find = |report: &Value, check: &str| -> Vec<Value> {
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["check"] == json!(check))
            .cloned()
            .collect()
    };
    assert_eq!(find(&down, "server")[0]["level"], json!("problem"));
    assert!(find(&down, "server")[0]["next"].is_string());

    let server = lab.serve(&[]);
    let well = lab.json(&["doctor"], 0);
    assert_eq!(find(&well, "host")[0]["level"], json!("ok"), "{well}");
    // What grows has its size, and how long it is kept.
    let storage = &find(&well, "storage")[0];
    assert_eq!(storage["level"], json!("ok"));
    let status = lab.json(&["status"], 0);
    assert!(
        status["storage"]["database_bytes"].as_u64() > Some(0),
        "{status}"
    );
    assert!(status["storage"]["wal_bytes"].is_u64(), "{status}");
    for words in [
        word(storage, "message").to_owned(),
        out(&lab.void(&["status"])),
    ] {
        for part in [
            "iB, WAL ",
            " audit",
            " events",
            " 0 messages",
            "ended 400 days",
            "the audit, revisions and attachments for ever",
        ] {
            assert!(words.contains(part), "{part}: {words}");
        }
    }
    assert!(
        find(&down, "storage").is_empty(),
        "nobody is asked who is not there"
    );
    assert_eq!(
        lab.json(&["doctor", "--strict"], 1)["ok"],
        json!(false),
        "switched-off backups are a warning"
    );

    // The host's list no longer fits the catalogue.
    let list = fs::read_to_string(lab.path("list.json")).unwrap();
    fs::write(
        lab.path("list.json"),
        list.replace("risky-one\",\"def\":\"", "risky-one\",\"def\":\"0"),
    )
    .unwrap_or(());
    let mut drifted: Value = serde_json::from_str(&list).unwrap();
    drifted["entries"].as_array_mut().unwrap().pop();
    fs::write(lab.path("list.json"), drifted.to_string()).unwrap();
    let drift = lab.json(&["doctor"], 1);
    assert!(
        word(&find(&drift, "host")[0], "message").contains("no entry"),
        "{drift}"
    );
    assert_eq!(
        find(&drift, "host")[0]["next"],
        json!("void provision local")
    );
    fs::write(lab.path("list.json"), list).unwrap();

    let key = lab.path("key");
    fs::write(&key, "x").unwrap();
    lab.environment = vec![("ACTIONS_SSH_KEY".into(), key.display().to_string())];
    let open = lab.json(&["doctor"], 1);
    assert!(
        word(&find(&open, "ssh key")[0], "message").contains("others can read"),
        "{open}"
    );

    fs::write(lab.path("actions.json"), "{").unwrap();
    let broken = lab.json(&["doctor"], 1);
    assert_eq!(find(&broken, "catalogue")[0]["level"], json!("problem"));
    drop(server);
}

/// A list that never fitted, or no longer does: whoever meets it first is told what to type.
#[test]
fn the_first_drift_says_the_command() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let list: Value =
        serde_json::from_str(&fs::read_to_string(lab.path("list.json")).unwrap()).unwrap();
    let entries = list["entries"].as_array().unwrap();
    let at = entries
        .iter()
        .position(|entry| word(entry, "id") == "safe-one")
        .unwrap();
    let mut other = list.clone();
    other["entries"][at]["def"] = json!("0".repeat(64));
    let mut less = list.clone();
    less["entries"].as_array_mut().unwrap().remove(at);
    for drifted in [other, less] {
        fs::write(lab.path("list.json"), drifted.to_string()).unwrap();
        let ran = lab.void(&["run", "safe-one"]);
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        assert!(said.contains("error") && said.contains("drift: "), "{said}");
        let next: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("next: "))
            .collect();
        assert_eq!(next, ["  next: void provision local"], "{said}");
    }
    assert_eq!(lab.effects(), Vec::<String>::new());
}

#[test]
fn stopping_lets_a_running_action_end() {
    let mut slow = catalogue();
    slow["actions"].as_array_mut().unwrap().push(json!({"id": "slow-one", "kind": "service_restart", "host": "local", "service": "slow", "tier": "safe"}));
    let lab = Lab::with(&slow);
    let mut server = lab.serve(&[]);
    server.call("POST", "/api/actions/slow-one/run?wait=0", None);
    let stopping = std::thread::spawn({
        let go = lab.path("go");
        let address = lab.address;
        move || {
            // It refuses new work while it waits for the old.
            eventually_blocking("the stop to begin", || {
                match call(address, "POST", "/api/actions/safe-one/run", OWNER, None) {
                    Some((503, _)) | None => Some(()),
                    Some(_) => None,
                }
            });
            fs::write(go, "").unwrap();
        }
    });
    assert!(server.terminate().success());
    stopping.join().unwrap();
    assert_eq!(
        lab.effects()
            .iter()
            .filter(|effect| *effect == "slow-one")
            .count(),
        1
    );
    let server = lab.serve(&[]);
    let row = server
        .proposals()
        .into_iter()
        .find(|row| word(row, "action_id") == "slow-one")
        .unwrap();
    assert_eq!(word(&row, "status"), "executed", "{row}");
}
