//! The table `passkeys`: public keys of the owner's authenticators.

use void_domain::ids::PasskeyId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::quarantine::{self, Kind};
use crate::tx::Tx;
use crate::values::{Row, int, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    pub id: PasskeyId,
    pub name: String,
    /// The name of the site that it was made for.
    pub relying_party: String,
    /// What authenticators call the owner.
    pub user_handle: String,
    /// As the authenticator says it, base64url.
    pub credential_id: String,
    /// The public key and what is known of it, as JSON.
    pub credential: String,
    pub counter: u64,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

macro_rules! columns {
    () => {
        "id, name, relying_party, user_handle, credential_id, credential, counter, created_at, last_used_at"
    };
}

/// One that is registered anew takes the place of its twin in quarantine.
pub async fn insert(tx: &mut Tx, passkey: &Passkey) -> Result<(), StoreError> {
    let twin = "DELETE FROM quarantine WHERE kind = 'passkey' AND id IN \
        (SELECT id FROM passkeys WHERE credential_id = $1)";
    if tx.execute(twin, values![&passkey.credential_id]).await? > 0 {
        let sql = "DELETE FROM passkeys WHERE credential_id = $1";
        tx.execute(sql, values![&passkey.credential_id]).await?;
    }
    let sql = concat!(
        "INSERT INTO passkeys (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    );
    let row = values![
        passkey.id.to_string(),
        &passkey.name,
        &passkey.relying_party,
        &passkey.user_handle,
        &passkey.credential_id,
        &passkey.credential,
        int(passkey.counter),
        passkey.created_at,
        passkey.last_used_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Newest first; without those in quarantine.
pub async fn list(tx: &mut Tx, limit: u32) -> Result<Vec<Passkey>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM passkeys WHERE NOT EXISTS \
         (SELECT 1 FROM quarantine q WHERE q.kind = 'passkey' AND q.id = passkeys.id) \
         ORDER BY id DESC LIMIT $1"
    );
    tx.read("passkeys", sql, values![i64::from(limit)], passkey)
        .await
}

/// Notes a signature. `false`: it was removed, or its counter has come further than this.
pub async fn note_use(
    tx: &mut Tx,
    id: PasskeyId,
    credential: &str,
    counter: u64,
    at: Timestamp,
) -> Result<bool, StoreError> {
    // Authenticators that do not count say 0 every time.
    let sql = "UPDATE passkeys SET credential = $2, counter = $3, last_used_at = $4 \
        WHERE id = $1 AND (counter < $3 OR (counter = 0 AND $3 = 0)) AND NOT EXISTS \
        (SELECT 1 FROM quarantine q WHERE q.kind = 'passkey' AND q.id = passkeys.id)";
    let row = values![id.to_string(), credential, int(counter), at];
    Ok(tx.execute(sql, row).await? == 1)
}

/// `false`: there is no such passkey.
pub async fn remove(tx: &mut Tx, id: PasskeyId) -> Result<bool, StoreError> {
    let sql = "DELETE FROM passkeys WHERE id = $1";
    quarantine::lift(tx, Kind::Passkey, &id.to_string()).await?;
    Ok(tx.execute(sql, values![id.to_string()]).await? == 1)
}

fn passkey(row: &Row) -> Result<Passkey, StoreError> {
    Ok(Passkey {
        id: row.parse("id")?,
        name: row.string("name")?,
        relying_party: row.string("relying_party")?,
        user_handle: row.string("user_handle")?,
        credential_id: row.string("credential_id")?,
        credential: row.string("credential")?,
        counter: row.count("counter")?,
        created_at: row.time("created_at")?,
        last_used_at: row.opt_time("last_used_at")?,
    })
}
