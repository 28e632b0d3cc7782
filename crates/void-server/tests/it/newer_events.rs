//! A newer version writes events into the same database: whoever listens here hears what this version knows, in order
//! and once, and what it does not know is passed over.

use serde_json::json;

use crate::apps::{App, Engine};
use crate::forgeries::run;
use crate::sse::Listener;

/// As a newer instance commits it: the next number is taken, and the kind or the audience is none of ours.
fn newer(kind: &str, audience: &str) -> String {
    format!(
        "UPDATE heads SET event_seq = event_seq + 1 WHERE id = 1;
         INSERT INTO events (seq, at, kind, audience, payload)
         SELECT event_seq, 0, '{kind}', '{audience}', '{{\"id\": \"x\"}}' FROM heads WHERE id = 1;"
    )
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
        for (kind, audience) in [
            ("incident.opened", "everyone"),
            ("proposal.postponed", "everyone"),
            ("freeze.changed", "the-neighbours"),
            ("", ""),
        ] {
            run(&app, &engine, &newer(kind, audience));
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
