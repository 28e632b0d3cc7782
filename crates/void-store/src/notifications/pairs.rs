//! The tables `notification_codes` and `notification_pairs`: which accounts are the owner's.

use void_domain::digests::Digest;
use void_domain::notifications::{Channel, Target};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::quarantine::{self, Kind};
use crate::queries::Select;
use crate::tx::Tx;
use crate::values::{Row, values};

const PAIRS_MAX: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub target: Target,
    /// What the account calls itself; shown, never believed.
    pub name: String,
    pub paired_at: Timestamp,
}

pub async fn insert_code(
    tx: &mut Tx,
    hash: Digest,
    channel: Channel,
    at: Timestamp,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO notification_codes (hash, channel, created_at, expires_at) VALUES ($1, $2, $3, $4)";
    tx.execute(sql, values![hash, channel.as_str(), at, expires_at])
        .await?;
    tx.execute(
        "DELETE FROM notification_codes WHERE expires_at < $1",
        values![at],
    )
    .await?;
    Ok(())
}

/// Uses a code up. `false`: there is no such code, it was used, or its time is over.
pub async fn use_code(
    tx: &mut Tx,
    hash: Digest,
    channel: Channel,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE notification_codes SET used_at = $3 WHERE hash = $1 AND channel = $2 AND used_at IS NULL AND expires_at > $3";
    Ok(tx.execute(sql, values![hash, channel.as_str(), at]).await? == 1)
}

pub async fn save(tx: &mut Tx, pair: &Pair) -> Result<(), StoreError> {
    let sql = "INSERT INTO notification_pairs (target, name, paired_at, ended_at) VALUES ($1, $2, $3, NULL) \
        ON CONFLICT (target) DO UPDATE SET name = $2, paired_at = $3, ended_at = NULL";
    let values = values![pair.target.to_string(), &pair.name, pair.paired_at];
    tx.execute(sql, values).await?;
    quarantine::lift(tx, Kind::Pair, &pair.target.to_string()).await?;
    Ok(())
}

/// `false`: it was not paired.
pub async fn end(tx: &mut Tx, target: &Target, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE notification_pairs SET ended_at = $2 WHERE target = $1 AND ended_at IS NULL";
    quarantine::lift(tx, Kind::Pair, &target.to_string()).await?;
    Ok(tx.execute(sql, values![target.to_string(), at]).await? == 1)
}

/// Without those in quarantine: no proposal is shown there, nothing from there is heard.
pub async fn list(tx: &mut Tx) -> Result<Vec<Pair>, StoreError> {
    let is_free = "NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.kind = 'pair' AND q.id = target)";
    read(tx, live().only(is_free)).await
}

/// With those in quarantine, for the one message that says why they are.
pub async fn list_with_quarantined(tx: &mut Tx) -> Result<Vec<Pair>, StoreError> {
    read(tx, live()).await
}

fn live<'a>() -> Select<'a> {
    let pairs = "SELECT target, name, paired_at FROM notification_pairs";
    Select::new("notification_pairs", pairs).only("ended_at IS NULL")
}

async fn read(tx: &mut Tx, pairs: Select<'_>) -> Result<Vec<Pair>, StoreError> {
    let pair = |row: &Row| {
        Ok(Some(Pair {
            target: row.parsed("target", Target::parse)?,
            name: row.string("name")?,
            paired_at: row.time("paired_at")?,
        }))
    };
    pairs.order_by("paired_at").all(tx, PAIRS_MAX, pair).await
}
