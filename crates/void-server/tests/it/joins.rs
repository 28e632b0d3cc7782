//! The same wish again and again, by a token from outside: it is counted on the row that waits, and neither the record nor
//! the row's history grows with it (I36).

use std::time::Duration;

use serde_json::{Value, json};
use void_domain::limits::JOINED_WORDS_MAX;

use crate::apps::{App, Engine, Setup};

const REQUESTS: u64 = 60;

async fn app_on(engine: Engine) -> App {
    let setup = Setup {
        engine,
        clock: void_control::Clock::manual(void_control::Clock::system().now()),
        ..Setup::default()
    };
    setup.start().await
}

async fn entries_about(app: &App, id: &Value) -> Vec<Value> {
    let id = id.as_str();
    let all = app.audit().await.into_iter();
    all.filter(|entry| entry.subject.as_deref() == id)
        .map(|entry| serde_json::from_str(&entry.detail).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_the_same_wish_is_counted_and_its_news_recorded() {
    for engine in Engine::both().await {
        let app = app_on(engine).await;
        let agent = app.agent("asking").await;
        let ask = async |reason: &str| {
            let body = json!({"reason": reason});
            let answer = agent.post("/api/actions/stop-a/run", body).await;
            answer.ok()["action_row_id"].clone()
        };
        let id = ask("first").await;
        let row = async || app.row(id.as_str().unwrap()).await;
        // Nothing new: one entry, and the row counts on.
        for _ in 0..REQUESTS {
            assert_eq!(ask("first").await, id);
        }
        assert_eq!(row().await["count"], REQUESTS + 1);
        assert_eq!(entries_about(&app, &id).await.len(), 2);
        // What is new is recorded as it comes, as far as anything of it is kept; and once, that not all is.
        for n in 0..REQUESTS / 2 {
            // As long as they are kept, words wait for each other.
            if n <= JOINED_WORDS_MAX as u64 {
                app.pass(Duration::from_secs(60));
            }
            ask(&format!("because of {n}")).await;
        }
        let seen = row().await;
        assert_eq!(seen["count"], REQUESTS + 1 + REQUESTS / 2);
        assert_eq!(seen["joined"].as_array().unwrap().len(), JOINED_WORDS_MAX);
        assert_eq!(seen["words_left_out"], 1);
        let bound = 2 + JOINED_WORDS_MAX + 1;
        assert_eq!(entries_about(&app, &id).await.len(), bound);
        // A minute later the record hears how often it was.
        app.pass(Duration::from_secs(60));
        ask("first").await;
        let entries = entries_about(&app, &id).await;
        assert_eq!(entries.len(), bound + 1);
        let counted = row().await["count"].clone();
        assert_eq!(entries.last().unwrap()["count"], counted);
        // A higher taint or risk, and a yes, find the row as the record has it.
        ask("first").await;
        let seen = row().await;
        let path = format!("/api/proposals/{}/decide", id.as_str().unwrap());
        let (digest, revision) = (&seen["digest"], &seen["revision"]);
        let body = json!({"decision": "approve", "digest": digest, "revision": revision});
        app.owner().post(&path, body).await.ok();
        assert_eq!(app.ended(id.as_str().unwrap()).await["status"], "executed");
        assert_eq!(app.lab.effect_count(), 1);
    }
}
