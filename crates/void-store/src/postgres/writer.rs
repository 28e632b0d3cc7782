//! The writer task: the same batches as on SQLite. The row `heads` is locked from the first use
//! case to the commit, so several instances take turns and numbers follow the commits.
//!
//! Every batch has a deadline. What is answered as an error was not written, except for
//! [`StoreError::Unconfirmed`], which says that nobody knows.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use futures_util::FutureExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};
use void_domain::fail_point;

use super::limits::{self, BATCH_WITHIN, COMMIT_WITHIN, SETTLE_WITHIN, within};
use crate::errors::StoreError;
use crate::heads::{self, Heads, Newest};
use crate::rollbacks::{HighWater, Rollback};
use crate::tx::{Engine, PostgresTx, Tx};
use crate::values::values;
use crate::writer::{BATCH_MAX, Done, Job, admit};

const ASK_EVERY: Duration = Duration::from_millis(100);

pub(super) async fn heads_now(client: Object) -> Result<Heads, StoreError> {
    let mut tx = Tx::new(Engine::Postgres(PostgresTx::new(client)));
    let heads = heads::load(&mut tx).await?;
    release(tx);
    Ok(heads)
}

pub(super) fn start(
    pool: Pool,
    mut queue: mpsc::Receiver<Box<dyn Job>>,
    committed: Arc<watch::Sender<Newest>>,
    high_water: HighWater,
) {
    tokio::spawn(async move {
        let mut waiting: Vec<Box<dyn Job>> = Vec::with_capacity(BATCH_MAX);
        while queue.recv_many(&mut waiting, BATCH_MAX).await > 0 {
            batch(&pool, &mut waiting, &committed, &high_water).await;
        }
    });
}

async fn batch(
    pool: &Pool,
    waiting: &mut Vec<Box<dyn Job>>,
    committed: &watch::Sender<Newest>,
    high_water: &HighWater,
) {
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
    let outcome = match run_all(&mut tx, waiting, &mut done, high_water).await {
        Err(error) => Err(error),
        Ok(begun) => commit(tx, begun.txid, pool)
            .await
            .map(|heads| (heads, begun.rollback)),
    };
    match &outcome {
        Ok((heads, rollback)) => {
            match rollback {
                None => high_water.committed(*heads),
                Some(_) => high_water.repaired(*heads),
            }
            raise(committed, heads.newest());
        }
        Err(StoreError::Unconfirmed) => {
            tracing::error!("nobody can say whether a batch of writes was committed");
        }
        Err(error) => tracing::error!(%error, "a batch of writes was rolled back"),
    }
    for ran in done {
        (ran.answer)(outcome.clone().map(|_| ()));
    }
}

/// A transaction that holds the row.
struct Begun {
    txid: i64,
    /// The database went back: only what repairs that is let through.
    rollback: Option<Rollback>,
}

/// Runs what waits, all of it within one deadline. What ran is in `done`, whoever did not was
/// answered. `Err`: nobody's writes survive.
async fn run_all(
    tx: &mut Tx,
    waiting: &mut Vec<Box<dyn Job>>,
    done: &mut Vec<Done>,
    high_water: &HighWater,
) -> Result<Begun, StoreError> {
    let deadline = Instant::now() + BATCH_WITHIN;
    let late = || limits::late("a batch of writes", BATCH_WITHIN);
    let begun = timeout_at(deadline, begin(tx, high_water)).await;
    let begun = begun.unwrap_or_else(|_| Err(late()));
    let went_back = begun.as_ref().is_ok_and(|begun| begun.rollback.is_some());
    let mut broken = begun.as_ref().err().cloned();
    for job in waiting.drain(..) {
        let admitted = admit(job.urgency(), went_back);
        if let Some(error) = broken.clone().or(admitted.err()) {
            job.refuse(error);
            continue;
        }
        let refuse = job.refuser();
        let ran = timeout_at(deadline, run_one(tx, job)).await;
        match ran.unwrap_or_else(|_| Err(late())) {
            Ok(ran) => done.extend(ran),
            Err(error) => {
                refuse(error.clone());
                broken = Some(error);
            }
        }
    }
    if went_back && broken.is_none() && !done.iter().any(|ran| ran.keep) {
        return Err(StoreError::RolledBack);
    }
    broken.map_or(begun, Err)
}

async fn begin(tx: &mut Tx, high_water: &HighWater) -> Result<Begun, StoreError> {
    sql(tx, "BEGIN").await?;
    let (heads, txid) = heads::load_locked(tx).await?;
    let rollback = high_water.check(tx, heads).await?;
    tx.set_heads(Some(heads));
    Ok(Begun { txid, rollback })
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

/// The heads, once it is known that the batch is on disk.
async fn commit(mut tx: Tx, txid: i64, pool: &Pool) -> Result<Heads, StoreError> {
    let Some(heads) = tx.heads_now() else {
        return Err(StoreError::Internal(
            "the batch lost its numbers".to_owned(),
        ));
    };
    within(
        COMMIT_WITHIN,
        "saving the numbers",
        heads::save(&mut tx, heads),
    )
    .await?;
    fail_point!("store.commit.before");
    let committing = sql(&mut tx, "NOTIFY void_events; COMMIT");
    match within(COMMIT_WITHIN, "a commit", committing).await {
        Ok(()) => release(tx),
        Err(error) => {
            // Closed first: what is not committed yet shall not be later.
            drop(tx);
            tracing::warn!(%error, "a commit was not confirmed; asking what became of it");
            settle(pool, txid, error).await?;
        }
    }
    fail_point!("store.commit.after");
    Ok(heads)
}

/// A commit whose answer was lost may have happened: the server is asked, by a new connection, until
/// it knows. `Ok` is committed.
async fn settle(pool: &Pool, txid: i64, error: StoreError) -> Result<(), StoreError> {
    let asking = async {
        loop {
            match status(pool, txid).await.as_deref() {
                Ok("committed") => return Ok(()),
                Ok("aborted") => return Err(error),
                Ok(_) | Err(_) => tokio::time::sleep(ASK_EVERY).await,
            }
        }
    };
    timeout(SETTLE_WITHIN, asking)
        .await
        .unwrap_or(Err(StoreError::Unconfirmed))
}

async fn status(pool: &Pool, txid: i64) -> Result<String, StoreError> {
    let mut tx = Tx::new(Engine::Postgres(PostgresTx::new(pool.get().await?)));
    let row = tx
        .one(
            "transactions",
            "SELECT txid_status($1) AS status",
            values![txid],
        )
        .await?;
    release(tx);
    let status = row.as_ref().map(|row| row.opt_text("status")).transpose()?;
    Ok(status.flatten().unwrap_or_default().to_owned())
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

/// What is known to be committed never goes back, whoever reports it.
pub(super) fn raise(committed: &watch::Sender<Newest>, newest: Newest) {
    committed.send_if_modified(|known| {
        let newer = newest > *known;
        if newer {
            *known = newest;
        }
        newer
    });
}
