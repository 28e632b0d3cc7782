//! What an agent may use in a day.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use void_agent::agents::Prices;
use void_control::conversations::{TurnError, used_today};
use void_control::{Clock, Control};
use void_domain::conversations::Usage;

use crate::rooms::{Room, Setup};
use crate::scripted::{Scripted, ScriptedReply, calls, says};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn room_with(
    budget: u64,
    answers: impl IntoIterator<Item = ScriptedReply>,
) -> (Room, Arc<Scripted>) {
    let brain = Scripted::new(answers);
    let setup = Setup {
        daily_tokens: Some(budget),
        clock: Clock::manual(Clock::system().now()),
        ..Setup::default()
    };
    (setup.open(Arc::clone(&brain) as _).await, brain)
}

async fn used(control: &Control) -> u64 {
    used_today(control, "little-blue").await.unwrap().0
}

#[tokio::test]
async fn an_agent_that_used_its_day_says_so_until_midnight() {
    let (room, brain) = room_with(100, [says("a").costs(90, 9), says("b").costs(1, 0)]).await;
    room.turn("one").await;
    room.turn("99 of 100 are used").await;
    let id = room.conversation().await.id;
    let say = || {
        let text = "three".to_owned();
        room.talk.say(&room.owner, &room.agent, id, text)
    };
    let refused = say().await.unwrap_err();
    assert!(
        matches!(&refused, TurnError::OverBudget { agent, budget: 100 } if agent == "little-blue")
    );
    assert_eq!(
        refused.to_string(),
        "little-blue has used its 100 tokens of today; it answers again after midnight UTC"
    );
    // What was refused is not a message, and others have budgets of their own.
    assert_eq!(used(&room.control).await, 100);
    assert_eq!(used_today(&room.control, "sentinel").await.unwrap(), (0, 0));
    let clock = room.control.clock();
    clock.set(clock.now().plus(DAY));
    brain.then([says("good morning")]);
    assert_eq!(room.ended(&say().await.unwrap()).await.body, "good morning");
}

#[tokio::test]
async fn a_turn_ends_between_rounds_when_the_day_is_used_up() {
    let looks = |input| calls("service_status", json!({})).costs(input, 0);
    let (room, _) = room_with(100, [looks(99), looks(1), says("never asked")]).await;
    let ended = room.turn("look").await;
    assert!(
        ended
            .body
            .ends_with("I stopped here: my tokens of today are used up.")
    );
    assert_eq!(ended.tools(), [("service_status", "ok")]);
    assert_eq!(used(&room.control).await, 100);
}

#[tokio::test]
async fn answers_that_fail_or_are_stopped_cost_too() {
    let (room, brain) = room_with(1_000_000, [says("no").costs(100, 11).fails()]).await;
    let failed = room.turn("go").await;
    assert_eq!(
        (failed.turn.usage.input_tokens, used(&room.control).await),
        (100, 111)
    );
    brain.then([says(&"word ".repeat(800)).hangs()]);
    let started = room.say("talk").await;
    started.live.after(0).await;
    started.live.stop();
    let stopped = room.ended(&started).await.turn.usage;
    let prompt = brain.prompts().pop().unwrap();
    let least = (prompt.system.len() + 4_000) / 4;
    assert!(
        stopped.total_tokens() >= least as u64,
        "{stopped:?} of at least {least}"
    );
    assert_eq!(used(&room.control).await, 111 + stopped.total_tokens());
}

#[test]
fn prices_are_per_million_tokens() {
    let prices = Prices {
        input: 3_000_000,
        output: 15_000_000,
        cache_read: 300_000,
        cache_write: 3_750_000,
    };
    let usage = Usage {
        input_tokens: 1_000,
        output_tokens: 100,
        cache_read_tokens: 10_000,
        cache_write_tokens: 1_000,
        cost_micros: 7,
    };
    assert_eq!(
        prices.with_cost(usage).cost_micros,
        3_000 + 1_500 + 3_000 + 3_750
    );
    let most = Usage {
        input_tokens: u64::MAX,
        ..usage
    };
    assert_eq!(prices.with_cost(most).cost_micros, u64::MAX);
}
