//! The store as use cases see it: `write` and `read`, on either engine.

use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};

use crate::errors::StoreError;
use crate::postgres::{PostgresConfig, PostgresReaders};
use crate::sqlite::{SqliteConfig, SqliteReaders};
use crate::tx::Tx;
use crate::writer::{Job, QUEUE_MAX, Urgency, UseCase};
use crate::{postgres, sqlite};

#[derive(Clone)]
pub struct Store {
    jobs: mpsc::Sender<Box<dyn Job>>,
    readers: Readers,
    committed: watch::Receiver<u64>,
}

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
        let (readers, committed) = opened.await.map_err(internal)??;
        Ok(Self {
            jobs,
            readers: Readers::Sqlite(readers),
            committed,
        })
    }

    /// Connects, brings the database to this version's schema and starts the writer.
    pub async fn open_postgres(config: PostgresConfig) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel(QUEUE_MAX);
        let (readers, committed) = postgres::open(&config, queue).await?;
        Ok(Self {
            jobs,
            readers: Readers::Postgres(readers),
            committed,
        })
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

    async fn submit<T, E, F>(&self, urgency: Urgency, body: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(UseCase {
            urgency,
            body,
            reply,
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
        match &self.readers {
            Readers::Sqlite(readers) => readers.read(body).await,
            // Large, and part of every request's future otherwise, also of those that wait for long.
            Readers::Postgres(readers) => Box::pin(readers.read(body)).await,
        }
    }

    /// The number of the newest event that is known to be committed; changes wake the listeners.
    pub fn committed(&self) -> watch::Receiver<u64> {
        self.committed.clone()
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

fn internal(error: tokio::task::JoinError) -> StoreError {
    StoreError::Internal(error.to_string())
}
