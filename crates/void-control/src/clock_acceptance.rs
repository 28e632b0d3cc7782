//! The clock against the record at a start, and the owner's word that it is right (`void clock accept`).
//!
//! Time goes on from the newest record, so a record that a wrong clock wrote holds it there for years. The owner
//! ends that, by a file that only this machine's account can leave; then everything that the other time gave out
//! ends with it, and what it dated ahead counts for nothing ([`crate::clock::is_ahead`]).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use void_domain::audit::AuditEntry;
use void_domain::time::Timestamp;
use void_store::{StoreError, audit, installation, notifications, quarantine, services};

use crate::control::Control;
use crate::proposals::void_open;
use crate::{facts, sessions};

/// The owner's word, left beside the database: the clock is right, and the record was written by one that
/// was not.
pub fn accept_file(witness_file: &Path) -> PathBuf {
    witness_file.with_file_name("clock.accept")
}

/// Time goes on from the newest record at least, unless the owner said that the clock is right.
pub(crate) async fn compare(control: &Control) -> Result<(), StoreError> {
    let newest = newest_entry(control).await?.map(|entry| entry.at);
    let ahead = newest.filter(|at| control.clock.is_far_ahead(*at));
    let doubt = control.clock.doubt();
    if let Some(file) = take_acceptance(control) {
        if ahead.is_some() || doubt.is_some() {
            return accept_wall_clock(control, newest, &file).await;
        }
        // Left lying, it would accept a jump of another day.
        tracing::warn!("the clock is not in doubt, so there is nothing to accept");
        remove(&file);
    }
    if let Some(at) = ahead {
        tracing::warn!(
            newest = %at,
            "the newest record is far ahead of the clock; time goes on from there, and hosts refuse \
             tickets that end so late. If the clock is right and the record is wrong: void clock accept"
        );
    } else if let Some(doubt) = doubt {
        tracing::warn!(
            wall = %doubt.wall, in_force = %doubt.in_force,
            "this machine's clock jumped while Void was not running; it is not followed. If it is right: void clock accept"
        );
    }
    if let Some(at) = newest {
        control.clock.not_before(at);
    }
    Ok(())
}

/// The file with the owner's word, if it is one.
fn take_acceptance(control: &Control) -> Option<PathBuf> {
    let file = accept_file(control.safekeeping.witness_file.as_deref()?);
    let is_file = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
    is_file.then_some(file)
}

fn remove(file: &Path) {
    if let Err(error) = fs::remove_file(file) {
        tracing::warn!(%error, "the note that the clock is accepted could not be removed");
    }
}

/// Time goes on from the wall's, by the owner's decision and on the record. Whatever waited or was given out
/// by the other one is void: it would last until that time comes.
async fn accept_wall_clock(
    control: &Control,
    newest: Option<Timestamp>,
    file: &Path,
) -> Result<(), StoreError> {
    let in_force = control.clock.now();
    control.clock.take_wall();
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    tracing::warn!(%in_force, %at, "the clock is accepted; what waited is void, and sessions, links, codes and invitations are over");
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                let detail = json!({"newest": newest, "in_force": in_force, "accepted": at});
                facts::audit(tx, &context, at, "clock.accepted", None, detail).await?;
                installation::raise_epoch(tx).await?;
                void_open(tx, &context, at).await?;
                sessions::end_others(tx, &context, at, None, "clock_accepted").await?;
                quarantine::void_one_time(tx).await?;
                notifications::redate(tx, at).await?;
                services::forget_after(tx, at).await
            })
        })
        .await?;
    remove(file);
    Ok(())
}

async fn newest_entry(control: &Control) -> Result<Option<AuditEntry>, StoreError> {
    let read = control.store.read(|tx| {
        Box::pin(async move {
            let (seq, _) = audit::head(tx).await?;
            audit::find(tx, seq).await
        })
    });
    read.await
}
