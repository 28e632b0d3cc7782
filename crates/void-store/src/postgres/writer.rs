//! The writer task: the same batches as on SQLite. The row `heads` is locked from the first use
//! case to the commit, so several instances take turns and numbers follow the commits.
//!
//! Use cases that may share run as a flight ([`super::flights`]), whose entries, numbers and commit are sent in one
//! go. If anything is wrong with one of them, what all of them wrote is rolled back, and they run again as the
//! others do: one after the other, each in a savepoint.
//!
//! Every batch has a deadline. What is answered as an error was not written, except for
//! [`StoreError::Unconfirmed`], which says that nobody knows.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool};
use futures_util::FutureExt as _;
use futures_util::future::{join3, join4};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};
use void_domain::fail_point;

use super::flights;
use super::limits::{self, BATCH_WITHIN, COMMIT_WITHIN, SETTLE_WITHIN, within};
use crate::errors::StoreError;
use crate::heads::{self, Heads, Newest};
use crate::rollbacks::{HighWater, Rollback};
use crate::tx::flights::{Flight, Want};
use crate::tx::{Engine, PostgresTx, Tx};
use crate::values::{Row, Value, values};
use crate::writer::{BATCH_MAX, Done, Job, admit};
use crate::{facts, freezes, installation};

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
    let writer = PostgresWriter {
        pool,
        committed,
        high_water,
    };
    tokio::spawn(async move {
        let mut waiting: Vec<Box<dyn Job>> = Vec::with_capacity(BATCH_MAX);
        while queue.recv_many(&mut waiting, BATCH_MAX).await > 0 {
            while let Some(first) = waiting.first() {
                let is_shared = first.is_shared();
                let others = waiting.iter().position(|job| job.is_shared() != is_shared);
                let batch = waiting.drain(..others.unwrap_or(waiting.len())).collect();
                writer.batch(batch, is_shared).await;
            }
        }
    });
}

struct PostgresWriter {
    pool: Pool,
    committed: Arc<watch::Sender<Newest>>,
    high_water: HighWater,
}

/// What was committed, and whether it repaired the record.
type Outcome = Result<(Heads, Option<Rollback>), StoreError>;

impl PostgresWriter {
    /// Runs use cases of one kind, in the order in which they came.
    async fn batch(&self, mut jobs: Vec<Box<dyn Job>>, is_shared: bool) {
        let deadline = Instant::now() + BATCH_WITHIN;
        let mut done: Vec<Done> = Vec::with_capacity(jobs.len());
        if is_shared {
            match self.fly(&mut jobs, &mut done, deadline).await {
                Ok(heads) => return self.tell(Ok((heads, None)), done),
                Err(Grounded::Again(error)) if Instant::now() < deadline => {
                    tracing::debug!(%error, "use cases of a batch run again, one by one");
                    done.clear();
                }
                Err(Grounded::ForGood(error) | Grounded::Again(error)) => {
                    self.tell(Err(error.clone()), done);
                    return jobs.iter().for_each(|job| job.refuse(error.clone()));
                }
            }
        }
        let outcome = self.one_by_one(jobs, &mut done, deadline).await;
        self.tell(outcome, done);
    }

    fn tell(&self, outcome: Outcome, done: Vec<Done>) {
        match &outcome {
            Ok((heads, rollback)) => {
                match rollback {
                    None => self.high_water.committed(*heads),
                    Some(_) => self.high_water.repaired(*heads),
                }
                raise(&self.committed, heads.newest());
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

    /// Runs them beside each other, and commits.
    async fn fly(
        &self,
        jobs: &mut [Box<dyn Job>],
        done: &mut Vec<Done>,
        deadline: Instant,
    ) -> Result<Heads, Grounded> {
        let mut tx = self.connect().await?;
        let flying = timeout_at(deadline, self.fly_with(&mut tx, jobs)).await;
        let (txid, flight) = match flying {
            Ok(Ok((txid, flight, ran))) => {
                done.extend(ran);
                (txid, flight)
            }
            Ok(Err(grounded)) => {
                if matches!(grounded, Grounded::Again(_)) {
                    release(tx);
                }
                return Err(grounded);
            }
            Err(_late) => return Err(late().into()),
        };
        self.land(tx, txid, &flight).await
    }

    async fn fly_with(
        &self,
        tx: &mut Tx,
        jobs: &mut [Box<dyn Job>],
    ) -> Result<(i64, Flight, Vec<Done>), Grounded> {
        let (heads, txid, known) = begin_flight(connection(tx)?).await?;
        if self.high_water.check(tx, heads).await?.is_some() {
            return Err(StoreError::RolledBack.into());
        }
        let flight = Flight::new(heads, jobs.len());
        for (sql, rows) in known {
            flight.know(sql, rows);
        }
        match flights::fly(connection(tx)?, &flight, jobs).await {
            Ok(done) => Ok((txid, flight, done)),
            // A connection that still answers is not what is wrong.
            Err(error) => match connection(tx)?.batch("ROLLBACK").await {
                Ok(()) => Err(Grounded::Again(error)),
                Err(_) => Err(Grounded::ForGood(error)),
            },
        }
    }

    /// Entries, numbers and commit in one go. If the entries do not fit, the server refuses the commit.
    async fn land(&self, mut tx: Tx, txid: i64, flight: &Flight) -> Result<Heads, Grounded> {
        let entries = flight.take_entries();
        let (heads, rows) = (flight.board().heads, facts::sealed_rows(&entries));
        let landing = async {
            let tx = connection(&mut tx).map_err(|error| (error, false))?;
            let Err(error) = send_landing(tx, heads, &rows).await else {
                return Ok(());
            };
            // A connection that still answers is not what is wrong.
            Err((error, tx.batch("ROLLBACK").await.is_ok()))
        };
        let (error, answers) = match timeout(COMMIT_WITHIN, landing).await {
            Ok(Ok(())) => {
                release(tx);
                fail_point!("store.commit.after");
                return Ok(heads);
            }
            Ok(Err(failed)) => failed,
            Err(_late) => (limits::late("a commit", COMMIT_WITHIN), false),
        };
        if answers {
            release(tx);
        } else {
            // Closed first: what is not committed yet shall not be later.
            drop(tx);
        }
        tracing::warn!(%error, "a commit was not confirmed; asking what became of it");
        match settle(&self.pool, txid, error).await {
            Ok(()) => Ok(heads),
            Err(error) if answers && error != StoreError::Unconfirmed => {
                Err(Grounded::Again(error))
            }
            Err(error) => Err(Grounded::ForGood(error)),
        }
    }

    async fn one_by_one(
        &self,
        jobs: Vec<Box<dyn Job>>,
        done: &mut Vec<Done>,
        deadline: Instant,
    ) -> Outcome {
        let mut tx = match self.connect().await {
            Ok(tx) => tx,
            Err(error) => {
                jobs.iter().for_each(|job| job.refuse(error.clone()));
                return Err(error);
            }
        };
        let begun = run_all(&mut tx, jobs, done, &self.high_water, deadline).await?;
        let heads = commit(tx, begun.txid, &self.pool).await?;
        Ok((heads, begun.rollback))
    }

    async fn connect(&self) -> Result<Tx, StoreError> {
        let client = self.pool.get().await?;
        Ok(Tx::new(Engine::Postgres(PostgresTx::new(client))))
    }
}

/// Why a flight was not committed. None of it was, unless the error is [`StoreError::Unconfirmed`].
enum Grounded {
    /// Something is wrong with one of them: one by one they run without it. No transaction is open.
    Again(StoreError),
    ForGood(StoreError),
}

impl From<StoreError> for Grounded {
    fn from(error: StoreError) -> Self {
        Self::ForGood(error)
    }
}

/// Rows are looked up by an index, whatever size the tables had when the plans were made: a connection keeps them.
const BEGIN_FLIGHT: &str = "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
    SET LOCAL enable_mergejoin = off; SET LOCAL jit = off";
const COMMIT: &str = "NOTIFY void_events; COMMIT";

/// Rows by the statement that reads them.
type Known = [(&'static str, Vec<Row>); 2];

/// The numbers, by which number the server knows the transaction, and what no use case of a flight can change.
async fn begin_flight(connection: &PostgresTx) -> Result<(Heads, i64, Known), StoreError> {
    // What is sent before the lock is given must be answered after it.
    for sql in [heads::LOCK, freezes::LOAD, installation::EPOCH] {
        connection.prepare(sql).await?;
    }
    let (begun, locked, freeze, epoch) = join4(
        connection.batch(BEGIN_FLIGHT),
        connection.query("heads", heads::LOCK, &[]),
        connection.query("freezes", freezes::LOAD, &[]),
        connection.query("installation", installation::EPOCH, &[]),
    )
    .await;
    begun?;
    let (heads, txid) = heads::locked(&locked?)?;
    let known = [(freezes::LOAD, freeze?), (installation::EPOCH, epoch?)];
    Ok((heads, txid, known))
}

/// Entries, numbers and commit, in one go.
async fn send_landing(
    tx: &PostgresTx,
    heads: Heads,
    rows: &[Vec<Value<'_>>],
) -> Result<(), StoreError> {
    // Sent as they are: one that is to be prepared first would come after the commit.
    tx.prepare_many(facts::INSERT_SEALED).await?;
    tx.prepare(heads::UPDATE).await?;
    fail_point!("store.commit.before");
    let values = heads::update_values(heads);
    let (stored, saved, committed) = join3(
        tx.many(facts::INSERT_SEALED, Want::Count, rows),
        tx.execute(heads::UPDATE, &values),
        tx.batch(COMMIT),
    )
    .await;
    stored?;
    match saved? {
        1 => committed,
        _ => Err(heads::missing()),
    }
}

fn connection(tx: &mut Tx) -> Result<&PostgresTx, StoreError> {
    match tx.engine() {
        Engine::Postgres(tx) => Ok(tx),
        Engine::Sqlite(_) | Engine::Flight(_) => Err(StoreError::Internal(
            "the writer has a foreign connection".to_owned(),
        )),
    }
}

fn late() -> StoreError {
    limits::late("a batch of writes", BATCH_WITHIN)
}

/// A transaction that holds the row.
struct Begun {
    txid: i64,
    /// The database went back: only what repairs that is let through.
    rollback: Option<Rollback>,
}

/// Runs them one after the other, all within one deadline. What ran is in `done`, whoever did not was
/// answered. `Err`: nobody's writes survive.
async fn run_all(
    tx: &mut Tx,
    jobs: Vec<Box<dyn Job>>,
    done: &mut Vec<Done>,
    high_water: &HighWater,
    deadline: Instant,
) -> Result<Begun, StoreError> {
    let begun = timeout_at(deadline, begin(tx, high_water)).await;
    let begun = begun.unwrap_or_else(|_| Err(late()));
    let went_back = begun.as_ref().is_ok_and(|begun| begun.rollback.is_some());
    let mut broken = begun.as_ref().err().cloned();
    for mut job in jobs {
        let admitted = admit(job.urgency(), went_back);
        if let Some(error) = broken.clone().or(admitted.err()) {
            job.refuse(error);
            continue;
        }
        let ran = timeout_at(deadline, run_one(tx, &mut *job)).await;
        match ran.unwrap_or_else(|_| Err(late())) {
            Ok(ran) => done.extend(ran),
            Err(error) => {
                job.refuse(error.clone());
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
    let (heads, txid) = heads::locked(&tx.all("heads", heads::LOCK, &[]).await?)?;
    let rollback = high_water.check(tx, heads).await?;
    tx.set_heads(Some(heads));
    Ok(Begun { txid, rollback })
}

/// `Err` means that the transaction itself is broken and nobody's writes survive.
async fn run_one(tx: &mut Tx, job: &mut dyn Job) -> Result<Option<Done>, StoreError> {
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
    let committing = sql(&mut tx, COMMIT);
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
    connection(tx)?.batch(text).await
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
