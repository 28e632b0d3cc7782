//! Group commit: a use case that fails or panics takes nobody with it, callers hear only after the
//! commit, and a read cannot write.

use std::sync::Arc;

use tokio::sync::Barrier;
use void_domain::facts::NewFact;
use void_domain::freezes::{Freeze, Frozen};
use void_store::{StoreError, facts, freezes, installation};
use void_testkit::proposals::NOW;

use crate::engines;

fn frozen(by: &str) -> Freeze {
    Freeze::Frozen(Frozen {
        by: by.into(),
        at: NOW,
        reason: None,
        until: None,
    })
}

/// Keeps the writer busy so that what is submitted meanwhile shares the next batch.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_batch_holds_a_success_a_failure_and_a_panic() {
    for engine in engines::both().await {
        let store = engine.store.clone();
        let gate = Arc::new(Barrier::new(9));
        let mut tasks = Vec::new();
        for n in 0..8_u32 {
            let (store, gate) = (store.clone(), Arc::clone(&gate));
            tasks.push(tokio::spawn(async move {
                gate.wait().await;
                store
                    .write(move |tx| {
                        Box::pin(async move {
                            freezes::save(tx, &frozen(&format!("writer {n}"))).await?;
                            match n % 4 {
                                1 => Err(StoreError::Internal("told to fail".into())),
                                2 => panic!("told to panic"),
                                _ => Ok(installation::raise_epoch(tx).await?),
                            }
                        })
                    })
                    .await
            }));
        }
        gate.wait().await;
        let mut kept = 0;
        for (n, task) in tasks.into_iter().enumerate() {
            let outcome = task.await.unwrap();
            assert_eq!(
                outcome.is_ok(),
                matches!(n % 4, 0 | 3),
                "{}: {n}: {outcome:?}",
                engine.name
            );
            kept += u64::from(outcome.is_ok());
        }
        let (epoch, freeze) = store
            .read(|tx| {
                Box::pin(async move {
                    Ok::<_, StoreError>((installation::epoch(tx).await?, freezes::load(tx).await?))
                })
            })
            .await
            .unwrap();
        assert_eq!(
            epoch,
            1 + kept,
            "{}: every success counted, no failure did",
            engine.name
        );
        let Freeze::Frozen(last) = freeze else {
            panic!("{}: the successes are gone", engine.name)
        };
        let n: u32 = last.by.strip_prefix("writer ").unwrap().parse().unwrap();
        assert!(
            matches!(n % 4, 0 | 3),
            "{}: writer {n} was rolled back but is still there",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_for_a_new_reader_at_once() {
    for engine in engines::both().await {
        for n in 0..50_u64 {
            let written = engine
                .store
                .write(|tx| Box::pin(installation::raise_epoch(tx)))
                .await
                .unwrap();
            let seen = engine
                .store
                .read(|tx| Box::pin(installation::epoch(tx)))
                .await
                .unwrap();
            assert_eq!((written, seen), (n + 2, n + 2), "{}", engine.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_cannot_write() {
    for engine in engines::both().await {
        let error = engine
            .store
            .read(|tx| Box::pin(installation::raise_epoch(tx)))
            .await
            .unwrap_err();
        assert!(
            matches!(error, StoreError::ReadOnly(_)),
            "{}: {error:?}",
            engine.name
        );
        assert_eq!(
            engine
                .store
                .read(|tx| Box::pin(installation::epoch(tx)))
                .await
                .unwrap(),
            1,
            "{}",
            engine.name
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_use_case_that_waits_for_the_outside_fails_instead_of_blocking_the_writer() {
    let engine = engines::sqlite().await;
    assert!(matches!(
        engine
            .store
            .write(|_| Box::pin(async {
                tokio::task::yield_now().await;
                Ok(())
            }))
            .await,
        Err(StoreError::Internal(_))
    ));
    assert_eq!(
        engine
            .store
            .write(|tx| Box::pin(installation::raise_epoch(tx)))
            .await,
        Ok(2),
        "the writer lives on"
    );
}

/// Nobody copies the log but the thread beside the writer; and the log begins anew while writes go on.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_copied_while_writes_go_on() {
    const MIB: u64 = 1 << 20;
    let engine = engines::sqlite().await;
    let long = "x".repeat(64 << 10);
    for _ in 0..1_600 {
        let detail = serde_json::json!({ "text": long });
        let entry = NewFact {
            request_id: None,
            actor: "system".to_owned(),
            verb: "test.noted",
            subject: None,
            detail,
            catalogue: None,
            audience: None,
        };
        let written = engine.store.write(move |tx| {
            Box::pin(async move { facts::append(tx, NOW, entry).await.map(drop) })
        });
        written.await.unwrap();
    }
    let bytes = |name: &str| {
        let file = engine.folder.path().join(name);
        std::fs::metadata(file).unwrap().len()
    };
    assert!(bytes("void.db") > 32 * MIB, "{}", bytes("void.db"));
    assert!(bytes("void.db-wal") < 64 * MIB, "{}", bytes("void.db-wal"));
}
