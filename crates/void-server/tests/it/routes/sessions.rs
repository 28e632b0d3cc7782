//! `/api/sessions`

use std::time::{Duration, Instant};

use serde_json::{Value, json};

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
