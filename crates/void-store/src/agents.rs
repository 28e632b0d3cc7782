//! The table `agents`: who acts here besides people, withdrawn ones included. A row is never deleted, and its
//! name never changes.

use void_domain::agents::{AGENTS_MAX, Agent, AgentName, AgentState};
use void_domain::capabilities::Capabilities;
use void_domain::ids::{AgentId, RequesterId};
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::proposals::not_offered;
use crate::tx::Tx;
use crate::values::{Row, values};

macro_rules! columns {
    () => {
        "id, name, capabilities, created_at, withdrawn_at"
    };
}

pub async fn insert(tx: &mut Tx, agent: &Agent) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO agents (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5)"
    );
    let withdrawn_at = match agent.state {
        AgentState::Live => None,
        AgentState::Withdrawn { at } => Some(at),
    };
    let row = values![
        agent.id.to_string(),
        agent.name.as_str(),
        written(&agent.capabilities),
        agent.created_at,
        withdrawn_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

pub async fn find_named(tx: &mut Tx, name: &AgentName) -> Result<Option<Agent>, StoreError> {
    let sql = concat!("SELECT ", columns!(), " FROM agents WHERE name = $1");
    tx.find("agents", sql, values![name.as_str()], agent).await
}

/// What it is called, live or withdrawn; `None`: it is no agent.
pub async fn name_of(tx: &mut Tx, id: RequesterId) -> Result<Option<AgentName>, StoreError> {
    let sql = "SELECT name FROM agents WHERE id = $1";
    let values = values![id.to_string()];
    tx.find("agents", sql, values, |row| row.parse("name"))
        .await
}

/// Of all that there ever were.
pub async fn names(tx: &mut Tx) -> Result<Vec<AgentName>, StoreError> {
    let sql = "SELECT name FROM agents ORDER BY name LIMIT $1";
    let rows = tx
        .all("agents", sql, values![i64::from(AGENTS_MAX)])
        .await?;
    let name = |row: &Row| row.parse("name");
    rows.iter().map(name).collect()
}

/// Withdraws an agent that has no live token left. `false`: it has one, or is withdrawn.
pub async fn withdraw(tx: &mut Tx, id: AgentId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE agents SET withdrawn_at = $2 WHERE id = $1 AND withdrawn_at IS NULL AND NOT EXISTS \
        (SELECT 1 FROM tokens WHERE tokens.agent_id = agents.id AND tokens.revoked_at IS NULL)";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// Whether whoever asked is an agent that was withdrawn.
pub async fn is_withdrawn(tx: &mut Tx, id: RequesterId) -> Result<bool, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM agents WHERE id = $1 AND withdrawn_at IS NOT NULL";
    Ok(tx.count("agents", sql, values![id.to_string()]).await? > 0)
}

/// Withdrawn agents that have something waiting all the same, see [`crate::proposals::list_waiting_of`].
pub async fn list_withdrawn_waiting(tx: &mut Tx) -> Result<Vec<AgentId>, StoreError> {
    let sql = concat!(
        "SELECT id FROM agents WHERE withdrawn_at IS NOT NULL AND (EXISTS (SELECT 1 FROM proposals \
         WHERE requester_kind = 'agent' AND requester_id = agents.id AND status = 'pending') \
         OR id IN (SELECT requester_id FROM proposals WHERE status = 'approved' AND requester_kind = 'agent' AND ",
        not_offered!(),
        ")) ORDER BY id LIMIT $1"
    );
    let values = values![i64::from(AGENTS_MAX)];
    tx.read("agents", sql, values, |row| row.parse("id")).await
}

/// `false`: it is not withdrawn.
pub async fn restore(
    tx: &mut Tx,
    id: AgentId,
    capabilities: &Capabilities,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agents SET withdrawn_at = NULL, capabilities = $2 \
        WHERE id = $1 AND withdrawn_at IS NOT NULL";
    let values = values![id.to_string(), written(capabilities)];
    Ok(tx.execute(sql, values).await? == 1)
}

/// `false`: it is withdrawn.
pub async fn set_capabilities(
    tx: &mut Tx,
    id: AgentId,
    capabilities: &Capabilities,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agents SET capabilities = $2 WHERE id = $1 AND withdrawn_at IS NULL";
    let values = values![id.to_string(), written(capabilities)];
    Ok(tx.execute(sql, values).await? == 1)
}

fn written(capabilities: &Capabilities) -> String {
    serde_json::to_string(capabilities).unwrap_or_default()
}

fn agent(row: &Row) -> Result<Agent, StoreError> {
    Ok(Agent {
        id: row.parse("id")?,
        name: row.parse("name")?,
        capabilities: row.json("capabilities")?,
        created_at: row.time("created_at")?,
        state: match row.opt_time("withdrawn_at")? {
            None => AgentState::Live,
            Some(at) => AgentState::Withdrawn { at },
        },
    })
}
