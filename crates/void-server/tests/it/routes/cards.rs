//! `/api/proposals/{id}/card`

use serde_json::json;

use crate::apps::{App, Engine, queue};

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
async fn an_agent_sees_the_card_of_its_own_wish_alone() {
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
