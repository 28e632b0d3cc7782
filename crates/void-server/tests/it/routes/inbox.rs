//! `/api/inbox`

use serde_json::{Value, json};

use super::actions::{ROW, assert_row};
use crate::apps::App;
use crate::masks::members;

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_listed_oldest_first_with_its_whole_row() {
    let app = App::start().await;
    let owner = app.owner();
    let empty = json!({"items": [], "next": null, "counts": {"proposal": 0, "draft": 0, "failure": 0, "join": 0, "untold": 0}});
    assert_eq!(owner.get("/api/inbox").await.ok(), empty);
    let rows = [
        app.queue("stop-a").await,
        app.queue("stop-b").await,
        app.queue("stop-all").await,
    ];
    let inbox = owner.get("/api/inbox").await.ok();
    assert_eq!(members(&inbox), ["counts", "items", "next"]);
    assert_eq!(
        (&inbox["counts"], &inbox["next"]),
        (
            &json!({"proposal": 3, "draft": 0, "failure": 0, "join": 0, "untold": 0}),
            &Value::Null
        )
    );
    let items = inbox["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    for (item, row) in items.iter().zip(&rows) {
        let mut flat = item.clone();
        assert_eq!(
            flat.as_object_mut().unwrap().remove("kind"),
            Some(json!("proposal"))
        );
        assert_eq!(members(&flat), ROW);
        assert_row(&flat);
        assert_eq!(flat, *row);
    }
    let first = owner.get("/api/inbox?limit=2").await.ok();
    assert_eq!(first["next"], rows[1]["id"]);
    assert_eq!(
        first["counts"], inbox["counts"],
        "counts are of all, not of the page"
    );
    let path = format!(
        "/api/inbox?limit=2&cursor={}",
        first["next"].as_str().unwrap()
    );
    let second = owner.get(&path).await.ok();
    assert_eq!(
        (&second["items"][0]["id"], &second["next"]),
        (&rows[2]["id"], &Value::Null)
    );
    assert_eq!(second["items"].as_array().unwrap().len(), 1);
    for row in &rows {
        owner.decide(row, "reject").await.ok();
    }
    assert_eq!(owner.get("/api/inbox").await.ok(), empty);
}
