//! A large database: verifying its record, verifying an export of it, and copying it while others queue. Beside them
//! what reading and hashing the same bytes takes, and what copying the file takes.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::deep::seed;
use crate::Outcome;
use crate::history;
use crate::load::{Crowd, Operation};
use crate::plan::Plan;
use crate::product::Commands;
use crate::servers::{Server, folder_in};
use crate::statistics::{Round, median, median_ratio, rounded};
use crate::subject::CLIENTS_MAX;

/// Who queue while a copy is made: few enough that what waits stays below what may be open, however long it takes.
const CLIENTS: usize = 4;
const BUFFER_BYTES: usize = 1024 * 1024;
/// No copy takes longer.
const COPY_MAX: Duration = Duration::from_secs(600);
const DATABASE: &str = "void.db";

pub(crate) async fn measure(plan: &Plan, place: &Path, program: &Path) -> Outcome<Value> {
    let folder = folder_in(place)?;
    let folder = folder.path();
    seed(folder, plan).await?;
    eprintln!("  writing {} old rows", plan.copied_rows);
    history::write(&folder.join(DATABASE), plan.copied_rows)?;
    let server = Server::product(program, folder, CLIENTS_MAX).await?;
    let commands = Commands::new(program, server.address, folder);
    // A new database is copied once by itself; whoever asks for a copy waits for that one.
    commands.run(&["backup", "create"]).await?;
    forget_copies(folder)?;
    let record = verify(plan, folder, &commands).await?;
    let copies = copy(plan, folder, &server, &commands).await?;
    Ok(json!({
        "old_rows": plan.copied_rows,
        "file_bytes": fs::metadata(folder.join(DATABASE))?.len(),
        "verify": record,
        "backup": copies,
    }))
}

async fn verify(plan: &Plan, folder: &Path, commands: &Commands) -> Outcome<Value> {
    let export = folder.join("export.jsonl");
    let file = export.display().to_string();
    commands.run(&["audit", "export", &file]).await?;
    let mut stored = Pairs::default();
    let mut exported = Pairs::default();
    for _ in 0..plan.rounds {
        let verified = commands.run(&["audit", "verify"]).await?;
        stored.push(verified, hash(&folder.join(DATABASE))?);
        let verified = commands.run(&["audit", "verify", &file]).await?;
        exported.push(verified, hash(&export)?);
    }
    let export_bytes = fs::metadata(&export)?.len();
    fs::remove_file(&export)?;
    Ok(json!({
        "export_bytes": export_bytes,
        "database_ms": stored.own(),
        "database_hash_ms": stored.floor(),
        "database_rate_ratio": stored.rate_ratio(),
        "export_ms": exported.own(),
        "export_hash_ms": exported.floor(),
        "export_rate_ratio": exported.rate_ratio(),
    }))
}

async fn copy(plan: &Plan, folder: &Path, server: &Server, commands: &Commands) -> Outcome<Value> {
    let mut times = Pairs::default();
    let (mut quiet, mut meanwhile) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        rustix::fs::sync();
        let plain = copy_file(folder)?;
        rustix::fs::sync();
        times.push(commands.run(&["backup", "create"]).await?, plain);
        forget_copies(folder)?;
        rustix::fs::sync();
        // Not before: connections that wait as long as a copy takes would be closed as idle.
        let mut crowd = Crowd::open(server.address, CLIENTS).await?;
        quiet.push(crowd.round(Operation::Queue, plan.round).await?);
        meanwhile.push(queue_during_copy(&mut crowd, commands).await?);
        forget_copies(folder)?;
    }
    let tails = meanwhile.iter().zip(&quiet);
    let tails = tails.map(|(meanwhile, quiet)| (meanwhile.p99_ms, quiet.p99_ms));
    Ok(json!({
        "ms": times.own(),
        "plain_copy_ms": times.floor(),
        "time_ratio": times.time_ratio(),
        "clients": CLIENTS,
        "queue_quiet": Round::middle(&quiet).to_json(),
        "queue_meanwhile": Round::middle(&meanwhile).to_json(),
        "p99_ratio": rounded(median_ratio(tails)),
    }))
}

/// Queues from before the copy begins until it is made.
async fn queue_during_copy(crowd: &mut Crowd, commands: &Commands) -> Outcome<Round> {
    let over = Arc::new(AtomicBool::new(false));
    let copying = async {
        let made = commands.run(&["backup", "create"]).await;
        over.store(true, Ordering::Relaxed);
        made
    };
    let queueing = crowd.round_until(Operation::Queue, COPY_MAX, Arc::clone(&over));
    let (made, round) = tokio::join!(copying, queueing);
    made?;
    round
}

/// What `cp` and `sync` do: read, write, on the disk.
fn copy_file(folder: &Path) -> Outcome<Duration> {
    let begun = Instant::now();
    let path = folder.join("plain-copy");
    let (mut from, mut to) = (File::open(folder.join(DATABASE))?, File::create(&path)?);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        to.write_all(bytes)?;
    }
    to.sync_all()?;
    let took = begun.elapsed();
    fs::remove_file(&path)?;
    Ok(took)
}

fn hash(path: &Path) -> Outcome<Duration> {
    let begun = Instant::now();
    let mut file = File::open(path)?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; BUFFER_BYTES]);
    loop {
        let read = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
    }
    std::hint::black_box(hasher.finalize());
    Ok(begun.elapsed())
}

fn forget_copies(folder: &Path) -> Outcome<()> {
    for copy in fs::read_dir(folder.join("backups"))? {
        fs::remove_file(copy?.path())?;
    }
    Ok(())
}

/// What Void takes and what the least takes, in milliseconds, round by round.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn push(&mut self, own: Duration, floor: Duration) {
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        self.0.push((ms(own), ms(floor)));
    }

    fn own(&self) -> f64 {
        rounded(median(self.0.iter().map(|(own, _)| *own)))
    }

    fn floor(&self) -> f64 {
        rounded(median(self.0.iter().map(|(_, floor)| *floor)))
    }

    fn time_ratio(&self) -> f64 {
        rounded(median_ratio(self.0.iter().copied()))
    }

    fn rate_ratio(&self) -> f64 {
        let pairs = self.0.iter().map(|(own, floor)| (*floor, *own));
        rounded(median_ratio(pairs))
    }
}
