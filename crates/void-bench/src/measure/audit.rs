//! The record: durable appends through Void's store, and reading a long export with `void-verify`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use void_control::Clock;
use void_domain::digests::Digest;
use void_domain::facts::{Fact, NewFact};
use void_domain::time::Timestamp;
use void_store::{Store, StoreError, facts};
use void_verify::Options;

use crate::Outcome;
use crate::plan::Plan;
use crate::servers::folder_in;
use crate::statistics::{per_second, rounded};
use crate::subject::Engine;

const APPENDERS: usize = 256;
/// The fastest counts: it computes only, so whatever else runs here can but slow it.
const VERIFICATIONS: usize = 5;

pub(crate) async fn measure(plan: &Plan, place: &Path) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let store = Engine::Sqlite.open(folder.path()).await?;
    let appended = append(&store, plan.audit_appends).await?;
    drop(store);
    let file = folder.path().join("audit.jsonl");
    fs::write(&file, export(plan.audit_entries)?)?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut verified: f64 = 0.0;
    for _ in 0..VERIFICATIONS {
        let begun = Instant::now();
        let options = Options {
            head: None,
            threads,
        };
        let report = void_verify::verify(File::open(&file)?, &options)?;
        if !report.is_intact() || report.entries != plan.audit_entries {
            return Err(format!("the export does not verify: {report:?}").into());
        }
        let entries = usize::try_from(report.entries)?;
        verified = verified.max(per_second(entries, begun.elapsed()));
    }
    Ok(json!({
        "append_per_s": rounded(appended),
        "appenders": APPENDERS,
        "verify_per_s": rounded(verified),
        "verify_threads": threads,
        "entries": plan.audit_entries,
        "export_bytes": fs::metadata(&file)?.len(),
    }))
}

/// Each appender waits for its entry to be on disk before it writes the next.
async fn append(store: &Store, entries: usize) -> Outcome<f64> {
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for appender in 0..APPENDERS {
        let store = store.clone();
        let share = (entries + appender) / APPENDERS;
        tasks.spawn(async move {
            for _ in 0..share {
                let at = Clock::system().now();
                store
                    .write(move |tx| Box::pin(facts::append(tx, at, draft())))
                    .await?;
            }
            Ok::<usize, StoreError>(share)
        });
    }
    let mut appended = 0;
    for done in tasks.join_all().await {
        appended += done?;
    }
    Ok(per_second(appended, begun.elapsed()))
}

fn export(entries: u64) -> Outcome<String> {
    let mut text = String::new();
    let mut prev = Digest::ZERO;
    for seq in 1..=entries {
        let at = Timestamp::from_ms(1_900_000_000_000 + i64::try_from(seq)?);
        let entry = Fact::seal(draft(), seq, at, prev)?;
        writeln!(text, "{}", entry.export_line())?;
        prev = entry.hash;
    }
    Ok(text)
}

/// As long as an ordinary one.
fn draft() -> NewFact {
    NewFact {
        request_id: None,
        actor: "owner-api".to_owned(),
        verb: "proposal.approved",
        subject: Some("0190d8a5-8c5e-7c3a-9a55-8f6d2c1b0a99".to_owned()),
        detail: json!({
            "action_id": "risky-100",
            "approved_by": "owner-api",
            "code": "7F3K",
            "digest": Digest::of(b"digest"),
            "params": {"n": 100},
            "requested_by": "owner",
            "risk": "guarded",
            "status": "approved",
            "target": "host:local/risky100",
            "tier": "risky",
        }),
        catalogue: Some(Digest::of(b"catalogue")),
        audience: None,
    }
}
