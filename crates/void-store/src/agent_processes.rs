//! The table `agent_processes`: what is wanted of each agent's process, and which instance has it.

use void_domain::agent_processes::Wanted;
use void_domain::agents::{AGENTS_MAX, AgentName};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProcess {
    pub name: AgentName,
    pub wanted: Wanted,
    /// The id of an instance.
    pub instance: String,
    pub changed_at: Timestamp,
}

pub async fn find(tx: &mut Tx, name: &AgentName) -> Result<Option<AgentProcess>, StoreError> {
    let sql = "SELECT name, wanted, instance, changed_at FROM agent_processes WHERE name = $1";
    let values = values![name.as_str()];
    tx.find("agent_processes", sql, values, process).await
}

pub async fn list(tx: &mut Tx) -> Result<Vec<AgentProcess>, StoreError> {
    let sql =
        "SELECT name, wanted, instance, changed_at FROM agent_processes ORDER BY name LIMIT $1";
    let values = values![i64::from(AGENTS_MAX)];
    tx.read("agent_processes", sql, values, process).await
}

/// Those that one instance is to start.
pub async fn list_wanted(tx: &mut Tx, instance: &str) -> Result<Vec<AgentProcess>, StoreError> {
    let sql = "SELECT name, wanted, instance, changed_at FROM agent_processes \
        WHERE instance = $1 AND wanted = 'running' ORDER BY name LIMIT $2";
    let values = values![instance, i64::from(AGENTS_MAX)];
    tx.read("agent_processes", sql, values, process).await
}

pub async fn save(tx: &mut Tx, process: &AgentProcess) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_processes (name, wanted, instance, changed_at) VALUES ($1, $2, $3, $4) \
        ON CONFLICT (name) DO UPDATE SET wanted = excluded.wanted, instance = excluded.instance, \
        changed_at = excluded.changed_at";
    let row = values![
        process.name.as_str(),
        process.wanted.as_str(),
        process.instance.as_str(),
        process.changed_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// `false`: somebody wants something else meanwhile.
pub async fn give_up(
    tx: &mut Tx,
    name: &AgentName,
    instance: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agent_processes SET wanted = 'given_up', changed_at = $3 \
        WHERE name = $1 AND instance = $2 AND wanted = 'running'";
    let values = values![name.as_str(), instance, at];
    Ok(tx.execute(sql, values).await? == 1)
}

fn process(row: &Row) -> Result<AgentProcess, StoreError> {
    Ok(AgentProcess {
        name: row.parse("name")?,
        wanted: row.parsed("wanted", Wanted::parse)?,
        instance: row.string("instance")?,
        changed_at: row.time("changed_at")?,
    })
}
