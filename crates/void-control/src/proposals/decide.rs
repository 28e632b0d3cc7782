//! A person says yes or no. The first decision counts; the second is told about the first.

use serde_json::json;
use void_domain::actors::{Actor, Surface, person};
use void_domain::digests::Digest;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::instances::StartingInstance;
use void_domain::limits;
use void_domain::policy::{self, ApprovalInput, ApprovalVerdict, Refusal};
pub use void_domain::proposals::Decision;
use void_domain::proposals::{Cancellation, InvalidTransition, Moved, Proposal, Status};
use void_domain::time::Timestamp;
use void_store::proposals::Stored;
use void_store::{StoreError, Tx, installation, proposals};

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

/// Goes to its end even if its caller goes away.
pub async fn decide(
    control: &Control,
    ctx: &Ctx,
    key: ProposalKey,
    request: DecideRequest,
) -> Result<Proposal, DecideError> {
    detached(run(control.clone(), ctx.clone(), key, request)).await
}

async fn run(
    control: Control,
    ctx: Ctx,
    key: ProposalKey,
    request: DecideRequest,
) -> Result<Proposal, DecideError> {
    if request
        .reason
        .as_ref()
        .is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX)
    {
        return Err(DecideError::ReasonTooLong);
    }
    let decision = request.decision;
    let job = DecideJob {
        control: control.clone(),
        ctx: ctx.clone(),
        key,
        request,
    };
    let freeze_switch = control.freeze.switch.pinned();
    fail_point!("decide.commit.before");
    // The inner result is an answer that is recorded too; only the outer one rolls back.
    let answered = match decision {
        Decision::Approve => control.store.write(move |tx| Box::pin(job.run(tx))).await?,
        Decision::Reject => {
            control
                .store
                .write_closing(move |tx| Box::pin(job.run(tx)))
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

/// The transaction.
struct DecideJob {
    control: Control,
    ctx: Ctx,
    key: ProposalKey,
    request: DecideRequest,
}

type Answered = Result<Decided, DecideError>;

impl DecideJob {
    async fn run(self, tx: &mut Tx) -> Result<Answered, StoreError> {
        let now = self.control.clock.now();
        let context = self.control.context(&self.ctx);
        let Some(stored) = self.key.find(tx).await? else {
            return Ok(Err(DecideError::NotFound));
        };
        let id = stored.proposal.id;
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
                match instances::starting_instance(tx, &self.control, &proposal.subject).await? {
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
                    brakes: plan.brakes(tx, self.ctx.actor.kind(), now).await?,
                });
                match verdict {
                    ApprovalVerdict::Accepted => {
                        self.approve(tx, context, now, proposal, plan).await
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

    async fn approve(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        proposal: Proposal,
        plan: Plan,
    ) -> Result<Answered, StoreError> {
        let moved = proposal
            .approve(&self.ctx.actor.to_string(), now)
            .map_err(impossible)?;
        advance(tx, context, &moved).await?;
        Ok(Ok(
            match start::claim(tx, &self.control, context, moved.proposal, now).await? {
                Claim::Started(proposal) => Decided {
                    proposal,
                    claimed: Some(plan),
                },
                Claim::Waits(proposal) => Decided {
                    proposal,
                    claimed: None,
                },
            },
        ))
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
    let message = match code {
        FailureCode::Expired => "its time is over; nothing ran".to_owned(),
        FailureCode::NotOnRecord => Cancellation::NotOnRecord.message().to_owned(),
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
        DecideError::DigestNeeded | DecideError::ReasonTooLong => FailureCode::Invalid,
        DecideError::FreshLoginNeeded => FailureCode::FreshLoginNeeded,
        DecideError::OtherSurfaceNeeded => FailureCode::OtherSurfaceNeeded,
        DecideError::Conflict { code, .. } => *code,
        DecideError::Store(_) => FailureCode::Internal,
    }
}

fn impossible(error: InvalidTransition) -> StoreError {
    StoreError::Internal(error.to_string())
}
