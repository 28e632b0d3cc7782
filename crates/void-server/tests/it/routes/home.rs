//! `/api/home`

use serde_json::json;

use crate::apps::App;

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_is_what_the_single_ones_say() {
    let app = App::start().await;
    let session = app.session().await;
    let home = session.get("/api/home").await.ok();
    assert_eq!(home["setup"]["decided_once"], false);
    assert_eq!(home["setup"]["actions_loaded"], true);
    let row = app.queue("stop-a").await;
    session.decide(&row, "reject").await.ok();
    app.queue("stop-b").await;
    let home = session.get("/api/home").await.ok();
    assert_eq!(home["who"], session.get("/api/session").await.ok());
    assert_eq!(home["inbox"], session.get("/api/inbox").await.ok());
    assert_eq!(home["cards"].as_array().unwrap().len(), 1);
    let waiting = home["inbox"]["items"][0]["id"].as_str().unwrap();
    let card = session
        .get(&format!("/api/proposals/{waiting}/card"))
        .await
        .ok();
    assert_eq!(home["cards"][0], card);
    assert!(home["event"].as_u64().unwrap() > 0);
    assert_eq!(home["freeze"], session.get("/api/freeze").await.ok());
    assert_eq!(home["status"]["waiting"], 1);
    let recent = session.get("/api/actions/recent?limit=12").await.ok();
    assert_eq!(home["recent"], recent["recent"]);
    assert_eq!(home["recent"][0]["status"], "rejected");
    assert_eq!(home["setup"]["decided_once"], true);
    // Only the newest are shown; that something was decided once stays so.
    for _ in 0..home["recent"].as_array().unwrap().len().max(12) {
        app.owner().run("touch-a").await.ok();
    }
    let home = session.get("/api/home").await.ok();
    let shown = home["recent"].as_array().unwrap();
    assert!(shown.iter().all(|row| row["status"] != "rejected"));
    assert_eq!(home["setup"]["decided_once"], true);
    session
        .post("/api/freeze", json!({"reason": "x"}))
        .await
        .ok();
    let home = session.get("/api/home").await.ok();
    assert_eq!(
        (&home["freeze"]["frozen"], &home["status"]["frozen"]),
        (&json!(true), &json!(true))
    );
    app.agent("ann")
        .await
        .get("/api/home")
        .await
        .error(403, "owner_only");
}
