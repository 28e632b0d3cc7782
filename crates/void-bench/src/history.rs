//! Years of use in a minute: copies of rows that Void itself has written, back in time, with their sealed entries of
//! the record.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, params};
use serde_json::Value;
use void_domain::canonical;
use void_domain::digests::Digest;
use void_domain::facts::Fact;
use void_domain::time::Timestamp;

use crate::Outcome;

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
         CREATE TEMP TABLE copy (number INTEGER PRIMARY KEY, sample INTEGER, id TEXT, shift INTEGER);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}),
           aged (i, shift) AS (SELECT i, {AGE_MIN_MS} + ({rows} - i) * {APART_MS} FROM n)
         INSERT INTO copy SELECT i, i % (SELECT COUNT(*) FROM sample) + 1,
           printf('%08x-%04x-7000-8000-%012x', ({newest} - shift) >> 16, ({newest} - shift) & 65535, i), shift FROM aged;"
    ))?;
    let (names, copied) = columns(&tx)?;
    tx.execute_batch(&format!(
        "INSERT INTO proposals ({names}) SELECT {copied} FROM copy c JOIN sample s ON s.rowid = c.sample ORDER BY c.number;"
    ))?;
    append_entries(&tx)?;
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

/// What the record says of a sample.
struct StoredStep {
    at: i64,
    actor: String,
    verb: String,
    detail: String,
    catalogue: Option<String>,
}

fn steps_by_sample(connection: &Connection) -> Outcome<BTreeMap<i64, Vec<StoredStep>>> {
    let mut statement = connection.prepare(
        "SELECT s.rowid, f.at, f.actor, f.verb, f.detail, f.catalogue FROM sample s JOIN facts f ON f.subject = s.id \
         ORDER BY s.rowid, f.seq",
    )?;
    let mut rows = statement.query([])?;
    let mut steps: BTreeMap<i64, Vec<StoredStep>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        steps.entry(row.get(0)?).or_default().push(StoredStep {
            at: row.get(1)?,
            actor: row.get(2)?,
            verb: row.get(3)?,
            detail: row.get(4)?,
            catalogue: row.get(5)?,
        });
    }
    Ok(steps)
}

/// A detail whose times are as much older as its row: what a row says is compared with it.
fn back_in_time(detail: &str, shift_ms: i64) -> Outcome<String> {
    let mut detail: Value = serde_json::from_str(detail)?;
    let members = detail.as_object_mut().into_iter().flatten();
    for (_, value) in members.filter(|(name, _)| name.ends_with("_at")) {
        if let Some(at) = value.as_str().and_then(Timestamp::parse_rfc3339) {
            *value = Timestamp::from_ms(at.as_ms() - shift_ms).to_string().into();
        }
    }
    Ok(canonical::to_canonical(&detail)?)
}

fn append_entries(connection: &Connection) -> Outcome<()> {
    let steps = steps_by_sample(connection)?;
    let head: (i64, String) = connection.query_row(
        "SELECT audit_seq, audit_hash FROM heads WHERE id = 1",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let (mut seq, mut prev) = (head.0, head.1.parse::<Digest>()?);
    let mut insert = connection.prepare(
        "INSERT INTO facts (seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash) \
         VALUES (?1, ?2, NULL, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut copies = connection.prepare("SELECT sample, id, shift FROM copy ORDER BY number")?;
    let mut copies = copies.query([])?;
    while let Some(copy) = copies.next()? {
        let (sample, id, shift): (i64, String, i64) = (copy.get(0)?, copy.get(1)?, copy.get(2)?);
        for step in steps.get(&sample).into_iter().flatten() {
            seq += 1;
            let mut entry = Fact {
                seq: u64::try_from(seq)?,
                at: Timestamp::from_ms(step.at - shift),
                request_id: None,
                actor: step.actor.clone(),
                verb: step.verb.clone(),
                subject: Some(id.clone()),
                detail: back_in_time(&step.detail, shift)?,
                catalogue: step.catalogue.clone(),
                prev,
                hash: Digest::ZERO,
                audience: None,
            };
            entry.hash = entry.computed_hash();
            insert.execute(params![
                seq,
                entry.at.as_ms(),
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
    }
    connection.execute(
        "UPDATE heads SET audit_seq = ?1, audit_hash = ?2 WHERE id = 1",
        params![seq, prev.to_string()],
    )?;
    Ok(())
}
