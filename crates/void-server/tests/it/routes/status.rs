//! `/api/status`

use serde_json::json;
use void_testkit::eventually;

use crate::apps::App;
use crate::masks::{is_time, masked};

#[tokio::test(flavor = "multi_thread")]
async fn one_look_shows_how_it_stands() {
    let app = App::start().await;
    let (owner, agent) = (app.owner(), app.agent("blue").await);
    app.queue("stop-a").await;
    owner
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    eventually("it to be under way", || async {
        (app.lab.effect_count() == 1).then_some(())
    })
    .await;
    agent.post("/api/freeze", json!({})).await.ok();
    let status = agent.get("/api/status").await.ok();
    let (seq, hash) = app.audit_head().await;
    assert_eq!(
        (status["audit_seq"].as_u64(), status["audit_head"].as_str()),
        (Some(seq), Some(hash.as_str()))
    );
    assert!(is_time(status["at"].as_str().unwrap()));
    assert_eq!(
        masked(&status),
        json!({
            "version": env!("CARGO_PKG_VERSION"), "rehearsal": false, "waiting": 1, "joins": 0, "running": 1, "unknown": 0, "untold": 0, "frozen": true,
            "frozen_by": "agent-blue", "frozen_reason": null, "frozen_until": null,
            "services_up": 0, "services_down": 0, "services_stopped": 0, "services_unknown": 0, "services_untold": 0,
            "channels": 0, "mutes": 0, "displaced": false, "nodes": 0, "nodes_here": 0, "quarantined": 0,
            "actions": app.lab.catalogue().actions().len(), "catalogue_digest": "<hash>",
            "catalogue_commit": "0123456789abcdef0123456789abcdef01234567",
            "instance": status["instance"], "instances": [status["instance"]],
            "audit_seq": seq, "audit_head": "<hash>", "storage": status["storage"], "at": "<time>", "clock_ahead_s": null,
        })
    );
}
