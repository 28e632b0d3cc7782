//! The claim, and what follows it.
//!
//! Whoever commits the move to *running* may execute, once. Only then is a permit made, and only
//! here. Everything before the commit can be repeated; nothing after it is.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use void_channels::Outcome;
use void_domain::catalogue::{Action, Params};
use void_domain::fail_point;
use void_domain::permits::Permit;
use void_domain::policy::{Brakes, Cap, Cooldown};
use void_domain::proposals::{Failure, Proposal, Run, State, Status};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, freezes, proposals};

use super::executing::Working;
use super::{expire, finish, recover};
use crate::bridge;
use crate::control::Control;
use crate::records::{self, Scribe};

/// A ticket that arrives later than this after the claim is refused by the host.
const TICKET_LASTS: Duration = Duration::from_secs(120);
const HOUR: Duration = Duration::from_secs(60 * 60);

pub(super) enum Claim {
    Started(Proposal),
    /// Something else runs on its target.
    Waits(Proposal),
}

/// Moves an approved proposal to running, if its target is free.
pub(super) async fn claim(
    tx: &mut Tx,
    control: &Control,
    scribe: &Scribe,
    approved: Proposal,
    now: Timestamp,
) -> Result<Claim, StoreError> {
    if let Some(bridge) = &control.bridge
        && approved.wish.is_by_file()
    {
        // The claim is a foreign executor's: the bridge offers it the file after the commit.
        bridge.wake();
        return Ok(Claim::Waits(approved));
    }
    if control.is_stopping() || proposals::is_target_busy(tx, &approved.wish.target).await? {
        control.somebody_waits.store(true, Ordering::SeqCst);
        return Ok(Claim::Waits(approved));
    }
    let run = Run {
        started_at: now,
        ticket_expires_at: now.plus(TICKET_LASTS),
        lease_until: now.plus(control.limits.lease),
    };
    let moved = approved
        .clone()
        .start(run)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    fail_point!("claim.write.before");
    if !proposals::advance(tx, &moved).await? {
        return Ok(Claim::Waits(approved));
    }
    records::moved(tx, scribe, &moved).await?;
    fail_point!("claim.write.after");
    Ok(Claim::Started(moved.proposal))
}

/// What holds an action back at this moment.
pub(crate) async fn brakes(
    tx: &mut Tx,
    action: &Action,
    now: Timestamp,
) -> Result<Brakes, StoreError> {
    let frozen = freezes::load(tx).await?.holds_at(now);
    let mut brakes = Brakes {
        frozen,
        cooldown: Cooldown::Over,
        cap: Cap::Free,
    };
    if let Some(cooldown) = action.cooldown {
        let (_, last) = proposals::starts_since(tx, &action.id, now.minus(cooldown)).await?;
        if let Some(last) = last {
            brakes.cooldown = Cooldown::Until(last.plus(cooldown));
        }
    }
    if let Some(per_hour) = action.max_per_hour {
        let (count, _) = proposals::starts_since(tx, &action.id, now.minus(HOUR)).await?;
        if count >= u64::from(per_hour) {
            brakes.cap = Cap::Reached { per_hour };
        }
    }
    Ok(brakes)
}

/// Executes a claim that has been committed, in its own task: a caller that goes away changes nothing.
pub(super) fn execute(control: &Control, running: &Proposal, action: Arc<Action>, params: Params) {
    let id = running.id;
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where a permit is made, after the claim has committed"
    )]
    let permit = Permit::issue(running, action, &params, control.brake.clone());
    let control = control.clone();
    let working = Working::on(&control, id);
    control.waiters.begins(id);
    tokio::spawn(async move {
        fail_point!("execute.before");
        let outcome = match permit {
            Some(permit) => control.executor.execute(permit).await,
            None => {
                let message = "the claim does not fit its action; nothing was sent";
                Outcome::Failed(Failure::new("changed", message))
            }
        };
        fail_point!("execute.after");
        finish::finish(&control, id, outcome).await;
        drop(working);
    });
}

/// A target has become free. Most of the time nobody waits for any; what another instance or a brake
/// holds up, the sweep starts.
pub(super) async fn target_is_free(control: &Control) {
    if control.somebody_waits.swap(false, Ordering::SeqCst)
        && let Err(error) = start_waiting(control).await
    {
        tracing::warn!(%error, "what waits could not be started; the sweep tries again");
    }
}

/// Starts what waits for a target that has become free, oldest first.
pub(super) async fn start_waiting(control: &Control) -> Result<(), StoreError> {
    if control.is_stopping() {
        return Ok(());
    }
    let waiting = control
        .store
        .read(|tx| Box::pin(proposals::list_in(tx, Status::Approved, 100)))
        .await?;
    for stored in waiting {
        let by_file = stored.proposal.wish.is_by_file();
        // With the bridge on, a foreign executor starts it; with the bridge off again, one may have.
        let elsewhere = by_file
            && (control.bridge.is_some()
                || bridge::lose_offer(control, stored.proposal.id).await?);
        if !elsewhere {
            start_one(control, stored.proposal).await?;
        }
    }
    Ok(())
}

async fn start_one(control: &Control, approved: Proposal) -> Result<(), StoreError> {
    let Some((action, params)) = recover::current_definition(control, &approved) else {
        return Ok(());
    };
    let ctx = control.system_ctx()?;
    let (this, scribe, job_action) = (control.clone(), control.scribe(&ctx), Arc::clone(&action));
    let id = approved.id;
    fail_point!("start.commit.before");
    let claimed = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let now = this.clock.now();
                let Some(stored) = proposals::find(tx, id).await? else {
                    return Ok(None);
                };
                let brakes = brakes(tx, &job_action, now).await?;
                let free = brakes
                    == Brakes {
                        frozen: false,
                        cooldown: Cooldown::Over,
                        cap: Cap::Free,
                    };
                let approved = matches!(stored.proposal.state, State::Approved { .. });
                if !approved || !free || expire::has_lapsed(&stored.proposal, now) {
                    return Ok(None);
                }
                match claim(tx, &this, &scribe, stored.proposal, now).await? {
                    Claim::Started(running) => Ok::<_, StoreError>(Some(running)),
                    Claim::Waits(_) => Ok(None),
                }
            })
        })
        .await?;
    fail_point!("start.commit.after");
    if let Some(running) = claimed {
        execute(control, &running, action, params);
    }
    Ok(())
}
