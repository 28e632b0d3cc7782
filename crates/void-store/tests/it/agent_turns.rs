//! Why agents are to have a turn, and what is in their files, on both engines.

use void_domain::agent_turns::{TurnCause, WaitingCause, WakeCause};
use void_domain::agents::AgentName;
use void_domain::ids::{CauseId, MessageId};
use void_domain::taint::Taint;
use void_store::StoreError;
use void_store::agent_turns as table;
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

fn waiting(place: u8, agent: &str, cause: TurnCause) -> WaitingCause {
    let woken = WakeCause {
        words: Some("é \"x\"".to_owned()),
        taint: Taint::from_sources(vec!["a page".to_owned()]),
        ..WakeCause::of(cause)
    };
    WaitingCause::new(CauseId::new(NOW, [place; 10]), name(agent), woken, NOW)
}

fn reminder(which: &str) -> TurnCause {
    TurnCause::Reminder {
        reminder: which.parse().unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_kind_one_waits_and_what_a_turn_has_waits_no_more() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        let first = waiting(1, "alice", TurnCause::Owner);
        let second = waiting(2, "alice", reminder("r-1"));
        for one in [&first, &second, &waiting(3, "bob", TurnCause::Owner)] {
            let one = one.clone();
            on!(store, |tx| table::save_waiting(tx, &one)).unwrap();
        }
        let twin = waiting(4, "alice", TurnCause::Owner);
        let refused = on!(store, |tx| table::save_waiting(tx, &twin));
        assert!(refused.is_err(), "{engine}: two of a kind");
        let alice = name("alice");
        let all = on!(store, |tx| table::list_waiting(tx, &alice)).unwrap();
        assert_eq!(all, [first.clone(), second.clone()], "{engine}");
        let turn = MessageId::new(NOW, [9; 10]);
        let taken = first.clone();
        for expected in [true, false] {
            let taken = taken.clone();
            let took = on!(store, |tx| table::take(tx, &taken, turn)).unwrap();
            assert_eq!(took, expected, "{engine}");
        }
        let alice = name("alice");
        let rest = on!(store, |tx| table::list_waiting(tx, &alice)).unwrap();
        assert_eq!(rest, std::slice::from_ref(&second), "{engine}");
        // Beside what a turn has, one more of its kind may wait.
        let twin = waiting(4, "alice", TurnCause::Owner);
        on!(store, |tx| table::save_waiting(tx, &twin)).unwrap();
        let had = on!(store, |tx| table::list_of_turn(tx, turn)).unwrap();
        assert_eq!(had, std::slice::from_ref(&first), "{engine}");
        on!(store, |tx| table::delete(tx, &first)).unwrap();
        assert_eq!(on!(store, |tx| table::list_of_turn(tx, turn)).unwrap(), []);
        // Who could have a turn now, and not before their time.
        let mut later = second.clone();
        later.not_before = NOW.plus(std::time::Duration::from_secs(9));
        let twin = waiting(4, "alice", TurnCause::Owner);
        on!(store, |tx| table::delete(tx, &twin)).unwrap();
        on!(store, |tx| table::save_waiting(tx, &later)).unwrap();
        let due = on!(store, |tx| table::list_agents_waiting(tx, NOW)).unwrap();
        assert_eq!(due, [name("bob")], "{engine}");
        let then = NOW.plus(std::time::Duration::from_secs(9));
        let due = on!(store, |tx| table::list_agents_waiting(tx, then)).unwrap();
        assert_eq!(due, [name("alice"), name("bob")], "{engine}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_waits_for_nobody_and_takes_nothing_else_along() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        let mut mixed = waiting(4, "alice", reminder("r-2"));
        mixed.join(&waiting(9, "alice", TurnCause::Owner));
        let had = waiting(5, "alice", reminder("r-3"));
        for one in [
            waiting(1, "alice", reminder("r-1")),
            waiting(2, "bob", reminder("r-1")),
            waiting(3, "alice", TurnCause::Owner),
            mixed.clone(),
            had.clone(),
        ] {
            on!(store, |tx| table::save_waiting(tx, &one)).unwrap();
        }
        let turn = MessageId::new(NOW, [9; 10]);
        let taken = had.clone();
        assert!(on!(store, |tx| table::take(tx, &taken, turn)).unwrap());
        for which in ["r-1", "r-2", "r-3", "r-4"] {
            let (alice, cause) = (name("alice"), reminder(which));
            on!(store, |tx| table::drop_waiting(tx, &alice, &cause)).unwrap();
        }
        let list = async |who: &str| {
            let who = name(who);
            on!(store, |tx| table::list_waiting(tx, &who)).unwrap()
        };
        let owner = waiting(3, "alice", TurnCause::Owner);
        assert_eq!(list("alice").await, [owner, mixed], "{engine}");
        assert_eq!(list("bob").await.len(), 1, "{engine}");
        let alice = name("alice");
        on!(store, |tx| table::drop_waiting_of(tx, &alice)).unwrap();
        assert_eq!(list("alice").await, [], "{engine}");
        assert_eq!(list("bob").await.len(), 1, "{engine}");
        let kept = on!(store, |tx| table::list_of_turn(tx, turn)).unwrap();
        assert_eq!(kept, [had], "{engine}: a turn has it");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_the_files_of_an_agent_adds_up() {
    for engine in engines::both().await {
        let (store, engine) = (&engine.store, engine.name);
        for (source, is_new) in [("a page", true), ("a page", false), ("a log", true)] {
            let (alice, read) = (name("alice"), Taint::from_sources(vec![source.to_owned()]));
            let marked = on!(store, |tx| table::mark_files(tx, &alice, &read, NOW)).unwrap();
            assert_eq!(marked, is_new, "{engine} {source}");
        }
        for (agent, sources) in [("alice", &["a page", "a log"][..]), ("bob", &[])] {
            let agent = name(agent);
            let taint = on!(store, |tx| table::file_taint(tx, &agent)).unwrap();
            assert_eq!(taint.sources(), sources, "{engine}");
        }
    }
}
