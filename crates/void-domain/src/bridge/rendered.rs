//! The file of a proposal, from the record alone: the same record gives the same bytes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Dropped, DroppedDetails, FILE_BYTES_MAX, FileSubject, InstanceId, StatusFolder};
use crate::cards::{Card, words_of};
use crate::proposals::{DisplayState, Proposal, State, Status, Transition};
use crate::text;
use crate::time::Timestamp;

const MESSAGE_BYTES_MAX: usize = 1024;
const SYSTEM: &str = "system";

/// A move that changed nothing: where the file was found, where it was put, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    pub from: StatusFolder,
    pub to: StatusFolder,
    pub at_ms: i64,
    pub note: String,
}

/// In the order of the source documents' schema, with what they have no word for at the end.
#[derive(Serialize)]
struct File<'a> {
    action_id: &'a str,
    service: &'a str,
    node: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    risk: &'a str,
    status: &'a str,
    created_at: i64,
    updated_at: i64,
    details: FileDetails,
    transition_history: Vec<HistoryEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    void: Option<Value>,
}

#[derive(Serialize)]
struct FileDetails {
    image: String,
    reason: String,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Value>,
}

#[derive(Serialize)]
struct HistoryEntry {
    from: Option<&'static str>,
    to: &'static str,
    timestamp: i64,
    by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    /// Whether everything that a person should read before a yes is in it. If not, moving it approves nothing.
    pub is_whole: bool,
}

/// `dropped` are the words of the file that the proposal came from, if it came from one.
pub fn render(
    instance: &InstanceId,
    proposal: &Proposal,
    shown: DisplayState,
    history: &[Transition],
    dropped: Option<&DroppedDetails>,
    notes: &[Note],
) -> Rendered {
    let subject = FileSubject::of_proposal(proposal);
    let mut steps: Vec<(Timestamp, HistoryEntry)> = history.iter().map(step_of).collect();
    steps.extend(notes.iter().map(step_of_note));
    steps.sort_by_key(|(at, _)| *at);
    let updated_at = steps.last().map_or(proposal.created_at, |(at, _)| *at);
    let mut file = File {
        action_id: instance.as_str(),
        service: &subject.service,
        node: &subject.node,
        kind: &subject.kind,
        risk: proposal.subject.risk.as_str(),
        status: status_of(proposal.status()).as_str(),
        created_at: seconds(proposal.created_at),
        updated_at: seconds(updated_at),
        details: details_of(proposal, dropped),
        transition_history: steps.into_iter().map(|(_, step)| step).collect(),
        outcome: outcome_of(proposal),
        void: Some(facts_of(proposal, shown, dropped)),
    };
    within_bounds(&mut file)
}

/// What Void itself says about it, beside the members of the source documents: every value that a yes binds,
/// and whose words the others are.
fn facts_of(proposal: &Proposal, shown: DisplayState, dropped: Option<&DroppedDetails>) -> Value {
    let card = Card::of(proposal);
    let bound: Map<String, Value> = (card.bound.iter())
        .map(|bound| match bound.is_param {
            true => (format!("params.{}", bound.name), json!(bound.value)),
            false => (bound.name.clone(), json!(bound.value)),
        })
        .collect();
    let only_said = dropped.and_then(|dropped| dropped.only_said_image(proposal));
    let said = match only_said {
        Some(_) => "details.image (nothing runs by it), details.reason and details.diff",
        None => "details.reason and details.diff",
    };
    let mut facts = json!({
        "proposal": proposal.id,
        "code": proposal.code,
        "action": proposal.subject.action_id(),
        "label": proposal.subject.label,
        "display_state": shown.as_str(),
        "state": shown.words(),
        "digest": proposal.subject.digest,
        "revision": proposal.revision,
        "requested_by": proposal.requested_by.name,
        "expires_at": seconds(proposal.expires_at),
        "via": if proposal.subject.is_by_file() { "file" } else { "void" },
        "if_yes": card.consequence,
        "checked_by": card.checked_by,
        "binds": bound,
        "read_before": card.read_before,
        "words": format!("{said}: {}", words_of(&card.asked_by)),
    });
    if let Value::Object(facts) = &mut facts {
        if !card.joined.is_empty() {
            facts.insert("joined".to_owned(), json!(card.joined));
        }
        if let Some(image) = only_said.filter(|_| proposal.subject.is_by_file()) {
            facts.insert("image_said".to_owned(), json!(image));
        }
        if let Some(change) = &card.change {
            facts.insert("change".to_owned(), json!(change));
        }
        if card.left_out > 0 {
            facts.insert("words_left_out".to_owned(), json!(card.left_out));
        }
    }
    facts
}

/// A file that we write is one that we can read: words go before facts. They stay in the record.
fn within_bounds(file: &mut File<'_>) -> Rendered {
    const LEFT_OUT: &str =
        "left out here, it is too long, so moving this file approves nothing; see void inbox show";
    let fits = |file: &File<'_>| Some(bytes(file)).filter(|bytes| bytes.len() <= FILE_BYTES_MAX);
    if let Some(bytes) = fits(file) {
        return Rendered {
            bytes,
            is_whole: true,
        };
    }
    if let Some(Value::Object(outcome)) = &mut file.outcome {
        outcome.remove("result");
    }
    let is_whole = fits(file).is_some();
    if !is_whole {
        LEFT_OUT.clone_into(&mut file.details.diff);
        if let Some(Value::Object(facts)) = &mut file.void
            && facts.contains_key("joined")
        {
            facts.insert("joined".to_owned(), json!(LEFT_OUT));
        }
    }
    if fits(file).is_none() {
        LEFT_OUT.clone_into(&mut file.details.reason);
    }
    // A definition or a change may be long too.
    for long in ["change", "binds"] {
        if fits(file).is_none()
            && let Some(Value::Object(facts)) = &mut file.void
            && facts.contains_key(long)
        {
            facts.insert(long.to_owned(), json!(LEFT_OUT));
        }
    }
    Rendered {
        bytes: bytes(file),
        is_whole,
    }
}

/// A dropped file whose request waits already: it is told where, and ends here.
pub fn render_joined(dropped: &Dropped, waiting: &Proposal, at: Timestamp) -> Vec<u8> {
    let words = &dropped.details;
    let at = seconds(at);
    let step = |from, to, note| HistoryEntry {
        from,
        to,
        timestamp: at,
        by: SYSTEM.to_owned(),
        note,
    };
    bytes(&File {
        action_id: dropped.instance.as_str(),
        service: &dropped.subject.service,
        node: &dropped.subject.node,
        kind: &dropped.subject.kind,
        risk: dropped.risk.as_str(),
        status: StatusFolder::Rejected.as_str(),
        created_at: at,
        updated_at: at,
        details: FileDetails {
            image: words.image.clone().unwrap_or_default(),
            reason: words.reason.clone().unwrap_or_default(),
            diff: words.diff.clone().unwrap_or_default(),
            params: words.params.clone(),
        },
        transition_history: vec![
            step(None, StatusFolder::Pending.as_str(), None),
            step(
                Some(StatusFolder::Pending.as_str()),
                StatusFolder::Rejected.as_str(),
                Some("joined".to_owned()),
            ),
        ],
        outcome: Some(json!({
            "status": "joined",
            "message": format!("the same wish waits already as {}", waiting.code),
            "proposal": waiting.id,
        })),
        void: None,
    })
}

fn bytes(file: &File<'_>) -> Vec<u8> {
    // Texts, numbers and maps with text keys always have a JSON form.
    let mut bytes = serde_json::to_vec_pretty(file).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

const fn seconds(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(1000)
}

/// The source documents know six words.
const fn status_of(status: Status) -> StatusFolder {
    match status {
        Status::Pending => StatusFolder::Pending,
        Status::Approved => StatusFolder::Approved,
        Status::Running | Status::Unknown => StatusFolder::Running,
        Status::Executed => StatusFolder::Completed,
        Status::Failed => StatusFolder::Failed,
        Status::Rejected | Status::Expired | Status::Cancelled | Status::Refused => {
            StatusFolder::Rejected
        }
    }
}

fn step_of(step: &Transition) -> (Timestamp, HistoryEntry) {
    let to = status_of(step.to).as_str();
    // What the six words cannot say stands beside them.
    let more = match step.to {
        Status::Unknown | Status::Expired | Status::Cancelled | Status::Refused => {
            Some(step.to.as_str().to_owned())
        }
        _ => None,
    };
    let step_in_file = HistoryEntry {
        from: step.from.map(|from| status_of(from).as_str()),
        to,
        timestamp: seconds(step.at),
        by: by_in_file(&step.by),
        note: more,
    };
    (step.at, step_in_file)
}

fn step_of_note(note: &Note) -> (Timestamp, HistoryEntry) {
    let at = Timestamp::from_ms(note.at_ms);
    let step = HistoryEntry {
        from: Some(note.from.as_str()),
        to: note.to.as_str(),
        timestamp: seconds(at),
        by: SYSTEM.to_owned(),
        note: Some(note.note.clone()),
    };
    (at, step)
}

/// The record's actors in the source documents' spelling.
fn by_in_file(by: &str) -> String {
    if let Some(user) = by.strip_prefix("owner-telegram-") {
        return format!("operator-tg-{user}");
    }
    match by {
        "owner-web" => "webui",
        "policy" => SYSTEM,
        "agent-file" => "file",
        other => other.strip_prefix("owner-").unwrap_or(other),
    }
    .to_owned()
}

fn details_of(proposal: &Proposal, dropped: Option<&DroppedDetails>) -> FileDetails {
    let params = proposal.subject.params().as_object().cloned();
    let mut params: Map<String, Value> = params.unwrap_or_default();
    let image = params
        .remove("image")
        .and_then(|image| image.as_str().map(str::to_owned));
    // A foreign executor might act by an image that no yes was about: it is not handed one.
    let only_said = dropped
        .filter(|_| !proposal.subject.is_by_file())
        .and_then(|dropped| dropped.only_said_image(proposal));
    let image = image.or_else(|| only_said.map(str::to_owned));
    let reason = proposal.reason.clone();
    FileDetails {
        image: image.unwrap_or_default(),
        reason: reason.unwrap_or_default(),
        // The record has it; rows of older versions have it only beside the file they came from.
        diff: (proposal.diff.clone())
            .or_else(|| dropped.and_then(|dropped| dropped.diff.clone()))
            .unwrap_or_default(),
        params: (!params.is_empty()).then_some(Value::Object(params)),
    }
}

fn outcome_of(proposal: &Proposal) -> Option<Value> {
    let said = |text: &str| text::cut(text, MESSAGE_BYTES_MAX).to_owned();
    let mut outcome = json!({"status": proposal.status().as_str()});
    let more = match &proposal.state {
        State::Pending | State::Approved { .. } | State::Running { .. } => return None,
        State::Executed {
            verification,
            result,
            ..
        } => {
            let seen = verification.as_ref().map(|seen| seen.outcome.as_str());
            // A foreign executor's own words go back to where it can read them.
            let said = proposal.subject.is_by_file().then_some(result);
            json!({"verification": seen, "result": said})
        }
        State::Failed { failure, .. }
        | State::Unknown { failure, .. }
        | State::Refused { failure, .. } => {
            json!({"code": failure.code, "message": said(&failure.message)})
        }
        State::Rejected { reason, .. } => json!({"message": reason.as_deref().map(said)}),
        State::Expired { lapsed, .. } if lapsed.is_some() => {
            json!({"message": "the approval was not used in time"})
        }
        State::Expired { .. } => json!({"message": "nobody decided in time"}),
        State::Cancelled { why, .. } => json!({"code": why.as_str(), "message": why.message()}),
    };
    if let (Value::Object(all), Value::Object(more)) = (&mut outcome, more) {
        all.extend(more);
    }
    Some(outcome)
}
