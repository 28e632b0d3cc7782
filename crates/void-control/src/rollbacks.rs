//! A database that went back, or was replaced, under a running server: nothing runs while it is so.
//!
//! The answer to one that went back (I38): what waited in the older copy is void, everything is frozen until
//! the owner has looked, and the record says so. The store refuses every other write until this one is
//! committed. If the record that we know is there again before that, it goes on where it was, and the record
//! says that too.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use void_domain::freezes::{Freeze, Frozen};
use void_store::{Rollback, StoreError, installation};

use crate::control::Control;
use crate::{facts, freezes, nodes, quarantine, witness};

const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Nothing can be recorded any more; nothing starts either.
pub(crate) fn halt_replaced(control: &Control) {
    control.freeze.halted.replaced.store(true, Ordering::SeqCst);
    control.freeze.switch.pull();
    tracing::error!("{}", StoreError::Replaced);
}

/// The file that we have open is the one in its place, again or still.
pub(crate) async fn resume_replaced(control: &Control) {
    if control.freeze.halted.replaced.swap(false, Ordering::SeqCst) {
        tracing::error!("the database's own file is in its place again: Void goes on");
        let _ = freezes::apply_stored(control).await;
    }
}

/// Waits for a rollback to be noticed, and answers it.
pub(crate) fn start(control: &Control) {
    let control = control.clone();
    tokio::spawn(async move {
        let mut noticed = control.store.rollbacks();
        let mut stopping = control.process.stopping.subscribe();
        let mut unanswered = None;
        loop {
            let rollback = *noticed.borrow_and_update();
            if let Some(rollback) = rollback {
                let is_answered = answer(&control, rollback).await;
                unanswered = (!is_answered).then_some(rollback);
                continue;
            }
            if let Some(undone) = unanswered.take() {
                resume(&control, undone).await;
            }
            tokio::select! {
                changed = noticed.changed() => if changed.is_err() { return },
                _ = stopping.wait_for(|stop| *stop) => return,
            }
        }
    });
}

/// Whether it is on the record.
async fn answer(control: &Control, rollback: Rollback) -> bool {
    control
        .freeze
        .halted
        .went_back
        .store(true, Ordering::SeqCst);
    control.freeze.switch.pull();
    tracing::error!(
        seen = rollback.seen_seq,
        found = rollback.found_seq,
        "the database went back to an older state while Void ran: what waited in it is void, and everything is frozen"
    );
    match repair(control, rollback).await {
        Ok(voided) => {
            control
                .freeze
                .halted
                .went_back
                .store(false, Ordering::SeqCst);
            witness::start_again(control).await;
            let _ = freezes::apply_stored(control).await;
            let _ = nodes::remember(control).await;
            tracing::error!(
                voided,
                "the rollback is on the record: look at the catalogue, the tokens and the machines, then void thaw"
            );
            true
        }
        Err(error) => {
            tracing::error!(%error, "the rollback could not be recorded; it is tried again, and nothing runs until then");
            tokio::time::sleep(RETRY_AFTER).await;
            false
        }
    }
}

/// The record that we know is there again, and nothing was written meanwhile.
async fn resume(control: &Control, undone: Rollback) {
    control
        .freeze
        .halted
        .went_back
        .store(false, Ordering::SeqCst);
    let _ = freezes::apply_stored(control).await;
    tracing::error!(
        "the database is again as it was before it went back: nothing of the older state was used, and Void goes on"
    );
    if let Err(error) = record_undone(control, undone).await {
        tracing::error!(%error, "that the database had gone back for a while could not be recorded");
    }
}

async fn record_undone(control: &Control, undone: Rollback) -> Result<(), StoreError> {
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    let detail = json!({"noted_seq": undone.seen_seq, "found_seq": undone.found_seq});
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "store.rollback_undone", None, detail).await
            })
        })
        .await
}

fn reason(rollback: Rollback, voided: u64) -> String {
    let (seen, found) = (rollback.seen_seq, rollback.found_seq);
    if found > seen {
        return format!(
            "the record was changed by somebody else while Void ran: it had {seen} entries, and {found} were found; {voided} that \
             were open are void"
        );
    }
    format!(
        "the database went back from entry {seen} of the record to entry {found} while Void ran; {voided} that were open in the \
         older copy are void"
    )
}

async fn repair(control: &Control, rollback: Rollback) -> Result<u64, StoreError> {
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    control
        .store
        .repair(move |tx| {
            Box::pin(async move {
                let detail = json!({
                    "noted_seq": rollback.seen_seq,
                    "noted_hash": rollback.seen_hash,
                    "found_seq": rollback.found_seq,
                    "found_hash": rollback.found_hash,
                    "epoch": installation::raise_epoch(tx).await?,
                });
                let subject = Some(witness::ROLLBACK_SUBJECT.to_owned());
                facts::audit(tx, &context, at, witness::ROLLED_BACK, subject, detail).await?;
                let voided = quarantine::shut_down(tx, &context, at, quarantine::RESTORED)
                    .await?
                    .voided;
                let frozen = Freeze::Frozen(Frozen {
                    by: "system".to_owned(),
                    at,
                    reason: Some(reason(rollback, voided)),
                    until: None,
                });
                freezes::save(tx, &context, at, "freeze.set", &frozen).await?;
                Ok::<_, StoreError>(voided)
            })
        })
        .await
}
