//! `/api/node/*`; the work itself is tested with real nodes, beside the binary.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::apps::App;

fn poll(generation: u64, wait_s: u64) -> Value {
    json!({"session": {"generation": generation, "nonce": "a"}, "version": "0.1.0", "wait_s": wait_s})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_waits_is_cut_off_with_its_token_and_bound() {
    let app = App::start().await;
    let node = app.holder("node", "n1", &[]).await;
    let quiet = node.caller.post("/api/node/poll", poll(1, 0)).await.ok();
    assert_eq!(quiet["errands"], json!([]));
    let listed = app.owner().get("/api/nodes").await.ok()["nodes"][0].clone();
    assert_eq!(
        (&listed["name"], &listed["state"]),
        (&json!("n1"), &json!("joined"))
    );
    for bad in [
        json!({}),
        json!({"session": {"generation": 1, "nonce": "x".repeat(65)}}),
        json!({"session": {"generation": u64::MAX, "nonce": "a"}}),
        json!({"session": {"generation": 1, "nonce": "a"}, "holding": vec!["x"; 257]}),
    ] {
        node.caller
            .post("/api/node/poll", bad)
            .await
            .error(422, "invalid");
    }
    node.caller
        .post("/api/node/poll", poll(0, 0))
        .await
        .error(409, "superseded");
    let (waiting, began) = (node.caller.clone(), Instant::now());
    let open = tokio::spawn(async move { waiting.post("/api/node/poll", poll(1, 30)).await });
    void_testkit::eventually("the poll to be open", || async {
        let nodes = app.owner().get("/api/nodes").await.ok();
        (nodes["nodes"][0]["here"] == true).then_some(())
    })
    .await;
    app.owner().delete("/api/nodes/n1").await.ok();
    open.await.unwrap().error(401, "unauthenticated");
    assert!(
        began.elapsed() < Duration::from_secs(25),
        "it was cut off, it did not run out"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_about_nothing_is_acknowledged_and_changes_nothing() {
    let app = App::start().await;
    let node = app.holder("node", "n1", &[]).await;
    let waiting = app.queue("stop-a").await;
    let before = app.audit_head().await;
    for errand in [
        format!("run:{}", waiting["id"].as_str().unwrap()),
        "x".to_owned(),
    ] {
        let answer = json!({"v": 1, "id": "stop-a", "ticket": waiting["id"], "outcome": "done", "exit": 0, "replayed": false, "list": null});
        let report =
            json!({"errand": errand, "lines": ["done, I swear"], "ended": true, "answer": answer});
        let told = node.caller.post("/api/node/report", report).await.ok();
        assert_eq!(told, json!({"acknowledged": true}));
    }
    node.caller
        .post(
            "/api/node/report",
            json!({"errand": "x", "lines": vec![""; 201]}),
        )
        .await
        .error(422, "invalid");
    assert_eq!(app.row(waiting["id"].as_str().unwrap()).await, waiting);
    assert_eq!(app.audit_head().await, before);
}
