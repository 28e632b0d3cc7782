//! Group commit at its barest: take what waits, write it, commit once, answer.

use std::path::Path;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::rows::{self, Step, TABLES};
use crate::Outcome;

/// As at Void.
const BATCH_MAX: usize = 256;
const QUEUE_MAX: usize = 1_024;

struct Job {
    step: Step,
    reply: oneshot::Sender<bool>,
}

#[derive(Clone)]
pub(super) struct Writer(mpsc::Sender<Job>);

impl Writer {
    pub(super) fn start(file: &Path) -> Outcome<Self> {
        let connection = Connection::open(file)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;",
        )?;
        connection.execute_batch(TABLES)?;
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        std::thread::Builder::new()
            .name("floor-writer".to_owned())
            .spawn(move || work(&connection, queue))?;
        Ok(Self(jobs))
    }

    /// Whether it is on disk.
    pub(super) async fn write(&self, step: Step) -> bool {
        let (reply, answer) = oneshot::channel();
        self.0.send(Job { step, reply }).await.is_ok() && answer.await.unwrap_or(false)
    }
}

fn work(connection: &Connection, mut queue: mpsc::Receiver<Job>) {
    let mut waiting = Vec::with_capacity(BATCH_MAX);
    while let Some(first) = queue.blocking_recv() {
        waiting.push(first);
        while waiting.len() < BATCH_MAX {
            match queue.try_recv() {
                Ok(job) => waiting.push(job),
                Err(_) => break,
            }
        }
        let committed = batch(connection, &waiting);
        for job in waiting.drain(..) {
            // A client that went away changes nothing.
            let _ = job.reply.send(committed.is_ok());
        }
        if committed.is_err() {
            return;
        }
    }
}

/// The floor has no refusals: what is asked of it twice is an error in the benchmark.
fn batch(connection: &Connection, jobs: &[Job]) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for job in jobs {
        rows::write(connection, &job.step)?;
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
