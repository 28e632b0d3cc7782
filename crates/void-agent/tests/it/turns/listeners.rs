//! A turn belongs to the server: it runs whoever listens, and whoever comes back hears all of it.

use std::sync::Arc;

use tokio::sync::Semaphore;
use void_agent::turns::ChatEvent;
use void_control::conversations::{self, TurnError};
use void_domain::conversations::TurnState;
use void_testkit::eventually;

use crate::rooms::{all, room};
use crate::scripted::says;

#[tokio::test]
async fn a_turn_runs_to_its_end_when_nobody_listens() {
    let gate = Arc::new(Semaphore::new(0));
    let (room, _) = room([says("all of it").waits_for(&gate)]).await;
    let id = room.say("go on without me").await.message_id;
    gate.add_permits(1);
    let turn = eventually("the turn to end", || async {
        let (message, turn) = room.stored(id).await;
        (turn.state != TurnState::Running).then_some((message.body, turn.state))
    })
    .await;
    assert_eq!(turn.0, "all of it");
    assert!(matches!(turn.1, TurnState::Done { .. }));
}

#[tokio::test]
async fn who_comes_back_gets_everything_so_far_and_then_the_rest() {
    let gate = Arc::new(Semaphore::new(0));
    let (room, _) = room([says("One.").text(" Two.").waits_for(&gate)]).await;
    let started = room.say("count").await;
    let first = started.live.after(0).await;
    drop(started.live);
    // Another window, or the same one after a reload.
    let live = room.talk.live(started.message_id).expect("it runs");
    let mut heard = live.after(0).await;
    assert_eq!(heard[..first.len()], first);
    let rest = tokio::spawn(async move { all(&live).await });
    gate.add_permits(1);
    let rest = rest.await.unwrap();
    assert_eq!(rest[..heard.len()], heard);
    heard = rest;
    let names: Vec<_> = heard.iter().map(ChatEvent::name).collect();
    assert_eq!(names, ["delta", "delta", "done"]);
    // Also for a while after its end; who has heard all of it is told that it is over.
    let live = room.talk.live(started.message_id).expect("it just ended");
    assert_eq!(live.after(0).await, heard);
    assert!(live.after(heard.len()).await.is_empty());
}

#[tokio::test]
async fn one_turn_at_a_time_in_a_conversation() {
    let gate = Arc::new(Semaphore::new(0));
    let (room, brain) = room([says("first").waits_for(&gate)]).await;
    let started = room.say("one").await;
    let id = started.conversation.id;
    let say = || {
        let text = "two".to_owned();
        room.talk.say(&room.owner, &room.agent, id, text)
    };
    let busy = say().await;
    assert!(
        matches!(busy, Err(TurnError::Busy(running)) if running == started.message_id),
        "{busy:?}"
    );
    let again = room
        .talk
        .retry(&room.owner, &room.agent, started.message_id);
    assert!(matches!(again.await, Err(TurnError::Busy(_))));
    // Another conversation with the same agent is free.
    brain.then([says("elsewhere")]);
    let other = conversations::start(&room.control, &room.owner, "little-blue").await;
    let text = "three".to_owned();
    let other = room
        .talk
        .say(&room.owner, &room.agent, other.unwrap().id, text);
    assert_eq!(room.ended(&other.await.unwrap()).await.body, "elsewhere");
    gate.add_permits(1);
    room.ended(&started).await;
    brain.then([says("second")]);
    assert_eq!(room.ended(&say().await.unwrap()).await.body, "second");
}

#[tokio::test]
async fn only_the_owner_talks_to_agents() {
    let (room, _) = room([]).await;
    let id = room.conversation().await.id;
    let agent = room.agent.ctx(&room.control).await.unwrap().unwrap();
    let said = room.talk.say(&agent, &room.agent, id, "psst".to_owned());
    assert!(matches!(said.await, Err(TurnError::OwnerOnly)));
    let started = conversations::start(&room.control, &agent, "little-blue");
    assert!(matches!(started.await, Err(TurnError::OwnerOnly)));
}
