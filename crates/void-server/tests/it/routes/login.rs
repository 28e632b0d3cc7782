//! `/api/login`

use serde_json::json;

use crate::apps::{App, Setup};

#[tokio::test(flavor = "multi_thread")]
async fn anybody_hears_how_the_owner_can_sign_in_and_nothing_else() {
    let app = Setup {
        public_url: Some("https://void.example"),
        ..Setup::default()
    };
    let app = app.start().await;
    let looks = |passkey: bool, password: bool| {
        json!({
            "lab": "Void",
            "rehearsal": false,
            "methods": {"passkey": passkey, "password": password, "token": true},
            "is_set_up": passkey || password,
            "called": null,
        })
    };
    let look = async || app.anonymous().get("/api/login").await.ok();
    assert_eq!(look().await, looks(false, false));
    let session = app.session().await;
    let body = json!({"password": "correct horse battery"});
    session.put("/api/password", body).await.ok();
    assert_eq!(look().await, looks(false, true));
    session.delete("/api/password").await.ok();
    assert_eq!(look().await, looks(false, false));
}

/// Whoever looks leaves nothing behind.
#[tokio::test(flavor = "multi_thread")]
async fn looking_writes_nothing() {
    let app = App::start().await;
    let head = app.audit_head().await;
    for _ in 0..50 {
        app.anonymous().get("/api/login").await.ok();
    }
    assert_eq!(app.audit_head().await, head);
}
