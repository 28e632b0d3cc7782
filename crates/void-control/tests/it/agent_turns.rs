//! What wakes an agent with a process: kept until a turn that had it is over, one turn at a time, within its limits.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::agent_turns::{self, WakeOutcome};
use void_control::conversations::{self, Answering, Begun};
use void_control::freezes;
use void_control::tree::{self, TreePlaces};
use void_domain::agent_turns::{
    CAUSE_ATTEMPTS_MAX, CAUSES_WAITING_MAX, TURNS_PER_AGENT_HOUR, TurnCause, WakeCause,
};
use void_domain::agents::AgentName;
use void_domain::conversations::{Turn, TurnState};
use void_domain::failures::FailureCode;
use void_domain::proposals::Failure;
use void_domain::taint::Taint;
use void_store::{agent_turns as table, facts};

use crate::callers::owner;
use crate::planes::Plane;

mod causes;

stories!(
    what_wakes_an_agent_is_one_turn_and_goes_with_its_end,
    what_began_a_turn_that_failed_begins_another_and_not_for_ever,
    what_began_a_turn_that_a_crash_cut_off_is_not_lost,
    nothing_begins_while_frozen_over_its_tokens_or_too_often,
    a_flood_of_causes_has_a_bound_and_loses_no_mark,
    what_is_in_the_files_of_an_agent_is_known_for_good,
);

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

/// Alice stands under the root with bob below her; little-blue lives in the server.
async fn begin(plane: &mut Plane) {
    let meta = plane.machine.path().join("meta");
    fs::create_dir_all(&meta).unwrap();
    let text = json!({"root": null, "alice": "root", "bob": "alice"}).to_string();
    fs::write(meta.join("topology.json"), text).unwrap();
    again(plane).await;
}

async fn again(plane: &mut Plane) {
    plane.start().await;
    let places = TreePlaces::of_data(plane.machine.path());
    let residents = vec![(name("little-blue"), [].into_iter().collect())];
    plane
        .inside(async move |control, _| tree::open(&control, places, residents).await.unwrap())
        .await;
}

fn mail(message: &str, source: &str) -> WakeCause {
    WakeCause {
        words: Some("look at this".to_owned()),
        taint: Taint::from_sources(vec![source.to_owned()]),
        ..WakeCause::of(TurnCause::Mail {
            from: "bob".parse().unwrap(),
            message: message.parse().unwrap(),
        })
    }
}

fn reminder(which: &str) -> WakeCause {
    WakeCause::of(TurnCause::Reminder {
        reminder: which.parse().unwrap(),
    })
}

async fn wake(plane: &Plane, who: &str, cause: WakeCause) -> WakeOutcome {
    let who = name(who);
    plane
        .inside(async move |control, _| agent_turns::wake(&control, &who, cause).await.unwrap())
        .await
}

async fn open_within(plane: &Plane, daily_tokens: Option<u64>) -> Option<Begun> {
    let answering = Answering {
        agent: "alice".to_owned(),
        brain: "builtin".to_owned(),
        model: "rules".to_owned(),
        daily_tokens,
        is_process: true,
    };
    plane
        .inside(async move |control, _| {
            let alice = name("alice");
            agent_turns::open(&control, &alice, answering)
                .await
                .unwrap()
        })
        .await
}

async fn open(plane: &Plane) -> Option<Begun> {
    open_within(plane, None).await
}

async fn end(plane: &Plane, begun: Begun, failed: bool) -> bool {
    plane
        .inside(async move |control, _| {
            let at = control.clock().now();
            let failure = Failure::new(FailureCode::Interrupted, "its process ended");
            let turn = Turn {
                state: match failed {
                    true => TurnState::Failed { at, failure },
                    false => TurnState::Done { at },
                },
                ..begun.turn
            };
            let (conversation, id) = (begun.conversation, begun.message_id);
            conversations::end_turn(&control, &conversation, id, String::new(), turn)
                .await
                .unwrap()
        })
        .await
}

fn keys(begun: &Begun) -> Vec<(String, u32)> {
    let causes = begun.turn.causes.iter();
    let mut keys: Vec<_> = causes
        .map(|begun| (begun.cause.key(), begun.count))
        .collect();
    // What came in the same millisecond has no order.
    keys.sort();
    keys
}

async fn waiting(plane: &Plane) -> Vec<(String, u32)> {
    let all = plane
        .inside(async move |_, store| {
            let alice = name("alice");
            let read = store
                .read(move |tx| Box::pin(async move { table::list_waiting(tx, &alice).await }));
            read.await.unwrap()
        })
        .await;
    all.iter().map(|one| (one.cause.key(), one.count)).collect()
}

async fn recorded(plane: &Plane, verb: &str) -> Vec<Value> {
    let all = plane
        .inside(async |_, store| {
            let read = store.read(|tx| Box::pin(facts::list_after(tx, 0, 1_000)));
            read.await.unwrap()
        })
        .await;
    let named = all.into_iter().filter(|entry| entry.verb == verb);
    named
        .map(|entry| serde_json::from_str(&entry.detail).unwrap())
        .collect()
}

async fn what_wakes_an_agent_is_one_turn_and_goes_with_its_end(plane: &mut Plane) {
    begin(plane).await;
    for nobody in ["little-blue", "root", "carol"] {
        assert_eq!(
            wake(plane, nobody, reminder("r-1")).await,
            WakeOutcome::NoProcess,
            "{nobody}"
        );
    }
    assert!(open(plane).await.is_none());
    for (message, source) in [("m-1", "a page"), ("m-2", "a page"), ("m-3", "a log")] {
        assert_eq!(
            wake(plane, "alice", mail(message, source)).await,
            WakeOutcome::Kept
        );
    }
    wake(plane, "alice", reminder("r-1")).await;
    wake(plane, "bob", reminder("r-1")).await;
    let first = open(plane).await.unwrap();
    assert_eq!(
        keys(&first),
        [("mail:bob".to_owned(), 3), ("reminder:r-1".to_owned(), 1)]
    );
    assert_eq!(first.turn.tainted_by.sources(), ["a page", "a log"]);
    assert!(first.history.is_empty());
    let newest = TurnCause::Mail {
        from: "bob".parse().unwrap(),
        message: "m-3".parse().unwrap(),
    };
    assert_eq!(first.turn.causes[0].cause, newest);
    // One at a time: what comes meanwhile is the next turn's.
    wake(plane, "alice", mail("m-4", "a page")).await;
    assert!(open(plane).await.is_none());
    assert!(end(plane, first.clone(), false).await);
    assert!(!end(plane, first.clone(), true).await, "it had ended");
    let second = open(plane).await.unwrap();
    assert_eq!(keys(&second), [("mail:bob".to_owned(), 1)]);
    assert_eq!(second.conversation.id, first.conversation.id);
    assert_eq!(second.history.len(), 1, "what the first one was is told");
    assert!(end(plane, second, false).await);
    assert!(open(plane).await.is_none());
    assert_eq!(waiting(plane).await, []);
    // Bob's waits on, and is nobody else's.
    assert_eq!(recorded(plane, "turn.started").await.len(), 2);
}

async fn what_began_a_turn_that_failed_begins_another_and_not_for_ever(plane: &mut Plane) {
    begin(plane).await;
    wake(plane, "alice", reminder("r-1")).await;
    for attempt in 1..=CAUSE_ATTEMPTS_MAX {
        let begun = open(plane)
            .await
            .unwrap_or_else(|| panic!("attempt {attempt}"));
        // What came meanwhile of the same kind joins it.
        assert!(end(plane, begun, true).await);
        assert!(open(plane).await.is_none(), "{attempt}: not at once");
        plane.pass(Duration::from_secs(400));
    }
    assert!(open(plane).await.is_none());
    assert_eq!(waiting(plane).await, []);
    let given_up = recorded(plane, "turn.given_up").await;
    assert_eq!(given_up.len(), 1);
    assert_eq!(
        (
            &given_up[0]["name"],
            &given_up[0]["attempts"],
            &given_up[0]["cause"]["cause"]
        ),
        (
            &json!("alice"),
            &json!(CAUSE_ATTEMPTS_MAX),
            &json!("reminder")
        )
    );
}

async fn what_began_a_turn_that_a_crash_cut_off_is_not_lost(plane: &mut Plane) {
    begin(plane).await;
    wake(plane, "alice", mail("m-1", "a page")).await;
    let begun = open(plane).await.unwrap();
    wake(plane, "alice", mail("m-2", "a log")).await;
    plane.crash();
    // Another instance may be at it, so it fails when its time is over.
    plane.pass(Duration::from_secs(600));
    again(plane).await;
    let next = open(plane).await.unwrap();
    assert_eq!(keys(&next), [("mail:bob".to_owned(), 2)]);
    let mut sources = next.turn.tainted_by.sources().to_vec();
    sources.sort();
    assert_eq!(sources, ["a log", "a page"]);
    assert!(
        !end(plane, begun, false).await,
        "it was taken for abandoned"
    );
    assert!(end(plane, next, false).await);
    assert_eq!(waiting(plane).await, []);
}

async fn nothing_begins_while_frozen_over_its_tokens_or_too_often(plane: &mut Plane) {
    begin(plane).await;
    wake(plane, "alice", reminder("r-1")).await;
    plane
        .inside(async |control, _| {
            freezes::freeze(&control, &owner(), None, None)
                .await
                .unwrap();
        })
        .await;
    assert!(open(plane).await.is_none(), "frozen");
    plane
        .inside(async |control, _| freezes::thaw(&control, &owner()).await.map(drop).unwrap())
        .await;
    assert!(open_within(plane, Some(0)).await.is_none(), "no tokens");
    assert_eq!(waiting(plane).await.len(), 1);
    for turn in 0..TURNS_PER_AGENT_HOUR {
        wake(plane, "alice", reminder(&format!("r-{turn}"))).await;
        let begun = open(plane).await.unwrap_or_else(|| panic!("turn {turn}"));
        assert!(end(plane, begun, false).await);
    }
    wake(plane, "alice", reminder("late")).await;
    assert!(open(plane).await.is_none(), "too often");
    plane.pass(Duration::from_secs(3601));
    let begun = open(plane).await.unwrap();
    assert_eq!(keys(&begun), [("reminder:late".to_owned(), 1)]);
}

async fn a_flood_of_causes_has_a_bound_and_loses_no_mark(plane: &mut Plane) {
    begin(plane).await;
    for number in 0..100 {
        wake(plane, "alice", reminder(&format!("r-{number}"))).await;
    }
    wake(plane, "alice", mail("m-1", "a page")).await;
    let all = waiting(plane).await;
    assert_eq!(all.len(), CAUSES_WAITING_MAX);
    assert_eq!(all.iter().map(|(_, count)| count).sum::<u32>(), 101);
    let begun = open(plane).await.unwrap();
    assert_eq!(begun.turn.tainted_by.sources(), ["a page"]);
    assert_eq!(waiting(plane).await, []);
}

async fn what_is_in_the_files_of_an_agent_is_known_for_good(plane: &mut Plane) {
    begin(plane).await;
    let marked = async |plane: &Plane, who: &str| {
        let who = name(who);
        plane
            .inside(async move |control, _| agent_turns::file_taint(&control, &who).await.unwrap())
            .await
    };
    plane
        .inside(async |control, _| {
            let read = Taint::from_sources(vec!["a page".to_owned()]);
            let both = vec![name("alice"), name("bob")];
            agent_turns::mark_files(&control, both, &read)
                .await
                .unwrap();
            agent_turns::mark_files(&control, vec![name("carol")], &Taint::clean())
                .await
                .unwrap();
        })
        .await;
    plane.stop().await;
    again(plane).await;
    for (who, sources) in [
        ("alice", &["a page"][..]),
        ("bob", &["a page"]),
        ("carol", &[]),
    ] {
        assert_eq!(marked(plane, who).await.sources(), sources, "{who}");
    }
}
