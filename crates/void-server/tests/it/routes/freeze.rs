//! `/api/freeze`

use std::time::Duration;

use serde_json::{Value, json};

use crate::apps::{App, Engine, queue};
use crate::masks::{is_time, masked};

#[tokio::test(flavor = "multi_thread")]
async fn frozen_is_frozen_until_the_owner_thaws() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, agent) = (app.owner(), app.agent("blue").await);
        let viewer = app.holder("viewer", "v", &[]).await.caller;
        let thawed =
            json!({"frozen": false, "by": null, "at": null, "reason": null, "until": null});
        assert_eq!(viewer.get("/api/freeze").await.ok(), thawed);
        let waiting = app.queue("stop-a").await;

        // An agent may stop everything, and only that.
        agent
            .post("/api/freeze", json!({"for_s": 60}))
            .await
            .error(403, "owner_only");
        let frozen = agent
            .post("/api/freeze", json!({"reason": "smoke"}))
            .await
            .ok();
        let expected = json!({"frozen": true, "by": "agent-blue", "at": "<time>", "reason": "smoke", "until": null});
        assert_eq!(masked(&frozen), expected);
        assert_eq!(viewer.get("/api/freeze").await.ok(), frozen);
        agent.delete("/api/freeze").await.error(403, "owner_only");
        viewer
            .post("/api/freeze", json!({}))
            .await
            .error(403, "forbidden");

        // Risky still queues; what would run is refused, and both are on the record.
        let queued = queue(&agent, "stop-b").await;
        assert_eq!(queued["status"], "pending");
        let safe = agent.run("touch-a").await.error(409, "frozen");
        assert_eq!(
            (&safe["row"]["status"], &safe["row"]["error"]["code"]),
            (&json!("refused"), &json!("frozen"))
        );
        let held = owner.decide(&waiting, "approve").await.error(409, "frozen");
        assert_eq!(held["row"], waiting);
        assert_eq!(app.audited("proposal.refused").await.len(), 1);
        let refused = app.audited("decision.refused").await;
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].subject.as_deref(), waiting["id"].as_str());
        // Saying no is always possible.
        assert_eq!(
            owner.decide(&queued, "reject").await.ok()["status"],
            "rejected"
        );
        assert_eq!(app.lab.effect_count(), 0);

        assert_eq!(owner.delete("/api/freeze").await.ok(), thawed);
        assert_eq!(
            owner.delete("/api/freeze").await.ok(),
            thawed,
            "twice is the same"
        );
        assert_eq!(
            owner.decide(&waiting, "approve").await.ok()["status"],
            "executed"
        );
        assert_eq!(agent.run("touch-a").await.ok()["executed"], true);
        assert_eq!(app.audited("freeze.set").await.len(), 1);
        assert_eq!(app.audited("freeze.lifted").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_may_say_when_a_freeze_ends_and_no_agent_shortens_it() {
    let app = App::with_clock().await;
    let (owner, agent) = (app.owner(), app.agent("blue").await);
    for seconds in [
        json!(0),
        json!(2_592_001),
        json!(-1),
        json!(1.5),
        json!("60"),
    ] {
        let answer = owner.post("/api/freeze", json!({"for_s": seconds})).await;
        answer.error(422, "invalid");
    }
    let frozen = owner
        .post("/api/freeze", json!({"for_s": 2_592_000}))
        .await
        .ok();
    assert!(is_time(frozen["until"].as_str().unwrap()));
    let again = agent
        .post("/api/freeze", json!({"reason": "mine"}))
        .await
        .ok();
    assert_eq!(again, frozen, "an agent cannot replace what the owner set");
    let shorter = owner.post("/api/freeze", json!({"for_s": 60})).await.ok();
    assert_ne!(shorter["until"], frozen["until"]);
    app.pass(Duration::from_secs(61));
    assert_eq!(owner.get("/api/freeze").await.ok()["frozen"], false);
    // The brake itself follows with the next sweep.
    void_testkit::eventually("things to run again", || async {
        let answer = owner.run("touch-a").await.json();
        (answer["executed"] == Value::Bool(true)).then_some(())
    })
    .await;
}
