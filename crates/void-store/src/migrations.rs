//! Brings a database to this version's schema. Each migration and its record are one transaction,
//! so a kill in the middle leaves the version before it. A database that knows more than this
//! binary is left alone.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior};
use void_domain::digests::Digest;

use crate::errors::StoreError;

struct Migration {
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migrations {
    ($($name:literal),* $(,)?) => {
        &[$(Migration {
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }),*]
    };
}

const MIGRATIONS: &[Migration] = migrations![
    "0001_gate",
    "0002_services",
    "0003_conversations",
    "0004_agents",
    "0005_bridge",
    "0006_notifications",
    "0007_nodes",
    "0008_credentials",
    "0009_decisions",
    "0010_joins",
    "0012_retention",
    "0013_audit_strays",
    "0014_instances",
    "0015_quarantine",
    "0016_alerts",
    "0017_strays_and_processes",
    "0018_alert_stops",
    "0019_agents",
    "0020_changes",
    "0021_facts",
    "0022_proposal_states",
    "0023_knowledge",
    "0024_search",
    "0025_vault_files",
    "0026_token_taint",
    "0027_embeddings",
    "0028_captures",
    "0029_drafts",
    "0031_agent_processes",
    "0032_agent_messages",
    "0033_questions",
    "0034_reminders",
    "0036_holds",
    "0037_agent_turns",
    "0038_conversation_ends",
];

const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL)";
/// Any number that nobody else uses: instances that start together take turns.
const POSTGRES_LOCK: &str = "SELECT pg_advisory_xact_lock(8643921)";

/// Whether a copy is one that this version can bring up to date.
pub(crate) fn check_sqlite(connection: &Connection) -> Result<(), StoreError> {
    next(&applied_sqlite(connection)?, |migration| migration.sqlite).map(|_| ())
}

fn applied_sqlite(connection: &Connection) -> Result<BTreeMap<String, String>, StoreError> {
    let mut statement = connection.prepare("SELECT name, checksum FROM migrations")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A table that others refer to can be made anew only while nobody looks at the references; they are checked before each commit.
/// A row that should not exist is carried over as it is: it is named when it is read.
pub(crate) fn run_sqlite(connection: &mut Connection) -> Result<(), StoreError> {
    connection.execute_batch(CREATE_TABLE)?;
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;")?;
    let migrated = migrate_sqlite(connection);
    connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF;")?;
    migrated
}

fn migrate_sqlite(connection: &mut Connection) -> Result<(), StoreError> {
    loop {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let applied = applied_sqlite(&tx)?;
        let Some(next) = next(&applied, |migration| migration.sqlite)? else {
            return Ok(());
        };
        let loose = loose_references(&tx)?;
        tx.execute_batch(next.sqlite)?;
        if loose_references(&tx)? > loose {
            let what = "rows would refer to nothing";
            return Err(StoreError::corrupt("migrations", next.name, what));
        }
        tx.execute(
            "INSERT INTO migrations (name, checksum) VALUES ($1, $2)",
            [next.name, &checksum(next.sqlite)],
        )?;
        tx.commit()?;
        tracing::info!(migration = next.name, "brought the database up to date");
    }
}

fn loose_references(connection: &Connection) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM pragma_foreign_key_check";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// After a migration the server looks at the tables that grow: without that it plans by guesses until it does so by
/// itself, and a connection keeps its plans.
const POSTGRES_ANALYZE: &str = "ANALYZE proposals, facts, notifications";

pub(crate) async fn run_postgres(client: &tokio_postgres::Client) -> Result<(), StoreError> {
    let mut has_changed = false;
    loop {
        // One simple query per migration: the server runs the whole text or none of it.
        client
            .batch_execute(&format!("BEGIN; {POSTGRES_LOCK}; {CREATE_TABLE}"))
            .await?;
        let rows = client
            .query("SELECT name, checksum FROM migrations", &[])
            .await?;
        let applied: BTreeMap<String, String> = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, StoreError>>()?;
        let next = match next(&applied, |migration| migration.postgres) {
            Ok(Some(next)) => next,
            Ok(None) => {
                client.batch_execute("COMMIT").await?;
                if has_changed {
                    client.batch_execute(POSTGRES_ANALYZE).await?;
                }
                return Ok(());
            }
            Err(error) => {
                client.batch_execute("ROLLBACK").await?;
                return Err(error);
            }
        };
        client.batch_execute(next.postgres).await?;
        client
            .execute(
                "INSERT INTO migrations (name, checksum) VALUES ($1, $2)",
                &[&next.name, &checksum(next.postgres)],
            )
            .await?;
        client.batch_execute("COMMIT").await?;
        has_changed = true;
        tracing::info!(migration = next.name, "brought the database up to date");
    }
}

/// The first migration that is not applied yet; an error if what is applied is not ours.
fn next(
    applied: &BTreeMap<String, String>,
    text: impl Fn(&Migration) -> &'static str,
) -> Result<Option<&'static Migration>, StoreError> {
    if let Some(unknown) = applied
        .keys()
        .find(|name| !MIGRATIONS.iter().any(|known| known.name == *name))
    {
        return Err(StoreError::NewerSchema {
            found: unknown.clone(),
        });
    }
    for migration in MIGRATIONS {
        match applied.get(migration.name) {
            None => return Ok(Some(migration)),
            Some(found) if *found == checksum(text(migration)) => {}
            Some(_) => {
                return Err(StoreError::corrupt(
                    "migrations",
                    migration.name,
                    "it was applied with another text",
                ));
            }
        }
    }
    Ok(None)
}

fn checksum(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}
