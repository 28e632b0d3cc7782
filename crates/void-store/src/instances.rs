//! The table `instances`: who works on this database, seen how long ago, with which catalogue; and
//! which of them claimed a run.

use void_domain::digests::Digest;
use void_domain::ids::ProposalId;
use void_domain::instances::InstanceName;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, values};

/// Far above what anybody runs.
const INSTANCES_MAX: i64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Of its data folder; stays over restarts.
    pub id: String,
    pub name: InstanceName,
    pub version: String,
    pub catalogue: Digest,
    /// The digests of the definitions that it would run.
    pub definitions: Vec<Digest>,
    pub started_at: Timestamp,
    pub seen_at: Timestamp,
}

macro_rules! columns {
    () => {
        "id, name, version, catalogue, definitions, started_at, seen_at"
    };
}

/// Stores an instance as it is from now on.
pub async fn register(tx: &mut Tx, instance: &Instance) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO instances (",
        columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, catalogue = excluded.catalogue, \
         definitions = excluded.definitions, started_at = excluded.started_at, seen_at = excluded.seen_at"
    );
    let definitions = serde_json::to_string(&instance.definitions)
        .map_err(|error| StoreError::Internal(error.to_string()))?;
    let row = values![
        &instance.id,
        instance.name.as_str(),
        &instance.version,
        instance.catalogue,
        definitions,
        instance.started_at,
        instance.seen_at,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Notes that it is there. `false`: its row is not.
pub async fn note_seen(tx: &mut Tx, id: &str, at: Timestamp) -> Result<bool, StoreError> {
    let sql = "UPDATE instances SET seen_at = $2 WHERE id = $1";
    Ok(tx.execute(sql, values![id, at]).await? == 1)
}

/// It has stopped.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    tx.execute("DELETE FROM instances WHERE id = $1", values![id])
        .await?;
    Ok(())
}

/// Forgets whoever was not seen since then; how many.
pub async fn prune(tx: &mut Tx, before: Timestamp) -> Result<u64, StoreError> {
    tx.execute("DELETE FROM instances WHERE seen_at < $1", values![before])
        .await
}

/// Everybody who was seen since then, by name.
pub async fn list_seen_since(tx: &mut Tx, since: Timestamp) -> Result<Vec<Instance>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM instances WHERE seen_at >= $1 ORDER BY name, id LIMIT $2"
    );
    let rows = tx
        .all("instances", sql, values![since, INSTANCES_MAX])
        .await?;
    rows.iter().map(instance).collect()
}

fn instance(row: &Row) -> Result<Instance, StoreError> {
    Ok(Instance {
        id: row.text(0)?.to_owned(),
        name: row.parsed(1, InstanceName::parse)?,
        version: row.text(2)?.to_owned(),
        catalogue: row.parsed(3, |text| text.parse().ok())?,
        definitions: row.parsed(4, |text| {
            let texts: Vec<String> = serde_json::from_str(text).ok()?;
            texts.iter().map(|text| text.parse().ok()).collect()
        })?,
        started_at: row.time(5)?,
        seen_at: row.time(6)?,
    })
}

/// Whoever claimed a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    pub id: String,
    pub name: String,
}

/// Stores who claims a run, in the transaction of the claim.
pub async fn note_claim(
    tx: &mut Tx,
    proposal: ProposalId,
    by: &Claimant,
) -> Result<(), StoreError> {
    let sql = "UPDATE proposals SET run_instance_id = $2, run_instance_name = $3 WHERE id = $1";
    let changed = tx
        .execute(sql, values![proposal.to_string(), &by.id, &by.name])
        .await?;
    match changed {
        1 => Ok(()),
        _ => Err(StoreError::corrupt(
            "proposals",
            proposal,
            "a claim without its row",
        )),
    }
}

/// Who claimed a run; `None` for runs from before this was stored.
pub async fn claimant(tx: &mut Tx, proposal: ProposalId) -> Result<Option<Claimant>, StoreError> {
    let sql = "SELECT id, run_instance_id, run_instance_name FROM proposals WHERE id = $1";
    let Some(row) = tx
        .one("proposals", sql, values![proposal.to_string()])
        .await?
    else {
        return Ok(None);
    };
    Ok(match (row.opt_text(1)?, row.opt_text(2)?) {
        (Some(id), Some(name)) => Some(Claimant {
            id: id.to_owned(),
            name: name.to_owned(),
        }),
        _ => None,
    })
}
