//! The table `passwords`: one row at most, the owner's, as a PHC string.

use void_domain::secrets::Secret;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::quarantine::{self, Kind};
use crate::tx::Tx;
use crate::values::values;

pub async fn set(tx: &mut Tx, hash: &Secret, at: Timestamp) -> Result<(), StoreError> {
    let sql = "INSERT INTO passwords (id, hash, set_at) VALUES (1, $1, $2) \
        ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at";
    tx.execute(sql, values![hash.expose(), at]).await?;
    quarantine::lift(tx, Kind::Password, "owner").await?;
    Ok(())
}

/// `None` also while it is in quarantine.
pub async fn find(tx: &mut Tx) -> Result<Option<Secret>, StoreError> {
    let sql = "SELECT hash FROM passwords WHERE NOT EXISTS \
        (SELECT 1 FROM quarantine q WHERE q.kind = 'password')";
    let row = tx.one("passwords", sql, values![]).await?;
    row.map(|row| row.text("hash").map(Secret::new)).transpose()
}

/// `false`: there was none.
pub async fn remove(tx: &mut Tx) -> Result<bool, StoreError> {
    quarantine::lift(tx, Kind::Password, "owner").await?;
    Ok(tx.execute("DELETE FROM passwords", values![]).await? == 1)
}
