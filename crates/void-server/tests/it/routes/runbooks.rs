//! `/api/pages/{id}/runbook` and `/api/actions/{id}`: a page is said to be about something, and is shown where that is.

use reqwest::Method;
use serde_json::{Value, json};

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine, Setup};
use crate::stands::{Stand, services};

async fn page(app: &App, body: &str) -> (String, Value) {
    let space = new_space(&app.owner(), "Lab").await;
    let page = json!({"title": "How to stop", "body": body});
    let page = new(&app.owner(), &space, "pages", page).await;
    (space, page)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runbook_is_shown_with_its_line_where_it_is_about() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (_, page) = page(&app, "# First\n\nCall stop-a, then wait.\n").await;
        let path = format!("/api/pages/{}/runbook", id(&page));
        let owner = app.owner();
        let none = owner.get("/api/actions/stop-a").await.ok();
        assert_eq!(
            (&none["id"], &none["runbooks"]),
            (&json!("stop-a"), &json!([]))
        );
        let body =
            json!({"base_revision": 1, "actions": ["stop-a", "stop-a"], "services": ["web"]});
        let written = owner.post(&path, body.clone()).await.ok();
        let head = "---\nservices: [web]\nactions: [stop-a]\n---\n";
        assert!(
            written["body"].as_str().unwrap().starts_with(head),
            "{written}"
        );
        owner.post(&path, body).await.error(409, "changed");
        let runbook = json!({"page_id": page["id"], "title": "How to stop", "foreign": false, "line": 7,
            "says": "Call stop-a, then wait."});
        let shown = owner.get("/api/actions/stop-a").await.ok();
        assert_eq!(shown["runbooks"], json!([runbook]));
        let row = app.queue("stop-a").await;
        let card = owner
            .get(&format!("/api/proposals/{}/card", id(&row)))
            .await
            .ok();
        assert_eq!(card["runbooks"], json!([runbook]));
        let page_path = format!("/inbox/{}", id(&row));
        let link = app
            .session()
            .await
            .request(Method::GET, &page_path)
            .send()
            .await
            .unwrap();
        let link = link.text().await.unwrap();
        assert!(link.contains("<q>Call stop-a, then wait.</q>"), "{link}");
        assert!(link.contains("from your page"), "{link}");
        // Who may not read what the owner keeps is told of none; who may is.
        for (caps, count) in [(&["act"][..], 0), (&["read"][..], 1), (&["suggest"][..], 1)] {
            let name = format!("agent-{}", caps[0]);
            let agent = app.holder("agent", &name, caps).await.caller;
            let seen = agent.get("/api/actions/stop-a").await.ok();
            assert_eq!(seen["runbooks"].as_array().unwrap().len(), count, "{name}");
            agent
                .post(&path, json!({"base_revision": 2}))
                .await
                .error(403, "owner_only");
        }
        let gone = owner.post(&path, json!({"base_revision": 2})).await.ok();
        assert_eq!(gone["body"], page["body"], "it is as it was");
        let none = owner.get("/api/actions/stop-a").await.ok();
        assert_eq!(none["runbooks"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_shows_the_runbooks_that_name_it_to_who_may_read_them() {
    let setup = Setup {
        services: services(&[Stand::down().watched("web"), Stand::down().watched("nas")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let owner = app.owner();
    let (_, page) = page(
        &app,
        "---\nservices: [web]\n---\nUnplug the web, then wait.\n",
    )
    .await;
    let shown = owner.get("/api/services/web").await.ok();
    assert_eq!(shown["runbooks"][0]["page_id"], page["id"], "{shown}");
    assert_eq!(shown["runbooks"].as_array().unwrap().len(), 1);
    let other = owner.get("/api/services/nas").await.ok();
    assert_eq!(other["runbooks"], json!([]));
    for (caps, count) in [(&["act"][..], 0), (&["read"][..], 1)] {
        let name = format!("agent-{}", caps[0]);
        let agent = app.holder("agent", &name, caps).await.caller;
        let seen = agent.get("/api/services/web").await.ok();
        assert_eq!(seen["runbooks"].as_array().unwrap().len(), count, "{name}");
    }
    owner
        .delete(&format!("/api/pages/{}", id(&page)))
        .await
        .ok();
    let gone = owner.get("/api/services/web").await.ok();
    assert_eq!(gone["runbooks"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_page_and_no_name_makes_no_runbook() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    // A ref is no page, and so no runbook.
    let kept = json!({"title": "Theirs", "url": "https://example.org/a", "body": "stop-a now"});
    let kept = new(&owner, &space, "refs", kept).await;
    let path = format!("/api/pages/{}/runbook", id(&kept));
    let body = json!({"base_revision": 1, "actions": ["stop-a"]});
    owner
        .post(&path, body.clone())
        .await
        .error(404, "not_found");
    for (bad, field) in [
        (json!({"actions": ["stop-a"]}), "base_revision"),
        (
            json!({"base_revision": 1, "actions": ["../etc"]}),
            "actions",
        ),
        (json!({"base_revision": 1, "services": ["A b"]}), "services"),
    ] {
        let (_, page) = page(&app, "text").await;
        let path = format!("/api/pages/{}/runbook", id(&page));
        let error = owner.post(&path, bad).await.error(422, "invalid");
        assert!(error["fields"][field].is_string(), "{error}");
    }
    owner
        .get("/api/actions/no-such")
        .await
        .error(404, "unknown_action");
}
