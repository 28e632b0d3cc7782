//! `/api/proposals/{id}/card`

use std::sync::Arc;

use serde_json::json;
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup, queue};
use crate::labs::Lab;
use crate::stands::{Stand, services};

#[tokio::test(flavor = "multi_thread")]
async fn a_card_says_what_why_by_what_right_and_how_it_went_before() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let first = app.queue("stop-a").await;
        owner.decide(&first, "approve").await.ok();
        let before = app.ended(first["id"].as_str().unwrap()).await;
        let row = app.queue("stop-a").await;
        let path = format!("/api/proposals/{}/card", row["code"].as_str().unwrap());
        let card = owner.get(&path).await.ok();
        assert_eq!(card["row"], row);
        assert_eq!(card["tier_words"], "Risky");
        assert_eq!(card["allowed_by"]["id"], "stop-a");
        assert_eq!(card["allowed_by"]["digest"], row["digest"]);
        assert_eq!(
            (&card["changed"], &card["needs_login"]),
            (&json!(false), &json!(false))
        );
        assert!(!card["consequence"].as_str().unwrap().is_empty());
        let runs = card["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 1, "its own wish is no run: {card}");
        assert_eq!(runs[0]["id"], before["id"]);
        assert_eq!(runs[0]["status"], before["status"]);
        assert!(runs[0]["took_ms"].is_u64() && runs[0]["started_at"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_the_card_of_its_own_proposal_alone() {
    let app = App::start().await;
    let (ann, bob) = (app.agent("ann").await, app.agent("bob").await);
    let row = queue(&ann, "stop-a").await;
    let path = format!("/api/proposals/{}/card", row["id"].as_str().unwrap());
    ann.get(&path).await.ok();
    bob.get(&path).await.error(404, "not_found");
    app.anonymous()
        .get(&path)
        .await
        .error(401, "unauthenticated");
    app.owner()
        .get("/api/proposals/nothing-of-the-kind/card")
        .await
        .error(404, "not_found");
}

/// The requester says why; beside it stands what Void saw of the services that it is about, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_card_shows_what_void_itself_saw_of_its_target() {
    const CATALOGUE: &str = r#"{"actions": [
        {"id": "stop-web", "label": "Restart the web", "kind": "service_restart", "host": "local", "service": "web", "tier": "risky", "verify": {"service": "web"}},
        {"id": "stop-107", "label": "Stop", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"}
    ]}"#;
    let (up, down) = (Stand::up().await, Stand::down());
    let mut there = up.service("media");
    there["node"] = json!("z");
    there["vmid"] = json!(107);
    let mut elsewhere = up.service("other");
    elsewhere["node"] = json!("y");
    elsewhere["vmid"] = json!(107);
    let setup = Setup {
        lab: Arc::new(Lab::of(CATALOGUE)),
        services: services(&[elsewhere, there, down.service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let owner = app.owner();
    let seen = |action: &'static str| {
        let (app, owner) = (&app, &owner);
        async move {
            let row = app.queue(action).await;
            let path = format!("/api/proposals/{}/card", row["id"].as_str().unwrap());
            eventually("the services to be looked at", || async {
                let evidence = owner.get(&path).await.ok()["evidence"].clone();
                let all = evidence.as_array().unwrap();
                let looked = all.iter().all(|one| !one["checked_at"].is_null());
                (!all.is_empty() && looked).then(|| all.clone())
            })
            .await
        }
    };
    let web = seen("stop-web").await;
    assert_eq!(web.len(), 1, "{web:?}");
    assert_eq!(
        (&web[0]["id"], &web[0]["detail"]["reason"]),
        (&json!("web"), &json!("refused"))
    );
    let guest = seen("stop-107").await;
    assert_eq!(guest.len(), 1, "{guest:?}");
    assert_eq!(
        (&guest[0]["id"], &guest[0]["status"]),
        (&json!("media"), &json!("up"))
    );
}
