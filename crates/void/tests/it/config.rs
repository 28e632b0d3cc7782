//! `void config`: what is in force and where it comes from, what is wrong, and which settings there are.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::lab::{Lab, OWNER, word};
use crate::ways_out::settings;

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn settings_show_their_source_and_no_secret() {
    let lab = Lab::new();
    let shown = lab.void(&["config", "show", "--json"]);
    let value: Value = serde_json::from_str(&out(&shown)).unwrap();
    let find = |name: &str| {
        value["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["name"] == json!(name))
            .unwrap()
            .clone()
    };
    assert_eq!(word(&find("listen"), "source"), "environment VOID_LISTEN");
    assert_eq!(word(&find("local.list"), "source"), "settings file");
    assert_eq!(word(&find("ssh.key"), "source"), "default");
    assert_eq!(word(&find("owner_token"), "value"), "env:OWNER_TOKEN");
    assert!(!out(&shown).contains(OWNER));
    assert_eq!(lab.json(&["config", "check"], 0)["valid"], json!(true));
}

#[test]
fn a_key_that_is_not_there_is_no_valid_setting() {
    let mut lab = Lab::new();
    let check = |lab: &Lab| word(&lab.json(&["config", "check"], 3)["error"], "message").to_owned();
    let missing = lab.path("no-key").display().to_string();
    lab.environment = vec![("ACTIONS_SSH_KEY".into(), missing.clone())];
    assert_eq!(
        check(&lab),
        format!("ssh.key: {missing}: there is no such file")
    );
    lab.environment = vec![("ACTIONS_SSH_KEY".into(), "~/key".into())];
    assert!(check(&lab).contains("~ means nothing here"));
    fs::write(&missing, "x").unwrap();
    lab.environment = vec![("ACTIONS_SSH_KEY".into(), missing)];
    lab.json(&["config", "check"], 0);
}

/// What a start refuses is no valid setting.
#[test]
fn tokens_and_names_that_a_start_refuses_are_not_valid() {
    let mut lab = Lab::new();
    for (name, value, problem) in [
        ("OWNER_TOKEN", "short", "the owner's token is shorter than"),
        (
            "LITTLEBLUE_TOKEN",
            "short",
            "LITTLEBLUE_TOKEN is shorter than",
        ),
        (
            "LITTLEBLUE_TOKEN",
            OWNER,
            "LITTLEBLUE_TOKEN is the owner's token",
        ),
        ("VOID_PUBLIC_URL", "ftp://void.lan", "public_url is http://"),
        (
            "VOID_PUBLIC_URL",
            "https://void.lan/void",
            "public_url is http://",
        ),
        (
            "NTFY_URL",
            "https://ntfy.sh/topic?auth=hidden",
            "the ntfy address begins with",
        ),
    ] {
        lab.environment = vec![(name.into(), value.into())];
        let refused = lab.json(&["config", "check"], 3);
        let said = word(&refused["error"], "message");
        assert!(said.contains(problem), "{name}={value}: {said}");
        assert!(!said.contains("hidden"), "{said}");
    }
    lab.environment.clear();
    settings(&lab, "allowed_hosts = [\"https://nas.lan\"]");
    let refused = lab.json(&["config", "check"], 3);
    let said = word(&refused["error"], "message");
    assert!(
        said.contains("allowed_hosts: \"https://nas.lan\""),
        "{said}"
    );
}

#[test]
fn what_is_shown_fits_eighty_columns() {
    let mut lab = Lab::new();
    settings(
        &lab,
        &format!("allowed_hosts = [\"{}\"]", "name.".repeat(40)),
    );
    lab.environment = vec![
        ("VOID_BRAIN".into(), "ollama".into()),
        (
            "VOID_MODEL".into(),
            "a-model-with-a-rather-long-name:70b".into(),
        ),
        (
            "ACTIONS_SSH_KEY".into(),
            format!("/{}", "folder/".repeat(30)),
        ),
    ];
    let shown = lab.on_terminal(&["config", "show"], 80);
    assert!(shown.lines().count() > 90, "{shown}");
    for line in shown.lines() {
        assert!(line.trim_end().chars().count() <= 80, "{line}");
    }
    for name in ["SETTING", "agents.little-blue.brain", "notify.quiet.from"] {
        assert!(shown.contains(name), "{name}: {shown}");
    }
}

#[test]
fn an_agents_own_table_is_in_force_whatever_the_environment_says() {
    let mut lab = Lab::new();
    let file = lab.data().join("void.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        file,
        format!("{text}\n[agents.little-blue]\nbrain = \"builtin\"\n"),
    )
    .unwrap();
    lab.environment = vec![
        ("VOID_BRAIN".into(), "ollama".into()),
        ("VOID_MODEL".into(), "m".into()),
    ];
    let value = lab.json(&["config", "show"], 0);
    let rows = value["settings"].as_array().unwrap();
    let brains: Vec<(&str, &str, &str)> = rows
        .iter()
        .filter(|row| word(row, "name").ends_with(".brain"))
        .map(|row| (word(row, "name"), word(row, "value"), word(row, "source")))
        .collect();
    for (name, brain, source) in brains {
        let expected = if name == "agents.little-blue.brain" {
            ("builtin", "settings file")
        } else {
            ("ollama", "environment VOID_BRAIN")
        };
        assert_eq!((brain, source), expected, "{name}");
    }
}

#[test]
fn a_check_says_all_that_is_wrong_one_by_one_for_programs() {
    let mut lab = Lab::new();
    settings(
        &lab,
        "listn = \"x\"\nowner_token = \"hunter2\"\npublic_url = 7",
    );
    lab.environment = vec![("VOID_INSTANCE".into(), "No Name".into())];
    let refused = lab.json(&["config", "check"], 3);
    let error = &refused["error"];
    assert_eq!(word(error, "code"), "config_invalid");
    let problems = error["problems"].as_array().unwrap();
    let found: Vec<(&Value, &Value)> = problems
        .iter()
        .map(|problem| (&problem["setting"], &problem["line"]))
        .collect();
    // The owner's token comes from the environment here; a plain one in the file is wrong all the same.
    assert_eq!(
        found,
        [
            (&json!("listn"), &json!(1)),
            (&json!("public_url"), &json!(3)),
            (&json!("instance"), &json!(null)),
            (&json!("owner_token"), &json!(2)),
        ],
        "{problems:?}"
    );
    assert!(
        word(&problems[0], "message")
            .ends_with("line 1: unknown key `listn`; did you mean `listen`?")
    );
    assert!(!refused.to_string().contains("hunter2"));
    let said = lab.void(&["config", "check"]);
    assert_eq!(said.status.code(), Some(3));
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("4 things are wrong:\n"), "{said}");
    // What there is can be read although what was written is wrong.
    assert!(out(&lab.void(&["config", "docs"])).starts_with("# Settings\n"));
}

#[test]
fn a_check_looks_for_every_secret_and_warns_of_odd_variables() {
    let mut lab = Lab::new();
    let file = lab.data().join("void.toml");
    let text = fs::read_to_string(&file).unwrap();
    let more = "[notify.telegram]\ntoken = \"file:/nowhere/bot\"\n[notify.ntfy]\ntoken = \"env:NOT_SET\"\n";
    fs::write(&file, format!("{text}\n{more}")).unwrap();
    let refused = lab.json(&["config", "check"], 3);
    let message = word(&refused["error"], "message");
    for part in ["/nowhere/bot", "the variable NOT_SET, which is not set"] {
        assert_eq!(message.matches(part).count(), 1, "{message}");
    }
    fs::write(&file, text).unwrap();
    lab.environment = vec![
        ("VOID_PUBLIC_URL".into(), String::new()),
        ("VOID_LISTN".into(), "127.0.0.1:1".into()),
    ];
    let warned = out(&lab.void(&["config", "check"]));
    for warning in [
        "warning VOID_PUBLIC_URL is set and empty",
        "warning VOID_LISTN is read by nothing; did you mean VOID_LISTEN?",
    ] {
        assert!(warned.contains(warning), "{warned}");
    }
    let value = lab.json(&["config", "check"], 0);
    assert_eq!(value["variables"].as_array().unwrap().len(), 2, "{value}");
}
