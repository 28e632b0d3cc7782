//! Every way by which an approval must not come (I8, I9, R-T1 to R-T6), one test each.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_domain::digests::Digest;
use void_domain::notifications::{About, Key, Meaning, Target};
use void_domain::secrets::Secret;
use void_notify::notifiers::{NotificationsConfig, NtfyConfig, TelegramConfig};
use void_store::StoreError;
use void_store::notifications::keys;
use void_testkit::eventually;
use void_testkit::receivers::Receiver;

use crate::apps::{App, Setup, random};
use crate::phones::{OWNER, Rig, STRANGER, nothing};

const NTFY_TOKEN: &str = "tk_a-token-of-a-test-topic";

/// An app that pushes to a topic on which the owner lets it approve.
pub async fn pushing(may_approve: bool) -> (App, Receiver) {
    pushing_with(Setup::default(), may_approve).await
}

async fn pushing_with(setup: Setup, may_approve: bool) -> (App, Receiver) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let receiver = Receiver::start();
    let ntfy = NtfyConfig {
        url: format!("{}/topic", receiver.url()),
        token: Some(Secret::new(NTFY_TOKEN)),
        may_approve,
    };
    let notifications = NotificationsConfig {
        ntfy: Some(ntfy),
        public_url: Some("https://void.example.org".to_owned()),
        ..nothing()
    };
    let setup = Setup {
        notifications: Some(notifications),
        ..setup
    };
    let app = setup.start().await;
    app.secrets.add(NTFY_TOKEN);
    (app, receiver)
}

/// What an action of the pushed notification would post, as soon as there is one.
pub async fn pushed(receiver: &Receiver, label: &str) -> Value {
    let action = eventually("the notification", || async { receiver.action(label) }).await;
    assert_eq!(action["method"], "POST");
    serde_json::from_str(action["body"].as_str().unwrap()).unwrap()
}

fn addresses(text: &str) -> Vec<String> {
    let found = text.split("https://void.example.org").skip(1);
    found
        .map(|rest| {
            rest.split(['"', '\\', ' ', '\n'])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_approval_by_get() {
    let (app, receiver) = pushing(true).await;
    let row = app.queue("stop-a").await;
    let body = pushed(&receiver, "Approve").await;
    let token = body["token"].as_str().unwrap();
    let act = "/api/notifications/act";
    for path in [
        act.to_owned(),
        format!("{act}?token={token}"),
        format!("{act}/{token}"),
    ] {
        for method in [
            Method::GET,
            Method::HEAD,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ] {
            for caller in [app.anonymous(), app.owner()] {
                let answer = caller.send(method.clone(), &path, None).await;
                assert!(
                    matches!(answer.status, 404 | 405),
                    "{method} {path}: {}",
                    answer.status
                );
            }
        }
    }
    assert_eq!(
        app.row(row["id"].as_str().unwrap()).await["status"],
        "pending"
    );
    let acted = app.anonymous().post(act, body).await.ok();
    assert_eq!(
        (&acted["decision"], &acted["code"]),
        (&json!("approve"), &row["code"])
    );
    assert_eq!(
        app.ended(row["id"].as_str().unwrap()).await["resolved_by"],
        "owner-ntfy"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_approval_by_link_preview() {
    let rig = Rig::up().await;
    let (guarded, _) = rig.ask("stop-a").await;
    let (critical, _) = rig.ask("stop-all").await;
    for call in rig
        .api
        .calls()
        .iter()
        .filter(|call| call.method.ends_with("Text") || call.method == "sendMessage")
    {
        assert_eq!(
            call.params["link_preview_options"]["is_disabled"], true,
            "{call:?}"
        );
    }
    // Whoever fetches an address of a message, with whatever it may have by accident, changes nothing.
    let found = addresses(&rig.api.everything_sent());
    assert!(!found.is_empty());
    let session = rig.app.session().await;
    for path in found {
        for caller in [rig.app.anonymous(), rig.app.owner(), session.clone()] {
            for method in [Method::GET, Method::HEAD] {
                caller
                    .request(method, &path)
                    .header("user-agent", "TelegramBot (like TwitterBot)")
                    .send()
                    .await
                    .unwrap();
            }
        }
    }
    for row in [guarded, critical] {
        assert_eq!(rig.status(&row).await, "pending");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_approval_by_forwarded_message() {
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-a").await;
    rig.phone.tap(message.id, "Approve…").answer().await;
    let armed = rig.phone.sees_button(message.id, "Yes: ").await;
    let yes = armed.buttons()[0].1.clone();
    let own = json!({"id": OWNER, "type": "private"});
    let group = json!({"id": -100_123, "type": "supergroup"});
    let stranger = rig.api.phone(STRANGER);
    stranger.say("/start");
    // Forwarded into a group, to oneself, to somebody else; re-posted under another message.
    let forwarded = json!({"message_id": message.id, "chat": own, "date": 1, "forward_origin": {"type": "user"}});
    for (who, under, expected) in [
        (
            &rig.phone,
            json!({"message_id": message.id, "chat": group, "date": 1}),
            "not for you",
        ),
        (&rig.phone, forwarded, "out of date"),
        (
            &rig.phone,
            json!({"message_id": message.id + 99, "chat": own, "date": 1}),
            "out of date",
        ),
        (&rig.phone, Value::Null, "not for you"),
        (
            &stranger,
            json!({"message_id": message.id, "chat": own, "date": 1}),
            "not for you",
        ),
        (
            &stranger,
            json!({"message_id": 1, "chat": {"id": STRANGER, "type": "private"}, "date": 1}),
            "not for you",
        ),
    ] {
        let answer = who.send_callback(under.clone(), &yes).answer().await;
        assert!(answer.contains(expected), "{under}: {answer}");
        assert_eq!(rig.status(&row).await, "pending", "{under}");
    }
    // A message that is passed on to the bot is text, and text decides nothing.
    for text in [
        message.text.as_str(),
        "/approve",
        &format!("/approve {}", row["code"]),
        "yes",
        "Approved by owner",
    ] {
        rig.phone.say(text);
    }
    rig.phone.sees("What you write never approves").await;
    assert_eq!(rig.status(&row).await, "pending");
    assert!(rig.app.audited("notification.refused").await.len() >= 4);
    assert_eq!(rig.app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_approval_by_an_agents_token() {
    let (app, receiver) = pushing(true).await;
    let agent = app
        .holder("agent", "blue", &["read", "act", "suggest", "spawn"])
        .await;
    let row = crate::apps::queue(&agent.caller, "stop-a").await;
    pushed(&receiver, "Approve").await;
    let own = agent.caller.shows.headers()[0].1.replace("Bearer ", "");
    let guesses = [
        own.as_str(),
        row["id"].as_str().unwrap(),
        row["code"].as_str().unwrap(),
        row["digest"].as_str().unwrap(),
        "",
        "1",
        "approve",
    ];
    for token in guesses {
        for caller in [&agent.caller, &app.anonymous()] {
            let answer = caller
                .post("/api/notifications/act", json!({"token": token}))
                .await;
            answer.error(401, "unauthenticated");
        }
    }
    for (method, path) in [
        (Method::GET, "/api/notifications"),
        (Method::POST, "/api/notifications/pair"),
        (Method::POST, "/api/notifications/test"),
        (Method::DELETE, "/api/notifications/pairs/telegram:1"),
    ] {
        agent
            .caller
            .send(method, path, None)
            .await
            .error(403, "owner_only");
    }
    assert_eq!(
        app.row(row["id"].as_str().unwrap()).await["status"],
        "pending"
    );
}

/// A key that is older than what it would decide was made for something else.
#[tokio::test(flavor = "multi_thread")]
async fn no_approval_by_a_token_older_than_its_proposal() {
    let (app, receiver) = pushing(true).await;
    let row = app.queue("stop-a").await;
    pushed(&receiver, "Approve").await;
    let id = row["id"].as_str().unwrap();
    let now = app.control.clock().now();
    let plant = |text: &'static str, created_at, digest: Digest, meaning| {
        let key = Key {
            hash: Digest::of(text.as_bytes()),
            target: Target::Ntfy,
            about: About::Proposal(id.parse().unwrap(), digest),
            revision: 0,
            meaning,
            created_at,
            expires_at: now.plus(Duration::from_secs(600)),
            used_at: None,
        };
        let written = app
            .store
            .write(move |tx| Box::pin(async move { keys::insert(tx, &key).await }));
        async move { written.await as Result<(), StoreError> }
    };
    let digest: Digest = row["digest"].as_str().unwrap().parse().unwrap();
    let day = Duration::from_secs(24 * 60 * 60);
    plant(
        "1-older-than-the-proposal",
        now.minus(day),
        digest,
        Meaning::Approve,
    )
    .await
    .unwrap();
    plant(
        "1-for-another-definition",
        now,
        Digest::of(b"other"),
        Meaning::Approve,
    )
    .await
    .unwrap();
    plant("1-only-asks", now, digest, Meaning::Ask)
        .await
        .unwrap();
    for (token, status, code) in [
        ("1-older-than-the-proposal", 409, "expired"),
        ("1-for-another-definition", 409, "changed"),
        ("1-only-asks", 401, "unauthenticated"),
    ] {
        let answer = app
            .anonymous()
            .post("/api/notifications/act", json!({"token": token}))
            .await;
        answer.error(status, code);
    }
    assert_eq!(app.row(id).await["status"], "pending");
    assert_eq!(app.lab.effect_count(), 0);
}

/// A token works once, for one decision, until its proposal is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_pushed_token_works_once_and_only_for_what_it_was_made_for() {
    let setup = Setup {
        clock: void_control::Clock::manual(void_control::Clock::system().now()),
        ..Setup::default()
    };
    let (app, receiver) = pushing_with(setup, true).await;
    let row = app.queue("stop-a").await;
    let (approve, reject) = (
        pushed(&receiver, "Approve").await,
        pushed(&receiver, "Reject").await,
    );
    let act = |body: &Value| {
        let (caller, body) = (app.anonymous(), body.clone());
        async move { caller.post("/api/notifications/act", body).await }
    };
    assert_eq!(act(&approve).await.ok()["decision"], "approve");
    for body in [&approve, &reject, &approve] {
        let error = act(body).await.error(409, "already_decided");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("already approved by owner (ntfy)"),
            "{error}"
        );
        assert!(
            error["row"].is_null(),
            "who holds a token may decide, not read"
        );
    }
    app.ended(row["id"].as_str().unwrap()).await;
    assert_eq!(app.lab.effect_count(), 1);
    let brief = app.queue("brief-stop").await;
    eventually("its notification", || async {
        let title = receiver.bodies().last()?["title"].to_string();
        title.contains("RISKY · Stop soon").then_some(())
    })
    .await;
    let late = pushed(&receiver, "Approve").await;
    app.pass(Duration::from_secs(61));
    let answer = act(&late).await;
    assert!(matches!(answer.status, 401 | 409), "{}", answer.text);
    assert_eq!(
        app.ended(brief["id"].as_str().unwrap()).await["status"],
        "expired"
    );
    assert_eq!(app.lab.effect_count(), 1);
}

/// CONTRACTS: ntfy shows Reject and a link; critical never has Approve.
#[tokio::test(flavor = "multi_thread")]
async fn a_push_offers_approval_only_where_the_owner_said_so_and_never_for_critical() {
    let labels = |receiver: &Receiver, code: &Value| {
        let code = code.as_str().unwrap().to_owned();
        let bodies = receiver.bodies();
        let found = bodies
            .into_iter()
            .find(|body| body["message"].to_string().contains(&code))?;
        let actions = found["actions"].as_array().cloned().unwrap_or_default();
        let labels = actions
            .iter()
            .map(|action| action["label"].as_str().unwrap().to_owned());
        Some(labels.collect::<Vec<_>>())
    };
    for (may_approve, guarded) in [
        (false, vec!["Reject", "Open"]),
        (true, vec!["Approve", "Reject", "Open"]),
    ] {
        let (app, receiver) = pushing(may_approve).await;
        for (action, expected) in [("stop-a", guarded), ("stop-all", vec!["Reject", "Open"])] {
            let row = app.queue(action).await;
            let shown = eventually("its notification", || async {
                labels(&receiver, &row["code"])
            })
            .await;
            assert_eq!(shown, expected, "{action}, may approve: {may_approve}");
        }
        let row = app.queue("stop-all").await;
        let reject = pushed(&receiver, "Reject").await;
        app.anonymous()
            .post("/api/notifications/act", reject)
            .await
            .ok();
        let _ = row;
    }
}

/// R-T1, R-T2, R-T6: the policy in force is the one list, and an empty one is nobody.
#[tokio::test(flavor = "multi_thread")]
async fn only_named_or_paired_accounts_are_heard_and_an_empty_list_is_nobody() {
    // Named in the settings: exactly these, whoever else was paired.
    let only = |config: NotificationsConfig| NotificationsConfig {
        telegram: config.telegram.map(|telegram| TelegramConfig {
            allowed_users: vec![OWNER],
            ..telegram
        }),
        ..config
    };
    let rig = Rig::with(Setup::default(), only).await;
    let stranger = rig.api.phone(STRANGER);
    let made = rig
        .app
        .owner()
        .post("/api/notifications/pair", json!({"channel": "telegram"}))
        .await;
    stranger.open(made.ok()["link"].as_str().unwrap());
    stranger.sees("This code is not good").await;
    let (row, message) = rig.ask("stop-a").await;
    assert!(
        stranger
            .messages()
            .iter()
            .all(|m| !m.text.contains("Stop a"))
    );
    assert_eq!(rig.approve(&message).await, "Approved.");
    rig.app.ended(row["id"].as_str().unwrap()).await;
    drop(rig);
    // Nobody named, and the only pair is ended: nobody is heard and nobody is told.
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-a").await;
    let target = format!("/api/notifications/pairs/telegram:{OWNER}");
    rig.app.owner().delete(&target).await.ok();
    let answer = rig.phone.tap(message.id, "Approve…").answer().await;
    assert_eq!(answer, "This is not for you.");
    let before = rig.phone.messages().len();
    let second = rig.app.queue("stop-b").await;
    assert!(second["told"].is_null());
    rig.phone.say("/inbox");
    assert_eq!(rig.status(&row).await, "pending");
    assert_eq!(rig.phone.messages().len(), before);
    let refused = rig.app.audited("notification.refused").await;
    assert_eq!(refused.len(), 1);
    assert!(refused[0].detail.contains(&OWNER.to_string()));
}

/// A code is for one account, once, for ten minutes.
#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_code_works_once_and_not_for_long() {
    let rig = Rig::with_clock().await;
    let made = rig
        .app
        .owner()
        .post("/api/notifications/pair", json!({"channel": "telegram"}))
        .await
        .ok();
    let link = made["link"].as_str().unwrap().to_owned();
    assert!(
        link.starts_with("https://t.me/void_test_bot?start="),
        "{link}"
    );
    let (first, second) = (rig.api.phone(1_001), rig.api.phone(1_002));
    first.open(&link);
    first.sees("Paired").await;
    second.open(&link);
    second.sees("This code is not good").await;
    let made = rig
        .app
        .owner()
        .post("/api/notifications/pair", json!({"channel": "telegram"}))
        .await
        .ok();
    rig.app.pass(Duration::from_secs(601));
    second.open(made["link"].as_str().unwrap());
    eventually("the second refusal", || async {
        (second.messages().len() == 2).then_some(())
    })
    .await;
    assert!(
        second
            .messages()
            .iter()
            .all(|message| message.text.contains("not good"))
    );
    let listed = rig.app.owner().get("/api/notifications").await.ok();
    assert_eq!(listed["places"].as_array().unwrap().len(), 2);
}

/// How many callbacks arrive, all in all.
const CALLBACKS: usize = if cfg!(feature = "deep") {
    200_000
} else {
    5_000
};
/// How often each update arrives, and how often the whole stream comes again with new numbers.
const DELIVERIES: usize = 5;
const REWINDS: usize = 3;
const TAPS: usize = CALLBACKS / (DELIVERIES * (1 + REWINDS));

/// I9: duplicates, rewinds and reordering change nothing after the first.
#[tokio::test(flavor = "multi_thread")]
async fn repeated_and_reordered_taps_change_nothing_after_the_first() {
    let rig = Rig::up().await;
    rig.api.repeat_updates(DELIVERIES);
    let (row, message) = rig.ask("stop-a").await;
    rig.phone.tap(message.id, "Approve…").answer().await;
    let armed = rig.phone.sees_button(message.id, "Yes: ").await;
    let yes = armed.buttons()[0].1.clone();
    let taps: Vec<_> = (0..TAPS)
        .map(|_| rig.phone.send_tap(message.id, &yes))
        .collect();
    let mut answers = Vec::new();
    for tap in &taps {
        answers.push(tap.answer().await);
    }
    let approved = answers.iter().filter(|answer| *answer == "Approved.");
    assert_eq!(approved.count(), 1, "{answers:?}");
    rig.app.ended(row["id"].as_str().unwrap()).await;
    for _ in 0..REWINDS {
        rig.api.rewind();
        rig.api.heard_out().await;
    }
    assert!(rig.api.delivered() >= u64::try_from(CALLBACKS).unwrap());
    assert_eq!(rig.app.lab.effect_count(), 1);
    let approved = rig.app.audited("proposal.approved").await;
    assert_eq!(approved.len(), 1);
    rig.phone.say("/status");
    rig.phone.sees("0 wait · 0 run").await;
}

/// I9: web and phone at the same moment.
#[tokio::test(flavor = "multi_thread")]
async fn web_and_phone_race_and_one_of_them_wins() {
    let rig = Rig::up().await;
    for round in 0..6 {
        let (row, message) = rig.ask("stop-a").await;
        rig.phone.tap(message.id, "Approve…").answer().await;
        rig.phone.sees_button(message.id, "Yes: ").await;
        let owner = rig.app.owner();
        let tap = rig.phone.tap(message.id, "Yes: ");
        let (answer, web) = tokio::join!(tap.answer(), owner.decide(&row, "reject"));
        let phone_won = answer == "Approved.";
        assert_ne!(phone_won, web.status == 200, "{answer}: {}", web.text);
        let ended = rig.app.ended(row["id"].as_str().unwrap()).await;
        let expected = if phone_won { "executed" } else { "rejected" };
        assert_eq!(ended["status"], expected, "{round}");
    }
}

/// How many updates are made up, each of them wrong in its own way.
const MADE_UP: usize = if cfg!(feature = "deep") {
    50_000
} else {
    2_000
};

/// R-T3, R-T5, I8: whatever comes, only a key of ours in the right hands means anything.
#[tokio::test(flavor = "multi_thread")]
async fn updates_of_any_shape_decide_nothing() {
    let rig = Rig::up().await;
    let (row, message) = rig.ask("stop-a").await;
    let own = json!({"id": OWNER, "type": "private"});
    let person = json!({"id": OWNER, "is_bot": false, "first_name": "x"});
    let id = row["id"].as_str().unwrap();
    let words = [
        "approve",
        "1",
        "",
        "{\"approve\":true}",
        id,
        row["digest"].as_str().unwrap(),
        "\u{0}",
        "1AAAAAAAAAAAAAAAAAAAAAA",
    ];
    let (mut sent, mut n) = (0, 0);
    while sent < MADE_UP {
        n += 1;
        let data = match n % 3 {
            0 => words[n % words.len()].to_owned(),
            1 => format!("1{:016x}{:06x}", random(), n),
            _ => "x".repeat(n % 70),
        };
        let under = json!({"message_id": message.id, "chat": own, "date": 1});
        rig.phone.send_callback(under, &data);
        for update in [
            json!({"callback_query": {"id": "x", "from": person, "data": data}}),
            json!({"callback_query": {"from": {"id": "4711"}, "message": {"chat": own}, "data": data}}),
            json!({"callback_query": data}),
            json!({"message": {"from": person, "chat": own, "text": format!("/start {data}")}}),
            json!({"edited_message": {"from": person, "chat": own, "text": "/approve"}}),
            json!({"inline_query": {"from": person, "query": data}}),
            json!({"message": {"from": person, "chat": own, "photo": [], "caption": data}}),
            json!({"message": {"from": {"id": OWNER, "is_bot": true}, "chat": own, "text": "/freeze"}}),
            json!({}),
        ].into_iter().skip(n % 3).step_by(3) {
            rig.phone.send_raw(update);
            sent += 1;
        }
        sent += 1;
    }
    rig.api.heard_out().await;
    rig.phone.say("/status");
    rig.phone.sees("1 wait").await;
    assert_eq!(rig.status(&row).await, "pending");
    assert_eq!(rig.app.lab.effect_count(), 0);
    assert_eq!(
        rig.app.owner().get("/api/freeze").await.ok()["frozen"],
        false
    );
    // R-T5: nothing of it was said to an agent.
    let conversation = rig.app.owner().get("/api/little-blue").await.ok();
    assert_eq!(conversation["messages"].as_array().map_or(0, Vec::len), 0);
}
