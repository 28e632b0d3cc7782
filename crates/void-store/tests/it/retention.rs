//! What is too old goes, at the limit and in small steps; what is open, in doubt or referred to stays.

use std::time::Duration;

use void_domain::time::Timestamp;
use void_store::{Store, StoreError, events, facts, retention};

use crate::engines;

const NOW: Timestamp = Timestamp::from_ms(1_800_000_000_000);

async fn append(store: &Store, at: Timestamp) -> u64 {
    store
        .write(move |tx| {
            Box::pin(async move {
                let fact = facts::append(tx, at, crate::events::told("old or young")).await?;
                Ok::<_, StoreError>(fact.seq)
            })
        })
        .await
        .unwrap()
}

/// What a listener can still hear.
async fn seqs(store: &Store) -> Vec<u64> {
    let all = store.read(|tx| {
        Box::pin(async move {
            let told_after = events::standing(tx).await?.told_after;
            events::list_after(tx, told_after, 1_000).await
        })
    });
    let all: Result<Vec<_>, StoreError> = all.await;
    all.unwrap().iter().map(|event| event.seq).collect()
}

async fn prune(store: &Store, before: Timestamp, limit: u32) -> u64 {
    let until = NOW.plus(Duration::from_secs(60));
    let gone = store.write(move |tx| Box::pin(retention::prune_events(tx, before, until, limit)));
    let gone: Result<u64, StoreError> = gone.await;
    gone.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn old_events_go_from_the_front_and_the_newest_stays() {
    for engine in engines::both().await {
        let store = &engine.store;
        let before = NOW.minus(Duration::from_millis(1));
        // Older, at the horizon, and one that is old behind a younger one.
        for at in [before, before, NOW, before, NOW] {
            append(store, at).await;
        }
        assert_eq!(prune(store, NOW, 1).await, 1, "{}", engine.name);
        assert_eq!(seqs(store).await, [2, 3, 4, 5]);
        assert_eq!(prune(store, NOW, 100).await, 1);
        assert_eq!(seqs(store).await, [3, 4, 5], "no hole behind a younger one");
        assert_eq!(prune(store, NOW, 100).await, 0);
        let far = NOW.plus(Duration::from_secs(1));
        assert_eq!(prune(store, far, 100).await, 2);
        assert_eq!(seqs(store).await, [5], "the newest stays");
        let all: Result<Vec<_>, StoreError> = store
            .read(|tx| Box::pin(facts::list_after(tx, 0, 100)))
            .await;
        assert_eq!(all.unwrap().len(), 5, "the record keeps them all");
        assert_eq!(append(store, far).await, 6, "numbers go on");
    }
}

/// One that a wrong clock dated years ahead keeps nothing behind it.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_the_future_blocks_nothing() {
    for engine in engines::both().await {
        let store = &engine.store;
        let (before, years) = (
            NOW.minus(Duration::from_millis(1)),
            NOW.plus(Duration::from_secs(3_650 * 24 * 60 * 60)),
        );
        for at in [before, years, before, NOW, before] {
            append(store, at).await;
        }
        assert_eq!(prune(store, NOW, 100).await, 3, "{}", engine.name);
        assert_eq!(seqs(store).await, [4, 5], "{}", engine.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_prune_runs_on_an_empty_store() {
    for engine in engines::both().await {
        let done: Result<Vec<(&str, u64)>, StoreError> = engine
            .store
            .write(|tx| {
                Box::pin(async move {
                    retention::prune_ended(tx, NOW, 10).await?;
                    retention::prune_refused(tx, NOW, 10).await?;
                    retention::prune_notifications(tx, NOW, 10).await?;
                    retention::prune_sessions(tx, NOW, 10).await?;
                    retention::prune_messages(tx, NOW, 10).await?;
                    retention::prune_usage(tx, 1).await?;
                    retention::sizes(tx).await
                })
            })
            .await;
        let sizes = done.unwrap();
        assert!(sizes.iter().all(|(_, rows)| *rows == 0), "{sizes:?}");
    }
}

/// How many rows each table has.
pub async fn counts(store: &Store) -> Vec<(&'static str, u64)> {
    let counts: Result<_, StoreError> = store.read(|tx| Box::pin(retention::sizes(tx))).await;
    counts.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_of_a_database_are_known_and_grow_with_it() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let before = store.database_bytes().await.unwrap();
        assert!(before.database > 0, "{name}");
        assert_eq!(before.log.is_some(), name == "sqlite", "{name}");
        for _ in 0..200 {
            append(store, NOW).await;
        }
        let after = store.database_bytes().await.unwrap();
        let all = |bytes: void_store::DatabaseBytes| bytes.database + bytes.log.unwrap_or(0);
        assert!(all(after) > all(before), "{name}: {before:?} {after:?}");
    }
}
