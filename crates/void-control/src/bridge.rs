//! The file bridge: the source documents' status directories, both ways.
//!
//! The record is the truth. Every proposal has a file that follows it; a file that others moved or
//! dropped is judged by the same use cases as any other surface, and goes back to where the record says
//! if they refuse. One worker does all of it, one file after the other, and a full look at the folder
//! repairs whatever an event or a crash left behind.

mod folder;
mod intake;
mod offers;
mod records;
mod reports;
mod sync;
mod watching;
mod worker;

use std::time::Duration;

pub(crate) use offers::lose_offer;
pub use reports::{Counts, InvalidFile, Report, report};

use crate::control::Control;
use crate::parts::bridge::{Bridge, WorkerState};
pub use crate::parts::bridge::{BridgeConfig, MoveSeen};

pub(crate) fn start(control: &Control) {
    if control.bridge.is_some() {
        tokio::spawn(worker::run(control.clone()));
    }
}

/// What moved after `after` (`None`: from now on), and the newest number; waits up to `patience` for
/// the first. `None` if there is no bridge.
pub async fn moves(
    control: &Control,
    after: Option<u64>,
    patience: Duration,
) -> Option<(Vec<MoveSeen>, u64)> {
    let bridge = control.bridge.as_ref()?;
    let mut last = bridge.last_move.subscribe();
    let newest = *last.borrow();
    // A number from before a restart is as good as none.
    let after = after.filter(|after| *after <= newest).unwrap_or(newest);
    let mut stopping = control.stopping();
    tokio::select! {
        _ = tokio::time::timeout(patience, last.wait_for(|seq| *seq > after)) => {}
        _ = stopping.wait_for(|stop| *stop) => {}
    }
    let moves = bridge.moves_after(after);
    let newest = moves.last().map_or(after, |newest| newest.seq);
    Some((moves, newest))
}
