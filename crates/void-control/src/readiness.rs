//! Whether Void takes work: no other process took over, and a write goes through the writer to the disk. Asked at most once a second,
//! whoever asks, and answered within [`READY_WITHIN`], whatever the database does.

use std::sync::PoisonError;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use void_store::StoreError;

use crate::control::Control;
use crate::instances;
use crate::parts::readiness::Verdict;

/// A write that takes longer than this is not ready, even if it succeeds later.
pub const READY_WITHIN: Duration = Duration::from_secs(3);
/// How long an answer is good for.
const FRESH: Duration = Duration::from_secs(1);

pub(crate) async fn check(control: &Control) -> Verdict {
    if instances::is_displaced(control) {
        return Err(StoreError::Displaced);
    }
    let (begun, mut ended) = newest_trial(control);
    let waited = timeout_at(begun + READY_WITHIN, ended.wait_for(Option::is_some)).await;
    match waited {
        Ok(Ok(verdict)) => verdict.clone().unwrap_or(Ok(())),
        Ok(Err(_)) => Err(StoreError::Unavailable(
            "the trial of a write ended without an answer".to_owned(),
        )),
        Err(_late) => Err(StoreError::Unavailable(format!(
            "a write has not been recorded for {} s",
            READY_WITHIN.as_secs()
        ))),
    }
}

/// The trial that is under way or still fresh, or a new one. A second one never waits behind the first.
fn newest_trial(control: &Control) -> (Instant, watch::Receiver<Option<Verdict>>) {
    let mut newest = control
        .process
        .readiness
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some((begun, ended)) = &*newest
        && (ended.borrow().is_none() && ended.has_changed().is_ok() || begun.elapsed() < FRESH)
    {
        return (*begun, ended.clone());
    }
    let (sender, ended) = watch::channel(None);
    let store = control.store.clone();
    tokio::spawn(async move {
        // Every batch writes the row of the heads, also one without anything else in it.
        let verdict = store.write(|_tx| Box::pin(async { Ok(()) })).await;
        sender.send_replace(Some(verdict));
    });
    let trial = (Instant::now(), ended);
    *newest = Some(trial.clone());
    trial
}
