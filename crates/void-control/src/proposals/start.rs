//! The claim, and what follows it.
//!
//! Whoever commits the move to *running* may execute, once. Only then is a permit made, and only
//! here. Everything before the commit can be repeated; nothing after it is.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use void_channels::Outcome;
use void_domain::actors::{Actor, ActorKind};
use void_domain::catalogue::Action;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::freezes::FreezeSwitch;
use void_domain::instances::StartingInstance;
use void_domain::permits::{ChangePermit, Permit};
use void_domain::policy::{self, Brakes, Budget, Cap, Cooldown};
use void_domain::proposals::{Approval, Failure, Proposal, Run, State, Status, Subject};
use void_domain::time::Timestamp;
use void_store::{StoreError, Tx, freezes, proposals};

use super::executing::Working;
use super::plans::{self, Plan};
use super::{expire, finish, offers, on_record, recover};
use crate::clock::believed_until;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::instances;

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
    context: &AuditContext,
    approved: Proposal,
    now: Timestamp,
) -> Result<Claim, StoreError> {
    if control.runs.offers.are_made() && approved.subject.is_by_file() {
        // The claim is a foreign executor's: the bridge offers it the file after the commit.
        control.runs.offers.wake();
        return Ok(Claim::Waits(approved));
    }
    if instances::starting_instance(tx, control, &approved.subject).await? != StartingInstance::This
    {
        // Left to the instance on whose machine it runs; it lapses if that one does not come.
        return Ok(Claim::Waits(approved));
    }
    if control.is_stopping() || is_busy(tx, control, &approved.subject).await? {
        control.runs.somebody_waits.store(true, Ordering::SeqCst);
        return Ok(Claim::Waits(approved));
    }
    let run = Run {
        started_at: now,
        ticket_expires_at: now.plus(TICKET_LASTS),
        lease_until: now.plus(control.bounds.limits.lease),
    };
    let moved = approved
        .clone()
        .start(run)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    fail_point!("claim.write.before");
    if !proposals::advance(tx, &moved).await? {
        return Ok(Claim::Waits(approved));
    }
    instances::note_claim(tx, control, moved.proposal.id).await?;
    facts::moved(tx, context, &moved).await?;
    fail_point!("claim.write.after");
    Ok(Claim::Started(moved.proposal))
}

/// Whether something else works on what this one is about, whatever its row calls it.
pub(super) async fn is_busy(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<bool, StoreError> {
    let action = subject
        .action_id()
        .and_then(|id| control.in_force.catalogue.get(id));
    let mut spellings = action.map_or_else(Vec::new, |action| {
        control.in_force.catalogue.target_spellings(action)
    });
    if !spellings.contains(&subject.target) {
        spellings.push(subject.target.clone());
    }
    for target in &spellings {
        if proposals::is_target_busy(tx, target).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What holds an action back at this moment, if `bound` is who lets it run.
pub(super) async fn brakes(
    tx: &mut Tx,
    action: &Action,
    bound: ActorKind,
    now: Timestamp,
) -> Result<Brakes, StoreError> {
    let frozen = freezes::load(tx).await?.holds_at(now);
    let mut brakes = Brakes {
        frozen,
        cooldown: Cooldown::Over,
        cap: Cap::Free,
    };
    let until = believed_until(now);
    brakes.cooldown = cooldown(tx, action, bound, now).await?;
    if let Some(per_hour) = action.max_per_hour {
        let (count, _) = proposals::starts_since(tx, &action.id, now.minus(HOUR), until).await?;
        if count >= u64::from(per_hour) {
            brakes.cap = Cap::Reached { per_hour };
        }
    }
    Ok(brakes)
}

/// Whether an action ran a moment ago, if `bound` is who lets it run.
pub(super) async fn cooldown(
    tx: &mut Tx,
    action: &Action,
    bound: ActorKind,
    now: Timestamp,
) -> Result<Cooldown, StoreError> {
    let Some(cooldown) = policy::cooldown(action.cooldown, action.tier, bound) else {
        return Ok(Cooldown::Over);
    };
    let (since, until) = (now.minus(cooldown), believed_until(now));
    let (_, last) = proposals::starts_since(tx, &action.id, since, until).await?;
    Ok(last.map_or(Cooldown::Over, |last| Cooldown::Until(last.plus(cooldown))))
}

/// Whose limits an approved proposal runs under: the owner's if a person said yes.
pub(super) fn bound(proposal: &Proposal) -> ActorKind {
    match &proposal.state {
        State::Approved { approval } if approval.by == Approval::POLICY => {
            proposal.requested_by.kind
        }
        _ => ActorKind::Owner,
    }
}

/// What is left of the safe runs that one caller has in an hour; the owner's are not counted.
pub(super) async fn budget_of(
    tx: &mut Tx,
    control: &Control,
    actor: &Actor,
    now: Timestamp,
) -> Result<Budget, StoreError> {
    if actor.is_owner() {
        return Ok(Budget::Left);
    }
    let per_hour = control.bounds.limits.safe_runs_per_agent_hour;
    let (since, until) = (now.minus(HOUR), believed_until(now));
    let spent = proposals::safe_runs_since(tx, &actor.requester(), since, until).await?;
    Ok(if spent < u64::from(per_hour) {
        Budget::Left
    } else {
        Budget::Spent { per_hour }
    })
}

enum Key {
    Action(Permit),
    Change(ChangePermit),
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where a permit is made, after the claim has committed"
)]
fn permit(running: &Proposal, plan: Plan, freeze_switch: FreezeSwitch) -> Option<Key> {
    match plan {
        Plan::Action(action, params) => {
            Permit::issue(running, action, &params, freeze_switch).map(Key::Action)
        }
        Plan::Change => ChangePermit::issue(running, freeze_switch).map(Key::Change),
    }
}

/// Executes a claim that has been committed, in its own task: a caller that goes away changes nothing.
/// The freeze switch was pinned before the claim, so that a freeze since then stops it, also one that is over.
pub(super) fn execute(
    control: &Control,
    running: &Proposal,
    plan: Plan,
    freeze_switch: FreezeSwitch,
) {
    let id = running.id;
    let permit = permit(running, plan, freeze_switch);
    let control = control.clone();
    let working = Working::on(&control, id);
    control.listeners.waiters.begins(id);
    tokio::spawn(async move {
        fail_point!("execute.before");
        let outcome = match (permit, &control.in_force.catalogue_source) {
            (Some(Key::Action(permit)), _) => control.runs.executor.execute(permit).await,
            (Some(Key::Change(permit)), Some(source)) => source.file.write(permit).await,
            (Some(Key::Change(_)), None) | (None, _) => {
                let message = "the claim does not fit its subject; nothing was sent";
                Outcome::Failed(Failure::new(FailureCode::Changed, message))
            }
        };
        fail_point!("execute.after");
        finish::finish(&control, id, outcome).await;
        drop(working);
    });
}

/// A target has become free. Most of the time nobody waits for any; what another instance or a freeze
/// holds up, the sweep starts.
pub(super) async fn target_is_free(control: &Control) {
    if control.runs.somebody_waits.swap(false, Ordering::SeqCst)
        && let Err(error) = start_waiting(control).await
    {
        tracing::warn!(%error, "what waits could not be started; the sweep tries again");
    }
}

/// Starts what waits for a target that has become free, oldest first. A target that was busy for the oldest may
/// become free meanwhile; whoever waits longest for it is still the next, and is started by whoever freed it.
pub(super) async fn start_waiting(control: &Control) -> Result<(), StoreError> {
    if control.is_stopping() {
        return Ok(());
    }
    let waiting = control
        .store
        .read(|tx| Box::pin(proposals::list_in(tx, Status::Approved, 100)))
        .await?;
    let mut busy = BTreeSet::new();
    for stored in waiting {
        if busy.contains(&stored.proposal.subject.target) {
            continue;
        }
        let by_file = stored.proposal.subject.is_by_file();
        // With the bridge on, a foreign executor starts it; with the bridge off again, one may have.
        let elsewhere = by_file
            && (control.runs.offers.are_made()
                || offers::lose(control, stored.proposal.id).await?);
        if !elsewhere && !instances::is_of_another(control, &stored.proposal.subject) {
            let target = stored.proposal.subject.target.clone();
            if start_one(control, stored.proposal).await? == Tried::TargetBusy {
                busy.insert(target);
            }
        }
    }
    Ok(())
}

/// What became of one that waits.
#[derive(PartialEq, Eq)]
enum Tried {
    /// Something else is on its target.
    TargetBusy,
    /// It runs, ended, or waits for something else.
    Other,
}

async fn start_one(control: &Control, approved: Proposal) -> Result<Tried, StoreError> {
    let Some(plan) = plans::current(control, &approved) else {
        // What a change was made against is gone, and does not come back to life with it.
        if approved.subject.is_change() {
            recover::cancel_changed_one(control, approved.id).await?;
        }
        return Ok(Tried::Other);
    };
    let ctx = control.system_ctx()?;
    let (this, context, job_plan) = (control.clone(), control.context(&ctx), plan.clone());
    let id = approved.id;
    let freeze_switch = control.freeze.switch.pinned();
    fail_point!("start.commit.before");
    let claimed = control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let now = this.clock.now();
                let Some(stored) = proposals::find(tx, id).await? else {
                    return Ok(None);
                };
                if !on_record::still_holds(tx, &this, &context, id).await? {
                    return Ok(None);
                }
                let brakes = job_plan.brakes(tx, bound(&stored.proposal), now).await?;
                let free = brakes
                    == Brakes {
                        frozen: false,
                        cooldown: Cooldown::Over,
                        cap: Cap::Free,
                    };
                if !free || expire::has_lapsed(&stored.proposal, this.clock.latest()) {
                    return Ok(None);
                }
                claim(tx, &this, &context, stored.proposal, now)
                    .await
                    .map(Some)
            })
        })
        .await?;
    fail_point!("start.commit.after");
    match claimed {
        Some(Claim::Started(running)) => {
            execute(control, &running, plan, freeze_switch);
            Ok(Tried::Other)
        }
        Some(Claim::Waits(_)) => Ok(Tried::TargetBusy),
        None => Ok(Tried::Other),
    }
}
