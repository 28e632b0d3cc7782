//! How turns end: stopped, failed, broken; tool errors do not end them.

use serde_json::json;
use void_agent::brains::{Message, Stop};
use void_agent::turns::ChatEvent;
use void_domain::conversations::TurnState;
use void_testkit::eventually;

use crate::rooms::{all, room};
use crate::scripted::{ScriptedReply, calls, proposes, results, says};

#[tokio::test]
async fn a_tool_error_is_a_result_that_the_model_can_read() {
    let wrong = ScriptedReply::default()
        .and("no_such_tool", json!({}))
        .and("service_status", json!({"id": 7}))
        .and("propose_action", json!("touch-a"))
        .and("proposal_status", json!({"proposal": "NOPE99"}));
    let (room, brain) = room([wrong, says("I see")]).await;
    let ended = room.turn("try").await;
    assert_eq!(ended.body, "I see");
    assert_eq!(
        ended.tools(),
        [
            ("no_such_tool", "error"),
            ("service_status", "error"),
            ("propose_action", "error"),
            ("proposal_status", "error")
        ]
    );
    let prompt = &brain.prompts()[1];
    let codes: Vec<_> = results(prompt)
        .iter()
        .map(|result| result["error"]["code"].clone())
        .collect();
    assert_eq!(
        codes,
        [
            "unknown_tool",
            "invalid_arguments",
            "invalid_arguments",
            "not_found"
        ]
    );
    let Some(Message::ToolResults(results)) = prompt.messages.last() else {
        panic!("{prompt:?}")
    };
    assert!(results.iter().all(|result| result.is_error));
    assert!(room.proposals().await.is_empty());
}

#[tokio::test]
async fn a_step_keeps_how_it_went_what_came_back_and_which_request_it_made() {
    let asks = proposes("stop-a")
        .and(
            "propose_action",
            json!({"action_id": "nope", "reason": "x"}),
        )
        .and("list_actions", json!({}));
    let (room, _) = room([asks, says("so be it")]).await;
    let ended = room.turn("go").await;
    let made = &room.proposals().await[0];
    let [asked, denied, looked] = &ended.turn.trace[..] else {
        panic!("{:?}", ended.turn.trace)
    };
    assert_eq!(
        (asked.status.as_str(), asked.proposal_id),
        ("ok", Some(made.id))
    );
    let answer = asked.result.as_ref().unwrap();
    assert!(answer.contains("\"outcome\": \"queued\""), "{answer}");
    assert_eq!(
        (denied.status.as_str(), denied.proposal_id),
        ("denied", None)
    );
    assert!(denied.result.as_ref().unwrap().contains("unknown_action"));
    assert_eq!(looked.status, "ok");
    assert!(looked.result.as_ref().unwrap().contains("check-a"));
    assert!(ended.turn.trace.iter().all(|step| step.took_ms.is_some()));
}

#[tokio::test]
async fn the_owner_stops_a_turn_and_keeps_what_was_said() {
    let (room, _) = room([says("Let me think").hangs()]).await;
    let started = room.say("think").await;
    assert_eq!(
        started.live.after(0).await[0].payload()["text"],
        "Let me think"
    );
    started.live.stop();
    let ended = room.ended(&started).await;
    assert!(matches!(ended.turn.state, TurnState::Stopped { .. }));
    assert_eq!(ended.body, "Let me think");
    assert_eq!(ended.last()["event"], "done");
}

#[tokio::test]
async fn stop_during_a_run_shows_the_run_as_it_is() {
    let (room, _) = room([proposes("slow-a")]).await;
    let started = room.say("do it").await;
    eventually("the run to begin", || async {
        (room.lab.effects().get("slow-a") == Some(&1)).then_some(())
    })
    .await;
    started.live.stop();
    let ended = room.ended(&started).await;
    assert!(matches!(ended.turn.state, TurnState::Stopped { .. }));
    assert_eq!(ended.turn.truth.line(), "Still running: Slow a.");
    assert_eq!(ended.last()["data"]["truth_line"], "Still running: Slow a.");
    room.lab.release();
}

#[tokio::test]
async fn a_stop_at_any_moment_of_a_propose_leaves_no_proposal_unsaid() {
    for yields in 0..40 {
        let (room, _) = room([proposes("stop-a"), says("queued").hangs()]).await;
        let started = room.say("stop it").await;
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        started.live.stop();
        let ended = room.ended(&started).await;
        let waits: Vec<_> = ended
            .turn
            .truth
            .waits
            .iter()
            .map(|item| item.id.clone())
            .collect();
        let made = room.proposals().await;
        let made: Vec<_> = made
            .iter()
            .map(|proposal| proposal.id.to_string())
            .collect();
        assert_eq!(waits, made, "after {yields} steps");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_failed_turn_with_what_was_said() {
    let (room, _) = room([says("The reason is").costs(30, 4).fails()]).await;
    let ended = room.turn("why?").await;
    let TurnState::Failed { failure, .. } = &ended.turn.state else {
        panic!("{:?}", ended.turn)
    };
    assert_eq!(failure.message, "the model broke off");
    assert_eq!(ended.body, "The reason is");
    let last = ended.last();
    assert_eq!(
        (&last["event"], &last["data"]["code"]),
        (&json!("error"), &json!(failure.code))
    );
}

#[tokio::test]
async fn a_defect_ends_its_turn_and_nothing_else() {
    let (room, brain) = room([proposes("stop-a"), says("oh").breaks()]).await;
    let ended = room.turn("break").await;
    let TurnState::Failed { failure, .. } = &ended.turn.state else {
        panic!("{:?}", ended.turn)
    };
    assert_eq!(failure.code, "internal");
    assert_eq!(ended.turn.truth.waits.len(), 1, "what it did is known");
    brain.then([says("here again")]);
    assert_eq!(room.turn("and now?").await.body, "here again");
}

#[tokio::test]
async fn odd_ends_are_said_plainly() {
    let refuses = calls("propose_action", json!({})).stop(Stop::Refused);
    let cases = [
        (refuses, "The model declined to answer this."),
        (
            says("well").stop(Stop::Other("pause".to_owned())),
            "well\n\nThe model stopped here (pause).",
        ),
        (ScriptedReply::default(), "The model gave no answer."),
    ];
    for (answer, body) in cases {
        let (room, _) = room([answer]).await;
        let ended = room.turn("go").await;
        assert_eq!(ended.body, body);
        assert!(ended.tools().is_empty());
    }
}

#[tokio::test]
async fn words_are_heard_as_they_come_and_stored_as_they_were_heard() {
    let first = says("One.").text(" Two.").and("service_status", json!({}));
    let (room, _) = room([first, says("Three.")]).await;
    let started = room.say("count").await;
    let heard = all(&started.live).await;
    let names: Vec<_> = heard.iter().map(ChatEvent::name).collect();
    assert_eq!(
        names,
        ["delta", "delta", "tool", "tool", "delta", "delta", "done"]
    );
    let texts: String = heard
        .iter()
        .filter_map(|event| Some(event.payload()["text"].as_str()?.to_owned()))
        .collect();
    assert_eq!(texts, "One. Two.\n\nThree.");
    assert_eq!(room.stored(started.message_id).await.0.body, texts);
}
