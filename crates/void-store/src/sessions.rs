//! The table `sessions`: the owner's browsers. Only the SHA-256 of a cookie is ever stored.

use void_domain::digests::Digest;
use void_domain::ids::SessionId;
use void_domain::sessions::Method;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub hash: Digest,
    pub created_at: Timestamp,
    /// When the person last proved who they are.
    pub authenticated_at: Timestamp,
    pub expires_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// By which proof it was opened.
    pub method: Method,
    pub device: String,
    pub last_seen_at: Timestamp,
}

macro_rules! columns {
    () => {
        "id, hash, created_at, authenticated_at, expires_at, ended_at, method, device, last_seen_at"
    };
}

pub async fn insert(tx: &mut Tx, session: &Session) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO sessions (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    );
    let row = values![
        session.id.to_string(),
        session.hash,
        session.created_at,
        session.authenticated_at,
        session.expires_at,
        session.ended_at,
        session.method.as_str(),
        &session.device,
        session.last_seen_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// The session with this hash, if it is neither ended nor over.
pub async fn find_live(
    tx: &mut Tx,
    hash: Digest,
    now: Timestamp,
) -> Result<Option<Session>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM sessions WHERE hash = $1 AND ended_at IS NULL AND expires_at > $2"
    );
    tx.find("sessions", sql, values![hash, now], session).await
}

/// Those that are neither ended nor over, newest first.
pub async fn list_live(
    tx: &mut Tx,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Session>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM sessions WHERE ended_at IS NULL AND expires_at > $1 ORDER BY id DESC LIMIT $2"
    );
    tx.read("sessions", sql, values![now, i64::from(limit)], session)
        .await
}

/// Notes that it was used, and with that when it is over. `false`: it is over, or somebody else noted
/// a later use.
pub async fn slide(
    tx: &mut Tx,
    id: SessionId,
    now: Timestamp,
    expires_at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE sessions SET last_seen_at = $2, expires_at = $3 \
        WHERE id = $1 AND ended_at IS NULL AND expires_at > $2 AND last_seen_at < $2";
    let changed = tx
        .execute(sql, values![id.to_string(), now, expires_at])
        .await?;
    Ok(changed == 1)
}

/// Notes that the person proved again who they are. `false`: it is over.
pub async fn authenticate(tx: &mut Tx, id: SessionId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE sessions SET authenticated_at = $2 \
        WHERE id = $1 AND ended_at IS NULL AND expires_at > $2";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// `false`: it had ended already.
pub async fn end(tx: &mut Tx, id: SessionId, at: Timestamp) -> Result<bool, StoreError> {
    let sql =
        "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL AND expires_at > $2";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// Ends all that are open but this one; how many those were.
pub async fn end_others(
    tx: &mut Tx,
    but: Option<SessionId>,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let sql =
        "UPDATE sessions SET ended_at = $2 WHERE id <> $1 AND ended_at IS NULL AND expires_at > $2";
    let but = but.map(|id| id.to_string()).unwrap_or_default();
    tx.execute(sql, values![but, at]).await
}

fn session(row: &Row) -> Result<Session, StoreError> {
    Ok(Session {
        id: row.parse("id")?,
        hash: row.parse("hash")?,
        created_at: row.time("created_at")?,
        authenticated_at: row.time("authenticated_at")?,
        expires_at: row.time("expires_at")?,
        ended_at: row.opt_time("ended_at")?,
        method: row.parsed("method", Method::parse)?,
        device: row.string("device")?,
        last_seen_at: row.time("last_seen_at")?,
    })
}
