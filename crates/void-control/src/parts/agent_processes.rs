//! The processes of agents that this server looks after, for use cases that begin elsewhere: in a tool of an agent, or
//! with a change of the tree. Held weakly: they end with whoever started them.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[derive(Default)]
pub(crate) struct AgentProcessesPart(Mutex<Option<Weak<dyn Any + Send + Sync>>>);

impl AgentProcessesPart {
    pub(crate) fn set(&self, processes: Weak<dyn Any + Send + Sync>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(processes);
    }

    /// `None`: this server looks after none.
    pub(crate) fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.as_ref().and_then(Weak::upgrade)?;
        found.downcast().ok()
    }
}
