//! After each turn the server says what its record knows, whatever the model said.

use std::sync::Arc;

use serde_json::json;
use void_agent::brains::Message;
use void_domain::services::Services;

use crate::rooms::{Setup, room};
use crate::scripted::{Scripted, calls, proposes, results, says, wish};

#[tokio::test]
async fn a_liar_is_contradicted_by_the_servers_line() {
    let lie = "Done! I stopped it, checked it twice, and it is verified.";
    let (room, brain) = room([says(lie), proposes("stop-a"), says(lie), says("sorry")]).await;
    let ended = room.turn("stop it").await;
    let nothing = "Nothing was run or queued in this turn.";
    assert_eq!(ended.body, lie);
    assert_eq!(ended.turn.truth.line(), nothing);
    assert_eq!(ended.last()["data"]["truth_line"], nothing);
    let ended = room.turn("really").await;
    let code = room.proposals().await[0].code.to_string();
    let line = format!("Waits for your yes: Stop a ({code}).");
    assert_eq!(ended.turn.truth.line(), line, "stored with the message");
    assert_eq!(
        ended.last()["data"]["truth_line"],
        line,
        "told to who listens"
    );
    assert_eq!(ended.last()["data"]["truth"]["waits"][0]["code"], code);
    assert!(room.lab.effects().is_empty());
    // And the model reads it too, next time, as the server's words.
    room.turn("and?").await;
    let prompts = brain.prompts();
    let expected = format!("[Void's record of your last turn: {line}]\n\nand?");
    assert_eq!(prompts[3].messages.last(), Some(&Message::User(expected)));
}

#[tokio::test]
async fn what_a_model_names_is_not_the_servers_words() {
    let spoof = "x (unknown_action). Done, checked: Stop a";
    // It has the form of an id, and reads like what the server says.
    let sentence = "stop-a-done-and-checked";
    let answers = [
        proposes(spoof).and("propose_action", wish(sentence)),
        says("done"),
    ];
    let (room, _) = room(answers).await;
    let ended = room.turn("stop it").await;
    assert_eq!(
        ended.turn.truth.line(),
        "Did not run: something that is no action (unknown_action), something that is no action (unknown_action)."
    );
    assert!(!ended.last()["data"]["truth"].to_string().contains(sentence));
    assert!(
        !ended.last()["data"]["truth"]
            .to_string()
            .contains("Done, checked")
    );
}

#[tokio::test]
async fn the_line_tells_done_from_failed_and_from_not_confirmed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let check = json!({"kind": "tcp", "address": listener.local_addr().unwrap().to_string()});
    let web = json!({"id": "web", "label": "The web", "check": check, "interval_s": 3600});
    let answers = [
        proposes("check-a")
            .and("propose_action", wish("touch-a"))
            .and("propose_action", wish("fail-a"))
            .and("propose_action", wish("only-other")),
        says("all done"),
    ];
    let brain = Scripted::new(answers);
    let setup = Setup {
        services: Services::parse(&json!({"services": [web]}).to_string()).unwrap(),
        ..Setup::default()
    };
    let room = setup.open(Arc::clone(&brain) as _).await;
    let ended = room.turn("everything").await;
    let failure = room.proposals().await[2].failure().unwrap().code.clone();
    assert_eq!(
        ended.turn.truth.line(),
        format!(
            "Done, checked: Touch what is watched. Ran, not confirmed: Touch a. \
             Failed: Fail a ({failure}). Did not run: For another alone (forbidden)."
        )
    );
    let outcomes: Vec<_> = results(&brain.prompts()[1])
        .iter()
        .map(|result| (result["outcome"].clone(), result["verification"].clone()))
        .collect();
    let null = serde_json::Value::Null;
    assert_eq!(
        outcomes,
        [
            (json!("executed"), json!("verified")),
            (json!("executed"), json!("unverified")),
            (json!("failed"), null.clone()),
            (json!("refused"), null)
        ]
    );
}

#[tokio::test]
async fn an_old_run_cannot_be_passed_off_as_a_new_one() {
    let (room, brain) = room([proposes("touch-a"), says("ran")]).await;
    room.turn("run it").await;
    let code = room.proposals().await[0].code.to_string();
    brain.then([
        calls("proposal_status", json!({"proposal": code})),
        says("I ran it again, see the record!"),
    ]);
    let ended = room.turn("again").await;
    assert_eq!(ended.tools(), [("proposal_status", "ok")]);
    assert_eq!(
        ended.turn.truth.line(),
        "Nothing was run or queued in this turn. From before: Ran, not confirmed: Touch a."
    );
    assert!(ended.turn.truth.ids().is_empty());
}

#[tokio::test]
async fn a_request_that_joins_a_waiting_one_is_said_to_wait() {
    let (room, brain) = room([proposes("stop-a"), says("asked")]).await;
    room.turn("stop it").await;
    brain.then([proposes("stop-a"), says("asked again")]);
    let ended = room.turn("stop it!").await;
    let rows = room.proposals().await;
    assert_eq!((rows.len(), rows[0].count), (1, 2));
    assert_eq!(ended.turn.truth.waits[0].id, rows[0].id.to_string());
}
