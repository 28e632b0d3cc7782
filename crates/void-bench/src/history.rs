//! Years of use in a minute: copies of rows that Void itself has written, back in time, with their
//! steps, an event and a sealed audit entry each.

use std::path::Path;

use rusqlite::{Connection, params};
use void_domain::audit::AuditEntry;
use void_domain::digests::Digest;
use void_domain::time::Timestamp;

use crate::Outcome;
use crate::measure::audit::draft;

/// How many different rows are copied.
const SAMPLES: u64 = 64;
/// The newest copy is a day old, and each is a second older than the next.
const AGE_MIN_MS: u64 = 24 * 60 * 60 * 1_000;
const APART_MS: u64 = 1_000;

pub(crate) fn write(file: &Path, rows: u64) -> Outcome<()> {
    let mut connection = Connection::open(file)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; \
         PRAGMA temp_store = MEMORY; PRAGMA cache_size = -524288;",
    )?;
    let tx = connection.transaction()?;
    let newest: i64 = tx.query_row("SELECT MAX(created_at) FROM proposals", [], |row| {
        row.get(0)
    })?;
    tx.execute_batch(&format!(
        "CREATE TEMP TABLE sample AS SELECT * FROM proposals WHERE ended_at IS NOT NULL LIMIT {SAMPLES};
         CREATE TEMP TABLE sample_step AS SELECT t.*, s.rowid AS sample FROM transitions t JOIN sample s ON s.id = t.proposal_id;
         CREATE INDEX temp.sample_steps ON sample_step (sample);
         CREATE TEMP TABLE copy (number INTEGER PRIMARY KEY, sample INTEGER, id TEXT, shift INTEGER);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}),
           aged (i, shift) AS (SELECT i, {AGE_MIN_MS} + ({rows} - i) * {APART_MS} FROM n)
         INSERT INTO copy SELECT i, i % (SELECT COUNT(*) FROM sample) + 1,
           printf('%08x-%04x-7000-8000-%012x', ({newest} - shift) >> 16, ({newest} - shift) & 65535, i), shift FROM aged;"
    ))?;
    let (names, copied) = columns(&tx)?;
    tx.execute_batch(&format!(
        "INSERT INTO proposals ({names}) SELECT {copied} FROM copy c JOIN sample s ON s.rowid = c.sample ORDER BY c.number;
         INSERT INTO transitions (proposal_id, step, from_status, to_status, at, actor)
           SELECT c.id, t.step, t.from_status, t.to_status, t.at - c.shift, t.actor
           FROM copy c JOIN sample_step t ON t.sample = c.sample ORDER BY c.number, t.step;
         INSERT INTO events (seq, at, kind, audience, payload)
           SELECT h.event_seq + c.number, e.at, e.kind, e.audience, e.payload
           FROM heads h, copy c JOIN events e ON e.seq = 1;
         UPDATE heads SET event_seq = event_seq + {rows};"
    ))?;
    append_audit(&tx, rows, newest)?;
    tx.commit()?;
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// All columns of a proposal, and the expressions that copy them back in time.
fn columns(connection: &Connection) -> Outcome<(String, String)> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('proposals')")?;
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let copied: Vec<String> = names
        .iter()
        .map(|name| match name.as_str() {
            "id" => "c.id".to_owned(),
            time if time.ends_with("_at") || time == "lease_until" => format!("s.{time} - c.shift"),
            other => format!("s.{other}"),
        })
        .collect();
    Ok((names.join(", "), copied.join(", ")))
}

fn append_audit(connection: &Connection, entries: u64, newest_ms: i64) -> Outcome<()> {
    let head: (i64, String) = connection.query_row(
        "SELECT audit_seq, audit_hash FROM heads WHERE id = 1",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (mut seq, mut prev) = (head.0, head.1.parse::<Digest>()?);
    let mut insert = connection.prepare(
        "INSERT INTO audit (seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash) \
         VALUES (?1, ?2, NULL, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for _ in 0..entries {
        seq += 1;
        let at = Timestamp::from_ms(newest_ms);
        let entry = AuditEntry::seal(draft(), u64::try_from(seq)?, at, prev)?;
        insert.execute(params![
            seq,
            newest_ms,
            entry.actor,
            entry.verb,
            entry.subject,
            entry.detail,
            entry.catalogue,
            entry.prev.to_string(),
            entry.hash.to_string(),
        ])?;
        prev = entry.hash;
    }
    connection.execute(
        "UPDATE heads SET audit_seq = ?1, audit_hash = ?2 WHERE id = 1",
        params![seq, prev.to_string()],
    )?;
    Ok(())
}
