//! `list_actions` and `propose_action`: the whitelist, and naming something from it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value, json};
use void_control::knowledge::{self, KnowledgeError};
use void_control::lab::{GuestStatus, Lab};
use void_control::proposals::{self, ProposeError, ProposeRequest, Proposed};
use void_control::{Control, freezes, lab};
use void_domain::actors::person;
use void_domain::capabilities::Capability;
use void_domain::catalogue::Action;
use void_domain::executions::{GuestPower, PowerOp};
use void_domain::failures::FailureCode;
use void_domain::freezes::Freeze;
use void_domain::hosts::mending_command;
use void_domain::ids::ActionId;
use void_domain::knowledge::{RunbookName, line_about};
use void_domain::policy::Refusal;
use void_domain::proposals::{DisplayState, Proposal, StartHold, Status};
use void_domain::time::Timestamp;

use super::{Call, Effect, Given, Outcome, RunningTool, Tool, ToolError, schema, written_schema};

/// A safe action is waited for, with its check; nobody waits for a person. MCP clients commonly give up
/// after 60 seconds, and a turn of 120 needs room for more than one.
const RUN_WAIT: Duration = Duration::from_secs(45);

/// What Proxmox said longer ago says nothing about now, and who lists actions does not wait for it longer.
const GUESTS_AGE_MAX: Duration = Duration::from_secs(1);
const GUESTS_PATIENCE: Duration = Duration::from_secs(2);

/// So many of the caller's waiting requests are looked through for the one that was asked for again.
const TWINS_READ_MAX: u32 = 200;

pub(super) static LIST_ACTIONS: Tool = Tool {
    name: "list_actions",
    title: "List actions",
    description: "Everything that may be done here, by id. Safe ones run at once when proposed; risky \
        ones wait for the owner. There is nothing else: no shell, no other command.",
    needs: &[Capability::Read],
    effect: Effect::Reads,
    arguments: schema::<ListActionsArguments>,
    result: written_schema::<ActionsResult>,
    run: list,
};

pub(super) static PROPOSE_ACTION: Tool = Tool {
    name: "propose_action",
    title: "Propose an action",
    description: "Name an action by its id from list_actions. A safe one runs now and the answer says how \
        it ended and whether the check confirmed it; a risky one is queued for the owner and the answer \
        carries its code. Queued is not done: do not wait for it and do not propose it again.",
    needs: &[Capability::Act],
    effect: Effect::Proposes,
    arguments: schema::<ProposeArguments>,
    result: written_schema::<ProposeResult>,
    run: propose,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListActionsArguments {}

#[derive(Debug, Serialize, JsonSchema)]
struct ActionsResult {
    /// The time now, where one is cooling down.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// Everything is frozen: nothing new starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    frozen: bool,
    actions: Vec<Listed>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    id: String,
    label: String,
    /// `safe` runs at once, `risky` waits for the owner
    tier: &'static str,
    risk: &'static str,
    /// start, stop, shutdown, reboot, restart, deploy, rollback or scale
    op: &'static str,
    target: String,
    /// The guest that it works on, as Proxmox calls it: `CT 107`.
    #[serde(skip_serializing_if = "Option::is_none")]
    guest: Option<String>,
    /// Parameters it takes, by name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    params: Map<String, Value>,
    /// The service whose check confirms it.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_by: Option<String>,
    /// The action that undoes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    inverse: Option<String>,
    /// It ran a moment ago and would be refused before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    cooling_until: Option<String>,
    /// What Proxmox says of its guest right now, where that is what this would make of it: `running` or `stopped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    already: Option<&'static str>,
    /// What the owner's own runbook says about it. It is the owner's line, not yours: quote it as theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    runbook: Option<RunbookQuote>,
}

/// The owner's words about an action.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct RunbookQuote {
    page_id: String,
    title: String,
    /// The line that names it, word for word.
    says: String,
}

fn list(mut call: Call) -> RunningTool {
    Box::pin(async move {
        call.arguments::<ListActionsArguments>()?;
        let cooling = proposals::cooling(&call.control, call.ctx.actor.kind()).await?;
        let lab = guests_now(&call.control).await;
        let now = call.control.clock().now();
        let is_frozen = freezes::current(&call.control).await?.holds_at(now);
        let quotes = quotes(&call).await?;
        if cooling.is_empty() && lab.is_none() && !is_frozen && quotes.is_empty() {
            let ListWithoutState(given) = &*call.control.derived(|| {
                let given = listed(&call.control, (&[], &[]), None, (now, false));
                ListWithoutState(given)
            });
            return Ok(Outcome::of(given.clone()));
        }
        let known = (cooling.as_slice(), quotes.as_slice());
        let given = listed(&call.control, known, lab.as_deref(), (now, is_frozen));
        Ok(Outcome::of(given))
    })
}

/// What the owner's runbooks say about actions. A page that a stranger could have written is none here, so that looking at the
/// list marks nobody; `read` names it. Who may not read what the owner keeps is told of none.
async fn quotes(call: &Call) -> Result<Vec<(ActionId, RunbookQuote)>, ToolError> {
    let pages = match knowledge::runbooks_of_actions(&call.control, &call.ctx).await {
        Ok(pages) => pages,
        Err(KnowledgeError::Forbidden) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let catalogue = call.control.catalogue();
    let quotes = pages.iter().filter_map(|(name, page)| {
        let is_own = !page.head.is_foreign() && call.scope.has(page.head.space_id);
        let RunbookName::Action(id) = name else {
            return None;
        };
        let action = catalogue.get(id).filter(|_| is_own)?;
        let line = line_about(page.body.as_str(), name, Some(&action.label))?;
        let quote = RunbookQuote {
            page_id: page.head.id.to_string(),
            title: page.head.title.to_string(),
            says: line.text,
        };
        Some((id.clone(), quote))
    });
    Ok(quotes.collect())
}

/// The list while nothing is cooling down, nothing is known of guests and nothing is frozen: the catalogue's alone.
struct ListWithoutState(Given);

/// What is known of some actions.
type ByAction<T> = [(ActionId, T)];

fn listed(
    control: &Control,
    (cooling, quotes): (&ByAction<Timestamp>, &ByAction<RunbookQuote>),
    lab: Option<&Lab>,
    (now, frozen): (Timestamp, bool),
) -> Given {
    let actions = control.catalogue().actions().map(|action| {
        let mut its = cooling.iter().filter(|(id, _)| *id == action.id);
        let quote = quotes.iter().find(|(id, _)| *id == action.id);
        Listed {
            already: already(action, lab),
            runbook: quote.map(|(_, quote)| quote.clone()),
            ..describe(action, its.next().map(|(_, until)| *until))
        }
    });
    let actions = actions.collect();
    let at = (!cooling.is_empty()).then(|| now.to_string());
    let result = ActionsResult {
        at,
        frozen,
        actions,
    };
    json!(result).into()
}

/// What Proxmox says now, if it says it at once. What is older decides nothing.
async fn guests_now(control: &Control) -> Option<Arc<Lab>> {
    let mut actions = control.catalogue().actions();
    let has_guests = actions.any(|action| action.execution.kind.power().is_some());
    if !has_guests || !lab::is_connected(control) {
        return None;
    }
    let looking = lab::look(control, GUESTS_AGE_MAX);
    let seen = tokio::time::timeout(GUESTS_PATIENCE, looking).await.ok()?;
    seen.lab.ok()
}

/// Whether a guest is as the action would leave it. Doubt means no.
fn already(action: &Action, lab: Option<&Lab>) -> Option<&'static str> {
    let power = action.execution.kind.power()?;
    let node = lab?.nodes.iter().find(|node| node.name == power.node)?;
    let mut guests = node.guests.iter();
    let guest = guests.find(|guest| guest.state.vmid == power.vmid)?;
    match (power.op, guest.state.status) {
        (PowerOp::Start, GuestStatus::Running) => Some("running"),
        (PowerOp::Stop | PowerOp::Shutdown, GuestStatus::Stopped) => Some("stopped"),
        _ => None,
    }
}

/// One action, as it is listed.
pub(super) fn described(action: &Action) -> Value {
    json!(describe(action, None))
}

fn describe(action: &Action, cooling_until: Option<Timestamp>) -> Listed {
    let kind = &action.execution.kind;
    Listed {
        id: action.id.to_string(),
        label: action.label.clone(),
        tier: action.tier.as_str(),
        risk: action.risk.as_str(),
        op: kind.operation(),
        target: kind.target(),
        guest: kind.power().map(GuestPower::guest_name),
        params: action.params.to_members(),
        confirmed_by: action.execution.verify.clone(),
        inverse: action.inverse.as_ref().map(ToString::to_string),
        cooling_until: cooling_until.map(|until| until.to_string()),
        already: None,
        runbook: None,
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ProposeArguments {
    /// An id from list_actions.
    action_id: String,
    /// Its parameters, if it takes any.
    #[serde(default, deserialize_with = "params")]
    params: Map<String, Value>,
    /// Why, in one or two sentences; the owner reads it as your words. Without one the card says that none
    /// was given.
    #[serde(default)]
    reason: Option<String>,
    /// What would change, as a diff, if you know; the owner reads it as your words too.
    #[serde(default)]
    diff: Option<String>,
}

fn params<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Object(params) => Ok(params),
        _ => Err(de::Error::custom("params must be an object")),
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProposeResult {
    /// executed, queued, running, failed, unknown or refused
    pub outcome: &'static str,
    /// How it stands, more exactly: a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_state: Option<&'static str>,
    /// The same in the words that people see everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// What to say instead of the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal_id: Option<String>,
    /// verified, failed or unverified: whether a check confirmed it. Only verified means done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<&'static str>,
    /// Why it did not go as wished, as a stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It is held back until this time: it cools down, everything is frozen, or it was asked for a moment ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Who froze everything, where that is why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<String>,
    /// The code of the same request that waits already, where that is why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_as: Option<String>,
    /// What this means, in a sentence.
    pub meaning: String,
}

fn propose(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ProposeArguments = call.arguments()?;
        let action_id = arguments.action_id.clone();
        let wanted = ProposeRequest {
            action_id: arguments.action_id,
            params: Value::Object(arguments.params),
            reason: arguments.reason,
            diff: arguments.diff,
            taint: call.taint.clone(),
        };
        let (control, ctx, notes) = (call.control.clone(), call.ctx.clone(), call.notes.clone());
        let proposed = call.notes.making(async move {
            let proposed = proposals::propose(&control, &ctx, wanted).await;
            if let Ok(
                Proposed::Started(made) | Proposed::Queued(made) | Proposed::Refused(_, made),
            ) = &proposed
            {
                notes.add(made.id);
            }
            proposed
        });
        let proposed = proposed.await?;
        let is_denied = matches!(proposed, Ok(Proposed::Refused(..)));
        let held_back = match &proposed {
            Ok(Proposed::Refused(refusal, row)) => HeldBack::by(&call, *refusal, row).await?,
            Ok(Proposed::Started(_) | Proposed::Queued(_)) | Err(_) => HeldBack::default(),
        };
        let proposal = match proposed {
            Ok(Proposed::Started(proposal)) => {
                let ended = proposals::wait_for_end(&call.control, proposal.id, RUN_WAIT).await;
                // It runs, whether or not anybody can look how it went.
                ended.unwrap_or_else(|error| {
                    tracing::error!(%error, "how a run went could not be read");
                    proposal
                })
            }
            Ok(Proposed::Queued(proposal) | Proposed::Refused(_, proposal)) => proposal,
            Err(error) => return refused(&action_id, error),
        };
        let shown = shown(&call.control, &proposal).await;
        let value = json!(held_back.told_with(result(&proposal, shown)));
        Ok(Outcome {
            value: value.into(),
            proposal: Some(proposal.id),
            is_denied,
            ..Outcome::default()
        })
    })
}

/// What a refusal says besides its code: by whom, until when, and what waits instead.
#[derive(Debug, Default)]
struct HeldBack {
    until: Option<Timestamp>,
    frozen_by: Option<String>,
    waits_as: Option<String>,
    message: Option<String>,
}

impl HeldBack {
    async fn by(call: &Call, refusal: Refusal, row: &Proposal) -> Result<Self, ToolError> {
        let mut held = Self {
            message: Some(refusal.message()),
            ..Self::default()
        };
        match refusal {
            Refusal::CoolingDown { until } => held.until = Some(until),
            Refusal::WordsTooSoon { until } => {
                held.until = Some(until);
                held.waits_as = waiting_twin(call, row).await?;
            }
            Refusal::Frozen => {
                if let Freeze::Frozen(frozen) = freezes::current(&call.control).await? {
                    held.until = frozen.until;
                    held.frozen_by = Some(person(&frozen.by));
                }
            }
            Refusal::WrongActor
            | Refusal::NoCapability
            | Refusal::NoSuggestion
            | Refusal::NotNamed
            | Refusal::CapReached { .. }
            | Refusal::BudgetSpent { .. }
            | Refusal::AllowanceSpent { .. }
            | Refusal::Busy
            | Refusal::TooManyOpen { .. }
            | Refusal::AmbiguousHost
            | Refusal::InstanceAway => {}
        }
        Ok(held)
    }

    fn told_with(self, result: ProposeResult) -> ProposeResult {
        let Some(message) = self.message else {
            return result;
        };
        ProposeResult {
            until: self.until.map(|until| until.to_string()),
            frozen_by: self.frozen_by,
            waits_as: self.waits_as,
            meaning: format!("{} Why: {message}.", result.meaning),
            ..result
        }
    }
}

/// The code under which the same caller's same request waits.
async fn waiting_twin(call: &Call, row: &Proposal) -> Result<Option<String>, ToolError> {
    let (control, ctx) = (&call.control, &call.ctx);
    let waiting =
        proposals::list(control, ctx, Some(Status::Pending), None, TWINS_READ_MAX).await?;
    let mut waiting = waiting.items.into_iter().map(|listed| listed.proposal);
    let twin = waiting.find(|twin| twin.subject.digest == row.subject.digest);
    Ok(twin.map(|twin| twin.code.to_string()))
}

/// It was asked for, whether or not anybody can look what it waits for.
async fn shown(control: &Control, proposal: &Proposal) -> DisplayState {
    let shown = proposals::shown_now(control, proposal).await;
    shown.unwrap_or_else(|error| {
        tracing::error!(%error, "what a proposal waits for could not be read");
        DisplayState::of(proposal, StartHold::Target)
    })
}

/// The model may have meant another id; the answer says which there are.
fn refused(action_id: &str, error: ProposeError) -> Result<Outcome, ToolError> {
    let (reason, meaning) = match error {
        ProposeError::UnknownAction { nearest, .. } => {
            let nearest = nearest.map(|nearest| format!("; did you mean {nearest}?"));
            let meaning = format!(
                "there is no such action{}; list_actions shows all of them",
                nearest.unwrap_or_default()
            );
            (FailureCode::UnknownAction, meaning)
        }
        ProposeError::InvalidParams(invalid) => {
            let problems: Vec<String> = invalid
                .0
                .iter()
                .map(|(name, problem)| format!("{name} {problem}"))
                .collect();
            (FailureCode::InvalidParams, problems.join("; "))
        }
        error @ ProposeError::ReasonTooLong => (FailureCode::ReasonTooLong, error.to_string()),
        ProposeError::Store(error) => {
            tracing::error!(%error, "a proposal could not be written");
            let message = "Void's database cannot be used right now; proposal_status and search show \
                later whether this was taken";
            return Err(ToolError::new(FailureCode::Unavailable, message));
        }
        ProposeError::TooManyRows(error) => {
            let wait_s = error.retry_after.as_secs().saturating_add(1);
            let message = format!("{error}; try again in {wait_s} s");
            return Err(ToolError::new(FailureCode::RateLimited, message));
        }
        error @ ProposeError::DiffTooLong => (FailureCode::DiffTooLong, error.to_string()),
    };
    Ok(Outcome {
        value: json!(ProposeResult {
            outcome: "refused",
            display_state: None,
            state: None,
            code: None,
            proposal_id: None,
            verification: None,
            reason: Some(reason.to_string()),
            until: None,
            frozen_by: None,
            waits_as: None,
            meaning,
        })
        .into(),
        refused: Some((action_id.to_owned(), reason.to_string())),
        is_denied: true,
        ..Outcome::default()
    })
}

/// How a proposal stands, in words that never say more than is known.
pub(super) fn result(proposal: &Proposal, shown: DisplayState) -> ProposeResult {
    ProposeResult {
        outcome: outcome(shown),
        display_state: Some(shown.as_str()),
        state: Some(shown.words()),
        code: Some(proposal.code.to_string()),
        proposal_id: Some(proposal.id.to_string()),
        verification: proposal.verification().map(|seen| seen.outcome.as_str()),
        reason: proposal.failure().map(|failure| failure.code.to_string()),
        until: None,
        frozen_by: None,
        waits_as: None,
        meaning: match mended_by(proposal) {
            Some(command) => format!("{} {}", shown.meaning(), words_of_mending(command)),
            None => shown.meaning().to_owned(),
        },
    }
}

/// What is neither queued nor running is over, and did what it says.
const fn outcome(shown: DisplayState) -> &'static str {
    match shown {
        DisplayState::Waiting
        | DisplayState::Starting
        | DisplayState::WaitsForTarget
        | DisplayState::HeldByFreeze => "queued",
        DisplayState::Running => "running",
        DisplayState::BeingChecked
        | DisplayState::Verified
        | DisplayState::CheckFailed
        | DisplayState::Unconfirmed => "executed",
        DisplayState::Unknown => "unknown",
        DisplayState::Failed => "failed",
        DisplayState::Rejected
        | DisplayState::Expired
        | DisplayState::Lapsed
        | DisplayState::Withdrawn
        | DisplayState::Refused => "refused",
    }
}

/// The owner's command that prints what puts a failure right, typed by Void.
pub(super) fn mended_by(proposal: &Proposal) -> Option<&str> {
    mending_command(&proposal.failure()?.message)
}

/// Why the machine did not run it, where that command puts it right.
fn words_of_mending(command: &str) -> String {
    format!(
        "The machine's own list of what may run there is missing or not as the catalogue says; the owner's `{command}` prints what puts it right."
    )
}
