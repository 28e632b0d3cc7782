//! Whether a row of a proposal says what the record says. The same comparison as before a yes, for rows in any state, and
//! of the columns as they are stored.
//!
//! What an entry of an earlier version does not have is not compared.

use serde_json::{Map, Value, json};
use void_store::facts::steps::{ProposalStep, ProposalWords};

use crate::facts;
use crate::proposals::on_record::{approved_at, members, says, says_joined, tells};

/// The first thing that differs.
pub(super) fn problem(step: &ProposalStep) -> Option<String> {
    if !step.is_same_state() {
        let said = step.verb.as_deref().unwrap_or("nothing about it");
        let status = &step.status;
        return Some(format!("the row is {status}, the record says {said}"));
    }
    let newest = read(step.detail.as_ref());
    let code = word(&newest, "code").unwrap_or_default();
    if code != step.code {
        let message = format!("the row is called {}, the record says {code}", step.code);
        return Some(message);
    }
    let Some(row) = &step.row else {
        return Some("the row cannot be read".to_owned());
    };
    subject_problem(row, &newest)
        .or_else(|| request_problem(step, row))
        .or_else(|| asked_problem(step, row))
        .or_else(|| decision_problem(step, row, &newest))
        .or_else(|| check_problem(step))
}

fn read(detail: Option<&String>) -> Value {
    let read = detail.and_then(|detail| serde_json::from_str(detail).ok());
    read.unwrap_or_default()
}

fn word<'a>(said: &'a Value, name: &str) -> Option<&'a str> {
    said.get(name)?.as_str()
}

fn differs(what: &str) -> Option<String> {
    Some(format!("its {what} is not what the record says"))
}

/// The first of these members that an entry has and says otherwise.
fn differing(said: &Value, expected: Map<String, Value>) -> Option<String> {
    let mut known = expected
        .into_iter()
        .filter(|(name, _)| said.get(name).is_some());
    known.find_map(|(name, value)| {
        let is_same = says(said, members(json!({name.as_str(): value})));
        (!is_same).then_some(name)
    })
}

/// What does not change from the first request to the end.
fn subject_problem(row: &ProposalWords, newest: &Value) -> Option<String> {
    let action = Some(&row.action_id).filter(|id| !id.is_empty());
    let expected = json!({
        "action_id": action,
        "label": row.label,
        "params": row.params,
        "target": row.target,
        "digest": row.digest,
        "requested_by": row.requester_name,
    });
    differing(newest, members(expected)).and_then(|name| differs(&name.replace('_', " ")))
}

/// What came with the first request.
fn request_problem(step: &ProposalStep, row: &ProposalWords) -> Option<String> {
    let said = read(step.created.as_ref());
    let by = step.created_by.as_deref().unwrap_or_default();
    let kind = by.split_once('-').map_or(by, |(kind, _)| kind);
    let kind = word(&said, facts::IN_NAME_OF).unwrap_or(kind);
    if step.created.is_some() && kind != row.requester_kind {
        return differs("kind of requester");
    }
    let expected = members(json!({"expires_at": row.expires_at}));
    if differing(&said, expected).is_some() {
        return differs("expiry");
    }
    // An entry without any words is of an earlier version.
    said.get("reason")?;
    if !tells(&said, "reason", row.reason.as_deref()) {
        return differs("reason");
    }
    if !tells(&said, "diff", row.diff.as_deref()) {
        return differs("diff");
    }
    None
}

/// What the newest request made of it.
fn asked_problem(step: &ProposalStep, row: &ProposalWords) -> Option<String> {
    let asked = step.asked.as_ref().or(step.created.as_ref());
    let said = read(asked);
    let expected = json!({"risk": row.risk, "tier": row.tier, "taint": row.taint});
    if let Some(name) = differing(&said, members(expected)) {
        return differs(&name);
    }
    let is_first = asked == step.created.as_ref();
    if asked.is_some() && !says_joined(&said, is_first, &row.joined, row.revision) {
        return differs("words of later requests");
    }
    // Repeats between two entries are counted on the row alone.
    let counted = said.get("count").and_then(Value::as_u64).unwrap_or(1);
    if row.count < counted || (is_first && row.count > 1) {
        return differs("number of requests");
    }
    None
}

/// Who decided, and what was said then.
fn decision_problem(step: &ProposalStep, row: &ProposalWords, newest: &Value) -> Option<String> {
    if let Some(by) = row.approved_by.as_deref() {
        let approved = read(step.approved.as_ref());
        if word(&approved, "approved_by") != Some(by) {
            return differs("approval");
        }
        let recorded = step.approved_at.map(|at| approved_at(&approved, at));
        if row.approved_at != recorded {
            return differs("time of the approval");
        }
    }
    let decided = match step.status.as_str() {
        "rejected" => newest,
        _ => &Value::Null,
    };
    if !tells(decided, "reason", row.decision_reason.as_deref()) {
        return differs("reason of the decision");
    }
    if let Some(why) = word(newest, "why")
        && row.failure_code.as_deref() != Some(why)
    {
        return differs("reason of the end");
    }
    let failure = newest.get("failure")?;
    let failed = (row.failure_code.as_deref(), row.failure_message.as_deref());
    if failed != (word(failure, "code"), word(failure, "message")) {
        return differs("failure");
    }
    None
}

fn check_problem(step: &ProposalStep) -> Option<String> {
    let checked = read(step.checked.as_ref());
    let checked = word(&checked, "verification");
    if checked == step.verification.as_deref() {
        return None;
    }
    let said = |outcome: Option<&str>| outcome.unwrap_or("nothing").to_owned();
    Some(format!(
        "its check found {}, the record says {}",
        said(step.verification.as_deref()),
        said(checked)
    ))
}
