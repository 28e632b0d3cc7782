//! The writer task: the same batches as on SQLite. The row `heads` is locked from the first use
//! case to the commit, so several instances take turns and numbers follow the commits.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use deadpool_postgres::{Object, Pool};
use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use void_domain::fail_point;

use super::PostgresTx;
use crate::errors::StoreError;
use crate::heads;
use crate::tx::{Engine, Tx};
use crate::writer::{BATCH_MAX, Done, Job};

pub(super) async fn last_event(client: Object) -> Result<u64, StoreError> {
    let mut tx = Tx::new(Engine::Postgres(PostgresTx::new(client)));
    let seq = heads::load(&mut tx).await?.event_seq;
    release(tx);
    Ok(seq)
}

pub(super) fn start(
    pool: Pool,
    mut queue: mpsc::Receiver<Box<dyn Job>>,
    committed: Arc<watch::Sender<u64>>,
) {
    tokio::spawn(async move {
        let mut waiting: Vec<Box<dyn Job>> = Vec::with_capacity(BATCH_MAX);
        while queue.recv_many(&mut waiting, BATCH_MAX).await > 0 {
            batch(&pool, &mut waiting, &committed).await;
        }
    });
}

async fn batch(pool: &Pool, waiting: &mut Vec<Box<dyn Job>>, committed: &watch::Sender<u64>) {
    let client = match pool.get().await {
        Ok(client) => client,
        Err(error) => {
            let error = StoreError::from(error);
            waiting.drain(..).for_each(|job| job.refuse(error.clone()));
            return;
        }
    };
    let mut tx = Tx::new(Engine::Postgres(PostgresTx::new(client)));
    let mut done: Vec<Done> = Vec::with_capacity(waiting.len());
    let mut broken = begin(&mut tx).await.err();
    for job in waiting.drain(..) {
        match &broken {
            Some(error) => job.refuse(error.clone()),
            None => match run_one(&mut tx, job).await {
                Ok(ran) => done.extend(ran),
                Err(error) => broken = Some(error),
            },
        }
    }
    let outcome = match broken {
        Some(error) => Err(error),
        None => commit(&mut tx).await,
    };
    match &outcome {
        Ok(seq) => {
            raise(committed, *seq);
            release(tx);
        }
        Err(error) => tracing::error!(%error, "a batch of writes was rolled back"),
    }
    for ran in done {
        (ran.answer)(outcome.clone().map(|_| ()));
    }
}

async fn begin(tx: &mut Tx) -> Result<(), StoreError> {
    sql(tx, "BEGIN").await?;
    let heads = heads::load_locked(tx).await?;
    tx.set_heads(Some(heads));
    Ok(())
}

/// `Err` means that the transaction itself is broken and nobody's writes survive.
async fn run_one(tx: &mut Tx, job: Box<dyn Job>) -> Result<Option<Done>, StoreError> {
    let before = tx.heads_now();
    sql(tx, "SAVEPOINT job").await?;
    let ran = AssertUnwindSafe(job.run(tx)).catch_unwind().await;
    if matches!(&ran, Ok(done) if done.keep) {
        sql(tx, "RELEASE job").await?;
    } else {
        tx.set_heads(before);
        sql(tx, "ROLLBACK TO job; RELEASE job").await?;
    }
    if ran.is_err() {
        tracing::error!("a use case panicked");
    }
    Ok(ran.ok())
}

async fn commit(tx: &mut Tx) -> Result<u64, StoreError> {
    let Some(heads) = tx.heads_now() else {
        return Err(StoreError::Internal(
            "the batch lost its numbers".to_owned(),
        ));
    };
    heads::save(tx, heads).await?;
    fail_point!("store.commit.before");
    sql(tx, "NOTIFY void_events; COMMIT").await?;
    fail_point!("store.commit.after");
    Ok(heads.event_seq)
}

async fn sql(tx: &mut Tx, text: &str) -> Result<(), StoreError> {
    match tx.engine() {
        Engine::Postgres(tx) => tx.batch(text).await,
        Engine::Sqlite(_) => Err(StoreError::Internal(
            "the writer has a foreign connection".to_owned(),
        )),
    }
}

fn release(tx: Tx) {
    if let Engine::Postgres(tx) = tx.into_engine() {
        tx.release();
    }
}

/// The number never goes back, whoever reports it.
pub(super) fn raise(committed: &watch::Sender<u64>, seq: u64) {
    committed.send_if_modified(|known| {
        let newer = seq > *known;
        if newer {
            *known = seq;
        }
        newer
    });
}
