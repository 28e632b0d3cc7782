//! Waiting for a proposal to end. Each waiter is woken for its own proposal only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout_at;
use void_domain::ids::ProposalId;
use void_domain::proposals::Proposal;
use void_store::events::StoredEvent;
use void_store::{StoreError, proposals};

use crate::control::Control;

#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<HashMap<ProposalId, Vec<oneshot::Sender<()>>>>,
    /// Runs of this process: whoever waits for one is handed its end and reads nothing.
    running: Mutex<HashMap<ProposalId, watch::Sender<Option<Proposal>>>>,
}

impl Waiters {
    pub(super) fn begins(&self, id: ProposalId) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(id, watch::Sender::new(None));
    }

    /// `None`: it goes on elsewhere, with its check or with another instance.
    pub(super) fn ends(&self, id: ProposalId, ended: Option<Proposal>) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        if let (Some(running), Some(ended)) = (running, ended) {
            running.send_replace(Some(ended));
        }
    }

    fn running_here(&self, id: ProposalId) -> Option<watch::Receiver<Option<Proposal>>> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&id).map(watch::Sender::subscribe)
    }

    fn register(&self, id: ProposalId) -> oneshot::Receiver<()> {
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
        let payload: Option<Value> = serde_json::from_str(&event.payload).ok();
        let id = payload
            .as_ref()
            .and_then(|payload| payload.get("id")?.as_str()?.parse().ok());
        if let Some(id) = id {
            self.wake_id(id);
        }
    }
}

/// The proposal once it has ended and was checked, or as it is when the patience ends.
pub async fn wait_for_end(
    control: &Control,
    id: ProposalId,
    patience: Duration,
) -> Result<Proposal, StoreError> {
    let end = tokio::time::Instant::now() + patience;
    if let Some(mut running) = control.waiters.running_here(id)
        && let Ok(Ok(ended)) = timeout_at(end, running.wait_for(Option::is_some)).await
        && let Some(ended) = ended.clone()
    {
        return Ok(ended);
    }
    loop {
        let woken = control.waiters.register(id);
        let found = control
            .store
            .read(move |tx| Box::pin(proposals::find(tx, id)))
            .await?;
        let Some(stored) = found else {
            return Err(StoreError::Internal("a proposal is gone".to_owned()));
        };
        let ended = stored.proposal.status().is_end() && !stored.proposal.is_unchecked();
        if ended || timeout_at(end, woken).await.is_err() {
            return Ok(stored.proposal);
        }
    }
}
