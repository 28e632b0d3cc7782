//! The table `instances`: which process works under which instance's id on this database, seen how long ago,
//! with which catalogue; and which instance claimed a run.
//!
//! PostgreSQL only, but for the claims: a SQLite file has one process, whose lock says it. Who is there is
//! judged by the clock of the database, which all instances share.

use std::time::Duration;

use void_domain::digests::Digest;
use void_domain::ids::ProposalId;
use void_domain::instances::InstanceName;
use void_domain::time::Timestamp;

use crate::clocks::now_ms;
use crate::errors::StoreError;
use crate::tx::Tx;
use crate::values::{Row, ms, values};

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

/// When the connection of this transaction began; with its number it is one connection and no other.
macro_rules! own_backend {
    () => {
        "CAST(pg_backend_pid() AS bigint), (SELECT CAST(floor(extract(epoch FROM backend_start) * 1000000) AS bigint) \
         FROM pg_stat_activity WHERE pid = pg_backend_pid())"
    };
}

/// Seen within $1 milliseconds. A sign of life of the future was written before the clock was set back.
macro_rules! is_recent {
    () => {
        concat!(
            "seen_at BETWEEN ",
            now_ms!(),
            " - $1 AND ",
            now_ms!(),
            " + $1"
        )
    };
}

/// Stores an instance as it is from now on, worked for by this process.
pub async fn register(tx: &mut Tx, instance: &Instance, process: &str) -> Result<(), StoreError> {
    let sql = concat!(
        "INSERT INTO instances (",
        columns!(),
        ", process, backend, backend_since) VALUES ($1, $2, $3, $4, $5, $6, ",
        now_ms!(),
        ", $7, ",
        own_backend!(),
        ") ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, catalogue = excluded.catalogue, \
         definitions = excluded.definitions, started_at = excluded.started_at, seen_at = excluded.seen_at, \
         process = excluded.process, backend = excluded.backend, backend_since = excluded.backend_since"
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
        process,
    ];
    tx.execute(sql, row).await?;
    Ok(())
}

/// Notes that it is there. `false`: its row is not, or is another process's.
pub async fn note_seen(tx: &mut Tx, id: &str, process: &str) -> Result<bool, StoreError> {
    let sql = concat!(
        "UPDATE instances SET seen_at = ",
        now_ms!(),
        ", (backend, backend_since) = (SELECT ",
        own_backend!(),
        ") WHERE id = $1 AND process = $2"
    );
    Ok(tx.execute(sql, values![id, process]).await? == 1)
}

/// The process that works under an instance's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub process: String,
    pub seen_at: Timestamp,
    /// Seen a short while ago, by a connection that is still open.
    pub is_there: bool,
}

/// Who works under this id, and whether they are there: seen within `within`, by a connection that the server
/// still has. A process that was killed has none any more, so its successor need not wait.
pub async fn holder(tx: &mut Tx, id: &str, within: Duration) -> Result<Option<Holder>, StoreError> {
    // Without the right to see it, a connection of that number counts as the one.
    let sql = concat!(
        "SELECT id, process, seen_at, CAST(CASE WHEN ",
        is_recent!(),
        " AND (backend IS NULL OR EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = instances.backend \
         AND COALESCE(CAST(floor(extract(epoch FROM a.backend_start) * 1000000) AS bigint), instances.backend_since) \
         = instances.backend_since)) THEN 1 ELSE 0 END AS bigint) AS is_there FROM instances WHERE id = $2"
    );
    let row = tx.one("instances", sql, values![ms(within), id]).await?;
    let holder = |row: Row| {
        Ok(Holder {
            process: row.string("process")?,
            seen_at: row.time("seen_at")?,
            is_there: row.flag("is_there")?,
        })
    };
    row.map(holder).transpose()
}

/// Whether this process works under the id.
pub async fn is_held_by(tx: &mut Tx, id: &str, process: &str) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM instances WHERE id = $1 AND process = $2";
    Ok(tx
        .one("instances", sql, values![id, process])
        .await?
        .is_some())
}

/// This process has stopped.
pub async fn remove(tx: &mut Tx, id: &str, process: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM instances WHERE id = $1 AND process = $2";
    tx.execute(sql, values![id, process]).await?;
    Ok(())
}

/// Forgets whoever was not seen for so long; how many.
pub async fn prune(tx: &mut Tx, unseen: Duration) -> Result<u64, StoreError> {
    let sql = concat!("DELETE FROM instances WHERE seen_at < ", now_ms!(), " - $1");
    tx.execute(sql, values![ms(unseen)]).await
}

/// Everybody who was seen within that time, by name.
pub async fn list_seen(tx: &mut Tx, within: Duration) -> Result<Vec<Instance>, StoreError> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM instances WHERE ",
        is_recent!(),
        " ORDER BY name, id LIMIT $2"
    );
    tx.read(
        "instances",
        sql,
        values![ms(within), INSTANCES_MAX],
        instance,
    )
    .await
}

/// The names of the others who were seen within that time.
pub async fn list_names_of_others(
    tx: &mut Tx,
    within: Duration,
    own: &str,
) -> Result<Vec<InstanceName>, StoreError> {
    let sql = concat!(
        "SELECT id, name FROM instances WHERE ",
        is_recent!(),
        " AND id <> $3 ORDER BY name, id LIMIT $2"
    );
    let values = values![ms(within), INSTANCES_MAX, own];
    let name = |row: &Row| row.parsed("name", InstanceName::parse);
    tx.read("instances", sql, values, name).await
}

fn instance(row: &Row) -> Result<Instance, StoreError> {
    Ok(Instance {
        id: row.string("id")?,
        name: row.parsed("name", InstanceName::parse)?,
        version: row.string("version")?,
        catalogue: row.parse("catalogue")?,
        definitions: row.parsed("definitions", |text| {
            let texts: Vec<String> = serde_json::from_str(text).ok()?;
            texts.iter().map(|text| text.parse().ok()).collect()
        })?,
        started_at: row.time("started_at")?,
        seen_at: row.time("seen_at")?,
    })
}

/// Whoever claimed a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    pub id: String,
    pub name: String,
}

/// Who claims a run, and as which process. A SQLite file has one process and names none.
pub struct Claim<'a> {
    pub by: &'a Claimant,
    pub process: Option<&'a str>,
}

impl Claim<'_> {
    /// An error if another process took over. Nobody can before the transaction ends: writes of all instances take turns.
    pub(crate) async fn check(&self, tx: &mut Tx) -> Result<(), StoreError> {
        match self.process {
            Some(process) if !is_held_by(tx, &self.by.id, process).await? => {
                Err(StoreError::Displaced)
            }
            Some(_) | None => Ok(()),
        }
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
    let id = row.opt_string("run_instance_id")?;
    let name = row.opt_string("run_instance_name")?;
    Ok(id.zip(name).map(|(id, name)| Claimant { id, name }))
}
