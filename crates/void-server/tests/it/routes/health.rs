//! Health, metrics and the description of the API.

use serde_json::json;

use crate::apps::App;
use crate::callers::Caller;

#[tokio::test(flavor = "multi_thread")]
async fn health_is_for_everybody_and_says_the_version() {
    let app = App::start().await;
    for path in ["/healthz", "/readyz", "/health"] {
        let body = app.anonymous().get(path).await.ok();
        assert_eq!(
            body,
            json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}),
            "{path}"
        );
    }
}

/// One line of the metrics, by its name and labels.
pub async fn metric(caller: &Caller, line: &str) -> Option<f64> {
    let text = caller.get("/metrics").await.text;
    let found = text
        .lines()
        .find_map(|have| have.strip_prefix(&format!("{line} ")));
    found.map(|value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_happened_under_names_that_callers_cannot_choose() {
    let app = App::start().await;
    let owner = app.owner();
    owner.run("touch-a").await.ok();
    let row = app.queue("stop-a").await;
    owner.decide(&row, "approve").await.ok();
    app.queue("stop-b").await;
    owner.post("/api/freeze", json!({})).await.ok();
    let anonymous = app.anonymous();
    void_testkit::eventually("the events to be counted", || async {
        let line = "void_proposal_events_total{event=\"proposal.executed\",tier=\"risky\"}";
        (metric(&anonymous, line).await == Some(1.0)).then_some(())
    })
    .await;
    for (line, value) in [
        (
            "void_proposal_events_total{event=\"proposal.executed\",tier=\"safe\"}",
            1.0,
        ),
        (
            "void_proposal_events_total{event=\"proposal.created\",tier=\"risky\"}",
            2.0,
        ),
        ("void_decision_seconds_count", 1.0),
        ("void_open_proposals", 1.0),
        ("void_frozen", 1.0),
        ("void_event_listeners", 0.0),
    ] {
        assert_eq!(metric(&anonymous, line).await, Some(value), "{line}");
    }
    let version = format!(
        "void_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(metric(&anonymous, &version).await, Some(1.0));
    let lines = |text: &str| text.lines().count();
    let before = lines(&anonymous.get("/metrics").await.text);
    for n in 0..50 {
        owner
            .get(&format!("/made-up/{n}"))
            .await
            .error(404, "not_found");
        owner
            .get(&format!("/api/proposals/made-up-{n}"))
            .await
            .error(404, "not_found");
    }
    let after = lines(&anonymous.get("/metrics").await.text);
    assert!(after <= before + 2, "{before} lines became {after}");
}
