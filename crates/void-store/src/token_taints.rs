//! The table `token_taints`: what the holder of a token has been given that a stranger could have written, until the owner
//! clears it. One row for each source, at most as many as a taint has.

use std::collections::BTreeMap;

use void_domain::ids::{AgentId, TokenId};
use void_domain::limits::{PAGE_ROWS_MAX, TAINT_SOURCES_MAX};
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

/// What stands for the rest is one more.
const SOURCES_PER_TOKEN_MAX: i64 = TAINT_SOURCES_MAX as i64 + 1;

/// What a token is marked by, and since when by the last of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenTaint {
    pub taint: Taint,
    pub last_at: Timestamp,
}

/// In the order in which it was given.
pub async fn of(tx: &mut Tx, token: TokenId) -> Result<Taint, StoreError> {
    let sql = "SELECT source FROM token_taints WHERE token_id = $1 ORDER BY at, source LIMIT $2";
    let source = |row: &Row| row.string("source");
    let values = values![token.to_string(), SOURCES_PER_TOKEN_MAX];
    let sources = tx.read("token_taints", sql, values, source).await?;
    Ok(Taint::from_sources(sources))
}

/// What of it the token was not marked by yet.
pub async fn add(
    tx: &mut Tx,
    token: TokenId,
    given: &Taint,
    at: Timestamp,
) -> Result<Taint, StoreError> {
    let mut all = of(tx, token).await?;
    let known = all.sources().len();
    all.unite(given);
    let added = all.sources().iter().skip(known).cloned();
    let added: Vec<String> = added.collect();
    for source in &added {
        let sql = "INSERT INTO token_taints (token_id, source, at) VALUES ($1, $2, $3)";
        tx.execute(sql, values![token.to_string(), source, at])
            .await?;
    }
    Ok(Taint::from_sources(added))
}

/// Whether any token of this agent is marked.
pub async fn is_marked(tx: &mut Tx, agent: AgentId) -> Result<bool, StoreError> {
    let sql = "SELECT token_id FROM token_taints WHERE token_id IN (SELECT id FROM tokens WHERE agent_id = $1) LIMIT 1";
    let row = tx
        .one("token_taints", sql, values![agent.to_string()])
        .await?;
    Ok(row.is_some())
}

pub async fn clear(tx: &mut Tx, token: TokenId) -> Result<(), StoreError> {
    let sql = "DELETE FROM token_taints WHERE token_id = $1";
    tx.execute(sql, values![token.to_string()]).await?;
    Ok(())
}

/// Of the tokens that are listed: those that were not revoked.
pub async fn of_all(tx: &mut Tx) -> Result<BTreeMap<TokenId, TokenTaint>, StoreError> {
    let sql = "SELECT token_id, source, at FROM token_taints WHERE token_id IN \
        (SELECT id FROM tokens WHERE revoked_at IS NULL ORDER BY id DESC LIMIT $1) ORDER BY token_id, at, source LIMIT $2";
    let tokens_max = i64::from(PAGE_ROWS_MAX);
    let values = values![tokens_max, tokens_max * SOURCES_PER_TOKEN_MAX];
    let rows = tx.read("token_taints", sql, values, mark).await?;
    let mut all: BTreeMap<TokenId, TokenTaint> = BTreeMap::new();
    for (token, source, at) in rows {
        let found = all.entry(token).or_insert_with(|| TokenTaint {
            taint: Taint::clean(),
            last_at: at,
        });
        found.taint.add(&source);
        found.last_at = found.last_at.max(at);
    }
    Ok(all)
}

fn mark(row: &Row) -> Result<(TokenId, String, Timestamp), StoreError> {
    Ok((
        row.parse("token_id")?,
        row.string("source")?,
        row.time("at")?,
    ))
}
