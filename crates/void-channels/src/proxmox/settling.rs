//! What became of a run whose answer is missing, by the node's task list.
//!
//! A task is ours if our token began this operation on this guest between the claim and the last moment
//! at which a request of ours could arrive, and if it is not known to belong to another proposal. Not
//! done is said only when that moment is over, no such task is listed, and the guest does not look as
//! if it had been done. Everything else is doubt, and doubt stays unknown.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use void_domain::executions::{GuestPower, PowerOp};
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::permits::Ticket;
use void_domain::proposals::Failure;
use void_domain::time::Timestamp;

use super::tasks::{Task, TaskEnd};
use super::{Proxmox, number, powers, rows};
use crate::outcomes::{Evidence, Outcome};

/// A node's clock may be this far from the one that answers; both count whole seconds.
const CLOCK_GRAIN_S: u64 = 2;
/// A task so near to our time could be ours after all, if clocks went wrong.
const CLOCK_DOUBT_S: u64 = 60;
/// After this long a busy node may have dropped a task from its list.
const LISTED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
const LIST_ROWS_MAX: usize = 500;
const TAKEN_MAX: usize = 1_000;

/// Which tasks belong to which proposals, as far as this process has seen.
#[derive(Default)]
pub(super) struct Taken(Mutex<VecDeque<(String, ProposalId)>>);

impl Taken {
    pub(super) fn note(&self, task: &Task, proposal: ProposalId) {
        let mut taken = self.lock();
        if taken.len() >= TAKEN_MAX {
            taken.pop_front();
        }
        taken.push_back((task.to_string(), proposal));
    }

    fn owner(&self, task: &Task) -> Option<ProposalId> {
        let (taken, upid) = (self.lock(), task.to_string());
        let found = taken.iter().find(|(known, _)| *known == upid);
        found.map(|(_, proposal)| *proposal)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, ProposalId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the task list shows of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    One(Task, Option<TaskEnd>),
    Nothing,
    /// Why it cannot be told.
    Doubt(String),
}

impl Proxmox {
    /// What became of a run.
    pub(crate) async fn settle(&self, power: &GuestPower, ticket: &Ticket) -> Evidence {
        match self.look_for(power, ticket).await {
            Err(failure) => Evidence::None(failure),
            Ok(Found::Doubt(why)) => Evidence::None(Failure::new(FailureCode::Ambiguous, why)),
            Ok(Found::One(_, None)) => Evidence::Started,
            Ok(Found::One(task, Some(end))) => match self.ended(power, &task, end).await {
                Outcome::Done { result } => Evidence::Done { result },
                Outcome::Failed(failure) | Outcome::Busy(failure) => Evidence::Failed(failure),
                Outcome::Unknown(failure) => Evidence::None(failure),
            },
            Ok(Found::Nothing) => self.not_listed(power, ticket).await,
        }
    }

    async fn not_listed(&self, power: &GuestPower, ticket: &Ticket) -> Evidence {
        let none = |code: FailureCode, what: String| Evidence::None(Failure::new(code, what));
        let (name, now) = (powers::name(power), self.client.now());
        let arrives_until = ticket.expires_at.plus(self.client.config.patience.arrival);
        if now < arrives_until {
            return none(
                FailureCode::NoTask,
                format!("no task of ours for {name} so far"),
            );
        }
        if now > arrives_until.plus(LISTED_FOR) {
            let what = format!("the task list may have forgotten what was done to {name}");
            return none(FailureCode::Forgotten, what);
        }
        let state = match self.guest(power).await {
            Ok(state) => state,
            Err(failure) => return Evidence::None(failure),
        };
        let since_claim = now.since(ticket.claimed_at).as_secs() + CLOCK_DOUBT_S;
        let looks_done = match power.op {
            PowerOp::Start | PowerOp::Stop | PowerOp::Shutdown => {
                powers::wished(power) == Some(state.status)
            }
            PowerOp::Reboot => state.uptime_s < since_claim,
        };
        if looks_done {
            let what = format!(
                "no task of ours for {name} is listed, and yet it is {} now; somebody else may have done it",
                state.status.as_str()
            );
            return none(FailureCode::Ambiguous, what);
        }
        let message = format!("no task of ours for {name} is listed; nothing was done");
        Evidence::Failed(Failure::new(FailureCode::NotStarted, message))
    }

    /// Looks at the task list once.
    pub(super) async fn look_for(
        &self,
        power: &GuestPower,
        ticket: &Ticket,
    ) -> Result<Found, Failure> {
        let path = format!(
            "/nodes/{}/tasks?vmid={}&source=all&limit={LIST_ROWS_MAX}",
            power.node, power.vmid
        );
        let listed = self.client.get_with_time(&path).await;
        let listed = listed.map_err(|error| error.into_failure("the task list"))?;
        let ahead_ms = self.client.ahead_ms(&listed)?;
        let last = ticket.expires_at.plus(self.client.config.patience.arrival);
        let window = Window::new(ticket.claimed_at, last, ahead_ms);
        Ok(self.judge(power, ticket, &window, &listed.data))
    }

    fn judge(&self, power: &GuestPower, ticket: &Ticket, window: &Window, listed: &Value) -> Found {
        let token = &self.client.config.token.id;
        let tasks: Vec<(Task, Option<TaskEnd>)> = rows(listed)
            .filter_map(|row| {
                let task = Task::parse(row.get("upid")?.as_str()?)?;
                Some((task, TaskEnd::of_row(row)))
            })
            .filter(|(task, _)| task.is_of(power) && task.user == *token)
            .collect();
        let ours = |(task, _): &&(Task, _)| self.taken.owner(task) == Some(ticket.proposal_id);
        if let Some((task, end)) = tasks.iter().find(ours) {
            return Found::One(task.clone(), end.clone());
        }
        let name = powers::name(power);
        if !window.is_covered_by(listed) {
            return Found::Doubt(format!("more tasks for {name} than can be looked through"));
        }
        let free = || {
            let free = tasks.iter();
            free.filter(|(task, _)| self.taken.owner(task).is_none())
        };
        let within: Vec<_> = free().filter(|(task, _)| window.holds(task)).collect();
        match within.as_slice() {
            [(task, end)] => Found::One(task.clone(), end.clone()),
            [] if free().any(|(task, _)| window.is_near(task)) => Found::Doubt(format!(
                "a task for {name} began so near to the claim that the clocks cannot tell"
            )),
            [] => Found::Nothing,
            several => Found::Doubt(format!(
                "{} tasks of our token for {name} could be this one",
                several.len()
            )),
        }
    }
}

/// The time in which a task of ours begins, in seconds of their clock.
#[derive(Debug, PartialEq, Eq)]
struct Window {
    from: u64,
    to: u64,
}

impl Window {
    fn new(claimed: Timestamp, last: Timestamp, their_clock_ahead_ms: i64) -> Self {
        let theirs = |ours: Timestamp| {
            let ms = ours.as_ms().saturating_add(their_clock_ahead_ms);
            u64::try_from(ms.div_euclid(1_000)).unwrap_or(0)
        };
        Self {
            from: theirs(claimed).saturating_sub(CLOCK_GRAIN_S),
            to: theirs(last).saturating_add(CLOCK_GRAIN_S),
        }
    }

    const fn holds(&self, task: &Task) -> bool {
        self.from <= task.started_s && task.started_s <= self.to
    }

    const fn is_near(&self, task: &Task) -> bool {
        let from = self.from.saturating_sub(CLOCK_DOUBT_S);
        let to = self.to.saturating_add(CLOCK_DOUBT_S);
        from <= task.started_s && task.started_s <= to
    }

    /// A list is cut at its oldest end. What is left must reach back to before our time.
    fn is_covered_by(&self, listed: &Value) -> bool {
        let from = self.from.saturating_sub(CLOCK_DOUBT_S);
        let started = |row: &Value| number(row.get("starttime"));
        let is_whole = rows(listed).count() < LIST_ROWS_MAX;
        is_whole || rows(listed).any(|row| started(row).is_some_and(|at| at < from))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clocks_that_differ_are_taken_into_account() {
        let at = Timestamp::from_ms;
        let window = |ahead| Window::new(at(1_000_500), at(1_090_500), ahead);
        let expected = |from, to| Window { from, to };
        assert_eq!(window(0), expected(998, 1_092));
        assert_eq!(window(3_600_000), expected(4_598, 4_692));
        assert_eq!(window(-900_000), expected(98, 192));
        assert_eq!(window(i64::MIN).to, CLOCK_GRAIN_S);
    }

    #[test]
    fn a_list_that_was_cut_must_reach_back_far_enough() {
        let window = Window {
            from: 1_000,
            to: 1_100,
        };
        let list = |count: u64, from: u64| -> Value {
            let rows = (0..count).map(|n| json!({"starttime": from + n}));
            rows.collect::<Vec<_>>().into()
        };
        let full = LIST_ROWS_MAX as u64;
        assert!(window.is_covered_by(&list(full - 1, 2_000)));
        assert!(!window.is_covered_by(&list(full, 2_000)));
        assert!(window.is_covered_by(&list(full, 900)));
    }
}
