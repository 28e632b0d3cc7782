//! `void notify` and the phone's part of `void demo`, with the real binary and a Bot API of the test's.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use void_testkit::eventually_blocking;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::{BotApi, Message, Phone, TOKEN};

use crate::lab::{Lab, VOID, word};

pub fn with_bot(api: &BotApi) -> Lab {
    let mut lab = Lab::new();
    lab.environment = [
        ("TELEGRAM_API_URL", api.url()),
        ("TELEGRAM_BOT_TOKEN", TOKEN.to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
    lab
}

pub fn sees(phone: &Phone, words: &str) -> Message {
    eventually_blocking(&format!("the phone to show {words}"), || {
        let messages = phone.messages().into_iter().rev();
        messages
            .into_iter()
            .find(|message| message.text.contains(words))
    })
}

pub fn tap(phone: &Phone, id: i64, label: &str) {
    eventually_blocking(&format!("the button {label}"), || {
        let labels = phone.message(id)?.labels();
        labels
            .iter()
            .any(|known| known.starts_with(label))
            .then_some(())
    });
    phone.tap(id, label);
}

#[test]
fn a_phone_is_paired_tested_told_and_answers() {
    let api = BotApi::start();
    let lab = with_bot(&api);
    let _server = lab.serve(&[]);
    let none = lab.void(&["notify", "test"]);
    assert_eq!(none.status.code(), Some(1), "{none:?}");
    let made = lab.json(&["notify", "pair", "telegram"], 0);
    let phone = api.phone(77);
    phone.open(word(&made, "link"));
    sees(&phone, "Paired");
    let tested = lab.json(&["notify", "test"], 0);
    assert_eq!(
        tested["results"][0],
        json!({"target": "telegram:77", "sent": true, "problem": null})
    );
    sees(&phone, "A test from Void");
    let queued = lab.json(&["run", "risky-one", "--reason", "it is slow"], 7);
    let code = word(&queued["row"], "code");
    let card = sees(&phone, code);
    assert!(
        card.text.contains("owner says: \"it is slow\""),
        "{}",
        card.text
    );
    tap(&phone, card.id, "Approve…");
    tap(&phone, card.id, "Yes: ");
    sees(&phone, "RAN, NOT CONFIRMED");
    assert_eq!(lab.effects(), ["risky-one"]);
    let shown = lab.json(&["inbox", "show", code], 0);
    assert_eq!(shown["resolved_by"], json!("owner-telegram-77"));
    let listed = String::from_utf8(lab.void(&["notify", "ls"]).stdout).unwrap();
    assert!(
        listed.contains("telegram:77") && listed.contains("fine"),
        "{listed}"
    );
    lab.json(&["notify", "rm", "telegram:77"], 0);
    lab.json(&["notify", "rm", "telegram:77"], 5);
    assert!(!lab.log().contains(TOKEN), "the bot's token is in the log");
}

#[test]
fn status_and_inbox_say_that_nobody_could_be_told() {
    let api = BotApi::start();
    let mut lab = with_bot(&api);
    lab.environment
        .push(("TELEGRAM_ALLOWED_USERS".to_owned(), "77".to_owned()));
    let server = lab.serve(&[]);
    // Nobody with that number has ever spoken to the bot, so it may not speak to them.
    lab.json(&["run", "risky-one"], 7);
    eventually_blocking("status to say it", || {
        let status = String::from_utf8(lab.void(&["status"]).stdout).unwrap();
        status
            .contains("nobody could be told about 1   void notify ls")
            .then_some(())
    });
    let inbox = String::from_utf8(lab.void(&["inbox", "ls"]).stderr).unwrap();
    assert!(
        inbox.contains("nobody could be told about 1 of them"),
        "{inbox}"
    );
    let (_, listed) = server.call("GET", "/api/notifications", None);
    let failed = listed["failed"][0].clone();
    assert!(
        word(&failed, "error").contains("can't initiate conversation"),
        "{failed}"
    );
    // They speak to it, and it is tried again.
    api.phone(77).say("hello");
    lab.json(&["notify", "retry", word(&failed, "id")], 0);
    sees(&api.phone(77), "RISKY");
}

#[test]
fn settings_name_channels_and_never_show_a_secret() {
    let lab = Lab::new();
    let receiver = Receiver::start();
    let settings = lab.data().join("void.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let more = format!(
        "{text}\n[notify]\ntimezone = \"UTC\"\n[notify.quiet]\nfrom = \"22:00\"\nuntil = \"07:00\"\ncritical = true\n\
         [notify.ntfy]\nurl = \"{0}/topic\"\ntoken = \"env:MY_NTFY\"\n\
         [[notify.webhooks]]\nname = \"n8n\"\nurl = \"{0}/hook\"\nsecret = \"env:MY_HOOK\"\n",
        receiver.url()
    );
    std::fs::write(&settings, &more).unwrap();
    let secrets = [("MY_NTFY", "tk_hunter2"), ("MY_HOOK", "hunter2")];
    let mut lab = lab;
    lab.environment = secrets
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let shown = lab.json(&["config", "show"], 0);
    for (name, value) in [
        ("notify.ntfy.token", "env:MY_NTFY"),
        ("notify.webhooks.1.name", "n8n"),
        ("notify.webhooks.1.secret", "env:MY_HOOK"),
        ("notify.quiet.from", "22:00"),
        ("notify.quiet.until", "07:00"),
        ("notify.quiet.critical", "true"),
        ("notify.timezone", "UTC"),
    ] {
        let mut rows = shown["settings"].as_array().unwrap().iter();
        let row = rows.find(|row| word(row, "name") == name).unwrap();
        assert_eq!(
            (word(row, "value"), word(row, "source")),
            (value, "settings file"),
            "{name}"
        );
    }
    let shown = shown.to_string();
    assert!(!shown.contains("hunter2"), "{shown}");
    let _server = lab.serve(&[]);
    let tested = lab.json(&["notify", "test"], 0);
    assert_eq!(
        tested["results"].as_array().map(Vec::len),
        Some(2),
        "{tested}"
    );
    let paired = lab.json(&["notify", "pair", "ntfy"], 0);
    assert_eq!(word(&paired, "name"), format!("{}/topic", receiver.url()));
    for (bad, words) in [
        (
            "[notify.quiet]\nfrom = \"7\"\nuntil = \"08:00\"",
            "a time of day is written like 22:30",
        ),
        ("[notify]\ntimezone = \"Mars/Base\"", "is no time zone"),
        (
            "[notify.telegram]\ntoken = \"1:hunter2\"",
            "must say where the secret is",
        ),
        (
            "[notify.telegrm]\ntoken = \"env:X\"",
            "did you mean `telegram`?",
        ),
        (
            "[notify.ntfy]\nurl = \"https://ntfy.sh/t\"\napprove = true",
            "on a topic that needs a token",
        ),
    ] {
        std::fs::write(&settings, format!("{text}\n{bad}\n")).unwrap();
        let checked = lab.void(&["config", "check"]);
        let said = String::from_utf8(checked.stderr).unwrap();
        assert!(
            said.contains(words) && !said.contains("hunter2"),
            "{bad}: {said}"
        );
    }
}

#[test]
fn the_demo_speaks_to_a_bot_api_that_it_is_given() {
    let api = BotApi::on(0, "");
    let runtime = tempfile::tempdir().unwrap();
    std::fs::set_permissions(runtime.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut child = Command::new(VOID)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("XDG_RUNTIME_DIR", runtime.path())
        .args(["demo", "--json", "--telegram-base", &api.url()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let greeting: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
    let phone = api.phone(5);
    phone.open(word(&greeting, "telegram"));
    // What waits already is asked as soon as there is somebody to ask.
    let card = sees(&phone, word(&greeting, "waiting"));
    assert!(
        card.text.starts_with("REHEARSAL · RISKY · "),
        "{}",
        card.text
    );
    // And what is down is told, as a rehearsal too.
    let down = sees(&phone, "DOWN · Caddy");
    assert!(
        down.text.starts_with("REHEARSAL · DOWN · "),
        "{}",
        down.text
    );
    tap(&phone, card.id, "Approve…");
    tap(&phone, card.id, "Yes: pulls the plug of CT 107");
    let done = sees(&phone, "DONE, CHECKED");
    assert_eq!(done.id, card.id);
    Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    child.wait().unwrap();
}
