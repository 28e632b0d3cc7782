//! Two servers on one PostgreSQL database agree with each other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use crate::apps::{App, Engine, Setup, random};
use crate::labs::Lab;
use crate::sse::Listener;

const WITHIN: Duration = Duration::from_secs(1);

async fn pair() -> (App, App) {
    pair_at(None).await
}

/// Two that the owner reaches by the same name.
pub async fn pair_at(public_url: Option<&'static str>) -> (App, App) {
    let (engine, lab) = (Engine::postgres().await, Arc::new(Lab::of_alpha(None)));
    let owner_token = format!("owner-{:016x}{:016x}", random(), random());
    let setup = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: owner_token.clone(),
        public_url,
        ..Setup::default()
    };
    (setup("alpha").start().await, setup("beta").start().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_decided_at_one_is_heard_at_the_other() {
    let (a, b) = pair().await;
    let mut listener = Listener::open(&b.owner()).await;
    let row = a.queue("stop-a").await;
    let heard = listener.next().await.unwrap();
    assert_eq!(
        (heard.event.as_str(), &heard.data["id"]),
        ("proposal.created", &row["id"])
    );
    assert_eq!(
        b.owner().get("/api/inbox").await.ok()["items"][0]["id"],
        row["id"]
    );
    let decided = a.owner().decide(&row, "approve").await.ok();
    for event in ["proposal.approved", "proposal.started", "proposal.executed"] {
        assert_eq!(listener.next().await.unwrap().event, event);
    }
    let error = b
        .owner()
        .decide(&row, "reject")
        .await
        .error(409, "already_decided");
    assert_eq!(error["row"], decided);
    // A listener that changes servers hears the rest there.
    let seen = Listener::after(&a.owner(), 0).await.until(2).await.len() as u64;
    let rest = Listener::resume(&b.owner(), seen).await.until(4).await;
    assert_eq!(crate::sse::numbers(&rest), [3, 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_at_one_stops_the_other() {
    let (a, b) = pair().await;
    let mut listener = Listener::open(&b.owner()).await;
    for _ in 0..5 {
        let start = Instant::now();
        a.owner().post("/api/freeze", json!({})).await.ok();
        b.owner().run("touch-a").await.error(409, "frozen");
        listener.wait_for("freeze.changed").await;
        assert!(start.elapsed() <= WITHIN, "{:?}", start.elapsed());
        b.owner().delete("/api/freeze").await.ok();
        listener.wait_for("freeze.changed").await;
        // The brake of the other one is let go by the same event.
        void_testkit::eventually("the thaw to arrive", || async {
            let answer = a.owner().run("touch-a").await.json();
            (answer["executed"] == true).then_some(())
        })
        .await;
    }
    assert!(a.lab.effect_count() >= 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_revoked_at_one_is_worth_nothing_at_the_other() {
    let (a, b) = pair().await;
    for n in 0..5 {
        let holder = a.holder("agent", &format!("a{n}"), &["act"]).await;
        let mut caller = holder.caller.clone();
        caller.address = b.address;
        let mut listener = Listener::open(&caller).await;
        let start = Instant::now();
        a.owner()
            .delete(&format!("/api/tokens/{}", holder.id))
            .await
            .ok();
        assert_eq!(listener.next().await, None);
        assert!(start.elapsed() <= WITHIN, "{:?}", start.elapsed());
        caller
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
    }
}

/// What waits for its turn at one server may be run by the other; who waits for it is woken.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_one_is_woken_when_the_other_finishes() {
    let (a, b) = pair().await;
    a.owner()
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    let row = b.queue("slow-stop").await;
    let path = format!(
        "/api/actions/pending/{}/approve?wait=60",
        row["id"].as_str().unwrap()
    );
    let waiter = b.owner();
    let waiting = tokio::spawn(async move { waiter.post_nothing(&path).await });
    void_testkit::eventually("it to be approved", || async {
        let row = a.row(row["id"].as_str().unwrap()).await;
        (row["status"] == "approved").then_some(())
    })
    .await;
    let start = Instant::now();
    a.lab.release();
    assert_eq!(waiting.await.unwrap().ok()["status"], "executed");
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(a.lab.effect_count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_approvals_at_two_servers_are_one_effect() {
    let (a, b) = pair().await;
    let (owner_a, owner_b) = (a.owner(), b.owner());
    for round in 1..=3 {
        let row = a.queue("stop-a").await;
        let calls = (0..64).map(|n| {
            let caller = if n % 2 == 0 { &owner_a } else { &owner_b };
            caller.decide(&row, "approve")
        });
        let answers = join_all(calls).await;
        let won: Vec<_> = answers
            .iter()
            .filter(|answer| answer.status == 200)
            .collect();
        assert_eq!(won.len(), 1);
        assert_eq!(won[0].ok()["status"], "executed");
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.error(409, "already_decided");
        }
        assert_eq!(a.lab.effect_count(), round);
    }
}
