//! After a run: did it do what it was for? A step of its own with its own record. A check that cannot
//! be read in its time leaves the run *unverified*, which nowhere reads as done.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use void_channels::GuestStatus;
use void_domain::events::EventKind;
use void_domain::executions::{self, Execution, ExpectedState, Guest};
use void_domain::fail_point;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Proposal, State, Verification, VerificationOutcome};
use void_domain::services::{Health, Service};
use void_store::{StoreError, Tx, proposals};

use super::executing::Working;
use super::plans::current_definition;
use crate::clock::is_ahead;
use crate::control::Control;
use crate::facts::{self, AuditContext};
use crate::health;

/// A service that is just starting may answer once and fall over: it has to answer twice.
const SERVICE_SEEN: u32 = 2;
const SEEN_APART: Duration = Duration::from_secs(1);
const LOOK_FIRST: Duration = Duration::from_millis(250);
const LOOK_MAX: Duration = Duration::from_secs(2);
/// What has begun by the deadline, a look or the second of two, may end this much after it.
const GRACE: Duration = Duration::from_secs(2);
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);
const UNCHECKED_MAX: u32 = 100;

/// What shows that it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    Service {
        service: Box<Service>,
        wanted: Health,
    },
    Guest {
        node: String,
        kind: Guest,
        vmid: u32,
        wanted: GuestStatus,
    },
}

/// What one look says about a sign.
struct CheckReading {
    what: What,
    detail: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Wanted,
    Other,
    Nothing,
}

/// What is looked at after a run.
pub(super) struct Checks {
    /// How many copies run, told by the machine right after it changed their number.
    count: Option<VerifyCounts>,
    sign: Option<Sign>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct VerifyCounts {
    wanted: i64,
    running: i64,
}

/// What there is to look at after this proposal has run with this result, or why there is nothing.
pub(super) fn checks(
    control: &Control,
    proposal: &Proposal,
    result: &Value,
) -> Result<Checks, &'static str> {
    let (action, _) = current_definition(control, proposal).ok_or("no_check")?;
    let mut sign = sign(control, &action.execution);
    if !action.execution.kind.is_scale() {
        return match sign {
            Some(_) => Ok(Checks { count: None, sign }),
            None => Err("no_check"),
        };
    }
    // Health alone says nothing about how many copies answer.
    let wanted = action.execution.replicas_param.as_ref();
    let wanted = wanted.and_then(|name| proposal.subject.params().get(name)?.as_i64());
    let running = result.get("running").and_then(Value::as_i64);
    let count = match (wanted, running) {
        (Some(wanted), Some(running)) => VerifyCounts { wanted, running },
        _ if sign.is_some() => return Err("not_counted"),
        _ => return Err("no_check"),
    };
    if let (Some(Sign::Service { wanted, .. }), 0) = (&mut sign, count.wanted) {
        *wanted = Health::Down;
    }
    Ok(Checks {
        count: Some(count),
        sign,
    })
}

fn sign(control: &Control, execution: &Execution) -> Option<Sign> {
    match execution.sign() {
        executions::Sign::Service { id, wanted } => Some(Sign::Service {
            service: Box::new(health::find(control, id)?.service),
            wanted: match wanted {
                ExpectedState::Up => Health::Up,
                ExpectedState::Down => Health::Down,
            },
        }),
        executions::Sign::Guest { power, wanted }
            if control.runs.channels.probe().has_proxmox() =>
        {
            Some(Sign::Guest {
                node: power.node.clone(),
                kind: power.guest,
                vmid: power.vmid,
                wanted: match wanted {
                    ExpectedState::Up => GuestStatus::Running,
                    ExpectedState::Down => GuestStatus::Stopped,
                },
            })
        }
        executions::Sign::Guest { .. } | executions::Sign::Nothing => None,
    }
}

/// Checks a run in the background, within what is left of its time.
pub(super) fn start(control: &Control, id: ProposalId, left: Duration) {
    let Some(checking) = Working::checking(control, id) else {
        return;
    };
    let control = control.clone();
    tokio::spawn(async move {
        let mut stopping = control.process.stopping.subscribe();
        let outcome = tokio::select! {
            outcome = verify(&control, id, left) => outcome,
            // The next start goes on with it.
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        if let Err(error) = outcome {
            tracing::warn!(%error, proposal = %id, "a check could not be recorded; it is tried again");
        }
        drop(checking);
    });
}

/// Goes on with checks that nobody works on.
pub(super) async fn resume(control: &Control) -> Result<(), StoreError> {
    let unchecked = control
        .store
        .read(|tx| Box::pin(proposals::list_unchecked(tx, UNCHECKED_MAX)))
        .await?;
    let now = control.clock.now();
    for stored in unchecked {
        let State::Executed { at, .. } = stored.proposal.state else {
            continue;
        };
        // Ended by a wrong clock: nobody looks until then.
        let age = match is_ahead(at, now) {
            true => Duration::MAX,
            false => now.since(at),
        };
        let within = control.bounds.limits.verify_within;
        // On PostgreSQL the instance that ran it is at it, unless it is gone: a lease beyond the
        // deadline it is nobody's any more.
        if control.store.is_sqlite() || age > within + control.bounds.limits.lease {
            start(control, stored.proposal.id, within.saturating_sub(age));
        }
    }
    Ok(())
}

async fn verify(control: &Control, id: ProposalId, left: Duration) -> Result<(), StoreError> {
    let found = control
        .store
        .read(move |tx| Box::pin(proposals::find(tx, id)))
        .await?;
    let Some(stored) = found else { return Ok(()) };
    let State::Executed { result, .. } = &stored.proposal.state else {
        return Ok(());
    };
    let (outcome, detail) = match checks(control, &stored.proposal, result) {
        Ok(checks) => checks.outcome(control, left).await,
        Err(reason) => (VerificationOutcome::Unverified, json!({"reason": reason})),
    };
    // What was seen is not seen again: until it is on disk, nobody else knows.
    let mut pause = RETRY_FIRST;
    while let Err(error) = record(control, id, outcome, detail.clone()).await {
        tracing::warn!(%error, proposal = %id, "what a check saw could not be recorded; it is tried again");
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
    Ok(())
}

/// Looks until the sign shows, or the time is over.
async fn look_until(
    control: &Control,
    sign: &Sign,
    left: Duration,
) -> (VerificationOutcome, Value) {
    let begun = Instant::now();
    let end = begun + left;
    let (mut pause, mut in_a_row) = (LOOK_FIRST, 0);
    let mut seen = CheckReading {
        what: What::Nothing,
        detail: sign.unanswered("timed_out"),
    };
    loop {
        // A look that is cut off says nothing; what was seen before it stands.
        if let Ok(now) = tokio::time::timeout_at(end + GRACE, look(control, sign)).await {
            seen = now;
            in_a_row = match seen.what {
                What::Wanted => in_a_row + 1,
                What::Other | What::Nothing => 0,
            };
        }
        let now = Instant::now();
        let outcome = match seen.what {
            What::Wanted if in_a_row >= sign.needed() => VerificationOutcome::Verified,
            // Also at the end of its time: once is not enough, and the next look decides.
            What::Wanted if now < end + GRACE => {
                tokio::time::sleep(SEEN_APART).await;
                continue;
            }
            What::Other | What::Nothing if now < end => {
                tokio::time::sleep_until((now + pause).min(end)).await;
                pause = (pause * 2).min(LOOK_MAX);
                continue;
            }
            What::Other => VerificationOutcome::Failed,
            What::Wanted | What::Nothing => VerificationOutcome::Unverified,
        };
        if let Value::Object(members) = &mut seen.detail {
            let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            members.insert("after_ms".to_owned(), json!(took));
        }
        return (outcome, seen.detail);
    }
}

impl Checks {
    async fn outcome(self, control: &Control, left: Duration) -> (VerificationOutcome, Value) {
        let off = self.count.filter(|count| count.running != count.wanted);
        let (outcome, mut detail) = match &self.sign {
            _ if off.is_some() => (VerificationOutcome::Failed, json!({})),
            None => (VerificationOutcome::Verified, json!({})),
            Some(sign) if left.is_zero() => (
                VerificationOutcome::Unverified,
                sign.unanswered("interrupted"),
            ),
            Some(sign) => look_until(control, sign, left).await,
        };
        if let (Value::Object(members), Some(count)) = (&mut detail, self.count) {
            let replicas = json!({"wanted": count.wanted, "running": count.running});
            members.insert("replicas".to_owned(), replicas);
        }
        (outcome, detail)
    }
}

impl Sign {
    /// How often in a row it has to show.
    const fn needed(&self) -> u32 {
        match self {
            Self::Service { .. } => SERVICE_SEEN,
            Self::Guest { .. } => 1,
        }
    }

    /// The detail of a check that has seen nothing.
    fn unanswered(&self, reason: &str) -> Value {
        match self {
            Self::Service { service, wanted } => json!({
                "service": service.id.as_str(),
                "wanted": wanted.as_str(),
                "status": Health::Unknown.as_str(),
                "detail": {"answer": "none", "reason": reason},
            }),
            Self::Guest {
                node, vmid, wanted, ..
            } => json!({
                "guest": vmid,
                "node": node,
                "wanted": wanted.as_str(),
                "status": GuestStatus::Unknown.as_str(),
                "reason": reason,
            }),
        }
    }
}

async fn look(control: &Control, sign: &Sign) -> CheckReading {
    match sign {
        Sign::Service { service, wanted } => {
            let answer = health::look_now(control, service).await;
            let detail = json!({
                "service": service.id.as_str(),
                "wanted": wanted.as_str(),
                "status": answer.health().as_str(),
                "detail": answer,
            });
            let what = match answer.health() {
                health if health == *wanted => What::Wanted,
                Health::Unknown => What::Nothing,
                Health::Up | Health::Down => What::Other,
            };
            CheckReading { what, detail }
        }
        Sign::Guest {
            node,
            kind,
            vmid,
            wanted,
        } => {
            let state = control
                .runs
                .channels
                .probe()
                .guest(node, *kind, *vmid)
                .await;
            let mut detail = json!({"guest": vmid, "node": node, "wanted": wanted.as_str()});
            let (what, status) = match &state {
                Ok(state) if state.status == *wanted => (What::Wanted, state.status),
                Ok(state) if state.status != GuestStatus::Unknown => (What::Other, state.status),
                Ok(_) | Err(_) => (What::Nothing, GuestStatus::Unknown),
            };
            if let Value::Object(members) = &mut detail {
                members.insert("status".to_owned(), json!(status.as_str()));
                if let Err(failure) = &state {
                    members.insert("reason".to_owned(), json!(failure.code));
                }
            }
            CheckReading { what, detail }
        }
    }
}

async fn record(
    control: &Control,
    id: ProposalId,
    outcome: VerificationOutcome,
    detail: Value,
) -> Result<(), StoreError> {
    let (this, context) = (control.clone(), control.context(&control.system_ctx()?));
    fail_point!("verify.commit.before");
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                let seen = Verification {
                    outcome,
                    at: this.clock.now(),
                    detail,
                };
                if let Some(stored) = proposals::find(tx, id).await? {
                    record_in(tx, &context, stored.proposal, seen).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    fail_point!("verify.commit.after");
    control.listeners.waiters.wake_id(id);
    Ok(())
}

/// Stores what a check saw, unless there is one already; the proposal as it is then.
pub(super) async fn record_in(
    tx: &mut Tx,
    context: &AuditContext,
    proposal: Proposal,
    seen: Verification,
) -> Result<Proposal, StoreError> {
    let Ok(checked) = proposal.clone().verify(seen.clone()) else {
        return Ok(proposal);
    };
    if proposals::record_verification(tx, checked.id, &seen).await? {
        let kind = EventKind::ProposalVerified;
        facts::proposal(tx, context, seen.at, kind, &checked).await?;
    }
    Ok(checked)
}
