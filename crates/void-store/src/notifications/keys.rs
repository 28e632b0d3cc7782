//! The table `notification_keys`: what a button stands for. Only the SHA-256 of a key is stored.

use void_domain::digests::Digest;
use void_domain::notifications::{About, Key, Meaning, Target};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, int, values};

pub async fn insert(tx: &mut Tx, key: &Key) -> Result<(), StoreError> {
    let sql = "INSERT INTO notification_keys (hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision, alert_id, question_id) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let (proposal, digest, alert, question) = match key.about {
        About::Nothing => (None, None, None, None),
        About::Proposal(id, digest) => (Some(id.to_string()), Some(digest), None, None),
        About::Alert(id) => (None, None, Some(id.to_string()), None),
        About::Question(id) => (None, None, None, Some(id.to_string())),
    };
    let row = values![
        key.hash,
        key.target.to_string(),
        proposal,
        digest,
        key.meaning.as_str(),
        key.created_at,
        key.expires_at,
        key.used_at,
        int(key.revision),
        alert,
        question,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find(tx: &mut Tx, hash: Digest) -> Result<Option<Key>, StoreError> {
    let sql = "SELECT hash, target, proposal_id, digest, meaning, created_at, expires_at, used_at, revision, alert_id, question_id \
        FROM notification_keys WHERE hash = $1";
    tx.find("notification_keys", sql, values![hash], key).await
}

/// Uses a key up. `false`: it was used before, or its time is over.
pub async fn use_up(tx: &mut Tx, hash: Digest, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE notification_keys SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
    Ok(tx.execute(sql, values![hash, at]).await? == 1)
}

/// Forgets keys that could do nothing any more.
pub async fn forget(tx: &mut Tx, expired_before: Timestamp) -> Result<u64, StoreError> {
    let sql = "DELETE FROM notification_keys WHERE expires_at < $1";
    tx.execute(sql, values![expired_before]).await
}

fn key(row: &Row) -> Result<Key, StoreError> {
    let about = match (
        row.opt_parse("proposal_id")?,
        row.opt_parse("digest")?,
        row.opt_parse("alert_id")?,
        row.opt_parse("question_id")?,
    ) {
        (None, None, None, None) => About::Nothing,
        (Some(proposal), Some(digest), None, None) => About::Proposal(proposal, digest),
        (None, None, Some(alert), None) => About::Alert(alert),
        (None, None, None, Some(question)) => About::Question(question),
        _ => return Err(row.corrupt("half of what it is about")),
    };
    Ok(Key {
        hash: row.parse("hash")?,
        target: row.parsed("target", Target::parse)?,
        about,
        meaning: row.parsed("meaning", Meaning::parse)?,
        created_at: row.time("created_at")?,
        expires_at: row.time("expires_at")?,
        used_at: row.opt_time("used_at")?,
        revision: row.count("revision")?,
    })
}
