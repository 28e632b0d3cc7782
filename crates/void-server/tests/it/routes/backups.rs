//! `/api/backups`

use std::path::Path;

use serde_json::{Value, json};

use crate::apps::{App, Engine};
use crate::masks::{is_time, members};

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_made_checked_and_listed() {
    let app = App::start().await;
    let owner = app.owner();
    app.queue("stop-a").await;
    // The first one of the day is made by itself.
    let listed = owner.get("/api/backups").await.ok();
    assert_eq!(listed["backups"].as_array().unwrap().len(), 1);
    assert_eq!(members(&listed), ["backups"]);
    let made = owner.post_nothing("/api/backups").await.ok();
    assert_eq!(
        members(&made),
        ["audit_hash", "audit_seq", "bytes", "file", "made_at"]
    );
    assert!(is_time(made["made_at"].as_str().unwrap()));
    let file = Path::new(made["file"].as_str().unwrap());
    assert_eq!(
        std::fs::metadata(file).unwrap().len(),
        made["bytes"].as_u64().unwrap()
    );
    let checked = void_store::backups::check(file).unwrap();
    let told = (
        made["audit_seq"].as_u64().unwrap(),
        made["audit_hash"].as_str().unwrap(),
    );
    assert_eq!(
        (checked.audit_seq, checked.audit_hash.to_string().as_str()),
        told
    );
    let listed = owner.get("/api/backups").await.ok();
    assert_eq!(listed["backups"].as_array().unwrap().len(), 2);
    assert_eq!(members(&listed["backups"][0]), ["bytes", "file", "made_at"]);
    assert_eq!(listed["backups"][0]["file"], made["file"], "newest first");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_pg_dump_does_it_the_answer_says_so() {
    let app = App::on(Engine::postgres().await).await;
    let owner = app.owner();
    assert_eq!(owner.get("/api/backups").await.ok(), json!({"backups": []}));
    let error = owner
        .post_nothing("/api/backups")
        .await
        .error(503, "unavailable");
    assert_eq!(
        error["message"],
        "this Void uses PostgreSQL; back it up with pg_dump"
    );
    assert_eq!(error["row"], Value::Null);
}

/// Two at once do not get in each other's way.
#[tokio::test(flavor = "multi_thread")]
async fn copies_made_at_the_same_moment_are_all_whole() {
    let app = App::with_clock().await;
    let owner = app.owner();
    let calls = (0..8).map(|_| owner.post_nothing("/api/backups"));
    let answers = futures_util::future::join_all(calls).await;
    for answer in answers {
        let made = answer.ok();
        let checked = void_store::backups::check(Path::new(made["file"].as_str().unwrap()));
        assert!(checked.is_ok(), "{checked:?}");
    }
}
