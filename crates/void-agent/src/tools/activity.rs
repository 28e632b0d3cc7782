//! `recent_activity`: what waits, what runs, what ended, by whom and when.
//!
//! It shows everybody's requests, not the agent's own alone, so it exists in the owner's conversations only
//! (it is in no [`super::Registry`]): the owner asks, and hears what the owner may see. It holds typed
//! fields only. Reasons, notes and output are what somebody wrote; they stay out, so nothing here marks a
//! turn.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use void_control::{Control, audit, proposals};
use void_domain::capabilities::Capability;
use void_domain::facts::Fact;
use void_domain::ids::ActionId;
use void_domain::proposals::{DisplayState, Proposal, Status};
use void_domain::services::Health;
use void_domain::text;

use super::actions::mended_by;
use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, schema, written_schema};

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
    reach: Reach::Anywhere,
    arguments: schema::<ActivityArguments>,
    result: written_schema::<ActivityResult>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ActivityArguments {
    /// `ran`: of what ended only what ran or may have run, so that refusals do not hide it.
    #[serde(default)]
    ended: Option<EndedKind>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EndedKind {
    Ran,
}

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
    record: Vec<ActivityEntry>,
    /// More has ended, or more stands on the record, than is listed here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
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
struct ActivityEntry {
    at: String,
    verb: String,
    actor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_id: Option<String>,
    /// The service that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    /// How it was before: up, down or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'static str>,
    /// How it is since.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ActivityArguments = call.arguments()?;
        let control = &call.control;
        let waiting = proposals::list_waiting(control, None, ROWS_MAX).await?;
        let mut running = proposals::list_in(control, Status::Approved, ROWS_MAX).await?;
        running.extend(proposals::list_in(control, Status::Running, ROWS_MAX).await?);
        let ended = match arguments.ended {
            None => proposals::list_ended(control, ROWS_MAX.saturating_add(1)).await?,
            Some(EndedKind::Ran) => list_ran(control).await?,
        };
        let (ended, has_more_ended) = at_most(ended);
        let (record, has_more_entries) = record(&call).await?;
        let value = json!(ActivityResult {
            at: control.clock().now().to_string(),
            waiting: rows(waiting.items),
            running: rows(running),
            ended: rows(ended),
            record,
            more: has_more_ended || has_more_entries,
        });
        Ok(Outcome::of(value))
    })
}

/// What ran or may have run, newest end first, and one more than is told.
async fn list_ran(control: &Control) -> Result<Vec<proposals::Listed>, ToolError> {
    let mut ran = Vec::new();
    for status in [Status::Executed, Status::Failed, Status::Unknown] {
        ran.extend(proposals::list_in(control, status, ROWS_MAX.saturating_add(1)).await?);
    }
    ran.sort_by_key(|row| Reverse(row.proposal.resolution().1));
    Ok(ran)
}

/// As many as are told, and whether there are more.
fn at_most<T>(mut all: Vec<T>) -> (Vec<T>, bool) {
    let most = usize::try_from(ROWS_MAX).unwrap_or(usize::MAX);
    let has_more = all.len() > most;
    all.truncate(most);
    (all, has_more)
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
async fn record(call: &Call) -> Result<(Vec<ActivityEntry>, bool), ToolError> {
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
    let (told, has_more) = at_most(others.collect());
    let told = told.iter().map(|entry| tell(call, entry)).collect();
    Ok((told, has_more || page.next.is_some()))
}

/// One entry of the record, as it is listed.
pub(super) fn described(call: &Call, entry: &Fact) -> Value {
    json!(tell(call, entry))
}

fn tell(call: &Call, entry: &Fact) -> ActivityEntry {
    let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
    let action = detail.get("action_id").and_then(Value::as_str);
    // A refused request may name anything; only what the catalogue has is repeated.
    let action = action
        .and_then(|id| ActionId::parse(id).ok())
        .filter(|id| call.control.catalogue().get(id).is_some());
    let service = entry.subject.as_deref();
    let service = service.and_then(|subject| subject.strip_prefix("service:"));
    let health = |name: &str| {
        let health = detail.get(name).filter(|_| service.is_some())?;
        let health: Health = serde_json::from_value(health.clone()).ok()?;
        Some(health.as_str())
    };
    ActivityEntry {
        service: service.map(name),
        from: health("from"),
        status: health("status"),
        at: entry.at.to_string(),
        verb: name(&entry.verb),
        actor: name(&entry.actor),
        action_id: action.map(|id| id.to_string()),
    }
}
