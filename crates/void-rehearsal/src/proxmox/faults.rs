//! Faults by switch: what goes wrong, for which paths, once or always. Set and cleared at run time.
//!
//! Those that break a request before it is processed leave the lab untouched; those after it have let
//! the request take effect, and only the answer is lost. That difference is what a client cannot see.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Switches that can be set at the same time; far more than any test has trials.
pub const FAULTS_MAX: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The request waits this long before it is processed.
    Slow(Duration),
    /// The connection closes before the request is processed.
    DropBefore,
    /// The request takes effect, then the connection closes without an answer.
    DropAfter,
    /// 500 with this reason, not processed.
    ServerError(String),
    /// 595 "No route to host", not processed: the node's proxy could not connect.
    Unreachable,
    /// 596 "Connection timed out" after the request took effect: the node's proxy lost the answer.
    ProxyLost,
    /// Processed, but the connection closes in the middle of the body.
    HalfAnswer,
    /// Processed, but the answer is 200 with a body that is not JSON.
    Garbage,
    /// Processed, but the body never ends.
    EndlessBody,
    /// The power operation is accepted and its task fails with this text, without effect.
    TaskFails(String),
    /// The power operation is accepted and its task runs for ever, without effect.
    TaskHangs,
}

impl Fault {
    /// What a task says when the guest's storage is away.
    pub fn storage_offline(storage: &str) -> Self {
        Self::TaskFails(format!("storage '{storage}' is not online"))
    }
}

/// Where a fault strikes. Paths are as in the API, without `/api2/json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Everywhere,
    /// Every path that begins so.
    Under(String),
}

impl Scope {
    pub fn under(prefix: &str) -> Self {
        Self::Under(prefix.to_owned())
    }

    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Under(prefix) => path.starts_with(prefix),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    Once,
    Always,
}

struct Switch {
    fault: Fault,
    scope: Scope,
    times: Times,
}

/// The switchboard.
#[derive(Default)]
pub struct Faults(Mutex<Vec<Switch>>);

impl Faults {
    /// Sets one more fault. Past [`FAULTS_MAX`] it is refused: a fault that silently replaced another one
    /// would let a trial pass, or fail, without the fault that it is about.
    #[must_use = "a fault that was not set strikes nobody"]
    pub fn set(&self, fault: Fault, scope: Scope, times: Times) -> bool {
        let mut switches = self.switches();
        let fits = switches.len() < FAULTS_MAX;
        if fits {
            switches.push(Switch {
                fault,
                scope,
                times,
            });
        }
        fits
    }

    pub fn once(&self, fault: Fault, prefix: &str) {
        let _ = self.set(fault, Scope::under(prefix), Times::Once);
    }

    pub fn always(&self, fault: Fault, prefix: &str) {
        let _ = self.set(fault, Scope::under(prefix), Times::Always);
    }

    pub fn clear(&self) {
        self.switches().clear();
    }

    /// How many are set and have not struck for the last time.
    pub fn count(&self) -> usize {
        self.switches().len()
    }

    /// What strikes a request for this path; what was to strike once is used up.
    pub(crate) fn strike(&self, path: &str) -> Vec<Fault> {
        let mut switches = self.switches();
        let struck = switches
            .iter()
            .filter(|switch| switch.scope.covers(path))
            .map(|switch| switch.fault.clone())
            .collect();
        switches.retain(|switch| switch.times == Times::Always || !switch.scope.covers(path));
        struck
    }

    fn switches(&self) -> MutexGuard<'_, Vec<Switch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
