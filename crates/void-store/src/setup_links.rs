//! The table `setup_links`: one-time codes that open a session. Only their SHA-256 is ever stored.

use void_domain::digests::Digest;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

pub async fn insert(
    tx: &mut Tx,
    hash: Digest,
    at: Timestamp,
    expires_at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO setup_links (hash, created_at, expires_at) VALUES ($1, $2, $3)";
    tx.execute(sql, values![hash, at, expires_at]).await?;
    // Old ones are of no use to anybody.
    tx.execute("DELETE FROM setup_links WHERE expires_at < $1", values![at])
        .await?;
    Ok(())
}

/// Uses a code up. `false`: there is no such code, it was used, or its time is over.
pub async fn redeem(tx: &mut Tx, hash: Digest, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE setup_links SET used_at = $2 WHERE hash = $1 AND used_at IS NULL AND expires_at > $2";
    Ok(tx.execute(sql, values![hash, at]).await? == 1)
}

/// Ends every code that nobody has used.
pub async fn void_unused(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "DELETE FROM setup_links WHERE used_at IS NULL";
    tx.execute(sql, values![]).await.map(|_| ())
}
