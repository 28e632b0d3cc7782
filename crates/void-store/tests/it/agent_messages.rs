//! Messages in mailboxes: what a state may be, who moves it, and that a row that cannot be is named.

use std::time::Duration;

use void_domain::agent_messages::{
    AgentMessage, AgentMessageState, DeadReason, EXPIRES_AFTER, MailboxLoad, MessageContent,
    MessageText, OwnWake, Sender,
};
use void_domain::agents::AgentName;
use void_domain::ids::AgentMessageId;
use void_domain::taint::Taint;
use void_store::StoreError;
use void_store::agent_messages::{self as table, MailboxCounts, MailboxFilter};
use void_testkit::proposals::NOW;

use crate::engines;

macro_rules! on {
    ($store:expr, |$tx:ident| $body:expr) => {{
        let done: Result<_, StoreError> = $store
            .write(move |$tx| Box::pin(async move { $body.await }))
            .await;
        done
    }};
}

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn message(number: u8, sender: &str, receiver: &str) -> AgentMessage {
    let id = AgentMessageId::new(NOW, [number; 10]);
    AgentMessage {
        id,
        sender: sender.parse().unwrap(),
        receiver: name(receiver),
        seq: u64::from(number),
        key: format!("key-{number}").parse().unwrap(),
        content: MessageContent::Text(MessageText::parse("ä \"text\"\nof two lines").unwrap()),
        taint: Taint::clean(),
        sent_at: NOW,
        expires_at: NOW.plus(EXPIRES_AFTER),
        state: AgentMessageState::Waiting,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_counted_and_comes_in_its_order() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        let first = message(1, "agent-alice", "bob");
        let wake = AgentMessage {
            content: MessageContent::Wake(OwnWake::Hook),
            taint: Taint::from_sources(vec!["page".to_owned()]),
            ..message(2, "agent-bob", "bob")
        };
        for one in [first.clone(), wake.clone(), message(3, "owner", "carol")] {
            on!(store, |tx| table::insert(tx, &one)).unwrap();
        }
        let bob = name("bob");
        let open = on!(store, |tx| table::list_open(tx, &bob, true, 0, 10)).unwrap();
        assert_eq!(open, [first.clone(), wake.clone()], "{engine}");
        let bob = name("bob");
        let clean = on!(store, |tx| table::list_open(tx, &bob, false, 0, 10)).unwrap();
        assert_eq!(clean, std::slice::from_ref(&first), "{engine}");
        let bob = name("bob");
        let later = on!(store, |tx| table::list_open(tx, &bob, true, 1, 10)).unwrap();
        assert_eq!(later, std::slice::from_ref(&wake), "{engine}");
        let bob = name("bob");
        let counted = on!(store, |tx| table::count_open(tx, &bob)).unwrap();
        assert_eq!(counted, (2, 1), "{engine}");
        let (bob, alice) = (name("bob"), first.sender.clone());
        let load = on!(store, |tx| table::load(tx, &bob, &alice)).unwrap();
        assert_eq!(
            load,
            MailboxLoad {
                all: 2,
                of_sender: 1
            },
            "{engine}"
        );
        let nobody = name("nobody");
        assert_eq!(
            on!(store, |tx| table::next_seq(tx, &nobody)),
            Ok(1),
            "{engine}"
        );
        let bob = name("bob");
        assert_eq!(
            on!(store, |tx| table::next_seq(tx, &bob)),
            Ok(3),
            "{engine}"
        );
        let bob = name("bob");
        let waiting = on!(store, |tx| table::find_waiting_wake(
            tx,
            &bob,
            OwnWake::Hook
        ));
        assert_eq!(waiting.unwrap(), Some(wake), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_handed_out_and_acknowledged_once() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        let first = message(1, "agent-alice", "bob");
        let one = first.clone();
        on!(store, |tx| table::insert(tx, &one)).unwrap();
        let (bob, id) = (name("bob"), first.id);
        // What was not handed out is not acknowledged.
        let early = on!(store, |tx| table::acknowledge(tx, &bob, id, NOW));
        assert_eq!(early, Ok(false), "{engine}");
        let delivered = first.clone().deliver(NOW).unwrap();
        for expected in [true, false] {
            let one = delivered.clone();
            let saved = on!(store, |tx| table::save_state(tx, &one, 0));
            assert_eq!(saved, Ok(expected), "{engine}: two who hand it out at once");
        }
        for (who, expected) in [("carol", false), ("bob", true), ("bob", false)] {
            let who = name(who);
            let acknowledged = on!(store, |tx| table::acknowledge(tx, &who, id, NOW));
            assert_eq!(acknowledged, Ok(expected), "{engine}");
        }
        let late = delivered.bury(NOW, DeadReason::Expired).unwrap();
        let buried = on!(store, |tx| table::save_state(tx, &late, 1));
        assert_eq!(buried, Ok(false), "{engine}");
        let found = on!(store, |tx| table::find(tx, id)).unwrap().unwrap();
        let acknowledged = AgentMessageState::Acknowledged {
            deliveries: 1,
            at: NOW,
        };
        assert_eq!(found.state, acknowledged, "{engine}");
        let bob = name("bob");
        let counts = on!(store, |tx| table::counts(tx, &bob)).unwrap();
        let expected = MailboxCounts {
            acknowledged: 1,
            ..MailboxCounts::default()
        };
        assert_eq!(counts, expected, "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_its_senders_own_and_a_place_is_taken_once() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        let first = message(1, "agent-alice", "bob");
        let one = first.clone();
        on!(store, |tx| table::insert(tx, &one)).unwrap();
        let same_key = AgentMessage {
            key: first.key.clone(),
            ..message(2, "agent-alice", "carol")
        };
        assert!(
            on!(store, |tx| table::insert(tx, &same_key)).is_err(),
            "{engine}"
        );
        let same_place = AgentMessage {
            seq: 1,
            ..message(3, "owner", "bob")
        };
        assert!(
            on!(store, |tx| table::insert(tx, &same_place)).is_err(),
            "{engine}"
        );
        let other = AgentMessage {
            key: first.key.clone(),
            ..message(4, "owner", "bob")
        };
        on!(store, |tx| table::insert(tx, &other)).unwrap();
        for (sender, expected) in [
            (Sender::Owner, Some(AgentMessageId::new(NOW, [4; 10]))),
            (first.sender.clone(), Some(first.id)),
            (Sender::Agent(name("bob")), None),
        ] {
            let key = first.key.clone();
            let found = on!(store, |tx| table::find_by_key(tx, &sender, &key)).unwrap();
            assert_eq!(found.map(|found| found.id), expected, "{engine}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_their_senders_until_they_know() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        for one in [
            message(1, "agent-alice", "bob"),
            message(2, "agent-alice", "bob"),
        ] {
            on!(store, |tx| table::insert(tx, &one)).unwrap();
        }
        let alive = on!(store, |tx| table::list_undeliverable(tx, NOW, 10)).unwrap();
        assert_eq!(alive, [], "{engine}");
        let later = NOW.plus(EXPIRES_AFTER);
        let over = on!(store, |tx| table::list_undeliverable(tx, later, 1)).unwrap();
        assert_eq!(over.len(), 1, "{engine}");
        let (first, is_gone) = over[0].clone();
        assert!(!is_gone, "{engine}");
        let dead = first.bury(later, DeadReason::Expired).unwrap();
        let (one, id) = (dead.clone(), dead.id);
        assert_eq!(
            on!(store, |tx| table::save_state(tx, &one, 0)),
            Ok(true),
            "{engine}"
        );
        let alice: Sender = "agent-alice".parse().unwrap();
        for (who, expected) in [(Sender::Owner, 0), (alice.clone(), 1)] {
            let told = on!(store, |tx| table::list_unnoticed(tx, &who, 10)).unwrap();
            assert_eq!(told.len(), expected, "{engine}");
        }
        for (who, expected) in [
            (Sender::Owner, false),
            (alice.clone(), true),
            (alice, false),
        ] {
            let noticed = on!(store, |tx| table::notice(tx, &who, id, later));
            assert_eq!(noticed, Ok(expected), "{engine}");
        }
        let gone = later.plus(Duration::from_millis(1));
        assert_eq!(
            on!(store, |tx| table::has_ended(tx, later)),
            Ok(false),
            "{engine}"
        );
        assert_eq!(
            on!(store, |tx| table::has_ended(tx, gone)),
            Ok(true),
            "{engine}"
        );
        assert_eq!(
            on!(store, |tx| table::forget_ended(tx, gone, 10)),
            Ok(1),
            "{engine}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailbox_is_listed_newest_first() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        for one in [
            message(1, "agent-alice", "bob"),
            message(2, "agent-alice", "bob"),
        ] {
            on!(store, |tx| table::insert(tx, &one)).unwrap();
        }
        let dead = message(1, "agent-alice", "bob");
        let dead = dead.bury(NOW, DeadReason::OutOfReach).unwrap();
        let id = dead.id;
        assert_eq!(on!(store, |tx| table::save_state(tx, &dead, 0)), Ok(true));
        let bob = name("bob");
        let page = on!(store, |tx| table::list(
            tx,
            &bob,
            MailboxFilter::Dead,
            None,
            10
        ))
        .unwrap();
        assert_eq!(
            (page.items.len(), page.items[0].id, page.next),
            (1, id, None),
            "{engine}"
        );
        // The newest first, and on from there.
        let bob = name("bob");
        let page = on!(store, |tx| table::list(
            tx,
            &bob,
            MailboxFilter::All,
            None,
            1
        ))
        .unwrap();
        assert_eq!(
            (page.items[0].seq, page.next.as_deref()),
            (2, Some("2")),
            "{engine}"
        );
        let bob = name("bob");
        let rest = on!(store, |tx| table::list(
            tx,
            &bob,
            MailboxFilter::All,
            Some(2),
            1
        ))
        .unwrap();
        assert_eq!((rest.items[0].seq, rest.next), (1, None), "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sender_has_spent_is_one_moment_of_each_kind() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        for (kind, at) in [("text", 5), ("wake", 7), ("text", 9)] {
            let at = void_domain::time::Timestamp::from_ms(at);
            on!(store, |tx| table::set_spent_until(
                tx,
                &Sender::Owner,
                kind,
                at
            ))
            .unwrap();
        }
        for (kind, expected) in [("text", Some(9)), ("wake", Some(7))] {
            let found = on!(store, |tx| table::spent_until(tx, &Sender::Owner, kind)).unwrap();
            assert_eq!(
                found.map(void_domain::time::Timestamp::as_ms),
                expected,
                "{engine}"
            );
        }
    }
}

/// The database refuses what a message cannot be, whoever writes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_is_refused() {
    let engine = engines::sqlite().await;
    let one = message(1, "agent-alice", "bob");
    on!(engine.store, |tx| table::insert(tx, &one)).unwrap();
    let file = rusqlite::Connection::open(engine.folder.path().join("void.db")).unwrap();
    for set in [
        "state = 'delivered'",
        "state = 'acknowledged', ended_at = 1",
        "state = 'dead', ended_at = 1",
        "deliveries = 1",
        "ended_at = 1",
        "noticed_at = 1",
        "state = 'lost'",
        "sender = 'alice'",
        "kind = 'order'",
    ] {
        let refused = file.execute(&format!("UPDATE agent_messages SET {set}"), []);
        assert!(refused.is_err(), "{set}");
    }
}
