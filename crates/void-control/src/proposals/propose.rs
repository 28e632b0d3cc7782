//! Somebody names an action. Unknown, malformed and refused requests are recorded; safe ones start at
//! once, the rest waits.

use std::sync::Arc;

use serde_json::{Value, json};
use void_domain::bridge::Dropped;
use void_domain::catalogue::{Action, InvalidParams, Params, Risk, Tier};
use void_domain::changes::drafts::DraftContext;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::ids::ActionId;
use void_domain::instances::StartingInstance;
use void_domain::limits;
use void_domain::policy::{self, Brakes, Budget, PolicyInput, Refusal, Verdict};
use void_domain::proposals::{Approval, Proposal, ProposedAction, State, Subject, SubjectKind};
use void_domain::taint::Taint;
use void_domain::text;
use void_store::{StoreError, Tx};

use super::detached;
use super::plans::Plan;
use super::queue::{Asking, NewProposal};
use super::repeats::{self, RepeatNote};
use super::start;
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::parts::row_budgets::TooManyRows;
use crate::parts::tree::Tree;
use crate::refusal_counts::RequestRefusal;
use crate::{instances, row_budgets, token_taints};

/// What somebody asks for, before anything of it is believed.
#[derive(Debug, Clone)]
pub struct ProposeRequest {
    pub action_id: String,
    pub params: Value,
    pub reason: Option<String>,
    /// What would change; the requester's words as well.
    pub diff: Option<String>,
    pub taint: Taint,
}

#[derive(Debug)]
pub enum Proposed {
    /// It is running, or a foreign executor may take it now; the proposal as it was then.
    Started(Proposal),
    /// It waits for the owner, alone or joined to an equal request.
    Queued(Proposal),
    /// Policy said no.
    Refused(Refusal, Proposal),
}

#[derive(Debug, thiserror::Error)]
pub enum ProposeError {
    #[error("there is no action \"{id}\" in the catalogue")]
    UnknownAction { id: String, nearest: Option<String> },
    #[error("the parameters do not fit the action")]
    InvalidParams(InvalidParams),
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error("the diff is longer than {} bytes", limits::DIFF_BYTES_MAX)]
    DiffTooLong,
    #[error(transparent)]
    TooManyRows(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Goes to its end even if its caller goes away.
pub async fn propose(
    control: &Control,
    ctx: &Ctx,
    wanted: ProposeRequest,
) -> Result<Proposed, ProposeError> {
    detached(run(control.clone(), ctx.clone(), wanted, None)).await
}

/// The request of a dropped file: which file it was is stored with it, and its risk can only rise.
pub async fn propose_dropped(
    control: &Control,
    ctx: &Ctx,
    wanted: ProposeRequest,
    dropped: Dropped,
) -> Result<Proposed, ProposeError> {
    detached(run(control.clone(), ctx.clone(), wanted, Some(dropped))).await
}

async fn run(
    control: Control,
    ctx: Ctx,
    wanted: ProposeRequest,
    dropped: Option<Dropped>,
) -> Result<Proposed, ProposeError> {
    let (action, params) = match check(&control, &wanted) {
        Ok(checked) => checked,
        Err(error) => {
            record_invalid(&control, &ctx, &wanted.action_id, &error).await?;
            return Err(error);
        }
    };
    let subject = subject(&action, &params, dropped.as_ref())?;
    let tree = control.in_force.tree.now();
    let asked = RequestInput {
        tree: &tree,
        action: &action,
        subject: &subject,
        taint: &wanted.taint,
    };
    if let Some(again) = repeats::refused_again(&control, &ctx, asked).await? {
        return Ok(again);
    }
    row_budgets::take(&control, &ctx)?;
    let job = Arc::new(ProposeJob {
        action: Arc::clone(&action),
        new: NewProposal {
            control: control.clone(),
            ctx: ctx.clone(),
            subject,
            reason: wanted.reason,
            diff: wanted.diff,
            taint: wanted.taint,
            expires_after: action.expires_after,
            dropped,
            refusal: RequestRefusal::default(),
            draft: DraftContext::default(),
            in_name_of: None,
        },
    });
    let freeze_switch = control.freeze.switch.pinned();
    fail_point!("propose.commit.before");
    let running = Arc::clone(&job);
    let answered: Result<Judged, StoreError> = control
        .store
        .write_shared(move |tx| {
            let job = Arc::clone(&running);
            Box::pin(async move { job.run(tx).await })
        })
        .await;
    job.new
        .uncount_unless_refused(answered.as_ref().map(|(proposed, _)| proposed));
    let (proposed, claimed) = answered?;
    fail_point!("propose.commit.after");
    if let Some(running) = claimed {
        let plan = Plan::Action(action, params);
        start::execute(&control, &running, plan, freeze_switch);
    }
    Ok(proposed)
}

/// What is asked for, as it will be stored. The risk of a dropped file can only rise.
fn subject(
    action: &Action,
    params: &Params,
    dropped: Option<&Dropped>,
) -> Result<Subject, StoreError> {
    let digest = action
        .digest_with(params)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    let risk = dropped.map_or(action.risk, |dropped| dropped.risk.max(action.risk));
    Ok(Subject {
        label: action.label.clone(),
        tier: match risk {
            Risk::Nominal => action.tier,
            Risk::Guarded | Risk::Critical => Tier::Risky,
        },
        risk,
        target: action.target.clone(),
        digest,
        kind: SubjectKind::Action(ProposedAction {
            action_id: action.id.clone(),
            definition: action.definition().clone(),
            execution: Some(action.execution.clone()),
            params: params.to_value(),
            exec_digest: action.exec_digest(),
        }),
    })
}

fn check(
    control: &Control,
    wanted: &ProposeRequest,
) -> Result<(Arc<Action>, Params), ProposeError> {
    let known = ActionId::parse(&wanted.action_id)
        .ok()
        .and_then(|id| control.in_force.catalogue.get(&id));
    let Some(action) = known else {
        return Err(ProposeError::UnknownAction {
            id: text::escaped(text::cut(&wanted.action_id, 80)),
            nearest: control
                .in_force
                .catalogue
                .nearest(&wanted.action_id)
                .map(str::to_owned),
        });
    };
    if wanted
        .reason
        .as_ref()
        .is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX)
    {
        return Err(ProposeError::ReasonTooLong);
    }
    let diff = wanted.diff.as_ref();
    if diff.is_some_and(|diff| diff.len() > limits::DIFF_BYTES_MAX) {
        return Err(ProposeError::DiffTooLong);
    }
    let params = action
        .params
        .check(&wanted.params)
        .map_err(ProposeError::InvalidParams)?;
    Ok((Arc::clone(action), params))
}

/// An attempt that never became a proposal is still on the record.
async fn record_invalid(
    control: &Control,
    ctx: &Ctx,
    id: &str,
    error: &ProposeError,
) -> Result<(), StoreError> {
    let code = match error {
        ProposeError::UnknownAction { .. } => FailureCode::UnknownAction,
        ProposeError::InvalidParams(_)
        | ProposeError::ReasonTooLong
        | ProposeError::DiffTooLong => FailureCode::Invalid,
        ProposeError::TooManyRows(_) | ProposeError::Store(_) => return Ok(()),
    };
    let detail = json!({"action_id": text::escaped(text::cut(id, 80)), "code": code});
    let (context, at) = (control.context(ctx), control.clock.now());
    // Of what the caller made up nothing is counted apart.
    let what = ActionId::parse(id)
        .ok()
        .filter(|id| control.in_force.catalogue.get(id).is_some());
    let what = what.map(|id| id.to_string()).unwrap_or_default();
    let first = match repeats::note_invalid(control, ctx, what, code, at) {
        RepeatNote::Again(()) => return Ok(()),
        RepeatNote::First(kind) => Some(kind),
        RepeatNote::Uncounted => None,
    };
    let written = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "proposal.invalid", None, detail).await
            })
        })
        .await;
    if let (Err(_), Some(kind)) = (&written, &first) {
        control.bounds.refusal_counts.forget(kind);
    }
    written
}

/// What policy judges: which action, as what it would be stored, and what its requester had read.
#[derive(Clone, Copy)]
pub(super) struct RequestInput<'a> {
    pub tree: &'a Tree,
    pub action: &'a Arc<Action>,
    pub subject: &'a Subject,
    pub taint: &'a Taint,
}

impl RequestInput<'_> {
    pub(super) fn judge(self, ctx: &Ctx, brakes: Brakes, budget: Budget) -> Verdict {
        policy::judge(PolicyInput {
            actor: ctx.actor.kind(),
            capabilities: &ctx.capabilities,
            relation: self
                .tree
                .relation_to(ctx, &self.action.id, self.action.agents.as_deref()),
            tier: self.subject.tier,
            risk: self.subject.risk,
            taint: self.taint,
            brakes,
            budget,
        })
    }
}

/// The transaction.
struct ProposeJob {
    action: Arc<Action>,
    new: NewProposal,
}

type Judged = (Proposed, Option<Proposal>);

impl ProposeJob {
    async fn run(&self, tx: &mut Tx) -> Result<Judged, StoreError> {
        let NewProposal { control, ctx, .. } = &self.new;
        let now = control.clock.now();
        let context = control.context(ctx);
        let brakes =
            start::brakes_to_come(tx, control, &self.action, ctx.actor.kind(), now).await?;
        let budget = start::budget_of(tx, control, &ctx.actor, now).await?;
        let taint = token_taints::united(tx, ctx, &self.new.taint).await?;
        let tree = control.in_force.tree.now();
        let asked = RequestInput {
            tree: &tree,
            action: &self.action,
            subject: &self.new.subject,
            taint: &taint,
        };
        let (verdict, asking) = (asked.judge(ctx, brakes, budget), (&taint, now));
        let proposed = match verdict {
            Verdict::Refused(refusal) => self.new.refuse(tx, &context, asking, refusal).await?,
            Verdict::NeedsApproval(_) => self.new.queue(tx, &context, asking).await?,
            Verdict::RunNow => return self.start(tx, &context, asking).await,
        };
        Ok((proposed, None))
    }

    async fn start(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        asking: Asking<'_>,
    ) -> Result<Judged, StoreError> {
        let (control, (_, now)) = (&self.new.control, asking);
        let starter = instances::starting_instance(tx, control, &self.new.subject).await?;
        let refusal = if start::is_taken(tx, control, &self.new.subject).await? {
            Some(Refusal::Busy)
        } else {
            match starter {
                StartingInstance::This | StartingInstance::Other => None,
                StartingInstance::Away => Some(Refusal::InstanceAway),
                StartingInstance::Ambiguous => Some(Refusal::AmbiguousHost),
            }
        };
        if let Some(refusal) = refusal {
            let refused = self.new.refuse(tx, context, asking, refusal).await?;
            return Ok((refused, None));
        }
        let approval = Approval {
            by: Approval::POLICY.to_owned(),
            at: now,
        };
        let approved = State::Approved { approval };
        if !start::is_ours_to_start(control, &self.new.subject, starter) {
            // A foreign executor may take it now, or the instance on whose machine it runs.
            let offered = self.new.insert(tx, context, asking, approved).await?;
            return Ok((Proposed::Started(offered), None));
        }
        if control.is_stopping() {
            return Err(StoreError::Unavailable("the server is stopping".to_owned()));
        }
        let running = self
            .new
            .insert_running(tx, context, asking, approved)
            .await?;
        Ok((Proposed::Started(running.clone()), Some(running)))
    }
}
