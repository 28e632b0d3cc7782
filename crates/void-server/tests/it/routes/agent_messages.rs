//! `/api/agents/{name}/messages` and `…/wake`: the owner's view of mailboxes, and programs beside an agent.

use std::fs;

use serde_json::{Value, json};
use void_control::Ctx;
use void_control::agent_messages::{self, ReceiveRequest};
use void_domain::actors::Actor;
use void_domain::agent_messages::TEXT_BYTES_MAX;
use void_domain::ids::{AgentId, RequestId};
use void_testkit::eventually;

use super::agent_processes::{as_process, plant};
use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::sse::Listener;

/// A good call of each operation, with an agent that `agent_processes::calls` has planted.
pub fn calls() -> Vec<(&'static str, String, Option<Value>)> {
    let path = "/api/agents/alice/messages";
    vec![
        (
            "POST",
            path.to_owned(),
            Some(json!({"text": "hello", "key": "k-1"})),
        ),
        ("GET", format!("{path}?state=open&limit=5"), None),
    ]
}

/// As the agent acts in a turn.
fn inside(app: &App, name: &str) -> Ctx {
    let at = app.control.clock().now();
    Ctx {
        actor: Actor::Agent {
            id: AgentId::new(at, [9; 10]),
            name: name.parse().unwrap(),
        },
        ..Ctx::system(RequestId::new(at, [9; 10]))
    }
}

const MAILBOX: &str = "/api/agents/alice/messages";

async fn what_is_sent_twice_is_kept_once(owner: &Caller) {
    let mut listener = Listener::open(owner).await;
    let sent = owner
        .post(MAILBOX, json!({"text": "hello \"you\"\nthere", "key": "k"}))
        .await
        .ok();
    let message = &sent["message"];
    assert_eq!(
        (
            &message["from"],
            &message["to"],
            &message["state"],
            &sent["repeat"]
        ),
        (
            &json!("owner"),
            &json!("alice"),
            &json!("waiting"),
            &json!(false)
        )
    );
    let again = owner
        .post(MAILBOX, json!({"text": "hello \"you\"\nthere", "key": "k"}))
        .await
        .ok();
    assert_eq!(
        (&again["message"]["id"], &again["repeat"]),
        (&message["id"], &json!(true))
    );
    owner
        .post(MAILBOX, json!({"text": "other", "key": "k"}))
        .await
        .error(409, "used");
    let heard = listener.wait_for("message.sent").await;
    assert_eq!(
        (
            &heard.data["id"],
            &heard.data["from"],
            &heard.data["to"],
            &heard.data["kind"]
        ),
        (
            &message["id"],
            &json!("owner"),
            &json!("alice"),
            &json!("text")
        )
    );
    assert!(!heard.data.to_string().contains("hello"));
}

async fn the_mailbox_is_shown_in_pages(owner: &Caller) {
    for at in 0..3 {
        owner
            .post(MAILBOX, json!({"text": format!("{at}")}))
            .await
            .ok();
    }
    let page = owner.get(&format!("{MAILBOX}?limit=3")).await.ok();
    assert_eq!(
        page["counts"],
        json!({"waiting": 4, "delivered": 0, "acknowledged": 0, "dead": 0})
    );
    let texts = |page: &Value| -> Vec<String> {
        let all = page["messages"].as_array().unwrap();
        all.iter()
            .map(|one| one["text"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(texts(&page), ["2", "1", "0"]);
    let next = page["next"].as_str().unwrap();
    let rest = owner
        .get(&format!("{MAILBOX}?limit=3&cursor={next}"))
        .await
        .ok();
    assert_eq!(
        (texts(&rest), &rest["next"]),
        (vec!["hello \"you\"\nthere".to_owned()], &Value::Null)
    );
    let none = owner.get(&format!("{MAILBOX}?state=dead")).await.ok();
    assert_eq!(none["messages"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_writes_to_an_agent_and_sees_what_becomes_of_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        plant(&app, &["alice", "bob"]).await;
        app.agent("alice").await;
        let owner = app.owner();
        what_is_sent_twice_is_kept_once(&owner).await;
        the_mailbox_is_shown_in_pages(&owner).await;
        // Read, it is shown so.
        let ctx = inside(&app, "alice");
        let got = agent_messages::receive(&app.control, &ctx, ReceiveRequest::default())
            .await
            .unwrap();
        assert_eq!(got.messages.len(), 4);
        let open = owner.get(&format!("{MAILBOX}?state=open")).await.ok();
        assert_eq!(
            (
                &open["messages"][0]["state"],
                &open["messages"][0]["deliveries"]
            ),
            (&json!("delivered"), &json!(1))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_or_no_mailbox_is_refused() {
    let app = App::start().await;
    plant(&app, &["alice"]).await;
    let owner = app.owner();
    for (body, field) in [
        (json!({}), "text"),
        (json!({"text": ""}), "text"),
        (json!({"text": " \n\t"}), "text"),
        (json!({"text": "a\u{0}"}), "text"),
        (json!({"text": "\u{1b}[2J"}), "text"),
        (json!({"text": "a".repeat(TEXT_BYTES_MAX + 1)}), "text"),
        (json!({"text": "\"".repeat(TEXT_BYTES_MAX / 2 + 1)}), "text"),
        (json!({"text": "a", "key": "a b"}), "key"),
        (json!({"text": "a", "key": "k".repeat(65)}), "key"),
        (json!({"text": "a", "from": "root"}), "from"),
    ] {
        let refused = owner.post(MAILBOX, body.clone()).await;
        let refused = refused.error(422, "invalid");
        assert!(refused.to_string().contains(field), "{refused}");
    }
    owner
        .post(MAILBOX, json!({"text": "a".repeat(TEXT_BYTES_MAX)}))
        .await
        .ok();
    for name in ["no-such", "A", "a%2Fb", "mallory"] {
        let path = format!("/api/agents/{name}/messages");
        owner
            .post(&path, json!({"text": "x"}))
            .await
            .error(404, "not_found");
        owner.get(&path).await.error(404, "not_found");
    }
    for query in [
        "state=lost",
        "cursor=x",
        "cursor=-1",
        "limit=501",
        "limit=0",
        "other=1",
    ] {
        let refused = owner.get(&format!("{MAILBOX}?{query}")).await;
        assert_eq!(refused.status, 422, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_beside_an_agent_wakes_it_and_nobody_else() {
    let app = App::start().await;
    plant(&app, &["alice", "bob"]).await;
    let alice = app.holder("agent", "alice", &["read"]).await;
    let bob = app.holder("agent", "bob", &["read", "act"]).await;
    let mallory = app
        .holder("agent", "mallory", &["read", "act", "suggest"])
        .await;
    let timer = || json!({"cause": "timer"});
    let path = "/api/agents/alice/wake";
    let woken = alice.caller.post(path, timer()).await.ok();
    assert_eq!(woken["repeat"], false);
    assert_eq!(alice.caller.post(path, timer()).await.ok()["repeat"], true);
    for other in [&bob, &mallory] {
        other
            .caller
            .post(path, timer())
            .await
            .error(403, "forbidden");
    }
    app.owner()
        .post(path, timer())
        .await
        .error(403, "forbidden");
    for body in [
        json!({}),
        json!({"cause": "restart caddy"}),
        json!({"cause": "timer", "text": "x"}),
    ] {
        assert_eq!(alice.caller.post(path, body).await.status, 422);
    }
    // Neither somebody who stands nowhere, nor a resident, whose token anybody may hold.
    mallory
        .caller
        .post("/api/agents/mallory/wake", timer())
        .await
        .error(403, "forbidden");
    // It is all that such a token opens of mailboxes.
    for holder in [&alice, &bob] {
        holder.caller.get(MAILBOX).await.error(403, "owner_only");
        holder
            .caller
            .post(MAILBOX, json!({"text": "x"}))
            .await
            .error(403, "owner_only");
    }
    let page = app.owner().get(MAILBOX).await.ok();
    assert_eq!(
        (&page["counts"]["waiting"], &page["messages"][0]["wake"]),
        (&json!(1), &json!("timer"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_message_wakes_the_process_and_a_process_wakes_itself() {
    let app = App::start().await;
    plant(&app, &["alice", "bob"]).await;
    app.agent("alice").await;
    let owner = app.owner();
    owner.post_nothing("/api/agents/alice/start").await.ok();
    let process = as_process(&app).await;
    let wakes = || {
        let told = fs::read_to_string(app.lab.path().join("told")).unwrap();
        told.lines().filter(|line| *line == "wake").count()
    };
    let before = wakes();
    owner.post(MAILBOX, json!({"text": "hello"})).await.ok();
    eventually("the process to be woken", || async {
        (wakes() > before).then_some(())
    })
    .await;
    let before = wakes();
    process
        .post("/api/agents/alice/wake", json!({"cause": "job"}))
        .await
        .ok();
    eventually("the process to be woken", || async {
        (wakes() > before).then_some(())
    })
    .await;
    process
        .post("/api/agents/bob/wake", json!({"cause": "job"}))
        .await
        .error(403, "forbidden");
    process.get(MAILBOX).await.error(403, "forbidden");
    process
        .post(MAILBOX, json!({"text": "x"}))
        .await
        .error(403, "forbidden");
    owner.post_nothing("/api/agents/alice/stop").await.ok();
}
