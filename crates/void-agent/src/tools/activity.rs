//! `recent_activity`: what waits, what runs, what ended, by whom and when.
//!
//! It shows everybody's requests, not the agent's own alone, so it exists in the owner's conversations only
//! (it is in no [`super::Registry`]): the owner asks, and hears what the owner may see. It holds typed
//! fields only. Reasons, notes and output are what somebody wrote; they stay out, so nothing here marks a
//! turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::{audit, proposals};
use void_domain::capabilities::Capability;
use void_domain::facts::Fact;
use void_domain::ids::ActionId;
use void_domain::proposals::{DisplayState, Proposal, Status};
use void_domain::text;

use super::actions::mended_by;
use super::{Call, Effect, Outcome, Running, Tool, ToolError, schema, written_schema};

/// Requests of each kind, and entries of the record.
const ROWS_MAX: u32 = 20;
/// How far back the record is read for entries that are no steps of requests.
const ENTRIES_READ_MAX: u32 = 300;
const NAME_BYTES_MAX: usize = 64;

pub(super) static RECENT_ACTIVITY: Tool = Tool {
    name: "recent_activity",
    title: "Recent activity",
    description: "What waits for the owner, what runs and what ended lately: which action, by whom it was asked \
        for, who decided and when; and what else the record says: sign-ins, freezes, refusals. Ids, names, \
        states and times, never what somebody wrote.",
    needs: &[Capability::Read],
    effect: Effect::Reads,
    arguments: schema::<ActivityArguments>,
    result: written_schema::<ActivityResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActivityArguments {}

#[derive(Debug, Serialize, JsonSchema)]
struct ActivityResult {
    at: String,
    /// Oldest first.
    waiting: Vec<Request>,
    /// Approved and not started yet, or running.
    running: Vec<Request>,
    /// Newest end first.
    ended: Vec<Request>,
    /// Entries that are no steps of requests, newest first.
    record: Vec<Entry>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Request {
    code: String,
    /// Absent if it is a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_id: Option<String>,
    label: String,
    tier: &'static str,
    status: &'static str,
    /// How it stands, more exactly: a stable word.
    display_state: &'static str,
    /// The same in the words that people see everywhere.
    state: &'static str,
    asked_by: String,
    asked_at: String,
    /// Who said yes or no; `policy` for what is safe or refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    /// verified, failed or unverified
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<&'static str>,
    /// Why it did not go as wished, as a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The owner's command that prints what puts it right on the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    mended_by: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    at: String,
    verb: String,
    actor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_id: Option<String>,
}

fn run(mut call: Call) -> Running {
    Box::pin(async move {
        call.arguments::<ActivityArguments>()?;
        let control = &call.control;
        let waiting = proposals::list_waiting(control, None, ROWS_MAX).await?;
        let mut running = proposals::list_in(control, Status::Approved, ROWS_MAX).await?;
        running.extend(proposals::list_in(control, Status::Running, ROWS_MAX).await?);
        let ended = proposals::list_ended(control, ROWS_MAX).await?;
        let value = json!(ActivityResult {
            at: control.clock().now().to_string(),
            waiting: rows(waiting.items),
            running: rows(running),
            ended: rows(ended),
            record: record(&call).await?,
        });
        Ok(Outcome::of(value))
    })
}

fn rows(listed: Vec<proposals::Listed>) -> Vec<Request> {
    let rows = listed.iter();
    rows.map(|row| describe(&row.proposal, row.shown)).collect()
}

fn describe(proposal: &Proposal, shown: DisplayState) -> Request {
    let (decided_by, ended_at) = proposal.resolution();
    Request {
        code: proposal.code.to_string(),
        action_id: proposal.subject.action_id().map(ToString::to_string),
        label: proposal.subject.label.clone(),
        tier: proposal.subject.tier.as_str(),
        status: proposal.status().as_str(),
        display_state: shown.as_str(),
        state: shown.words(),
        asked_by: name(&proposal.requested_by.name),
        asked_at: proposal.created_at.to_string(),
        decided_by: decided_by.map(name),
        ended_at: ended_at.map(|at| at.to_string()),
        verification: proposal.verification().map(|seen| seen.outcome.as_str()),
        reason: proposal
            .failure()
            .map(|failure| name(failure.code.as_str())),
        mended_by: mended_by(proposal).map(str::to_owned),
    }
}

/// A name as it may be shown: short, and without what deceives.
fn name(text: &str) -> String {
    text::escaped(text::cut(text, NAME_BYTES_MAX))
}

/// The steps of requests are told with them; a request that became no request is told here. The turns of chats
/// are left out: there are more of them than of all else, the one that asks included.
async fn record(call: &Call) -> Result<Vec<Entry>, ToolError> {
    let page = audit::list(
        &call.control,
        audit::FactFilter::default(),
        None,
        ENTRIES_READ_MAX,
    )
    .await?;
    let others = page.items.into_iter().filter(|entry| {
        let is_step = entry.verb.starts_with("proposal.") && entry.subject.is_some();
        !is_step && !["turn.started", "turn.finished"].contains(&entry.verb.as_str())
    });
    let most = usize::try_from(ROWS_MAX).unwrap_or(usize::MAX);
    Ok(others.take(most).map(|entry| tell(call, &entry)).collect())
}

fn tell(call: &Call, entry: &Fact) -> Entry {
    let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
    let action = detail.get("action_id").and_then(Value::as_str);
    // A refused request may name anything; only what the catalogue has is repeated.
    let action = action
        .and_then(|id| ActionId::parse(id).ok())
        .filter(|id| call.control.catalogue().get(id).is_some());
    Entry {
        at: entry.at.to_string(),
        verb: name(&entry.verb),
        actor: name(&entry.actor),
        action_id: action.map(|id| id.to_string()),
    }
}
