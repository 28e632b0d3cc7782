//! The table `events`: numbered in commit order, because the writer holds the numbers from the
//! first use case of a batch to its commit.

use void_domain::events::{Audience, EventDraft, EventKind};
use void_domain::ids::TokenId;
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

const INSERT: &str =
    "INSERT INTO events (seq, at, kind, audience, payload) VALUES ($1, $2, $3, $4, $5)";

pub async fn append(tx: &mut Tx, at: Timestamp, event: &EventDraft) -> Result<u64, StoreError> {
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

pub async fn list_after(
    tx: &mut Tx,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql =
        "SELECT seq, at, kind, audience, payload FROM events WHERE seq > $1 ORDER BY seq LIMIT $2";
    let rows = tx
        .all("events", sql, values![int(after), i64::from(limit)])
        .await?;
    rows.iter().map(stored).collect()
}

pub async fn last(tx: &mut Tx) -> Result<u64, StoreError> {
    Ok(crate::heads::load(tx).await?.event_seq)
}

fn stored(row: &Row) -> Result<StoredEvent, StoreError> {
    Ok(StoredEvent {
        seq: row.count(0)?,
        at: row.time(1)?,
        kind: row.parsed(2, EventKind::parse)?,
        audience: row.parsed(3, parse_audience)?,
        payload: row.text(4)?.to_owned(),
    })
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
        id => id.parse::<TokenId>().ok().map(Audience::Requester),
    }
}
