//! What puts a change of the tree's repository into effect, and what restarts an agent's process for it. Both work above
//! everything that asks for them, so they are known here by what they do alone, and are gone when whoever is behind them is.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use void_channels::{Evidence, Outcome};
use void_domain::agents::AgentName;
use void_domain::changes::Change;
use void_domain::permits::{ChangeAuthor, ChangePermit};

pub(crate) type EffectFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Configs of agents and pinned inputs.
pub(crate) trait ChangeWriter: Send + Sync {
    /// Whether what is in force is what the change was made against, as far as that is known now. The writing itself
    /// looks again.
    fn fits(&self, change: &Change) -> bool;
    /// Consumes the permit: whatever happens, it is not used again.
    fn write(&self, permit: ChangePermit) -> EffectFuture<'_, Outcome>;
    /// Ends what was cut off, if it had begun, and says what became of it.
    fn settle<'a>(&'a self, change: &'a Change, author: ChangeAuthor)
    -> EffectFuture<'a, Evidence>;
}

/// How a process stands after it was started again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Restarted {
    /// It is not meant to run here: there is nothing to see.
    NotWanted,
    IsUp,
    /// Why, in words of ours.
    IsNotUp(String),
}

pub(crate) trait ProcessRestarter: Send + Sync {
    /// Back once it is up, or its time is over.
    fn restart<'a>(&'a self, agent: &'a AgentName) -> EffectFuture<'a, Restarted>;
}

#[derive(Default)]
pub(crate) struct ChangeWriters {
    writer: Mutex<Option<Arc<dyn ChangeWriter>>>,
    restarter: Mutex<Option<Weak<dyn ProcessRestarter>>>,
}

impl ChangeWriters {
    pub(crate) fn set_writer(&self, writer: Arc<dyn ChangeWriter>) {
        *lock(&self.writer) = Some(writer);
    }

    pub(crate) fn writer(&self) -> Option<Arc<dyn ChangeWriter>> {
        lock(&self.writer).clone()
    }

    pub(crate) fn set_restarter(&self, restarter: Weak<dyn ProcessRestarter>) {
        *lock(&self.restarter) = Some(restarter);
    }

    /// `None`: no processes are looked after here.
    pub(crate) fn restarter(&self) -> Option<Arc<dyn ProcessRestarter>> {
        lock(&self.restarter).as_ref().and_then(Weak::upgrade)
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
