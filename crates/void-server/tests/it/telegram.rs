//! The nod on the phone, against a Bot API that behaves as the real one does, and as it does on a bad
//! day.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use void_domain::notifications::{QuietHours, Zone};
use void_notify::notifiers::{NotificationsConfig, TelegramConfig};
use void_testkit::eventually;
use void_testkit::proxies::Proxy;
use void_testkit::telegram::{self, BotApi, Fault};

use crate::apps::{Engine, Setup};
use crate::labs::Lab;
use crate::phones::{self, OWNER, Rig, STRANGER};

#[tokio::test(flavor = "multi_thread")]
async fn two_taps_approve_and_the_message_becomes_the_outcome() {
    for engine in Engine::both().await {
        let setup = Setup {
            engine,
            ..Setup::default()
        };
        let rig = Rig::with(setup, |config| config).await;
        let (row, message) = rig.ask("stop-a").await;
        assert_eq!(message.labels(), ["Approve…", "Reject", "Details"]);
        assert!(
            message
                .text
                .starts_with("RISKY · Stop a\nowner says: \"a test\"\nIf yes: restarts r1")
        );
        rig.phone.tap(message.id, "Approve…").answer().await;
        let armed = rig.phone.sees_button(message.id, "Yes: ").await;
        assert_eq!(
            armed.labels(),
            ["Yes: restarts r1 on local; it is away for a moment", "Back"]
        );
        assert_eq!(rig.app.lab.effect_count(), 0, "one tap runs nothing");
        assert_eq!(
            rig.phone.tap(message.id, "Yes: ").answer().await,
            "Approved."
        );
        let ended = rig.app.ended(row["id"].as_str().unwrap()).await;
        assert_eq!(ended["status"], "executed");
        assert_eq!(ended["resolved_by"], format!("owner-telegram-{OWNER}"));
        let outcome = rig.phone.sees("RAN, NOT CONFIRMED · Stop a").await;
        assert_eq!(outcome.id, message.id, "edited in place");
        assert!(
            outcome.text.contains("Approved by owner (Telegram)"),
            "{}",
            outcome.text
        );
        assert_eq!(outcome.labels(), ["Open"]);
        assert_eq!(rig.app.lab.effect_count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn back_disarms_and_an_armed_button_goes_cold() {
    let rig = Rig::with_clock().await;
    let (row, message) = rig.ask("stop-a").await;
    rig.phone.tap(message.id, "Approve…").answer().await;
    rig.phone.sees_button(message.id, "Back").await;
    rig.phone.tap(message.id, "Back").answer().await;
    rig.phone.sees_button(message.id, "Approve…").await;
    rig.phone.tap(message.id, "Approve…").answer().await;
    rig.phone.sees_button(message.id, "Yes: ").await;
    rig.app.pass(Duration::from_secs(31));
    let answer = rig.phone.tap(message.id, "Yes: ").answer().await;
    assert!(answer.contains("too long, nothing ran"), "{answer}");
    rig.phone.sees_button(message.id, "Approve…").await;
    assert_eq!(rig.status(&row).await, "pending");
    assert_eq!(rig.approve(&message).await, "Approved.");
    assert_eq!(
        rig.app.ended(row["id"].as_str().unwrap()).await["status"],
        "executed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_has_a_reason_that_the_requester_hears() {
    let rig = Rig::up().await;
    let agent = rig.app.agent("blue").await;
    let row = crate::apps::queue(&agent, "stop-a").await;
    let message = rig.shown(&row).await;
    assert!(
        message.text.contains("blue says: \"a test\""),
        "{}",
        message.text
    );
    rig.phone.tap(message.id, "Details").answer().await;
    let id = format!("Id: {}", row["id"].as_str().unwrap());
    let details = rig.phone.sees(&id).await;
    assert!(details.text.contains(row["digest"].as_str().unwrap()));
    rig.phone.tap(message.id, "Reject").answer().await;
    let reasons = rig.phone.sees_button(message.id, "Not now").await;
    assert_eq!(
        reasons.labels(),
        [
            "Not now",
            "Wrong target",
            "Ask me first",
            "Just reject",
            "Back"
        ]
    );
    let answer = rig.phone.tap(message.id, "Wrong target").answer().await;
    assert_eq!(answer, "Rejected.");
    let outcome = rig.phone.sees("REJECTED · Stop a").await;
    assert!(
        outcome.text.contains("\"wrong target\""),
        "{}",
        outcome.text
    );
    let path = format!("/api/proposals/{}", row["id"].as_str().unwrap());
    assert_eq!(
        agent.get(&path).await.ok()["error"]["message"],
        "wrong target"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_ending_reaches_the_message() {
    let rig = Rig::with_clock().await;
    let owner = rig.app.owner();
    let (approved, first) = rig.ask("stop-a").await;
    owner.decide(&approved, "approve").await.ok();
    let (rejected, second) = rig.ask("stop-b").await;
    owner.decide(&rejected, "reject").await.ok();
    let (withdrawn, third) = rig.ask("stop-a").await;
    let path = format!(
        "/api/proposals/{}/cancel",
        withdrawn["id"].as_str().unwrap()
    );
    owner.post_nothing(&path).await.ok();
    for (message, word) in [
        (&first, "RAN, NOT CONFIRMED"),
        (&second, "REJECTED"),
        (&third, "WITHDRAWN"),
    ] {
        let ended = rig.phone.sees(word).await;
        assert_eq!(ended.id, message.id, "{word}");
        assert!(!ended.labels().contains(&"Approve…".to_owned()));
    }
    let (_, brief) = rig.ask("brief-stop").await;
    rig.app.pass(Duration::from_secs(61));
    let expired = rig.phone.sees("NOTHING RAN").await;
    assert_eq!(expired.id, brief.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_is_told_and_then_how_it_was_settled() {
    let setup = Setup {
        executor: Some(Arc::new(crate::routes::proposals::Lost)),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| config).await;
    let (row, message) = rig.ask("stop-a").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    let unknown = rig.phone.sees("OUTCOME UNKNOWN · Stop a").await;
    assert_eq!(unknown.id, message.id);
    assert!(unknown.text.contains("It may have run"), "{}", unknown.text);
    // What was safe and got lost is a message of its own.
    rig.app.owner().run("touch-a").await.ok();
    rig.phone.sees("OUTCOME UNKNOWN · Touch a").await;
    let path = format!("/api/proposals/{}/settle", row["id"].as_str().unwrap());
    let said = json!({"outcome": "failed"});
    rig.app.owner().post(&path, said).await.ok();
    let settled = rig.phone.sees("FAILED · Stop a").await;
    assert_eq!(settled.id, message.id);
}

/// Two instances share a database and a bot: one of them speaks and listens.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_instances_one_speaks_and_both_may_decide() {
    let engine = Engine::postgres().await;
    let lab = Arc::new(Lab::of_alpha(None));
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        ..Setup::default()
    };
    let rig = Rig::with(setup("alpha"), |config| config).await;
    let second = Setup {
        owner_token: rig.app.owner_token().to_owned(),
        notifications: Some(phones::telegram(&rig.api)),
        ..setup("beta")
    };
    let second = second.start().await;
    let row = second.queue("stop-a").await;
    let message = rig.shown(&row).await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.phone.sees("RAN, NOT CONFIRMED").await;
    let copies = rig
        .phone
        .messages()
        .into_iter()
        .filter(|m| m.text.contains("Stop a"));
    assert_eq!(copies.count(), 1);
    assert_eq!(rig.app.lab.effect_count(), 1);
    let listed = second.owner().get("/api/notifications").await.ok();
    assert!(listed["places"][0]["problem"].is_null(), "{listed}");
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_even_for_what_was_safe() {
    let rig = Rig::up().await;
    let run = rig.app.owner().run("fail-a").await;
    assert_eq!(run.ok()["status"], "failed");
    let failed = rig.phone.sees("FAILED · Fail a").await;
    assert_eq!(failed.labels(), ["Open"]);
    rig.app.owner().run("touch-a").await.ok();
    // What was safe and went well makes no message.
    rig.ask("stop-a").await;
    let texts: Vec<String> = rig.phone.messages().into_iter().map(|m| m.text).collect();
    assert!(
        !texts.iter().any(|text| text.contains("Touch a")),
        "{texts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_elsewhere_is_seen_within_a_second_and_a_second_one_is_told_about_it() {
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-a").await;
    rig.phone.tap(message.id, "Approve…").answer().await;
    let armed = rig.phone.sees_button(message.id, "Yes: ").await;
    let yes = armed.buttons()[0].1.clone();
    rig.app.owner().decide(&row, "reject").await.ok();
    let decided = Instant::now();
    rig.phone.sees("REJECTED").await;
    // One second is the promise; tests share two cores with others.
    assert!(
        decided.elapsed() < Duration::from_secs(3),
        "{:?}",
        decided.elapsed()
    );
    let answer = rig.phone.send_tap(message.id, &yes).answer().await;
    assert_eq!(answer, "Already rejected by owner (API).");
    assert_eq!(rig.app.lab.effect_count(), 0);
    // And the other way round.
    let (row, message) = rig.ask("stop-b").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    let error = rig.app.owner().decide(&row, "reject").await;
    let error = error.error(409, "already_decided");
    let by = "already approved by owner (Telegram)";
    assert!(
        error["message"].as_str().unwrap().starts_with(by),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn critical_gets_a_link_and_no_tap_approves_it() {
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-all").await;
    let buttons = message.buttons();
    let link = format!(
        "https://void.example.org/inbox/{}",
        row["code"].as_str().unwrap()
    );
    assert_eq!(buttons[0], ("Open".to_owned(), link));
    assert_eq!(message.labels(), ["Open", "Reject", "Details"]);
    rig.phone.tap(message.id, "Reject").answer().await;
    rig.phone.sees_button(message.id, "Just reject").await;
    rig.phone.tap(message.id, "Just reject").answer().await;
    rig.phone.sees("REJECTED · Stop everything").await;
    assert_eq!(rig.status(&row).await, "rejected");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_answer_the_owner_and_nobody_else() {
    let rig = Rig::up().await;
    let (row, _) = rig.ask("stop-a").await;
    rig.phone.say("/status");
    rig.phone.sees("1 wait · 0 run").await;
    rig.phone.say("/inbox");
    let list = rig.phone.sees("1 waits for you").await;
    let tap = rig.phone.tap(list.id, row["code"].as_str().unwrap());
    tap.answer().await;
    let again = eventually("the card again, below", || async {
        let newest = rig.phone.messages().pop()?;
        newest.text.starts_with("RISKY · Stop a").then_some(newest)
    })
    .await;
    assert!(again.id > list.id);
    assert_eq!(rig.approve(&again).await, "Approved.");
    rig.phone.say("/freeze");
    rig.phone
        .sees("Frozen: nothing new starts; what runs now runs to its end")
        .await;
    let frozen = rig.app.owner().get("/api/freeze").await.ok();
    assert_eq!(
        (&frozen["frozen"], &frozen["by"]),
        (&json!(true), &json!(format!("owner-telegram-{OWNER}")))
    );
    rig.app.owner().delete("/api/freeze").await.ok();
    let stranger = rig.api.phone(STRANGER);
    for text in ["/status", "/inbox", "/freeze", "/start", "hello"] {
        stranger.say(text);
    }
    rig.phone.say("hello");
    rig.phone.sees("What you write never approves").await;
    assert!(stranger.messages().is_empty(), "strangers are not answered");
    let frozen = rig.app.owner().get("/api/freeze").await.ok();
    assert_eq!(frozen["frozen"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_poller_is_named_and_the_bot_recovers() {
    let rig = Rig::up().await;
    let places = || async {
        let listed = rig.app.owner().get("/api/notifications").await.ok();
        listed["places"][0].clone()
    };
    rig.api.second_poller();
    eventually("the conflict to be named", || async {
        let problem = places().await["problem"].as_str().map(str::to_owned)?;
        problem
            .contains("another program is polling this bot (409)")
            .then_some(())
    })
    .await;
    eventually("polling to work again", || async {
        places().await["problem"].is_null().then_some(())
    })
    .await;
    rig.ask("stop-a").await;
    let conflict = "Conflict: can't use getUpdates method while webhook is active";
    rig.api.fail("getUpdates", [Fault::Refuse(409, conflict)]);
    eventually("the webhook to be named", || async {
        let problem = places().await["problem"].as_str().map(str::to_owned)?;
        problem.contains("webhook").then_some(())
    })
    .await;
}

/// R-T7 and the rules of the API: whatever fails, it is sent in the end, and once it is enough.
#[tokio::test(flavor = "multi_thread")]
async fn pauses_errors_and_lost_answers_lose_no_message() {
    let rig = Rig::up().await;
    rig.api.fail(
        "sendMessage",
        [
            Fault::TooMany(1),
            Fault::DieBefore,
            Fault::Refuse(502, "Bad Gateway"),
        ],
    );
    let (row, message) = rig.ask("stop-a").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(row["id"].as_str().unwrap()).await;
    rig.phone.sees("RAN, NOT CONFIRMED").await;
    // The answer was lost after the effect: the copy that nobody remembers is harmless.
    rig.api.fail("sendMessage", [Fault::DieAfter]);
    let (row, message) = rig.ask("stop-b").await;
    let copies = || {
        let messages = rig.phone.messages().into_iter();
        messages
            .filter(|m| m.text.contains("· Stop b"))
            .collect::<Vec<_>>()
    };
    let copies = copies();
    assert_eq!(copies.len(), 2);
    let orphan = copies.iter().find(|copy| copy.id != message.id).unwrap();
    let answer = rig.phone.tap(orphan.id, "Approve…").answer().await;
    assert!(answer.contains("out of date"), "{answer}");
    assert!(rig.phone.message(orphan.id).unwrap().labels().is_empty());
    assert_eq!(rig.status(&row).await, "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_could_be_told_is_said_until_somebody_was() {
    let rig = Rig::with_clock().await;
    rig.api.set_down(true);
    let row = rig.app.queue("stop-a").await;
    let id = row["id"].as_str().unwrap().to_owned();
    eventually("the row to say that nobody could be told", || async {
        (rig.app.row(&id).await["told"] == "nobody").then_some(())
    })
    .await;
    let owner = rig.app.owner();
    let inbox = owner.get("/api/inbox").await.ok();
    assert_eq!(
        (&inbox["items"][0]["told"], &inbox["counts"]["untold"]),
        (&json!("nobody"), &json!(1))
    );
    assert_eq!(owner.get("/api/status").await.ok()["untold"], 1);
    rig.api.set_down(false);
    rig.app.pass(Duration::from_secs(10));
    let message = rig.shown(&row).await;
    assert_eq!(owner.get("/api/status").await.ok()["untold"], 0);
    assert_eq!(rig.approve(&message).await, "Approved.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_delivered_is_put_aside_and_can_be_tried_again() {
    let rig = Rig::up().await;
    rig.phone.block();
    let row = rig.app.queue("stop-a").await;
    let owner = rig.app.owner();
    let listed = eventually("the message to be put aside", || async {
        let listed = owner.get("/api/notifications").await.ok();
        (listed["failed"].as_array().unwrap().len() == 1).then_some(listed)
    })
    .await;
    let failed = &listed["failed"][0];
    assert_eq!(failed["proposal_id"], row["id"]);
    assert!(
        failed["error"]
            .as_str()
            .unwrap()
            .contains("blocked by the user"),
        "{failed}"
    );
    assert_eq!(listed["untold"], 1);
    assert_eq!(rig.app.audited("notification.failed").await.len(), 1);
    let path = format!(
        "/api/notifications/failed/{}/retry",
        failed["id"].as_str().unwrap()
    );
    assert_eq!(owner.post_nothing(&path).await.ok()["retried"], true);
    owner.post_nothing(&path).await.error(404, "not_found");
    eventually("it to fail again", || async {
        (rig.app.audited("notification.failed").await.len() == 2).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quiet_hours_hold_messages_back_and_end_in_one_digest() {
    let setup = Setup {
        clock: void_control::Clock::manual(
            void_domain::time::Timestamp::parse_rfc3339("2026-11-15T23:00:00Z").unwrap(),
        ),
        ..Setup::default()
    };
    let rig = Rig::with(setup, |config| NotificationsConfig {
        quiet: Some(QuietHours::parse("22:00", "07:00", Zone::UTC, true).unwrap()),
        ..config
    })
    .await;
    let before = rig.phone.messages().len();
    let quiet = [rig.app.queue("stop-a").await, rig.app.queue("stop-b").await];
    // Only what is critical breaks through, because the owner said so.
    let loud = rig.app.queue("stop-all").await;
    rig.shown(&loud).await;
    for row in &quiet {
        assert_eq!(
            rig.app.row(row["id"].as_str().unwrap()).await["told"],
            "not_yet"
        );
    }
    assert_eq!(rig.phone.messages().len(), before + 1);
    rig.app.pass(Duration::from_secs(8 * 60 * 60));
    let digest = rig.phone.sees("2 proposals").await;
    assert!(digest.text.contains("2 wait for you"), "{}", digest.text);
    assert!(digest.buttons().is_empty(), "a digest decides nothing");
    rig.shown(&quiet[0]).await;
    // What becomes of them is said in place.
    rig.app.owner().decide(&quiet[0], "reject").await.ok();
    rig.app.pass(Duration::from_secs(5));
    let changed = rig.phone.sees("1 wait for you · 1 rejected").await;
    assert_eq!(changed.id, digest.id);
    assert_eq!(rig.phone.messages().len(), before + 2);
}

/// A thousand at once are one digest, and stay within what the API allows.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_proposals_are_a_digest_and_no_flood() {
    let rig = Rig::up().await;
    let before = rig.phone.messages().len();
    let owner = rig.app.owner();
    let began = Instant::now();
    for batch in 0..50 {
        let run = |n: u64| {
            let owner = owner.clone();
            async move {
                let params = json!({"replicas": n, "zone": "north", "image": "a:1"});
                let body = json!({"params": params});
                owner
                    .post("/api/actions/scale-a/run?wait=0", body)
                    .await
                    .ok();
            }
        };
        let runs = (0..20).map(|n| tokio::spawn(run(batch * 20 + n)));
        for run in runs.collect::<Vec<_>>() {
            run.await.unwrap();
        }
    }
    eventually("every one of them to be told", || async {
        let inbox = owner.get("/api/inbox?limit=500").await.ok();
        let items = inbox["items"].as_array().unwrap().clone();
        let told = items.iter().all(|item| item["told"] == "somebody");
        (told && inbox["counts"]["proposal"] == 1_000).then_some(())
    })
    .await;
    let digest = eventually("the digest to count them all", || async {
        let messages = rig.phone.messages();
        let separate = messages
            .iter()
            .filter(|m| m.text.starts_with("RISKY"))
            .count();
        let wanted = format!("{} wait for you", 1_000 - separate);
        messages
            .into_iter()
            .find(|message| message.text.contains(&wanted))
    })
    .await;
    let sent = rig.phone.messages().len() - before;
    assert!(sent <= 7, "{sent} messages for a thousand proposals");
    assert!(digest.text.contains("/inbox"), "{}", digest.text);
    assert_eq!(rig.api.rate_limited(), 0);
    let calls = rig.api.calls();
    let to_chat = calls
        .iter()
        .filter(|call| call.params["chat_id"] == OWNER)
        .count();
    let allowed = 4 + usize::try_from(began.elapsed().as_secs()).unwrap() + 4;
    assert!(
        to_chat <= allowed,
        "{to_chat} calls in {:?}",
        began.elapsed()
    );
}

/// A bot that is set up later hears of what waits already, and so does a phone that is paired later.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_already_is_told_to_whoever_comes_later() {
    let mut app = crate::apps::App::start().await;
    let row = app.queue("stop-a").await;
    assert!(row["told"].is_null());
    let (lab, token) = (Arc::clone(&app.lab), app.owner_token().to_owned());
    app.shut_down(Duration::from_secs(5)).await;
    drop(app);
    let named = Setup {
        lab,
        owner_token: token,
        ..Setup::default()
    };
    let rig = Rig::with(named, |config| config).await;
    let message = rig.shown(&row).await;
    let later = rig.api.phone(8_001);
    rig.pair(&later).await;
    let twin = later.sees(row["code"].as_str().unwrap()).await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    // Both say how it ended, whoever decided.
    for phone in [&rig.phone, &later] {
        phone.sees("RAN, NOT CONFIRMED").await;
    }
    let stale = later.send_tap(twin.id, &twin.buttons()[0].1).answer().await;
    assert!(
        stale.starts_with("Already approved by owner (Telegram)"),
        "{stale}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_goes_on_where_it_was() {
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-a").await;
    let Rig {
        mut app,
        api,
        phone,
    } = rig;
    let lab = Arc::clone(&app.lab);
    let token = app.owner_token().to_owned();
    app.shut_down(Duration::from_secs(5)).await;
    drop(app);
    // A tap while nobody listens, and a message whose end came while nobody could send.
    let tap = phone.tap(message.id, "Reject");
    let setup = Setup {
        lab,
        owner_token: token,
        notifications: Some(phones::telegram(&api)),
        ..Setup::default()
    };
    let app = setup.start().await;
    tap.answer().await;
    phone.sees_button(message.id, "Not now").await;
    phone.tap(message.id, "Not now").answer().await;
    let outcome = phone.sees("REJECTED").await;
    assert_eq!(outcome.id, message.id);
    assert_eq!(
        app.row(row["id"].as_str().unwrap()).await["error"]["message"],
        "not now"
    );
}

/// A name that nobody resolves: whoever reaches it went through the proxy.
const ELSEWHERE: &str = "api.telegram.invalid";

/// A bot behind a proxy, with this address of the Bot API.
fn proxied(proxy: &Proxy, api_url: String) -> NotificationsConfig {
    NotificationsConfig {
        telegram: Some(TelegramConfig {
            proxy: Some(proxy.url()),
            ..phones::bot(api_url)
        }),
        ..phones::nothing()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_proxy_everything_goes_through_it() {
    let api = Arc::new(BotApi::start());
    let proxy = Proxy::start(api.address());
    let config = proxied(&proxy, format!("http://{ELSEWHERE}"));
    let rig = Rig::on(api, Setup::default(), config).await;
    let (row, message) = rig.ask("stop-a").await;
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(row["id"].as_str().unwrap()).await;
    rig.phone.sees("RAN, NOT CONFIRMED").await;
    let seen = proxy.seen();
    let through = format!("POST http://{ELSEWHERE}/bot");
    assert!(seen.iter().all(|line| line.starts_with(&through)));
    for method in ["getMe", "getUpdates", "sendMessage", "editMessageText"] {
        let end = format!("/{method}");
        assert!(seen.iter().any(|line| line.ends_with(&end)), "{method}");
    }
    // None of them went another way.
    let calls = rig.api.calls().len() + usize::try_from(rig.api.polls()).unwrap();
    assert!(proxy.seen().len() >= calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_https_a_proxy_sees_a_tunnel_and_no_token() {
    // Nobody answers behind it: what the proxy hears is all that there is to hear.
    let proxy = Proxy::start(([127, 0, 0, 1], 1).into());
    let setup = Setup {
        notifications: Some(proxied(&proxy, format!("https://{ELSEWHERE}"))),
        ..Setup::default()
    };
    let app = setup.start().await;
    app.secrets.add(telegram::TOKEN);
    eventually("the channel to be broken", || async {
        let listed = app.owner().get("/api/notifications").await.ok();
        let problem = listed["places"][0]["problem"].as_str().map(str::to_owned);
        problem.filter(|words| words.contains("cannot be reached"))
    })
    .await;
    let seen = proxy.seen();
    let tunnel = format!("CONNECT {ELSEWHERE}:443");
    assert!(!seen.is_empty() && seen.iter().all(|line| *line == tunnel));
}
