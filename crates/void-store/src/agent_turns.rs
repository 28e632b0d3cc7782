//! The table `agent_turn_causes`: why agents are to have a turn. Of one kind one waits. And `agent_file_taints`: what is in
//! the files of agents.

use void_domain::agent_turns::{CAUSES_WAITING_MAX, TurnCause, WaitingCause};
use void_domain::agents::{AGENTS_MAX, AgentName};
use void_domain::ids::MessageId;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;

use crate::conversations::json;
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

macro_rules! columns {
    () => {
        "id, agent, cause, words, tainted_by, count, first_at, last_at, attempts, not_before, mixed"
    };
}

/// What waits for the agent's next turn, oldest first.
pub async fn list_waiting(tx: &mut Tx, agent: &AgentName) -> Result<Vec<WaitingCause>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_turn_causes WHERE agent = $1 AND turn_id IS NULL ORDER BY first_at, id LIMIT $2"
    );
    let values = values![agent.as_str(), waiting_max()];
    tx.read("agent_turn_causes", sql, values, cause).await
}

/// What a turn has.
pub async fn list_of_turn(tx: &mut Tx, turn: MessageId) -> Result<Vec<WaitingCause>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM agent_turn_causes WHERE turn_id = $1 ORDER BY first_at, id LIMIT $2"
    );
    let values = values![turn.to_string(), waiting_max()];
    tx.read("agent_turn_causes", sql, values, cause).await
}

/// Who could have a turn now.
pub async fn list_agents_waiting(tx: &mut Tx, at: Timestamp) -> Result<Vec<AgentName>, StoreError> {
    let sql = "SELECT DISTINCT agent FROM agent_turn_causes WHERE turn_id IS NULL AND not_before <= $1 \
        ORDER BY agent LIMIT $2";
    let name = |row: &Row| row.parse("agent");
    tx.read(
        "agent_turn_causes",
        sql,
        values![at, i64::from(AGENTS_MAX)],
        name,
    )
    .await
}

/// Writes one that waits, new or changed.
pub async fn save_waiting(tx: &mut Tx, waiting: &WaitingCause) -> Result<(), StoreError> {
    let sql = "INSERT INTO agent_turn_causes (id, agent, key, cause, words, tainted_by, count, first_at, last_at, \
        attempts, not_before, mixed, turn_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, NULL) \
        ON CONFLICT (id) DO UPDATE SET cause = excluded.cause, words = excluded.words, \
        tainted_by = excluded.tainted_by, count = excluded.count, last_at = excluded.last_at, \
        attempts = excluded.attempts, not_before = excluded.not_before, \
        mixed = excluded.mixed, turn_id = NULL";
    let row = values![
        waiting.id.to_string(),
        waiting.agent.as_str(),
        waiting.cause.key(),
        json(&waiting.cause),
        waiting.words.as_deref(),
        json(&waiting.taint),
        i64::from(waiting.count),
        waiting.first_at,
        waiting.last_at,
        i64::from(waiting.attempts),
        waiting.not_before,
        i64::from(waiting.is_mixed),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Gives one to a turn. `false`: another turn has it.
pub async fn take(
    tx: &mut Tx,
    waiting: &WaitingCause,
    turn: MessageId,
) -> Result<bool, StoreError> {
    let sql = "UPDATE agent_turn_causes SET turn_id = $2 WHERE id = $1 AND turn_id IS NULL";
    let values = values![waiting.id.to_string(), turn.to_string()];
    Ok(tx.execute(sql, values).await? == 1)
}

pub async fn delete(tx: &mut Tx, gone: &WaitingCause) -> Result<(), StoreError> {
    let sql = "DELETE FROM agent_turn_causes WHERE id = $1";
    tx.execute(sql, values![gone.id.to_string()]).await?;
    Ok(())
}

/// What happened is over, and the agent wakes of it no more. What a turn has stays with it, and so does what stands for
/// others too: a turn too many is better than one that is lost.
pub async fn drop_waiting(
    tx: &mut Tx,
    agent: &AgentName,
    cause: &TurnCause,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM agent_turn_causes WHERE agent = $1 AND key = $2 AND turn_id IS NULL AND mixed = 0";
    tx.execute(sql, values![agent.as_str(), cause.key()])
        .await?;
    Ok(())
}

/// All that waits for an agent that is gone.
pub async fn drop_waiting_of(tx: &mut Tx, agent: &AgentName) -> Result<(), StoreError> {
    let sql = "DELETE FROM agent_turn_causes WHERE agent = $1 AND turn_id IS NULL";
    tx.execute(sql, values![agent.as_str()]).await?;
    Ok(())
}

/// What whoever wrote into the agent's folder had read.
pub async fn file_taint(tx: &mut Tx, agent: &AgentName) -> Result<Taint, StoreError> {
    let sql = "SELECT tainted_by FROM agent_file_taints WHERE agent = $1";
    let taint = |row: &Row| row.json("tainted_by");
    let values = values![agent.as_str()];
    let found = tx.find("agent_file_taints", sql, values, taint).await?;
    Ok(found.unwrap_or_default())
}

/// `false`: it was marked by all of that before.
pub async fn mark_files(
    tx: &mut Tx,
    agent: &AgentName,
    read: &Taint,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let mut taint = file_taint(tx, agent).await?;
    if !taint.unite(read) {
        return Ok(false);
    }
    let sql = "INSERT INTO agent_file_taints (agent, tainted_by, changed_at) VALUES ($1, $2, $3) \
        ON CONFLICT (agent) DO UPDATE SET tainted_by = excluded.tainted_by, changed_at = excluded.changed_at";
    tx.execute(sql, values![agent.as_str(), json(&taint), at])
        .await?;
    Ok(true)
}

fn waiting_max() -> i64 {
    i64::try_from(CAUSES_WAITING_MAX).unwrap_or(i64::MAX)
}

fn cause(row: &Row) -> Result<WaitingCause, StoreError> {
    let number =
        |column| Ok::<u32, StoreError>(u32::try_from(row.count(column)?).unwrap_or(u32::MAX));
    Ok(WaitingCause {
        id: row.parse("id")?,
        agent: row.parse("agent")?,
        cause: row.json("cause")?,
        words: row.opt_string("words")?,
        taint: row.json("tainted_by")?,
        count: number("count")?,
        first_at: row.time("first_at")?,
        last_at: row.time("last_at")?,
        attempts: number("attempts")?,
        not_before: row.time("not_before")?,
        is_mixed: number("mixed")? != 0,
    })
}
