//! `/api/doctor`

use serde_json::json;

use crate::apps::App;
use crate::masks::is_time;

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_reads_what_the_doctor_says_and_nobody_else_does() {
    let app = App::start().await;
    let said = app.session().await.get("/api/doctor").await.ok();
    assert_eq!(said["ok"], true, "a warning is no problem");
    assert_eq!(
        said["findings"],
        json!([{"check": "disk", "level": "warning", "message": "it is nearly full", "next": "df -h"}])
    );
    assert!(is_time(said["at"].as_str().unwrap()));
    // What only the server's process knows can be had alone, and there are no other words for it.
    let owner = app.session().await;
    let said = owner.get("/api/doctor?scope=process").await.ok();
    assert_eq!(said["findings"][0]["check"], "captures");
    let said = owner.get("/api/doctor?scope=everything").await.ok();
    assert_eq!(said["findings"][0]["check"], "disk");
    owner
        .get("/api/doctor?scope=Process")
        .await
        .error(422, "invalid");
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    viewer.get("/api/doctor").await.error(403, "owner_only");
    app.agent("ann")
        .await
        .get("/api/doctor")
        .await
        .error(403, "owner_only");
}
