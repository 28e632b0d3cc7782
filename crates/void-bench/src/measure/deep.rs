//! Lists, approvals and a restart over many old rows, beside the same database without them.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::process::milliseconds;
use super::reads::timed;
use crate::Outcome;
use crate::history;
use crate::http::{self, Connection};
use crate::load::{Crowd, Operation};
use crate::plan::Plan;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median, median_ratio, rounded};
use crate::subject::{CLIENTS_MAX, Engine, catalogue_text};

const LISTS: [&str; 7] = [
    "/api/actions/pending",
    "/api/actions/recent",
    "/api/proposals",
    "/api/proposals?status=executed",
    "/api/inbox",
    "/api/audit",
    "/api/status",
];
const CLIENTS: usize = 64;
const RESTARTS: usize = 3;

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let (small, large) = (folder_in(place)?, folder_in(place)?);
    seed(small.path(), plan).await?;
    // With the note beside it: a database without one is taken for an older copy, and frozen.
    for file in ["void.db", "witness.json"] {
        fs::copy(small.path().join(file), large.path().join(file))?;
    }
    eprintln!("  writing {} old rows", plan.old_rows);
    let begun = Instant::now();
    history::write(&large.path().join("void.db"), plan.old_rows)?;
    let written = begun.elapsed();
    let file_bytes = fs::metadata(large.path().join("void.db"))?.len();
    let (lists, approvals) = compare(small.path(), large.path(), plan).await?;
    let restarts = restart(large.path(), program, plan).await?;
    Ok(json!({
        "old_rows": plan.old_rows,
        "file_bytes": file_bytes,
        "written_s": rounded(written.as_secs_f64()),
        "lists": lists,
        "approve": approvals,
        "restart_to_ready_ms": rounded(restarts),
    }))
}

/// More rows than a page of every kind, so that both databases answer with full pages.
pub(super) async fn seed(folder: &Path, plan: &Plan) -> Outcome<()> {
    let server = Server::subject(&Engine::Sqlite, folder).await?;
    let mut crowd = Crowd::open(server.address, CLIENTS).await?;
    for operation in [
        Operation::Queue,
        Operation::Approve,
        Operation::Run,
        Operation::Queue,
    ] {
        crowd.round(operation, plan.round / 4).await?;
    }
    drop(server);
    // Opening and closing brings everything from the write-ahead log into the file.
    let connection = rusqlite::Connection::open(folder.join("void.db"))?;
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

async fn compare(small: &Path, large: &Path, plan: &Plan) -> Outcome<(Vec<Value>, Value)> {
    let few = Server::subject(&Engine::Sqlite, small).await?;
    let many = Server::subject(&Engine::Sqlite, large).await?;
    let mut lists = Vec::new();
    for path in LISTS {
        lists.push(compare_list(path, few.address, many.address, plan).await?);
    }
    let by_code = code_of_last(few.address).await?;
    let mut by_code = compare_list(&by_code, few.address, many.address, plan).await?;
    if let Some(path) = by_code.get_mut("path") {
        *path = "/api/proposals/{code}".into();
    }
    lists.push(by_code);
    let mut crowds = (
        Crowd::open(few.address, CLIENTS).await?,
        Crowd::open(many.address, CLIENTS).await?,
    );
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        without.push(approve(&mut crowds.0, plan.round).await?);
        with.push(approve(&mut crowds.1, plan.round).await?);
    }
    let pairs = with.iter().zip(&without);
    let ratio = median_ratio(pairs.map(|(many, few)| (many.per_s, few.per_s)));
    let approvals = json!({
        "clients": CLIENTS,
        "without": Round::middle(&without).to_json(),
        "with": Round::middle(&with).to_json(),
        "ratio": rounded(ratio),
    });
    Ok((lists, approvals))
}

async fn approve(crowd: &mut Crowd, duration: Duration) -> Outcome<Round> {
    crowd.round(Operation::Queue, duration / 2).await?;
    crowd.round(Operation::Approve, duration).await
}

async fn compare_list(
    path: &str,
    few: SocketAddr,
    many: SocketAddr,
    plan: &Plan,
) -> Outcome<Value> {
    let request = http::request("GET", path, "");
    let (mut few, mut many) = (Connection::open(few).await?, Connection::open(many).await?);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..plan.list_calls {
        without.push(timed(&mut few, &request).await?);
        with.push(timed(&mut many, &request).await?);
    }
    let (without, with) = (median(without.into_iter()), median(with.into_iter()));
    Ok(json!({
        "path": path,
        "without_ms": rounded(without),
        "with_ms": rounded(with),
        "ratio": rounded(with / without.max(1e-9)),
    }))
}

/// How a person would ask for what ended last.
async fn code_of_last(address: SocketAddr) -> Outcome<String> {
    let mut connection = Connection::open(address).await?;
    let request = http::request("GET", "/api/actions/recent?limit=1", "");
    let answer: Value = serde_json::from_slice(connection.call(&request).await?.body)?;
    let code = answer.pointer("/recent/0/code").and_then(Value::as_str);
    Ok(format!(
        "/api/proposals/{}",
        code.ok_or("nothing has ended")?
    ))
}

/// Killed in the middle of its work, started again: the slowest of a few.
async fn restart(folder: &Path, program: &Path, plan: &Plan) -> Outcome<f64> {
    // A copy of the whole file once a day is not what is measured here.
    let settings = "[backups]\nenabled = false\n";
    let catalogue = catalogue_text(CLIENTS_MAX);
    let mut slowest: f64 = 0.0;
    for _ in 0..RESTARTS {
        let server = Server::subject(&Engine::Sqlite, folder).await?;
        let mut crowd = Crowd::open(server.address, CLIENTS).await?;
        let load = tokio::spawn(async move {
            // It breaks off, as it should.
            let _ = crowd.round(Operation::Run, Duration::from_secs(60)).await;
        });
        tokio::time::sleep(plan.round / 2).await;
        server.kill();
        load.await?;
        let again = Server::with_settings(program, folder, &catalogue, settings).await?;
        slowest = slowest.max(milliseconds(&again));
    }
    Ok(slowest)
}
