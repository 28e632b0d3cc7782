//! Use cases that may share run beside each other on PostgreSQL: one that fails takes nobody with it, what may be
//! there once is there once, and many cost as many statements as a few.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use void_domain::actors::{Actor, Surface};
use void_domain::facts::NewFact;
use void_domain::proposals::Moved;
use void_store::{ConflictKey, Store, StoreError, Tx, facts, proposals};
use void_testkit::proposals::{NOW, pending};
use void_testkit::wires::Wire;
use void_testkit::{eventually, has_postgres, postgres_database, postgres_run};

use crate::engines;

/// Whoever holds the writer is heard of so often.
const SAYS_EVERY: Duration = Duration::from_millis(500);

fn draft(subject: String) -> NewFact {
    NewFact {
        request_id: None,
        actor: "system".into(),
        verb: "test",
        subject: Some(subject),
        detail: json!({}),
        catalogue: None,
        audience: None,
    }
}

async fn append(tx: &mut Tx, n: u32) -> Result<u64, StoreError> {
    Ok(facts::append(tx, NOW, draft(format!("s{n}"))).await?.seq)
}

/// The subjects of the record, whose chain is whole.
async fn subjects(store: &Store) -> Vec<String> {
    let entries = store
        .read(|tx| Box::pin(facts::list_after(tx, 0, 10_000)))
        .await
        .unwrap();
    let mut prev = None;
    for (entry, seq) in entries.iter().zip(1..) {
        assert_eq!((entry.seq, entry.hash), (seq, entry.computed_hash()));
        assert!(prev.is_none_or(|prev| prev == entry.prev), "{entry:?}");
        prev = Some(entry.hash);
    }
    let subjects = entries.into_iter().map(|entry| entry.subject);
    subjects.map(Option::unwrap_or_default).collect()
}

/// Runs `count` calls that wait for the writer together.
async fn together<T, Fut>(store: &Store, count: u32, call: impl Fn(u32) -> Fut) -> Vec<Option<T>>
where
    T: Send + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    let (holds, held) = oneshot::channel();
    let (release, released) = oneshot::channel::<()>();
    let gate = store.clone();
    let gate = tokio::spawn(async move {
        gate.write(|tx| {
            Box::pin(async move {
                holds.send(()).unwrap();
                // The server ends a transaction that says nothing for long.
                let mut released = released;
                while tokio::time::timeout(SAYS_EVERY, &mut released)
                    .await
                    .is_err()
                {
                    facts::head(tx).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await
        .unwrap();
    });
    held.await.unwrap();
    let calls: Vec<_> = (0..count).map(|n| tokio::spawn(call(n))).collect();
    eventually("all of them to wait", || async {
        (store.writes_waiting() == count as usize).then_some(())
    })
    .await;
    release.send(()).unwrap();
    gate.await.unwrap();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.ok());
    }
    answers
}

async fn both() -> Vec<engines::Engine> {
    // The gate waits for the outside, which nothing may on SQLite.
    engines::postgres().await.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_fails_after_it_has_written_takes_nobody_with_it() {
    for engine in both().await {
        let answers = together(&engine.store, 32, |n| {
            let store = engine.store.clone();
            async move {
                store
                    .write_shared(move |tx| {
                        Box::pin(async move {
                            let seq = append(tx, n).await?;
                            match n % 8 {
                                1 => Err(StoreError::Internal("told to fail".into())),
                                2 => panic!("told to panic"),
                                _ => Ok(seq),
                            }
                        })
                    })
                    .await
            }
        })
        .await;
        let kept: Vec<u32> = (0..32).filter(|n| !matches!(n % 8, 1 | 2)).collect();
        let mut found = subjects(&engine.store).await;
        for (n, answer) in (0..).zip(answers) {
            let answer = answer.unwrap();
            assert_eq!(answer.is_ok(), kept.contains(&n), "{n}: {answer:?}");
            if let Ok(seq) = answer {
                assert_eq!(
                    found[usize::try_from(seq).unwrap() - 1],
                    format!("s{n}"),
                    "its own number"
                );
            }
        }
        let mut expected: Vec<String> = kept.iter().map(|n| format!("s{n}")).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }
}

/// One insert fails on a constraint: the others run again without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_statement_that_the_server_refuses_fails_its_own_use_case_only() {
    for engine in both().await {
        let attempts = Arc::new(AtomicU32::new(0));
        let answers = together(&engine.store, 16, |n| {
            let (store, attempts) = (engine.store.clone(), Arc::clone(&attempts));
            async move {
                // Two of them make the same row.
                let created = pending(n.max(1));
                store
                    .write_shared(move |tx| {
                        attempts.fetch_add(1, Ordering::Relaxed);
                        let created = created.clone();
                        Box::pin(async move {
                            append(tx, n).await?;
                            proposals::insert(tx, 1, &created).await
                        })
                    })
                    .await
            }
        })
        .await;
        let failed: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| answer.unwrap().err())
            .collect();
        assert!(
            matches!(failed.as_slice(), [StoreError::Constraint(_)]),
            "{failed:?}"
        );
        assert_eq!(subjects(&engine.store).await.len(), 15);
        let open = engine
            .store
            .read(|tx| Box::pin(facts::steps::of_heads(tx)))
            .await
            .unwrap();
        let open = (open.open_proposals, open.waiting);
        assert_eq!(open, (15, 15), "counted as often as they are there");
        assert!(attempts.load(Ordering::Relaxed) > 16, "they ran again");
    }
}

async fn insert_below(tx: &mut Tx, created: &Moved, limit: u64) -> Result<bool, StoreError> {
    let requester = Actor::Owner {
        surface: Surface::Cli,
    }
    .requester();
    let count = proposals::count_open_of(tx, &requester).await?;
    let whose = (requester.kind, requester.id);
    tx.take_if_scarce(count, limit, || ConflictKey::OpenOf(whose))?;
    if count >= limit {
        return Ok(false);
    }
    proposals::insert(tx, 1, created).await?;
    Ok(true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_passes_a_limit_beside_others() {
    for engine in both().await {
        for (round, limit) in [(0, 10), (1, 11), (2, 60), (3, 61)] {
            let answers = together(&engine.store, 40, |n| {
                let store = engine.store.clone();
                let created = pending(100 * round + n);
                async move {
                    store
                        .write_shared(move |tx| {
                            let created = created.clone();
                            Box::pin(async move { insert_below(tx, &created, limit).await })
                        })
                        .await
                        .unwrap()
                }
            })
            .await;
            let passed = answers.iter().filter(|passed| **passed == Some(true));
            let before = [0, 10, 11, 51][round as usize];
            assert_eq!(passed.count() as u64, (limit - before).min(40), "{limit}");
            let open = engine
                .store
                .read(|tx| Box::pin(facts::steps::of_heads(tx)))
                .await
                .unwrap();
            assert_eq!(open.open_proposals, open.waiting);
        }
    }
}

/// Somebody who can insert a row neither stops the record nor is read as a part of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_foreign_row_in_the_way_of_a_flight_is_set_aside() {
    for engine in both().await {
        let url = engine.url.clone().unwrap();
        let forge = "INSERT INTO facts (seq, at, actor, verb, subject, detail, prev, hash) \
            SELECT audit_seq + 3, 0, 'x', 'proposal.approved', 'forged', '{}', audit_hash, audit_hash FROM heads";
        let forged = tokio::task::spawn_blocking(move || postgres_run(&url, forge));
        forged.await.unwrap();
        let answers = together(&engine.store, 8, |n| {
            let store = engine.store.clone();
            async move {
                store
                    .write_shared(move |tx| Box::pin(async move { append(tx, n).await }))
                    .await
            }
        })
        .await;
        assert!(answers.iter().all(|answer| matches!(answer, Some(Ok(_)))));
        let found = subjects(&engine.store).await;
        assert_eq!(found.len(), 9, "and one that says what was found");
        assert!(!found.contains(&"forged".to_owned()));
        let aside = engine
            .store
            .read(|tx| Box::pin(facts::strays::count_set_aside(tx)));
        assert_eq!(aside.await, Ok(1));
    }
}

/// Each of them reads, inserts a row and an entry.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_cost_as_many_statements_as_a_few() {
    if !has_postgres() {
        return;
    }
    let url = tokio::task::spawn_blocking(postgres_database)
        .await
        .unwrap();
    let wire = Wire::start(&url);
    let store = engines::open_postgres(&wire.url()).await;
    let measure = async |rows: std::ops::Range<u32>| {
        wire.flights();
        let answers = together(&store, rows.end - rows.start, |n| {
            let store = store.clone();
            let created = pending(rows.start + n);
            async move {
                store
                    .write_shared(move |tx| {
                        let created = created.clone();
                        Box::pin(async move {
                            append(tx, n).await?;
                            insert_below(tx, &created, u64::MAX).await
                        })
                    })
                    .await
            }
        })
        .await;
        assert!(answers.iter().all(|answer| *answer == Some(Ok(true))));
        match wire.flights().as_slice() {
            [all] => *all,
            flights => panic!("more than one flight: {flights:?}"),
        }
    };
    // The first ones prepare.
    measure(0..8).await;
    let (few, many) = (measure(8..16).await, measure(16..216).await);
    assert_eq!(few, many);
    assert!(few < 16, "{few}");
}
