//! The table `tokens`: who holds a bearer token. Only the SHA-256 of a token is ever stored.

use void_domain::actors::ActorKind;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::TokenId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::quarantine::{self, Kind};
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    /// Agent, viewer or node.
    pub kind: ActorKind,
    pub name: String,
    pub hash: Digest,
    pub capabilities: Capabilities,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// An agent that lives here; nobody holds the text of its token.
    pub resident: bool,
}

macro_rules! columns {
    () => {
        "id, kind, name, hash, capabilities, created_at, last_used_at, revoked_at, resident"
    };
}

pub async fn insert(tx: &mut Tx, token: &Token) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO tokens (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    );
    let row = values![
        token.id.to_string(),
        token.kind.as_str(),
        &token.name,
        token.hash,
        serde_json::to_string(&token.capabilities).unwrap_or_default(),
        token.created_at,
        token.last_used_at,
        token.revoked_at,
        i64::from(token.resident),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// The live token with this hash, unless it is in quarantine.
pub async fn find_live(tx: &mut Tx, hash: Digest) -> Result<Option<Token>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM tokens WHERE hash = $1 AND revoked_at IS NULL AND NOT EXISTS \
         (SELECT 1 FROM quarantine q WHERE q.kind = 'token' AND q.id = tokens.id)"
    );
    tx.one("tokens", sql, values![hash])
        .await?
        .as_ref()
        .map(token)
        .transpose()
}

pub async fn find(tx: &mut Tx, id: TokenId) -> Result<Option<Token>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM tokens WHERE id = $1");
    tx.one("tokens", sql, values![id.to_string()])
        .await?
        .as_ref()
        .map(token)
        .transpose()
}

pub async fn find_live_named(
    tx: &mut Tx,
    kind: ActorKind,
    name: &str,
) -> Result<Option<Token>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM tokens WHERE kind = $1 AND name = $2 AND revoked_at IS NULL"
    );
    tx.one("tokens", sql, values![kind.as_str(), name])
        .await?
        .as_ref()
        .map(token)
        .transpose()
}

/// Gives a live identity a token that somebody holds.
pub async fn hand_out(
    tx: &mut Tx,
    id: TokenId,
    hash: Digest,
    capabilities: &Capabilities,
) -> Result<(), StoreError> {
    let sql = "UPDATE tokens SET hash = $2, capabilities = $3, resident = 0 \
        WHERE id = $1 AND revoked_at IS NULL";
    let capabilities = serde_json::to_string(capabilities).unwrap_or_default();
    tx.execute(sql, values![id.to_string(), hash, capabilities])
        .await?;
    Ok(())
}

/// The newest token of that name, live or not.
pub async fn newest_named(
    tx: &mut Tx,
    kind: ActorKind,
    name: &str,
) -> Result<Option<Token>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM tokens WHERE kind = $1 AND name = $2 ORDER BY id DESC LIMIT 1"
    );
    tx.one("tokens", sql, values![kind.as_str(), name])
        .await?
        .as_ref()
        .map(token)
        .transpose()
}

/// Newest first.
pub async fn list(tx: &mut Tx, limit: u32) -> Result<Vec<Token>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM tokens ORDER BY id DESC LIMIT $1"
    );
    let rows = tx.all("tokens", sql, values![i64::from(limit)]).await?;
    rows.iter().map(token).collect()
}

pub async fn revoke(tx: &mut Tx, id: TokenId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    quarantine::lift(tx, Kind::Token, &id.to_string()).await?;
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

pub async fn touch(tx: &mut Tx, id: TokenId, at: Timestamp) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE tokens SET last_used_at = $2 WHERE id = $1",
        values![id.to_string(), at],
    )
    .await?;
    Ok(())
}

fn token(row: &Row) -> Result<Token, StoreError> {
    Ok(Token {
        id: row.parsed(0, |text| text.parse().ok())?,
        kind: row.parsed(1, ActorKind::parse)?,
        name: row.text(2)?.to_owned(),
        hash: row.parsed(3, |text| text.parse().ok())?,
        capabilities: row.parsed(4, |text| serde_json::from_str(text).ok())?,
        created_at: row.time(5)?,
        last_used_at: row.opt_time(6)?,
        revoked_at: row.opt_time(7)?,
        resident: row.int(8)? != 0,
    })
}
