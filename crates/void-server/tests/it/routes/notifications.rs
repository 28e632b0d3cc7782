//! `/api/notifications`: places, tests, and what is sent to programs.

use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_domain::secrets::Secret;
use void_notify::notifiers::{NotificationsConfig, WebhookConfig};
use void_testkit::eventually;
use void_testkit::http::Reply;
use void_testkit::receivers::Receiver;

use crate::apps::{App, Engine, Setup};
use crate::nods::{pushed, pushing};
use crate::phones::{Rig, nothing};

const SECRET: &str = "a-secret-that-two-programs-share";

async fn hooked(engine: Engine, clock: Clock) -> (App, Receiver) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let receiver = Receiver::start();
    let webhook = WebhookConfig {
        name: "n8n".to_owned(),
        url: format!("{}/hook?from=void", receiver.url()),
        secret: Secret::new(SECRET),
    };
    let notifications = NotificationsConfig {
        webhooks: vec![webhook],
        ..nothing()
    };
    let setup = Setup {
        engine,
        clock,
        notifications: Some(notifications),
        ..Setup::default()
    };
    let app = setup.start().await;
    app.secrets.add(SECRET);
    (app, receiver)
}

fn types(receiver: &Receiver) -> Vec<String> {
    let bodies = receiver.bodies().into_iter();
    bodies
        .map(|body| body["type"].as_str().unwrap_or("?").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_gets_every_event_once_in_order_and_signed() {
    for engine in Engine::both().await {
        let (app, receiver) = hooked(engine, Clock::system()).await;
        let row = app.queue("stop-a").await;
        app.owner().decide(&row, "approve").await.ok();
        let expected = [
            "proposal.created",
            "proposal.approved",
            "proposal.started",
            "proposal.executed",
        ];
        eventually("all events", || async {
            (types(&receiver) == expected).then_some(())
        })
        .await;
        for request in receiver.requests() {
            let seconds = request.header("x-void-timestamp");
            let signed = format!("{seconds}.{}", String::from_utf8_lossy(&request.body));
            let signature = request.header("x-void-signature");
            assert_eq!(signature, format!("v1={}", hmac(SECRET, &signed)));
            assert_eq!(request.json()["id"], request.header("x-void-delivery"));
            assert_eq!(request.json()["proposal"]["id"], row["id"]);
            assert_eq!(request.path, "/hook?from=void");
        }
        let ids: std::collections::BTreeSet<String> = receiver
            .bodies()
            .iter()
            .map(|body| body["id"].to_string())
            .collect();
        assert_eq!(ids.len(), 4);
    }
}

/// By `openssl`, which knows nothing of our code.
fn hmac(secret: &str, text: &str) -> String {
    use std::io::Write as _;
    use std::process::{Command, Stdio};
    let mut child = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", secret])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().rsplit(' ').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_is_tried_again_and_then_put_aside_and_follows_nobody_elsewhere() {
    let clock = Clock::manual(Clock::system().now());
    let (app, receiver) = hooked(Engine::Sqlite, clock).await;
    let elsewhere = Receiver::start();
    receiver.reply([
        Reply::Json(500, json!({})),
        Reply::HangUp,
        Reply::Header(302, "location", elsewhere.url()),
    ]);
    let row = app.queue("stop-a").await;
    let id = row["id"].as_str().unwrap();
    for seen in 1..=3 {
        eventually("a try", || async {
            (receiver.requests().len() >= seen).then_some(())
        })
        .await;
        eventually("it to be noted", || async {
            (app.row(id).await["told"] == "nobody").then_some(())
        })
        .await;
        app.pass(Duration::from_secs(10));
    }
    eventually("the fourth try to arrive", || async {
        (app.row(id).await["told"] == "somebody").then_some(())
    })
    .await;
    assert!(elsewhere.requests().is_empty(), "a redirect was followed");
    receiver.reply([Reply::Json(410, json!({}))]);
    app.owner().decide(&row, "reject").await.ok();
    let listed = eventually("what is gone to be put aside", || async {
        let listed = app.owner().get("/api/notifications").await.ok();
        (listed["failed"].as_array().unwrap().len() == 1).then_some(listed)
    })
    .await;
    assert_eq!(listed["failed"][0]["error"], "it answered 410");
    assert_eq!(listed["places"][0]["target"], "webhook:n8n");
}

#[tokio::test(flavor = "multi_thread")]
async fn tests_reach_every_place_and_say_what_went_wrong() {
    let rig = Rig::up().await;
    let owner = rig.app.owner();
    let tested = owner.post_nothing("/api/notifications/test").await.ok();
    assert_eq!(
        tested["results"],
        json!([{"target": "telegram:4711", "sent": true, "problem": null}])
    );
    let message = rig.phone.sees("A test from Void").await;
    assert_eq!(
        rig.phone.tap(message.id, "It works").answer().await,
        "It works."
    );
    rig.api.set_down(true);
    let tested = owner
        .post(
            "/api/notifications/test",
            json!({"target": "telegram:4711"}),
        )
        .await
        .ok();
    assert_eq!(tested["results"][0]["sent"], false);
    rig.api.set_down(false);
    let (app, receiver) = pushing(false).await;
    let tested = app
        .owner()
        .post_nothing("/api/notifications/test")
        .await
        .ok();
    assert_eq!(tested["results"][0]["target"], "ntfy");
    assert_eq!(receiver.bodies()[0]["topic"], "topic");
    let (app, receiver) = hooked(Engine::Sqlite, Clock::system()).await;
    app.owner()
        .post_nothing("/api/notifications/test")
        .await
        .ok();
    assert_eq!(types(&receiver), ["notification.test"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_one_place_is_not_said_of_another_and_a_test_that_arrives_clears_it() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (good, bad) = (Receiver::start(), Receiver::start());
    let webhook = |name: &str, receiver: &Receiver| WebhookConfig {
        name: name.to_owned(),
        url: receiver.url(),
        secret: Secret::new(SECRET),
    };
    let notifications = NotificationsConfig {
        webhooks: vec![webhook("good", &good), webhook("bad", &bad)],
        ..nothing()
    };
    let setup = Setup {
        notifications: Some(notifications),
        ..Setup::default()
    };
    let app = setup.start().await;
    let owner = app.owner();
    let problems = || async {
        let listed = owner.get("/api/notifications").await.ok();
        let places = listed["places"].as_array().unwrap().clone();
        places
            .iter()
            .map(|place| (place["problem"].clone(), place["problem_since"].is_string()))
            .collect::<Vec<_>>()
    };
    let fine = (Value::Null, false);
    bad.reply([Reply::Json(410, json!({}))]);
    owner.post_nothing("/api/notifications/test").await.ok();
    let broken = (json!("it answered 410"), true);
    assert_eq!(problems().await, [fine.clone(), broken]);
    owner.post_nothing("/api/notifications/test").await.ok();
    assert_eq!(problems().await, [fine.clone(), fine]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pairing_needs_a_bot_that_answers() {
    let app = App::start().await;
    let body = json!({"channel": "telegram"});
    app.owner()
        .post("/api/notifications/pair", body.clone())
        .await
        .error(409, "not_set_up");
    let rig = Rig::up().await;
    rig.app
        .owner()
        .delete("/api/notifications/pairs/telegram:9")
        .await
        .error(404, "not_found");
    rig.app
        .owner()
        .delete("/api/notifications/pairs/x")
        .await
        .error(404, "not_found");
    rig.app
        .owner()
        .post("/api/notifications/pair", json!({"channel": "ntfy"}))
        .await
        .error(422, "invalid");
    rig.api.set_down(true);
    // Its name is known by now; a bot that never answered has none.
    rig.app
        .owner()
        .post("/api/notifications/pair", body)
        .await
        .ok();
}

/// R-T7: fields are bounded, and nothing in them is an action or a header.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_pushed_is_bounded_json_and_its_words_are_no_actions() {
    let (app, receiver) = pushing(false).await;
    let hostile = "x\nActions: http, Approve, https://evil.example, body=\u{202e}; view, Open, file:///etc/passwd";
    let reason = format!("{hostile}{}", "w".repeat(3_500));
    let body = json!({"reason": reason});
    app.owner().post("/api/actions/stop-a/run", body).await.ok();
    pushed(&receiver, "Reject").await;
    let request = receiver.requests().remove(0);
    assert_eq!(
        request.header("authorization"),
        "Bearer tk_a-token-of-a-test-topic"
    );
    for header in ["actions", "x-actions", "action", "click", "title"] {
        assert_eq!(request.header(header), "", "{header}");
    }
    let message = request.json();
    assert!(message["message"].as_str().unwrap().len() <= 4_000);
    assert!(message["title"].as_str().unwrap().chars().count() <= 200);
    let labels: Vec<&Value> = message["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| &action["label"])
        .collect();
    assert_eq!(labels, ["Reject", "Open"]);
    assert!(!message["message"].as_str().unwrap().contains('\u{202e}'));
}
