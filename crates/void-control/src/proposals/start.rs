//! The claim, and what follows it.
//!
//! Whoever commits the move to *running* may execute, once. Only then is a permit made, and only
//! here. Everything before the commit can be repeated; nothing after it is.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use void_channels::Outcome;
use void_domain::actors::{Actor, ActorKind};
use void_domain::catalogue::Action;
use void_domain::changes::ChangeTarget;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::freezes::FreezeSwitch;
use void_domain::ids::ProposalId;
use void_domain::instances::StartingInstance;
use void_domain::permits::{ChangePermit, Permit};
use void_domain::policy::{self, Brakes, Budget, Cap, Cooldown};
use void_domain::proposals::{Approval, Failure, Moved, Proposal, Run, State, Status, Subject};
use void_domain::time::Timestamp;
use void_store::{ConflictKey, StoreError, Tx, proposals};

use super::executing::Working;
use super::plans::{self, Plan};
use super::{expire, finish, offers, on_record, recover, rejudge};
use crate::clock::believed_until;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::{freezes, instances};

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
    let starter = instances::starting_instance(tx, control, &approved.subject).await?;
    if !may_start(tx, control, &approved.subject, starter).await? {
        return Ok(Claim::Waits(approved));
    }
    let moved = started(control, approved.clone(), now)?;
    fail_point!("claim.write.before");
    if !store_claim(tx, control, Status::Approved, &moved).await? {
        return Ok(Claim::Waits(approved));
    }
    facts::moved(tx, context, &moved).await?;
    fail_point!("claim.write.after");
    Ok(Claim::Started(moved.proposal))
}

/// Stores a yes to what waits. If its target is free it starts with it, and both are one write.
pub(super) async fn approve(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    approved: Moved,
    starter: StartingInstance,
) -> Result<Claim, StoreError> {
    let now = approved.transition.at;
    fail_point!("decide.write.before");
    let starts = may_start(tx, control, &approved.proposal.subject, starter).await?;
    let running = match starts {
        true => Some(started(control, approved.proposal.clone(), now)?),
        false => None,
    };
    fail_point!("claim.write.before");
    let won = match &running {
        Some(running) => store_claim(tx, control, Status::Pending, running).await?,
        None => proposals::advance(tx, &approved).await?,
    };
    if !won {
        // The row was read in this transaction, so nobody can have been faster.
        let what = "a row changed under its own transaction";
        return Err(StoreError::Internal(what.to_owned()));
    }
    facts::moved(tx, context, &approved).await?;
    fail_point!("decide.write.after");
    let Some(running) = running else {
        return Ok(Claim::Waits(approved.proposal));
    };
    facts::moved(tx, context, &running).await?;
    fail_point!("claim.write.after");
    Ok(Claim::Started(running.proposal))
}

async fn store_claim(
    tx: &mut Tx,
    control: &Control,
    from: Status,
    running: &Moved,
) -> Result<bool, StoreError> {
    let by = control.process.instance.claimant();
    let claim = instances::claim(control, &by);
    proposals::claim(tx, from, &running.proposal, &claim).await
}

/// The move to running, as of now.
pub(super) fn started(
    control: &Control,
    approved: Proposal,
    now: Timestamp,
) -> Result<Moved, StoreError> {
    let run = Run {
        started_at: now,
        ticket_expires_at: now.plus(TICKET_LASTS),
        lease_until: now.plus(control.bounds.limits.lease),
    };
    approved
        .start(run)
        .map_err(|error| StoreError::Internal(error.to_string()))
}

/// Whether what is approved starts at once; if not, it waits.
async fn may_start(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
    starter: StartingInstance,
) -> Result<bool, StoreError> {
    if !is_ours_to_start(control, subject, starter) {
        return Ok(false);
    }
    if control.is_stopping() || is_busy(tx, control, subject).await? {
        control.runs.somebody_waits.store(true, Ordering::SeqCst);
        return Ok(false);
    }
    Ok(true)
}

/// Whether the claim is this instance's, and not another one's or a foreign executor's.
pub(super) fn is_ours_to_start(
    control: &Control,
    subject: &Subject,
    starter: StartingInstance,
) -> bool {
    if control.runs.offers.are_made() && subject.is_by_file() {
        // The bridge offers it the file after the commit.
        control.runs.offers.wake();
        return false;
    }
    // Left to the instance on whose machine it runs; it lapses if that one does not come.
    starter == StartingInstance::This
}

/// Whether something else works on what this one is about, whatever its row calls it.
pub(super) async fn is_busy(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<bool, StoreError> {
    let spellings = spellings(control, subject);
    take_targets(tx, &spellings)?;
    for target in &spellings {
        if proposals::is_target_busy(tx, target).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same for whoever asks now: what is approved and has not started yet, wherever it will, comes first.
pub(super) async fn is_taken(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<bool, StoreError> {
    let spellings = spellings(control, subject);
    take_targets(tx, &spellings)?;
    for target in &spellings {
        if proposals::is_target_taken(tx, target).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All names of what it is about.
fn spellings(control: &Control, subject: &Subject) -> Vec<String> {
    let action = subject
        .action_id()
        .and_then(|id| control.in_force.catalogue.get(id));
    let mut spellings = action.map_or_else(Vec::new, |action| {
        control.in_force.catalogue.target_spellings(action)
    });
    if !spellings.contains(&subject.target) {
        spellings.push(subject.target.clone());
    }
    spellings
}

fn take_targets(tx: &mut Tx, spellings: &[String]) -> Result<(), StoreError> {
    let mut targets = spellings.iter();
    targets.try_for_each(|target| tx.take(|| ConflictKey::Target(target.clone())))
}

fn take_starts(tx: &mut Tx, action: &Action) -> Result<(), StoreError> {
    // Whoever starts it counts for others, bound or not.
    if action.max_per_hour.is_some() || has_cooldown(action) {
        tx.take(|| ConflictKey::Starts(action.id.clone()))?;
    }
    Ok(())
}

/// What [`brakes`] and [`is_busy`] take, for whoever writes before it asks them.
pub(super) fn take_keys(
    tx: &mut Tx,
    control: &Control,
    subject: &Subject,
) -> Result<(), StoreError> {
    let action = subject
        .action_id()
        .and_then(|id| control.in_force.catalogue.get(id));
    if let Some(action) = action {
        take_starts(tx, action)?;
    }
    take_targets(tx, &spellings(control, subject))
}

/// Which starts of an action hold it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starts {
    Made,
    /// Those too that are approved, here or by another instance, and have not been made.
    AndToCome,
}

impl Starts {
    async fn count_since(
        self,
        tx: &mut Tx,
        action: &Action,
        since: Timestamp,
        until: Timestamp,
    ) -> Result<(u64, Option<Timestamp>), StoreError> {
        match self {
            Self::Made => proposals::starts_since(tx, &action.id, since, until).await,
            Self::AndToCome => proposals::starts_to_come_since(tx, &action.id, since, until).await,
        }
    }
}

/// What holds an action back at this moment, if `bound` is who lets it run.
pub(super) async fn brakes(
    tx: &mut Tx,
    control: &Control,
    action: &Action,
    bound: ActorKind,
    now: Timestamp,
) -> Result<Brakes, StoreError> {
    brakes_by(tx, control, action, bound, (now, Starts::Made)).await
}

/// The same for whoever asks now.
pub(super) async fn brakes_to_come(
    tx: &mut Tx,
    control: &Control,
    action: &Action,
    bound: ActorKind,
    now: Timestamp,
) -> Result<Brakes, StoreError> {
    brakes_by(tx, control, action, bound, (now, Starts::AndToCome)).await
}

async fn brakes_by(
    tx: &mut Tx,
    control: &Control,
    action: &Action,
    bound: ActorKind,
    (now, starts): (Timestamp, Starts),
) -> Result<Brakes, StoreError> {
    let frozen = freezes::holds(tx, control, now).await?;
    take_starts(tx, action)?;
    let mut brakes = Brakes {
        frozen,
        cooldown: Cooldown::Over,
        cap: Cap::Free,
    };
    let until = believed_until(now);
    brakes.cooldown = cooldown(tx, action, bound, now, starts).await?;
    if let Some(per_hour) = action.max_per_hour {
        let (count, _) = starts
            .count_since(tx, action, now.minus(HOUR), until)
            .await?;
        if count >= u64::from(per_hour) {
            brakes.cap = Cap::Reached { per_hour };
        }
    }
    Ok(brakes)
}

/// Whether anybody has to wait between two runs of it.
fn has_cooldown(action: &Action) -> bool {
    let binds = |bound| policy::cooldown(action.cooldown, action.tier, bound).is_some();
    binds(ActorKind::Agent) || binds(ActorKind::Owner)
}

/// Whether an action ran a moment ago, if `bound` is who lets it run.
pub(super) async fn cooldown(
    tx: &mut Tx,
    action: &Action,
    bound: ActorKind,
    now: Timestamp,
    starts: Starts,
) -> Result<Cooldown, StoreError> {
    let Some(cooldown) = policy::cooldown(action.cooldown, action.tier, bound) else {
        return Ok(Cooldown::Over);
    };
    let (since, until) = (now.minus(cooldown), believed_until(now));
    let (_, last) = starts.count_since(tx, action, since, until).await?;
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
    let requester = actor.requester();
    let spent = proposals::safe_runs_since(tx, &requester, since, until).await?;
    let whose = (requester.kind, requester.id);
    tx.take_if_scarce(spent, u64::from(per_hour), || ConflictKey::SafeRuns(whose))?;
    Ok(if spent < u64::from(per_hour) {
        Budget::Left
    } else {
        Budget::Spent { per_hour }
    })
}

enum PermitKey {
    Action(Permit),
    Change(Box<ChangePermit>),
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where a permit is made, after the claim has committed"
)]
fn permit(running: &Proposal, plan: Plan, freeze_switch: FreezeSwitch) -> Option<PermitKey> {
    match plan {
        Plan::Action(action, params) => {
            Permit::issue(running, action, &params, freeze_switch).map(PermitKey::Action)
        }
        Plan::Change => {
            let permit = ChangePermit::issue(running, freeze_switch);
            permit.map(|permit| PermitKey::Change(Box::new(permit)))
        }
        // It is stored by a decision or not at all; a row that says that it runs was edited.
        Plan::Knowledge(_) => None,
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
        let begun = Instant::now();
        fail_point!("execute.before");
        let outcome = match permit {
            Some(PermitKey::Action(permit)) => control.runs.executor.execute(permit).await,
            Some(PermitKey::Change(permit)) => write_change(&control, *permit).await,
            None => unfit(),
        };
        fail_point!("execute.after");
        if matches!(outcome, Outcome::Busy(_)) {
            sleep_until(begun + control.bounds.limits.busy_lasts).await;
        }
        finish::finish(&control, id, outcome).await;
        drop(working);
    });
}

fn unfit() -> Outcome {
    let message = "the claim does not fit its subject; nothing was sent";
    Outcome::Failed(Failure::new(FailureCode::Changed, message))
}

/// To where the thing is that is changed.
async fn write_change(control: &Control, permit: ChangePermit) -> Outcome {
    match permit.change().target {
        ChangeTarget::Catalogue => match &control.in_force.catalogue_source {
            Some(source) => source.file.write(permit).await,
            None => unfit(),
        },
        ChangeTarget::AgentConfig | ChangeTarget::MetaInputs => {
            match control.in_force.change_writers.writer() {
                Some(writer) => writer.write(permit).await,
                None => unfit(),
            }
        }
        ChangeTarget::Knowledge | ChangeTarget::Topology => unfit(),
    }
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
    let judged = control
        .store
        .write(move |tx| {
            Box::pin(async move { judge_waiting(tx, &this, &context, &job_plan, id).await })
        })
        .await?;
    fail_point!("start.commit.after");
    match judged {
        JudgedStart::Claimed(claim) => match *claim {
            Claim::Started(running) => {
                execute(control, &running, plan, freeze_switch);
                Ok(Tried::Other)
            }
            Claim::Waits(_) => Ok(Tried::TargetBusy),
        },
        JudgedStart::Ended => {
            control.listeners.waiters.wake_id(id);
            Ok(Tried::Other)
        }
        JudgedStart::HeldBack => Ok(Tried::Other),
    }
}

/// What the transaction made of one that waits.
enum JudgedStart {
    Claimed(Box<Claim>),
    /// It never starts.
    Ended,
    /// It waits on, or somebody else has it.
    HeldBack,
}

/// Judges it by what is true now: it was let through at another moment, perhaps by another instance.
async fn judge_waiting(
    tx: &mut Tx,
    control: &Control,
    context: &AuditContext,
    plan: &Plan,
    id: ProposalId,
) -> Result<JudgedStart, StoreError> {
    let now = control.clock.now();
    let Some(stored) = proposals::find(tx, id).await? else {
        return Ok(JudgedStart::HeldBack);
    };
    if !on_record::still_holds(tx, control, context, id).await? {
        return Ok(JudgedStart::HeldBack);
    }
    let approved = stored.proposal;
    if let Some(why) = rejudge::why_void(tx, control, &approved, now).await? {
        rejudge::end(tx, context, approved, why, now).await?;
        return Ok(JudgedStart::Ended);
    }
    // A stop is no reason to refuse it: it is there at the next start.
    if expire::has_lapsed(&approved, control.clock.latest()) || control.is_stopping() {
        return Ok(JudgedStart::HeldBack);
    }
    let brakes = plan.brakes(tx, control, bound(&approved), now).await?;
    let held_back = brakes.refusal();
    let refused = rejudge::why_not_claimed(tx, control, &approved, held_back, now).await?;
    if let Some(why) = refused {
        rejudge::end(tx, context, approved, why, now).await?;
        return Ok(JudgedStart::Ended);
    }
    if held_back.is_some() {
        return Ok(JudgedStart::HeldBack);
    }
    let claim = claim(tx, control, context, approved, now).await?;
    Ok(JudgedStart::Claimed(Box::new(claim)))
}
