//! The table `tokens`: who holds a bearer token. Only the SHA-256 of a token is ever stored.
//!
//! What an agent's token may do is the agent's, and is read from there; a token of a withdrawn agent is not
//! live, whatever its own row says.

use void_domain::actors::ActorKind;
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, TokenId};
use void_domain::limits;
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
    /// Whose it is, if it is an agent's.
    pub agent_id: Option<AgentId>,
    pub name: String,
    pub hash: Digest,
    /// Of the agent, if it is an agent's.
    pub capabilities: Capabilities,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// An agent that lives here; nobody holds the text of its token.
    pub resident: bool,
}

macro_rules! select {
    () => {
        "SELECT tokens.id, kind, tokens.name, hash, \
         CASE WHEN kind = 'agent' THEN agents.capabilities ELSE tokens.capabilities END AS capabilities, \
         tokens.created_at, last_used_at, revoked_at, resident, agent_id \
         FROM tokens LEFT JOIN agents ON agents.id = tokens.agent_id"
    };
}

/// That it is neither revoked nor a withdrawn agent's.
macro_rules! is_live {
    () => {
        "revoked_at IS NULL AND (kind <> 'agent' OR (agents.id IS NOT NULL AND agents.withdrawn_at IS NULL))"
    };
}

macro_rules! is_quarantined {
    () => {
        "EXISTS (SELECT 1 FROM quarantine q WHERE q.kind = 'token' AND q.id = tokens.id)"
    };
}

/// What an agent's token may do is not written with it.
pub async fn insert(tx: &mut Tx, token: &Token) -> Result<(), StoreError> {
    let sql = "INSERT INTO tokens (id, kind, name, hash, capabilities, created_at, last_used_at, revoked_at, \
        resident, agent_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let own = match token.agent_id {
        Some(_) => Capabilities::none(),
        None => token.capabilities.clone(),
    };
    let row = values![
        token.id.to_string(),
        token.kind.as_str(),
        &token.name,
        token.hash,
        serde_json::to_string(&own).unwrap_or_default(),
        token.created_at,
        token.last_used_at,
        token.revoked_at,
        i64::from(token.resident),
        token.agent_id.map(|id| id.to_string()),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// The live token with this hash, unless it is in quarantine.
pub async fn find_live(tx: &mut Tx, hash: Digest) -> Result<Option<Token>, StoreError> {
    let sql = concat!(
        select!(),
        " WHERE hash = $1 AND ",
        is_live!(),
        " AND NOT ",
        is_quarantined!()
    );
    tx.find("tokens", sql, values![hash], token).await
}

pub async fn find(tx: &mut Tx, id: TokenId) -> Result<Option<Token>, StoreError> {
    let sql = concat!(select!(), " WHERE tokens.id = $1");
    tx.find("tokens", sql, values![id.to_string()], token).await
}

/// Of a viewer or a node, whose name is its token's.
pub async fn find_live_named(
    tx: &mut Tx,
    kind: ActorKind,
    name: &str,
) -> Result<Option<Token>, StoreError> {
    let sql = concat!(
        select!(),
        " WHERE kind = $1 AND tokens.name = $2 AND ",
        is_live!()
    );
    tx.find("tokens", sql, values![kind.as_str(), name], token)
        .await
}

/// The live tokens of an agent, oldest first.
pub async fn list_live_of(tx: &mut Tx, agent: AgentId) -> Result<Vec<Token>, StoreError> {
    let sql = concat!(
        select!(),
        " WHERE agent_id = $1 AND ",
        is_live!(),
        " ORDER BY tokens.id LIMIT $2"
    );
    let values = values![agent.to_string(), i64::from(limits::PAGE_ROWS_MAX)];
    tx.read("tokens", sql, values, token).await
}

/// Whether an agent has a token that opens something: live, and not in quarantine.
pub async fn has_usable(tx: &mut Tx, agent: AgentId) -> Result<bool, StoreError> {
    let sql = concat!(
        "SELECT tokens.id FROM tokens LEFT JOIN agents ON agents.id = tokens.agent_id WHERE agent_id = $1 AND ",
        is_live!(),
        " AND NOT ",
        is_quarantined!(),
        " LIMIT 1"
    );
    let row = tx.one("tokens", sql, values![agent.to_string()]).await?;
    Ok(row.is_some())
}

/// Gives a live token a text that somebody holds.
pub async fn hand_out(tx: &mut Tx, id: TokenId, hash: Digest) -> Result<(), StoreError> {
    let sql = "UPDATE tokens SET hash = $2, resident = 0 WHERE id = $1 AND revoked_at IS NULL";
    tx.execute(sql, values![id.to_string(), hash]).await?;
    Ok(())
}

/// Newest first.
pub async fn list(tx: &mut Tx, limit: u32) -> Result<Vec<Token>, StoreError> {
    let sql = concat!(select!(), " ORDER BY tokens.id DESC LIMIT $1");
    tx.read("tokens", sql, values![i64::from(limit)], token)
        .await
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
    let kind = row.parsed("kind", ActorKind::parse)?;
    let agent_id = match (kind, row.opt_text("agent_id")?) {
        (ActorKind::Agent, Some(id)) => {
            let id = id.parse().map_err(|_| row.corrupt("its agent has no id"))?;
            Some(id)
        }
        (ActorKind::Viewer | ActorKind::Node, None) => None,
        (ActorKind::Agent, None) => return Err(row.corrupt("it is an agent's, and of no agent")),
        (ActorKind::Viewer | ActorKind::Node | ActorKind::Owner | ActorKind::System, _) => {
            return Err(row.corrupt("it is of a kind that has no agent, or of none"));
        }
    };
    Ok(Token {
        id: row.parse("id")?,
        kind,
        agent_id,
        name: row.string("name")?,
        hash: row.parse("hash")?,
        capabilities: row.json("capabilities")?,
        created_at: row.time("created_at")?,
        last_used_at: row.opt_time("last_used_at")?,
        revoked_at: row.opt_time("revoked_at")?,
        resident: row.flag("resident")?,
    })
}
