//! How the owner signs in: passwords, set-up links, challenges and passkeys.

use void_domain::digests::Digest;
use void_domain::ids::{ChallengeId, PasskeyId, SessionId};
use void_domain::secrets::Secret;
use void_domain::sessions::Method;
use void_domain::time::Timestamp;
use void_store::challenges::{self, Purpose};
use void_store::passkeys::{self, Passkey};
use void_store::sessions::{self, Session};
use void_store::{Store, StoreError, passwords, setup_links};
use void_testkit::proposals::NOW;

use crate::engines;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(NOW.as_ms() + ms)
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_one_password_or_none() {
    for engine in engines::both().await {
        let store = &engine.store;
        let find = async || {
            let found = store.read(|tx| Box::pin(passwords::find(tx))).await;
            found.unwrap().map(|hash| hash.expose().to_owned())
        };
        assert_eq!(find().await, None, "{}", engine.name);
        for hash in ["$argon2id$one", "$argon2id$two"] {
            let secret = Secret::new(hash);
            let set = store
                .write(move |tx| Box::pin(async move { passwords::set(tx, &secret, NOW).await }));
            set.await.unwrap();
            assert_eq!(find().await.as_deref(), Some(hash), "{}", engine.name);
        }
        let plain = Secret::new("hunter2");
        let refused = store
            .write(move |tx| Box::pin(async move { passwords::set(tx, &plain, NOW).await }))
            .await;
        assert!(
            matches!(refused, Err(StoreError::Constraint(_))),
            "{}: {refused:?}",
            engine.name
        );
        for removed in [true, false] {
            let remove = store.write(|tx| Box::pin(passwords::remove(tx)));
            assert_eq!(remove.await, Ok(removed), "{}", engine.name);
        }
        assert_eq!(find().await, None, "{}", engine.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_redeemed_once_and_in_time() {
    for engine in engines::both().await {
        let store = &engine.store;
        let redeem = async |code: &'static [u8], now| {
            let hash = Digest::of(code);
            let redeem = store.write(move |tx| Box::pin(setup_links::redeem(tx, hash, at(now))));
            redeem.await.unwrap()
        };
        for code in [b"one", b"two"] {
            let hash = Digest::of(code);
            let insert =
                store.write(move |tx| Box::pin(setup_links::insert(tx, hash, at(0), at(100))));
            insert.await.unwrap();
        }
        assert!(!redeem(b"three", 1).await, "{}", engine.name);
        assert!(redeem(b"one", 99).await, "{}", engine.name);
        assert!(!redeem(b"one", 99).await, "{}", engine.name);
        assert!(!redeem(b"two", 100).await, "{}", engine.name);
    }
}

pub async fn session(store: &Store, n: u8) -> SessionId {
    let session = Session {
        id: SessionId::new(NOW, [n; 10]),
        hash: Digest::of(&[n]),
        created_at: NOW,
        authenticated_at: NOW,
        expires_at: at(1_000),
        ended_at: None,
        method: Method::Setup,
        device: "Firefox on Android".to_owned(),
        last_seen_at: NOW,
    };
    let id = session.id;
    let insert =
        store.write(move |tx| Box::pin(async move { sessions::insert(tx, &session).await }));
    insert.await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_is_taken_once_for_what_it_was_made_for() {
    for engine in engines::both().await {
        let store = &engine.store;
        let (one, two) = (session(store, 1).await, session(store, 2).await);
        let purposes = [
            Purpose::Login,
            Purpose::Confirm(one),
            Purpose::Confirm(two),
            Purpose::Register(one),
        ];
        let id = |n: u8| ChallengeId::new(NOW, [n; 10]);
        let put = async |n: u8, purpose| {
            let insert = store.write(move |tx| {
                Box::pin(challenges::insert(
                    tx,
                    id(n),
                    purpose,
                    "{}",
                    at(0),
                    at(100),
                    3,
                ))
            });
            insert.await.unwrap();
        };
        let take = async |n: u8, purpose, now| {
            let take =
                store.write(move |tx| Box::pin(challenges::take(tx, id(n), purpose, at(now))));
            take.await.unwrap()
        };
        for made in purposes {
            for shown in purposes {
                put(1, made).await;
                let expected = (made == shown).then(|| "{}".to_owned());
                assert_eq!(take(1, shown, 99).await, expected, "{}", engine.name);
                assert_eq!(take(1, made, 99).await, None, "it is gone then");
            }
        }
        put(1, Purpose::Login).await;
        assert_eq!(take(1, Purpose::Login, 100).await, None, "{}", engine.name);
        // Of each kind the newest three stay; logins do not push out what an open session began.
        put(9, Purpose::Confirm(one)).await;
        for n in 1..=5 {
            put(n, Purpose::Login).await;
        }
        let mut left = Vec::new();
        for n in 1..=5 {
            left.push(take(n, Purpose::Login, 1).await.is_some());
        }
        assert_eq!(left, [false, false, true, true, true], "{}", engine.name);
        assert!(take(9, Purpose::Confirm(one), 1).await.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkeys_counter_never_goes_back() {
    for engine in engines::both().await {
        let store = &engine.store;
        let passkey = |n: u8, counter| Passkey {
            id: PasskeyId::new(NOW, [n; 10]),
            name: "phone".to_owned(),
            relying_party: "localhost".to_owned(),
            user_handle: "019a0000-0000-7000-8000-000000000000".to_owned(),
            credential_id: format!("id-{n}"),
            credential: "{}".to_owned(),
            counter,
            created_at: NOW,
            last_used_at: None,
        };
        let insert = async |passkey: Passkey| {
            let insert = store
                .write(move |tx| Box::pin(async move { passkeys::insert(tx, &passkey).await }));
            insert.await
        };
        let used = async |n: u8, counter| {
            let id = passkey(n, 0).id;
            let note = store.write(move |tx| {
                Box::pin(
                    async move { passkeys::note_use(tx, id, "{\"used\":1}", counter, at(7)).await },
                )
            });
            note.await.unwrap()
        };
        insert(passkey(1, 0)).await.unwrap();
        insert(passkey(2, 5)).await.unwrap();
        let twin = Passkey {
            id: PasskeyId::new(NOW, [3; 10]),
            ..passkey(1, 0)
        };
        assert!(
            matches!(insert(twin).await, Err(StoreError::Constraint(_))),
            "{}",
            engine.name
        );
        let counts = [(1, 0, true), (1, 0, true), (1, 1, true), (1, 0, false)];
        let more = [(2, 5, false), (2, 4, false), (2, 6, true), (9, 1, false)];
        for (n, counter, noted) in counts.into_iter().chain(more) {
            assert_eq!(used(n, counter).await, noted, "{} {n}", engine.name);
        }
        let listed = store
            .read(|tx| Box::pin(passkeys::list(tx, 10)))
            .await
            .unwrap();
        let expected = Passkey {
            credential: "{\"used\":1}".to_owned(),
            last_used_at: Some(at(7)),
            ..passkey(2, 6)
        };
        assert_eq!(listed.first(), Some(&expected), "{}", engine.name);
        let id = expected.id;
        for removed in [true, false] {
            let remove = store.write(move |tx| Box::pin(passkeys::remove(tx, id)));
            assert_eq!(remove.await, Ok(removed), "{}", engine.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn use_and_proof_move_a_session_apart_from_each_other() {
    for engine in engines::both().await {
        let store = &engine.store;
        let id = session(store, 1).await;
        let find = async || {
            let live = store.read(|tx| Box::pin(sessions::list_live(tx, at(1_500), 10)));
            live.await.unwrap().pop()
        };
        let slide = async |now, until| {
            let slide =
                store.write(move |tx| Box::pin(sessions::slide(tx, id, at(now), at(until))));
            slide.await.unwrap()
        };
        let prove = async |now| {
            let prove = store.write(move |tx| Box::pin(sessions::authenticate(tx, id, at(now))));
            prove.await.unwrap()
        };
        assert!(slide(900, 1_900).await, "{}", engine.name);
        assert!(!slide(900, 1_900).await, "a use that is known");
        let seen = find().await.unwrap();
        assert_eq!(
            (seen.last_seen_at, seen.expires_at, seen.authenticated_at),
            (at(900), at(1_900), NOW),
            "{}",
            engine.name
        );
        assert!(prove(1_000).await, "{}", engine.name);
        let proved = find().await.unwrap();
        assert_eq!(
            (proved.last_seen_at, proved.authenticated_at),
            (at(900), at(1_000)),
            "{}",
            engine.name
        );
        assert!(!slide(1_900, 9_000).await, "it is over");
        assert!(!prove(1_900).await, "it is over");
        let end = store.write(move |tx| Box::pin(sessions::end(tx, id, at(1_000))));
        assert_eq!(end.await, Ok(true), "{}", engine.name);
        assert!(!slide(1_001, 9_000).await && !prove(1_001).await);
        assert_eq!(find().await, None, "{}", engine.name);
    }
}
