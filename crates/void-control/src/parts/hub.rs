//! The hub: passes each committed event to everyone who listens here. A listener that falls behind reads the
//! gap from the table; nobody is waited for.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};
pub use void_store::events::StoredEvent;
use void_store::events::{self, EventPage};
use void_store::{Store, StoreError};

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

    /// Passes one event on. Nobody listening is fine.
    pub(crate) fn tell(&self, event: StoredEvent) {
        let _ = self.live.send(Arc::new(event));
    }

    /// A credential was withdrawn.
    pub(crate) fn note_revocation(&self) {
        self.revocations.send_modify(|count| *count += 1);
    }

    /// Everything up to this event was passed on.
    pub(crate) fn passed(&self, newest: u64) {
        self.last.send_replace(newest);
    }

    pub fn revocations(&self) -> watch::Receiver<u64> {
        self.revocations.subscribe()
    }

    pub fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// Everything after event `after`, or from now on.
    pub(crate) fn subscribe(&self, store: &Store, after: Option<u64>) -> Subscription {
        let live = self.live.subscribe();
        let joined_at = self.last();
        Subscription {
            store: store.clone(),
            live,
            joined_at,
            seen: after.unwrap_or(joined_at),
            gap: after.is_some(),
            page: Vec::new(),
        }
    }
}

pub(crate) async fn read_after(store: &Store, after: u64) -> Result<EventPage, StoreError> {
    store
        .read(move |tx| Box::pin(events::page_after(tx, after, PAGE)))
        .await
}

/// A listener came back after events that are no longer kept: what it knows may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The last one that it has heard.
    pub after: u64,
    /// The first one that it can still hear.
    pub next: u64,
}

/// What a listener is told.
#[derive(Debug)]
pub enum Told {
    Event(Arc<StoredEvent>),
    /// At once, and before what comes after it.
    Lost(Lost),
}

/// One listener's place in the stream: every event once, in order, whatever it missed.
pub struct Subscription {
    store: Store,
    live: broadcast::Receiver<Arc<StoredEvent>>,
    /// The newest event of the hub when this listener came.
    joined_at: u64,
    seen: u64,
    /// Whether the table may hold events that were not passed on to us.
    gap: bool,
    /// What was read from the table and not given out yet, newest first.
    page: Vec<StoredEvent>,
}

impl Subscription {
    /// The next event, for whoever does not mind what is gone. `None` when the server stops.
    pub async fn next(&mut self) -> Result<Option<Arc<StoredEvent>>, StoreError> {
        loop {
            match self.next_told().await? {
                Some(Told::Event(event)) => return Ok(Some(event)),
                Some(Told::Lost(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// What is next. `None` when the server stops.
    pub async fn next_told(&mut self) -> Result<Option<Told>, StoreError> {
        loop {
            if let Some(event) = self.page.pop() {
                self.seen = event.seq;
                return Ok(Some(Told::Event(Arc::new(event))));
            }
            if self.gap {
                // Boxed: an idle listener keeps no room for it.
                let oldest = Box::pin(self.store.read(|tx| Box::pin(events::oldest(tx)))).await?;
                if let Some(next) = oldest.filter(|next| self.seen + 1 < *next) {
                    let after = std::mem::replace(&mut self.seen, next - 1);
                    return Ok(Some(Told::Lost(Lost { after, next })));
                }
                let page = Box::pin(read_after(&self.store, self.seen)).await?;
                self.page = page.events;
                self.page.reverse();
                if let Some(read_to) = page.read_to {
                    if self.page.is_empty() {
                        // All of them were passed over: there may be more behind them.
                        self.seen = read_to;
                    }
                    continue;
                }
                // Whoever has seen more than there is comes from before a backup was restored: it hears what
                // happened since it came, not since this look.
                let last = Box::pin(self.store.read(|tx| Box::pin(events::last(tx)))).await?;
                if self.seen > last {
                    self.seen = self.joined_at.min(last);
                    continue;
                }
                self.gap = false;
            }
            match self.live.recv().await {
                Ok(event) if event.seq <= self.seen => {}
                Ok(event) => {
                    self.seen = event.seq;
                    return Ok(Some(Told::Event(event)));
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.gap = true,
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }
}
