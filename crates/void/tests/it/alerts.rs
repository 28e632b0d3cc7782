//! Being told what is down, with the real binary: the message, a kill in between, muting from the terminal,
//! and what `void status` says when nobody is told.

use std::fs;
use std::net::TcpListener;

use serde_json::json;
use void_testkit::telegram::BotApi;
use void_testkit::{eventually_blocking, free_port};

use crate::lab::{Lab, word};
use crate::notify::{sees, tap, with_bot};

/// A service of this port, on a host, looked at every second.
fn watch(lab: &Lab, port: u16) {
    let services = json!({"services": [{
        "id": "web", "label": "Web", "host": "ct100", "interval_s": 1,
        "check": {"kind": "tcp", "address": format!("127.0.0.1:{port}")},
    }]});
    fs::write(lab.data().join("services.json"), services.to_string()).unwrap();
}

fn out(lab: &Lab, args: &[&str]) -> String {
    let output = lab.void(args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn until(lab: &Lab, status: &str) {
    eventually_blocking(&format!("it to be {status}"), || {
        (lab.json(&["services"], 0)["services"][0]["status"] == status).then_some(())
    });
}

/// A kill between the message and what became of it: the same message is edited by the next process.
#[test]
fn an_alert_that_was_sent_before_a_kill_is_edited_after_it() {
    let api = BotApi::start();
    let mut lab = with_bot(&api);
    lab.environment
        .push(("TELEGRAM_ALLOWED_USERS".to_owned(), "77".to_owned()));
    let phone = api.phone(77);
    phone.say("hello");
    let port = free_port();
    watch(&lab, port);
    let mut server = lab.serve(&[]);
    let down = sees(&phone, "DOWN · Web on ct100 since ");
    let listed = lab.json(&["notify", "ls"], 0);
    eventually_blocking("the message to be noted", || {
        let listed = lab.json(&["notify", "ls"], 0);
        (listed["places"][0]["waiting"] == 0).then_some(())
    });
    assert_eq!(listed["mutes"], json!([]));
    server.kill();
    let _listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let _server = lab.serve(&[]);
    let up = sees(&phone, "UP AGAIN · Web on ct100 after ");
    assert_eq!(up.id, down.id);
    let told = phone.messages();
    let about: Vec<_> = told.iter().filter(|one| one.text.contains("Web")).collect();
    assert_eq!(about.len(), 1, "{about:?}");
}

#[test]
fn muting_from_the_terminal_is_listed_and_lifted() {
    let api = BotApi::start();
    let mut lab = with_bot(&api);
    lab.environment
        .push(("TELEGRAM_ALLOWED_USERS".to_owned(), "77".to_owned()));
    let phone = api.phone(77);
    phone.say("hello");
    watch(&lab, free_port());
    let server = lab.serve(&[]);
    until(&lab, "down");
    let down = sees(&phone, "DOWN · Web on ct100");
    let usage = |args: &[&str]| {
        lab.void(&[&["notify", "mute"], args].concat())
            .status
            .code()
    };
    assert_eq!(usage(&["web"]), Some(2), "no reason");
    assert_eq!(usage(&["--reason", "x"]), Some(2), "nothing named");
    assert_eq!(usage(&["web", "--host", "ct100", "--reason", "x"]), Some(2));
    assert_eq!(
        usage(&["web", "--for", "4h", "--until", "22:00", "--reason", "x"]),
        Some(2)
    );
    assert_eq!(usage(&["web", "--for", "4", "--reason", "x"]), Some(2));
    assert_eq!(usage(&["web", "--until", "soon", "--reason", "x"]), Some(2));
    assert_eq!(usage(&["nobody", "--reason", "x"]), Some(5));
    let over = lab.json(
        &["notify", "mute", "web", "--for", "31d", "--reason", "x"],
        2,
    );
    assert!(
        word(&over["error"], "message") == "a mute must end within 30 days"
            && word(&over["error"], "next").contains("30d at most"),
        "{over}"
    );
    let said = out(
        &lab,
        &[
            "notify",
            "mute",
            "web",
            "--for",
            "4h",
            "--reason",
            "a new disk",
        ],
    );
    assert!(said.starts_with("Muted web until "), "{said}");
    assert!(said.contains("void notify unmute web"), "{said}");
    let shown = sees(&phone, "Muted until ");
    assert_eq!(shown.id, down.id);
    assert!(
        shown
            .text
            .contains("by owner (command line): \"a new disk\""),
        "{}",
        shown.text
    );
    lab.json(
        &[
            "notify", "mute", "--host", "ct100", "--until", "23:59", "--reason", "moving",
        ],
        0,
    );
    let listed = out(&lab, &["notify", "ls"]);
    for words in [
        "muted  web  until ",
        "by owner (command line): \"a new disk\"   void notify unmute web",
        "muted  everything on ct100  until ",
        "void notify unmute --host ct100",
    ] {
        assert!(listed.contains(words), "{words}: {listed}");
    }
    // It is shown as down all the same, and as muted beside it.
    let services = out(&lab, &["services"]);
    assert!(services.contains("down, muted until "), "{services}");
    let service = out(&lab, &["services", "web"]);
    assert!(
        service.contains("muted") && service.contains("by owner (command line)"),
        "{service}"
    );
    let status = out(&lab, &["status"]);
    assert!(status.contains("1 down"), "{status}");
    assert!(
        status.contains("Muted     2, not told while it lasts   void notify ls"),
        "{status}"
    );
    assert!(!status.contains("Told "), "{status}");
    lab.json(&["notify", "unmute", "--host", "ct100"], 0);
    lab.json(&["notify", "unmute", "--host", "ct100"], 5);
    // And from the message itself.
    tap(&phone, down.id, "Unmute");
    eventually_blocking("it to be told again", || {
        let listed = lab.json(&["notify", "ls"], 0);
        (listed["mutes"] == json!([])).then_some(())
    });
    let (_, record) = server.call("GET", "/api/audit?verb=mute.", None);
    let verbs: Vec<&str> = record["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| word(entry, "verb"))
        .collect();
    assert_eq!(
        verbs,
        ["mute.lifted", "mute.lifted", "mute.set", "mute.set"]
    );
}

/// Without any channel it is said once and calmly, with the way to one; with one that does not work it is said
/// which is down.
#[test]
fn status_says_that_nobody_is_told() {
    let lab = Lab::new();
    watch(&lab, free_port());
    let server = lab.serve(&[]);
    until(&lab, "down");
    let status = eventually_blocking("status to say it", || {
        let status = out(&lab, &["status"]);
        status
            .contains("not even that a service is down")
            .then_some(status)
    });
    let told: Vec<&str> = status
        .lines()
        .filter(|line| line.contains("told"))
        .collect();
    assert_eq!(
        told,
        [
            "Told      nobody is told anything, not even that a service is down: \
          set TELEGRAM_BOT_TOKEN or NTFY_URL   docs/notifications.md"
        ]
    );
    drop(server);
    let api = BotApi::start();
    let mut lab = lab;
    lab.environment = [
        ("TELEGRAM_API_URL", api.url()),
        (
            "TELEGRAM_BOT_TOKEN",
            void_testkit::telegram::TOKEN.to_owned(),
        ),
        ("TELEGRAM_ALLOWED_USERS", "77".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    // Nobody of that number has ever spoken to the bot, so it may not speak to them.
    let _server = lab.serve(&[]);
    let status = eventually_blocking("status to say that it failed", || {
        let status = out(&lab, &["status"]);
        status.contains("nobody could be told").then_some(status)
    });
    assert!(
        status.contains("Told      nobody could be told that a service is down   void notify ls"),
        "{status}"
    );
}
