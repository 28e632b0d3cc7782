//! Somebody names an action. Unknown, malformed and refused requests are recorded; safe ones start at
//! once, the rest waits.

use std::sync::Arc;

use serde_json::{Value, json};
use void_domain::bridge::Dropped;
use void_domain::catalogue::{Action, InvalidParams, Params, Risk, Tier};
use void_domain::events::EventKind;
use void_domain::fail_point;
use void_domain::ids::{ActionId, ProposalCode};
use void_domain::instances::StartingInstance;
use void_domain::limits;
use void_domain::policy::{self, Brakes, Budget, PolicyInput, Refusal, Verdict};
use void_domain::proposals::{Approval, Failure, Joined, Proposal, ProposedAction, State, Twin};
use void_domain::taint::Taint;
use void_domain::text;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, bridge, installation, proposals};

use super::repeats::{self, RepeatNote};
use super::start::{self, Claim};
use super::{detached, expire};
use crate::agents::Topology;
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::parts::row_budgets::TooManyRows;
use crate::{instances, random, refusal_counts, row_budgets};

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
pub(crate) async fn propose_dropped(
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
    let digest = action
        .digest_with(&params)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    let risk = dropped
        .as_ref()
        .map_or(action.risk, |dropped| dropped.risk.max(action.risk));
    let subject = ProposedAction {
        action_id: action.id.clone(),
        label: action.label.clone(),
        definition: action.definition().clone(),
        execution: Some(action.execution.clone()),
        params: params.to_value(),
        tier: match risk {
            Risk::Nominal => action.tier,
            Risk::Guarded | Risk::Critical => Tier::Risky,
        },
        risk,
        target: action.target.clone(),
        digest,
        exec_digest: action.exec_digest(),
    };
    let asked = RequestInput {
        topology: control.topology,
        action: &action,
        subject: &subject,
        taint: &wanted.taint,
    };
    if let Some(again) = repeats::refused_again(&control, &ctx, asked).await? {
        return Ok(again);
    }
    row_budgets::take(&control, &ctx)?;
    let job = ProposeJob {
        counts_refusals: refusal_counts::is_counted(&ctx),
        control: control.clone(),
        ctx: ctx.clone(),
        action: Arc::clone(&action),
        subject,
        wanted,
        dropped,
    };
    let freeze_switch = control.freeze_switch.pinned();
    fail_point!("propose.commit.before");
    let (proposed, claimed) = control
        .store
        .write(move |tx| Box::pin(async move { job.run(tx).await }))
        .await?;
    fail_point!("propose.commit.after");
    if let Some(running) = claimed {
        start::execute(&control, &running, action, params, freeze_switch);
    }
    Ok(proposed)
}

fn check(
    control: &Control,
    wanted: &ProposeRequest,
) -> Result<(Arc<Action>, Params), ProposeError> {
    let known = ActionId::parse(&wanted.action_id)
        .ok()
        .and_then(|id| control.catalogue.get(&id));
    let Some(action) = known else {
        return Err(ProposeError::UnknownAction {
            id: text::escaped(text::cut(&wanted.action_id, 80)),
            nearest: control
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
        ProposeError::UnknownAction { .. } => "unknown_action",
        ProposeError::InvalidParams(_)
        | ProposeError::ReasonTooLong
        | ProposeError::DiffTooLong => "invalid",
        ProposeError::TooManyRows(_) | ProposeError::Store(_) => return Ok(()),
    };
    let detail = json!({"action_id": text::escaped(text::cut(id, 80)), "code": code});
    let (context, at) = (control.context(ctx), control.clock.now());
    // Of what the caller made up nothing is counted apart.
    let what = ActionId::parse(id)
        .ok()
        .filter(|id| control.catalogue.get(id).is_some());
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
        control.refusal_counts.forget(kind);
    }
    written
}

/// What policy judges: which action, as what it would be stored, and what its requester had read.
#[derive(Clone, Copy)]
pub(super) struct RequestInput<'a> {
    topology: Topology,
    pub action: &'a Arc<Action>,
    pub subject: &'a ProposedAction,
    pub taint: &'a Taint,
}

impl RequestInput<'_> {
    pub(super) fn judge(self, ctx: &Ctx, brakes: Brakes, budget: Budget) -> Verdict {
        policy::judge(PolicyInput {
            actor: ctx.actor.kind(),
            capabilities: &ctx.capabilities,
            relation: self
                .topology
                .relation(&ctx.actor, self.action.agents.as_deref()),
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
    control: Control,
    /// Whether equal refusals of this caller are one row.
    counts_refusals: bool,
    ctx: Ctx,
    action: Arc<Action>,
    subject: ProposedAction,
    wanted: ProposeRequest,
    dropped: Option<Dropped>,
}

type Answer = (Proposed, Option<Proposal>);

impl ProposeJob {
    async fn run(self, tx: &mut Tx) -> Result<Answer, StoreError> {
        let now = self.control.clock.now();
        let context = self.control.context(&self.ctx);
        let brakes = start::brakes(tx, &self.action, self.ctx.actor.kind(), now).await?;
        let budget = start::budget_of(tx, &self.control, &self.ctx.actor, now).await?;
        let asked = RequestInput {
            topology: self.control.topology,
            action: &self.action,
            subject: &self.subject,
            taint: &self.wanted.taint,
        };
        match asked.judge(&self.ctx, brakes, budget) {
            Verdict::Refused(refusal) => self.refuse(tx, &context, now, refusal).await,
            Verdict::NeedsApproval(_) => self.queue(tx, &context, now).await,
            Verdict::RunNow => self.start(tx, &context, now).await,
        }
    }

    async fn refuse(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        refusal: Refusal,
    ) -> Result<Answer, StoreError> {
        let noted = match self.counts_refusals {
            false => RepeatNote::Uncounted,
            true => {
                repeats::note_refused(tx, &self.control, &self.ctx, &self.subject, &refusal).await?
            }
        };
        let kind = match noted {
            RepeatNote::Again(first) => return Ok((Proposed::Refused(refusal, first), None)),
            RepeatNote::First(kind) => Some(kind),
            RepeatNote::Uncounted => None,
        };
        let control = self.control.clone();
        let failure = Failure::new(refusal.code(), refusal.message());
        let proposal = self
            .insert(tx, context, now, State::Refused { at: now, failure })
            .await?;
        if let Some(kind) = kind {
            control.refusal_counts.written(&kind, proposal.id);
        }
        Ok((Proposed::Refused(refusal, proposal), None))
    }

    async fn queue(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        let requester = self.ctx.actor.requester();
        let twin =
            proposals::find_pending_twin(tx, &requester, &self.subject.digest.to_string()).await?;
        if let Some(twin) = expire::unless_over(tx, context, twin, now).await? {
            let joined = self.join(tx, context, now, twin.proposal).await?;
            return Ok((Proposed::Queued(joined), None));
        }
        let limits = self.control.limits;
        let full = if proposals::count_open(tx)? >= limits.open_proposals {
            Some(limits.open_proposals)
        } else if !self.ctx.actor.is_owner()
            && proposals::count_open_of(tx, &requester).await? >= limits.open_proposals_per_agent
        {
            Some(limits.open_proposals_per_agent)
        } else {
            None
        };
        if let Some(limit) = full {
            return self
                .refuse(tx, context, now, Refusal::TooManyOpen { limit })
                .await;
        }
        let proposal = self.insert(tx, context, now, State::Pending).await?;
        Ok((Proposed::Queued(proposal), None))
    }

    /// Another request for what waits: the strictest of both stays, and whoever looks is told.
    async fn join(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        waiting: Proposal,
    ) -> Result<Proposal, StoreError> {
        let twin = Twin {
            reason: self.wanted.reason.clone(),
            diff: self.wanted.diff.clone(),
            taint: self.wanted.taint.clone(),
            risk: self.subject.risk,
        };
        let (revision, words) = (waiting.revision, waiting.new_words(&twin, now));
        let joined = waiting
            .join(twin.clone(), now)
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        if !proposals::join(tx, &joined).await? {
            return Err(StoreError::Internal(
                "a row changed under its own transaction".to_owned(),
            ));
        }
        let asked = facts::JoinFact {
            twin: &twin,
            words: words.as_ref(),
            is_news: joined.revision != revision,
        };
        facts::joined(tx, context, now, &joined, asked).await?;
        Ok(joined)
    }

    async fn start(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        if start::is_busy(tx, &self.control, &self.subject).await? {
            return self.refuse(tx, context, now, Refusal::Busy).await;
        }
        let starter = instances::starting_instance(tx, &self.control, &self.subject).await?;
        match starter {
            StartingInstance::This | StartingInstance::Other => {}
            StartingInstance::Away => {
                return self.refuse(tx, context, now, Refusal::InstanceAway).await;
            }
            StartingInstance::Ambiguous => {
                return self.refuse(tx, context, now, Refusal::AmbiguousHost).await;
            }
        }
        let approval = Approval {
            by: Approval::POLICY.to_owned(),
            at: now,
        };
        let control = self.control.clone();
        let approved = self
            .insert(tx, context, now, State::Approved { approval })
            .await?;
        let by_file = control.bridge.is_some() && approved.subject.is_by_file();
        match start::claim(tx, &control, context, approved, now).await? {
            Claim::Started(running) => Ok((Proposed::Started(running.clone()), Some(running))),
            Claim::Waits(offered) if by_file || starter == StartingInstance::Other => {
                Ok((Proposed::Started(offered), None))
            }
            Claim::Waits(_) => Err(StoreError::Unavailable("the server is stopping".to_owned())),
        }
    }

    async fn insert(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        state: State,
    ) -> Result<Proposal, StoreError> {
        let proposal = Proposal {
            id: random::proposal_id(now)?,
            code: free_code(tx).await?,
            requested_by: self.ctx.actor.requester(),
            reason: self.wanted.reason,
            diff: self.wanted.diff,
            taint: self.wanted.taint,
            count: 1,
            joined: Joined::default(),
            revision: 0,
            created_at: now,
            expires_at: now.plus(self.action.expires_after),
            subject: self.subject,
            state,
        };
        // Who asked is in the row; who let it pass, or did not, is in its history.
        let by = match proposal.state {
            State::Pending => self.ctx.actor.to_string(),
            _ => Approval::POLICY.to_owned(),
        };
        let created = proposal.created(&by);
        let epoch = installation::epoch(tx).await?;
        proposals::insert(tx, epoch, &created).await?;
        if let Some(dropped) = &self.dropped {
            let (instance, id) = (&dropped.instance, created.proposal.id);
            bridge::insert(tx, instance, id, &dropped.details).await?;
        }
        if matches!(created.proposal.state, State::Approved { .. }) {
            // Safe: it is created and approved by policy in one breath, and the record says both.
            let kind = EventKind::ProposalCreated;
            facts::proposal(tx, context, now, kind, &created.proposal).await?;
        }
        facts::moved(tx, context, &created).await?;
        Ok(created.proposal)
    }
}

/// A code that no open proposal has; longer when the short ones collide.
async fn free_code(tx: &mut Tx) -> Result<ProposalCode, StoreError> {
    for length in ProposalCode::LENGTH_MIN..=ProposalCode::LENGTH_MAX {
        for _ in 0..4 {
            let code = random::proposal_code(length)?;
            if !proposals::is_code_open(tx, &code).await? {
                return Ok(code);
            }
        }
    }
    Err(StoreError::Internal("no free code was found".to_owned()))
}
