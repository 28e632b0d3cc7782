//! What this process is working on. A run that is here is not abandoned, and a stop waits for it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use void_domain::ids::ProposalId;

use crate::control::Control;

pub(crate) struct Executing {
    ids: Mutex<HashSet<ProposalId>>,
    count: watch::Sender<usize>,
}

impl Default for Executing {
    fn default() -> Self {
        Self {
            ids: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }
}

impl Executing {
    pub(crate) async fn wait_until_idle(&self) {
        // The sender lives as long as we do, so the wait cannot fail.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn change(&self, change: impl FnOnce(&mut HashSet<ProposalId>) -> bool) -> bool {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut ids);
        self.count.send_replace(ids.len());
        changed
    }
}

/// Marks a run as being worked on here, until it is dropped.
pub(super) struct Working {
    control: Control,
    id: ProposalId,
}

impl Working {
    /// `None` if somebody here works on it already.
    pub(super) fn on(control: &Control, id: ProposalId) -> Option<Self> {
        let first = control.executing.change(|ids| ids.insert(id));
        first.then(|| Self {
            control: control.clone(),
            id,
        })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.control.executing.change(|ids| ids.remove(&self.id));
    }
}
