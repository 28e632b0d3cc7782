//! The outbox: what is wanted, what was shown, what was put aside; keys and codes that work once.

use std::time::Duration;

use void_domain::digests::Digest;
use void_domain::ids::{NotificationId, ProposalId};
use void_domain::notifications::{About, Channel, Content, Key, Meaning, Target, Told};
use void_domain::time::Timestamp;
use void_store::notifications::{self, Kinds, New, keys, pairs};
use void_store::{Store, StoreError, proposals};
use void_testkit::proposals::{NOW, pending};

use crate::engines;

const CHAT: Target = Target::Telegram { user: 5 };

async fn proposal(store: &Store, n: u32) -> ProposalId {
    let created = pending(n);
    let id = created.proposal.id;
    let written =
        store.write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }));
    written.await.unwrap();
    id
}

pub async fn tell(store: &Store, n: u8, content: Content, not_before: Timestamp) -> NotificationId {
    let new = New {
        id: NotificationId::new(NOW, [n; 10]),
        target: CHAT,
        content,
        seq: 1,
        at: NOW,
        not_before,
    };
    let id = new.id;
    let written =
        store.write(move |tx| Box::pin(async move { notifications::insert(tx, &new).await }));
    written.await.unwrap();
    id
}

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {
        $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await
            .unwrap()
    };
}

async fn due(store: &Store, now: Timestamp) -> Vec<NotificationId> {
    let due = on!(store, |tx| notifications::list_due(
        tx,
        Channel::Telegram,
        now,
        10
    ));
    due.into_iter().map(|delivery| delivery.id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_while_it_is_sent_is_still_wanted() {
    for engine in engines::both().await {
        let store = &engine.store;
        let told = proposal(store, 1).await;
        let id = tell(store, 1, Content::Message(told), NOW).await;
        assert_eq!(due(store, NOW).await, [id], "{}", engine.name);
        assert_eq!(
            on!(store, |tx| notifications::told(tx, &[told])).remove(&told),
            Some(Told::NotYet)
        );
        // It moves while its first form is under way.
        assert_eq!(on!(store, |tx| notifications::changed(tx, told, NOW)), 1);
        on!(store, |tx| notifications::record_sent(
            tx,
            id,
            1,
            Some("77"),
            NOW,
            NOW
        ));
        assert_eq!(
            on!(store, |tx| notifications::told(tx, &[told])).remove(&told),
            Some(Told::Somebody)
        );
        assert_eq!(due(store, NOW).await, [id]);
        on!(store, |tx| notifications::record_sent(
            tx, id, 2, None, NOW, NOW
        ));
        assert!(due(store, NOW).await.is_empty());
        let found = on!(store, |tx| notifications::find_message(tx, told, &CHAT)).unwrap();
        assert_eq!((found.shown, found.message_ref.as_deref()), (2, Some("77")));
        // Two messages about the same thing at the same place cannot be.
        let twin = New {
            id: NotificationId::new(NOW, [9; 10]),
            target: CHAT,
            content: Content::Message(told),
            seq: 1,
            at: NOW,
            not_before: NOW,
        };
        let refused: Result<(), StoreError> = store
            .write(move |tx| Box::pin(async move { notifications::insert(tx, &twin).await }))
            .await;
        assert!(
            matches!(refused, Err(StoreError::Constraint(_))),
            "{refused:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_tried_again_then_put_aside_and_nobody_was_told() {
    for engine in engines::both().await {
        let store = &engine.store;
        let told = proposal(store, 1).await;
        let id = tell(store, 1, Content::Message(told), NOW).await;
        assert_eq!(on!(store, |tx| notifications::count_untold(tx)), 0);
        let later = NOW.plus(Duration::from_secs(5));
        on!(store, |tx| notifications::record_failed(
            tx,
            id,
            "no route",
            Some(later)
        ));
        assert_eq!(
            on!(store, |tx| notifications::told(tx, &[told])).remove(&told),
            Some(Told::Nobody)
        );
        assert_eq!(on!(store, |tx| notifications::count_untold(tx)), 1);
        assert!(due(store, NOW).await.is_empty());
        assert_eq!(due(store, later).await, [id]);
        on!(store, |tx| notifications::record_failed(
            tx, id, "blocked", None
        ));
        assert!(due(store, later).await.is_empty());
        let failed = on!(store, |tx| notifications::list_failed(tx, 10));
        assert_eq!(failed[0].last_error.as_deref(), Some("blocked"));
        assert_eq!(failed[0].tries, 2);
        assert_eq!(
            on!(store, |tx| notifications::standing(tx, &CHAT)),
            (0, 1, None)
        );
        assert!(on!(store, |tx| notifications::retry(tx, id, later)));
        assert!(!on!(store, |tx| notifications::retry(tx, id, later)));
        on!(store, |tx| notifications::record_sent(
            tx,
            id,
            1,
            Some("1"),
            later,
            later
        ));
        assert_eq!(on!(store, |tx| notifications::count_untold(tx)), 0);
        for (since, separate) in [(NOW.minus(Duration::from_secs(1)), 1), (NOW, 0)] {
            let counted = on!(store, |tx| notifications::count_separate(tx, &CHAT, since));
            assert_eq!(counted, separate);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_stands_for_many_and_follows_what_they_become() {
    for engine in engines::both().await {
        let store = &engine.store;
        let mut all = Vec::new();
        for n in 1..=7 {
            let id = proposal(store, u32::from(n)).await;
            tell(store, n, Content::Message(id), NOW).await;
            all.push(id);
        }
        assert_eq!(
            on!(store, |tx| notifications::count_fresh(tx, &CHAT, NOW)),
            (7, 0)
        );
        let digest = tell(store, 100, Content::Digest, NOW).await;
        assert_eq!(
            on!(store, |tx| notifications::gather(
                tx,
                &CHAT,
                digest,
                NOW,
                Kinds::All
            )),
            7
        );
        assert_eq!(due(store, NOW).await, [digest]);
        assert_eq!(on!(store, |tx| notifications::tally(tx, digest)).waiting, 7);
        assert_eq!(
            on!(store, |tx| notifications::members(tx, digest, 3)).len(),
            3
        );
        on!(store, |tx| notifications::record_sent(
            tx,
            digest,
            2,
            Some("9"),
            NOW,
            NOW
        ));
        let first = all[0];
        assert_eq!(
            on!(store, |tx| notifications::told(tx, &[first])).remove(&first),
            Some(Told::Somebody)
        );
        // One of them moves: the digest says something new. One of them goes wrong: it leaves.
        assert_eq!(on!(store, |tx| notifications::changed(tx, first, NOW)), 1);
        assert_eq!(due(store, NOW).await, [digest]);
        assert_eq!(
            on!(store, |tx| notifications::leave_digest(tx, first, NOW)),
            1
        );
        assert_eq!(due(store, NOW).await.len(), 2);
        // And one is to be said on its own, at one place.
        let second = all[1];
        assert!(on!(store, |tx| notifications::say_alone(
            tx, second, &CHAT, NOW
        )));
        assert_eq!(due(store, NOW).await.len(), 3);
        assert!(!on!(store, |tx| notifications::say_alone(
            tx,
            second,
            &Target::Ntfy,
            NOW
        )));
        let open = on!(store, |tx| notifications::find_open_digest(
            tx,
            &CHAT,
            NOW,
            Kinds::All
        ));
        assert_eq!(open, Some((digest, NOW)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_codes_and_the_lease_go_to_one() {
    for engine in engines::both().await {
        let store = &engine.store;
        let about = proposal(store, 1).await;
        let (hash, end) = (Digest::of(b"key"), NOW.plus(Duration::from_secs(30)));
        let key = Key {
            hash,
            target: CHAT,
            about: About::Proposal(about, Digest::of(b"digest")),
            revision: 0,
            meaning: Meaning::Approve,
            created_at: NOW,
            expires_at: end,
            used_at: None,
        };
        let stored = key.clone();
        on!(store, |tx| keys::insert(tx, &stored));
        assert_eq!(on!(store, |tx| keys::find(tx, hash)), Some(key));
        assert!(!on!(store, |tx| keys::use_up(tx, hash, end)), "too late");
        assert!(on!(store, |tx| keys::use_up(tx, hash, NOW)));
        assert!(!on!(store, |tx| keys::use_up(tx, hash, NOW)), "twice");
        assert_eq!(
            on!(store, |tx| keys::forget(
                tx,
                end.plus(Duration::from_secs(1))
            )),
            1
        );
        on!(store, |tx| pairs::insert_code(
            tx,
            hash,
            Channel::Telegram,
            NOW,
            end
        ));
        assert!(!on!(store, |tx| pairs::use_code(
            tx,
            Digest::of(b"x"),
            Channel::Telegram,
            NOW
        )));
        assert!(!on!(store, |tx| pairs::use_code(
            tx,
            hash,
            Channel::Telegram,
            end
        )));
        assert!(on!(store, |tx| pairs::use_code(
            tx,
            hash,
            Channel::Telegram,
            NOW
        )));
        assert!(!on!(store, |tx| pairs::use_code(
            tx,
            hash,
            Channel::Telegram,
            NOW
        )));
        let pair = pairs::Pair {
            target: CHAT,
            name: "eve".into(),
            paired_at: NOW,
        };
        let saved = pair.clone();
        on!(store, |tx| pairs::save(tx, &saved));
        assert_eq!(on!(store, |tx| pairs::list(tx)), [pair]);
        assert!(on!(store, |tx| pairs::end(tx, &CHAT, NOW)));
        assert!(on!(store, |tx| pairs::list(tx)).is_empty());
        assert!(on!(store, |tx| notifications::hold_lease(
            tx, "a", NOW, end
        )));
        assert!(on!(store, |tx| notifications::hold_lease(
            tx, "a", NOW, end
        )));
        assert!(!on!(store, |tx| notifications::hold_lease(
            tx, "b", NOW, end
        )));
        assert!(on!(store, |tx| notifications::hold_lease(
            tx, "b", end, end
        )));
        on!(store, |tx| notifications::release_lease(tx, "b"));
        assert!(on!(store, |tx| notifications::hold_lease(
            tx, "a", NOW, end
        )));
    }
}
