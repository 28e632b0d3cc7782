//! What this process is working on. A run that is here is not abandoned, and a stop waits for it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use void_domain::ids::ProposalId;

pub(crate) struct Executing {
    pub(crate) ids: Mutex<HashSet<ProposalId>>,
    pub(crate) count: watch::Sender<usize>,
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

    pub(crate) fn change(&self, change: impl FnOnce(&mut HashSet<ProposalId>) -> bool) -> bool {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut ids);
        self.count.send_replace(ids.len());
        changed
    }
}
