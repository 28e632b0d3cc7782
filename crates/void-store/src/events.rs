//! The record as listeners hear it: entries that have an audience, in the order of their commits, because the writer holds
//! the numbers from the first use case of a batch to its commit.

use void_domain::budgets::EVENT_PAGE_BYTES_MAX;
use void_domain::events::{Audience, EventId, EventKind};
use void_domain::time::Timestamp;
use void_domain::told::{Payload, told};

use crate::errors::StoreError;
use crate::facts;
use crate::heads::{self, Heads};
use crate::tx::Tx;
use crate::values::Row;

pub use crate::heads::renumber;

/// An event as it is sent on: read and written out once, for whoever hears it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    pub seq: u64,
    /// Where a listener goes on after it.
    pub id: EventId,
    pub at: Timestamp,
    pub kind: EventKind,
    pub audience: Audience,
    pub payload: Payload,
    /// The payload as one line.
    pub json: String,
}

/// A stretch of the stream, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// Those that somebody is told and that this version understands.
    pub events: Vec<StoredEvent>,
    /// The number of the newest entry that was read; `None` if there was none.
    pub read_to: Option<u64>,
    /// How the record stood then.
    pub heads: Heads,
}

/// What was committed after the entry `after`. Rows beyond the head are nobody's.
pub async fn page_after(tx: &mut Tx, after: u64, limit: u32) -> Result<EventPage, StoreError> {
    page_up_to(tx, after, limit, EVENT_PAGE_BYTES_MAX).await
}

async fn page_up_to(
    tx: &mut Tx,
    after: u64,
    limit: u32,
    bytes_max: usize,
) -> Result<EventPage, StoreError> {
    let heads = heads::load(tx).await?;
    if after >= heads.audit_seq {
        return Ok(EventPage {
            events: Vec::new(),
            read_to: None,
            heads,
        });
    }
    let rows = facts::page_up_to(tx, after, limit, bytes_max).await?;
    let read_to = rows.last().map(|row| row.count("seq")).transpose()?;
    let stored = |row: &Row| stored(row, heads.numbered_from);
    Ok(EventPage {
        events: rows.iter().filter_map(stored).collect(),
        read_to,
        heads,
    })
}

/// All of them up to a number, however long they are, and without the place to go on from.
pub async fn list_after(
    tx: &mut Tx,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let page = page_up_to(tx, after, limit, usize::MAX).await?;
    Ok(page.events)
}

/// How the record stands: its newest entry, and which numbers a listener may go on from.
pub async fn standing(tx: &mut Tx) -> Result<Heads, StoreError> {
    heads::load(tx).await
}

/// `None`: nobody is told of it, or it cannot be read. A damaged entry holds up no listener; a walk names it.
fn stored(row: &Row, numbered_from: u64) -> Option<StoredEvent> {
    let fact = match facts::entry(row) {
        Ok(fact) => fact,
        Err(error) => {
            tracing::error!(%error, "an entry of the record is told to nobody");
            return None;
        }
    };
    match told(&fact) {
        Ok(Some(event)) => Some(StoredEvent {
            seq: event.seq,
            id: EventId::new(event.seq, numbered_from),
            at: event.at,
            kind: event.kind,
            audience: event.audience,
            json: event.payload.to_json(),
            payload: event.payload,
        }),
        Ok(None) => None,
        Err(error) => {
            tracing::error!(%error, "an entry of the record is told to nobody");
            None
        }
    }
}
