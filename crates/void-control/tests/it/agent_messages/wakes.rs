//! An agent wakes itself, and nobody else; a program beside it with its token does the same, and nothing more.

use std::time::Duration;

use void_control::agent_messages::WakeError;
use void_domain::agent_messages::{OwnWake, WAKES_PER_MINUTE};

use super::*;

stories!(
    an_agent_wakes_itself_and_nobody_else,
    a_program_beside_an_agent_wakes_it_and_does_nothing_else,
    the_same_cause_waits_once_and_wakes_have_a_rate,
);

async fn wake(plane: &Plane, who: Ctx, cause: OwnWake) -> Result<Sent, WakeError> {
    plane
        .inside(async move |control, _| {
            agent_messages::wake(&control, &who, cause, Taint::clean()).await
        })
        .await
}

async fn an_agent_wakes_itself_and_nobody_else(plane: &mut Plane) {
    begun(plane).await;
    for who in ["root", "alice", "dave", "little-blue"] {
        let woken = wake(plane, inside(who), OwnWake::Timer).await.unwrap();
        assert_eq!(woken.message.receiver, name(who));
        assert_eq!(woken.message.sender.name(), who);
        let got = read(plane, who, &[]).await;
        assert_eq!(
            (texts(&got), ids(&got)),
            (vec!["timer"], vec![woken.message.id])
        );
    }
    for other in ["bob", "carol", "erin"] {
        assert_eq!(texts(&read(plane, other, &[]).await), [""; 0], "{other}");
    }
    for who in others()
        .into_iter()
        .chain([owner(), inside("mallory"), outside("mallory")])
    {
        let refused = wake(plane, who.clone(), OwnWake::Timer).await;
        assert!(
            matches!(refused, Err(WakeError::Nowhere)),
            "{:?}",
            who.actor
        );
    }
}

async fn a_program_beside_an_agent_wakes_it_and_does_nothing_else(plane: &mut Plane) {
    begun(plane).await;
    let woken = wake(plane, outside("alice"), OwnWake::File).await.unwrap();
    assert_eq!(woken.message.receiver, name("alice"));
    assert_eq!(texts(&read(plane, "alice", &[]).await), ["file"]);
    // It reads nothing by it, and writes nothing.
    let read = receive(plane, outside("alice"), ReceiveRequest::default()).await;
    assert!(matches!(read, Err(ReceiveError::Nowhere)));
    let done = send(plane, outside("alice"), request("alice", "x")).await;
    assert!(matches!(done, Err(SendError::Nowhere)));
    // Nobody knows who holds a resident's token, and nothing runs beside it.
    for resident in ["little-blue", "root"] {
        let refused = wake(plane, outside(resident), OwnWake::File).await;
        assert!(matches!(refused, Err(WakeError::Resident(_))), "{resident}");
    }
}

async fn the_same_cause_waits_once_and_wakes_have_a_rate(plane: &mut Plane) {
    begun(plane).await;
    let first = wake(plane, outside("alice"), OwnWake::Hook).await.unwrap();
    for _ in 0..5 {
        let again = wake(plane, outside("alice"), OwnWake::Hook).await.unwrap();
        assert_eq!(
            (again.is_repeat, again.message.id),
            (true, first.message.id)
        );
    }
    let other = wake(plane, inside("alice"), OwnWake::Job).await.unwrap();
    assert!(!other.is_repeat);
    assert_eq!(recorded(plane, "message.sent").await.len(), 2);
    // Once it was handed out, the next one is a new one.
    let mut new = 2;
    let refused = loop {
        let got = read(plane, "alice", &[]).await;
        read(plane, "alice", &ids(&got)).await;
        match wake(plane, outside("alice"), OwnWake::Hook).await {
            Ok(woken) => {
                assert!(!woken.is_repeat);
                new += 1;
            }
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, WakeError::TooMany(_)), "{refused}");
    assert_eq!(new, WAKES_PER_MINUTE);
    // What it sends is counted apart.
    sent(plane, "alice", "bob", "x").await;
    plane.pass(Duration::from_secs(5));
    wake(plane, outside("alice"), OwnWake::Hook).await.unwrap();
}
