//! A new proposal comes into being: it waits, alone or joined to an equal one, or it is refused. The same for actions
//! and for changes.

use std::time::Duration;

use void_domain::bridge::Dropped;
use void_domain::events::EventKind;
use void_domain::ids::ProposalCode;
use void_domain::policy::Refusal;
use void_domain::proposals::{Approval, Failure, Joined, Proposal, State, Subject, Twin};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, bridge, installation, proposals};

use super::expire;
use super::propose::Proposed;
use super::repeats::{self, RepeatNote};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::{random, refusal_counts};

/// What becomes a proposal.
pub(super) struct NewProposal {
    pub control: Control,
    pub ctx: Ctx,
    pub subject: Subject,
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub taint: Taint,
    pub expires_after: Duration,
    /// The file that it came from.
    pub dropped: Option<Dropped>,
}

impl NewProposal {
    pub(super) async fn refuse(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        refusal: Refusal,
    ) -> Result<Proposed, StoreError> {
        let noted = match refusal_counts::is_counted(&self.ctx) {
            false => RepeatNote::Uncounted,
            true => {
                repeats::note_refused(tx, &self.control, &self.ctx, &self.subject, &refusal).await?
            }
        };
        let kind = match noted {
            RepeatNote::Again(first) => return Ok(Proposed::Refused(refusal, first)),
            RepeatNote::First(kind) => Some(kind),
            RepeatNote::Uncounted => None,
        };
        let control = self.control.clone();
        let failure = Failure::new(refusal.code(), refusal.message());
        let proposal = self
            .insert(tx, context, now, State::Refused { at: now, failure })
            .await?;
        if let Some(kind) = kind {
            control.bounds.refusal_counts.written(&kind, proposal.id);
        }
        Ok(Proposed::Refused(refusal, proposal))
    }

    pub(super) async fn queue(
        self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
    ) -> Result<Proposed, StoreError> {
        let requester = self.ctx.actor.requester();
        let twin =
            proposals::find_pending_twin(tx, &requester, &self.subject.digest.to_string()).await?;
        if let Some(twin) = expire::unless_over(tx, context, twin, now).await? {
            let joined = self.join(tx, context, now, twin.proposal).await?;
            return Ok(Proposed::Queued(joined));
        }
        let limits = self.control.bounds.limits;
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
        Ok(Proposed::Queued(proposal))
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
            reason: self.reason.clone(),
            diff: self.diff.clone(),
            taint: self.taint.clone(),
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

    pub(super) async fn insert(
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
            reason: self.reason,
            diff: self.diff,
            taint: self.taint,
            count: 1,
            joined: Joined::default(),
            revision: 0,
            created_at: now,
            expires_at: now.plus(self.expires_after),
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
