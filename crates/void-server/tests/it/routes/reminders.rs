//! `/api/reminders`: what the owner has agents reminded of.

use serde_json::json;

use super::tree;
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_reminder_is_set_listed_and_cancelled_once() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        tree::open(&app).await;
        let owner = app.owner();
        let of = |agent: &str| json!({"agent": agent, "text": "look", "every_s": 300});
        let set = owner.post("/api/reminders", of("sentinel")).await.ok();
        let other = owner.post("/api/reminders", of("little-blue")).await.ok();
        let listed = owner.get("/api/reminders?agent=sentinel").await.ok();
        assert_eq!(listed["reminders"].as_array().unwrap().len(), 1);
        assert_eq!(listed["reminders"][0]["id"], set["id"]);
        for (body, status, code) in [
            (
                json!({"agent": "nobody", "text": "x", "every_s": 300}),
                404,
                "not_found",
            ),
            (
                json!({"agent": "sentinel", "text": "x", "every_s": 299}),
                422,
                "invalid",
            ),
            (json!({"agent": "sentinel", "text": "x"}), 422, "invalid"),
            (
                json!({"agent": "sentinel", "text": "x", "cron": "* * * * *"}),
                422,
                "invalid",
            ),
            (
                json!({"agent": "sentinel", "text": "x", "cron": "0 9 * * *", "zone": "Mars/One"}),
                422,
                "invalid",
            ),
        ] {
            owner.post("/api/reminders", body).await.error(status, code);
        }
        let path = format!("/api/reminders/{}", set["id"].as_str().unwrap());
        owner.delete(&path).await.ok();
        owner.delete(&path).await.error(409, "already_decided");
        let left = owner.get("/api/reminders").await.ok();
        assert_eq!(left["reminders"].as_array().unwrap().len(), 1);
        assert_eq!(left["reminders"][0]["id"], other["id"]);
    }
}
