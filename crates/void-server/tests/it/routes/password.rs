//! `/api/password`

use std::time::Duration;

use serde_json::json;

use crate::apps::{App, Engine, Setup};

const PASSWORD: &str = "correct horse battery staple";

#[tokio::test(flavor = "multi_thread")]
async fn a_password_opens_a_session_until_it_is_changed_or_removed() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        app.secrets.add(PASSWORD);
        let anonymous = app.anonymous();
        let by = async |password: &str| {
            let body = json!({"password": password});
            anonymous.post("/api/session", body).await.status
        };
        assert_eq!(by(PASSWORD).await, 401, "there is none yet");
        let first = app.session().await;
        let set = first.put("/api/password", json!({"password": PASSWORD}));
        assert_eq!(set.await.ok(), json!({"is_set": true}));
        assert_eq!(by("correct horse battery stapl").await, 401);
        assert_eq!(by(&"x".repeat(257)).await, 401);
        let second = app.session_by(json!({"password": PASSWORD})).await;
        let who = second.get("/api/session").await.ok();
        assert_eq!(who["session"]["method"], "password");
        let body = json!({"password": PASSWORD});
        second.post("/api/session/confirm", body).await.ok();

        let other = json!({"password": "another one altogether"});
        second.put("/api/password", other).await.ok();
        assert_eq!(by(PASSWORD).await, 401);
        assert_eq!(by("another one altogether").await, 200);
        let removed = second.delete("/api/password").await.ok();
        assert_eq!(removed, json!({"is_set": false}));
        assert_eq!(by("another one altogether").await, 401);
        second.delete("/api/password").await.error(404, "not_found");
        // Whoever changed it stays, and everybody else was signed out.
        first
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        second.get("/api/session").await.ok();
        assert_eq!(app.audited("password.set").await.len(), 2);
        assert_eq!(app.audited("password.removed").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_that_anybody_tries_first_are_refused_with_the_rule() {
    let app = Setup {
        public_url: Some("https://lab.example"),
        ..Setup::default()
    };
    let app = app.start().await;
    let session = app.session().await;
    for (password, rule) in [
        ("elevenbytes", "must be 12 to 256 bytes"),
        (&"x".repeat(257), "must be 12 to 256 bytes"),
        (
            "aaaaaaaaaaaaaaaa",
            "must have at least 5 different characters",
        ),
        (
            "lab.exampleVOID",
            "must be more than well-known words and the name of this lab",
        ),
    ] {
        let answer = session.put("/api/password", json!({"password": password}));
        let error = answer.await.error(422, "invalid");
        assert_eq!(error["fields"]["password"], rule);
    }
    let login = app.anonymous().get("/api/login").await.ok();
    assert_eq!(login["methods"]["password"], false);
    assert_eq!(app.audited("password.set").await.len(), 0);
}

/// What a stolen session could add to itself would outlive it.
#[tokio::test(flavor = "multi_thread")]
async fn changing_it_takes_a_session_that_is_fresh() {
    let app = App::with_clock().await;
    let body = json!({"password": PASSWORD});
    app.owner()
        .put("/api/password", body.clone())
        .await
        .error(403, "session_needed");
    let session = app.session().await;
    session.put("/api/password", body.clone()).await.ok();
    app.pass(Duration::from_secs(5 * 60) + Duration::from_millis(1));
    let other = json!({"password": "another one altogether"});
    session
        .put("/api/password", other.clone())
        .await
        .error(403, "fresh_login_needed");
    session
        .delete("/api/password")
        .await
        .error(403, "fresh_login_needed");
    session.post("/api/session/confirm", body).await.ok();
    session.put("/api/password", other).await.ok();
}
