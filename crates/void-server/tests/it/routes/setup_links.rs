//! `/api/setup-links`

use std::time::Duration;

use serde_json::{Value, json};
use void_access::setup_links;
use void_control::Clock;

use crate::apps::{App, Engine, Setup};
use crate::callers::Caller;

const FRESH: Duration = Duration::from_secs(5 * 60);

async fn code(by: &Caller) -> String {
    let made = by.post_nothing("/api/setup-links").await.ok();
    let url = made["url"].as_str().unwrap();
    let (_, code) = url.split_once("/#/setup/").unwrap();
    by.secrets.add(code);
    code.to_owned()
}

fn setup(code: &str) -> Value {
    json!({ "setup": code })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_one_fresh_session_within_an_hour() {
    for engine in Engine::both().await {
        let app = Setup {
            engine,
            clock: Clock::manual(Clock::system().now()),
            ..Setup::default()
        };
        let app = app.start().await;
        let anonymous = app.anonymous();
        let link = code(&app.owner()).await;
        assert!(link.len() >= 43, "256 bits");
        app.pass(Duration::from_secs(60 * 60 - 1));
        let session = app.session_by(setup(&link)).await;
        let who = session.get("/api/session").await.ok();
        assert_eq!(who["session"]["method"], "setup");
        let critical = app.queue("stop-all").await;
        let decided = session.decide(&critical, "approve").await.ok();
        assert_eq!(decided["status"], "executed");
        // Used, late, and somebody else's.
        let late = code(&app.owner()).await;
        app.pass(Duration::from_secs(60 * 60));
        for code in [link.as_str(), late.as_str(), "x", "", &"x".repeat(600)] {
            let answer = anonymous.post("/api/session", setup(code)).await;
            answer.error(401, "unauthenticated");
        }
        assert_eq!(app.audited("setup_link.created").await.len(), 2);
        assert_eq!(app.audited("session.opened").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_follow_a_link_one_gets_in() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let link = code(&app.owner()).await;
        let mut tries = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let (anonymous, body) = (app.anonymous(), setup(&link));
            tries.spawn(async move { anonymous.post("/api/session", body).await.status });
        }
        let answers = tries.join_all().await;
        let opened = answers.iter().filter(|status| **status == 200).count();
        assert_eq!(opened, 1, "{answers:?}");
    }
}

/// A link opens a fresh session, so a stale one must not be able to make one.
#[tokio::test(flavor = "multi_thread")]
async fn a_stale_session_makes_no_link() {
    let app = App::with_clock().await;
    let session = app.session().await;
    code(&session).await;
    app.pass(FRESH + Duration::from_millis(1));
    session
        .post_nothing("/api/setup-links")
        .await
        .error(403, "fresh_login_needed");
}

/// Who followed a link may take an hour for it, until something is set up.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_from_a_link_may_set_the_first_credential_at_leisure() {
    let app = App::with_clock().await;
    let body = json!({"password": "correct horse battery"});
    let link = code(&app.owner()).await;
    let late = app.session_by(setup(&link)).await;
    app.pass(Duration::from_secs(60 * 60) + Duration::from_millis(1));
    late.put("/api/password", body.clone())
        .await
        .error(403, "fresh_login_needed");
    let link = code(&app.owner()).await;
    let session = app.session_by(setup(&link)).await;
    app.pass(Duration::from_secs(60 * 60));
    let critical = app.queue("stop-all").await;
    session
        .decide(&critical, "approve")
        .await
        .error(403, "fresh_login_needed");
    session
        .post_nothing("/api/setup-links")
        .await
        .error(403, "fresh_login_needed");
    // The leisure is for the first credential, and for nothing else that lasts.
    let token = json!({"kind": "agent", "name": "later", "capabilities": ["act"]});
    session
        .post("/api/tokens", token)
        .await
        .error(403, "fresh_login_needed");
    app.owner().post("/api/freeze", json!({})).await.ok();
    session
        .delete("/api/freeze")
        .await
        .error(403, "fresh_login_needed");
    session.put("/api/password", body.clone()).await.ok();
    session
        .put("/api/password", body)
        .await
        .error(403, "fresh_login_needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_leads_to_the_page_and_hides_its_code_from_logs() {
    for (public_url, base) in [
        (None, None),
        (Some("https://void.example"), Some("https://void.example")),
        (Some("http://nas.lan:3000/"), Some("http://nas.lan:3000")),
    ] {
        let app = Setup {
            public_url,
            ..Setup::default()
        };
        let app = app.start().await;
        let made = app.owner().post_nothing("/api/setup-links").await.ok();
        let url = made["url"].as_str().unwrap();
        let (found, _) = url.split_once("/#/setup/").unwrap();
        let local = format!("http://localhost:{}", app.address.port());
        assert_eq!(found, base.unwrap_or(&local));
        // The same link for a phone, unless only this machine opens it.
        let elsewhere = made["elsewhere"].as_array().unwrap();
        assert_eq!(elsewhere.len(), usize::from(base.is_some()), "{made}");
        assert!(elsewhere.iter().all(|other| *other == made["url"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_offers_a_link_until_something_is_set_up() {
    let app = App::start().await;
    for _ in 0..2 {
        let link = setup_links::for_first_start(&app.owner_access)
            .await
            .unwrap();
        let url = link.unwrap().url("http://localhost:3000/");
        let code = url.strip_prefix("http://localhost:3000/#/setup/").unwrap();
        app.session_by(setup(code)).await;
    }
    let session = app.session().await;
    let body = json!({"password": "correct horse battery"});
    session.put("/api/password", body).await.ok();
    let link = setup_links::for_first_start(&app.owner_access)
        .await
        .unwrap();
    assert!(link.is_none());
}

/// Every start prints one, into a log perhaps; whoever reads the log later gets in by none of them.
#[tokio::test(flavor = "multi_thread")]
async fn links_that_were_printed_before_end_with_the_next_one_and_with_the_first_credential() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let anonymous = app.anonymous();
        let printed = || async {
            let link = setup_links::for_first_start(&app.owner_access)
                .await
                .unwrap();
            let url = link.unwrap().url("http://localhost:3000");
            let code = url.rsplit('/').next().unwrap().to_owned();
            app.secrets.add(&code);
            code
        };
        let (first, second) = (printed().await, printed().await);
        let answer = anonymous.post("/api/session", setup(&first)).await;
        answer.error(401, "unauthenticated");
        let session = app.session_by(setup(&second)).await;
        let third = printed().await;
        let body = json!({"password": "correct horse battery"});
        session.put("/api/password", body.clone()).await.ok();
        let answer = anonymous.post("/api/session", setup(&third)).await;
        answer.error(401, "unauthenticated");
        // One that the owner asked for afterwards is no such thing.
        let wanted = code(&app.owner()).await;
        session.put("/api/password", body).await.ok();
        app.session_by(setup(&wanted)).await;
    }
}
