//! The ways to the owner: nobody paired, another poller, messages that were put aside.

use serde_json::Value;
use void_testkit::eventually_blocking;
use void_testkit::receivers::Receiver;
use void_testkit::telegram::{BotApi, Fault, TOKEN};

use super::pve::set;
use super::{all, amiss, problem, report};
use crate::lab::{Lab, word};

const USER: i64 = 77;

fn with_bot(api: &BotApi) -> Lab {
    let mut lab = Lab::new();
    set(&mut lab, "TELEGRAM_API_URL", &api.url());
    set(&mut lab, "TELEGRAM_BOT_TOKEN", TOKEN);
    lab
}

/// What is fine about the channels, in words.
fn praised(report: &Value) -> Vec<String> {
    let fine = all(report)
        .filter(|finding| word(finding, "check") == "channel" && word(finding, "level") == "ok");
    fine.map(|finding| word(finding, "message").to_owned())
        .collect()
}

fn pair(lab: &Lab, api: &BotApi) {
    let made = lab.json(&["notify", "pair", "telegram"], 0);
    api.phone(USER).open(word(&made, "link"));
    eventually_blocking("the pair", || {
        let messages = api.phone(USER).messages();
        messages
            .iter()
            .any(|message| message.text.contains("Paired"))
            .then_some(())
    });
}

#[test]
fn a_channel_says_who_is_paired_and_what_arrived_last() {
    let (api, receiver) = (BotApi::start(), Receiver::start());
    let mut lab = with_bot(&api);
    set(&mut lab, "NTFY_URL", &format!("{}/topic", receiver.url()));
    let _server = lab.serve(&[]);
    let found = report(&lab);
    let amiss = amiss(&found, "channel");
    assert_eq!(amiss.len(), 1, "{found}");
    assert_eq!(
        (word(&amiss[0], "message"), word(&amiss[0], "next")),
        (
            "telegram: nobody is paired yet",
            "void notify pair telegram"
        )
    );
    let topic = format!("ntfy ({}/topic): nothing was sent yet", receiver.url());
    assert_eq!(praised(&found), [topic]);

    pair(&lab, &api);
    lab.json(&["run", "risky-one"], 7);
    eventually_blocking("both to have been told", || {
        let found = report(&lab);
        let praised = praised(&found);
        let told = |begin: &str| {
            let says = |line: &String| line.starts_with(begin) && line.contains("last message 2");
            praised.iter().any(says)
        };
        (told("telegram:77 (user77)") && told("ntfy (")).then_some(())
    });
}

#[test]
fn an_account_that_is_allowed_but_never_came_is_named() {
    let api = BotApi::start();
    let mut lab = with_bot(&api);
    set(&mut lab, "TELEGRAM_ALLOWED_USERS", "77");
    let _server = lab.serve(&[]);
    let found = report(&lab);
    let amiss = amiss(&found, "channel");
    assert_eq!(amiss.len(), 1, "{found}");
    let message = "telegram:77: not paired, allowed by the settings; nothing was sent yet";
    assert_eq!(
        (word(&amiss[0], "message"), word(&amiss[0], "next")),
        (message, "void notify pair telegram")
    );
    pair(&lab, &api);
    let found = report(&lab);
    assert_eq!(praised(&found).len(), 1, "{found}");
}

#[test]
fn a_channel_that_is_broken_says_why_and_what_helps() {
    let api = BotApi::start();
    let lab = with_bot(&api);
    let _server = lab.serve(&[]);
    pair(&lab, &api);
    // Somebody blocked the bot: what it had to say is put aside.
    api.phone(USER).block();
    lab.json(&["run", "risky-one"], 7);
    let letter = eventually_blocking("the message to be put aside", || {
        let found = amiss(&report(&lab), "channel").into_iter();
        let mut aside = found.filter(|finding| word(finding, "message").contains("put aside"));
        aside.next()
    });
    let message = word(&letter, "message");
    assert!(
        message.starts_with("1 not delivered and put aside, the last to telegram:77: 403"),
        "{message}"
    );
    let listed = lab.json(&["notify", "ls"], 0);
    let retry = format!("void notify retry {}", word(&listed["failed"][0], "id"));
    assert_eq!(word(&letter, "next"), retry);

    let conflict = "Conflict: terminated by other getUpdates request";
    let faults = vec![Fault::Refuse(409, conflict); 20];
    api.fail("getUpdates", faults);
    api.second_poller();
    eventually_blocking("the other poller to be named", || {
        let found = amiss(&report(&lab), "channel").into_iter();
        let mut named = found.filter(|finding| word(finding, "message").contains("(409)"));
        let finding = named.next()?;
        let message = word(&finding, "message");
        assert!(
            message.starts_with("telegram:77: another program is polling this bot"),
            "{message}"
        );
        assert_eq!(word(&finding, "level"), "problem");
        assert!(
            word(&finding, "next").ends_with("then void notify test"),
            "{finding}"
        );
        Some(())
    });
}

#[test]
fn a_token_that_telegram_refuses_is_a_problem() {
    let api = BotApi::start();
    let mut lab = with_bot(&api);
    set(&mut lab, "TELEGRAM_BOT_TOKEN", "123456:not-this-one");
    let _server = lab.serve(&[]);
    let refused = eventually_blocking("the poll to fail", || {
        let found = report(&lab);
        let is_problem = word(amiss(&found, "channel").first()?, "level") == "problem";
        is_problem.then_some(found)
    });
    let (message, next) = problem(&refused, "channel");
    assert!(
        message.starts_with("telegram: telegram refused the bot's token"),
        "{message}"
    );
    assert!(next.starts_with("set its token again"), "{next}");
}
