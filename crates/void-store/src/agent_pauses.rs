//! The table `agent_pauses`: agents that are not woken and get no turn, wherever they run.

use void_domain::agents::{AGENTS_MAX, AgentName};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::values;

/// `false`: it is paused already.
pub async fn insert(
    tx: &mut Tx,
    name: &AgentName,
    by: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO agent_pauses (name, paused_by, paused_at) VALUES ($1, $2, $3) \
        ON CONFLICT (name) DO NOTHING";
    let inserted = tx.execute(sql, values![name.as_str(), by, at]).await?;
    Ok(inserted == 1)
}

/// `false`: it is not paused.
pub async fn delete(tx: &mut Tx, name: &AgentName) -> Result<bool, StoreError> {
    let sql = "DELETE FROM agent_pauses WHERE name = $1";
    Ok(tx.execute(sql, values![name.as_str()]).await? == 1)
}

pub async fn list(tx: &mut Tx) -> Result<Vec<AgentName>, StoreError> {
    let sql = "SELECT name FROM agent_pauses ORDER BY name LIMIT $1";
    let values = values![i64::from(AGENTS_MAX)];
    tx.read("agent_pauses", sql, values, |row| row.parse("name"))
        .await
}

pub async fn has(tx: &mut Tx, name: &AgentName) -> Result<bool, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM agent_pauses WHERE name = $1";
    let count = tx
        .count("agent_pauses", sql, values![name.as_str()])
        .await?;
    Ok(count > 0)
}
