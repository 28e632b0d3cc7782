//! A database that goes back under a running store is noticed before the next use case runs, and
//! nothing but the repair is written until then (I38).

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use void_domain::facts::NewFact;
use void_domain::freezes::Freeze;
use void_store::{SqliteConfig, Store, StoreError, facts, freezes, installation};
use void_testkit::proposals::NOW;

use crate::engines::{self, Engine};

async fn write(store: &Store, verb: &'static str) -> Result<u64, StoreError> {
    store.write(move |tx| Box::pin(append(tx, verb))).await
}

async fn append(tx: &mut void_store::Tx, verb: &'static str) -> Result<u64, StoreError> {
    let draft = NewFact {
        request_id: None,
        actor: "test".to_owned(),
        verb,
        subject: None,
        detail: serde_json::json!({}),
        catalogue: None,
        audience: None,
    };
    installation::raise_epoch(tx).await?;
    Ok(facts::append(tx, NOW, draft).await?.seq)
}

/// A copy of what is there now, and the way to put it back under the running store.
enum Copy {
    File(std::path::PathBuf, std::path::PathBuf),
    Tables(String),
}

impl Copy {
    async fn of(engine: &Engine) -> Self {
        match &engine.url {
            None => {
                let (live, copy) = (
                    engine.folder.path().join("void.db"),
                    engine.folder.path().join("copy.db"),
                );
                pour(&live, &copy);
                Self::File(live, copy)
            }
            Some(url) => {
                run(
                    url,
                    "CREATE TABLE old_heads AS TABLE heads; CREATE TABLE old_facts AS TABLE facts",
                )
                .await;
                Self::Tables(url.clone())
            }
        }
    }

    async fn put_back(&self) {
        match self {
            Self::File(live, copy) => pour(copy, live),
            Self::Tables(url) => {
                let sql = "BEGIN; DELETE FROM heads; INSERT INTO heads TABLE old_heads; \
                    DELETE FROM facts; INSERT INTO facts TABLE old_facts; COMMIT";
                run(url, sql).await;
            }
        }
    }
}

fn pour(from: &std::path::Path, into: &std::path::Path) {
    let from = Connection::open(from).unwrap();
    let mut into = Connection::open(into).unwrap();
    into.busy_timeout(Duration::from_secs(10)).unwrap();
    let backup = Backup::new(&from, &mut into).unwrap();
    backup
        .run_to_completion(1_000, Duration::from_millis(5), None)
        .unwrap();
}

async fn run(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    let polled = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    polled.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_to_a_database_that_went_back_until_it_is_repaired() {
    for engine in engines::both().await {
        let store = engine.store.clone();
        assert_eq!(write(&store, "first").await, Ok(1));
        let copy = Copy::of(&engine).await;
        assert_eq!(write(&store, "second").await, Ok(2));
        assert_eq!(store.look_back().await.unwrap().0, 2);
        let refused = store
            .repair(|_| Box::pin(async { Ok::<_, StoreError>(()) }))
            .await;
        assert!(
            refused.is_err(),
            "{}: there is nothing to repair",
            engine.name
        );
        copy.put_back().await;

        assert_eq!(
            write(&store, "third").await,
            Err(StoreError::RolledBack),
            "{}",
            engine.name
        );
        let closing = store
            .write_closing(|tx| Box::pin(async move { freezes::save(tx, &Freeze::Thawed).await }))
            .await;
        assert_eq!(closing, Err(StoreError::RolledBack), "{}", engine.name);
        assert_eq!(store.look_back().await, Err(StoreError::RolledBack));
        let noticed = *store.rollbacks().borrow();
        let noticed = noticed.expect("it is noticed");
        assert_eq!(
            (noticed.seen_seq, noticed.found_seq),
            (2, 1),
            "{}",
            engine.name
        );

        let failed = store
            .repair(|_| Box::pin(async { Err::<(), _>(StoreError::Internal("told to".into())) }))
            .await;
        assert!(failed.is_err());
        assert_eq!(
            write(&store, "third").await,
            Err(StoreError::RolledBack),
            "{}",
            engine.name
        );
        let repaired = store.repair(|tx| Box::pin(append(tx, "repaired"))).await;
        assert_eq!(
            repaired,
            Ok(2),
            "{}: it goes on from what is there",
            engine.name
        );
        assert!(store.rollbacks().borrow().is_none());
        assert_eq!(write(&store, "third").await, Ok(3), "{}", engine.name);
    }
}

/// Put back and taken away again before anybody repaired it: nothing was written meanwhile, and it goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_that_is_undone_is_none_any_more() {
    for engine in engines::both().await {
        let store = engine.store.clone();
        for n in 1..=3 {
            assert_eq!(write(&store, "first").await, Ok(n));
        }
        for n in 4..=5 {
            sql(&engine, "UPDATE heads SET audit_seq = audit_seq - 1").await;
            assert_eq!(write(&store, "no").await, Err(StoreError::RolledBack));
            assert!(store.rollbacks().borrow().is_some(), "{}", engine.name);
            sql(&engine, "UPDATE heads SET audit_seq = audit_seq + 1").await;
            assert_eq!(write(&store, "yes").await, Ok(n), "{}", engine.name);
            assert!(store.rollbacks().borrow().is_none(), "{}", engine.name);
        }
    }
}

/// More entries than before are not enough: it has to be the same history.
#[tokio::test(flavor = "multi_thread")]
async fn another_history_is_noticed_however_long_it_is() {
    for engine in engines::both().await {
        let store = engine.store.clone();
        write(&store, "first").await.unwrap();
        let copy = Copy::of(&engine).await;
        write(&store, "ours").await.unwrap();
        copy.put_back().await;
        // Somebody else goes on from the older copy, further than we had come.
        let theirs = match &engine.url {
            Some(url) => engines::open_postgres(url).await,
            None => continue,
        };
        for _ in 0..3 {
            write(&theirs, "theirs").await.unwrap();
        }
        assert_eq!(write(&store, "ours").await, Err(StoreError::RolledBack));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_another_instance_are_no_rollback() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let other = engines::open_postgres(engine.url.as_ref().unwrap()).await;
    for n in 1..=10 {
        let store = if n % 2 == 0 { &engine.store } else { &other };
        assert_eq!(write(store, "turn").await, Ok(n));
        assert_eq!(engine.store.look_back().await.unwrap().0, n);
    }
}

/// A file that is moved over the open one would take what is written with it when the server stops.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_replaced_is_not_written_any_more() {
    let engine = engines::sqlite().await;
    write(&engine.store, "first").await.unwrap();
    let live = engine.folder.path().join("void.db");
    let copy = engine.folder.path().join("copy.db");
    pour(&live, &copy);
    std::fs::rename(&copy, &live).unwrap();
    assert_eq!(
        write(&engine.store, "second").await,
        Err(StoreError::Replaced)
    );
    assert_eq!(engine.store.look_back().await, Err(StoreError::Replaced));
}

async fn sql(engine: &Engine, sql: &str) {
    match &engine.url {
        Some(url) => run(url, sql).await,
        None => {
            let file = Connection::open(engine.folder.path().join("void.db")).unwrap();
            file.busy_timeout(Duration::from_secs(10)).unwrap();
            file.execute_batch(sql).unwrap();
        }
    }
}

/// The rows beyond the head have the same numbers each time. All of them are kept, and none stops the record.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_set_back_again_and_again_is_repaired_each_time() {
    const ROUNDS: u64 = 3;
    for engine in engines::both().await {
        let store = engine.store.clone();
        for _ in 0..5 {
            write(&store, "first").await.unwrap();
        }
        let mut kept = 0;
        for round in 1..=ROUNDS {
            let beyond = store.look_back().await.unwrap().0 - 2;
            sql(&engine, "UPDATE heads SET audit_seq = 2").await;
            assert_eq!(write(&store, "no").await, Err(StoreError::RolledBack));
            let repaired = store.repair(|tx| Box::pin(append(tx, "repaired"))).await;
            assert_eq!(repaired, Ok(4), "{} round {round}", engine.name);
            assert_eq!(write(&store, "yes").await, Ok(5), "{}", engine.name);
            kept += beyond;
            let aside = store.read(|tx| Box::pin(facts::strays::count_set_aside(tx)));
            assert_eq!(aside.await, Ok(kept), "{} round {round}", engine.name);
        }
        // Without anybody who has seen more: a start sets them aside, too.
        sql(&engine, "UPDATE heads SET audit_seq = 2").await;
        let Engine {
            name,
            store: last,
            folder,
            url,
        } = engine;
        drop((store, last));
        let again = match &url {
            Some(url) => engines::open_postgres(url).await,
            None => {
                crate::migrations::release(folder.path()).await;
                let file = SqliteConfig::new(folder.path().join("void.db"));
                Store::open_sqlite(file).await.unwrap()
            }
        };
        let set_aside = again
            .write(|tx| Box::pin(facts::strays::set_aside(tx, NOW)))
            .await;
        assert_eq!(set_aside.unwrap().unwrap().seq, 3, "{name}");
        assert_eq!(write(&again, "on").await, Ok(4), "{name}");
    }
}
