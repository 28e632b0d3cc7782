//! What is approved and has not started is judged again, by what is true then.
//!
//! Whoever was withdrawn gets nothing any more, whoever said yes. What policy let through waits for nothing but whoever
//! starts it, another instance or a foreign executor: a freeze since then, a cooldown, a cap, a busy target or a spent
//! budget ends it, as if it were asked for at that moment. A person's yes waits for all of these, for its five minutes.
//!
//! What is offered as a file is ended by the bridge, after it has taken the file back ([`super::offers`]).

use std::time::Duration;

use void_domain::ids::ProposalId;
use void_domain::policy::Refusal;
use void_domain::proposals::{Approval, Cancellation, Failure, Proposal, State};
use void_domain::time::Timestamp;
use void_store::facts::steps;
use void_store::{StoreError, Tx, agents, proposals};

use super::{offers, start};
use crate::clock::believed_until;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::freezes;

/// How many end in one transaction: a batch has a deadline, and others wait for it.
const AT_ONCE: u32 = 100;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Why what was approved never starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoStart {
    RequesterWithdrawn,
    Refused(Refusal),
}

/// Whether no person said yes to it.
pub(super) fn is_by_policy(proposal: &Proposal) -> bool {
    let approval = proposal.approval();
    approval.is_some_and(Approval::is_by_policy)
}

/// What ends an approved proposal wherever it waits.
pub(super) async fn why_void(
    tx: &mut Tx,
    control: &Control,
    approved: &Proposal,
    now: Timestamp,
) -> Result<Option<NoStart>, StoreError> {
    if let Some(requester) = approved.requested_by.id
        && agents::is_withdrawn(tx, requester).await?
    {
        return Ok(Some(NoStart::RequesterWithdrawn));
    }
    let is_frozen = is_by_policy(approved)
        && (freezes::holds(tx, control, now).await?
            || steps::is_frozen_since_approval(tx, approved.id).await?);
    Ok(is_frozen.then_some(NoStart::Refused(Refusal::Frozen)))
}

/// What ends it at its claim besides, if `held_back` is why its action does not run now.
pub(super) async fn why_not_claimed(
    tx: &mut Tx,
    control: &Control,
    approved: &Proposal,
    held_back: Option<Refusal>,
    now: Timestamp,
) -> Result<Option<NoStart>, StoreError> {
    if !is_by_policy(approved) {
        return Ok(None);
    }
    let refusal = match held_back {
        Some(refusal) => Some(refusal),
        None if start::is_busy(tx, control, &approved.subject).await? => Some(Refusal::Busy),
        None => overspent(tx, control, approved, now).await?,
    };
    Ok(refusal.map(NoStart::Refused))
}

/// Its own yes is among those that are counted.
async fn overspent(
    tx: &mut Tx,
    control: &Control,
    approved: &Proposal,
    now: Timestamp,
) -> Result<Option<Refusal>, StoreError> {
    let requester = &approved.requested_by;
    if requester.id.is_none() {
        return Ok(None);
    }
    let per_hour = control.bounds.limits.safe_runs_per_agent_hour;
    let (since, until) = (now.minus(HOUR), believed_until(now));
    let spent = proposals::safe_runs_since(tx, requester, since, until).await?;
    Ok((spent > u64::from(per_hour)).then_some(Refusal::BudgetSpent { per_hour }))
}

/// Ends it: nothing has run, and the record says why.
pub(super) async fn end(
    tx: &mut Tx,
    context: &AuditContext,
    approved: Proposal,
    why: NoStart,
    now: Timestamp,
) -> Result<(), StoreError> {
    let moved = match why {
        NoStart::RequesterWithdrawn => approved.cancel("system", now, Cancellation::Withdrawn),
        NoStart::Refused(refusal) => {
            approved.refuse(now, Failure::new(refusal.code(), refusal.message()))
        }
    };
    let moved = moved.map_err(|error| StoreError::Internal(error.to_string()))?;
    if proposals::advance(tx, &moved).await? {
        facts::moved(tx, context, &moved).await?;
    }
    Ok(())
}

/// Ends what policy let through before a freeze. Looks first: most of the time there is nothing to do, and then nothing
/// is written.
pub(super) async fn end_void(control: &Control) -> Result<(), StoreError> {
    let (this, now) = (control.clone(), control.clock.now());
    let found = control
        .store
        .read(move |tx| {
            Box::pin(async move {
                let mut void = Vec::new();
                for stored in proposals::list_let_through(tx, AT_ONCE).await? {
                    let proposal = stored.proposal;
                    if why_void(tx, &this, &proposal, now).await?.is_some() {
                        void.push(proposal.id);
                    }
                }
                Ok::<_, StoreError>(void)
            })
        })
        .await?;
    if found.is_empty() {
        return Ok(());
    }
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    let ids = found.clone();
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for id in ids {
                    end_one(tx, &this, &context, id).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    for id in found {
        control.listeners.waiters.wake_id(id);
    }
    Ok(())
}

async fn end_one(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    id: ProposalId,
) -> Result<(), StoreError> {
    let now = control.clock.now();
    let Some(approved) = proposals::find(tx, id).await?.map(|stored| stored.proposal) else {
        return Ok(());
    };
    // Offered meanwhile: the bridge takes its file back first.
    if !matches!(approved.state, State::Approved { .. }) || offers::is_offered(tx, id).await? {
        return Ok(());
    }
    match why_void(tx, control, &approved, now).await? {
        Some(why) => end(tx, context, approved, why, now).await,
        None => Ok(()),
    }
}
