//! The store as use cases see it: `write` and `read`, on either engine.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use void_domain::digests::Digest;
use void_domain::time::Timestamp;

use crate::errors::StoreError;
use crate::heads::Newest;
use crate::lanes::{self, Lanes};
use crate::postgres::{PostgresConfig, PostgresReaders};
use crate::rollbacks::{HighWater, Rollback, compare};
use crate::schema;
use crate::sqlite::{SqliteConfig, SqliteReaders, Version};
use crate::tx::Tx;
use crate::values::DatabaseBytes;
use crate::writer::{Job, Order, QUEUE_MAX, Reply, SharedUseCase, Urgency, UseCase};
use crate::{clocks, heads, postgres, sqlite};

#[derive(Clone)]
pub struct Store {
    jobs: mpsc::Sender<Box<dyn Job>>,
    readers: Readers,
    lanes: Lanes,
    committed: watch::Receiver<Newest>,
    high_water: HighWater,
}

/// A read on its way to a connection; it keeps what it found where its caller takes it.
pub(crate) type Reading = Box<dyn for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, ()> + Send>;

#[derive(Clone)]
enum Readers {
    Sqlite(SqliteReaders),
    Postgres(PostgresReaders),
}

impl Store {
    /// Opens the file, brings it to this version's schema and starts the writer.
    pub async fn open_sqlite(config: SqliteConfig) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let opened = tokio::task::spawn_blocking(move || sqlite::open(&config, queue));
        let (readers, committed, high_water) = opened.await.map_err(internal)??;
        let store = Self {
            jobs,
            readers: Readers::Sqlite(readers),
            lanes: Lanes::new(sqlite::READERS_MAX),
            committed,
            high_water,
        };
        store.refuse_foreign().await?;
        Ok(store)
    }

    /// Connects, brings the database to this version's schema and starts the writer.
    pub async fn open_postgres(config: PostgresConfig) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (readers, committed, high_water) = postgres::open(&config, queue).await?;
        let store = Self {
            jobs,
            readers: Readers::Postgres(readers),
            lanes: Lanes::new(postgres::READERS_MAX),
            committed,
            high_water,
        };
        store.refuse_foreign().await?;
        Ok(store)
    }

    async fn refuse_foreign(&self) -> Result<(), StoreError> {
        self.read(|tx| Box::pin(schema::refuse_foreign(tx))).await
    }

    /// Runs a use case that starts something new. Its writes are durable when this returns `Ok`;
    /// an `Err` from the body rolls them back.
    pub async fn write<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.submit(Urgency::New, body).await
    }

    /// Runs a use case that brings something to its end; it is tried even when the disk is nearly
    /// full.
    pub async fn write_closing<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.submit(Urgency::Closing, body).await
    }

    /// As [`write`](Self::write), for a use case that may run beside others of its kind: in one batch, at the same
    /// time, each with its own view of what was committed before.
    ///
    /// Before it judges by something that another one may change, it takes the [`ConflictKey`](crate::ConflictKey) of that
    /// ([`Tx::take`]). It may run more than once before it is answered; only what it wrote the last time is kept.
    pub async fn write_shared<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.submit_shared(Urgency::New, body).await
    }

    /// As [`write_closing`](Self::write_closing), beside others.
    pub async fn write_closing_shared<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.submit_shared(Urgency::Closing, body).await
    }

    /// Runs the use case that answers a database that went back: the only one that is run until then.
    pub async fn repair<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.submit(Urgency::Repair, body).await
    }

    /// A database that went back and is neither repaired nor as it was; changes when that is noticed.
    pub fn rollbacks(&self) -> watch::Receiver<Option<Rollback>> {
        self.high_water.noticed()
    }

    /// The time by the clock of a database on another machine; `None` where it has this machine's clock. A
    /// database in a container of this machine has another address and the same clock, which nobody can see
    /// from here.
    pub async fn other_clock(&self) -> Result<Option<Timestamp>, StoreError> {
        if self.is_sqlite() {
            return Ok(None);
        }
        self.read(|tx| Box::pin(clocks::of_another_machine(tx)))
            .await
    }

    /// Looks whether the database went back, without waiting for the next write. The head, if it did not.
    pub async fn look_back(&self) -> Result<(u64, Digest), StoreError> {
        if self.high_water.is_file_replaced() {
            return Err(StoreError::Replaced);
        }
        // Taken before the snapshot, so that the snapshot cannot be the older of the two.
        let (seen, is_alone) = (self.high_water.seen(), self.high_water.is_alone());
        let (found, rollback) = self
            .read(move |tx| {
                Box::pin(async move {
                    let found = heads::load(tx).await?;
                    Ok::<_, StoreError>((found, compare(tx, seen, found, is_alone).await?))
                })
            })
            .await?;
        if rollback.is_none() {
            self.high_water.read(seen, found);
            return Ok((found.audit_seq, found.audit_hash));
        }
        // The writer looks for itself, and tells whoever listens.
        self.write_closing(|_| Box::pin(async { Ok::<_, StoreError>(()) }))
            .await?;
        Ok((
            self.high_water.seen().audit_seq,
            self.high_water.seen().audit_hash,
        ))
    }

    async fn submit<T, E, F>(&self, urgency: Urgency, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let job = |order| -> Box<dyn Job> {
            Box::new(UseCase {
                order,
                body: Some(body),
            })
        };
        self.send(urgency, job).await
    }

    async fn submit_shared<T, E, F>(&self, urgency: Urgency, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let job = |order| -> Box<dyn Job> { Box::new(SharedUseCase { order, body }) };
        self.send(urgency, job).await
    }

    async fn send<T, E>(
        &self,
        urgency: Urgency,
        job: impl FnOnce(Order<T, E>) -> Box<dyn Job>,
    ) -> Result<T, E>
    where
        E: From<StoreError>,
    {
        let place = lanes::write().await?;
        let (reply, answer) = oneshot::channel();
        let job = job(Order {
            urgency,
            reply: Reply::new(reply),
            place,
        });
        if self.jobs.send(job).await.is_err() {
            return Err(StoreError::Unavailable("the writer has stopped".to_owned()).into());
        }
        match answer.await {
            Ok(outcome) => outcome,
            Err(_) => Err(StoreError::Internal("the use case did not finish".to_owned()).into()),
        }
    }

    /// Runs reads on one consistent snapshot, beside the writer.
    pub async fn read<T, E, F>(&self, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let outcome = Arc::new(Mutex::new(None));
        let found = Arc::clone(&outcome);
        let read: Reading = Box::new(move |tx| {
            Box::pin(async move {
                let outcome = body(tx).await;
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            })
        });
        self.run(read).await?;
        let outcome = outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        outcome
            .unwrap_or_else(|| Err(StoreError::Internal("a read did not finish".to_owned()).into()))
    }

    /// Compiled once for all reads of the product, which are more than a hundred. What they differ in is behind `read`.
    fn run(&self, read: Reading) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let turn = self.lanes.read().await?;
            match &self.readers {
                Readers::Sqlite(readers) => readers.read(turn, read).await,
                // Large, and part of every request's future otherwise, also of those that wait for long.
                Readers::Postgres(readers) => Box::pin(readers.read(turn, read)).await,
            }
        })
    }

    /// How many use cases wait for the writer.
    pub fn writes_waiting(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    /// The newest entry that is known to be committed; changes wake the listeners.
    pub fn committed(&self) -> watch::Receiver<Newest> {
        self.committed.clone()
    }

    /// The database as it is now. What was read after a version was taken is what is there as long as this gives
    /// an equal one: nobody has committed anything since, neither this process nor whoever edits the file. `None`:
    /// that cannot be told here (PostgreSQL), or the file is not the one that it was, and what was read says
    /// nothing any more.
    pub fn version(&self) -> Option<Version> {
        let readers = self.sqlite_readers()?;
        match self.high_water.is_doubtful() {
            true => None,
            false => readers.version(),
        }
    }

    /// What the database takes on its disk.
    pub async fn database_bytes(&self) -> Result<DatabaseBytes, StoreError> {
        match &self.readers {
            Readers::Sqlite(readers) => {
                let path = readers.path().to_owned();
                let looking = tokio::task::spawn_blocking(move || sqlite::file_bytes(&path));
                looking.await.map_err(internal)?
            }
            Readers::Postgres(_) => self.read(|tx| Box::pin(postgres_bytes(tx))).await,
        }
    }

    pub const fn is_sqlite(&self) -> bool {
        matches!(self.readers, Readers::Sqlite(_))
    }

    pub(crate) const fn sqlite_readers(&self) -> Option<&SqliteReaders> {
        match &self.readers {
            Readers::Sqlite(readers) => Some(readers),
            Readers::Postgres(_) => None,
        }
    }
}

async fn postgres_bytes(tx: &mut Tx) -> Result<DatabaseBytes, StoreError> {
    let sql = "SELECT pg_database_size(current_database()) AS bytes";
    let row = tx.one("pg_database_size", sql, &[]).await?;
    Ok(DatabaseBytes {
        database: row.map_or(Ok(0), |row| row.count("bytes"))?,
        log: None,
    })
}

fn internal(error: tokio::task::JoinError) -> StoreError {
    StoreError::Internal(error.to_string())
}
