//! The hub: reads each committed event once and passes it to everyone who listens here. A listener
//! that falls behind reads the gap from the table; nobody is waited for.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};
use void_domain::events::EventKind;
use void_store::events;
pub use void_store::events::StoredEvent;
use void_store::{Store, StoreError};

use crate::control::Control;
use crate::{freezes, nodes};

/// How far a listener may fall behind before it reads from the table again.
const BUFFERED: usize = 256;
const PAGE: u32 = 200;

pub struct Hub {
    live: broadcast::Sender<Arc<StoredEvent>>,
    /// The newest event that was passed on.
    last: watch::Sender<u64>,
    /// Rises when a credential was withdrawn.
    revocations: watch::Sender<u64>,
}

impl Hub {
    pub(crate) async fn new(store: &Store) -> Result<Self, StoreError> {
        let last = store.read(|tx| Box::pin(events::last(tx))).await?;
        Ok(Self {
            live: broadcast::Sender::new(BUFFERED),
            last: watch::Sender::new(last),
            revocations: watch::Sender::new(0),
        })
    }

    pub(crate) fn start(&self, control: &Control) {
        let control = control.clone();
        tokio::spawn(async move {
            let mut committed = control.store.committed();
            let mut stopping = control.stopping.subscribe();
            loop {
                tokio::select! {
                    changed = committed.changed() => if changed.is_err() { return },
                    _ = stopping.wait_for(|stop| *stop) => return,
                }
                if let Err(error) = control.hub.pass_on(&control).await {
                    tracing::error!(%error, "events could not be read");
                }
            }
        });
    }

    async fn pass_on(&self, control: &Control) -> Result<(), StoreError> {
        loop {
            let after = *self.last.borrow();
            let page = read_after(&control.store, after).await?;
            let Some(newest) = page.last().map(|event| event.seq) else {
                return Ok(());
            };
            for event in page {
                match event.kind {
                    EventKind::AccessRevoked => self.revocations.send_modify(|count| *count += 1),
                    EventKind::FreezeChanged => freezes::apply_stored(control).await?,
                    EventKind::NodeChanged => nodes::apply_change(control, &event).await?,
                    // Nobody waits for a beginning.
                    EventKind::ProposalCreated
                    | EventKind::ProposalApproved
                    | EventKind::ProposalStarted
                    | EventKind::NotificationFailed => {}
                    _ => control.waiters.wake(&event),
                }
                // Nobody listening is fine.
                let _ = self.live.send(Arc::new(event));
            }
            self.last.send_replace(newest);
        }
    }

    pub fn revocations(&self) -> watch::Receiver<u64> {
        self.revocations.subscribe()
    }

    pub fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// Everything after event `after`, or from now on.
    pub fn subscribe(&self, control: &Control, after: Option<u64>) -> Subscription {
        let live = self.live.subscribe();
        let seen = after.unwrap_or_else(|| self.last());
        Subscription {
            store: control.store.clone(),
            live,
            seen,
            gap: after.is_some(),
            page: Vec::new(),
        }
    }
}

async fn read_after(store: &Store, after: u64) -> Result<Vec<StoredEvent>, StoreError> {
    store
        .read(move |tx| Box::pin(events::list_after(tx, after, PAGE)))
        .await
}

/// One listener's place in the stream: every event once, in order, whatever it missed.
pub struct Subscription {
    store: Store,
    live: broadcast::Receiver<Arc<StoredEvent>>,
    seen: u64,
    /// Whether the table may hold events that were not passed on to us.
    gap: bool,
    /// What was read from the table and not given out yet, newest first.
    page: Vec<StoredEvent>,
}

impl Subscription {
    /// The next event. `None` when the server stops.
    pub async fn next(&mut self) -> Result<Option<Arc<StoredEvent>>, StoreError> {
        loop {
            if let Some(event) = self.page.pop() {
                self.seen = event.seq;
                return Ok(Some(Arc::new(event)));
            }
            if self.gap {
                // Boxed: an idle listener keeps no room for it.
                self.page = Box::pin(read_after(&self.store, self.seen)).await?;
                self.page.reverse();
                self.gap = !self.page.is_empty();
                if self.gap {
                    continue;
                }
                // Whoever has seen more than there is comes from before a backup was restored.
                let last = Box::pin(self.store.read(|tx| Box::pin(events::last(tx)))).await?;
                self.seen = self.seen.min(last);
            }
            match self.live.recv().await {
                Ok(event) if event.seq <= self.seen => {}
                Ok(event) => {
                    self.seen = event.seq;
                    return Ok(Some(event));
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.gap = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }
}
