//! One process per instance: a data folder that was copied, with its machine or by hand, is the same instance
//! twice, and each of the two would take the other's runs on `local` for its own and ask the wrong journal.
//!
//! So every process has a mark of its own in the row of its instance. A newcomer that finds somebody else's mark
//! waits for a sign of life: seeing one it does not start; it takes over when the database has no such connection
//! any more (a crash, a kill, a reload), or nothing was heard for [`LIVE_FOR`]. A process whose mark is gone claims
//! and settles nothing from then on, and says so; stopping and starting it again is the way back.
//!
//! What cannot be told apart: a process that the database heard nothing of for [`LIVE_FOR`] and one that is dead.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use void_store::instances::{self, Holder};
use void_store::{StoreError, Tx};

use super::{Instance, LIVE_FOR, SEEN_EVERY, StartError, own};
use crate::control::Control;
use crate::facts;

const LOOK_EVERY: Duration = Duration::from_millis(250);
/// For longer than this nobody waits: a mark that was not renewed until then is a dead one's.
const LOOKS_MAX: u128 = (LIVE_FOR.as_millis() + SEEN_EVERY.as_millis()) / LOOK_EVERY.as_millis();

/// Waits until nobody else works under this instance's id; an error if somebody does.
pub(super) async fn wait_for_predecessor(control: &Control) -> Result<(), StartError> {
    if control.store.is_sqlite() {
        return Ok(());
    }
    let mut first: Option<Holder> = None;
    for _ in 0..LOOKS_MAX {
        let this = control.clone();
        let read = control
            .store
            .read(move |tx| Box::pin(async move { other_holder(tx, &this).await }));
        let Some(found) = read.await? else {
            return Ok(());
        };
        match &first {
            Some(first) if *first != found => return Err(twin(control, &found)),
            Some(_) => {}
            None => {
                tracing::warn!(
                    seen = %found.seen_at,
                    "another process worked under this instance's id a moment ago; waiting for up to {} s whether it is still there",
                    LIVE_FOR.as_secs()
                );
                first = Some(found);
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// In the transaction that registers this process: nobody has come meanwhile.
pub(super) async fn refuse_twin(tx: &mut Tx, control: &Control) -> Result<(), StartError> {
    if control.store.is_sqlite() {
        return Ok(());
    }
    match other_holder(tx, control).await? {
        Some(found) => Err(twin(control, &found)),
        None => Ok(()),
    }
}

/// Another process that is there under this instance's id.
async fn other_holder(tx: &mut Tx, control: &Control) -> Result<Option<Holder>, StoreError> {
    let holder = instances::holder(tx, &control.process.instance.id, LIVE_FOR).await?;
    Ok(holder.filter(|holder| holder.is_there && holder.process != control.process.mark))
}

fn twin(control: &Control, found: &Holder) -> StartError {
    StartError::Twin(Box::new(Instance {
        seen_at: found.seen_at,
        ..own(control, found.seen_at)
    }))
}

/// What became of a sign of life.
enum ProcessNote {
    Seen,
    /// The row is another process's, which is there.
    TakenOver(Holder),
}

/// Says again that this process is there.
pub(crate) async fn note_seen(control: &Control) -> Result<(), StoreError> {
    // A SQLite file has one process, whose lock says it.
    if control.store.is_sqlite() || is_displaced(control) {
        return Ok(());
    }
    let (this, own) = (control.clone(), own(control, control.clock.now()));
    let noted = control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                if instances::note_seen(tx, &own.id, &this.process.mark).await? {
                    return Ok(ProcessNote::Seen);
                }
                if let Some(holder) = other_holder(tx, &this).await? {
                    return Ok(ProcessNote::TakenOver(holder));
                }
                // Nobody is there: it was forgotten, or came back with an older copy of the database.
                instances::register(tx, &own, &this.process.mark).await?;
                Ok::<_, StoreError>(ProcessNote::Seen)
            })
        })
        .await?;
    match noted {
        ProcessNote::Seen => Ok(()),
        ProcessNote::TakenOver(holder) => step_aside(control, &holder).await,
    }
}

/// Nothing is started or settled here any more.
async fn step_aside(control: &Control, by: &Holder) -> Result<(), StoreError> {
    control.process.displaced.store(true, Ordering::SeqCst);
    tracing::error!(seen = %by.seen_at, "{}", StoreError::Displaced);
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    let detail = json!({"instance": control.process.instance.name, "id": control.process.instance.id, "seen_at": by.seen_at});
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "instance.displaced", None, detail).await
            })
        })
        .await
}

/// Whether another process took over.
pub fn is_displaced(control: &Control) -> bool {
    control.process.displaced.load(Ordering::SeqCst)
}

/// Whether this process works under its instance's id at this moment.
pub(super) async fn holds(tx: &mut Tx, control: &Control) -> Result<bool, StoreError> {
    if control.store.is_sqlite() {
        return Ok(true);
    }
    if is_displaced(control) {
        return Ok(false);
    }
    instances::is_held_by(tx, &control.process.instance.id, &control.process.mark).await
}
