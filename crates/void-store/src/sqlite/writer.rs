//! The writer thread: takes what waits, runs it, commits once for all, then answers. While one commit is on its way to the
//! disk the next batch gathers. A use case that fails takes nobody's writes with it.

use std::fs::File;

use rusqlite::Connection;
use tokio::sync::{mpsc, watch};
use void_domain::fail_point;

use super::checkpoints::Checkpoints;
use super::reserve::Reserve;
use super::{SqliteConfig, now};
use crate::errors::StoreError;
use crate::heads::{self, Heads, Newest};
use crate::rollbacks::{HighWater, Rollback};
use crate::tx::{Engine, SqliteTx, Tx, run_cached};
use crate::writer::{BATCH_MAX, Done, Job, Urgency, admit};

pub(super) fn start(
    config: &SqliteConfig,
    mut connection: Connection,
    lock: File,
    queue: mpsc::Receiver<Box<dyn Job>>,
) -> Result<(watch::Receiver<Newest>, HighWater), StoreError> {
    let checkpoints = Checkpoints::start(&config.path, &mut connection)?;
    let mut tx = Tx::new(Engine::Sqlite(SqliteTx::new(connection)));
    let heads = now(Box::pin(heads::load(&mut tx)))??;
    let (committed, watcher) = watch::channel(heads.newest());
    let high_water = HighWater::of_file(heads, config.path.clone());
    let writer = SqliteWriter {
        tx,
        high_water: high_water.clone(),
        checkpoints,
        committed,
        reserve: Reserve::new(&config.path, config.low_water_bytes),
        others: None,
        _lock: lock,
    };
    std::thread::Builder::new()
        .name("void-writer".to_owned())
        .spawn(move || writer.run(queue))
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok((watcher, high_water))
}

struct SqliteWriter {
    tx: Tx,
    high_water: HighWater,
    checkpoints: Checkpoints,
    committed: watch::Sender<Newest>,
    reserve: Reserve,
    /// Changes when anybody but the writer has committed.
    others: Option<i64>,
    _lock: File,
}

/// How far a transaction has come.
#[derive(PartialEq, Eq)]
struct WriterProgress {
    heads: Option<Heads>,
    rows: u64,
    is_in_transaction: bool,
}

impl SqliteWriter {
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
        let begun = self.begin();
        let went_back = matches!(begun, Ok(Some(_)));
        waiting.retain(|job| match admit(job.urgency(), went_back) {
            _ if begun.is_err() => true,
            Ok(()) if low && job.urgency() == Urgency::New => {
                job.refuse(StoreError::DiskFull);
                false
            }
            Ok(()) => true,
            Err(error) => {
                job.refuse(error);
                false
            }
        });
        let ran = begun.and_then(|rollback| {
            self.run_all(waiting, &mut done)?;
            Ok(rollback)
        });
        let outcome = match ran {
            Ok(Some(_)) if !done.iter().any(|ran| ran.keep) => Err(StoreError::RolledBack),
            Ok(rollback) => self.commit(rollback),
            Err(error) => Err(error),
        };
        if let Err(error) = &outcome {
            self.abandon(error);
        }
        for ran in done {
            (ran.answer)(outcome.clone());
        }
        for job in waiting.drain(..) {
            // Says something to whoever has no answer yet: nothing else of a batch that failed is committed.
            if let Err(error) = &outcome {
                job.refuse(error.clone());
            }
        }
        // Everybody has their answer.
        if let (Ok(()), Engine::Sqlite(tx)) = (&outcome, self.tx.engine()) {
            self.checkpoints.after_commit(tx.connection());
        }
    }

    /// Those that can run again, up to the first that cannot, run without savepoints: of each, SQLite would copy every
    /// page that it touches. If one of them fails, everything is rolled back, and all run in savepoints.
    ///
    /// `Err` means that the transaction itself is broken and nobody's writes survive.
    fn run_all(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        done: &mut Vec<Done>,
    ) -> Result<(), StoreError> {
        let plain = jobs.iter().take_while(|job| job.is_shared()).count();
        let (first, others) = jobs.split_at_mut(plain);
        let in_savepoints = match self.run_plainly(first, done) {
            true => others,
            false => {
                tracing::debug!("use cases of a batch run again, in savepoints");
                done.clear();
                self.begin_again()?;
                jobs
            }
        };
        for job in in_savepoints {
            done.extend(self.run_in_savepoint(&mut **job)?);
        }
        Ok(())
    }

    /// False if one of them failed after it had written; what has written nothing leaves nothing behind.
    fn run_plainly(&mut self, jobs: &mut [Box<dyn Job>], done: &mut Vec<Done>) -> bool {
        self.tx.keep_fixed();
        for job in jobs {
            let before = self.written();
            let ran = now(job.run(&mut self.tx));
            let written = self.written();
            match ran {
                // Some errors end the transaction, and what follows would be a transaction of its own.
                _ if !written.is_in_transaction => return false,
                Ok(ran) if ran.keep || written == before => done.push(ran),
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    fn written(&mut self) -> WriterProgress {
        let heads = self.tx.heads_now();
        let (rows, is_in_transaction) = match self.tx.engine() {
            Engine::Sqlite(tx) => {
                let connection = tx.connection();
                (connection.total_changes(), !connection.is_autocommit())
            }
            Engine::Postgres(_) | Engine::Flight(_) => (0, false),
        };
        WriterProgress {
            heads,
            rows,
            is_in_transaction,
        }
    }

    fn run_in_savepoint(&mut self, job: &mut dyn Job) -> Result<Option<Done>, StoreError> {
        let before = self.tx.heads_now();
        self.tx.forget_fixed();
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

    /// Rolls back what ran, and begins anew with nothing.
    fn begin_again(&mut self) -> Result<(), StoreError> {
        self.roll_back();
        match self.begin()? {
            None => Ok(()),
            // Somebody put another file in its place between the two.
            Some(_) => Err(StoreError::RolledBack),
        }
    }

    fn begin(&mut self) -> Result<Option<Rollback>, StoreError> {
        self.sql("BEGIN IMMEDIATE")?;
        self.see_others()?;
        let heads = now(Box::pin(heads::load(&mut self.tx)))??;
        let rollback = now(Box::pin(self.high_water.check(&mut self.tx, heads)))??;
        self.tx.set_heads(Some(heads));
        Ok(rollback)
    }

    /// Whoever edits the file counts for the very next batch. Nobody else commits until this one has.
    fn see_others(&mut self) -> Result<(), StoreError> {
        let Engine::Sqlite(tx) = self.tx.engine() else {
            return Ok(());
        };
        let mut asked = tx.connection().prepare_cached("PRAGMA data_version")?;
        let others = Some(asked.query_row([], |row| row.get(0))?);
        drop(asked);
        if others != self.others {
            self.others = others;
            self.tx.forget_fixed();
        }
        Ok(())
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
        self.roll_back();
        if *error == StoreError::DiskFull {
            self.reserve.release();
            if let Engine::Sqlite(tx) = self.tx.engine() {
                let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
                let _ = tx.connection().execute_batch(checkpoint);
            }
        }
        tracing::error!(%error, "a batch of writes was rolled back");
    }

    fn roll_back(&mut self) {
        self.tx.set_heads(None);
        self.tx.forget_fixed();
        // Fails when there is no transaction any more, which is what is wanted.
        let _ = self.sql("ROLLBACK");
    }

    fn sql(&mut self, text: &str) -> Result<(), StoreError> {
        match self.tx.engine() {
            Engine::Sqlite(tx) => run_cached(tx.connection(), text),
            Engine::Postgres(_) | Engine::Flight(_) => Err(StoreError::Internal(
                "the writer has a foreign connection".to_owned(),
            )),
        }
    }
}
