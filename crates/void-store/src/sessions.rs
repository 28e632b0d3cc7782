//! The table `sessions`: the owner's browsers. Only the SHA-256 of a cookie is ever stored.

use void_domain::digests::Digest;
use void_domain::ids::SessionId;
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
}

macro_rules! columns {
    () => {
        "id, hash, created_at, authenticated_at, expires_at, ended_at"
    };
}

pub async fn insert(tx: &mut Tx, session: &Session) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO sessions (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6)"
    );
    let row = values![
        session.id.to_string(),
        session.hash,
        session.created_at,
        session.authenticated_at,
        session.expires_at,
        session.ended_at,
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
    tx.one("sessions", sql, values![hash, now])
        .await?
        .as_ref()
        .map(session)
        .transpose()
}

pub async fn end(tx: &mut Tx, id: SessionId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

fn session(row: &Row) -> Result<Session, StoreError> {
    Ok(Session {
        id: row.parsed(0, |text| text.parse().ok())?,
        hash: row.parsed(1, |text| text.parse().ok())?,
        created_at: row.time(2)?,
        authenticated_at: row.time(3)?,
        expires_at: row.time(4)?,
        ended_at: row.opt_time(5)?,
    })
}
