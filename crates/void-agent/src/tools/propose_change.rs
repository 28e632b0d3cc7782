//! `propose_change`: a draft of what the owner keeps. It writes nothing, whoever calls it and whatever they have read: what comes
//! of it is a proposal that waits for the owner, with the difference that its card shows.

mod arguments;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use void_control::proposals::{
    self, KnowledgeRequest, ProposeKnowledgeError, Proposed, WantedChange,
};
use void_domain::capabilities::Capability;
use void_domain::changes::ChangeOp;
use void_domain::failures::FailureCode;
use void_domain::knowledge::{EntityId, EntityKind};
use void_domain::proposals::Proposal;

use self::arguments::ChangeArguments;
use super::entities::{self, not_here};
use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, schema, written_schema};

pub(super) static PROPOSE_CHANGE: Tool = Tool {
    name: "propose_change",
    title: "Propose a change",
    description: "Drafts a change of what the owner keeps: create, update or delete a page, task, ref, project or space. \
        An update is fields as they shall be, or edits that each find one place of the text exactly, against the revision that \
        you read. What changes has 64 KiB at most; a page may have 512, so a long one is changed by edits. Nothing is written: the draft waits for the owner, who sees the whole difference. Drafted is not done: say \
        that it waits, and do not draft it again.",
    needs: &[Capability::Suggest],
    reach: Reach::Anywhere,
    effect: Effect::Drafts,
    arguments: schema::<ChangeArguments>,
    result: written_schema::<DraftResult>,
    run,
};

#[derive(Debug, Serialize, JsonSchema)]
struct DraftResult {
    /// The id of the proposal that waits.
    pending_change_id: String,
    /// What people call it.
    code: String,
    /// What a yes changes, in Void's words.
    summary: String,
}

fn run(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: ChangeArguments = call.arguments()?;
        let reason = arguments.reason()?;
        let wanted = arguments.wanted(&call.scope)?;
        let foreign = base_source(&call, &wanted).await?;
        let outcome = draft(&call, wanted, reason, foreign.as_deref()).await;
        // What is said of a stranger's text, an error too, repeats some of it.
        outcome.map_err(|error| error.having_read(foreign))
    })
}

/// What a draft is made of has to be in the caller's space. The mark of what is said about it, if a stranger could have
/// written it.
async fn base_source(call: &Call, wanted: &WantedChange) -> Result<Option<String>, ToolError> {
    let (id, is_deletion) = match wanted {
        WantedChange::Create { .. } => return Ok(None),
        WantedChange::Update { id, .. } => (*id, false),
        WantedChange::Delete { id, .. } => (*id, true),
    };
    let base = entities::find(call, id).await?;
    let source = base.head.taint_source();
    match source {
        Some(_) if !call.gives_foreign_text() && !is_deletion => Err(ToolError::new(
            FailureCode::ForeignWithheld,
            "a stranger could have written it, and its text is not handed out here; it cannot be changed from here",
        )),
        // Throwing it away says nothing of it.
        Some(_) if !call.gives_foreign_text() => Ok(None),
        source => Ok(source),
    }
}

async fn draft(
    call: &Call,
    wanted: WantedChange,
    reason: String,
    foreign: Option<&str>,
) -> Result<Outcome, ToolError> {
    let mut taint = call.taint.clone();
    if let Some(source) = foreign {
        taint.add(source);
    }
    let request = KnowledgeRequest {
        wanted,
        reason: Some(reason),
        taint,
        turn: call.scope.turn,
    };
    let (control, ctx, notes) = (call.control.clone(), call.ctx.clone(), call.notes.clone());
    let proposed = call.notes.making(async move {
        let proposed = proposals::propose_knowledge(&control, &ctx, request).await;
        if let Ok(Proposed::Queued(made) | Proposed::Started(made) | Proposed::Refused(_, made)) =
            &proposed
        {
            notes.add(made.id);
        }
        proposed
    });
    match proposed.await? {
        Ok(Proposed::Queued(made) | Proposed::Started(made)) => Ok(drafted(call, &made, foreign)),
        Ok(Proposed::Refused(refusal, made)) => Ok(Outcome {
            value: json!({"reason": refusal.code().as_str(), "meaning": refusal.message(),
                "code": made.code.to_string()})
            .into(),
            proposal: Some(made.id),
            is_denied: true,
            ..Outcome::default()
        }),
        Err(error) => Err(told(error)),
    }
}

fn drafted(call: &Call, made: &Proposal, foreign: Option<&str>) -> Outcome {
    let summary = summary(call, made);
    let value = json!(DraftResult {
        pending_change_id: made.id.to_string(),
        code: made.code.to_string(),
        summary: summary.clone(),
    });
    Outcome {
        value: value.into(),
        proposal: Some(made.id),
        draft_summary: Some(summary),
        foreign: read_by_drafting(call, made, foreign),
        ..Outcome::default()
    }
}

/// The summary names the thing and its space, and either could be a stranger's words.
fn read_by_drafting(call: &Call, made: &Proposal, base: Option<&str>) -> Vec<String> {
    let about = made
        .subject
        .change()
        .and_then(|change| change.about.as_ref());
    let space = about
        .and_then(|about| about.space_id)
        .map(|id| format!("{}:{id}", EntityKind::Space))
        .filter(|space| call.gives_foreign_text() && made.taint.sources().contains(space))
        .filter(|space| base != Some(space.as_str()));
    base.map(str::to_owned).into_iter().chain(space).collect()
}

/// The words of the card. They name what it is about, so who is given no stranger's text hears only of what kind it is.
fn summary(call: &Call, made: &Proposal) -> String {
    let lines = made
        .subject
        .change()
        .map(|change| change.summary.as_slice());
    let first = lines.and_then(<[String]>::first);
    let is_named = call.gives_foreign_text() || made.taint.is_clean();
    match first.filter(|_| is_named) {
        Some(words) => words.clone(),
        None => made.subject.label.clone(),
    }
}

fn told(error: ProposeKnowledgeError) -> ToolError {
    let message = error.to_string();
    match error {
        ProposeKnowledgeError::Refused(refusal) => ToolError::new(refusal.code(), message),
        ProposeKnowledgeError::NotFound => not_here(),
        ProposeKnowledgeError::Moved(_) => ToolError::new(FailureCode::Changed, message),
        ProposeKnowledgeError::Invalid(_) => ToolError::new(FailureCode::Invalid, message),
        ProposeKnowledgeError::ReasonTooLong => ToolError::new(FailureCode::ReasonTooLong, message),
        ProposeKnowledgeError::TooManyRows(error) => {
            let wait_s = error.retry_after.as_secs().saturating_add(1);
            ToolError::new(
                FailureCode::RateLimited,
                format!("{message}; try again in {wait_s} s"),
            )
        }
        ProposeKnowledgeError::Store(error) => {
            tracing::error!(%error, "a draft could not be written");
            let message = "Void's database cannot be used right now; search shows later whether this was taken";
            ToolError::new(FailureCode::Unavailable, message)
        }
    }
}

/// What has to be said for which change, and what must not be.
fn check_members(
    op: ChangeOp,
    id: Option<&EntityId>,
    said: &[(&'static str, bool)],
) -> Result<(), ToolError> {
    if (op == ChangeOp::Create) != id.is_none() {
        let message = match op {
            ChangeOp::Create => "what is new has no id yet: leave it out",
            ChangeOp::Update | ChangeOp::Delete => "say which one: its id",
        };
        return Err(ToolError::new(FailureCode::Invalid, message));
    }
    let odd = said.iter().find(|(_, is_said)| *is_said);
    match odd {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!(
                "{name} says nothing of a change that is {}: leave it out",
                op.as_str()
            );
            Err(ToolError::new(FailureCode::Invalid, message))
        }
    }
}
