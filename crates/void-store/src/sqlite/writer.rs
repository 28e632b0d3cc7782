//! The writer thread: takes what waits, runs each use case in a savepoint, commits once for all,
//! then answers. While one commit is on its way to the disk the next batch gathers.

use std::fs::File;

use rusqlite::Connection;
use tokio::sync::{mpsc, watch};
use void_domain::fail_point;

use super::reserve::Reserve;
use super::{SqliteConfig, now};
use crate::errors::StoreError;
use crate::heads::{self, Newest};
use crate::rollbacks::{HighWater, Rollback};
use crate::tx::{Engine, SqliteTx, Tx, run_cached};
use crate::writer::{BATCH_MAX, Done, Job, Urgency, admit};

pub(super) fn start(
    config: &SqliteConfig,
    connection: Connection,
    lock: File,
    queue: mpsc::Receiver<Box<dyn Job>>,
) -> Result<(watch::Receiver<Newest>, HighWater), StoreError> {
    let mut tx = Tx::new(Engine::Sqlite(SqliteTx::new(connection)));
    let heads = now(Box::pin(heads::load(&mut tx)))??;
    let (committed, watcher) = watch::channel(heads.newest());
    let high_water = HighWater::of_file(heads, config.path.clone());
    let writer = Writer {
        tx,
        high_water: high_water.clone(),
        committed,
        reserve: Reserve::new(&config.path, config.low_water_bytes),
        _lock: lock,
    };
    std::thread::Builder::new()
        .name("void-writer".to_owned())
        .spawn(move || writer.run(queue))
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok((watcher, high_water))
}

struct Writer {
    tx: Tx,
    high_water: HighWater,
    committed: watch::Sender<Newest>,
    reserve: Reserve,
    _lock: File,
}

impl Writer {
    fn run(mut self, mut queue: mpsc::Receiver<Box<dyn Job>>) {
        let mut waiting: Vec<Box<dyn Job>> = Vec::with_capacity(BATCH_MAX);
        while let Some(first) = queue.blocking_recv() {
            waiting.push(first);
            while waiting.len() < BATCH_MAX {
                match queue.try_recv() {
                    Ok(job) => waiting.push(job),
                    Err(_) => break,
                }
            }
            self.batch(&mut waiting);
        }
    }

    fn batch(&mut self, waiting: &mut Vec<Box<dyn Job>>) {
        let low = self.reserve.is_low();
        if !low {
            self.reserve.refill();
        }
        let mut done: Vec<Done> = Vec::with_capacity(waiting.len());
        let (rollback, mut broken) = match self.begin() {
            Ok(rollback) => (rollback, None),
            Err(error) => (None, Some(error)),
        };
        for job in waiting.drain(..) {
            let admitted = admit(job.urgency(), rollback.is_some());
            match (&broken, admitted) {
                (Some(error), _) => job.refuse(error.clone()),
                (None, Err(error)) => job.refuse(error),
                (None, Ok(())) if low && job.urgency() == Urgency::New => {
                    job.refuse(StoreError::DiskFull);
                }
                (None, Ok(())) => match self.run_one(job) {
                    Ok(ran) => done.extend(ran),
                    Err(error) => broken = Some(error),
                },
            }
        }
        let unrepaired = rollback.is_some() && !done.iter().any(|ran| ran.keep);
        let outcome = match broken {
            Some(error) => Err(error),
            None if unrepaired => Err(StoreError::RolledBack),
            None => self.commit(rollback),
        };
        if let Err(error) = &outcome {
            self.abandon(error);
        }
        for ran in done {
            (ran.answer)(outcome.clone());
        }
    }

    /// `Err` means that the transaction itself is broken and nobody's writes survive.
    fn run_one(&mut self, job: Box<dyn Job>) -> Result<Option<Done>, StoreError> {
        let before = self.tx.heads_now();
        self.sql("SAVEPOINT job")?;
        let ran = now(job.run(&mut self.tx));
        let keep = matches!(&ran, Ok(done) if done.keep);
        if keep {
            self.sql("RELEASE job")?;
        } else {
            self.tx.set_heads(before);
            self.sql("ROLLBACK TO job")?;
            self.sql("RELEASE job")?;
        }
        if let Err(error) = &ran {
            tracing::error!(%error, "a use case did not finish");
        }
        Ok(ran.ok())
    }

    fn begin(&mut self) -> Result<Option<Rollback>, StoreError> {
        self.sql("BEGIN IMMEDIATE")?;
        let heads = now(Box::pin(heads::load(&mut self.tx)))??;
        let rollback = now(Box::pin(self.high_water.check(&mut self.tx, heads)))??;
        self.tx.set_heads(Some(heads));
        Ok(rollback)
    }

    fn commit(&mut self, rollback: Option<Rollback>) -> Result<(), StoreError> {
        let Some(heads) = self.tx.heads_now() else {
            return Err(StoreError::Internal(
                "the batch lost its numbers".to_owned(),
            ));
        };
        now(Box::pin(heads::save(&mut self.tx, heads)))??;
        fail_point!("store.commit.before");
        self.sql("COMMIT")?;
        fail_point!("store.commit.after");
        self.tx.set_heads(None);
        match rollback {
            None => self.high_water.committed(heads),
            Some(_) => self.high_water.repaired(heads),
        }
        self.committed.send_replace(heads.newest());
        Ok(())
    }

    fn abandon(&mut self, error: &StoreError) {
        self.tx.set_heads(None);
        // Fails when there is no transaction any more, which is what is wanted.
        let _ = self.sql("ROLLBACK");
        if *error == StoreError::DiskFull {
            self.reserve.release();
            if let Engine::Sqlite(tx) = self.tx.engine() {
                let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
                let _ = tx.connection().execute_batch(checkpoint);
            }
        }
        tracing::error!(%error, "a batch of writes was rolled back");
    }

    fn sql(&mut self, text: &str) -> Result<(), StoreError> {
        match self.tx.engine() {
            Engine::Sqlite(tx) => run_cached(tx.connection(), text),
            Engine::Postgres(_) => Err(StoreError::Internal(
                "the writer has a foreign connection".to_owned(),
            )),
        }
    }
}
