//! The table `causes`: why agents wake. One thing is one cause for its time, and a cause is taken once.

use void_domain::agents::AgentName;
use void_domain::causes::{Cause, WaitingCause};
use void_domain::ids::CauseId;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

/// `false`: it was noted before, or the same waits already, so that what nobody takes does not pile up.
pub async fn insert(tx: &mut Tx, waiting: &WaitingCause) -> Result<bool, StoreError> {
    let same = "SELECT COUNT(*) AS total FROM causes WHERE kind = $1 AND subject = $2 AND taken_at IS NULL";
    let values = values![waiting.cause.kind(), waiting.cause.subject()];
    if tx.count("causes", same, values).await? > 0 {
        return Ok(false);
    }
    let sql = "INSERT INTO causes (id, agent, kind, subject, due_at, at) VALUES ($1, $2, $3, $4, $5, $6) \
        ON CONFLICT (kind, subject, due_at) DO NOTHING";
    let row = values![
        waiting.id.to_string(),
        waiting.agent.as_str(),
        waiting.cause.kind(),
        waiting.cause.subject(),
        waiting.due_at,
        waiting.at,
    ];
    Ok(tx.execute(sql, row).await? == 1)
}

/// Those that no turn began with yet, oldest first; of one agent or of all.
pub async fn list_waiting(
    tx: &mut Tx,
    agent: Option<&AgentName>,
    limit: u32,
) -> Result<Vec<WaitingCause>, StoreError> {
    let of_one = "SELECT id, agent, kind, subject, due_at, at FROM causes WHERE taken_at IS NULL AND agent = $1 \
        ORDER BY id LIMIT $2";
    let of_all = "SELECT id, agent, kind, subject, due_at, at FROM causes WHERE taken_at IS NULL ORDER BY id LIMIT $1";
    let limit = i64::from(limit);
    match agent {
        Some(agent) => {
            let values = values![agent.as_str(), limit];
            tx.read("causes", of_one, values, waiting).await
        }
        None => tx.read("causes", of_all, values![limit], waiting).await,
    }
}

/// `false`: another turn began with it.
pub async fn take(tx: &mut Tx, id: CauseId, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE causes SET taken_at = $2 WHERE id = $1 AND taken_at IS NULL";
    Ok(tx.execute(sql, values![id.to_string(), at]).await? == 1)
}

/// Nobody wakes of this any more: it is over.
pub async fn drop_waiting(tx: &mut Tx, cause: Cause) -> Result<(), StoreError> {
    let sql = "DELETE FROM causes WHERE kind = $1 AND subject = $2 AND taken_at IS NULL";
    tx.execute(sql, values![cause.kind(), cause.subject()])
        .await?;
    Ok(())
}

/// Nobody wakes of these any more: whose they are is not there.
pub async fn drop_waiting_of(tx: &mut Tx, agent: &AgentName) -> Result<(), StoreError> {
    let sql = "DELETE FROM causes WHERE agent = $1 AND taken_at IS NULL";
    tx.execute(sql, values![agent.as_str()]).await?;
    Ok(())
}

pub async fn count_waiting_of(tx: &mut Tx, agent: &AgentName) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM causes WHERE agent = $1 AND taken_at IS NULL";
    tx.count("causes", sql, values![agent.as_str()]).await
}

fn waiting(row: &Row) -> Result<WaitingCause, StoreError> {
    let subject = row.text("subject")?;
    let cause = row.parsed("kind", |kind| Cause::parse(kind, subject))?;
    Ok(WaitingCause {
        id: row.parse("id")?,
        agent: row.parse("agent")?,
        cause,
        due_at: row.time("due_at")?,
        at: row.time("at")?,
    })
}
