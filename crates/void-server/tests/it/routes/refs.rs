//! `/api/spaces/{id}/refs` and `/api/refs`: an address of the web, and somebody else's words.

use serde_json::json;

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_is_somebody_elses_whoever_keeps_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let bare = new(
            &owner,
            &space,
            "refs",
            json!({"url": "HTTPS://example.org/a?b#c", "body": ""}),
        )
        .await;
        assert_eq!(
            (&bare["url"], &bare["title"]),
            (
                &json!("https://example.org/a?b#c"),
                &json!("https://example.org/a?b#c")
            )
        );
        assert_eq!(bare["foreign"], true);
        // Reading it does not make it the owner's.
        let path = format!("/api/refs/{}", id(&bare));
        let edited = owner
            .put(&path, json!({"base_revision": 1, "body": "my own words"}))
            .await
            .ok();
        assert_eq!(
            (&edited["foreign"], &edited["origin"]),
            (&json!(true), &json!("owner"))
        );
        let vouch = owner
            .post(&format!("{path}/vouch"), json!({"revision": 2}))
            .await;
        assert!(matches!(vouch.status, 404 | 405), "{}", vouch.text);
        let long = format!("https://example.org/{}", "a".repeat(400));
        let long = new(&owner, &space, "refs", json!({"url": long, "body": ""})).await;
        assert_eq!(long["title"].as_str().unwrap().chars().count(), 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_could_mislead_is_refused() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let refs = format!("/api/spaces/{space}/refs");
    for url in [
        "",
        "x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://example.org",
        "//example.org",
        "https://",
        "https://user@example.org",
        "https://example.org@evil.example",
        "https://exa mple.org",
        "https://example.org\\@x",
        "https://example.org/\u{202e}gpj",
        "https://example.org/\n",
        "https://<b>",
        "data:text/html,x",
    ] {
        let error = owner
            .post(&refs, json!({"url": url}))
            .await
            .error(422, "invalid");
        assert!(error["fields"]["url"].is_string(), "{url:?}: {error}");
    }
    let error = owner
        .post(&refs, json!({"title": "no address"}))
        .await
        .error(422, "invalid");
    assert!(error["fields"]["url"].is_string(), "{error}");
    let too_long = format!("https://example.org/{}", "a".repeat(2_048));
    owner
        .post(&refs, json!({"url": too_long}))
        .await
        .error(422, "invalid");
    assert_eq!(owner.get(&refs).await.ok()["refs"], json!([]));
}
