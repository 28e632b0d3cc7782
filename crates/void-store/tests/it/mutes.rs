//! Mutes: one holds for a subject, it is ended once, and what is over goes with the deliveries.

use std::time::Duration;

use void_domain::ids::MuteId;
use void_domain::mutes::{Mute, Muted};
use void_domain::time::Timestamp;
use void_store::{StoreError, mutes, retention};
use void_testkit::proposals::NOW;

use crate::engines;

const HOUR: Duration = Duration::from_secs(60 * 60);

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done
    }};
}

fn mute(n: u8, subject: &str, until: Timestamp) -> Mute {
    Mute {
        id: MuteId::new(NOW, [n; 10]),
        subject: Muted::parse(subject).unwrap(),
        reason: "a new disk".to_owned(),
        by: "owner-cli".to_owned(),
        at: NOW,
        until,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_mute_holds_for_a_subject_and_ends_once() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let first = mute(1, "service:caddy", NOW.plus(HOUR));
        let stored = first.clone();
        on!(store, |tx| mutes::insert(tx, &stored)).unwrap();
        let twin = mute(2, "service:caddy", NOW.plus(HOUR));
        let refused = on!(store, |tx| mutes::insert(tx, &twin));
        assert!(
            matches!(refused, Err(StoreError::Constraint(_))),
            "{name}: {refused:?}"
        );
        let backwards = mute(3, "host:ct100", NOW);
        let refused = on!(store, |tx| mutes::insert(tx, &backwards));
        assert!(matches!(refused, Err(StoreError::Constraint(_))), "{name}");
        let other = mute(4, "host:ct100", NOW.plus(HOUR));
        let stored = other.clone();
        on!(store, |tx| mutes::insert(tx, &stored)).unwrap();
        assert_eq!(
            on!(store, |tx| mutes::list(tx)).unwrap(),
            [other, first.clone()]
        );
        assert_eq!(on!(store, |tx| mutes::count(tx)), Ok(2));
        let id = first.id;
        assert_eq!(
            on!(store, |tx| mutes::end(tx, id, NOW, "owner-web")),
            Ok(true)
        );
        assert_eq!(
            on!(store, |tx| mutes::end(tx, id, NOW, "system")),
            Ok(false)
        );
        assert_eq!(on!(store, |tx| mutes::count(tx)), Ok(1));
        // The subject is free again.
        let next = mute(5, "service:caddy", NOW.plus(HOUR));
        on!(store, |tx| mutes::insert(tx, &next)).unwrap();
        let prune = async |before| {
            on!(store, |tx| retention::prune_notifications(tx, before, 100)).unwrap()
        };
        assert_eq!(prune(NOW).await, 0, "{name}");
        assert_eq!(prune(NOW.plus(HOUR)).await, 1, "{name}: what holds stays");
    }
}
