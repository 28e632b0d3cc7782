//! A note beside the database of the time in force and the time since boot.
//!
//! A start has only the wall clock. With the note of the same boot it knows how late it can be, so a server
//! that starts during a jump does not take the jump for the truth; a database on another machine is asked as
//! well. After a reboot, or without either, the wall clock is all there is.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use void_store::StoreError;

use crate::clock::Reading;
use crate::control::Control;
use crate::facts;
use crate::private_files::{self, KeptFor};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Note {
    boot: String,
    at_ms: i64,
    up_ms: u64,
}

fn path_of(witness_file: &Path) -> PathBuf {
    witness_file.with_file_name("clock.json")
}

fn boot() -> Option<String> {
    Some(fs::read_to_string(BOOT_ID).ok()?.trim().to_owned())
}

/// At a start: goes on from what is known, before anything is dated.
pub(crate) async fn resume(control: &Control) {
    let noted = control
        .safekeeping
        .witness_file
        .as_deref()
        .and_then(|witness| {
            let note: Note = serde_json::from_slice(&fs::read(path_of(witness)).ok()?).ok()?;
            (Some(&note.boot) == boot().as_ref()).then_some(note)
        });
    if let Some(Note { at_ms, up_ms, .. }) = noted {
        control.clock.resume(Reading { at_ms, up_ms });
        return;
    }
    if let Ok(Some(theirs)) = control.store.other_clock().await {
        control.clock.start_from(theirs);
    }
}

/// Notes the time in force, whole or not at all. Losing it in a power cut is no harm: that is another boot.
pub(crate) fn write(control: &Control) {
    let (Some(witness), Some(reading), Some(boot)) = (
        &control.safekeeping.witness_file,
        control.clock.reading(),
        boot(),
    ) else {
        return;
    };
    let note = Note {
        boot,
        at_ms: reading.at_ms,
        up_ms: reading.up_ms,
    };
    let written = serde_json::to_vec(&note)
        .map_err(std::io::Error::from)
        .and_then(|bytes| {
            private_files::replace(&path_of(witness), &bytes, KeptFor::UntilPowerCut)
        });
    if let Err(error) = written {
        tracing::warn!(%error, "the time could not be noted beside the database");
    }
}

/// While the wall clock is in doubt, asks whoever else has a clock; then notes the time in force.
pub(crate) async fn look(control: &Control) -> Result<(), StoreError> {
    if let Some(doubt) = control.clock.doubt()
        && let Some(theirs) = control.store.other_clock().await?
        && control.clock.testify(theirs)
    {
        tracing::warn!(wall = %doubt.wall, "the database's clock agrees with this machine's, which is followed now");
        let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
        let detail = json!({"from": doubt.in_force, "to": doubt.wall, "witness": "database"});
        control
            .store
            .write(move |tx| {
                Box::pin(async move {
                    facts::audit(tx, &context, at, "clock.stepped", None, detail).await
                })
            })
            .await?;
    }
    write(control);
    Ok(())
}
