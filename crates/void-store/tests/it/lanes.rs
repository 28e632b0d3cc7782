//! Reads of one caller do not hold up those of others, and all callers together leave room for the owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use void_store::lanes::{LANE_READS_MAX, LANE_WORK_MAX, Lane, work_away};
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

/// Works until it is told to end, and counts itself as long.
async fn work_slowly(slow: Arc<Slow>) {
    let worked = work_away(move || {
        slow.reading.fetch_add(1, Ordering::SeqCst);
        while !slow.is_over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        slow.reading.fetch_sub(1, Ordering::SeqCst);
    });
    worked.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_works_on_few_texts_at_a_time_even_when_nobody_waits_for_them_any_more() {
    let slow = Arc::new(Slow {
        is_over: AtomicBool::new(false),
        reading: AtomicUsize::new(0),
    });
    let hostile = Lane::default();
    let working = || tokio::spawn(hostile.clone().run(work_slowly(Arc::clone(&slow))));
    let crowd: Vec<_> = (0..8).map(|_| working()).collect();
    eventually("the lane to be at work", || async {
        (slow.reading.load(Ordering::SeqCst) == LANE_WORK_MAX).then_some(())
    })
    .await;
    // They all hang up, and ask again: what was begun still counts.
    for task in crowd {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    let again: Vec<_> = (0..8).map(|_| working()).collect();
    for n in 0..20 {
        let others = [None, Some(Lane::default())].map(|lane| {
            let work = work_away(move || n);
            void_store::lanes::run_in(lane, work)
        });
        for other in others {
            let done = tokio::time::timeout(PATIENCE, other).await;
            assert_eq!(done.expect("others work").unwrap(), n);
        }
        assert_eq!(slow.reading.load(Ordering::SeqCst), LANE_WORK_MAX);
    }
    slow.is_over.store(true, Ordering::SeqCst);
    for task in again {
        task.await.unwrap();
    }
    let again = tokio::time::timeout(PATIENCE, hostile.run(work_away(|| 7))).await;
    assert_eq!(again.expect("the lane works again").unwrap(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_panics_is_an_error_and_gives_its_place_back() {
    let lane = Lane::default();
    for _ in 0..2 * LANE_WORK_MAX {
        let failed = lane.clone().run(work_away::<()>(|| panic!("as expected")));
        let failed = tokio::time::timeout(PATIENCE, failed)
            .await
            .expect("a place");
        assert!(matches!(failed, Err(StoreError::Internal(_))), "{failed:?}");
    }
}
