//! Outages and the alerts that tell of them: one row for a service however often it flaps, one message for a
//! place, said anew only when that is wanted, and forgotten when it is over.

use std::time::Duration;

use void_domain::alerts::{Ended, LastAlert, NAMED_MAX, OpenAlerts, Scope};
use void_domain::digests::Digest;
use void_domain::ids::{AlertId, MuteId, NotificationId};
use void_domain::mutes::{Mute, Muted};
use void_domain::notifications::{About, Channel, Content, Key, Meaning, MuteFor, Target};
use void_domain::services::ServiceId;
use void_domain::time::Timestamp;
use void_store::alerts::{self, NewAlerted};
use void_store::notifications::{self, Kinds, New, keys};
use void_store::{Store, StoreError, mutes, retention};
use void_testkit::proposals::NOW;

use crate::engines;

const CHAT: Target = Target::Telegram { user: 5 };
const MINUTE: Duration = Duration::from_secs(60);

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done.unwrap()
    }};
}

fn service(name: &str) -> ServiceId {
    ServiceId::parse(name).unwrap()
}

fn host() -> Scope {
    Scope::Host("ct100".to_owned())
}

fn alert_id(n: u8) -> AlertId {
    AlertId::new(NOW, [n; 10])
}

async fn goes_down(store: &Store, name: &str, at: Timestamp) -> NewAlerted {
    let id = service(name);
    let begun = id.clone();
    assert!(on!(store, |tx| alerts::begin_outage(
        tx,
        &begun,
        at,
        Some("refused")
    )));
    NewAlerted {
        service: id,
        label: name.to_owned(),
        host: Some("ct100".to_owned()),
        urgent: false,
        down_at: at,
        reason: Some("refused".to_owned()),
    }
}

/// An alert of one service at [`NOW`].
async fn opened(store: &Store, n: u8, name: &str) -> AlertId {
    let (id, new) = (alert_id(n), goes_down(store, name, NOW).await);
    on!(store, |tx| alerts::open(tx, id, &host(), NOW));
    on!(store, |tx| alerts::add(tx, id, &new));
    id
}

fn muting(n: u8, subject: &str) -> Mute {
    Mute {
        id: MuteId::new(NOW, [n; 10]),
        subject: Muted::parse(subject).unwrap(),
        reason: "a new disk".to_owned(),
        by: "owner".to_owned(),
        at: NOW,
        until: NOW.plus(MINUTE),
    }
}

async fn ends(store: &Store, name: &str, at: Timestamp) -> bool {
    let id = service(name);
    on!(store, |tx| alerts::end_outage(tx, &id, Ended::Up(at))).is_some()
}

async fn tell(store: &Store, n: u8, id: AlertId, not_before: Timestamp) -> NotificationId {
    let new = New {
        id: NotificationId::new(NOW, [n; 10]),
        target: CHAT,
        content: Content::Alert(id),
        seq: 0,
        at: NOW,
        not_before,
    };
    let told = new.id;
    on!(store, |tx| notifications::insert(tx, &new));
    told
}

async fn sent(store: &Store, id: NotificationId, shown: u64, again_at: Timestamp) {
    on!(store, |tx| notifications::record_sent(
        tx,
        id,
        shown,
        Some("77"),
        NOW,
        again_at
    ));
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
async fn services_join_flap_and_end_in_one_alert() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let id = opened(store, 1, "caddy").await;
        let twice = service("caddy");
        let again = on!(store, |tx| alerts::begin_outage(tx, &twice, NOW, None));
        assert!(!again, "{name}: it is down already");
        assert!(on!(store, |tx| alerts::list_untold(tx)).is_empty());
        let files = goes_down(store, "files", NOW.plus(MINUTE)).await;
        assert_eq!(on!(store, |tx| alerts::list_untold(tx)).len(), 1);
        on!(store, |tx| alerts::add(tx, id, &files));
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!((alert.total, alert.down, alert.revision), (2, 2, 2));
        assert_eq!(on!(store, |tx| alerts::list_open(tx)), [id]);
        for (muted, covered) in [
            (Muted::Service(service("files")), vec![id]),
            (Muted::Host("ct100".to_owned()), vec![id]),
            (Muted::Host("ct101".to_owned()), vec![]),
        ] {
            assert_eq!(on!(store, |tx| alerts::list_covered(tx, &muted)), covered);
        }
        assert!(!ends(store, "nobody", NOW).await);
        assert!(ends(store, "caddy", NOW.plus(2 * MINUTE)).await);
        assert!(!ends(store, "caddy", NOW.plus(2 * MINUTE)).await, "twice");
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!((alert.total, alert.down, alert.ended_at), (2, 1, None));
        assert_eq!(alert.named[0].label, "files", "what is down comes first");
        assert!(ends(store, "files", NOW.plus(3 * MINUTE)).await);
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!(alert.ended_at, Some(NOW.plus(3 * MINUTE)));
        let caddy = service("caddy");
        let last = on!(store, |tx| alerts::last_of(tx, &caddy));
        let expected = LastAlert {
            id,
            opened_at: NOW,
            up_at: NOW.plus(2 * MINUTE),
        };
        assert_eq!(last, Some(expected));
        // A thousand flaps are one row.
        for n in 0..1_000u32 {
            let at = NOW.plus(MINUTE * (4 + 2 * n));
            let caddy = goes_down(store, "caddy", at).await;
            on!(store, |tx| alerts::add(tx, id, &caddy));
            if n < 999 {
                assert!(ends(store, "caddy", at.plus(MINUTE)).await);
            }
        }
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!(
            (alert.total, alert.downs_max, alert.revision),
            (2, 1_001, 2)
        );
        assert_eq!((alert.down, alert.is_over()), (1, false), "{name}");
        assert_eq!(alert.named[0].first_at, NOW);
        let rows = on!(store, |tx| retention::sizes(tx));
        let count = rows.iter().find(|(table, _)| *table == "alerts").unwrap();
        assert_eq!(count.1, 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_found_by_its_scope_and_counted() {
    for engine in engines::both().await {
        let store = &engine.store;
        let none = on!(store, |tx| alerts::open_alerts(tx, &host()));
        assert_eq!(none, OpenAlerts::default(), "{}", engine.name);
        let first = opened(store, 1, "caddy").await;
        let many = alert_id(2);
        on!(store, |tx| alerts::open(tx, many, &Scope::Many, NOW));
        let open = on!(store, |tx| alerts::open_alerts(tx, &host()));
        let expected = OpenAlerts {
            here: Some((first, NOW)),
            many: Some(many),
            count: 2,
        };
        assert_eq!(open, expected);
        let node = Scope::Node("ct100".to_owned());
        let other = on!(store, |tx| alerts::open_alerts(tx, &node));
        assert_eq!(other.here, None, "a node is no host");
        assert!(ends(store, "caddy", NOW).await);
        let open = on!(store, |tx| alerts::open_alerts(tx, &host()));
        assert_eq!((open.here, open.count), (None, 1));
        for n in 0..NAMED_MAX + 5 {
            let new = goes_down(store, &format!("s{n}"), NOW).await;
            on!(store, |tx| alerts::add(tx, many, &new));
        }
        let alert = on!(store, |tx| alerts::find(tx, many)).unwrap();
        let named = u32::try_from(alert.named.len()).unwrap();
        assert_eq!((alert.total, named), (u64::from(NAMED_MAX) + 5, NAMED_MAX));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_changes_in_place_in_its_time_and_is_said_anew_once() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let id = opened(store, 1, "caddy").await;
        let told = tell(store, 1, id, NOW).await;
        assert!(on!(store, |tx| notifications::alerts::exists(
            tx, id, &CHAT
        )));
        let again_at = NOW.plus(MINUTE);
        sent(store, told, 1, again_at).await;
        assert!(due(store, again_at).await.is_empty());
        // It changes before the place is due again: it is said then, not before.
        for _ in 0..3 {
            assert_eq!(
                on!(store, |tx| notifications::alerts::changed(tx, id, NOW)),
                1
            );
        }
        assert!(due(store, NOW).await.is_empty(), "{name}");
        assert_eq!(due(store, again_at).await, [told]);
        sent(store, told, 4, again_at).await;
        // It flapped and stays down: the row is said as something new, the old message is still known.
        let before = NOW.plus(MINUTE);
        assert!(on!(store, |tx| alerts::list_to_repeat(tx, before)).is_empty());
        on!(store, |tx| alerts::note_again(tx, id, NOW));
        assert_eq!(on!(store, |tx| alerts::list_to_repeat(tx, NOW)), [id]);
        assert!(on!(store, |tx| alerts::note_repeated(tx, id)));
        assert!(!on!(store, |tx| alerts::note_repeated(tx, id)), "once");
        let again = on!(store, |tx| notifications::alerts::say_again(
            tx, id, NOW, NOW
        ));
        assert_eq!(again, 1);
        let found = on!(store, |tx| notifications::alerts::find(tx, id, &CHAT)).unwrap();
        assert_eq!((found.shown, found.wanted, found.held), (0, 5, false));
        assert_eq!(found.message_ref.as_deref(), Some("77"));
        assert_eq!(
            on!(store, |tx| notifications::alerts::count_fresh(
                tx, &CHAT, NOW
            )),
            0,
            "{name}: no digest takes what is said once more"
        );
        // What is over is not repeated.
        on!(store, |tx| alerts::note_again(tx, id, NOW));
        assert!(ends(store, "caddy", NOW).await);
        assert!(on!(store, |tx| alerts::list_to_repeat(tx, before)).is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_takes_alerts_and_leaves_proposals_alone() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let morning = NOW.plus(60 * MINUTE);
        let held = opened(store, 1, "caddy").await;
        let told = tell(store, 1, held, morning).await;
        assert!(due(store, NOW).await.is_empty());
        // What the owner marked joins it: then it does not wait.
        let hastened = on!(store, |tx| notifications::alerts::hasten(
            tx, held, NOW, NOW
        ));
        assert_eq!(hastened, 1);
        assert_eq!(due(store, NOW).await, [told], "{name}");
        // Muted before it was told: it waits, and the end of the quiet hours is no reason.
        let later = morning.plus(60 * MINUTE);
        assert_eq!(
            on!(store, |tx| notifications::alerts::hold(tx, held, later)),
            1
        );
        assert!(due(store, morning).await.is_empty(), "{name}");
        let released = on!(store, |tx| notifications::alerts::hasten(
            tx, held, NOW, morning
        ));
        assert_eq!(released, 1);
        assert_eq!(due(store, morning).await, [told], "{name}");
        let hastened = on!(store, |tx| notifications::alerts::hasten(
            tx, held, NOW, NOW
        ));
        assert_eq!(hastened, 1, "{name}: lifted");
        let (one, other) = (
            opened(store, 2, "files").await,
            opened(store, 3, "web").await,
        );
        tell(store, 2, one, NOW).await;
        tell(store, 3, other, NOW).await;
        let fresh = on!(store, |tx| notifications::alerts::count_fresh(
            tx, &CHAT, NOW
        ));
        assert_eq!(fresh, 3);
        assert_eq!(
            on!(store, |tx| notifications::count_fresh(tx, &CHAT, NOW)),
            (0, 0)
        );
        let digest = NotificationId::new(NOW, [9; 10]);
        let new = New {
            id: digest,
            target: CHAT,
            content: Content::Digest,
            seq: 0,
            at: NOW,
            not_before: NOW,
        };
        on!(store, |tx| notifications::insert(tx, &new));
        let gathered = on!(store, |tx| notifications::gather(
            tx,
            &CHAT,
            digest,
            NOW,
            Kinds::Alerts
        ));
        assert_eq!(gathered, 3);
        let open = async |kinds| {
            on!(store, |tx| notifications::find_open_digest(
                tx, &CHAT, NOW, kinds
            ))
        };
        assert_eq!(open(Kinds::Alerts).await, Some((digest, NOW)));
        assert_eq!(open(Kinds::All).await, None, "{name}: none for proposals");
        let (count, named) = on!(store, |tx| notifications::alerts::members(tx, digest, 2));
        assert_eq!((count, named.len()), (3, 2));
        on!(store, |tx| notifications::record_sent(
            tx, digest, 2, None, NOW, NOW
        ));
        assert!(due(store, NOW).await.is_empty());
        // One of them is up again: the digest says so.
        assert!(ends(store, "files", NOW).await);
        assert_eq!(
            on!(store, |tx| notifications::alerts::changed(tx, one, NOW)),
            1
        );
        assert_eq!(due(store, NOW).await, [digest]);
        assert_eq!(
            on!(store, |tx| notifications::alerts::count_separate(
                tx,
                &CHAT,
                NOW.minus(MINUTE)
            )),
            0
        );
    }
}

/// Programs do not sleep, and a mute holds them back all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_mute_holds_back_what_is_posted_and_is_no_news_itself() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let (morning, later) = (NOW.plus(60 * MINUTE), NOW.plus(120 * MINUTE));
        let id = opened(store, 1, "caddy").await;
        let new = New {
            id: NotificationId::new(NOW, [7; 10]),
            target: Target::Webhook {
                name: "n8n".to_owned(),
            },
            content: Content::Alert(id),
            seq: 0,
            at: NOW,
            not_before: NOW,
        };
        let hook = new.id;
        on!(store, |tx| notifications::insert(tx, &new));
        let posts = async |now| {
            let due = on!(store, |tx| notifications::list_due(
                tx,
                Channel::Webhook,
                now,
                10
            ));
            due.len()
        };
        assert_eq!(
            on!(store, |tx| notifications::alerts::hold(tx, id, later)),
            1
        );
        assert_eq!((posts(NOW).await, posts(later).await), (0, 1), "{name}");
        on!(store, |tx| notifications::alerts::hasten(
            tx, id, NOW, morning
        ));
        assert_eq!(posts(NOW).await, 1, "{name}: lifted, whatever the hour");
        sent(store, hook, 1, NOW).await;
        let changed = on!(store, |tx| notifications::alerts::changed_mute(tx, id, NOW));
        assert_eq!((changed, posts(later).await), (0, 0), "{name}");
        on!(store, |tx| notifications::alerts::say_again(
            tx, id, NOW, NOW
        ));
        assert_eq!(posts(later).await, 0, "{name}: that is for people");
        on!(store, |tx| notifications::alerts::post_again(tx, id, NOW));
        assert_eq!(posts(NOW).await, 1, "{name}");
    }
}

/// What the owner stopped stays an outage that nobody is told of, until it is up.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_owner_stopped_leaves_its_alert_and_is_down_still() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let id = opened(store, 1, "caddy").await;
        let (caddy, at) = (service("caddy"), NOW.plus(MINUTE));
        let stopped = caddy.clone();
        let ended = on!(store, |tx| alerts::end_outage(
            tx,
            &stopped,
            Ended::Stopped(at)
        ));
        assert_eq!(ended.unwrap().alert, Some(id));
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!((alert.down, alert.ended_at), (0, Some(at)), "{name}");
        assert_eq!(alert.named[0].ended, Some(Ended::Stopped(at)));
        let untold = on!(store, |tx| alerts::list_untold(tx));
        assert_eq!((untold.len(), untold[0].down_at), (1, NOW), "{name}");
        // It does not flap, so its old alert does not go on.
        assert_eq!(on!(store, |tx| alerts::last_of(tx, &caddy)), None);
        assert!(ends(store, "caddy", at).await);
        assert!(on!(store, |tx| alerts::list_outages(tx)).is_empty());
        let alert = on!(store, |tx| alerts::find(tx, id)).unwrap();
        assert_eq!(alert.named[0].ended, Some(Ended::Stopped(at)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_was_told_is_counted_by_service() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let untold = async || on!(store, |tx| notifications::alerts::count_untold(tx));
        let silent = goes_down(store, "silent", NOW).await;
        assert_eq!(untold().await, 0, "{name}: nobody is to be told of it");
        let id = opened(store, 1, "caddy").await;
        on!(store, |tx| alerts::add(tx, id, &silent));
        assert_eq!(untold().await, 2, "{name}: there is nowhere to tell it");
        let told = tell(store, 1, id, NOW).await;
        assert_eq!(untold().await, 0, "{name}: on its way");
        on!(store, |tx| notifications::record_failed(
            tx, told, "blocked", None
        ));
        assert_eq!(untold().await, 2, "{name}: every way was tried");
        for (n, subject, left) in [
            (1, "service:caddy", 1),
            (2, "host:ct100", 0),
            (3, "host:ct1", 2),
            (4, "service:ct100", 2),
        ] {
            let mute = muting(n, subject);
            let id = mute.id;
            on!(store, |tx| mutes::insert(tx, &mute));
            assert_eq!(untold().await, left, "{name}: {subject} is muted");
            assert!(on!(store, |tx| mutes::end(tx, id, NOW, "owner")));
            assert_eq!(untold().await, 2, "{name}: {subject} is told again");
        }
        assert!(ends(store, "silent", NOW).await);
        assert_eq!(untold().await, 1);
        assert!(on!(store, |tx| notifications::retry(tx, told, NOW)));
        sent(store, told, 1, NOW).await;
        assert_eq!(untold().await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_an_alert_is_one_and_what_is_half_is_refused() {
    for engine in engines::both().await {
        let store = &engine.store;
        let id = opened(store, 1, "caddy").await;
        let key = |hash: &[u8], about, meaning| Key {
            hash: Digest::of(hash),
            target: CHAT,
            about,
            revision: 1,
            meaning,
            created_at: NOW,
            expires_at: NOW.plus(MINUTE),
            used_at: None,
        };
        let good = key(b"a", About::Alert(id), Meaning::Mute(MuteFor::Hour));
        let stored = good.clone();
        on!(store, |tx| keys::insert(tx, &stored));
        let hash = good.hash;
        assert_eq!(on!(store, |tx| keys::find(tx, hash)), Some(good));
        assert!(on!(store, |tx| keys::use_up(tx, hash, NOW)));
        assert!(!on!(store, |tx| keys::use_up(tx, hash, NOW)), "twice");
        for (n, (about, meaning)) in [
            (About::Alert(id), Meaning::Approve),
            (About::Alert(id), Meaning::Test),
            (About::Nothing, Meaning::Unmute),
            (About::Nothing, Meaning::Mute(MuteFor::EightHours)),
        ]
        .into_iter()
        .enumerate()
        {
            let bad = key(n.to_string().as_bytes(), about, meaning);
            let refused: Result<(), StoreError> = store
                .write(move |tx| Box::pin(async move { keys::insert(tx, &bad).await }))
                .await;
            let is_refused = matches!(refused, Err(StoreError::Constraint(_)));
            assert!(is_refused, "{} {meaning:?}: {refused:?}", engine.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_that_are_over_go_with_what_is_about_them() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let (over, open) = (
            opened(store, 1, "caddy").await,
            opened(store, 2, "web").await,
        );
        for (n, id) in [(1, over), (2, open)] {
            let told = tell(store, n, id, NOW).await;
            sent(store, told, 1, NOW).await;
            let key = Key {
                hash: Digest::of(&[n]),
                target: CHAT,
                about: About::Alert(id),
                revision: 1,
                meaning: Meaning::Unmute,
                created_at: NOW,
                expires_at: NOW.plus(MINUTE),
                used_at: None,
            };
            on!(store, |tx| keys::insert(tx, &key));
        }
        assert!(ends(store, "caddy", NOW).await);
        let prune = async |before| on!(store, |tx| retention::prune_notifications(tx, before, 100));
        assert_eq!(prune(NOW).await, 0, "{name}: not old enough");
        // The key, the delivery, the service's row and the alert.
        assert_eq!(prune(NOW.plus(MINUTE)).await, 4, "{name}");
        assert_eq!(prune(NOW.plus(MINUTE)).await, 0, "{name}");
        assert_eq!(on!(store, |tx| alerts::find(tx, over)), None);
        assert!(on!(store, |tx| alerts::find(tx, open)).is_some());
        assert_eq!(on!(store, |tx| alerts::list_outages(tx)).len(), 1);
    }
}
