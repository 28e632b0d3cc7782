//! The table `passwords`: one row at most, the owner's, as a PHC string.

use void_domain::secrets::Secret;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

pub async fn set(tx: &mut Tx, hash: &Secret, at: Timestamp) -> Result<(), StoreError> {
    let sql = "INSERT INTO passwords (id, hash, set_at) VALUES (1, $1, $2) \
        ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at";
    tx.execute(sql, values![hash.expose(), at]).await?;
    Ok(())
}

pub async fn find(tx: &mut Tx) -> Result<Option<Secret>, StoreError> {
    let row = tx
        .one("passwords", "SELECT hash FROM passwords", values![])
        .await?;
    row.map(|row| row.text(0).map(Secret::new)).transpose()
}

/// `false`: there was none.
pub async fn remove(tx: &mut Tx) -> Result<bool, StoreError> {
    Ok(tx.execute("DELETE FROM passwords", values![]).await? == 1)
}
