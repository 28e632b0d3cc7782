//! `/api/session`

use std::time::Duration;

use serde_json::json;

use crate::apps::{App, Setup};
use crate::callers::Shows;
use crate::masks::{is_time, members};

#[tokio::test(flavor = "multi_thread")]
async fn the_owners_token_buys_a_cookie_that_scripts_cannot_read() {
    for (public_url, name, flags) in [
        (
            None,
            "void_session",
            "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000",
        ),
        (
            Some("http://nas.lan"),
            "void_session",
            "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000",
        ),
        (
            Some("https://void.example/"),
            "__Host-void_session",
            "Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure",
        ),
    ] {
        let app = Setup {
            public_url,
            ..Setup::default()
        }
        .start()
        .await;
        let body = json!({"token": app.owner_token()});
        let answer = app.anonymous().post("/api/session", body).await;
        let opened = answer.ok();
        assert_eq!(members(&opened), ["expires_at"]);
        assert!(is_time(opened["expires_at"].as_str().unwrap()));
        assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 1);
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        let (pair, rest) = cookie.split_once("; ").unwrap();
        let (set, value) = pair.split_once('=').unwrap();
        assert_eq!((set, rest), (name, flags), "{public_url:?}");
        assert!(value.len() >= 43);
        app.secrets.add(value);

        let session = app.caller(Shows::Cookie(pair.to_owned()));
        let who = session.get("/api/session").await.ok();
        assert_eq!(
            who,
            json!({"kind": "owner", "name": "owner", "capabilities": []})
        );
        let closed = session.delete("/api/session").await;
        assert_eq!(closed.ok(), json!({"closed": true}));
        let gone = closed.headers["set-cookie"].to_str().unwrap();
        assert!(
            gone.starts_with(&format!("{name}=; ")) && gone.contains("Max-Age=0"),
            "{gone}"
        );
        session
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        session
            .delete("/api/session")
            .await
            .error(401, "unauthenticated");
        app.owner()
            .delete("/api/session")
            .await
            .error(422, "invalid");
        assert_eq!(app.audited("session.opened").await.len(), 1);
        assert_eq!(app.audited("session.closed").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_is_slow_and_leaves_nothing_behind() {
    let app = App::with_clock().await;
    let anonymous = app.anonymous();
    let agent = app.holder("agent", "blue", &["act"]).await;
    let head = app.audit_head().await;
    let token = agent.caller.shows.headers()[0].1.replace("Bearer ", "");
    for guess in ["", "x", "owner", &token, &"x".repeat(600), "\u{1f511}"] {
        let answer = anonymous
            .post("/api/session", json!({"token": guess}))
            .await;
        answer.error(401, "unauthenticated");
        assert!(!answer.headers.contains_key("set-cookie"));
    }
    let right = json!({"token": app.owner_token()});
    for _ in 6..10 {
        anonymous
            .post("/api/session", json!({"token": "wrong"}))
            .await
            .error(401, "unauthenticated");
    }
    assert_eq!(app.audit_head().await, head);
    // The eleventh of a minute is not even looked at, right or wrong.
    let error = anonymous
        .post("/api/session", right.clone())
        .await
        .error(429, "rate_limited");
    assert_eq!(
        error["message"],
        "more than 10 logins in a minute; wait a little"
    );
    app.owner().get("/api/status").await.ok();
    app.pass(Duration::from_secs(60));
    anonymous.post("/api/session", right).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_time() {
    let app = App::with_clock().await;
    let session = app.session().await;
    app.pass(Duration::from_secs(30 * 24 * 60 * 60 - 1));
    session.get("/api/session").await.ok();
    app.pass(Duration::from_secs(1));
    session
        .get("/api/session")
        .await
        .error(401, "unauthenticated");
}
