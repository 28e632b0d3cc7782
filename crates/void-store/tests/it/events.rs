//! Events are numbered in the order of their commits: whoever has seen number n has seen, or can
//! read, every number below it.

use std::time::{Duration, Instant};

use serde_json::json;
use void_domain::events::{Audience, EventKind};
use void_domain::facts::NewFact;
use void_domain::ids::RequesterId;
use void_store::facts::{self, FactFilter};
use void_store::{Store, StoreError, events};
use void_testkit::proposals::NOW;

use crate::engines;

/// An entry that everybody hears.
pub fn told(label: &str) -> NewFact {
    NewFact {
        request_id: None,
        actor: "owner-cli".to_owned(),
        verb: "freeze.set",
        subject: None,
        detail: json!({"frozen": true, "by": "owner-cli", "reason": label, "until": null}),
        catalogue: None,
        audience: Some(Audience::Everyone),
    }
}

async fn append(store: &Store, label: String, fail: bool) -> Result<u64, StoreError> {
    store
        .write(move |tx| {
            Box::pin(async move {
                let fact = facts::append(tx, NOW, told(&label)).await?;
                if fail {
                    Err(StoreError::Internal("told to fail".into()))
                } else {
                    Ok(fact.seq)
                }
            })
        })
        .await
}

async fn read_after(store: &Store, after: u64) -> Vec<u64> {
    store
        .read(move |tx| {
            Box::pin(async move {
                Ok::<_, StoreError>(
                    events::list_after(tx, after, 10_000)
                        .await?
                        .iter()
                        .map(|e| e.seq)
                        .collect(),
                )
            })
        })
        .await
        .unwrap()
}

/// A reader that follows the newest committed number never finds a gap that is filled later.
async fn no_gap_is_ever_filled_later(writers: Vec<Store>, reader: Store) {
    let per_writer = 120;
    let total = writers.len() * per_writer;
    let follower = tokio::spawn(async move {
        let mut committed = reader.committed();
        let mut seen: Vec<u64> = Vec::new();
        while seen.len() < total {
            committed.changed().await.unwrap();
            seen.extend(read_after(&reader, seen.last().copied().unwrap_or(0)).await);
            let expected: Vec<u64> = (1..=seen.len() as u64).collect();
            assert_eq!(seen, expected, "a number appeared late or not at all");
        }
    });
    let mut tasks = Vec::new();
    for (w, store) in writers.into_iter().enumerate() {
        for n in 0..per_writer {
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                // Every third one rolls back, which must leave no hole.
                if n % 3 == 0 {
                    append(&store, format!("{w}/{n} fails"), true)
                        .await
                        .unwrap_err();
                }
                append(&store, format!("{w}/{n}"), false).await.unwrap()
            }));
        }
    }
    let mut numbers = Vec::new();
    for task in tasks {
        numbers.push(task.await.unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=total as u64).collect::<Vec<_>>());
    follower.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_follow_commits_on_sqlite() {
    let engine = engines::sqlite().await;
    no_gap_is_ever_filled_later(vec![engine.store.clone(); 4], engine.store.clone()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_follow_commits_across_postgres_instances() {
    let Some(engine) = engines::postgres().await else {
        return;
    };
    let second = engines::open_postgres(engine.url.as_ref().unwrap()).await;
    let third = engines::open_postgres(engine.url.as_ref().unwrap()).await;
    no_gap_is_ever_filled_later(vec![engine.store.clone(), second], third).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_reads_back_as_it_was_written() {
    for engine in engines::both().await {
        let id = RequesterId::new(NOW, [9; 10]);
        let audiences = [
            Audience::Everyone,
            Audience::People,
            Audience::OwnerOnly,
            Audience::Requester(id),
        ];
        for audience in audiences {
            let written = NewFact {
                audience: Some(audience),
                ..told("é\u{1f600}")
            };
            let fact = written.clone();
            let seq = engine
                .store
                .write(move |tx| {
                    Box::pin(
                        async move { Ok::<_, StoreError>(facts::append(tx, NOW, fact).await?.seq) },
                    )
                })
                .await
                .unwrap();
            let read = engine
                .store
                .read(move |tx| Box::pin(async move { events::list_after(tx, seq - 1, 1).await }))
                .await
                .unwrap();
            assert_eq!(
                (read[0].seq, read[0].at, read[0].kind, read[0].audience),
                (seq, NOW, EventKind::FreezeChanged, audience)
            );
            assert_eq!(read[0].id.to_string(), seq.to_string());
            let heard: serde_json::Value = serde_json::from_str(&read[0].json).unwrap();
            assert_eq!(heard, written.detail, "{}", engine.name);
        }
    }
}

/// What nobody is told, what another version knows and what cannot be read has a number and no event.
#[tokio::test(flavor = "multi_thread")]
async fn entries_without_an_event_are_passed_over() {
    for engine in engines::both().await {
        let quiet = NewFact {
            audience: None,
            ..told("quiet")
        };
        let other = NewFact {
            verb: "incident.opened",
            ..told("other")
        };
        let damaged = NewFact {
            detail: json!({"frozen": "perhaps"}),
            ..told("damaged")
        };
        for fact in [told("first"), quiet, other, damaged, told("last")] {
            let written: Result<_, StoreError> = engine
                .store
                .write(move |tx| Box::pin(async move { facts::append(tx, NOW, fact).await }))
                .await;
            written.unwrap();
        }
        let page: Result<_, StoreError> = engine
            .store
            .read(|tx| Box::pin(events::page_after(tx, 1, 3)))
            .await;
        let page = page.unwrap();
        assert_eq!((page.events.len(), page.read_to), (0, Some(4)));
        assert_eq!(
            read_after(&engine.store, 0).await,
            [1, 5],
            "{}",
            engine.name
        );
    }
}

/// How long one takes, of the quickest of some.
async fn quickest<F: Future<Output = ()>>(mut one: impl FnMut() -> F) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        one().await;
        best = best.min(begun.elapsed());
    }
    best
}

/// Each commit is followed by a page of the record, so a page may not cost more the longer the record is.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_costs_the_same_wherever_it_begins() {
    const ENTRIES: u64 = 40_000;
    const TIMES_MAX: u32 = 20;
    let engine = engines::sqlite().await;
    let store = &engine.store;
    let filled = store.write(|tx| {
        Box::pin(async move {
            for number in 0..ENTRIES {
                facts::append(tx, NOW, told(&number.to_string())).await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    filled.await.unwrap();
    let forward = |after: u64| async move {
        let page = store.read(move |tx| Box::pin(events::page_after(tx, after, 5)));
        assert_eq!(page.await.unwrap().events.len(), 5);
    };
    let (early, late) = (
        quickest(|| forward(10)).await,
        quickest(|| forward(ENTRIES - 10)).await,
    );
    assert!(late < early * TIMES_MAX, "{late:?} instead of {early:?}");
    let back = |before: u64| async move {
        let filter = FactFilter::default();
        let page = store.read(move |tx| {
            Box::pin(async move { facts::list(tx, &filter, Some(before), 5).await })
        });
        assert_eq!(page.await.unwrap().items.len(), 5);
    };
    let (newest, oldest) = (
        quickest(|| back(ENTRIES)).await,
        quickest(|| back(10)).await,
    );
    assert!(
        oldest < newest * TIMES_MAX,
        "{oldest:?} instead of {newest:?}"
    );
}
