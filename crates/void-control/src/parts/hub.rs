//! The hub: passes each committed event to everyone who listens here. A listener that falls behind reads the
//! gap from the record; nobody is waited for.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};
use void_domain::events::EventId;
pub use void_store::events::StoredEvent;
use void_store::events::{self, EventPage};
use void_store::{Heads, Newest, Store, StoreError};

/// How far a listener may fall behind before it reads from the record again.
const BUFFERED: usize = 256;

const PAGE: u32 = 200;

pub struct Hub {
    live: broadcast::Sender<Live>,
    /// The newest entry up to which everything was passed on.
    last: watch::Sender<Newest>,
    /// Rises when a credential was withdrawn.
    revocations: watch::Sender<u64>,
}

/// What listeners are handed as it comes.
#[derive(Debug, Clone)]
enum Live {
    Event(Arc<StoredEvent>),
    /// The record went back: what follows has numbers that were given out before.
    Renumbered,
}

impl Hub {
    pub(crate) async fn new(store: &Store) -> Result<Self, StoreError> {
        let heads = store.read(|tx| Box::pin(events::standing(tx))).await?;
        Ok(Self {
            live: broadcast::Sender::new(BUFFERED),
            last: watch::Sender::new(Newest {
                numbered_from: heads.numbered_from,
                seq: heads.audit_seq,
            }),
            revocations: watch::Sender::new(0),
        })
    }

    /// Passes one event on. Nobody listening is fine.
    pub(crate) fn tell(&self, event: StoredEvent) {
        let _ = self.live.send(Live::Event(Arc::new(event)));
    }

    /// A credential was withdrawn.
    pub(crate) fn note_revocation(&self) {
        self.revocations.send_modify(|count| *count += 1);
    }

    /// Everything up to this entry was passed on.
    pub(crate) fn passed(&self, seq: u64) {
        self.last.send_modify(|last| last.seq = seq);
    }

    /// Whether the record that was read is numbered anew; if so, what is told next begins where it does.
    pub(crate) fn follow(&self, heads: &Heads) -> bool {
        let is_renumbered = self.last.borrow().numbered_from != heads.numbered_from;
        if is_renumbered {
            self.last.send_replace(Newest {
                numbered_from: heads.numbered_from,
                seq: heads.told_after,
            });
            let _ = self.live.send(Live::Renumbered);
        }
        is_renumbered
    }

    pub fn revocations(&self) -> watch::Receiver<u64> {
        self.revocations.subscribe()
    }

    pub fn last(&self) -> u64 {
        self.last.borrow().seq
    }

    /// Whether this is a place in the record that is there.
    pub fn has_passed(&self, id: EventId) -> bool {
        let last = *self.last.borrow();
        id.is_of(last.numbered_from) && id.seq <= last.seq
    }

    /// Where whoever comes now goes on from.
    pub fn last_id(&self) -> EventId {
        let last = *self.last.borrow();
        EventId::new(last.seq, last.numbered_from)
    }

    /// Everything after event `after`, or from now on.
    pub(crate) fn subscribe(&self, store: &Store, after: Option<EventId>) -> Subscription {
        let live = self.live.subscribe();
        let last = *self.last.borrow();
        let is_known = after.is_none_or(|after| after.is_of(last.numbered_from));
        Subscription {
            store: store.clone(),
            live,
            joined: last,
            seen: after.map_or(last.seq, |after| after.seq),
            numbered_from: is_known.then_some(last.numbered_from),
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

/// A listener came back after events that are no longer told, or with a number that is not one of this record: what it
/// knows may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The last one that it has heard.
    pub after: u64,
    /// The first one that it can still hear.
    pub next: u64,
    /// Where it goes on from.
    pub id: EventId,
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
    live: broadcast::Receiver<Live>,
    /// Where the hub was when this listener came.
    joined: Newest,
    /// The entry up to which it has heard everything.
    seen: u64,
    /// The numbering that `seen` counts in; `None`: one that is over.
    numbered_from: Option<u64>,
    /// Whether the record may hold events that were not passed on to us.
    gap: bool,
    /// What was read from the record and not given out yet, newest first.
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
                let page = Box::pin(read_after(&self.store, self.seen)).await?;
                if let Some(lost) = self.lost(&page.heads) {
                    return Ok(Some(Told::Lost(lost)));
                }
                self.page = page.events;
                self.page.reverse();
                match page.read_to {
                    // All of them were for nobody: there may be more behind them.
                    Some(read_to) if self.page.is_empty() => self.seen = read_to,
                    Some(_) => {}
                    None => self.gap = false,
                }
                continue;
            }
            match self.live.recv().await {
                Ok(Live::Event(event)) if event.seq <= self.seen => {}
                Ok(Live::Event(event)) => {
                    self.seen = event.seq;
                    return Ok(Some(Told::Event(event)));
                }
                Ok(Live::Renumbered) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.gap = true;
                }
                Err(broadcast::error::RecvError::Closed) => return Ok(None),
            }
        }
    }

    /// Whether it cannot go on after what it has seen: that is no longer told, and it goes on from the first that is; or it
    /// is no place in the record that is there, and it goes on from where it came.
    fn lost(&mut self, heads: &Heads) -> Option<Lost> {
        let is_same = self.numbered_from == Some(heads.numbered_from);
        let on_from = if is_same && self.seen < heads.told_after {
            heads.told_after
        } else if is_same && self.seen <= heads.audit_seq {
            return None;
        } else if self.joined.numbered_from == heads.numbered_from {
            // What happened since it came, not since this look.
            self.joined.seq.clamp(heads.told_after, heads.audit_seq)
        } else {
            heads.told_after
        };
        self.numbered_from = Some(heads.numbered_from);
        let after = std::mem::replace(&mut self.seen, on_from);
        Some(Lost {
            after,
            next: on_from + 1,
            id: EventId::new(on_from, heads.numbered_from),
        })
    }
}
