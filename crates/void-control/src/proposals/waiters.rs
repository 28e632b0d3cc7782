//! Waiting for a proposal to end. Each waiter is woken for its own proposal only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use void_domain::ids::ProposalId;
use void_domain::proposals::Proposal;
use void_store::events::StoredEvent;
use void_store::{StoreError, proposals};

use crate::control::Control;

#[derive(Default)]
pub(crate) struct Waiters(Mutex<HashMap<ProposalId, Vec<oneshot::Sender<()>>>>);

impl Waiters {
    fn register(&self, id: ProposalId) -> oneshot::Receiver<()> {
        let (wake, woken) = oneshot::channel();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = waiting.entry(id).or_default();
        queue.retain(|waiter| !waiter.is_closed());
        queue.push(wake);
        woken
    }

    pub(crate) fn wake_id(&self, id: ProposalId) {
        let woken = self
            .0
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
            .0
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
        if ended || tokio::time::timeout_at(end, woken).await.is_err() {
            return Ok(stored.proposal);
        }
    }
}
