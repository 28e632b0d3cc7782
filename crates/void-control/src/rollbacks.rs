//! The answer to a database that went back under a running server (I38): what waited in the older
//! copy is void, everything is frozen until the owner has looked, and the record says so. The store
//! refuses every other write until this one is committed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use void_domain::freezes::{Freeze, Frozen};
use void_store::{Rollback, StoreError};

use crate::control::Control;
use crate::notifications::rollbacks as telling;
use crate::{freezes, nodes, quarantine, records, witness};

const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Waits for a rollback to be noticed, and answers it.
pub(crate) fn start(control: &Control) {
    let control = control.clone();
    tokio::spawn(async move {
        let mut noticed = control.store.rollbacks();
        let mut stopping = control.stopping.subscribe();
        loop {
            let rollback = *noticed.borrow_and_update();
            if let Some(rollback) = rollback {
                answer(&control, rollback).await;
                continue;
            }
            tokio::select! {
                changed = noticed.changed() => if changed.is_err() { return },
                _ = stopping.wait_for(|stop| *stop) => return,
            }
        }
    });
}

async fn answer(control: &Control, rollback: Rollback) {
    control.halted.store(true, Ordering::SeqCst);
    control.brake.pull();
    tracing::error!(
        seen = rollback.seen_seq,
        found = rollback.found_seq,
        "the database went back to an older state while Void ran: what waited in it is void, and everything is frozen"
    );
    match repair(control, rollback).await {
        Ok(voided) => {
            control.halted.store(false, Ordering::SeqCst);
            witness::start_again(control).await;
            let _ = freezes::apply_stored(control).await;
            let _ = nodes::remember(control).await;
            tracing::error!(
                voided,
                "the rollback is on the record: look at the catalogue, the tokens and the machines, then void thaw"
            );
        }
        Err(error) => {
            tracing::error!(%error, "the rollback could not be recorded; it is tried again, and nothing runs until then");
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }
}

async fn repair(control: &Control, rollback: Rollback) -> Result<u64, StoreError> {
    let (scribe, at) = (control.scribe(&control.system_ctx()?), control.clock.now());
    control
        .store
        .repair(move |tx| {
            Box::pin(async move {
                let detail = json!({
                    "noted_seq": rollback.seen_seq,
                    "noted_hash": rollback.seen_hash,
                    "found_seq": rollback.found_seq,
                    "found_hash": rollback.found_hash,
                });
                let subject = Some(telling::SUBJECT.to_owned());
                records::audit(tx, &scribe, at, telling::ROLLED_BACK, subject, detail).await?;
                let voided = quarantine::shut_down(tx, &scribe, at, quarantine::RESTORED)
                    .await?
                    .voided;
                let frozen = Freeze::Frozen(Frozen {
                    by: "system".to_owned(),
                    at,
                    reason: Some(format!(
                        "the database went back from entry {} of the record to entry {} while Void ran; {voided} that were \
                         open in the older copy are void",
                        rollback.seen_seq, rollback.found_seq
                    )),
                    until: None,
                });
                freezes::save(tx, &scribe, at, "freeze.set", &frozen).await?;
                Ok::<_, StoreError>(voided)
            })
        })
        .await
}
