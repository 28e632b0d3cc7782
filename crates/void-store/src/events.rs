//! The table `events`: numbered in commit order, because the writer holds the numbers from the
//! first use case of a batch to its commit.

use void_domain::budgets::EVENT_PAGE_BYTES_MAX;
use void_domain::events::{Audience, EventKind, NewEvent};
use void_domain::ids::RequesterId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, values};

/// An event as it is sent on: the payload stays the text that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: EventKind,
    pub audience: Audience,
    pub payload: String,
}

/// A stretch of the stream, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// Those that this version understands.
    pub events: Vec<StoredEvent>,
    /// The number of the newest row that was read; `None` if there was none. It may be higher than
    /// the newest event's: a newer instance beside this one writes kinds that this one passes over.
    pub read_to: Option<u64>,
}

/// The number is ours as soon as we hold it: a foreign row in its place gives way.
const INSERT: &str = "INSERT INTO events (seq, at, kind, audience, payload) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT (seq) DO UPDATE SET at = excluded.at, kind = excluded.kind, \
     audience = excluded.audience, payload = excluded.payload";

pub async fn append(tx: &mut Tx, at: Timestamp, event: &NewEvent) -> Result<u64, StoreError> {
    let heads = tx.heads()?;
    heads.event_seq += 1;
    let seq = heads.event_seq;
    let row = values![
        int(seq),
        at,
        event.kind.as_str(),
        audience_text(event.audience),
        event.payload.to_string()
    ];
    tx.execute(INSERT, row).await?;
    Ok(seq)
}

/// What was committed after the event `after`. Rows beyond the stored number are nobody's.
pub async fn page_after(tx: &mut Tx, after: u64, limit: u32) -> Result<EventPage, StoreError> {
    page_up_to(tx, after, limit, EVENT_PAGE_BYTES_MAX).await
}

async fn page_up_to(
    tx: &mut Tx,
    after: u64,
    limit: u32,
    bytes_max: usize,
) -> Result<EventPage, StoreError> {
    let sql = "SELECT seq, at, kind, audience, payload FROM events WHERE seq > $1 \
               AND seq <= (SELECT event_seq FROM heads WHERE id = 1) ORDER BY seq LIMIT $2";
    let values = values![int(after), i64::from(limit)];
    let listing = tx.list_up_to("events", sql, values, bytes_max);
    let rows = listing.await?.rows;
    let read_to = rows.last().map(|row| row.count(0)).transpose()?;
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        events.extend(stored(row)?);
    }
    Ok(EventPage { events, read_to })
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

/// The first event that is still kept; `None` if there is none at all.
pub async fn oldest(tx: &mut Tx) -> Result<Option<u64>, StoreError> {
    let row = tx.one("events", "SELECT MIN(seq) FROM events", &[]).await?;
    let seq = row.map_or(Ok(None), |row| row.opt_int(0))?;
    Ok(seq.and_then(|seq| u64::try_from(seq).ok()))
}

pub async fn last(tx: &mut Tx) -> Result<u64, StoreError> {
    Ok(crate::heads::load(tx).await?.event_seq)
}

/// `None`: a kind or an audience of a newer version. Nobody is told what nobody here understands.
fn stored(row: &Row) -> Result<Option<StoredEvent>, StoreError> {
    let (kind, audience) = (row.text(2)?, row.text(3)?);
    let (Some(kind), Some(audience)) = (EventKind::parse(kind), parse_audience(audience)) else {
        tracing::debug!(kind, "an event of a newer version is passed over");
        return Ok(None);
    };
    Ok(Some(StoredEvent {
        seq: row.count(0)?,
        at: row.time(1)?,
        kind,
        audience,
        payload: row.text(4)?.to_owned(),
    }))
}

fn audience_text(audience: Audience) -> String {
    match audience {
        Audience::Everyone => "everyone".to_owned(),
        Audience::People => "people".to_owned(),
        Audience::OwnerOnly => "owner".to_owned(),
        Audience::Requester(id) => id.to_string(),
    }
}

fn parse_audience(text: &str) -> Option<Audience> {
    match text {
        "everyone" => Some(Audience::Everyone),
        "people" => Some(Audience::People),
        "owner" => Some(Audience::OwnerOnly),
        id => id.parse::<RequesterId>().ok().map(Audience::Requester),
    }
}
