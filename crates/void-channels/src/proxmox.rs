//! Proxmox VE: guest power with a scoped token over verified TLS, each task followed to its end.
//!
//! An accepted call is only a task number. What counts is how the task ended. A request that may have
//! arrived and was not answered leaves the outcome unknown, and the task list settles it.

mod calls;
mod config;
mod connections;
mod guests;
mod labs;
mod permissions;
mod powers;
mod refusals;
mod servers;
mod settling;
mod tasks;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use void_domain::executions::{GuestPower, PowerOp};
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;

use self::calls::{CallError, Client};
pub use self::config::{InvalidProxmox, Now, Patience, ProxmoxConfig};
pub use self::connections::certificate_shown;
use self::guests::Whereabouts;
pub use self::guests::{GuestState, GuestStatus};
pub use self::labs::{Lab, LabGuest, LabNode, Load, NodeStatus};
pub use self::permissions::{Excess, Rights, Shortage};
pub use self::servers::ProxmoxServer;
use self::settling::{Found, Taken};
use self::tasks::{Task, TaskEnd};
use crate::outcomes::Outcome;

/// Between looks at a running task: soon at first, then calmer.
const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_MAX: Duration = Duration::from_secs(2);

pub(crate) struct Proxmox {
    client: Client,
    taken: Taken,
    whereabouts: Whereabouts,
}

impl Proxmox {
    pub(crate) fn new(config: ProxmoxConfig) -> Self {
        Self {
            client: Client { config },
            taken: Taken::default(),
            whereabouts: Whereabouts::default(),
        }
    }

    pub(crate) async fn execute(&self, permit: Permit, power: &GuestPower) -> Outcome {
        // Looking first tells most reasons apart before anything is sent.
        let before = match self.guest(power).await {
            Ok(state) => state,
            Err(failure) => return Outcome::Failed(nothing_sent(failure)),
        };
        if let Some(outcome) = held_back(power, &before) {
            return outcome;
        }
        let (ticket, end) = (permit.ticket(), Instant::now() + permit.execution().timeout);
        let gate = || {
            fail_point!("proxmox.send.before");
            self.may_leave(&permit)
        };
        let answer = self
            .client
            .post(&powers::path(power, power.op.as_str()), gate)
            .await;
        fail_point!("proxmox.send.after");
        match answer {
            Ok(data) => {
                let task = data.as_str().and_then(Task::parse);
                match task.filter(|task| task.is_of(power)) {
                    Some(task) => {
                        self.taken.note(&task, ticket.proposal_id);
                        self.follow(power, &task, end).await
                    }
                    None => {
                        let message = "Proxmox accepted it without naming its task";
                        let lost = Failure::new(FailureCode::BadAnswer, message);
                        self.search(power, ticket, lost, end).await
                    }
                }
            }
            Err(CallError::NotSent(failure)) => Outcome::Failed(nothing_sent(failure)),
            Err(CallError::Refused(refused)) if refused.is_before_work() => {
                let failure = refused.to_failure(&powers::name(power));
                if refused.is_about_state() {
                    return self.stays(power, failure).await;
                }
                Outcome::Failed(nothing_changed(failure))
            }
            Err(CallError::Refused(refused)) => {
                let lost = refused.to_failure(&powers::name(power));
                self.search(power, ticket, lost, end).await
            }
            Err(CallError::Lost(lost)) => self.search(power, ticket, lost, end).await,
        }
    }

    /// Asked right before the first byte. After its ticket's end a request must not leave: when it
    /// could have arrived is part of the evidence that it did not.
    fn may_leave(&self, permit: &Permit) -> Result<(), Failure> {
        if permit.is_stopped() {
            return Err(Failure::new(
                FailureCode::Frozen,
                "frozen before it was sent",
            ));
        }
        if self.client.now() >= permit.ticket().expires_at {
            let message = "its ticket ran out before it could be sent";
            return Err(Failure::new(FailureCode::Expired, message));
        }
        Ok(())
    }

    /// Looks at the task until it ends or the action's time is over.
    async fn follow(&self, power: &GuestPower, task: &Task, end: Instant) -> Outcome {
        let (name, mut pause) = (powers::name(power), LOOK_FIRST);
        loop {
            let looked = self.task_end(task).await;
            let unknown = match looked {
                Ok(Some(ended)) => return self.ended(power, task, ended).await,
                Ok(None) => {
                    let message = format!("the task {task} for {name} still runs");
                    Failure::new(FailureCode::TaskRunning, message)
                }
                // The task goes on whether or not we see it.
                Err(error) => {
                    let why = error.into_failure("the task").message;
                    let message = format!("the task {task} for {name} cannot be followed: {why}");
                    Failure::new(FailureCode::TaskLost, message)
                }
            };
            if Instant::now() + pause >= end {
                return Outcome::Unknown(unknown);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_MAX);
        }
    }

    async fn ended(&self, power: &GuestPower, task: &Task, ended: TaskEnd) -> Outcome {
        let name = powers::name(power);
        match ended {
            TaskEnd::Ok(exit) if task.is_request() => {
                let note = format!("the cluster was asked; its high availability acts on {name}");
                let result = json!({"changed": null, "note": note, "upid": task.to_string(), "exitstatus": exit});
                Outcome::Done { result }
            }
            TaskEnd::Ok(exit) => {
                let result = json!({"changed": true, "upid": task.to_string(), "exitstatus": exit});
                Outcome::Done { result }
            }
            TaskEnd::Unknown(exit) => {
                let message =
                    format!("the task {task} for {name} is over, and how is not recorded: {exit}");
                Outcome::Unknown(Failure::new(FailureCode::TaskEndUnknown, message))
            }
            TaskEnd::Failed(exit) => {
                let message = match self.last_log_line(task, &exit).await {
                    Some(line) => format!("the task for {name} failed: {exit} ({line})"),
                    None => format!("the task for {name} failed: {exit}"),
                };
                let failure = Failure {
                    code: tasks::code_of(&exit).into(),
                    message,
                    result: Some(json!({"upid": task.to_string(), "exitstatus": exit})),
                };
                if refusals::is_about_state(&exit) {
                    return self.stays(power, failure).await;
                }
                Outcome::Failed(failure)
            }
        }
    }

    /// Proxmox says that the guest is there already. If so, that is what was wished.
    async fn stays(&self, power: &GuestPower, failure: Failure) -> Outcome {
        match self.guest(power).await {
            Ok(state) if powers::wished(power) == Some(state.status) => {
                already(power, state.status)
            }
            Ok(_) | Err(_) if power.op == PowerOp::Reboot => not_running(power),
            Ok(_) | Err(_) => Outcome::Failed(nothing_changed(failure)),
        }
    }

    /// The answer is missing: is there a task of ours?
    async fn search(
        &self,
        power: &GuestPower,
        ticket: &Ticket,
        lost: Failure,
        end: Instant,
    ) -> Outcome {
        tracing::warn!(guest = %powers::name(power), proposal = %ticket.proposal_id, reason = lost.message, "an answer was lost; looking at the task list");
        let give_up = Instant::now() + self.client.config.patience.settle;
        let mut pause = LOOK_FIRST;
        loop {
            let looked = tokio::time::timeout_at(give_up, self.look_for(power, ticket)).await;
            match looked {
                Ok(Ok(Found::One(task, _))) => {
                    self.taken.note(&task, ticket.proposal_id);
                    return self.follow(power, &task, end).await;
                }
                Ok(Ok(Found::Doubt(why))) => {
                    let message = format!("{}; {why}", lost.message);
                    return Outcome::Unknown(Failure::new(FailureCode::Ambiguous, message));
                }
                Ok(Ok(Found::Nothing) | Err(_)) => {}
                Err(_late) => return Outcome::Unknown(lost),
            }
            if Instant::now() + pause >= give_up {
                return Outcome::Unknown(lost);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_MAX);
        }
    }
}

/// What the guest's state says against sending anything.
fn held_back(power: &GuestPower, before: &GuestState) -> Option<Outcome> {
    if powers::wished(power) == Some(before.status) {
        return Some(already(power, before.status));
    }
    if power.op == PowerOp::Reboot && before.status == GuestStatus::Stopped {
        return Some(not_running(power));
    }
    let lock = before.lock.as_ref()?;
    if powers::is_let_through_by(power, lock) {
        return None;
    }
    let message = format!(
        "{} is locked ({lock}); nothing was changed",
        powers::name(power)
    );
    Some(Outcome::Failed(Failure::new(FailureCode::Locked, message)))
}

fn already(power: &GuestPower, status: GuestStatus) -> Outcome {
    let status = status.as_str();
    let note = format!(
        "{} was {status} already; nothing was changed",
        powers::name(power)
    );
    let result = json!({"changed": false, "note": note, "status": status});
    Outcome::Done { result }
}

fn not_running(power: &GuestPower) -> Outcome {
    let message = format!("{} does not run; nothing was changed", powers::name(power));
    Outcome::Failed(Failure::new(FailureCode::NotRunning, message))
}

fn nothing_sent(failure: Failure) -> Failure {
    with(failure, "nothing was sent")
}

fn nothing_changed(failure: Failure) -> Failure {
    with(failure, "nothing was changed")
}

fn with(failure: Failure, what: &str) -> Failure {
    let message = format!("{}; {what}", failure.message);
    Failure { message, ..failure }
}

/// The members of `data` that are objects; PVE answers `null` for nothing.
fn rows(data: &Value) -> impl Iterator<Item = &Value> {
    let rows = data.as_array().into_iter().flatten();
    rows.filter(|row| row.is_object())
}

/// A number that PVE may write as a number or as text.
fn number(value: Option<&Value>) -> Option<u64> {
    match value? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
