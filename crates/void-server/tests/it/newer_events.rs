//! A newer version writes events into the same database: whoever listens here hears what this version knows, in order
//! and once, and what it does not know is passed over.

use serde_json::json;
use void_domain::events::Audience;
use void_domain::facts::NewFact;
use void_store::{StoreError, facts};

use crate::apps::{App, Engine};
use crate::forgeries::run;
use crate::sse::Listener;

/// As a newer instance commits it: the verb or the audience is none of ours.
async fn newer(app: &App, engine: &Engine, verb: &'static str, audience: Option<&str>) {
    let at = app.control.clock().now();
    let written: Result<u64, StoreError> = app
        .store
        .write(move |tx| {
            Box::pin(async move {
                let fact = NewFact {
                    request_id: None,
                    actor: "system".to_owned(),
                    verb,
                    subject: None,
                    detail: json!({"id": "x"}),
                    catalogue: None,
                    audience: Some(Audience::Everyone),
                };
                Ok(facts::append(tx, at, fact).await?.seq)
            })
        })
        .await;
    let seq = written.unwrap();
    if let Some(audience) = audience {
        let sql = format!("UPDATE facts SET audience = '{audience}' WHERE seq = {seq};");
        run(app, engine, &sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_of_a_newer_version_are_passed_over() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        // Not every number has an event that this version can read.
        app.looks_back = false;
        let owner = app.owner();
        let mut live = Listener::open(&owner).await;
        app.queue("stop-a").await;
        let first = live.wait_for("proposal.created").await.seq;
        for (verb, audience) in [
            ("incident.opened", None),
            ("proposal.postponed", None),
            ("freeze.set", Some("the-neighbours")),
            ("", Some("")),
            // Of ours, and not what ours say.
            ("freeze.set", None),
        ] {
            newer(&app, &engine, verb, audience).await;
        }
        // What comes after them reaches whoever listens already, and whoever reads from the table.
        owner.post("/api/freeze", json!({})).await.ok();
        let heard = live.next().await.unwrap();
        assert_eq!(heard.event, "freeze.changed");
        let mut late = Listener::after(&owner, 0).await;
        let all = late.until(heard.seq).await;
        let names: Vec<&str> = all.iter().map(|heard| heard.event.as_str()).collect();
        assert_eq!(names, ["proposal.created", "freeze.changed"]);
        assert_eq!(all[0].seq, first);
        assert_eq!(app.owner().get("/readyz").await.status, 200);
    }
}
