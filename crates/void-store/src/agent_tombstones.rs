//! The table `agent_tombstones`: agents that were destroyed, and where their folders lie since.

use void_domain::agents::{AGENTS_MAX, AgentName};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTombstone {
    pub name: AgentName,
    pub destroyed_by: String,
    pub destroyed_at: Timestamp,
    /// The name of a folder in the archive.
    pub archive: String,
}

/// `false`: it was destroyed before.
pub async fn insert(tx: &mut Tx, tombstone: &AgentTombstone) -> Result<bool, StoreError> {
    let sql = "INSERT INTO agent_tombstones (name, destroyed_by, destroyed_at, archive) \
        VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING";
    let row = values![
        tombstone.name.as_str(),
        tombstone.destroyed_by.as_str(),
        tombstone.destroyed_at,
        tombstone.archive.as_str(),
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

pub async fn find(tx: &mut Tx, name: &AgentName) -> Result<Option<AgentTombstone>, StoreError> {
    let sql =
        "SELECT name, destroyed_by, destroyed_at, archive FROM agent_tombstones WHERE name = $1";
    let values = values![name.as_str()];
    tx.find("agent_tombstones", sql, values, tombstone).await
}

pub async fn list(tx: &mut Tx) -> Result<Vec<AgentTombstone>, StoreError> {
    let sql = "SELECT name, destroyed_by, destroyed_at, archive FROM agent_tombstones \
        ORDER BY name LIMIT $1";
    let values = values![i64::from(AGENTS_MAX)];
    tx.read("agent_tombstones", sql, values, tombstone).await
}

fn tombstone(row: &Row) -> Result<AgentTombstone, StoreError> {
    Ok(AgentTombstone {
        name: row.parse("name")?,
        destroyed_by: row.string("destroyed_by")?,
        destroyed_at: row.time("destroyed_at")?,
        archive: row.string("archive")?,
    })
}
