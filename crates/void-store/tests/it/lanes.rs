//! Reads of one caller do not hold up those of others, and all callers together leave room for the owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use void_store::lanes::{LANE_READS_MAX, Lane};
use void_store::{Store, StoreError, events};
use void_testkit::eventually;

use crate::engines;

const PATIENCE: Duration = Duration::from_secs(20);

struct Slow {
    is_over: AtomicBool,
    reading: AtomicUsize,
}

/// Reads until it is told to end; on SQLite in its thread, on PostgreSQL in its task.
async fn read_slowly(store: Store, slow: Arc<Slow>, is_sqlite: bool) {
    let read: Result<(), StoreError> = store
        .read(move |tx| {
            Box::pin(async move {
                events::standing(tx).await?;
                slow.reading.fetch_add(1, Ordering::SeqCst);
                while !slow.is_over.load(Ordering::SeqCst) {
                    match is_sqlite {
                        true => std::thread::sleep(Duration::from_millis(1)),
                        false => tokio::time::sleep(Duration::from_millis(1)).await,
                    }
                }
                slow.reading.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        })
        .await;
    read.unwrap();
}

async fn looks(store: &Store, who: &str) {
    let read = store.read(|tx| Box::pin(events::standing(tx)));
    let read: Result<_, StoreError> = tokio::time::timeout(PATIENCE, read).await.expect(who);
    read.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_full_of_slow_reads_holds_up_neither_another_lane_nor_the_owner() {
    for engine in engines::both().await {
        let (store, is_sqlite) = (&engine.store, engine.name == "sqlite");
        let slow = Arc::new(Slow {
            is_over: AtomicBool::new(false),
            reading: AtomicUsize::new(0),
        });
        let (hostile, modest) = (Lane::default(), Lane::default());
        let crowd: Vec<_> = (0..32)
            .map(|_| {
                let reading = read_slowly(store.clone(), Arc::clone(&slow), is_sqlite);
                tokio::spawn(hostile.clone().run(reading))
            })
            .collect();
        eventually("the lane to be full", || async {
            (slow.reading.load(Ordering::SeqCst) == LANE_READS_MAX).then_some(())
        })
        .await;
        for _ in 0..20 {
            looks(store, "the owner").await;
            modest.clone().run(looks(store, "another token")).await;
        }
        assert_eq!(slow.reading.load(Ordering::SeqCst), LANE_READS_MAX);
        // Many lanes together leave one connection.
        let others: Vec<_> = (0..32)
            .map(|_| {
                let reading = read_slowly(store.clone(), Arc::clone(&slow), is_sqlite);
                tokio::spawn(Lane::default().run(reading))
            })
            .collect();
        let full = if is_sqlite { 3 } else { 7 };
        eventually("all lanes to be full", || async {
            (slow.reading.load(Ordering::SeqCst) == full).then_some(())
        })
        .await;
        for _ in 0..20 {
            looks(store, "the owner").await;
        }
        slow.is_over.store(true, Ordering::SeqCst);
        for task in crowd.into_iter().chain(others) {
            task.await.unwrap();
        }
    }
}
