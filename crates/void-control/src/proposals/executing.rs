//! What this process is working on. A run that is here is not abandoned, and a stop waits for it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use void_domain::ids::ProposalId;

use crate::control::{Control, Parts};

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
    among: fn(&Parts) -> &Executing,
}

impl Working {
    /// `None` if somebody here works on it already.
    pub(super) fn on(control: &Control, id: ProposalId) -> Option<Self> {
        Self::among(control, id, |parts| &parts.executing)
    }

    /// The same for its check, which a stop does not wait for.
    pub(super) fn checking(control: &Control, id: ProposalId) -> Option<Self> {
        Self::among(control, id, |parts| &parts.checking)
    }

    fn among(control: &Control, id: ProposalId, among: fn(&Parts) -> &Executing) -> Option<Self> {
        let first = among(control).change(|ids| ids.insert(id));
        first.then(|| Self {
            control: control.clone(),
            id,
            among,
        })
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        (self.among)(&self.control).change(|ids| ids.remove(&self.id));
    }
}
