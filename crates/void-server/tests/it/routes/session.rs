//! `/api/session`

use std::time::Duration;

use serde_json::json;
use void_control::{Clock, agents};
use void_domain::capabilities::Capability;
use void_domain::secrets::Secret;

use crate::apps::{App, Engine, Setup};
use crate::callers::Shows;
use crate::masks::{is_time, members};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const FRESH: Duration = Duration::from_secs(5 * 60);

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
        assert_eq!(members(&opened), ["expires_at", "method"]);
        assert_eq!(opened["method"], "token");
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
            (&who["kind"], &who["name"]),
            (&json!("owner"), &json!("owner"))
        );
        assert_eq!(who["session"]["expires_at"], opened["expires_at"]);
        assert_eq!(
            app.owner().get("/api/session").await.ok(),
            json!({"kind": "owner", "name": "owner", "capabilities": []}),
            "a token has no session"
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
            .error(403, "session_needed");
        assert_eq!(app.audited("session.opened").await.len(), 1);
        assert_eq!(app.audited("session.closed").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_is_slow_and_leaves_one_entry_a_minute() {
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
    let refused = app.audited("session.refused").await;
    assert_eq!(app.audit_head().await.0, head.0 + 1);
    assert_eq!(
        (refused[0].actor.as_str(), refused[0].detail.as_str()),
        (
            "system",
            r#"{"from":"127.0.0.1","method":"token","tries":1}"#
        )
    );
    // Nobody guesses such a token: who holds it is kept out by no stranger, at no address.
    let session = app.session_by(right.clone()).await;
    let password = json!({"password": "correct horse battery"});
    session.put("/api/password", password.clone()).await.ok();
    let wrong = json!({"password": "wrong horse battery"});
    for _ in 0..10 {
        let answer = anonymous.post("/api/session", wrong.clone()).await;
        answer.error(401, "unauthenticated");
    }
    // The eleventh password of a minute is not even looked at, right or wrong.
    let error = anonymous
        .post("/api/session", password.clone())
        .await
        .error(429, "rate_limited");
    assert_eq!(
        error["message"],
        "more than 10 logins in a minute; wait a little"
    );
    // The owner confirms in the open page and signs in anew all the same.
    session
        .post("/api/session/confirm", password.clone())
        .await
        .ok();
    anonymous.post("/api/session", right.clone()).await.ok();
    for _ in 0..10 {
        let answer = session.post("/api/session/confirm", wrong.clone()).await;
        answer.error(401, "unauthenticated");
    }
    session
        .post("/api/session/confirm", password.clone())
        .await
        .error(429, "rate_limited");
    app.owner().get("/api/status").await.ok();
    app.pass(Duration::from_secs(60));
    anonymous.post("/api/session", password).await.ok();
    for guess in [json!({"password": "x"}), json!({"setup": "x"})] {
        let answer = anonymous.post("/api/session", guess).await;
        answer.error(401, "unauthenticated");
    }
    let refused = app.audited("session.refused").await;
    assert_eq!(refused.len(), 2);
    assert_eq!(
        refused[1].detail,
        r#"{"from":"127.0.0.1","method":"password","tries":30}"#
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_is_exactly_one_thing() {
    let app = App::start().await;
    let token = app.owner_token();
    for body in [
        json!({}),
        json!({"token": null}),
        json!({"token": token, "password": "x"}),
        json!({"token": token, "setup": "x"}),
    ] {
        let answer = app.anonymous().post("/api/session", body).await;
        answer.error(422, "invalid");
    }
    let session = app.session().await;
    for body in [
        json!({}),
        json!({"setup": "x"}),
        json!({"token": token, "password": "x"}),
    ] {
        let answer = session.post("/api/session/confirm", body).await;
        answer.error(422, "invalid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_time() {
    let app = App::with_clock().await;
    let session = app.session().await;
    app.pass(DAY * 30);
    session
        .get("/api/session")
        .await
        .error(401, "unauthenticated");
}

/// I8: use keeps a session open, and is no proof of who uses it.
#[tokio::test(flavor = "multi_thread")]
async fn use_keeps_a_session_open_and_proves_nothing() {
    for engine in Engine::both().await {
        let app = Setup {
            engine,
            clock: Clock::manual(Clock::system().now()),
            ..Setup::default()
        };
        let app = app.start().await;
        let session = app.session().await;
        let before = session.get("/api/session").await.ok();
        let head = app.audit_head().await;
        // Within an hour nothing is written, and no cookie is sent.
        app.pass(Duration::from_secs(60 * 60 - 1));
        let answer = session.get("/api/session").await;
        assert_eq!(answer.ok(), before);
        assert!(!answer.headers.contains_key("set-cookie"));
        for _ in 0..2 {
            app.pass(DAY * 29);
            let answer = session.get("/api/session").await;
            let kept = answer.headers["set-cookie"].to_str().unwrap();
            let own = session.shows.headers()[0].1.clone();
            assert_eq!(
                kept,
                format!("{own}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000")
            );
            let expires_at = app.control.clock().now().plus(DAY * 30).to_string();
            assert_eq!(answer.ok()["session"]["expires_at"], expires_at);
        }
        assert_eq!(app.audit_head().await, head);
        let now = session.get("/api/session").await.ok();
        for name in ["id", "opened_at", "authenticated_at", "method"] {
            assert_eq!(now["session"][name], before["session"][name], "{name}");
        }
        assert_eq!(now["fresh_until"], before["fresh_until"]);
        let critical = app.queue("stop-all").await;
        session
            .decide(&critical, "approve")
            .await
            .error(403, "fresh_login_needed");
        app.pass(DAY * 30);
        session
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        assert_eq!(app.lab.effect_count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proving_it_again_in_place_lets_something_critical_through() {
    let app = App::with_clock().await;
    let (session, other) = (app.session().await, app.session().await);
    app.pass(FRESH + Duration::from_millis(1));
    let critical = app.queue("stop-all").await;
    session
        .decide(&critical, "approve")
        .await
        .error(403, "fresh_login_needed");
    let confirm = |body| session.post("/api/session/confirm", body);
    let wrong = confirm(json!({"token": "wrong"})).await;
    wrong.error(401, "unauthenticated");
    confirm(json!({"password": "wrong"}))
        .await
        .error(401, "unauthenticated");
    session
        .decide(&critical, "approve")
        .await
        .error(403, "fresh_login_needed");
    let confirmed = confirm(json!({"token": app.owner_token()})).await.ok();
    let now = app.control.clock().now();
    assert_eq!(confirmed["session"]["authenticated_at"], now.to_string());
    assert_eq!(confirmed["fresh_until"], now.plus(FRESH).to_string());
    assert_eq!(
        session.get("/api/session").await.ok()["fresh_until"],
        confirmed["fresh_until"]
    );
    // Only this very session has proved it.
    other
        .decide(&critical, "approve")
        .await
        .error(403, "fresh_login_needed");
    assert_eq!(
        session.decide(&critical, "approve").await.ok()["status"],
        "executed"
    );
    app.owner()
        .post("/api/session/confirm", json!({"token": app.owner_token()}))
        .await
        .error(403, "session_needed");
    assert_eq!(app.audited("session.confirmed").await.len(), 1);
    let refused = app.audited("session.refused").await;
    assert_eq!(refused.len(), 1);
    assert_eq!(
        refused[0].subject.as_deref(),
        confirmed["session"]["id"].as_str()
    );
}

/// A short token is the owner's own choice; guessing it is slowed down wherever it is shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_short_token_is_not_guessed_at_speed_and_wrong_ones_are_on_the_record() {
    let setup = Setup {
        owner_token: "a-short-token".to_owned(),
        clock: Clock::manual(Clock::system().now()),
        ..Setup::default()
    };
    let app = setup.start().await;
    let guess = |n: u32| app.caller(Shows::Bearer(format!("guess-{n}")));
    for n in 0..10 {
        let answer = guess(n).get("/api/status").await;
        answer.error(401, "unauthenticated");
    }
    guess(10)
        .get("/api/status")
        .await
        .error(429, "rate_limited");
    let owner = app.owner();
    owner.get("/api/status").await.error(429, "rate_limited");
    app.pass(Duration::from_secs(60));
    owner.get("/api/status").await.ok();
    assert_eq!(app.audited("token.refused").await.len(), 1);
    app.pass(Duration::from_secs(10 * 60));
    guess(11).get("/api/status").await;
    let refused = app.audited("token.refused").await;
    let details: Vec<&str> = refused.iter().map(|entry| entry.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            r#"{"from":"127.0.0.1","tries":1}"#,
            r#"{"from":"127.0.0.1","tries":10}"#
        ]
    );
    // A long one is braked by nobody's guesses.
    let app = App::start().await;
    for n in 0..30 {
        let stranger = app.caller(Shows::Bearer(format!("guess-{n}")));
        let answer = stranger.get("/api/status").await;
        answer.error(401, "unauthenticated");
    }
    app.owner().get("/api/status").await.ok();
}

/// Some other token of the settings is short: whoever guesses it keeps out nobody with a long one.
#[tokio::test(flavor = "multi_thread")]
async fn guesses_at_a_short_token_do_not_lock_out_a_long_one() {
    let app = App::start().await;
    let short = Secret::new("12345678");
    let (name, rights) = (
        "little-blue".parse().unwrap(),
        [Capability::Read].into_iter().collect(),
    );
    agents::give_resident_token(&app.control, &name, &rights, &short)
        .await
        .unwrap();
    let shows = |token: &str| app.caller(Shows::Bearer(token.to_owned()));
    for n in 0..10 {
        let stranger = shows(&format!("guess-{n}"));
        let answer = stranger.get("/api/status").await;
        answer.error(401, "unauthenticated");
    }
    for braked in ["guess-10", "12345678", &"x".repeat(31)] {
        let answer = shows(braked).get("/api/status").await;
        answer.error(429, "rate_limited");
    }
    // Wrong ones that are long are refused as such, however many come.
    for n in 0..30 {
        let answer = shows(&format!("{n:032}")).get("/api/status").await;
        answer.error(401, "unauthenticated");
    }
    let owner = app.owner();
    let frozen = owner.post("/api/freeze", json!({"reason": "a hand"}));
    assert_eq!(frozen.await.ok()["frozen"], true);
}
