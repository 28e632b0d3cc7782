//! The table `mutes`: what the owner is not told for a time. One holds for a subject; what is over stays
//! for as long as deliveries do.

use void_domain::ids::MuteId;
use void_domain::mutes::{Mute, Muted, RUNNING_MAX};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, values};

pub async fn insert(tx: &mut Tx, mute: &Mute) -> Result<(), StoreError> {
    let sql = "INSERT INTO mutes (id, subject, reason, muted_by, at, until_at) VALUES ($1, $2, $3, $4, $5, $6)";
    let row = values![
        mute.id.to_string(),
        mute.subject.to_string(),
        &mute.reason,
        &mute.by,
        mute.at,
        mute.until,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Those that were not ended, the newest first. Their time may be over.
pub async fn list(tx: &mut Tx) -> Result<Vec<Mute>, StoreError> {
    let sql = "SELECT id, subject, reason, muted_by, at, until_at FROM mutes WHERE ended_at IS NULL \
        ORDER BY at DESC, id DESC LIMIT $1";
    tx.read("mutes", sql, values![int(RUNNING_MAX)], mute).await
}

pub async fn count(tx: &mut Tx) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM mutes WHERE ended_at IS NULL";
    tx.count("mutes", sql, &[]).await
}

/// `false`: it is over already, or never was.
pub async fn end(tx: &mut Tx, id: MuteId, at: Timestamp, by: &str) -> Result<bool, StoreError> {
    let sql = "UPDATE mutes SET ended_at = $2, ended_by = $3 WHERE id = $1 AND ended_at IS NULL";
    Ok(tx.execute(sql, values![id.to_string(), at, by]).await? == 1)
}

fn mute(row: &Row) -> Result<Mute, StoreError> {
    Ok(Mute {
        id: row.parse("id")?,
        subject: row.parsed("subject", Muted::parse)?,
        reason: row.string("reason")?,
        by: row.string("muted_by")?,
        at: row.time("at")?,
        until: row.time("until_at")?,
    })
}
