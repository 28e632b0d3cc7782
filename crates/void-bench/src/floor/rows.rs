//! The rows of the floor, in tables of its own: a wish, the one index by which it is found, and an audit row for each
//! step. It knows nothing of Void's store, so it does not grow when that grows.

use rusqlite::{Connection, params};

/// What the stub channel of the subject answers.
pub(super) const RESULT: &str = r#"{"duration_ms":12,"exit":0,"output":"restarted"}"#;
/// As long as what a person writes for a reason, with what is said of whom and when.
const DETAIL: &str = r#"{"by":"owner-api","reason":"it does not answer since the upgrade"}"#;
const AT: i64 = 1_900_000_000_000;

pub(super) const TABLES: &str = "
    CREATE TABLE wishes (number INTEGER PRIMARY KEY, id TEXT NOT NULL, action TEXT NOT NULL, status TEXT NOT NULL, \
      created_at INTEGER NOT NULL, result TEXT) STRICT;
    CREATE UNIQUE INDEX wishes_by_id ON wishes (id);
    CREATE TABLE audit (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, verb TEXT NOT NULL, subject TEXT NOT NULL, \
      detail TEXT NOT NULL) STRICT;";
const INSERT: &str =
    "INSERT INTO wishes (number, id, action, status, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
const CLAIM: &str = "UPDATE wishes SET status = 'running' WHERE id = ?1 AND status = 'pending'";
const FINISH: &str =
    "UPDATE wishes SET status = 'executed', result = ?2 WHERE id = ?1 AND status = 'running'";
const AUDIT: &str = "INSERT INTO audit (at, verb, subject, detail) VALUES (?1, ?2, ?3, ?4)";

/// One durable step of an operation.
pub(super) enum Step {
    /// A risky wish waits.
    Queue(FloorRequest),
    /// What waited is claimed, before it runs.
    Claim(String),
    /// A safe wish is claimed as it comes.
    Start(FloorRequest),
    /// What ran has ended.
    Finish(String),
}

pub(super) struct FloorRequest {
    pub id: String,
    pub number: i64,
    pub action: String,
}

/// In the order of its number, as ids that begin with the time are.
pub(super) fn id(number: i64) -> String {
    format!("0190d8a5-8c5e-7c3a-9a55-{number:012x}")
}

pub(super) fn write(connection: &Connection, step: &Step) -> rusqlite::Result<()> {
    match step {
        Step::Queue(wish) => {
            insert(connection, wish, "pending")?;
            audit(connection, "queued", &wish.id)
        }
        Step::Claim(id) => {
            one(connection.prepare_cached(CLAIM)?.execute([id])?)?;
            audit(connection, "claimed", id)
        }
        Step::Start(wish) => {
            insert(connection, wish, "running")?;
            audit(connection, "claimed", &wish.id)
        }
        Step::Finish(id) => {
            let values = params![id, RESULT];
            one(connection.prepare_cached(FINISH)?.execute(values)?)?;
            audit(connection, "executed", id)
        }
    }
}

fn insert(connection: &Connection, wish: &FloorRequest, status: &str) -> rusqlite::Result<()> {
    let FloorRequest { id, number, action } = wish;
    let values = params![number, id, action, status, AT];
    connection.prepare_cached(INSERT)?.execute(values)?;
    Ok(())
}

fn audit(connection: &Connection, verb: &str, id: &str) -> rusqlite::Result<()> {
    let values = params![AT, verb, id, DETAIL];
    connection.prepare_cached(AUDIT)?.execute(values)?;
    Ok(())
}

const fn one(changed: usize) -> rusqlite::Result<()> {
    if changed == 1 {
        Ok(())
    } else {
        Err(rusqlite::Error::QueryReturnedNoRows)
    }
}
