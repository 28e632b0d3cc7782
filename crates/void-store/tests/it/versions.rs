//! The version of the database: whoever remembers what it read knows by it that nobody has committed since.

use std::fs;

use rusqlite::Connection;
use serde_json::json;
use void_domain::facts::NewFact;
use void_store::{Store, StoreError, facts};
use void_testkit::proposals::NOW;

use crate::engines;

async fn note(store: &Store) {
    let draft = NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: None,
        detail: json!({}),
        catalogue: None,
        audience: None,
    };
    let write = store.write(move |tx| {
        Box::pin(async move { Ok::<_, StoreError>(facts::append(tx, NOW, draft).await?.seq) })
    });
    write.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_is_equal_exactly_while_nobody_commits() {
    let engine = engines::sqlite().await;
    let file = engine.folder.path().join("void.db");
    let foreign = Connection::open(&file).unwrap();
    for round in 1..20 {
        let before = engine.store.version().expect("a file has a version");
        assert_eq!(engine.store.version(), Some(before));
        let read = engine.store.read(|tx| Box::pin(facts::head(tx)));
        read.await.unwrap();
        assert_eq!(engine.store.version(), Some(before), "reading is no commit");
        note(&engine.store).await;
        let after = engine.store.version();
        assert!(after.is_some() && after != Some(before));
        let edit = format!("PRAGMA user_version = {round}");
        foreign.execute_batch(&edit).unwrap();
        let edited = engine.store.version();
        assert!(edited.is_some() && edited != after && edited != Some(before));
    }
    foreign
        .execute_batch("BEGIN; DELETE FROM tokens; ROLLBACK")
        .unwrap();
    let before = engine.store.version();
    assert_eq!(
        engine.store.version(),
        before,
        "what is taken back is no commit"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_replaced_has_no_version() {
    let engine = engines::sqlite().await;
    let file = engine.folder.path().join("void.db");
    note(&engine.store).await;
    assert!(engine.store.version().is_some());
    let aside = engine.folder.path().join("aside.db");
    fs::copy(&file, &aside).unwrap();
    fs::rename(&aside, &file).unwrap();
    assert_eq!(engine.store.version(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_tells_no_version() {
    if let Some(engine) = engines::postgres().await {
        assert_eq!(engine.store.version(), None);
    }
}
