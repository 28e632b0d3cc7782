//! Somebody edits one word of a row, or a number by which Void goes on, under a running server: the walk over the rows names
//! it (I41).

use serde_json::{Value, json};
use void_testkit::eventually;

use crate::apps::Engine;
use crate::edited_rows::{app_on, mismatches};
use crate::forgeries::run;

/// Which row, and what is put into it.
const EDITS: [(&str, &str); 36] = [
    ("waits", "reason = 'harmless'"),
    ("waits", "reason = NULL"),
    ("waits", "diff = 'another'"),
    ("waits", "label = 'Restart a lamp'"),
    ("waits", "requester_name = 'owner'"),
    ("waits", "requester_kind = 'owner'"),
    ("waits", "risk = 'critical'"),
    ("waits", "expires_at = expires_at + 99999999"),
    ("waits", "asked_count = 7"),
    ("waits", "taint = '[\"x\"]'"),
    ("waits", "params = '{\"n\":99}'"),
    ("waits", "target = 'host:elsewhere'"),
    ("waits", "code = 'ZZZZ'"),
    ("joined", "asked_count = 1"),
    ("joined", "joined = NULL"),
    ("joined", "revision = 0"),
    ("joined", "taint = '[\"x\"]'"),
    ("ran", "reason = 'harmless'"),
    ("ran", "label = 'Restart a lamp'"),
    ("ran", "requester_name = 'owner'"),
    ("ran", "risk = 'critical'"),
    ("ran", "params = '{\"n\":99}'"),
    ("ran", "approved_by = 'owner-web'"),
    ("approved", "reason = 'harmless'"),
    ("approved", "diff = NULL"),
    ("approved", "label = 'Restart a lamp'"),
    ("approved", "requester_kind = 'owner'"),
    ("approved", "risk = 'critical'"),
    ("approved", "params = '{\"n\":99}'"),
    ("approved", "approved_by = 'policy'"),
    ("rejected", "reason = 'harmless'"),
    ("rejected", "label = 'Restart a lamp'"),
    ("rejected", "requester_name = 'owner'"),
    ("rejected", "decision_reason = 'yes of course'"),
    ("refused", "reason = 'harmless'"),
    ("refused", "failure_message = 'nothing'"),
];

/// What a card, a list or a message shows is compared with the record in every state, not only before a yes.
#[tokio::test(flavor = "multi_thread")]
async fn every_edited_word_of_a_row_is_named() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let owner = app.owner();
        let agent = app.agent("asking").await;
        let ask = async |action: &str| {
            let body = json!({"reason": "the disk of alpha", "diff": "+ a line"});
            let path = format!("/api/actions/{action}/run?wait=20");
            agent.post(&path, body).await.json()
        };
        let queue = async |action: &str| ask(action).await["action_row_id"].clone();
        let row = async |id: &Value| app.row(id.as_str().unwrap()).await;
        let ran = queue("cool-a").await;
        let refused = ask("cool-a").await["error"]["row"]["id"].clone();
        let approved = queue("stop-a").await;
        owner.decide(&row(&approved).await, "approve").await.ok();
        app.ended(approved.as_str().unwrap()).await;
        let rejected = queue("stop-a").await;
        let path = format!("/api/proposals/{}/decide", rejected.as_str().unwrap());
        let digest = row(&rejected).await["digest"].clone();
        let body = json!({"decision": "reject", "digest": digest, "reason": "not now"});
        owner.post(&path, body).await.ok();
        let waits = queue("stop-a").await;
        let joined = queue("stop-b").await;
        let body = json!({"reason": "and it is late"});
        agent.post("/api/actions/stop-b/run", body).await.ok();
        assert!(mismatches(&app).await.is_empty(), "what nobody edited");
        let sql = "CREATE TABLE kept AS SELECT * FROM proposals;";
        run(&app, &engine, sql);
        for (which, edit) in EDITS {
            let id = match which {
                "waits" => &waits,
                "joined" => &joined,
                "ran" => &ran,
                "approved" => &approved,
                "rejected" => &rejected,
                _ => &refused,
            };
            let id = id.as_str().unwrap();
            let sql = format!("UPDATE proposals SET {edit} WHERE id = '{id}';");
            run(&app, &engine, &sql);
            let expected = [("proposals".to_owned(), id.to_owned())];
            assert_eq!(mismatches(&app).await, expected, "{which}: {edit}");
            let column = edit.split_once(' ').unwrap().0;
            let sql = format!(
                "UPDATE proposals SET {column} = (SELECT {column} FROM kept WHERE kept.id = proposals.id);"
            );
            run(&app, &engine, &sql);
        }
        assert!(mismatches(&app).await.is_empty(), "what was put back");
    }
}

/// Numbers that lose every listener each time, and make ids that no client can send back.
#[tokio::test(flavor = "multi_thread")]
async fn a_place_in_the_stream_beyond_the_record_is_named_and_loses_nobody() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        app.queue("stop-a").await;
        for edit in ["told_after", "numbered_from"] {
            let sql = format!("UPDATE heads SET {edit} = 9000000000000000000;");
            let heads = [("heads".to_owned(), "1".to_owned())];
            // Void writes now and then by itself, which puts it right.
            eventually("it to be named", || async {
                run(&app, &engine, &sql);
                (mismatches(&app).await == heads).then_some(())
            })
            .await;
            // The next write puts it right, and whoever listens from there on goes on.
            app.owner().post("/api/freeze", json!({})).await.ok();
            assert!(mismatches(&app).await.is_empty(), "{edit}");
            let page = app
                .store
                .read(|tx| Box::pin(void_store::events::page_after(tx, 0, 100)));
            let page: Result<_, void_store::StoreError> = page.await;
            for event in page.unwrap().events {
                assert_eq!(event.id.to_string().parse(), Ok(event.id), "{edit}");
            }
        }
    }
}
