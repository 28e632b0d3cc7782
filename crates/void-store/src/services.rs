//! The table `service_changes`: the history of watched services, change by change.

use void_domain::services::Health;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceChange {
    pub service_id: String,
    pub at: Timestamp,
    pub from: Health,
    pub to: Health,
    /// A stable word; never what a service said.
    pub reason: Option<String>,
}

/// Two changes of a service in one millisecond are one: the later wins.
pub async fn append(tx: &mut Tx, change: &ServiceChange) -> Result<(), StoreError> {
    let sql = "INSERT INTO service_changes (service_id, at, from_health, to_health, reason) VALUES ($1, $2, $3, $4, $5) \
        ON CONFLICT (service_id, at) DO UPDATE SET to_health = excluded.to_health, reason = excluded.reason";
    let row = values![
        &change.service_id,
        change.at,
        change.from.as_str(),
        change.to.as_str(),
        change.reason.as_ref(),
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// The newest changes of one service, oldest first.
pub async fn list_since(
    tx: &mut Tx,
    service_id: &str,
    since: Timestamp,
    limit: u32,
) -> Result<Vec<ServiceChange>, StoreError> {
    let sql = "SELECT service_id, at, from_health, to_health, reason FROM service_changes \
        WHERE service_id = $1 AND at >= $2 ORDER BY at DESC LIMIT $3";
    let rows = tx
        .all(
            "service_changes",
            sql,
            values![service_id, since, i64::from(limit)],
        )
        .await?;
    rows.iter().rev().map(change).collect()
}

/// The newest change of one service.
pub async fn last(tx: &mut Tx, service_id: &str) -> Result<Option<ServiceChange>, StoreError> {
    let sql = "SELECT service_id, at, from_health, to_health, reason FROM service_changes \
        WHERE service_id = $1 ORDER BY at DESC LIMIT 1";
    tx.find("service_changes", sql, values![service_id], change)
        .await
}

/// Forgets what is older, but for the last thing known of each service; how many rows went.
pub async fn prune(tx: &mut Tx, before: Timestamp) -> Result<u64, StoreError> {
    let sql = "DELETE FROM service_changes WHERE at < $1 AND EXISTS (SELECT 1 FROM service_changes AS later \
        WHERE later.service_id = service_changes.service_id AND later.at > service_changes.at)";
    tx.execute(sql, values![before]).await
}

/// Forgets what a wrong clock dated later than now: the table is ordered by time, and nothing would come after it.
pub async fn forget_after(tx: &mut Tx, now: Timestamp) -> Result<u64, StoreError> {
    let sql = "DELETE FROM service_changes WHERE at > $1";
    tx.execute(sql, values![now]).await
}

fn change(row: &Row) -> Result<ServiceChange, StoreError> {
    Ok(ServiceChange {
        service_id: row.string("service_id")?,
        at: row.time("at")?,
        from: row.parsed("from_health", Health::parse)?,
        to: row.parsed("to_health", Health::parse)?,
        reason: row.opt_string("reason")?,
    })
}
