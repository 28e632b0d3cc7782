//! A new proposal comes into being: it waits, alone or joined to an equal one, or it is refused. The same for actions
//! and for changes.

use std::time::Duration;

use void_domain::actors::Requester;
use void_domain::bridge::Dropped;
use void_domain::changes::drafts::DraftContext;
use void_domain::events::EventKind;
use void_domain::fail_point;
use void_domain::ids::{ProposalCode, ProposalId};
use void_domain::policy::Refusal;
use void_domain::proposals::{Approval, Failure, Joined, Moved, Proposal, State, Subject, Twin};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::facts::steps;
use void_store::{ConflictKey, StoreError, Tx, bridge, drafts, installation, proposals};

use super::propose::Proposed;
use super::repeats::{self, RepeatNote};
use super::{expire, start};
use crate::context::Ctx;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::refusal_counts::{self, RequestRefusal};
use crate::{instances, random};

/// Between two entries about requests that join one row and say nothing new.
const JOINED_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// What becomes a proposal.
pub(super) struct NewProposal {
    pub control: Control,
    pub ctx: Ctx,
    pub subject: Subject,
    pub reason: Option<String>,
    pub diff: Option<String>,
    /// What came with the request; its requester's token may say more.
    pub taint: Taint,
    pub expires_after: Duration,
    /// The file that it came from.
    pub dropped: Option<Dropped>,
    pub refusal: RequestRefusal,
    pub draft: DraftContext,
    /// In whose name, if that is not the caller: the owner asks again for a draft of somebody else.
    pub in_name_of: Option<Requester>,
}

/// What the requester had read when its request is judged, its token's marks included, and when that is.
pub(super) type Asking<'a> = (&'a Taint, Timestamp);

impl NewProposal {
    /// What became of the request once its transaction is over: what was no refusal after all is not counted as one.
    pub(super) fn uncount_unless_refused(&self, answered: Result<&Proposed, &StoreError>) {
        if !matches!(answered, Ok(Proposed::Refused(..))) {
            self.control.bounds.refusal_counts.take_back(&self.refusal);
        }
    }

    pub(super) async fn refuse(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        asking: Asking<'_>,
        refusal: Refusal,
    ) -> Result<Proposed, StoreError> {
        let noted = match refusal_counts::is_counted(&self.ctx) {
            false => RepeatNote::Uncounted,
            true => {
                // Of equal ones there is one first one.
                tx.take(|| ConflictKey::Refusals(self.ctx.actor.to_string()))?;
                repeats::note_refused(tx, self, &refusal).await?
            }
        };
        let kind = match noted {
            RepeatNote::Again(first) => return Ok(Proposed::Refused(refusal, first)),
            RepeatNote::First(kind) => Some(kind),
            RepeatNote::Uncounted => None,
        };
        let failure = Failure::new(refusal.code(), refusal.message());
        let refused = State::Refused {
            at: asking.1,
            failure,
        };
        let proposal = self.insert(tx, context, asking, refused).await?;
        if let Some(kind) = kind {
            let counts = &self.control.bounds.refusal_counts;
            counts.written(&kind, proposal.id);
        }
        Ok(Proposed::Refused(refusal, proposal))
    }

    pub(super) async fn queue(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        asking: Asking<'_>,
    ) -> Result<Proposed, StoreError> {
        let (taint, now) = asking;
        let requester = self.requester();
        let whose = (requester.kind, requester.id);
        tx.take(|| ConflictKey::Request(whose, self.subject.digest))?;
        let twin =
            proposals::find_pending_twin(tx, &requester, &self.subject.digest.to_string()).await?;
        if let Some(twin) = &twin {
            tx.take(|| ConflictKey::Proposal(twin.proposal.id))?;
        }
        if let Some(twin) = expire::unless_over(tx, context, twin, now).await? {
            let asked = self.as_twin(taint);
            if let Some(until) = twin.proposal.words_wait_until(&asked, now) {
                let refusal = Refusal::WordsTooSoon { until };
                return self.refuse(tx, context, asking, refusal).await;
            }
            let joined = self.join(tx, context, now, twin.proposal, asked).await?;
            return Ok(Proposed::Queued(joined));
        }
        let limits = self.control.bounds.limits;
        let full = if self.is_full(tx)? {
            Some(limits.open_proposals)
        } else if !self.ctx.actor.is_owner() && self.is_full_of(tx, &requester).await? {
            Some(limits.open_proposals_per_agent)
        } else {
            None
        };
        if let Some(limit) = full {
            return self
                .refuse(tx, context, asking, Refusal::TooManyOpen { limit })
                .await;
        }
        let proposal = self.insert(tx, context, asking, State::Pending).await?;
        Ok(Proposed::Queued(proposal))
    }

    fn requester(&self) -> Requester {
        let named = self.in_name_of.clone();
        named.unwrap_or_else(|| self.ctx.actor.requester())
    }

    /// What it is where the same waits already.
    fn as_twin(&self, taint: &Taint) -> Twin {
        Twin {
            reason: self.reason.clone(),
            diff: self.diff.clone(),
            taint: taint.clone(),
            risk: self.subject.risk,
        }
    }

    /// Whether as many wait as may.
    fn is_full(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        let limit = self.control.bounds.limits.open_proposals;
        let count = proposals::count_open(tx)?;
        tx.take_if_scarce(count, limit, || ConflictKey::Open)?;
        Ok(count >= limit)
    }

    /// Whether as many of this requester's wait as may.
    async fn is_full_of(&self, tx: &mut Tx, requester: &Requester) -> Result<bool, StoreError> {
        let limit = self.control.bounds.limits.open_proposals_per_agent;
        let count = proposals::count_open_of(tx, requester).await?;
        let whose = (requester.kind, requester.id);
        tx.take_if_scarce(count, limit, || ConflictKey::OpenOf(whose))?;
        Ok(count >= limit)
    }

    /// Another request for what waits: the strictest of both stays, and whoever looks is told.
    async fn join(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        now: Timestamp,
        waiting: Proposal,
        twin: Twin,
    ) -> Result<Proposal, StoreError> {
        let (revision, words) = (waiting.revision, waiting.new_words(&twin, now));
        let joined = (waiting.clone())
            .join(twin.clone(), now)
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        let is_news = joined.revision != revision;
        let id = joined.id;
        if !is_news && self.is_only_counted(tx, id, now).await? {
            let counted = waiting.count_again();
            write_joined(tx, &counted).await?;
            return Ok(counted);
        }
        write_joined(tx, &joined).await?;
        let asked = facts::JoinFact {
            twin: &twin,
            words: words.as_ref(),
            is_news,
        };
        facts::joined(tx, context, now, &joined, asked).await?;
        Ok(joined)
    }

    /// A flood of requests for the same is counted on its row and fills neither the record nor the row's history (I36):
    /// what says nothing new has an entry once in a while. As with refusals, that is for callers from outside.
    async fn is_only_counted(
        &self,
        tx: &mut Tx,
        id: ProposalId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if !refusal_counts::is_counted(&self.ctx) {
            return Ok(false);
        }
        let (_, newest) = steps::newest_and_asked(tx, id).await?;
        let joined = newest.filter(|entry| entry.verb == EventKind::ProposalJoined.as_str());
        Ok(joined.is_some_and(|entry| now.since(entry.at) < JOINED_AGAIN_AFTER))
    }

    pub(super) async fn insert(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        asking: Asking<'_>,
        state: State,
    ) -> Result<Proposal, StoreError> {
        let created = self.created(tx, asking, state).await?;
        let epoch = installation::epoch(tx).await?;
        proposals::insert(tx, epoch, &created).await?;
        drafts::insert(tx, created.proposal.id, self.draft).await?;
        self.note_file(tx, created.proposal.id).await?;
        record_created(tx, context, &created).await?;
        Ok(created.proposal)
    }

    /// What policy lets through and what starts at once is written as it is then: running. The record says every step.
    pub(super) async fn insert_running(
        &self,
        tx: &mut Tx,
        context: &AuditContext,
        asking: Asking<'_>,
        approved: State,
    ) -> Result<Proposal, StoreError> {
        let control = &self.control;
        let created = self.created(tx, asking, approved).await?;
        let running = start::started(control, created.proposal.clone(), asking.1)?;
        let epoch = installation::epoch(tx).await?;
        let by = control.process.instance.claimant();
        let claim = instances::claim(control, &by);
        fail_point!("claim.write.before");
        proposals::insert_claimed(tx, epoch, &running.proposal, &claim).await?;
        self.note_file(tx, running.proposal.id).await?;
        record_created(tx, context, &created).await?;
        facts::moved(tx, context, &running).await?;
        fail_point!("claim.write.after");
        Ok(running.proposal)
    }

    async fn created(
        &self,
        tx: &mut Tx,
        (taint, now): Asking<'_>,
        state: State,
    ) -> Result<Moved, StoreError> {
        let proposal = Proposal {
            id: random::proposal_id(now)?,
            code: free_code(tx).await?,
            requested_by: self.requester(),
            reason: self.reason.clone(),
            diff: self.diff.clone(),
            taint: taint.clone(),
            count: 1,
            joined: Joined::default(),
            revision: 0,
            created_at: now,
            expires_at: now.plus(self.expires_after),
            subject: self.subject.clone(),
            state,
        };
        // Who asked is in the row; who let it pass, or did not, is in its history.
        let by = match proposal.state {
            State::Pending => self.ctx.actor.to_string(),
            _ => Approval::POLICY.to_owned(),
        };
        Ok(proposal.created(&by))
    }

    /// Notes which file asked for it.
    async fn note_file(&self, tx: &mut Tx, id: ProposalId) -> Result<(), StoreError> {
        match &self.dropped {
            Some(dropped) => bridge::insert(tx, &dropped.instance, id, &dropped.details).await,
            None => Ok(()),
        }
    }
}

async fn write_joined(tx: &mut Tx, joined: &Proposal) -> Result<(), StoreError> {
    if proposals::join(tx, joined).await? {
        return Ok(());
    }
    Err(StoreError::Internal(
        "a row changed under its own transaction".to_owned(),
    ))
}

/// What is safe is created and approved by policy in one breath, and the record says both.
async fn record_created(
    tx: &mut Tx,
    context: &AuditContext,
    created: &Moved,
) -> Result<(), StoreError> {
    if matches!(created.proposal.state, State::Approved { .. }) {
        let (kind, now) = (EventKind::ProposalCreated, created.transition.at);
        facts::proposal(tx, context, now, kind, &created.proposal).await?;
    }
    facts::moved(tx, context, created).await
}

/// A code that no open proposal has; longer when the short ones collide.
async fn free_code(tx: &mut Tx) -> Result<ProposalCode, StoreError> {
    for length in ProposalCode::LENGTH_MIN..=ProposalCode::LENGTH_MAX {
        for _ in 0..4 {
            let code = random::proposal_code(length)?;
            tx.take(|| ConflictKey::Code(code.clone()))?;
            if !proposals::is_code_open(tx, &code).await? {
                return Ok(code);
            }
        }
    }
    Err(StoreError::Internal("no free code was found".to_owned()))
}
