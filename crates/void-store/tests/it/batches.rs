//! Use cases that may run again share a batch on SQLite without savepoints: one that fails takes nobody with it, each is
//! answered once, and what cannot run again never does. What they are judged by is read anew when somebody changed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use serde_json::json;
use tokio::sync::oneshot;
use void_domain::facts::NewFact;
use void_domain::freezes::{Freeze, Frozen};
use void_store::{Store, StoreError, Tx, facts, freezes, installation};
use void_testkit::eventually;
use void_testkit::proposals::NOW;

use crate::engines;

const CALLS: u32 = 32;

async fn append(tx: &mut Tx, n: u32) -> Result<u64, StoreError> {
    let draft = NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: Some(format!("s{n}")),
        detail: json!({}),
        catalogue: None,
        audience: None,
    };
    Ok(facts::append(tx, NOW, draft).await?.seq)
}

/// The subjects of the record, whose chain is whole.
async fn subjects(store: &Store) -> Vec<String> {
    let entries = store.read(|tx| Box::pin(facts::list_after(tx, 0, 10_000)));
    let entries = entries.await.unwrap();
    let mut prev = None;
    for (entry, seq) in entries.iter().zip(1..) {
        assert_eq!((entry.seq, entry.hash), (seq, entry.computed_hash()));
        assert!(prev.is_none_or(|prev| prev == entry.prev), "{entry:?}");
        prev = Some(entry.hash);
    }
    let subjects = entries.into_iter().map(|entry| entry.subject);
    subjects.map(Option::unwrap_or_default).collect()
}

/// Calls that wait for the writer together, so that they are one batch. The answer to each, and how often it ran.
async fn together<Fut>(
    store: &Store,
    call: impl Fn(u32, Arc<AtomicU32>) -> Fut,
) -> Vec<(Result<u64, StoreError>, u32)>
where
    Fut: Future<Output = Result<u64, StoreError>> + Send + 'static,
{
    let (holds, held) = oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let gate = store.clone();
    let gate = tokio::spawn(async move {
        gate.write(move |_| {
            Box::pin(async move {
                holds.send(()).unwrap();
                // The writer has a thread of its own.
                released.recv().unwrap();
                Ok::<_, StoreError>(())
            })
        })
        .await
    });
    held.await.unwrap();
    let calls: Vec<_> = (0..CALLS)
        .map(|n| {
            let ran = Arc::new(AtomicU32::new(0));
            (tokio::spawn(call(n, Arc::clone(&ran))), ran)
        })
        .collect();
    eventually("all of them to wait", || async {
        (store.writes_waiting() == CALLS as usize).then_some(())
    })
    .await;
    release.send(()).unwrap();
    gate.await.unwrap().unwrap();
    let mut answers = Vec::new();
    for (call, ran) in calls {
        let answer = call.await.unwrap();
        answers.push((answer, ran.load(Ordering::SeqCst)));
    }
    answers
}

/// What a use case does once it has appended its entry, or before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Keeps,
    Fails,
    FailsUnwritten,
    Panics,
}

fn told_to(end: End, seq: u64) -> Result<u64, StoreError> {
    match end {
        End::Keeps => Ok(seq),
        End::Fails | End::FailsUnwritten => Err(StoreError::Internal("told to fail".into())),
        End::Panics => panic!("told to panic"),
    }
}

async fn shared(store: Store, n: u32, ran: Arc<AtomicU32>, end: End) -> Result<u64, StoreError> {
    let written = store.write_shared(move |tx| {
        ran.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if end == End::FailsUnwritten {
                return told_to(end, 0);
            }
            told_to(end, append(tx, n).await?)
        })
    });
    written.await
}

async fn once(store: Store, n: u32, ran: Arc<AtomicU32>, end: End) -> Result<u64, StoreError> {
    let written = store.write(move |tx| {
        ran.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { told_to(end, append(tx, n).await?) })
    });
    written.await
}

async fn check(store: &Store, ends: &[End], answers: &[(Result<u64, StoreError>, u32)]) {
    let found = subjects(store).await;
    let kept = ends.iter().filter(|end| **end == End::Keeps).count();
    assert_eq!(found.len(), kept, "{found:?}");
    for ((n, end), (answer, _)) in (0..).zip(ends).zip(answers) {
        assert_eq!(answer.is_ok(), *end == End::Keeps, "{n}: {answer:?}");
        if let Ok(seq) = answer {
            let own = &found[usize::try_from(*seq).unwrap() - 1];
            assert_eq!(*own, format!("s{n}"), "its own number");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_fails_after_it_has_written_takes_nobody_with_it() {
    let end = |n| match n % 8 {
        1 => End::Fails,
        2 => End::Panics,
        3 => End::FailsUnwritten,
        _ => End::Keeps,
    };
    let ends: Vec<End> = (0..CALLS).map(end).collect();
    let engine = engines::sqlite().await;
    let store = engine.store.clone();
    let answers = together(&store, |n, ran| shared(store.clone(), n, ran, end(n))).await;
    check(&store, &ends, &answers).await;
    // All of them ran in savepoints; those before the first that failed a second time.
    assert!(answers.iter().all(|(_, ran)| (1..=2).contains(ran)));
    assert!(answers.iter().any(|(_, ran)| *ran == 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_has_written_nothing_fails_alone() {
    let end = |n| match n % 4 {
        1 => End::FailsUnwritten,
        _ => End::Keeps,
    };
    let ends: Vec<End> = (0..CALLS).map(end).collect();
    let engine = engines::sqlite().await;
    let store = engine.store.clone();
    let answers = together(&store, |n, ran| shared(store.clone(), n, ran, end(n))).await;
    check(&store, &ends, &answers).await;
    assert!(
        answers.iter().all(|(_, ran)| *ran == 1),
        "nothing ran twice"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_cannot_run_again_runs_once_beside_what_fails() {
    let end = |n| match n % 4 {
        1 => End::Fails,
        2 => End::Panics,
        _ => End::Keeps,
    };
    let ends: Vec<End> = (0..CALLS).map(end).collect();
    let engine = engines::sqlite().await;
    let store = engine.store.clone();
    let answers = together(&store, |n, ran| {
        let store = store.clone();
        async move {
            if n % 8 < 4 {
                return shared(store, n, ran, end(n)).await;
            }
            once(store, n, ran, end(n)).await
        }
    })
    .await;
    check(&store, &ends, &answers).await;
    for (n, (_, ran)) in (0..CALLS).zip(&answers) {
        assert!(*ran == 1 || n % 8 < 4, "{n} ran {ran} times");
    }
}

type Judged = (Option<String>, u64);

/// Who froze, and the epoch, as a use case sees them that shares.
async fn judged(store: &Store) -> Judged {
    let judged = store.write_shared(|tx| {
        Box::pin(async move {
            let frozen = match freezes::load(tx).await? {
                Freeze::Thawed => None,
                Freeze::Frozen(frozen) => Some(frozen.by),
            };
            Ok::<_, StoreError>((frozen, installation::epoch(tx).await?))
        })
    });
    judged.await.unwrap()
}

fn frozen(by: &str) -> Freeze {
    Freeze::Frozen(Frozen {
        by: by.into(),
        at: NOW,
        reason: None,
        until: None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_and_an_epoch_count_for_the_next_batch_whoever_writes_them() {
    let engine = engines::sqlite().await;
    let store = &engine.store;
    assert_eq!(judged(store).await, (None, 1));
    assert_eq!(judged(store).await, (None, 1));

    let set = |by: &'static str| {
        store.write(move |tx| Box::pin(async move { freezes::save(tx, &frozen(by)).await }))
    };
    set("owner").await.unwrap();
    assert_eq!(judged(store).await, (Some("owner".into()), 1));

    let failed = store.write(|tx| {
        Box::pin(async move {
            freezes::save(tx, &Freeze::Thawed).await?;
            installation::raise_epoch(tx).await?;
            Err::<(), _>(StoreError::Internal("told to fail".into()))
        })
    });
    failed.await.unwrap_err();
    assert_eq!(judged(store).await, (Some("owner".into()), 1));

    // Somebody edits the file.
    let edit = rusqlite::Connection::open(engine.folder.path().join("void.db")).unwrap();
    let thaw =
        "UPDATE freezes SET frozen_by = NULL, frozen_at = NULL, reason = NULL, until_at = NULL";
    edit.execute(thaw, []).unwrap();
    assert_eq!(judged(store).await, (None, 1));
    edit.execute("UPDATE freezes SET frozen_by = 'x', frozen_at = 1", [])
        .unwrap();
    assert_eq!(judged(store).await, (Some("x".into()), 1));
    edit.execute("UPDATE installation SET epoch = 7", [])
        .unwrap();
    assert_eq!(judged(store).await, (Some("x".into()), 7));

    store
        .write(|tx| Box::pin(installation::raise_epoch(tx)))
        .await
        .unwrap();
    assert_eq!(judged(store).await, (Some("x".into()), 8));
}

/// Today nobody who shares writes them. Whoever does is seen by itself and by those after it, in its batch and the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_freeze_and_an_epoch_that_a_shared_use_case_writes_count_at_once() {
    let engine = engines::sqlite().await;
    let store = engine.store.clone();
    assert_eq!(judged(&store).await, (None, 1));
    let answers = together(&store, |n, ran| {
        let store = store.clone();
        async move {
            let seen = store.write_shared(move |tx| {
                ran.fetch_add(1, Ordering::SeqCst);
                Box::pin(async move {
                    let before = installation::epoch(tx).await?;
                    if n == CALLS / 2 {
                        freezes::save(tx, &frozen("owner")).await?;
                    }
                    let after = installation::raise_epoch(tx).await?;
                    assert_eq!(after, before + 1);
                    Ok::<_, StoreError>(after)
                })
            });
            seen.await
        }
    })
    .await;
    let mut epochs: Vec<u64> = answers.into_iter().map(|(seen, _)| seen.unwrap()).collect();
    epochs.sort_unstable();
    assert_eq!(epochs, (2..=u64::from(CALLS) + 1).collect::<Vec<_>>());
    let last = (Some("owner".to_owned()), u64::from(CALLS) + 1);
    assert_eq!(judged(&store).await, last);
}
