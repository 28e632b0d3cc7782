//! Events are numbered in the order of their commits: whoever has seen number n has seen, or can
//! read, every number below it.

use serde_json::json;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::RequesterId;
use void_store::{Store, StoreError, events};
use void_testkit::proposals::NOW;

use crate::engines;

fn draft(label: &str) -> NewEvent {
    NewEvent {
        kind: EventKind::FreezeChanged,
        audience: Audience::Everyone,
        payload: json!({"label": label}),
    }
}

async fn append(store: &Store, label: String, fail: bool) -> Result<u64, StoreError> {
    store
        .write(move |tx| {
            Box::pin(async move {
                let seq = events::append(tx, NOW, &draft(&label)).await?;
                if fail {
                    Err(StoreError::Internal("told to fail".into()))
                } else {
                    Ok(seq)
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
            let written = NewEvent {
                audience,
                ..draft("é\u{1f600}")
            };
            let event = written.clone();
            let seq = engine
                .store
                .write(move |tx| Box::pin(async move { events::append(tx, NOW, &event).await }))
                .await
                .unwrap();
            let read = engine
                .store
                .read(move |tx| Box::pin(async move { events::list_after(tx, seq - 1, 1).await }))
                .await
                .unwrap();
            assert_eq!(
                (read[0].seq, read[0].at, read[0].kind, read[0].audience),
                (seq, NOW, written.kind, audience)
            );
            assert_eq!(
                read[0].payload,
                written.payload.to_string(),
                "{}",
                engine.name
            );
        }
    }
}
