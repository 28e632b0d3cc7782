//! Reminders: who sets and cancels them, and that each fires once for each time that it is due.

use std::time::Duration;

use void_control::loose_ends::{self, LooseEnds, LooseEndsError};
use void_control::reminders::{self, ReminderError, SetError, SetRequest};
use void_control::{Ctx, agents, questions, tokens, tree};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agent_turns::{TurnCause, WaitingCause};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::ids::ReminderId;
use void_domain::notifications::Zone;
use void_domain::reminders::{
    ACTIVE_PER_AGENT_MAX, INTERVAL_MIN, InvalidReminder, Reminder, ReminderSchedule,
    SET_PER_HOUR_MAX,
};
use void_domain::taint::Taint;
use void_store::reminders as stored;
use void_testkit::eventually;
use void_tree::{Operation, Right};

use crate::callers::{agent, others, owner};
use crate::kin::{self, MEMBERS, begin, called, name, outside};
use crate::planes::Plane;

stories!(
    an_agent_reminds_itself_and_the_owner_anybody,
    those_above_cancel_and_what_the_owner_set_only_the_owner,
    how_many_there_are_is_bounded,
    a_reminder_fires_once_for_each_time_over_crashes_and_late_ones_once,
    what_nobody_takes_does_not_pile_up,
    a_withdrawn_agent_is_reminded_of_nothing,
    loose_ends_are_ones_own_and_those_below,
);

fn every(interval: Duration) -> ReminderSchedule {
    ReminderSchedule::Every { interval }
}

fn request(whom: &str, schedule: ReminderSchedule) -> SetRequest {
    SetRequest {
        agent: name(whom),
        text: "look at the backup".to_owned(),
        schedule,
        taint: Taint::from_sources(vec!["page A".to_owned()]),
    }
}

async fn set(plane: &Plane, who: &Ctx, wanted: SetRequest) -> Result<Reminder, SetError> {
    ask!(plane, who, |control, ctx| reminders::set(
        &control, &ctx, wanted
    ))
}

async fn own(plane: &Plane, who: &str) -> Reminder {
    let wanted = request(who, every(INTERVAL_MIN));
    set(plane, &agent(who), wanted).await.unwrap()
}

async fn cancel(plane: &Plane, who: &Ctx, reminder: &Reminder) -> Result<(), ReminderError> {
    let id = reminder.id;
    ask!(plane, who, |control, ctx| reminders::cancel(
        &control, &ctx, id
    ))
}

/// A reminder that wakes somebody, and as it stands now.
struct Due {
    waiting: WaitingCause,
    reminder: Reminder,
}

async fn due(plane: &Plane) -> Vec<Due> {
    let mut due = Vec::new();
    for one in MEMBERS {
        for waiting in kin::waiting(plane, one).await {
            let TurnCause::Reminder { reminder } = &waiting.cause else {
                panic!("{waiting:?}");
            };
            let id: ReminderId = reminder.to_string().parse().unwrap();
            let found = plane
                .inside(async move |_, store| {
                    let read = store.read(move |tx| Box::pin(stored::find(tx, id)));
                    read.await.unwrap()
                })
                .await;
            let reminder = found.unwrap();
            assert_eq!(reminder.agent, waiting.agent);
            due.push(Due { waiting, reminder });
        }
    }
    due
}

async fn fired(plane: &Plane, count: usize) {
    eventually("reminders to fire", async || {
        (plane.audited("reminder.fired").await.len() == count).then_some(())
    })
    .await;
}

async fn an_agent_reminds_itself_and_the_owner_anybody(plane: &mut Plane) {
    begin(plane).await;
    for one in MEMBERS {
        for whom in MEMBERS {
            let (ctx, target) = (agent(one), name(whom));
            let right = plane
                .inside(async move |control, _| {
                    tree::right_of(&control, &ctx, Operation::Remind, &target)
                })
                .await;
            let live = set(plane, &agent(one), request(whom, every(INTERVAL_MIN))).await;
            assert_eq!(live.is_ok(), right == Right::Alone, "{one} reminds {whom}");
            assert_eq!(live.is_ok(), one == whom);
        }
    }
    for who in others().into_iter().chain(MEMBERS.map(outside)) {
        let refused = set(plane, &who, request("alice", every(INTERVAL_MIN))).await;
        assert!(
            matches!(refused, Err(SetError::NotAllowed)),
            "{}",
            called(&who)
        );
    }
    let set_by_owner = set(plane, &owner(), request("bob", every(INTERVAL_MIN)))
        .await
        .unwrap();
    assert!(
        set_by_owner.taint.is_clean(),
        "what the owner says is the owner's"
    );
    let refused = set(plane, &owner(), request("nobody", every(INTERVAL_MIN))).await;
    assert!(matches!(refused, Err(SetError::UnknownAgent)));
    let soon = every(INTERVAL_MIN - Duration::from_millis(1));
    let refused = set(plane, &agent("alice"), request("alice", soon)).await;
    assert!(matches!(
        refused,
        Err(SetError::Invalid(InvalidReminder::TooOften))
    ));
}

async fn those_above_cancel_and_what_the_owner_set_only_the_owner(plane: &mut Plane) {
    begin(plane).await;
    let everybody = || {
        let inside = MEMBERS.map(agent).into_iter().chain(MEMBERS.map(outside));
        inside.chain(others()).chain([owner()])
    };
    for who in everybody() {
        plane.pass(Duration::from_secs(60 * 60));
        let reminder = own(plane, "alice").await;
        let (ctx, alice) = (who.clone(), name("alice"));
        let right = plane
            .inside(async move |control, _| {
                tree::right_of(&control, &ctx, Operation::Moderate, &alice)
            })
            .await;
        let cancelled = cancel(plane, &who, &reminder).await;
        let may = right == Right::Alone || who.actor.is_owner();
        assert_eq!(cancelled.is_ok(), may, "{}", called(&who));
        match cancelled {
            Ok(()) => {
                let again = cancel(plane, &who, &reminder).await;
                assert!(matches!(again, Err(ReminderError::Over(_))), "{again:?}");
            }
            Err(error) => {
                assert!(matches!(error, ReminderError::NotFound), "{error}");
                cancel(plane, &owner(), &reminder).await.unwrap();
            }
        }
    }
    let of_owner = set(plane, &owner(), request("alice", every(INTERVAL_MIN)))
        .await
        .unwrap();
    for who in everybody().filter(|who| !who.actor.is_owner()) {
        assert!(
            cancel(plane, &who, &of_owner).await.is_err(),
            "{}",
            called(&who)
        );
    }
    let refused = cancel(plane, &agent("anna"), &of_owner).await;
    assert!(
        matches!(refused, Err(ReminderError::OwnersOwn)),
        "{refused:?}"
    );
    cancel(plane, &owner(), &of_owner).await.unwrap();
}

async fn how_many_there_are_is_bounded(plane: &mut Plane) {
    begin(plane).await;
    let mut all = Vec::new();
    for _ in 0..ACTIVE_PER_AGENT_MAX {
        all.push(own(plane, "alice").await);
    }
    for who in [agent("alice"), owner()] {
        let refused = set(plane, &who, request("alice", every(INTERVAL_MIN))).await;
        let limit = ACTIVE_PER_AGENT_MAX;
        assert!(matches!(refused, Err(SetError::TooMany { limit: found }) if found == limit));
    }
    own(plane, "bob").await;
    for one in &all {
        cancel(plane, &agent("alice"), one).await.unwrap();
    }
    for _ in ACTIVE_PER_AGENT_MAX..SET_PER_HOUR_MAX {
        own(plane, "alice").await;
    }
    let refused = set(
        plane,
        &agent("alice"),
        request("alice", every(INTERVAL_MIN)),
    )
    .await;
    assert!(matches!(refused, Err(SetError::TooOften)), "{refused:?}");
}

async fn a_reminder_fires_once_for_each_time_over_crashes_and_late_ones_once(plane: &mut Plane) {
    begin(plane).await;
    let day = Duration::from_secs(24 * 60 * 60);
    let start = plane.clock.now();
    let once = ReminderSchedule::Once {
        at: start.plus(day),
    };
    let once = set(plane, &agent("alice"), request("alice", once))
        .await
        .unwrap();
    let daily = ReminderSchedule::Cron {
        expression: "0 6 * * *".to_owned(),
        zone: Zone::get("Europe/Berlin").unwrap(),
    };
    let daily = set(plane, &agent("bob"), request("bob", daily))
        .await
        .unwrap();
    assert!(due(plane).await.is_empty());
    plane.crash();
    // A week goes by while nobody looks.
    plane.pass(day * 7);
    for _ in 0..3 {
        plane.start().await;
        fired(plane, 2).await;
        plane.crash();
    }
    plane.start().await;
    fired(plane, 2).await;
    let found = due(plane).await;
    let of = |reminder: &Reminder| {
        let mut all = found.iter().filter(|one| one.reminder.id == reminder.id);
        let first = all.next().unwrap();
        assert_eq!(all.count(), 0);
        first
    };
    // When it had been due, with what whoever set it had read.
    assert_eq!(of(&once).waiting.last_at, start.plus(day));
    assert_eq!(of(&once).waiting.taint.sources(), ["page A"]);
    let words = of(&once).waiting.words.as_deref();
    assert_eq!(words, Some("look at the backup"));
    assert_eq!(of(&once).reminder.next_at(), None);
    assert_eq!(of(&daily).waiting.last_at, daily.next_at().unwrap());
    let next = of(&daily).reminder.next_at().unwrap();
    assert!(next > plane.clock.now() && next.since(plane.clock.now()) <= day);
    for who in ["alice", "bob"] {
        assert_eq!(kin::take(plane, who).await, 1);
    }
    assert!(due(plane).await.is_empty());
    // The next day is the next time.
    plane.go_to(next);
    fired(plane, 3).await;
    let found = due(plane).await;
    assert_eq!((found.len(), found[0].waiting.last_at), (1, next));
}

async fn what_nobody_takes_does_not_pile_up(plane: &mut Plane) {
    begin(plane).await;
    let reminder = own(plane, "alice").await;
    for count in 1..=5 {
        plane.pass(INTERVAL_MIN);
        fired(plane, count).await;
    }
    let found = due(plane).await;
    assert_eq!((found.len(), found[0].reminder.fired_count), (1, 5));
    assert_eq!(found[0].waiting.count, 5);
    cancel(plane, &agent("alice"), &reminder).await.unwrap();
    assert!(
        due(plane).await.is_empty(),
        "what is cancelled wakes nobody"
    );
}

async fn a_withdrawn_agent_is_reminded_of_nothing(plane: &mut Plane) {
    begin(plane).await;
    let token = plane
        .inside(async |control, _| {
            let (kind, none) = (ActorKind::Agent, Capabilities::none());
            let made = tokens::create(&control, &owner(), kind, "alice".to_owned(), none).await;
            made.unwrap().id
        })
        .await;
    own(plane, "alice").await;
    plane.pass(INTERVAL_MIN);
    fired(plane, 1).await;
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), token).await)
        .await
        .unwrap();
    assert!(due(plane).await.is_empty());
    let active = plane
        .inside(async |control, _| reminders::list(&control, None).await.unwrap())
        .await;
    assert!(active.is_empty());
    let refused = set(plane, &owner(), request("alice", every(INTERVAL_MIN))).await;
    assert!(
        matches!(refused, Err(SetError::UnknownAgent)),
        "{refused:?}"
    );
}

async fn look(plane: &Plane, who: &Ctx, whom: AgentName) -> Result<LooseEnds, LooseEndsError> {
    ask!(plane, who, |control, ctx| loose_ends::look(
        &control, &ctx, &whom
    ))
}

/// Bob has a token from here on, and acts as the one that the store knows.
async fn bob_with_a_token(plane: &Plane) -> Ctx {
    plane
        .inside(async |control, _| {
            let (kind, none) = (ActorKind::Agent, Capabilities::none());
            let made = tokens::create(&control, &owner(), kind, "bob".to_owned(), none).await;
            made.unwrap();
            let found = agents::find(&control, &name("bob")).await.unwrap().unwrap();
            let actor = Actor::Agent {
                id: found.id,
                name: found.name,
            };
            Ctx {
                actor,
                ..agent("bob")
            }
        })
        .await
}

async fn only_those_above_see_loose_ends(plane: &Plane) {
    for one in MEMBERS {
        for whom in MEMBERS {
            let (ctx, target) = (agent(one), name(whom));
            let right = plane
                .inside(async move |control, _| {
                    tree::right_of(&control, &ctx, Operation::SeeLooseEnds, &target)
                })
                .await;
            let found = look(plane, &agent(one), name(whom)).await;
            assert_eq!(found.is_ok(), right == Right::Alone, "{one} at {whom}");
        }
    }
    for who in others().into_iter().chain(MEMBERS.map(outside)) {
        assert!(
            look(plane, &who, name("bob")).await.is_err(),
            "{}",
            called(&who)
        );
    }
}

async fn loose_ends_are_ones_own_and_those_below(plane: &mut Plane) {
    begin(plane).await;
    own(plane, "bob").await;
    own(plane, "dave").await;
    let to_carol = crate::questions::request("carol");
    let question = crate::questions::ask(plane, &agent("alice"), to_carol)
        .await
        .unwrap();
    let bob = bob_with_a_token(plane).await;
    let waiting = plane.queue(&bob, "stop-a").await;
    only_those_above_see_loose_ends(plane).await;
    let found = look(plane, &owner(), name("anna")).await.unwrap();
    let open: Vec<(String, [usize; 4])> = found
        .agents
        .iter()
        .map(|one| {
            let counts = [&one.asked, &one.to_answer].map(Vec::len);
            let all = [
                counts[0],
                counts[1],
                one.reminders.len(),
                one.proposals.len(),
            ];
            (one.agent.to_string(), all)
        })
        .collect();
    // Nothing of dave, who stands beside.
    let expected = [
        ("anna", [0, 0, 0, 0]),
        ("alice", [1, 0, 0, 0]),
        ("bob", [0, 0, 1, 1]),
        ("carol", [0, 1, 0, 0]),
    ];
    assert_eq!(open, expected.map(|(one, counts)| (one.to_owned(), counts)));
    assert!(!found.is_cut && found.answered.is_empty());
    assert!(look(plane, &owner(), name("nobody")).await.is_err());
    // What was answered is told to whoever asked, and is open no more.
    let key = questions::QuestionKey::Id(question.id);
    let wanted = questions::AnswerRequest {
        choice: void_domain::questions::ReplyChoice::Option(1),
        taint: Taint::clean(),
        key: None,
    };
    ask!(plane, agent("carol"), |control, ctx| questions::answer(
        &control, &ctx, key, wanted
    ))
    .unwrap();
    let found = look(plane, &agent("alice"), name("alice")).await.unwrap();
    assert_eq!(found.answered.len(), 1);
    assert!(found.agents[0].is_empty());
    plane.cancel(&owner(), waiting.id).await.unwrap();
}
