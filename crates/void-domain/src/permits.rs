//! The key to a machine.
//!
//! A [`Permit`] is the in-process proof that one proposal may execute now. It is issued in one
//! place, after the transaction that moved the proposal to *running* has committed (clippy refuses
//! the call anywhere else), it cannot be copied, and executing consumes it.

use std::sync::Arc;

use serde_json::Value;

use crate::catalogue::{Action, Params};
use crate::changes::{self, Change};
use crate::digests::Digest;
use crate::executions::Execution;
use crate::freezes::FreezeSwitch;
use crate::ids::ProposalId;
use crate::proposals::{Proposal, State};
use crate::time::Timestamp;

#[derive(Debug)]
pub struct Permit {
    ticket: Ticket,
    action: Arc<Action>,
    freeze_switch: FreezeSwitch,
}

/// What the host receives of a permit: enough to know it again, nothing to act with. Channels also
/// use it to ask what became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub proposal_id: ProposalId,
    pub digest: Digest,
    pub exec_digest: Digest,
    pub params: Value,
    /// Nothing of this run can be older.
    pub claimed_at: Timestamp,
    pub expires_at: Timestamp,
}

impl Permit {
    /// `None` unless the proposal is running exactly this action with exactly these parameters.
    pub fn issue(
        running: &Proposal,
        action: Arc<Action>,
        params: &Params,
        freeze_switch: FreezeSwitch,
    ) -> Option<Self> {
        let State::Running { .. } = running.state else {
            return None;
        };
        let proposed = running.subject.action()?;
        let same = proposed.action_id == action.id
            && proposed.params == params.to_value()
            && proposed.execution.as_ref() == Some(&action.execution)
            && action.digest_with(params) == Ok(running.subject.digest)
            && action.exec_digest() == proposed.exec_digest;
        let ticket = Ticket::of(running).filter(|_| same)?;
        Some(Self {
            ticket,
            action,
            freeze_switch,
        })
    }

    pub fn action(&self) -> &Action {
        &self.action
    }

    /// What may be done: the same value as the proposal's, by which its run is settled.
    pub fn execution(&self) -> &Execution {
        &self.action.execution
    }

    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Looked at right before the first byte goes out.
    pub fn is_stopped(&self) -> bool {
        self.freeze_switch.is_pulled()
    }
}

/// The same for a change outside the database: proof that the proposal that makes it is running.
#[derive(Debug)]
pub struct ChangePermit {
    change: Change,
    /// For whoever looks at the result later.
    author: ChangeAuthor,
    freeze_switch: FreezeSwitch,
}

/// Who asked for a change and who said yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeAuthor {
    pub proposal_id: ProposalId,
    pub code: String,
    pub digest: Digest,
    pub requested_by: String,
    pub approved_by: String,
}

impl ChangeAuthor {
    fn by(proposal: &Proposal, approved_by: &str) -> Self {
        Self {
            proposal_id: proposal.id,
            code: proposal.code.to_string(),
            digest: proposal.subject.digest,
            requested_by: proposal.requested_by.name.clone(),
            approved_by: approved_by.to_owned(),
        }
    }

    /// Of one that somebody said yes to.
    pub fn of(proposal: &Proposal) -> Option<Self> {
        let approval = proposal.approval()?;
        Some(Self::by(proposal, &approval.by))
    }
}

impl ChangePermit {
    /// `None` unless the proposal is running, and what it stores is the change that was approved.
    pub fn issue(running: &Proposal, freeze_switch: FreezeSwitch) -> Option<Self> {
        let State::Running { approval, .. } = &running.state else {
            return None;
        };
        let change = running.subject.change()?;
        let is_bound =
            changes::digest_of(running.subject.definition()) == Some(running.subject.digest);
        is_bound.then(|| Self {
            change: change.clone(),
            author: ChangeAuthor::by(running, &approval.by),
            freeze_switch,
        })
    }

    pub const fn change(&self) -> &Change {
        &self.change
    }

    pub const fn author(&self) -> &ChangeAuthor {
        &self.author
    }

    /// Looked at right before the first byte is written.
    pub fn is_stopped(&self) -> bool {
        self.freeze_switch.is_pulled()
    }
}

impl Ticket {
    /// `None` if the proposal never ran, or runs no action. Made from the stored proposal alone, so that a run can be
    /// asked about even when the catalogue has changed since.
    pub fn of(proposal: &Proposal) -> Option<Self> {
        let (run, action) = (proposal.run()?, proposal.subject.action()?);
        Some(Self {
            proposal_id: proposal.id,
            digest: proposal.subject.digest,
            exec_digest: action.exec_digest,
            params: action.params.clone(),
            claimed_at: run.started_at,
            expires_at: run.ticket_expires_at,
        })
    }
}
