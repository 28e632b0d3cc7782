//! `/api/sessions`

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use void_domain::time::Timestamp;

use crate::apps::{App, Engine};
use crate::callers::Shows;
use crate::masks::{is_time, members};
use crate::sse::Listener;

const FIREFOX: &str = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_sees_every_browser_and_cuts_one_off() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let phone = app.caller(Shows::Headers(vec![("user-agent", FIREFOX.to_owned())]));
        let body = json!({"token": app.owner_token()});
        let opened = phone.post("/api/session", body).await;
        let cookie = opened.headers["set-cookie"].to_str().unwrap();
        let phone = app.caller(Shows::Cookie(cookie.split(';').next().unwrap().to_owned()));
        let desk = app.session().await;
        let listed = desk.get("/api/sessions").await.ok();
        let listed = listed["sessions"].as_array().unwrap().clone();
        assert_eq!(listed.len(), 2);
        for session in &listed {
            let names = [
                "current",
                "device",
                "expires_at",
                "id",
                "last_seen_at",
                "method",
                "opened_at",
            ];
            assert_eq!(members(session), names);
            assert!(is_time(session["last_seen_at"].as_str().unwrap()));
        }
        let shown = |session: &Value| {
            let device = session["device"].as_str().unwrap().to_owned();
            (device, session["current"] == true)
        };
        assert_eq!(shown(&listed[0]), ("an unknown device".to_owned(), true));
        assert_eq!(shown(&listed[1]), ("Firefox on Android".to_owned(), false));
        let by_token = owner.get("/api/sessions").await.ok();
        let current = by_token["sessions"].as_array().unwrap().iter();
        assert_eq!(
            current.filter(|session| session["current"] == true).count(),
            0
        );

        let mut stream = Listener::open(&phone).await;
        let path = format!("/api/sessions/{}", listed[1]["id"].as_str().unwrap());
        let start = Instant::now();
        assert_eq!(desk.delete(&path).await.ok(), json!({"revoked": true}));
        assert_eq!(stream.next().await, None);
        assert!(start.elapsed() < Duration::from_secs(1));
        phone
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        desk.delete(&path).await.error(404, "not_found");
        let left = owner.get("/api/sessions").await.ok();
        assert_eq!(left["sessions"].as_array().unwrap().len(), 1);
        let id = left["sessions"][0]["id"].as_str().unwrap();
        owner.delete(&format!("/api/sessions/{id}")).await.ok();
        desk.get("/api/session").await.error(401, "unauthenticated");
        assert_eq!(app.audited("session.revoked").await.len(), 2);
    }
}

/// Whoever looks at the list reads how things are, not how they were within the hour.
#[tokio::test(flavor = "multi_thread")]
async fn when_a_browser_was_last_seen_is_true_to_the_second() {
    let app = App::with_clock().await;
    let (desk, phone) = (app.session().await, app.session().await);
    let seen = async || {
        let now = app.control.clock().now();
        let listed = desk.get("/api/sessions").await.ok();
        let age = |session: &Value| {
            let at = session["last_seen_at"].as_str().unwrap();
            let at = Timestamp::parse_rfc3339(at).unwrap();
            (session["current"] == true, now.since(at).as_secs())
        };
        let mut ages: Vec<(bool, u64)> = listed["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(age)
            .collect();
        ages.sort_unstable();
        ages
    };
    app.pass(Duration::from_secs(40 * 60));
    phone.get("/api/session").await.ok();
    app.pass(Duration::from_secs(7));
    assert_eq!(seen().await, [(false, 7), (true, 0)]);
    app.pass(Duration::from_secs(60));
    assert_eq!(seen().await, [(false, 67), (true, 0)]);
}

/// Use keeps a session open, up to ninety days after it began.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_however_much_it_is_used() {
    let app = App::with_clock().await;
    let session = app.session().await;
    let day = Duration::from_secs(24 * 60 * 60);
    for _ in 0..89 {
        app.pass(day);
        session.get("/api/session").await.ok();
    }
    app.pass(day - Duration::from_millis(1));
    session.get("/api/session").await.ok();
    app.pass(Duration::from_millis(1));
    session
        .get("/api/session")
        .await
        .error(401, "unauthenticated");
}

/// Whoever knew the old password may sit in a session that it opened.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_all_other_sessions() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (mine, other) = (app.session().await, app.session().await);
        let mut stream = Listener::open(&other).await;
        let password = json!({"password": "a long walk on the beach"});
        mine.put("/api/password", password).await.ok();
        assert_eq!(stream.next().await, None);
        other
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        mine.get("/api/session").await.ok();
        let third = app.session().await;
        mine.delete("/api/password").await.ok();
        third
            .get("/api/session")
            .await
            .error(401, "unauthenticated");
        mine.get("/api/session").await.ok();
        assert_eq!(app.audited("session.others_ended").await.len(), 2);
    }
}
