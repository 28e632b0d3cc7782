//! A backup is a whole, checked copy; a damaged one is refused before anything is replaced.

use std::fs;

use rusqlite::Connection;
use serde_json::json;
use void_domain::facts::NewFact;
use void_store::{SqliteConfig, Store, StoreError, backups, facts};
use void_testkit::proposals::NOW;

use crate::engines;
use crate::migrations::release;

async fn note(store: &Store, n: u64) -> u64 {
    let draft = NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: None,
        detail: json!({"n": n}),
        catalogue: None,
        audience: None,
    };
    let write = store.write(move |tx| {
        Box::pin(async move { Ok::<_, StoreError>(facts::append(tx, NOW, draft).await?.seq) })
    });
    write.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_made_under_load_is_consistent_and_holds_all_that_was_acknowledged_before() {
    let engine = engines::sqlite().await;
    for n in 0..200 {
        note(&engine.store, n).await;
    }
    let busy = {
        let store = engine.store.clone();
        tokio::spawn(async move {
            for n in 200..600 {
                note(&store, n).await;
            }
        })
    };
    let target = engine.folder.path().join("copy.db");
    let made = backups::create(&engine.store, &target).await.unwrap();
    assert!(made.audit_seq >= 200);
    busy.await.unwrap();
    assert_eq!(backups::check(&target), Ok(made));
    assert!(
        !target.with_extension("partial").exists() && !target.with_extension("db-wal").exists()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn restoring_puts_the_copy_in_place_and_keeps_what_it_replaces() {
    let engine = engines::sqlite().await;
    let folder = engine.folder.path().to_owned();
    let (database, copy, replaced) = (
        folder.join("void.db"),
        folder.join("copy.db"),
        folder.join("replaced.db"),
    );
    note(&engine.store, 1).await;
    backups::create(&engine.store, &copy).await.unwrap();
    note(&engine.store, 2).await;
    assert_eq!(
        backups::restore(&copy, &database, &replaced),
        Err(StoreError::InUse),
        "never under a running server"
    );
    drop(engine.store);
    release(&folder).await;
    assert_eq!(
        backups::restore(&copy, &database, &replaced)
            .unwrap()
            .audit_seq,
        1
    );
    assert_eq!(
        backups::check(&replaced).unwrap().audit_seq,
        2,
        "what was replaced is whole"
    );
    let store = Store::open_sqlite(SqliteConfig::new(&database))
        .await
        .unwrap();
    assert_eq!(note(&store, 3).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_copy_is_refused_and_nothing_is_replaced() {
    let engine = engines::sqlite().await;
    let folder = engine.folder.path().to_owned();
    let (database, copy) = (folder.join("void.db"), folder.join("copy.db"));
    for n in 0..5 {
        note(&engine.store, n).await;
    }
    backups::create(&engine.store, &copy).await.unwrap();
    drop(engine.store);
    release(&folder).await;
    let before = fs::read(&database).unwrap();
    let good = fs::read(&copy).unwrap();
    let damages: [(&str, &str); 4] = [
        (
            "an edited entry",
            "UPDATE facts SET actor = 'nobody' WHERE seq = 3",
        ),
        ("a removed entry", "DELETE FROM facts WHERE seq = 3"),
        ("a cut tail", "DELETE FROM facts WHERE seq > 3"),
        (
            "a newer schema",
            "INSERT INTO migrations VALUES ('9999_future', 'x')",
        ),
    ];
    for (name, sql) in damages {
        fs::write(&copy, &good).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        let refused = backups::restore(&copy, &database, &folder.join("replaced.db"));
        assert!(refused.is_err(), "{name}");
        assert_eq!(
            fs::read(&database).unwrap(),
            before,
            "{name}: the database was touched"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_left_to_its_own_tools() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let refused = backups::create(&engine.store, &engine.folder.path().join("copy.db")).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(text)) if text.contains("pg_dump")));
}
