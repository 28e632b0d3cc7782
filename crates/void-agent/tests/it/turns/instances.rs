//! Two servers on one PostgreSQL database.

use std::sync::Arc;

use tokio::sync::Semaphore;
use void_control::conversations::TurnError;

use crate::labs::Lab;
use crate::rooms::{Engine, Setup};
use crate::scripted::{Scripted, says};

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_cannot_both_begin_a_turn_in_one_conversation() {
    let (engine, lab) = (Engine::postgres().await, Arc::new(Lab::new()));
    let gate = Arc::new(Semaphore::new(0));
    let mut rooms = Vec::new();
    for instance in ["alpha", "beta"] {
        let brain = Scripted::new((0..20).map(|_| says("mine").waits_for(&gate)));
        let setup = Setup {
            instance,
            engine: engine.clone(),
            lab: Arc::clone(&lab),
            ..Setup::default()
        };
        rooms.push(setup.open(brain).await);
    }
    let id = rooms[0].conversation().await.id;
    for n in 0..20 {
        let say = |room: &crate::rooms::Room| {
            let (talk, owner, agent) = (
                room.talk.clone(),
                room.owner.clone(),
                Arc::clone(&room.agent),
            );
            tokio::spawn(async move { talk.say(&owner, &agent, id, format!("question {n}")).await })
        };
        let (a, b) = (say(&rooms[0]), say(&rooms[1]));
        let (a, b) = (a.await.unwrap(), b.await.unwrap());
        let (winner, started, loser) = match (a, b) {
            (Ok(started), Err(loser)) => (&rooms[0], started, loser),
            (Err(loser), Ok(started)) => (&rooms[1], started, loser),
            both => panic!("{both:?}"),
        };
        assert!(
            matches!(loser, TurnError::Busy(id) if id == started.message_id),
            "{loser:?}"
        );
        gate.add_permits(1);
        winner.ended(&started).await;
    }
}
