//! Waiting for a proposal to end. Each waiter is woken for its own proposal only.

use std::time::Duration;

use tokio::time::timeout_at;
use void_domain::ids::ProposalId;
use void_domain::proposals::Proposal;
use void_store::{StoreError, proposals};

use crate::control::Control;

/// The proposal once it has ended and was checked, or as it is when the patience ends.
pub async fn wait_for_end(
    control: &Control,
    id: ProposalId,
    patience: Duration,
) -> Result<Proposal, StoreError> {
    let end = tokio::time::Instant::now() + patience;
    if let Some(mut running) = control.listeners.waiters.running_here(id)
        && let Ok(Ok(ended)) = timeout_at(end, running.wait_for(Option::is_some)).await
        && let Some(ended) = ended.clone()
    {
        return Ok(ended);
    }
    loop {
        let woken = control.listeners.waiters.register(id);
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
