//! What versions that do not know each other may say to one another.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::actions::RunResponse;
use crate::errors::ErrorResponse;
use crate::inbox::{InboxResponse, ItemResponse};
use crate::proposals::{DecideRequest, RowResponse};

fn read<T: DeserializeOwned>(sent: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(sent)
}

fn row() -> Value {
    json!({
        "id": "01", "code": "a1b2", "subject": "action", "action_id": "stop-ct107", "label": "Stop", "params": {}, "tier": "risky",
        "risk": "guarded", "status": "pending", "display_state": "waiting", "digest": "00", "reason": null,
        "requested_by": {"kind": "agent", "id": "02", "name": "blue"}, "agent_id": "02", "resolved_by": null,
        "result": null, "error": null, "verification": null, "count": 1, "taint": [], "joined": [],
        "words_left_out": 0, "revision": 0, "created_at": "t", "expires_at": "t", "resolved_at": null,
        "transitions": [{"from": null, "to": "pending", "at": "t", "by": "agent:blue"}],
    })
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

#[test]
fn an_answer_may_say_more_and_in_newer_words_and_a_request_may_not() {
    let newer = with(row(), "new_member", json!({"a": 1}));
    let newer = with(newer, "status", json!("postponed"));
    let read_row: RowResponse = read(newer).unwrap();
    assert_eq!(read_row.status, "postponed");
    let decision = json!({"decision": "approve", "digest": "00"});
    assert!(read::<DecideRequest>(decision.clone()).is_ok());
    assert!(read::<DecideRequest>(with(decision, "revison", json!(1))).is_err());
}

/// What is written is what is read: nothing is lost on the way through a client.
#[test]
fn a_row_that_was_read_is_written_as_it_was() {
    let sent = with(row(), "told", json!("nobody"));
    let row: RowResponse = read(sent.clone()).unwrap();
    assert_eq!(serde_json::to_value(row).unwrap(), sent);
}

#[test]
fn a_row_of_a_server_that_knows_no_changes_is_an_action() {
    let mut sent = row();
    sent.as_object_mut().unwrap().remove("subject");
    let row: RowResponse = read(sent).unwrap();
    assert_eq!(row.subject, "action");
    assert!(row.change.is_none());
}

#[test]
fn why_something_was_refused_is_understood_without_its_row() {
    for (row, is_readable) in [
        (row(), true),
        (json!({"id": 7}), false),
        (json!(null), false),
    ] {
        let error = json!({"code": "changed", "message": "m", "hint": "h", "row": row});
        let told: ErrorResponse = read(json!({ "error": error })).unwrap();
        assert_eq!(
            (told.error.code.as_ref(), told.error.hint.as_deref()),
            ("changed", Some("h"))
        );
        assert_eq!(told.error.row.is_some(), is_readable);
    }
    let told: ErrorResponse = read(json!({"error": {"code": "c", "message": "m"}})).unwrap();
    assert!(told.error.row.is_none() && told.error.fields.is_none());
}

#[test]
fn kinds_without_a_common_mark_are_told_apart() {
    let items = json!([
        with(row(), "kind", json!("proposal")),
        {"kind": "join", "name": "n", "fingerprint": "f", "from": "a", "version": null, "asked_at": "t"},
        {
            "kind": "question", "id": "i", "code": "Q-AB12", "asker": "alice", "asked": "owner", "text": "which?",
            "options": [], "taint": [], "status": "open", "asked_at": "t", "expires_at": "t", "answer": null,
            "ended_by": null, "ended_at": null, "why": null,
        },
    ]);
    let counts =
        json!({"proposal": 1, "draft": 0, "failure": 0, "untold": 0, "join": 1, "question": 1});
    let inbox = json!({"items": items, "next": null, "counts": counts});
    let inbox: InboxResponse = read(inbox).unwrap();
    assert!(matches!(
        inbox.items.as_slice(),
        [
            ItemResponse::Row(_),
            ItemResponse::Join(_),
            ItemResponse::Question(_)
        ]
    ));
    for (sent, expected) in [
        (
            json!({"executed": true, "result": null, "action_row_id": "1"}),
            "executed",
        ),
        (json!({"queued": true, "action_row_id": "1"}), "queued"),
        (
            json!({"executed": false, "status": "running", "action_row_id": "1"}),
            "not executed",
        ),
    ] {
        let answer: RunResponse = read(sent.clone()).unwrap();
        let kind = match &answer {
            RunResponse::Executed { .. } => "executed",
            RunResponse::Queued { .. } => "queued",
            RunResponse::NotExecuted { .. } => "not executed",
        };
        assert_eq!((kind, answer.row_id()), (expected, "1"));
        assert_eq!(serde_json::to_value(answer).unwrap(), sent);
    }
}
