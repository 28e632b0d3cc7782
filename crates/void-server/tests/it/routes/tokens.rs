//! `/api/tokens`

use serde_json::{Value, json};

use crate::apps::App;
use crate::masks::{masked, members};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_shown_once_and_works_until_it_is_revoked() {
    let app = App::start().await;
    let owner = app.owner();
    let body = json!({"kind": "agent", "name": "blue", "capabilities": ["act", "read"]});
    let made = owner.post("/api/tokens", body.clone()).await.ok();
    assert_eq!(members(&made), ["id", "token"]);
    let token = made["token"].as_str().unwrap();
    assert!(
        token.starts_with("void_agent_") && token.len() >= 54,
        "{token}"
    );
    app.secrets.add(token);
    let blue = app.caller(crate::callers::Shows::Bearer(token.to_owned()));
    assert_eq!(
        blue.get("/api/session").await.ok(),
        json!({"kind": "agent", "name": "blue", "capabilities": ["read", "act"]})
    );
    let list = owner.get("/api/tokens").await.ok();
    assert_eq!(
        masked(&list),
        json!({"tokens": [{
            "id": "<id>", "kind": "agent", "name": "blue", "capabilities": ["read", "act"],
            "created_at": "<time>", "revoked_at": null, "quarantined": false,
        }]})
    );
    let hash = void_domain::digests::Digest::of(token.as_bytes()).to_string();
    assert!(!list.to_string().contains(&hash), "not even its hash");

    let error = owner
        .post("/api/tokens", body.clone())
        .await
        .error(409, "name_taken");
    assert_eq!(error["hint"], "revoke the other one first");
    let path = format!("/api/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(owner.delete(&path).await.ok(), json!({"revoked": true}));
    blue.get("/api/session").await.error(401, "unauthenticated");
    owner.delete(&path).await.error(404, "not_found");
    let list = owner.get("/api/tokens").await.ok();
    assert!(list["tokens"][0]["revoked_at"].is_string());
    // The name is free again, for a token that is another one.
    let second = owner.post("/api/tokens", body).await.ok();
    assert_ne!(second["token"], made["token"]);
    assert_eq!(app.audited("token.created").await.len(), 2);
    assert_eq!(app.audited("token.revoked").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_sound_tokens_are_made() {
    let app = App::start().await;
    let owner = app.owner();
    let of = |kind: Value, name: Value, capabilities: Value| json!({"kind": kind, "name": name, "capabilities": capabilities});
    for (body, field) in [
        (of(json!("owner"), json!("x"), json!([])), "kind"),
        (of(json!("system"), json!("x"), json!([])), "kind"),
        (of(json!(""), json!("x"), json!([])), "kind"),
        (of(json!("Agent"), json!("x"), json!([])), "kind"),
        (of(json!("agent"), json!(""), json!([])), "name"),
        (of(json!("agent"), json!("-x"), json!([])), "name"),
        (of(json!("agent"), json!("a b"), json!([])), "name"),
        (of(json!("agent"), json!("A"), json!([])), "name"),
        (of(json!("agent"), json!("x".repeat(65)), json!([])), "name"),
        (
            of(json!("agent"), json!("x"), json!(["approve"])),
            "capabilities",
        ),
        (
            of(json!("agent"), json!("x"), json!(["act", "*"])),
            "capabilities",
        ),
        (
            of(json!("agent"), json!("x"), json!({"approve": true})),
            "capabilities",
        ),
        (of(json!("agent"), json!("x"), json!("act")), "capabilities"),
        (
            of(json!("agent"), json!("x"), json!({"act": "yes"})),
            "capabilities",
        ),
        (of(json!(1), json!("x"), json!([])), "body"),
        (
            json!({"kind": "agent", "name": "x", "token": "chosen"}),
            "body",
        ),
        (
            json!({"kind": "agent", "name": "x", "id": "chosen"}),
            "body",
        ),
    ] {
        let error = owner
            .post("/api/tokens", body.clone())
            .await
            .error(422, "invalid");
        assert_eq!(members(&error["fields"]), [field], "{body}");
    }
    assert_eq!(owner.get("/api/tokens").await.ok(), json!({"tokens": []}));
    // The source documents' map form means the same as a list.
    let map = of(
        json!("agent"),
        json!("m"),
        json!({"act": true, "spawn": false}),
    );
    owner.post("/api/tokens", map).await.ok();
    let list = owner.get("/api/tokens").await.ok();
    assert_eq!(list["tokens"][0]["capabilities"], json!(["act"]));
}
