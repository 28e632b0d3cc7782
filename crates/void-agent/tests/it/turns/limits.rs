//! Every limit of a turn: exactly at it passes, one more ends it with a sentence that says so.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_agent::brains::{Message, Stop};
use void_control::conversations::TurnError;
use void_domain::conversations::TurnState;
use void_domain::limits;

use crate::labs::Lab;
use crate::rooms::{Ended, Setup, room};
use crate::scripted::{Scripted, ScriptedReply, calls, proposes, says};

const ENDED: &str = "I stopped here: ";

fn looks() -> ScriptedReply {
    calls("service_status", json!({}))
}

fn many_looks(count: usize) -> ScriptedReply {
    (0..count).fold(ScriptedReply::default(), |answer, _| {
        answer.and("service_status", json!({}))
    })
}

/// It ended well, with a sentence about a limit or without one.
fn assert_done(ended: &Ended, sentence: Option<&str>) {
    assert!(
        matches!(ended.turn.state, TurnState::Done { .. }),
        "{:?}",
        ended.turn
    );
    assert_eq!(ended.last()["event"], "done");
    match sentence {
        Some(sentence) => assert!(ended.body.ends_with(sentence), "{}", ended.body),
        None => assert!(!ended.body.contains(ENDED), "{}", ended.body),
    }
}

#[tokio::test]
async fn twelve_rounds_pass_and_one_more_ends_the_turn() {
    assert_eq!(limits::TURN_TOOL_ROUNDS_MAX, 12);
    let rounds = |count| (0..count).map(|_| looks());
    let (room, brain) = room(rounds(12).chain([says("all is well")])).await;
    let ended = room.turn("look").await;
    assert_done(&ended, None);
    assert_eq!(
        (ended.body.as_str(), ended.tools().len()),
        ("all is well", 12)
    );
    brain.then(rounds(13));
    let ended = room.turn("look").await;
    assert_done(
        &ended,
        Some("I stopped here: a turn has at most 12 rounds of tools."),
    );
    assert_eq!(ended.tools().len(), 12, "the thirteenth was not made");
}

#[tokio::test]
async fn forty_tool_calls_pass_and_one_more_ends_the_turn() {
    assert_eq!(limits::TURN_TOOL_CALLS_MAX, 40);
    let (room, brain) = room([many_looks(39), looks(), says("fine")]).await;
    let ended = room.turn("look").await;
    assert_done(&ended, None);
    assert_eq!(ended.tools().len(), 40);
    brain.then([many_looks(39), many_looks(2)]);
    let ended = room.turn("look").await;
    assert_done(
        &ended,
        Some("I stopped here: a turn has at most 40 tool calls."),
    );
    assert_eq!(
        ended.tools().len(),
        39,
        "no call of the round too many was made"
    );
}

#[tokio::test]
async fn a_turn_takes_120_seconds_and_no_more() {
    assert_eq!(limits::TURN_TIME_MAX, Duration::from_secs(120));
    let second = Duration::from_secs(1);
    let (room, brain) = room([says("at last").takes(limits::TURN_TIME_MAX - second)]).await;
    let ended = room.turn("think").await;
    assert_done(&ended, None);
    // Also in sum: every round is in time, all of them are not.
    let half = limits::TURN_TIME_MAX / 2;
    brain.then([
        looks().takes(half),
        says("so far").takes(half + second).hangs(),
    ]);
    let begun = tokio::time::Instant::now();
    let ended = room.turn("think").await;
    assert!(
        begun.elapsed() < limits::TURN_TIME_MAX + half,
        "{:?}",
        begun.elapsed()
    );
    assert_done(
        &ended,
        Some("so far\n\nI stopped here: a turn takes at most 120 seconds."),
    );
    assert_eq!(ended.tools(), [("service_status", "ok")]);
}

#[tokio::test]
async fn output_tokens_are_counted_over_the_whole_turn() {
    assert_eq!(limits::TURN_OUTPUT_TOKENS_MAX, 4_096);
    let (room, brain) = room([
        looks().costs(10, 4_095),
        says("x").costs(10, 1).stop(Stop::End),
    ])
    .await;
    let ended = room.turn("talk").await;
    assert_done(&ended, None);
    let asked: Vec<u32> = brain
        .prompts()
        .iter()
        .map(|p| p.output_tokens_max)
        .collect();
    assert_eq!(asked, [4_096, 1]);
    assert_eq!(ended.turn.usage.output_tokens, 4_096);
    // Nothing is left for an answer, so nothing more is done.
    brain.then([proposes("touch-a").costs(10, 4_096)]);
    let ended = room.turn("talk").await;
    assert_done(
        &ended,
        Some("I stopped here: a turn has at most 4096 tokens of output."),
    );
    assert!(ended.tools().is_empty() && room.lab.effects().is_empty());
    // The provider's own cut.
    brain.then([says("and then").costs(10, 4_096).stop(Stop::OutputLimit)]);
    let ended = room.turn("talk").await;
    assert_done(
        &ended,
        Some("My answer was cut here: it reached the limit of its length."),
    );
}

#[tokio::test]
async fn an_answer_has_64_kib_whatever_its_tokens_are_said_to_be() {
    let whole = "x".repeat(limits::ANSWER_BYTES_MAX);
    let (room, brain) = room([says(&whole)]).await;
    let ended = room.turn("talk").await;
    assert_done(&ended, None);
    assert_eq!(ended.body, whole);
    brain.then([says(&whole).text("é").hangs()]);
    let ended = room.turn("talk").await;
    assert_done(
        &ended,
        Some("x\n\nI stopped here: an answer has at most 64 KiB."),
    );
}

#[tokio::test]
async fn a_tool_result_enters_the_prompt_cut_to_16_kib() {
    let actions: Vec<_> = (0..200)
        .map(|n| {
            json!({"id": format!("touch-{n}"), "label": "l".repeat(200), "kind": "service_restart",
                "host": "local", "service": "a", "tier": "safe"})
        })
        .collect();
    let brain = Scripted::new([calls("list_actions", json!({})), says("many")]);
    let setup = Setup {
        lab: Arc::new(Lab::of(&json!({"actions": actions}).to_string())),
        ..Setup::default()
    };
    let room = setup.open(Arc::clone(&brain) as _).await;
    assert_done(&room.turn("what is there?").await, None);
    let prompts = brain.prompts();
    let Some(Message::ToolResults(results)) = prompts[1].messages.last() else {
        panic!("{:?}", prompts[1])
    };
    let content = &results[0].content;
    assert!(
        content.len() <= limits::TOOL_RESULT_BYTES_MAX,
        "{}",
        content.len()
    );
    let content: Value = serde_json::from_str(content).unwrap();
    let kept = content["actions"].as_array().unwrap().len();
    assert!(kept > 40, "{kept}");
    assert_eq!(content["left_out"], 200 - kept);
}

#[tokio::test]
async fn a_message_has_1_byte_to_16_kib() {
    assert_eq!(limits::MESSAGE_BYTES_MAX, 16 * 1024);
    let (room, _) = room([says("a lot"), says("little")]).await;
    let id = room.conversation().await.id;
    let longest = "m".repeat(limits::MESSAGE_BYTES_MAX);
    for text in [String::new(), " \n".to_owned(), format!("{longest}m")] {
        let refused = room.talk.say(&room.owner, &room.agent, id, text).await;
        assert!(
            matches!(refused, Err(TurnError::InvalidMessage)),
            "{refused:?}"
        );
    }
    room.turn(&longest).await;
    room.turn("m").await;
}

#[tokio::test]
async fn a_prompt_goes_back_40_messages_and_begins_with_the_owner() {
    let (room, brain) = room((0..25).map(|n| says(&format!("answer {n}")))).await;
    for n in 0..25 {
        room.turn(&format!("question {n}")).await;
    }
    let prompts = brain.prompts();
    let lengths: Vec<usize> = prompts.iter().map(|prompt| prompt.messages.len()).collect();
    assert_eq!(
        lengths[..20],
        (0..20).map(|n| 2 * n + 1).collect::<Vec<_>>()
    );
    // Of the 40 the first is an answer, and no conversation begins with one.
    assert_eq!(lengths[20..], [39; 5]);
    let last = &prompts[24].messages;
    assert_eq!(last.first(), Some(&Message::User("question 5".to_owned())));
    assert_eq!(last.last(), Some(&Message::User("question 24".to_owned())));
}

#[tokio::test]
async fn a_prompt_goes_back_128_kib() {
    let kib = |count: usize| "k".repeat(count * 1024);
    // Five questions of 16 KiB and four answers of 12 KiB are exactly 128 KiB.
    for (more, remembered) in [("", 9), ("k", 7)] {
        let first = format!("{}{more}", kib(12));
        let answers = [first, kib(12), kib(12), kib(12), "k".to_owned()];
        let (room, brain) = room(answers.iter().map(|text| says(text))).await;
        for _ in 0..5 {
            room.turn(&kib(16)).await;
        }
        let prompts = brain.prompts();
        assert_eq!(prompts[4].messages.len(), remembered);
        assert!(matches!(prompts[4].messages[0], Message::User(_)));
    }
}
