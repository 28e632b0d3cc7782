//! `list_actions` and `propose_action`: the whitelist, and naming something from it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value, json};
use void_control::proposals::{self, ProposeError, ProposeRequest, Proposed};
use void_domain::capabilities::Capability;
use void_domain::catalogue::Action;
use void_domain::executions::GuestPower;
use void_domain::policy::Refusal;
use void_domain::proposals::{Proposal, Status};
use void_domain::time::Timestamp;

use super::{Call, Effect, Outcome, Running, Tool, ToolError, schema, written_schema};

/// A safe action is waited for, with its check; nobody waits for a person. MCP clients commonly give up
/// after 60 seconds, and a turn of 120 needs room for more than one.
const RUN_WAIT: Duration = Duration::from_secs(45);

pub(super) static LIST_ACTIONS: Tool = Tool {
    name: "list_actions",
    title: "List actions",
    description: "Everything that may be done here, by id. Safe ones run at once when proposed; risky \
        ones wait for the owner. There is nothing else: no shell, no other command.",
    needs: Capability::Read,
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
    needs: Capability::Act,
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
}

fn list(mut call: Call) -> Running {
    Box::pin(async move {
        call.arguments::<ListActionsArguments>()?;
        let cooling = proposals::cooling(&call.control, call.ctx.actor.kind()).await?;
        let actions = call.control.catalogue().actions().map(|action| {
            let mut its = cooling.iter().filter(|(id, _)| *id == action.id);
            describe(action, its.next().map(|(_, until)| *until))
        });
        let actions = actions.collect();
        let now = || call.control.clock().now().to_string();
        let at = (!cooling.is_empty()).then(now);
        Ok(Outcome::of(json!(ActionsResult { at, actions })))
    })
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
    /// It is cooling down, and may run again from this time on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What this means, in a sentence.
    pub meaning: String,
}

fn propose(mut call: Call) -> Running {
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
        let until = match &proposed {
            Ok(Proposed::Refused(Refusal::CoolingDown { until }, _)) => Some(until.to_string()),
            _ => None,
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
        let value = json!(ProposeResult {
            until,
            ..result(&proposal)
        });
        Ok(Outcome {
            value,
            proposal: Some(proposal.id),
            is_denied,
            ..Outcome::default()
        })
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
            ("unknown_action", meaning)
        }
        ProposeError::InvalidParams(invalid) => {
            let problems: Vec<String> = invalid
                .0
                .iter()
                .map(|(name, problem)| format!("{name} {problem}"))
                .collect();
            ("invalid_params", problems.join("; "))
        }
        error @ ProposeError::ReasonTooLong => ("reason_too_long", error.to_string()),
        ProposeError::Store(error) => {
            tracing::error!(%error, "a proposal could not be written");
            let message = "Void's database cannot be used right now; proposal_status and search show \
                later whether this was taken";
            return Err(ToolError::new("unavailable", message));
        }
        ProposeError::TooManyRows(error) => {
            let wait_s = error.retry_after.as_secs().saturating_add(1);
            let message = format!("{error}; try again in {wait_s} s");
            return Err(ToolError::new("rate_limited", message));
        }
        error @ ProposeError::DiffTooLong => ("diff_too_long", error.to_string()),
    };
    Ok(Outcome {
        value: json!(ProposeResult {
            outcome: "refused",
            code: None,
            proposal_id: None,
            verification: None,
            reason: Some(reason.to_owned()),
            until: None,
            meaning,
        }),
        refused: Some((action_id.to_owned(), reason.to_owned())),
        is_denied: true,
        ..Outcome::default()
    })
}

/// How a proposal stands, in words that never say more than is known.
pub(super) fn result(proposal: &Proposal) -> ProposeResult {
    let verification = proposal.verification().map(|seen| seen.outcome.as_str());
    let failure = proposal.failure().map(|failure| failure.code.clone());
    let (outcome, meaning) = match (proposal.status(), verification) {
        (Status::Executed, Some("verified")) => ("executed", "It ran and the check confirmed it."),
        (Status::Executed, Some("failed")) => (
            "executed",
            "It ran, and the check says that it did not help.",
        ),
        (Status::Executed, _) if proposal.is_unchecked() => (
            "executed",
            "It ran; its check is still under way, ask proposal_status later.",
        ),
        (Status::Executed, _) => ("executed", "It ran; nobody has confirmed that it helped."),
        (Status::Pending, _) => ("queued", "It waits for the owner's yes. Nothing has run."),
        (Status::Approved, _) => ("queued", "The owner said yes; it has not started yet."),
        (Status::Running, _) => ("running", "It is still running; ask proposal_status later."),
        (Status::Unknown, _) => ("unknown", "Whether it ran is not known. Do not repeat it."),
        (Status::Failed, _) => ("failed", "It failed."),
        (Status::Rejected, _) => ("refused", "The owner said no."),
        (Status::Expired, _) => ("refused", "Nobody decided in time; it will not run."),
        (Status::Cancelled, _) => ("refused", "It was withdrawn; it will not run."),
        (Status::Refused, _) => ("refused", "It was refused and nothing ran."),
    };
    ProposeResult {
        outcome,
        code: Some(proposal.code.to_string()),
        proposal_id: Some(proposal.id.to_string()),
        verification,
        reason: failure,
        until: None,
        meaning: meaning.to_owned(),
    }
}
