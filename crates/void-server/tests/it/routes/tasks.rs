//! `/api/spaces/{id}/tasks` and `/api/tasks`: ticking, and what is due first.

use serde_json::{Value, json};

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};

fn titles(list: &Value) -> Vec<&str> {
    let tasks = list["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["title"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_listed_by_its_day_until_it_is_ticked() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let tasks = format!("/api/spaces/{space}/tasks");
        for (title, due) in [
            ("later", Some("2026-12-24")),
            ("someday", None),
            ("soon", Some("2026-11-20")),
        ] {
            let task = new(&owner, &space, "tasks", json!({"title": title, "due": due})).await;
            assert_eq!(
                (&task["state"], &task["due"]),
                (&json!("open"), &json!(due))
            );
        }
        let done = json!({"title": "done", "state": "done", "due": "2026-01-01"});
        new(&owner, &space, "tasks", done).await;
        let due = owner.get(&format!("{tasks}?order=due")).await.ok();
        assert_eq!(titles(&due), ["soon", "later", "someday"]);
        // Page by page it is the same.
        let first = owner.get(&format!("{tasks}?order=due&limit=2")).await.ok();
        let next = first["next"].as_str().unwrap().replace(' ', "%20");
        let rest = owner
            .get(&format!("{tasks}?order=due&limit=2&cursor={next}"))
            .await
            .ok();
        assert_eq!(
            (titles(&rest), &rest["next"]),
            (vec!["someday"], &Value::Null)
        );
        let soon = format!("/api/tasks/{}", id(&due["tasks"][0]));
        let ticked = owner
            .put(&soon, json!({"base_revision": 1, "state": "done"}))
            .await
            .ok();
        assert_eq!(
            (&ticked["state"], &ticked["due"]),
            (&json!("done"), &json!("2026-11-20"))
        );
        assert_eq!(
            titles(&owner.get(&format!("{tasks}?order=due")).await.ok()),
            ["later", "someday"]
        );
        assert_eq!(
            titles(&owner.get(&format!("{tasks}?state=done")).await.ok()),
            ["soon", "done"]
        );
        assert_eq!(titles(&owner.get(&tasks).await.ok()).len(), 4);
        let undated = owner
            .put(
                &soon,
                json!({"base_revision": 2, "due": null, "state": "open"}),
            )
            .await
            .ok();
        assert_eq!(
            (&undated["state"], &undated["due"]),
            (&json!("open"), &Value::Null)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_is_a_day_and_a_state_one_of_three() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let tasks = format!("/api/spaces/{space}/tasks");
    for wrong in [
        "order=soon",
        "state=finished",
        "order=due&state=open",
        "order=due&deleted=true",
    ] {
        owner
            .get(&format!("{tasks}?{wrong}"))
            .await
            .error(422, "invalid");
    }
    for (member, value) in [
        ("due", "tomorrow"),
        ("due", "2026-2-1"),
        ("due", "2026-02-30"),
        ("state", "finished"),
        ("state", ""),
    ] {
        let mut body = json!({"title": "x"});
        body[member] = json!(value);
        let error = owner.post(&tasks, body).await.error(422, "invalid");
        assert!(error["fields"][member].is_string(), "{error}");
    }
}
