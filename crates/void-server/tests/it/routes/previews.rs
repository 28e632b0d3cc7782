//! `/api/spaces/{id}/preview`: what is shown of a text before it is stored, and that nothing is stored.

use serde_json::json;
use void_domain::limits::PAGE_BYTES_MAX;

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_what_the_page_would_show() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let other = new_space(&owner, "Other").await;
        let caddy = new(&owner, &space, "pages", json!({"title": "Caddy"})).await;
        let text =
            "---\ntags: net\n---\n# See [[caddy|the proxy]] and [[Nowhere]] <b>bold</b>\n\n- one\n";
        let path = format!("/api/spaces/{space}/preview");
        let shown = owner.post(&path, json!({"text": text})).await.ok();
        let all = shown["blocks"].to_string();
        assert!(
            all.contains(&format!("#/knowledge/pages/{}", id(&caddy))),
            "{all}"
        );
        assert!(
            all.contains("[[Nowhere]]") && !all.contains("tags: net"),
            "{all}"
        );
        let body = json!({"title": "New", "body": text});
        let page = new(&owner, &space, "pages", body).await;
        let page = format!("/api/pages/{}?blocks=true", id(&page));
        assert_eq!(owner.get(&page).await.ok()["blocks"], shown["blocks"]);
        // What is called so elsewhere is not meant.
        let elsewhere = format!("/api/spaces/{other}/preview");
        let shown = owner.post(&elsewhere, json!({"text": "[[Caddy]]"})).await;
        assert!(!shown.ok()["blocks"].to_string().contains("#/knowledge"));
        let pages = owner.get(&format!("/api/spaces/{other}/pages")).await.ok();
        assert_eq!(pages["pages"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_has_the_bounds_of_a_page_and_is_for_the_owner() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let path = format!("/api/spaces/{space}/preview");
    let largest = json!({"text": "x".repeat(PAGE_BYTES_MAX)});
    assert_eq!(owner.post(&path, largest).await.status, 200);
    let larger = json!({"text": "x".repeat(PAGE_BYTES_MAX + 1)});
    owner.post(&path, larger).await.error(422, "invalid");
    let agent = app.holder("agent", "blue", &["read", "suggest"]).await;
    let refused = agent.caller.post(&path, json!({"text": "x"})).await;
    refused.error(403, "owner_only");
    let nowhere = "/api/spaces/00000000-0000-7000-8000-000000000000/preview";
    assert_eq!(owner.post(nowhere, json!({"text": "x"})).await.status, 404);
}
