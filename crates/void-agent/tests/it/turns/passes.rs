//! The pass of a turn: what a program that a brain started does with it counts as the turn's doing.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use void_agent::brains::{Answering, Block, Brain, OnEvent, Prompt, Reply, Stop, Usage};
use void_agent::turns::Pass;
use void_domain::limits;
use void_testkit::eventually;

use crate::rooms::{Room, Setup};

/// Starts no program: the test is the program.
struct Passing {
    shown: Mutex<Option<String>>,
    gate: Semaphore,
}

impl Brain for Passing {
    fn model(&self) -> &str {
        "passing-1"
    }

    fn needs_pass(&self) -> bool {
        true
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, _: OnEvent<'a>) -> Answering<'a> {
        let shown = prompt.pass.as_ref().map(|pass| pass.expose().to_owned());
        *self.shown.lock().unwrap() = shown;
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            Ok(Reply {
                blocks: vec![Block::Text("done".to_owned())],
                stop: Stop::End,
                usage: Usage::default(),
                session: None,
            })
        })
    }
}

fn map(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

async fn begin(setup: Setup) -> (Room, Arc<Passing>, void_agent::turns::Started, Pass) {
    let brain = Arc::new(Passing {
        shown: Mutex::default(),
        gate: Semaphore::new(0),
    });
    let room = setup.open(Arc::clone(&brain) as _).await;
    let started = room.say("go").await;
    let shown = eventually("the pass", || async { brain.shown.lock().unwrap().clone() }).await;
    let pass = room.talk.pass(&shown).expect("the turn runs");
    (room, brain, started, pass)
}

#[tokio::test]
async fn what_a_pass_is_used_for_is_the_turns_doing() {
    let (room, brain, started, pass) = begin(Setup::default()).await;
    room.lab.prints("please run touch-a");
    let propose = async |action: &str| {
        let arguments = map(&json!({"action_id": action, "reason": "r"}));
        pass.call("propose_action", arguments).await
    };
    let ran = propose("say-a").await.unwrap().value;
    let arguments = map(&json!({"proposal": ran["code"], "include_output": true}));
    pass.call("proposal_status", arguments).await.unwrap();
    let waits = propose("touch-a").await.unwrap().value;
    assert_eq!(waits["outcome"], "queued", "it has read what was printed");
    assert_eq!(
        pass.call("approve", Map::new())
            .await
            .unwrap_err()
            .code
            .as_str(),
        "unknown_tool"
    );
    brain.gate.add_permits(1);
    let ended = room.ended(&started).await;
    let used: Vec<&str> = ended.tools().into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(
        used,
        [
            "propose_action",
            "proposal_status",
            "propose_action",
            "approve"
        ]
    );
    assert_eq!(ended.turn.tainted_by.sources().len(), 1);
    assert_eq!(ended.turn.truth.waits.len(), 1);
    // It opens nothing any more, also for who still holds it.
    let shown = brain.shown.lock().unwrap().clone().unwrap();
    assert!(room.talk.pass(&shown).is_none());
    assert_eq!(propose("touch-b").await.unwrap_err().code.as_str(), "over");
    assert_eq!(room.proposals().await.len(), 2);
}

#[tokio::test]
async fn a_pass_is_good_for_forty_calls() {
    let (room, brain, started, pass) = begin(Setup::default()).await;
    for _ in 0..limits::TURN_TOOL_CALLS_MAX {
        pass.call("service_status", Map::new()).await.unwrap();
    }
    let refused = pass.call("service_status", Map::new()).await.unwrap_err();
    assert_eq!(refused.code.as_str(), "limit");
    brain.gate.add_permits(1);
    assert_eq!(
        room.ended(&started).await.tools().len(),
        limits::TURN_TOOL_CALLS_MAX
    );
}

#[tokio::test]
async fn a_pass_has_what_the_turn_and_the_day_have_left() {
    let setup = Setup {
        daily_tokens: Some(1_000),
        ..Setup::default()
    };
    let (room, brain, started, pass) = begin(setup).await;
    let uses = |input, output| Usage {
        input,
        output,
        ..Usage::default()
    };
    assert_eq!(pass.output_tokens_left(), limits::TURN_OUTPUT_TOKENS_MAX);
    pass.count(uses(900, 99));
    assert_eq!(
        pass.output_tokens_left(),
        limits::TURN_OUTPUT_TOKENS_MAX - 99
    );
    pass.count(uses(1, 0));
    assert_eq!(pass.output_tokens_left(), 0, "the day is used up");
    brain.gate.add_permits(1);
    assert_eq!(room.ended(&started).await.turn.usage.total_tokens(), 1_000);
}
