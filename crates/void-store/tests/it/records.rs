//! The smaller nouns: audit, tokens, sessions, the freeze.

use serde_json::json;
use void_domain::actors::ActorKind;
use void_domain::capabilities::Capability;
use void_domain::digests::Digest;
use void_domain::facts::NewFact;
use void_domain::freezes::{Freeze, Frozen};
use void_domain::ids::{SessionId, TokenId};
use void_domain::sessions::Method;
use void_domain::time::Timestamp;
use void_store::sessions::Session;
use void_store::tokens::Token;
use void_store::{Store, StoreError, facts, freezes, sessions, tokens};
use void_testkit::proposals::NOW;

use crate::engines;

async fn append(
    store: &Store,
    subject: String,
    fail: bool,
) -> Result<void_domain::facts::Fact, StoreError> {
    store
        .write(move |tx| {
            Box::pin(async move {
                let draft = NewFact {
                    request_id: None,
                    actor: "owner-cli".into(),
                    verb: "proposal.created",
                    subject: Some(subject),
                    detail: json!({"n": 1, "text": "é\u{1f600}\n"}),
                    catalogue: Some(Digest::of(b"c")),
                    audience: None,
                };
                let entry = facts::append(tx, NOW, draft).await?;
                if fail {
                    Err(StoreError::Internal("told to fail".into()))
                } else {
                    Ok(entry)
                }
            })
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_has_no_gap_whatever_is_rolled_back() {
    for engine in engines::both().await {
        let mut tasks = Vec::new();
        for n in 0..200 {
            let store = engine.store.clone();
            tasks.push(tokio::spawn(async move {
                append(&store, format!("s{}", n % 7), n % 3 == 0)
                    .await
                    .is_ok()
            }));
        }
        let mut kept = 0;
        for task in tasks {
            kept += u64::from(task.await.unwrap());
        }
        let (entries, head) = engine
            .store
            .read(|tx| {
                Box::pin(async move {
                    Ok::<_, StoreError>((
                        facts::list_after(tx, 0, 500).await?,
                        facts::head(tx).await?,
                    ))
                })
            })
            .await
            .unwrap();
        assert_eq!(entries.len() as u64, kept, "{}", engine.name);
        let (mut seq, mut hash) = (0, Digest::ZERO);
        for entry in &entries {
            assert_eq!(
                (entry.seq, entry.prev, entry.computed_hash()),
                (seq + 1, hash, entry.hash),
                "{}",
                engine.name
            );
            (seq, hash) = (entry.seq, entry.hash);
        }
        assert_eq!(head, (seq, hash), "{}", engine.name);

        let page = engine
            .store
            .read(|tx| {
                Box::pin(async move {
                    let filter = facts::FactFilter {
                        subject: Some("s1".to_owned()),
                        ..facts::FactFilter::default()
                    };
                    facts::list(tx, &filter, None, 5).await
                })
            })
            .await
            .unwrap();
        assert!(
            page.items
                .iter()
                .all(|entry| entry.subject.as_deref() == Some("s1"))
                && page.next.is_some()
        );
        assert!(page.items.is_sorted_by(|a, b| a.seq > b.seq));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_not_found_and_its_name_is_free_again() {
    for engine in engines::both().await {
        let token = |n: u8| Token {
            id: TokenId::new(NOW, [n; 10]),
            kind: ActorKind::Viewer,
            agent_id: None,
            name: "little-blue".into(),
            hash: Digest::of(&[n]),
            capabilities: [Capability::Read, Capability::Act].into_iter().collect(),
            created_at: NOW,
            last_used_at: None,
            revoked_at: None,
            resident: false,
        };
        let insert = |token: Token| {
            let store = engine.store.clone();
            async move {
                store
                    .write(move |tx| Box::pin(async move { tokens::insert(tx, &token).await }))
                    .await
            }
        };
        let find = |hash: Digest| {
            let store = engine.store.clone();
            async move {
                store
                    .read(move |tx| Box::pin(tokens::find_live(tx, hash)))
                    .await
                    .unwrap()
            }
        };
        insert(token(1)).await.unwrap();
        assert_eq!(
            find(Digest::of(&[1])).await,
            Some(token(1)),
            "{}",
            engine.name
        );
        assert!(
            matches!(insert(token(2)).await, Err(StoreError::Constraint(_))),
            "{}",
            engine.name
        );
        assert!(
            engine
                .store
                .write(|tx| Box::pin(tokens::revoke(tx, TokenId::new(NOW, [1; 10]), NOW)))
                .await
                .unwrap()
        );
        assert!(
            !engine
                .store
                .write(|tx| Box::pin(tokens::revoke(tx, TokenId::new(NOW, [1; 10]), NOW)))
                .await
                .unwrap()
        );
        assert_eq!(find(Digest::of(&[1])).await, None, "{}", engine.name);
        insert(token(2)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_until_it_ends_or_is_over() {
    for engine in engines::both().await {
        let session = Session {
            id: SessionId::new(NOW, [1; 10]),
            hash: Digest::of(b"cookie"),
            created_at: NOW,
            authenticated_at: NOW,
            expires_at: Timestamp::from_ms(NOW.as_ms() + 1_000),
            ended_at: None,
            method: Method::Token,
            device: "an unknown device".to_owned(),
            last_seen_at: NOW,
        };
        let stored = session.clone();
        engine
            .store
            .write(move |tx| Box::pin(async move { sessions::insert(tx, &stored).await }))
            .await
            .unwrap();
        let find = |at: i64| {
            let store = engine.store.clone();
            async move {
                store
                    .read(move |tx| {
                        Box::pin(sessions::find_live(
                            tx,
                            Digest::of(b"cookie"),
                            Timestamp::from_ms(NOW.as_ms() + at),
                        ))
                    })
                    .await
                    .unwrap()
            }
        };
        assert_eq!(find(999).await, Some(session.clone()), "{}", engine.name);
        assert_eq!(find(1_000).await, None, "{}", engine.name);
        let id = session.id;
        assert!(
            engine
                .store
                .write(move |tx| Box::pin(sessions::end(tx, id, NOW)))
                .await
                .unwrap()
        );
        assert_eq!(find(0).await, None, "{}", engine.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_reads_back() {
    for engine in engines::both().await {
        let frozen = Freeze::Frozen(Frozen {
            by: "owner-cli".into(),
            at: NOW,
            reason: Some("x".into()),
            until: Some(NOW),
        });
        for freeze in [frozen, Freeze::Thawed] {
            let saved = freeze.clone();
            engine
                .store
                .write(move |tx| Box::pin(async move { freezes::save(tx, &saved).await }))
                .await
                .unwrap();
            assert_eq!(
                engine
                    .store
                    .read(|tx| Box::pin(freezes::load(tx)))
                    .await
                    .unwrap(),
                freeze,
                "{}",
                engine.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_services_are_kept_in_order_and_forgotten_in_time() {
    use void_domain::services::Health;
    use void_store::services::{self, ServiceChange};
    for engine in engines::both().await {
        let change = |n: i64| ServiceChange {
            service_id: format!("s{}", n % 2),
            at: Timestamp::from_ms(n),
            from: Health::Up,
            to: Health::Down,
            reason: Some("refused".into()),
        };
        for n in [3, 1, 2, 4] {
            let change = change(n);
            engine
                .store
                .write(move |tx| Box::pin(async move { services::append(tx, &change).await }))
                .await
                .unwrap();
        }
        let pruned = engine
            .store
            .write(|tx| Box::pin(services::prune(tx, Timestamp::from_ms(2))))
            .await;
        assert_eq!(pruned, Ok(1), "{}", engine.name);
        let listed = engine
            .store
            .read(|tx| Box::pin(services::list_since(tx, "s0", Timestamp::from_ms(0), 10)))
            .await;
        assert_eq!(listed, Ok(vec![change(2), change(4)]), "{}", engine.name);
        let last = engine
            .store
            .read(|tx| Box::pin(services::last(tx, "s1")))
            .await;
        assert_eq!(last, Ok(Some(change(3))), "{}", engine.name);
    }
}
