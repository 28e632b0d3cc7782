//! A person says yes or no. The first decision counts; the second is told about the first.

use std::sync::Arc;

use serde_json::json;
use void_domain::actors::{Actor, Surface, person};
use void_domain::changes::Change;
use void_domain::digests::Digest;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::holds;
use void_domain::instances::StartingInstance;
use void_domain::knowledge::FieldsPatch;
use void_domain::limits;
use void_domain::policy::{self, ApprovalInput, ApprovalVerdict, Refusal};
pub use void_domain::proposals::Decision;
use void_domain::proposals::{Cancellation, InvalidTransition, Moved, Proposal, State, Status};
use void_domain::time::Timestamp;
use void_store::proposals::Stored;
use void_store::{
    BoxFuture, ConflictKey, StoreError, Tx, agents, holds as held, installation, proposals,
};

use super::apply_knowledge::{self, Application, DraftYes, InvalidDraftEdit};
use super::plans::{self, Plan};
use super::start::{self, Claim};
use super::{ProposalKey, detached, on_record, recover};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::notification_keys as keys;
use crate::{allowances, instances};

#[derive(Debug, Clone)]
pub struct DecideRequest {
    pub decision: Decision,
    /// The digest of what the person saw.
    pub digest: Option<Digest>,
    /// The revision of what the person saw: a yes does not count for words and risks that came later. `None` is the
    /// first one.
    pub revision: Option<u64>,
    pub reason: Option<String>,
    /// What a button or a notification sent back, by its hash; used up together with the decision.
    pub key: Option<Digest>,
}

#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    #[error("there is no such proposal")]
    NotFound,
    #[error("only the owner decides")]
    OwnerOnly,
    #[error("send the digest that you saw")]
    DigestNeeded,
    #[error("log in again: this may cut you off, and your last login is too long ago")]
    FreshLoginNeeded,
    #[error("this is not approved from here: approve it on the web or on the command line")]
    OtherSurfaceNeeded,
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error("only drafts of what you keep are edited, or decided together; decide this one alone")]
    NotADraft,
    #[error(transparent)]
    InvalidEdit(#[from] InvalidDraftEdit),
    /// It is no longer what was seen, or can no longer be decided; the row says how it stands.
    #[error("{message}")]
    Conflict {
        code: FailureCode,
        message: String,
        row: Box<Proposal>,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a decision is about.
#[derive(Debug, Clone)]
pub(super) enum DecisionSubject {
    /// Whatever waits.
    Proposal,
    /// A draft of what the owner keeps, and nothing else.
    Draft,
    /// Such a draft, with these words of the owner's in it.
    EditedDraft(FieldsPatch),
}

/// Goes to its end even if its caller goes away.
pub async fn decide(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: DecideRequest,
) -> Result<Proposal, DecideError> {
    decide_only(control, ctx, key, request, DecisionSubject::Proposal).await
}

/// The same, if it is about this.
pub(super) async fn decide_only(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: DecideRequest,
    about: DecisionSubject,
) -> Result<Proposal, DecideError> {
    detached(run(control.clone(), ctx.clone(), key, request, about)).await
}

async fn run(
    control: Control,
    ctx: Ctx,
    key: ProposalKey,
    request: DecideRequest,
    about: DecisionSubject,
) -> Result<Proposal, DecideError> {
    if request
        .reason
        .as_ref()
        .is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX)
    {
        return Err(DecideError::ReasonTooLong);
    }
    let decision = request.decision;
    let job = Arc::new(DecideJob {
        control: control.clone(),
        ctx: ctx.clone(),
        key,
        request,
        about,
    });
    let freeze_switch = control.freeze.switch.pinned();
    fail_point!("decide.commit.before");
    // The inner result is an answer that is recorded too; only the outer one rolls back.
    let answered = match decision {
        Decision::Approve => {
            control
                .store
                .write_shared(move |tx| DecideJob::run_in(Arc::clone(&job), tx))
                .await?
        }
        Decision::Reject => {
            control
                .store
                .write_closing_shared(move |tx| DecideJob::run_in(Arc::clone(&job), tx))
                .await?
        }
    };
    fail_point!("decide.commit.after");
    let decided = answered?;
    if let Some(plan) = decided.claimed {
        start::execute(&control, &decided.proposal, plan, freeze_switch);
    }
    Ok(decided.proposal)
}

struct Decided {
    proposal: Proposal,
    /// What to execute now, if the target was free.
    claimed: Option<Plan>,
}

impl Decided {
    fn of(claim: Claim, plan: Plan) -> Self {
        match claim {
            Claim::Started(proposal) => Self {
                proposal,
                claimed: Some(plan),
            },
            Claim::Waits(proposal) => Self {
                proposal,
                claimed: None,
            },
        }
    }
}

/// The transaction.
struct DecideJob {
    control: Control,
    ctx: Ctx,
    key: ProposalKey,
    request: DecideRequest,
    about: DecisionSubject,
}

type Answered = Result<Decided, DecideError>;

impl DecideJob {
    fn run_in(self: Arc<Self>, tx: &mut Tx) -> BoxFuture<'_, Result<Answered, StoreError>> {
        Box::pin(async move { self.run(tx).await })
    }

    async fn run(&self, tx: &mut Tx) -> Result<Answered, StoreError> {
        let now = self.control.clock.now();
        let context = self.control.context(&self.ctx);
        let Some(stored) = self.key.find(tx).await? else {
            return Ok(Err(DecideError::NotFound));
        };
        let id = stored.proposal.id;
        tx.take(|| ConflictKey::Proposal(id))?;
        self.take_before_a_key_is_spent(tx, &stored.proposal)?;
        if apply_knowledge::is_of_knowledge(&stored.proposal) {
            tx.take(apply_knowledge::conflict_key)?;
        }
        let answered = self.judge_and_move(tx, &context, now, stored).await?;
        if let Err(error) = &answered {
            let detail = json!({"answer": self.word(), "code": code(error)});
            facts::audit(
                tx,
                &context,
                now,
                "decision.refused",
                Some(id.to_string()),
                detail,
            )
            .await?;
        }
        Ok(answered)
    }

    /// To spend a key is to write, and whoever has written cannot begin anew: what a yes by a button is judged by is
    /// taken before that. Otherwise two of them that came together would keep each other from the batch of both.
    fn take_before_a_key_is_spent(
        &self,
        tx: &mut Tx,
        proposal: &Proposal,
    ) -> Result<(), StoreError> {
        if self.request.key.is_none() || self.request.decision != Decision::Approve {
            return Ok(());
        }
        if let Actor::Owner { surface } = self.ctx.actor {
            allowances::take(tx, surface)?;
        }
        start::take_keys(tx, &self.control, &proposal.subject)
    }

    async fn judge_and_move(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        stored: Stored,
    ) -> Result<Answered, StoreError> {
        let Actor::Owner { surface } = self.ctx.actor else {
            return Ok(Err(DecideError::OwnerOnly));
        };
        let Stored { proposal, epoch } = stored;
        let is_any = matches!(self.about, DecisionSubject::Proposal);
        if !is_any && !apply_knowledge::is_of_knowledge(&proposal) {
            return Ok(Err(DecideError::NotADraft));
        }
        if proposal.status() != Status::Pending {
            return Ok(Err(already(proposal)));
        }
        if proposal.expires_at <= self.control.clock.latest() {
            return end(tx, context, proposal.expire(now), FailureCode::Expired).await;
        }
        if epoch != installation::epoch(tx).await? {
            let cancelled = proposal.cancel("system", now, Cancellation::Restored);
            return end(tx, context, cancelled, FailureCode::Changed).await;
        }
        if self
            .request
            .digest
            .is_some_and(|digest| digest != proposal.subject.digest)
        {
            let message = "what waits is not what you saw; look at it again".to_owned();
            return Ok(Err(DecideError::Conflict {
                code: FailureCode::Changed,
                message,
                row: Box::new(proposal),
            }));
        }
        // Whoever does not say what they saw saw it as it was first asked for.
        let seen = self.request.revision.unwrap_or(0);
        if self.request.decision == Decision::Approve && seen != proposal.revision {
            let message =
                "more was said about it since you looked, or its risk rose; look at it again";
            return Ok(Err(DecideError::Conflict {
                code: FailureCode::Changed,
                message: message.to_owned(),
                row: Box::new(proposal),
            }));
        }
        if self.request.decision == Decision::Approve
            && let Some(hold) = holds::in_force(&held::list(tx, proposal.id).await?)
        {
            return Ok(Err(DecideError::Conflict {
                code: FailureCode::Held,
                message: format!(
                    "it is {}; lift that first, and then say yes",
                    hold.sentence()
                ),
                row: Box::new(proposal),
            }));
        }
        if let Some(key) = self.request.key
            && !keys::spend(tx, key, &proposal, self.request.decision, now).await?
        {
            return Ok(Err(DecideError::Conflict {
                code: FailureCode::Expired,
                message: "this button is no longer good; look at it again".to_owned(),
                row: Box::new(proposal),
            }));
        }
        let digest_sent = self.request.digest.is_some();
        match self.request.decision {
            Decision::Reject if !matches!(surface, Surface::Api | Surface::Cli) && !digest_sent => {
                Ok(Err(DecideError::DigestNeeded))
            }
            Decision::Reject => self.reject(tx, context, now, proposal).await,
            Decision::Approve => {
                // It asked in the moment in which it was withdrawn, or before that ended what waited.
                if let Some(asked_by) = proposal.requested_by.id
                    && agents::is_withdrawn(tx, asked_by).await?
                {
                    let cancelled = proposal.cancel("system", now, Cancellation::Withdrawn);
                    return end(tx, context, cancelled, FailureCode::Changed).await;
                }
                if !on_record::holds(tx, &proposal).await? {
                    let cancelled = proposal.cancel("system", now, Cancellation::NotOnRecord);
                    return end(tx, context, cancelled, FailureCode::NotOnRecord).await;
                }
                let Some(plan) = plans::current(&self.control, &proposal) else {
                    if let Some(message) =
                        recover::kept_though_unknown(tx, &self.control, &proposal).await?
                    {
                        return Ok(Err(DecideError::Conflict {
                            code: FailureCode::Changed,
                            message,
                            row: Box::new(proposal),
                        }));
                    }
                    let cancelled = proposal.cancel("system", now, Cancellation::DefinitionChanged);
                    return end(tx, context, cancelled, FailureCode::Changed).await;
                };
                let subject = &proposal.subject;
                let starter = instances::starting_instance(tx, &self.control, subject).await?;
                match starter {
                    StartingInstance::This | StartingInstance::Other => {}
                    StartingInstance::Away => {
                        return Ok(Err(held_back(Refusal::InstanceAway, proposal)));
                    }
                    StartingInstance::Ambiguous => {
                        return Ok(Err(held_back(Refusal::AmbiguousHost, proposal)));
                    }
                }
                let verdict = policy::judge_approval(ApprovalInput {
                    actor: self.ctx.actor.kind(),
                    surface: Some(surface),
                    risk: proposal.subject.risk,
                    digest_sent,
                    authenticated_ago: self.ctx.authenticated_ago,
                    allowance: allowances::allowance(tx, &self.control, surface, now).await?,
                    brakes: plan
                        .brakes(tx, &self.control, self.ctx.actor.kind(), now)
                        .await?,
                });
                match verdict {
                    ApprovalVerdict::Accepted => {
                        if let Plan::Knowledge(change) = &plan {
                            let draft = (proposal, &**change);
                            return self.store_knowledge(tx, context, now, draft).await;
                        }
                        let approved = proposal
                            .approve(&self.ctx.actor.to_string(), now)
                            .map_err(impossible)?;
                        let claim = start::approve(tx, &self.control, context, approved, starter);
                        Ok(Ok(Decided::of(claim.await?, plan)))
                    }
                    ApprovalVerdict::OwnerOnly => Ok(Err(DecideError::OwnerOnly)),
                    ApprovalVerdict::DigestNeeded => Ok(Err(DecideError::DigestNeeded)),
                    ApprovalVerdict::FreshLoginNeeded => Ok(Err(DecideError::FreshLoginNeeded)),
                    ApprovalVerdict::OtherSurfaceNeeded => Ok(Err(DecideError::OtherSurfaceNeeded)),
                    ApprovalVerdict::HeldBack(refusal) => Ok(Err(held_back(refusal, proposal))),
                }
            }
        }
    }

    /// A draft of knowledge is stored with the decision, or it is not decided.
    async fn store_knowledge(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        (proposal, change): (Proposal, &Change),
    ) -> Result<Answered, StoreError> {
        let by = self.ctx.actor.to_string();
        let edited = match &self.about {
            DecisionSubject::Proposal | DecisionSubject::Draft => None,
            DecisionSubject::EditedDraft(fields) => Some(fields),
        };
        let draft = DraftYes {
            proposal: &proposal,
            change,
            edited,
        };
        match apply_knowledge::apply(tx, context, now, draft).await? {
            Application::Invalid(wrong) => Ok(Err(wrong.into())),
            Application::Stored(result) => {
                let done = apply_knowledge::executed(tx, context, now, (proposal, &by, result));
                Ok(Ok(Decided {
                    proposal: done.await?,
                    claimed: None,
                }))
            }
            Application::Full(message) => Ok(Err(DecideError::Conflict {
                code: FailureCode::TooMany,
                message,
                row: Box::new(proposal),
            })),
            Application::Moved => {
                let cancelled = proposal.cancel("system", now, Cancellation::BaseMoved);
                end(tx, context, cancelled, FailureCode::BaseMoved).await
            }
        }
    }

    async fn reject(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        proposal: Proposal,
    ) -> Result<Answered, StoreError> {
        let by = self.ctx.actor.to_string();
        let moved = proposal
            .reject(&by, now, self.request.reason.clone())
            .map_err(impossible)?;
        advance(tx, context, &moved).await?;
        Ok(Ok(Decided {
            proposal: moved.proposal,
            claimed: None,
        }))
    }

    const fn word(&self) -> &'static str {
        match self.request.decision {
            Decision::Approve => "approve",
            Decision::Reject => "reject",
        }
    }
}

/// The row was read in this transaction, so nobody can have been faster.
async fn advance(tx: &mut Tx, context: &AuditContext, moved: &Moved) -> Result<(), StoreError> {
    fail_point!("decide.write.before");
    if !proposals::advance(tx, moved).await? {
        return Err(StoreError::Internal(
            "a row changed under its own transaction".to_owned(),
        ));
    }
    facts::moved(tx, context, moved).await?;
    fail_point!("decide.write.after");
    Ok(())
}

/// It ends here instead of being decided, and the person is told how it ended.
async fn end(
    tx: &mut Tx,
    context: &AuditContext,
    moved: Result<Moved, InvalidTransition>,
    code: FailureCode,
) -> Result<Answered, StoreError> {
    let moved = moved.map_err(impossible)?;
    advance(tx, context, &moved).await?;
    let message = match (code, &moved.proposal.state) {
        (FailureCode::Expired, _) => "its time is over; nothing ran".to_owned(),
        (FailureCode::NotOnRecord, _) => Cancellation::NotOnRecord.message().to_owned(),
        (FailureCode::BaseMoved, _) => Cancellation::BaseMoved.message().to_owned(),
        (
            _,
            State::Cancelled {
                why: Cancellation::Withdrawn,
                ..
            },
        ) => "whoever asked for it was withdrawn; nothing ran".to_owned(),
        _ => "what waited is not what would run now; it was withdrawn".to_owned(),
    };
    Ok(Err(DecideError::Conflict {
        code,
        message,
        row: Box::new(moved.proposal),
    }))
}

fn already(proposal: Proposal) -> DecideError {
    let code = match proposal.status() {
        Status::Expired => FailureCode::Expired,
        _ => FailureCode::AlreadyDecided,
    };
    let (by, at) = match (proposal.approval(), proposal.resolution()) {
        (Some(approval), _) => (approval.by.clone(), Some(approval.at)),
        (None, (by, at)) => (by.unwrap_or("system").to_owned(), at),
    };
    let verb = if proposal.approval().is_some() {
        "approved"
    } else {
        proposal.status().as_str()
    };
    let when = at.map(|at| format!(" at {at}")).unwrap_or_default();
    let message = format!("already {verb} by {}{when}", person(&by));
    DecideError::Conflict {
        code,
        message,
        row: Box::new(proposal),
    }
}

fn held_back(refusal: Refusal, proposal: Proposal) -> DecideError {
    DecideError::Conflict {
        code: refusal.code(),
        message: refusal.message(),
        row: Box::new(proposal),
    }
}

const fn code(error: &DecideError) -> FailureCode {
    match error {
        DecideError::NotFound => FailureCode::NotFound,
        DecideError::OwnerOnly => FailureCode::OwnerOnly,
        DecideError::DigestNeeded | DecideError::ReasonTooLong | DecideError::InvalidEdit(_) => {
            FailureCode::Invalid
        }
        DecideError::NotADraft => FailureCode::Forbidden,
        DecideError::FreshLoginNeeded => FailureCode::FreshLoginNeeded,
        DecideError::OtherSurfaceNeeded => FailureCode::OtherSurfaceNeeded,
        DecideError::Conflict { code, .. } => *code,
        DecideError::Store(_) => FailureCode::Internal,
    }
}

fn impossible(error: InvalidTransition) -> StoreError {
    StoreError::Internal(error.to_string())
}
