//! What the event streams carry: the data of each event, by its name. OpenAPI 3.1 has no place of its
//! own for it, so it stands beside the media type as `x-events`.

use serde_json::{Map, Value, json};
use void_domain::events::EventKind;
use void_domain::knowledge::EntityKind;

/// The events of an operation that streams some of ours.
pub(super) fn of(operation: &str) -> Option<Value> {
    match operation {
        "streamEvents" => {
            let named = EventKind::ALL.map(|kind| (kind.as_str().to_owned(), data(kind)));
            // Not stored: it says that stored ones are gone.
            let lost = object(
                &["after", "next"],
                json!({"after": whole(), "next": whole()}),
            );
            let all = named.into_iter().chain([("stream.lost".to_owned(), lost)]);
            Some(Value::Object(all.collect::<Map<_, _>>()))
        }
        "sayToLittleBlue" => Some(turn()),
        "streamTurn" => {
            let mut events = turn();
            if let Value::Object(events) = &mut events {
                events.insert("block".to_owned(), block());
            }
            Some(events)
        }
        _ => None,
    }
}

/// One event as it comes: its name, and its data as text.
pub(super) fn one_of(events: &Value) -> Value {
    let names = events
        .as_object()
        .map(|events| events.keys().collect::<Vec<_>>());
    json!({
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "id": text(),
            "event": {"enum": names},
            "data": {"type": "string", "contentMediaType": "application/json"},
            "retry": {"type": "integer"},
        },
    })
}

fn text() -> Value {
    json!({"type": "string"})
}

fn whole() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

fn data(kind: EventKind) -> Value {
    match kind {
        EventKind::ProposalCreated
        | EventKind::ProposalApproved
        | EventKind::ProposalStarted
        | EventKind::ProposalExecuted
        | EventKind::ProposalVerified
        | EventKind::ProposalFailed
        | EventKind::ProposalRejected
        | EventKind::ProposalRefused
        | EventKind::ProposalExpired
        | EventKind::ProposalCancelled
        | EventKind::ProposalUnknown
        | EventKind::ProposalHeld
        | EventKind::ProposalJoined => proposal(),
        EventKind::ServiceChanged => service(),
        EventKind::TurnStarted | EventKind::TurnFinished | EventKind::TurnFailed => object(
            &["message_id", "conversation_id", "agent", "at"],
            json!({
                "message_id": text(), "conversation_id": text(), "agent": text(), "at": text(),
                "code": text(),
            }),
        ),
        EventKind::FreezeChanged => object(
            &["frozen"],
            json!({
                "frozen": {"type": "boolean"}, "by": text(),
                "reason": {"type": ["string", "null"]}, "until": {"type": ["string", "null"]},
            }),
        ),
        EventKind::NodeChanged => object(
            &["name", "what", "at"],
            json!({"name": text(), "what": text(), "at": text()}),
        ),
        EventKind::AccessRevoked => object(
            &[],
            json!({"token": text(), "session": text(), "sessions": whole(), "quarantine": {"type": "boolean"}}),
        ),
        EventKind::MuteChanged => mute(),
        EventKind::AgentChanged => agent(),
        EventKind::MessageSent => message(),
        EventKind::QuestionAsked
        | EventKind::QuestionAnswered
        | EventKind::QuestionCancelled
        | EventKind::QuestionExpired => question(),
        EventKind::SpaceChanged
        | EventKind::ProjectChanged
        | EventKind::PageChanged
        | EventKind::TaskChanged
        | EventKind::RefChanged => entity(kind),
        EventKind::NotificationFailed => notification(),
    }
}

fn service() -> Value {
    object(
        &["id", "label", "from", "status", "at", "detail"],
        json!({
            "id": text(), "label": text(), "at": text(),
            "from": {"enum": ["up", "down", "unknown"]},
            "status": {"enum": ["up", "down", "unknown"]},
            "detail": {"type": "object"},
        }),
    )
}

fn mute() -> Value {
    object(
        &["mute", "subject", "what", "until", "at"],
        json!({
            "mute": text(), "subject": text(), "until": text(), "at": text(),
            "what": {"enum": ["mute.set", "mute.lifted", "mute.ended"]},
        }),
    )
}

fn notification() -> Value {
    object(
        &["notification", "target", "why", "proposal_id", "at"],
        json!({
            "notification": text(), "target": text(), "why": text(), "at": text(),
            "proposal_id": {"type": ["string", "null"]},
        }),
    )
}

fn message() -> Value {
    object(
        &["id", "from", "to", "kind", "at"],
        json!({
            "id": text(), "from": text(), "to": text(), "at": text(),
            "kind": {"enum": ["text", "wake"]},
        }),
    )
}

fn agent() -> Value {
    object(
        &["name", "what", "why", "at"],
        json!({
            "name": text(), "at": text(), "why": {"type": ["string", "null"]},
            "what": {"enum": EventKind::AgentChanged.verbs()},
        }),
    )
}

fn question() -> Value {
    object(
        &["id", "code", "asker", "asked", "status", "at"],
        json!({
            "id": text(), "code": text(), "asker": text(), "asked": text(), "at": text(),
            "status": {"enum": ["open", "answered", "cancelled", "expired"]},
        }),
    )
}

fn entity(kind: EventKind) -> Value {
    object(
        &["kind", "id", "space_id", "what", "revision", "at"],
        json!({
            "kind": {"enum": EntityKind::ALL.map(EntityKind::as_str)},
            "id": text(), "space_id": text(), "revision": whole(), "at": text(),
            "what": {"enum": kind.verbs()},
        }),
    )
}

fn proposal() -> Value {
    object(
        &[
            "id",
            "code",
            "subject",
            "action_id",
            "label",
            "tier",
            "risk",
            "status",
            "verification",
            "at",
            "revision",
            "waited_ms",
        ],
        json!({
            "id": text(), "code": text(), "label": text(), "at": text(),
            "subject": {"enum": ["action", "change"]},
            "action_id": {"type": ["string", "null"]},
            "tier": {"enum": ["safe", "risky"]},
            "risk": {"enum": ["nominal", "guarded", "critical"]},
            "status": text(),
            "verification": {"enum": ["verified", "failed", "unverified", null]},
            "revision": whole(),
            "waited_ms": whole(),
        }),
    )
}

/// Blocks before `from` stay, the others are now `blocks`, then `more` is added to the last text of the last one.
fn block() -> Value {
    object(
        &["from", "blocks", "more", "finished"],
        json!({
            "from": whole(),
            "blocks": {"type": "array", "items": {"$ref": "#/components/schemas/Block"}},
            "more": text(),
            "finished": whole(),
        }),
    )
}

fn turn() -> Value {
    let lists = ["ran", "waits", "refused", "unverified"];
    let item = object(
        &["id", "code", "action_id", "label", "status"],
        json!({
            "id": text(), "code": text(), "action_id": text(), "label": text(), "status": text(),
            "reason": text(),
        }),
    );
    let items = json!({"type": "array", "items": item});
    let earlier = json!({"ran": items, "waits": items, "refused": items, "unverified": items});
    let truth = json!({
        "ran": items, "waits": items, "refused": items, "unverified": items,
        "before": object(&lists, earlier),
    });
    let usage = json!({
        "input_tokens": whole(), "output_tokens": whole(), "cache_read_tokens": whole(),
        "cache_write_tokens": whole(), "cost_micros": whole(),
    });
    json!({
        "tool": object(
            &["tool", "args_summary", "status"],
            json!({
                "tool": text(), "args_summary": text(),
                "status": {"enum": ["running", "ok", "denied", "error"]},
            }),
        ),
        "delta": object(&["text"], json!({"text": text()})),
        "draft": object(
            &["pending_change_id", "summary"],
            json!({"pending_change_id": text(), "summary": text()}),
        ),
        "done": object(
            &["assistant_message_id", "usage", "truth", "truth_line", "tainted_by"],
            json!({
                "assistant_message_id": text(),
                "usage": object(&[], usage),
                "truth": object(&lists, truth),
                "truth_line": text(),
                "tainted_by": {"type": "array", "items": text()},
            }),
        ),
        "error": object(&["code", "message"], json!({"code": text(), "message": text()})),
    })
}
