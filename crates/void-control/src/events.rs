//! The hub: reads each committed event once and passes it to everyone who listens here. A listener
//! that falls behind reads the gap from the table; nobody is waited for.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use void_domain::events::EventKind;
use void_store::events;
use void_store::events::EventPage;
pub use void_store::events::StoredEvent;
use void_store::{Store, StoreError};

use crate::control::Control;
use crate::{freezes, nodes};

/// How far a listener may fall behind before it reads from the table again.
const BUFFERED: usize = 256;
const PAGE: u32 = 200;
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

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
                // What was committed is told, also when the next commit is long in coming.
                while let Err(error) = control.hub.pass_on(&control).await {
                    tracing::error!(%error, "events could not be read; it is tried again");
                    tokio::select! {
                        () = tokio::time::sleep(READ_AGAIN_AFTER) => {}
                        _ = stopping.wait_for(|stop| *stop) => return,
                    }
                }
            }
        });
    }

    async fn pass_on(&self, control: &Control) -> Result<(), StoreError> {
        loop {
            let after = *self.last.borrow();
            let page = read_after(&control.store, after).await?;
            let Some(newest) = page.read_to else {
                return Ok(());
            };
            // What is stored is at least as new as all of the page: once is enough.
            let mut is_freeze_applied = false;
            for event in page.events {
                match event.kind {
                    EventKind::AccessRevoked => self.revocations.send_modify(|count| *count += 1),
                    EventKind::FreezeChanged if is_freeze_applied => {}
                    EventKind::FreezeChanged => {
                        freezes::apply_stored(control).await?;
                        is_freeze_applied = true;
                    }
                    EventKind::NodeChanged => nodes::apply_change(control, &event).await?,
                    // Nobody waits for a beginning.
                    EventKind::ProposalCreated
                    | EventKind::ProposalJoined
                    | EventKind::ProposalApproved
                    | EventKind::ProposalStarted
                    | EventKind::NotificationFailed
                    | EventKind::MuteChanged => {}
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
        let joined_at = self.last();
        Subscription {
            store: control.store.clone(),
            live,
            joined_at,
            seen: after.unwrap_or(joined_at),
            gap: after.is_some(),
            page: Vec::new(),
        }
    }
}

async fn read_after(store: &Store, after: u64) -> Result<EventPage, StoreError> {
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
