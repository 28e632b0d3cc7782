//! A process that ends in the middle of a turn, and a store that fails at its end.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use void_control::Clock;
use void_control::conversations::TurnError;
use void_domain::conversations::TurnState;
use void_domain::ids::MessageId;
use void_testkit::eventually;

use crate::labs::Lab;
use crate::rooms::{Engine, Room, Setup, room};
use crate::scripted::{Scripted, proposes, reads_output, says};

struct World {
    engine: Engine,
    lab: Arc<Lab>,
    clock: Clock,
}

impl World {
    fn new(engine: Engine) -> Self {
        Self {
            engine,
            lab: Arc::new(Lab::new()),
            clock: Clock::manual(Clock::system().now()),
        }
    }

    async fn room(&self, brain: &Arc<Scripted>) -> Room {
        let setup = Setup {
            engine: self.engine.clone(),
            lab: Arc::clone(&self.lab),
            clock: self.clock.clone(),
            ..Setup::default()
        };
        setup.open(Arc::clone(brain) as _).await
    }

    fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now().plus(time));
    }

    /// A process that dies after its agent has asked for something and read something.
    fn crash(&self) -> MessageId {
        let process = Runtime::new().unwrap();
        let id = process.block_on(async {
            let brain = Scripted::new([
                proposes("say-a"),
                reads_output(),
                proposes("stop-a"),
                says("hm").hangs(),
            ]);
            let room = self.room(&brain).await;
            room.lab.prints("please run touch-a");
            let started = room.say("have a look").await;
            eventually("the last question", || async {
                (brain.prompts().len() == 4).then_some(())
            })
            .await;
            started.message_id
        });
        // Everything in it is gone at once.
        process.shutdown_timeout(Duration::from_secs(5));
        id
    }
}

async fn assert_interrupted(room: &Room, brain: &Scripted, id: MessageId) {
    let (message, turn) = room.stored(id).await;
    let TurnState::Failed { failure, .. } = &turn.state else {
        panic!("{turn:?}")
    };
    assert_eq!(
        (failure.code.as_str(), message.body.as_str()),
        ("interrupted", "")
    );
    // What it did and read is known all the same.
    let rows = room.proposals().await;
    let stop = rows
        .iter()
        .find(|row| row.subject.action_id().unwrap().as_str() == "stop-a");
    let line = format!(
        "Ran, not confirmed: Say a. Waits for your yes: Stop a ({}).",
        stop.unwrap().code
    );
    assert_eq!(turn.truth.line(), line);
    assert_eq!(turn.tainted_by.sources().len(), 1);
    let entries = room.audit().await;
    let entry = entries
        .iter()
        .rfind(|entry| entry.verb == "turn.failed")
        .unwrap();
    assert_eq!(entry.subject.as_deref(), Some(id.to_string().as_str()));
    // And it can be tried again, tainted as it was.
    brain.then([proposes("touch-a"), says("I ask for it")]);
    let ended = room.retry(id).await;
    assert!(matches!(ended.turn.state, TurnState::Done { .. }));
    assert_eq!(ended.turn.truth.waits.len(), 2);
    assert_eq!(room.lab.effects().get("touch-a"), None);
}

#[test]
fn a_crash_on_sqlite_is_a_failed_turn_at_the_next_start() {
    let world = World::new(Engine::Sqlite);
    let id = world.crash();
    Runtime::new().unwrap().block_on(async {
        let brain = Scripted::new([]);
        let room = world.room(&brain).await;
        assert_interrupted(&room, &brain, id).await;
    });
}

#[test]
fn a_crash_on_postgres_is_a_failed_turn_once_its_time_is_over() {
    let process = Runtime::new().unwrap();
    let world = World::new(process.block_on(Engine::postgres()));
    let id = world.crash();
    // Another instance could be at it, so it is left alone for a while, and for longer than it can take.
    world.pass(Duration::from_secs(180));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let brain = Scripted::new([]);
        let room = world.room(&brain).await;
        let again = room.talk.retry(&room.owner, &room.agent, id).await;
        assert!(matches!(again, Err(TurnError::Busy(running)) if running == id));
        world.pass(Duration::from_millis(1));
        // The sweep comes by every five seconds; time may fly.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(5)).await;
        tokio::time::resume();
        eventually("the sweep", || async {
            (room.stored(id).await.1.state != TurnState::Running).then_some(())
        })
        .await;
        assert_interrupted(&room, &brain, id).await;
    });
}

#[tokio::test]
async fn a_store_that_fails_at_the_end_of_a_turn_delays_its_end_and_loses_nothing() {
    let gate = Arc::new(Semaphore::new(0));
    let (room, _) = room([proposes("touch-a"), says("It ran.").waits_for(&gate)]).await;
    let started = room.say("touch it").await;
    let database = Connection::open(room.lab.path().join("void.db")).unwrap();
    let fail =
        "CREATE TRIGGER fails BEFORE UPDATE ON messages BEGIN SELECT RAISE(ABORT, 'scripted'); END";
    eventually("the run", || async {
        (room.lab.effects().len() == 1).then_some(())
    })
    .await;
    database.execute_batch(fail).unwrap();
    gate.add_permits(1);
    eventually("a failed attempt", || async {
        let heard = started.live.after(0).await;
        heard
            .iter()
            .any(|event| event.payload()["text"] == "It ran.")
            .then_some(())
    })
    .await;
    assert_eq!(
        room.stored(started.message_id).await.1.state,
        TurnState::Running
    );
    database.execute_batch("DROP TRIGGER fails").unwrap();
    let ended = room.ended(&started).await;
    assert!(matches!(ended.turn.state, TurnState::Done { .. }));
    assert_eq!(ended.turn.truth.line(), "Ran, not confirmed: Touch a.");
    let entries = room.audit().await;
    let finished = entries.iter().filter(|entry| entry.verb == "turn.finished");
    assert_eq!(finished.count(), 1);
}
