//! Forgets what is older than the settings say. One small transaction after the other, so that nobody
//! waits for the writer; a crash between two of them leaves less to do, and two instances share the work.

use std::time::{Duration, Instant};

use void_domain::retention::Kept;
use void_domain::time::Timestamp;
use void_store::{BoxFuture, StoreError, Tx, retention};

use crate::clock::believed_until;
use crate::control::Control;
pub use crate::parts::sizes::Sizes;

/// How many rows one transaction takes.
const BATCH: u32 = 200;
/// How many transactions one round has for each kind; the next round goes on.
const BATCHES_MAX: u32 = 500;
/// For how long a count of all rows is good enough.
pub const SIZES_KEPT: Duration = Duration::from_secs(5);
const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// Takes what ended before a moment; nothing later than the other one is believed to be young.
type Prune = for<'t> fn(&'t mut Tx, Timestamp, Timestamp) -> BoxFuture<'t, Result<u64, StoreError>>;

const fn prune_of(kept: Kept) -> Prune {
    match kept {
        Kept::Refused => |tx, before, _| Box::pin(retention::prune_refused(tx, before, BATCH)),
        Kept::Ended => |tx, before, _| Box::pin(retention::prune_ended(tx, before, BATCH)),
        Kept::Events => {
            |tx, before, until| Box::pin(retention::prune_events(tx, before, until, BATCH))
        }
        Kept::Notifications => {
            |tx, before, _| Box::pin(retention::prune_notifications(tx, before, BATCH))
        }
        Kept::Sessions => |tx, before, _| Box::pin(retention::prune_sessions(tx, before, BATCH)),
        Kept::Messages => |tx, before, _| Box::pin(retention::prune_messages(tx, before, BATCH)),
    }
}

/// One round over everything; how many rows of each kind went.
pub async fn prune(control: &Control) -> Result<Vec<(Kept, u64)>, StoreError> {
    let now = control.clock.now();
    let until = believed_until(now);
    let mut gone = Vec::new();
    for kept in Kept::ALL {
        let before = control.bounds.limits.retention.horizon(kept, now);
        let mut rows = 0;
        for _ in 0..BATCHES_MAX {
            if control.is_stopping() {
                return Ok(gone);
            }
            let work = prune_of(kept);
            let batch: u64 = control
                .store
                .write_closing(move |tx| work(tx, before, until))
                .await?;
            rows += batch;
            if batch == 0 {
                break;
            }
        }
        if rows > 0 {
            tracing::info!(rows, kept = kept.as_str(), "forgot what was too old");
        }
        gone.push((kept, rows));
    }
    let before = control.bounds.limits.retention.horizon(Kept::Messages, now);
    let day = before.as_ms().div_euclid(MS_PER_DAY);
    control
        .store
        .write_closing(move |tx| Box::pin(retention::prune_usage(tx, day)))
        .await?;
    Ok(gone)
}

/// How large everything is, as of at most [`SIZES_KEPT`] ago: counting rows takes longer the more there
/// are, so however many ask, they are counted once.
pub async fn sizes(control: &Control) -> Result<Sizes, StoreError> {
    let mut last = control.safekeeping.last_sizes.0.lock().await;
    if let Some((at, sizes)) = &*last
        && at.elapsed() < SIZES_KEPT
    {
        return Ok(sizes.clone());
    }
    let this = control.clone();
    // In nobody's lane: the owner may wait for what somebody else asked for.
    let counting = tokio::spawn(async move { count(&this).await });
    let sizes = counting
        .await
        .map_err(|error| StoreError::Internal(error.to_string()))??;
    *last = Some((Instant::now(), sizes.clone()));
    Ok(sizes)
}

async fn count(control: &Control) -> Result<Sizes, StoreError> {
    let (rows, attachment_bytes) = control
        .store
        .read(|tx| {
            Box::pin(async move {
                let rows = retention::sizes(tx).await?;
                Ok::<_, StoreError>((rows, retention::attachment_bytes(tx).await?))
            })
        })
        .await?;
    Ok(Sizes {
        attachment_bytes,
        kept: control.bounds.limits.retention,
        rows,
        bytes: control.store.database_bytes().await?,
    })
}
