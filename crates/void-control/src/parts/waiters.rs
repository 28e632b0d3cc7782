//! Who waits for a proposal to end. Each waiter is woken for its own proposal only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::{oneshot, watch};
use void_domain::ids::ProposalId;
use void_domain::proposals::Proposal;
use void_store::events::StoredEvent;

#[derive(Default)]
pub(crate) struct Waiters {
    pub(crate) waiting: Mutex<HashMap<ProposalId, Vec<oneshot::Sender<()>>>>,
    /// Runs of this process: whoever waits for one is handed its end and reads nothing.
    pub(crate) running: Mutex<HashMap<ProposalId, watch::Sender<Option<Proposal>>>>,
}

impl Waiters {
    pub(crate) fn begins(&self, id: ProposalId) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(id, watch::Sender::new(None));
    }

    /// `None`: it goes on elsewhere, with its check or with another instance.
    pub(crate) fn ends(&self, id: ProposalId, ended: Option<Proposal>) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        if let (Some(running), Some(ended)) = (running, ended) {
            running.send_replace(Some(ended));
        }
    }

    pub(crate) fn running_here(&self, id: ProposalId) -> Option<watch::Receiver<Option<Proposal>>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&id).map(watch::Sender::subscribe)
    }

    pub(crate) fn register(&self, id: ProposalId) -> oneshot::Receiver<()> {
        let (wake, woken) = oneshot::channel();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = waiting.entry(id).or_default();
        queue.retain(|waiter| !waiter.is_closed());
        queue.push(wake);
        woken
    }

    pub(crate) fn wake_id(&self, id: ProposalId) {
        let woken = self
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        for waiter in woken.into_iter().flatten() {
            // Whoever stopped waiting does not mind.
            let _ = waiter.send(());
        }
    }

    /// Wakes those who wait for the proposal that an event is about; how another instance's work
    /// reaches a waiter here.
    pub(crate) fn wake(&self, event: &StoredEvent) {
        if self
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_empty()
        {
            return;
        }
        if let Some(proposal) = event.payload.proposal() {
            self.wake_id(proposal.id);
        }
    }
}
