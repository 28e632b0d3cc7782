//! What a browser gets: the page, its files, and one proposal alone.

use reqwest::Method;
use serde_json::{Value, json};
use void_control::Clock;
use void_domain::notifications::Zone;
use void_domain::time::Timestamp;
use void_notify::notifiers::NotificationsConfig;

use crate::apps::{App, Setup};
use crate::callers::{Caller, Shows};
use crate::phones::nothing;

const FORM: &str = "application/x-www-form-urlencoded";

/// A plain answer; pages are not part of the document that the other callers check against.
struct Seen {
    status: u16,
    headers: reqwest::header::HeaderMap,
    text: String,
}

async fn get(caller: &Caller, path: &str, more: &[(&str, &str)]) -> Seen {
    seen(caller.request(Method::GET, path), more).await
}

async fn seen(mut request: reqwest::RequestBuilder, more: &[(&str, &str)]) -> Seen {
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    Seen {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.unwrap(),
    }
}

fn form(row: &Value, decision: &str) -> String {
    format!(
        "decision={decision}&digest={}",
        row["digest"].as_str().unwrap()
    )
}

async fn send_form(caller: &Caller, row: &Value, body: String, more: &[(&str, &str)]) -> Seen {
    let path = format!("/inbox/{}", row["id"].as_str().unwrap());
    let request = caller
        .request(Method::POST, &path)
        .header("content-type", FORM);
    seen(request.body(body), more).await
}

fn origin(app: &App) -> String {
    format!("http://{}", app.anonymous().address)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_guarded_and_every_file_it_names_is_there() {
    let app = App::start().await;
    let nobody = app.anonymous();
    let page = get(&nobody, "/", &[]).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(page.headers["cache-control"], "no-store");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "img-src 'self';",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(policy.contains(part), "{part} in {policy}");
    }
    assert!(
        !policy.contains("unsafe") && !policy.contains("http"),
        "{policy}"
    );
    let mut named = 0;
    for (address, kind) in addresses(&page.text) {
        let file = get(&nobody, &address, &[]).await;
        assert_eq!(file.status, 200, "{address}");
        let seen = file.headers["content-type"].to_str().unwrap();
        assert!(seen.starts_with(kind), "{address}: {seen}");
        assert_eq!(file.headers["x-content-type-options"], "nosniff");
        named += 1;
    }
    assert!(named >= 5, "{named}");
    let app_js = page.text.split('"').find(|part| part.ends_with("/app.js"));
    let folder = app_js.unwrap().trim_end_matches("/app.js");
    for page in ["chat", "lab", "audit", "settings", "login"] {
        let file = get(&nobody, &format!("{folder}/pages/{page}.js"), &[]).await;
        assert_eq!(file.status, 200, "{page}");
        assert!(file.text.contains("from \"../app.js\""), "{page}");
    }
    // A page of another version gets no part of this one, only its icon.
    assert_eq!(get(&nobody, "/ui/x/icon.svg", &[]).await.status, 200);
    for nothing in [
        "/ui/x/app.js",
        "/ui/x/pages/chat.js",
        "/ui/x/none.js",
        &format!("{folder}/../../Cargo.toml"),
        "/ui/x/%2e%2e/%2e%2e/Cargo.toml",
        "/ui/x/..%2f..%2fCargo.toml",
        "/ui/x//etc/passwd",
        "/ui/x/",
        "/ui",
        "/index.html",
    ] {
        assert_eq!(get(&nobody, nothing, &[]).await.status, 404, "{nothing}");
    }
}

/// What a page loads, and what it should be.
fn addresses(html: &str) -> Vec<(String, &'static str)> {
    let mut found = vec![
        ("/sw.js".to_owned(), "text/javascript"),
        (
            "/manifest.webmanifest".to_owned(),
            "application/manifest+json",
        ),
    ];
    for part in html.split(['"']).filter(|part| part.starts_with("/ui/")) {
        let kind = match part.rsplit('.').next().unwrap() {
            "js" => "text/javascript",
            "css" => "text/css",
            _ => "image/svg+xml",
        };
        found.push((part.to_owned(), kind));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_shows_the_card_and_by_being_opened_decides_nothing() {
    let app = App::start().await;
    let agent = app.agent("ann").await;
    let words = "<script>alert(1)</script>\u{202e}\" onload='x' & more";
    let asked = json!({"reason": words});
    let queued = agent.post("/api/actions/stop-a/run", asked).await.ok();
    let row = app.row(queued["action_row_id"].as_str().unwrap()).await;
    let code = row["code"].as_str().unwrap();
    let session = app.session().await;
    let head = app.audit_head().await;
    for address in [
        format!("/inbox/{code}"),
        format!("/inbox/{}", row["id"].as_str().unwrap()),
        format!(
            "/inbox/{code}?decision=approve&digest={}",
            row["digest"].as_str().unwrap()
        ),
    ] {
        let card = get(&session, &address, &[]).await;
        assert_eq!(card.status, 200, "{}", card.text);
        assert!(card.text.contains("Waiting for yes"), "{}", card.text);
        assert!(
            card.text.contains("&lt;script&gt;alert(1)") && !card.text.contains("<script>alert")
        );
        assert!(!card.text.contains('\u{202e}') && !card.text.contains("onload='x'"));
        assert!(card.text.contains("method=\"post\""));
        let policy = card.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"));
        assert_eq!(card.headers["referrer-policy"], "same-origin");
    }
    let stranger = get(&app.anonymous(), &format!("/inbox/{code}"), &[]).await;
    assert_eq!(stranger.status, 401);
    assert!(!stranger.text.contains("Stop") && !stranger.text.contains("alert"));
    // An agent sees its own request, as it does by the API, and no way to decide about it.
    let own = get(&agent, &format!("/inbox/{code}"), &[]).await;
    assert!(
        own.status == 200 && !own.text.contains("<form"),
        "{}",
        own.text
    );
    let other = app.agent("bob").await;
    assert_eq!(
        get(&other, &format!("/inbox/{code}"), &[]).await.status,
        404
    );
    assert_eq!(get(&session, "/inbox/ZZZZZZ", &[]).await.status, 404);
    assert_eq!(app.row(code).await["status"], "pending");
    assert_eq!(
        app.audit_head().await.0,
        head.0 + 2,
        "the second agent and its token alone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_form_of_our_own_page_decides_once() {
    let app = App::start().await;
    let session = app.session().await;
    let ours = origin(&app);
    let ours: &[(&str, &str)] = &[("origin", &ours)];
    let row = app.queue("stop-a").await;
    let done = send_form(&session, &row, form(&row, "approve"), ours).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let back = format!("/inbox/{}", row["id"].as_str().unwrap());
    assert_eq!(done.headers["location"], back.as_str());
    let ended = app.ended(row["id"].as_str().unwrap()).await;
    assert_eq!(ended["status"], "executed");
    assert_eq!(ended["resolved_by"], "owner-web");
    let page = get(&session, &back, &[]).await;
    assert!(!page.text.contains("<form"), "{}", page.text);
    let again = send_form(&session, &row, form(&row, "reject"), ours).await;
    assert_eq!(again.status, 409);
    assert!(
        again.text.contains("It was decided before: ") && !again.text.contains("owner-web"),
        "{}",
        again.text
    );

    let row = app.queue("stop-b").await;
    app.owner().post("/api/freeze", json!({})).await.ok();
    let frozen = send_form(&session, &row, form(&row, "approve"), ours).await;
    let typed = "; void --data /data thaw";
    assert!(frozen.text.contains(typed), "{}", frozen.text);
    app.owner().delete("/api/freeze").await.ok();
    let other = json!({"digest": "0".repeat(64)});
    let wrong = send_form(&session, &row, form(&other, "approve"), ours).await;
    assert_eq!(wrong.status, 409);
    for body in [
        String::new(),
        "decision=approve".to_owned(),
        form(&row, "perhaps"),
        form(&row, "approve") + "&more=1",
        form(&row, "approve") + "&decision=reject",
        "x".repeat(5000),
    ] {
        let refused = send_form(&session, &row, body.clone(), ours).await;
        assert!(
            [413, 422].contains(&refused.status),
            "{body}: {}",
            refused.status
        );
    }
    assert_eq!(
        app.row(row["id"].as_str().unwrap()).await["status"],
        "pending"
    );
    let body = form(&row, "reject") + "&reason=wrong+one";
    assert_eq!(send_form(&session, &row, body, ours).await.status, 303);
    let rejected = app.row(row["id"].as_str().unwrap()).await;
    assert_eq!(rejected["error"]["message"], "wrong one");
    // What is over speaks in the past, and calls the owner you.
    let address = format!("/inbox/{}", row["id"].as_str().unwrap());
    let page = get(&session, &address, &[]).await.text;
    assert!(page.contains("You said no: wrong one"), "{page}");
    assert!(
        page.contains("It would have restarted r2 on local."),
        "{page}"
    );
    assert!(!page.contains("owner-web") && !page.contains(">If yes<"));
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    let page = get(&viewer, &address, &[]).await.text;
    assert!(page.contains("Rejected by the owner"), "{page}");
}

/// Without a script the times are by the server's own clock, and say which; whoever is signed out is told to
/// sign in.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_tells_times_by_the_servers_zone_and_strangers_to_sign_in() {
    let setup = Setup {
        clock: Clock::manual(Timestamp::parse_rfc3339("2026-11-16T23:30:00Z").unwrap()),
        notifications: Some(NotificationsConfig {
            zone: Zone::get("Europe/Berlin").unwrap(),
            ..nothing()
        }),
        ..Setup::default()
    };
    let app = setup.start().await;
    let row = app.queue("stop-a").await;
    let address = format!("/inbox/{}", row["code"].as_str().unwrap());
    let page = get(&app.session().await, &address, &[]).await.text;
    assert!(page.contains(">17 Nov 2026, 00:30 CET</time>"), "{page}");
    assert!(page.contains("datetime=\"2026-11-16T23:30:00.000Z\""));
    // A real lab is not called a rehearsal.
    assert!(!page.contains("REHEARSAL"));
    let stranger = get(&app.anonymous(), &address, &[]).await.text;
    assert!(stranger.contains("<h1>Sign in</h1>"), "{stranger}");
    assert!(stranger.contains(&format!(
        "class=\"button primary\" href=\"/#{address}\">Sign in<"
    )));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_cannot_show_where_it_comes_from_decides_nothing() {
    let app = App::start().await;
    let session = app.session().await;
    let row = app.queue("stop-a").await;
    let ours = origin(&app);
    for more in [
        &[][..],
        &[("origin", "null")],
        &[("origin", "http://evil.example")],
        &[("origin", ours.as_str()), ("sec-fetch-site", "cross-site")],
        &[("origin", ours.as_str()), ("host", "evil.example")],
    ] {
        // The cookie alone, as a browser would send it along.
        let Shows::Cookie(pair) = &session.shows else {
            panic!("a session shows a cookie");
        };
        let caller = app.caller(Shows::Headers(vec![("cookie", pair.clone())]));
        let refused = send_form(&caller, &row, form(&row, "approve"), more).await;
        assert!(
            [403, 421].contains(&refused.status),
            "{more:?}: {}",
            refused.text
        );
    }
    // Whoever is not the owner in a browser, whatever else they hold.
    let ours: &[(&str, &str)] = &[("origin", &ours)];
    let agent = app.agent("ann").await;
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    for (caller, status) in [
        (app.anonymous(), 401),
        (app.owner(), 403),
        (agent, 403),
        (viewer, 403),
    ] {
        let refused = send_form(&caller, &row, form(&row, "approve"), ours).await;
        assert_eq!(refused.status, status, "{}", refused.text);
    }
    // They are on the record, as with every other way to an approval (I3).
    let refused = app.audited("access.refused").await;
    assert_eq!(refused.len(), 3);
    assert!(
        refused
            .iter()
            .all(|one| one.detail.contains("decideByForm"))
    );
    // Forms go nowhere else.
    let path = format!("/api/proposals/{}/decide", row["id"].as_str().unwrap());
    let body = (form(&row, "approve").into_bytes(), FORM);
    let elsewhere = session.send_bytes(Method::POST, &path, Some(body)).await;
    elsewhere.error(415, "unsupported_media_type");
    assert_eq!(
        app.row(row["id"].as_str().unwrap()).await["status"],
        "pending"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn other_sites_may_lead_people_to_a_page_and_to_nothing_else() {
    let setup = Setup {
        public_url: Some("https://void.example"),
        ..Setup::default()
    };
    let app = setup.start().await;
    let nobody = app.anonymous();
    let visit = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    assert_eq!(get(&nobody, "/", &visit).await.status, 200);
    assert_eq!(get(&nobody, "/inbox/AAAA", &visit).await.status, 401);
    for path in [
        "/api/session",
        "/api/events",
        "/health",
        "/ui/x/app.js",
        "/mcp",
        "/inbox/A/B",
    ] {
        assert_eq!(get(&nobody, path, &visit).await.status, 403, "{path}");
    }
    for (mode, dest) in [
        ("navigate", "iframe"),
        ("navigate", "object"),
        ("no-cors", "image"),
        ("cors", "empty"),
        ("no-cors", "document"),
    ] {
        let headers = [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ];
        for path in ["/", "/inbox/AAAA"] {
            assert_eq!(
                get(&nobody, path, &headers).await.status,
                403,
                "{path} {mode} {dest}"
            );
        }
    }
}
