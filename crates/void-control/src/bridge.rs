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

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use void_domain::time::Timestamp;

pub(crate) use offers::lose_offer;
pub use reports::{Counts, InvalidFile, Report, report};

use crate::control::Control;

/// How many moves a watcher may be behind.
const MOVES_KEPT: usize = 256;

#[derive(Debug, Clone)]
pub struct BridgeConfig {
    pub folder: PathBuf,
    /// Whether a move counts as the owner's decision.
    pub decisions: bool,
}

/// What the worker shares with everybody else.
pub(crate) struct Bridge {
    config: BridgeConfig,
    wake: Notify,
    state: Mutex<WorkerState>,
    moves: Mutex<VecDeque<MoveSeen>>,
    last_move: watch::Sender<u64>,
}

#[derive(Debug, Clone, Default)]
struct WorkerState {
    problem: Option<String>,
    last_scan_at: Option<Timestamp>,
    /// Files in `running/` that no proposal knows.
    foreign: usize,
}

/// Something that happened in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveSeen {
    pub seq: u64,
    pub at: Timestamp,
    pub file: String,
    pub from: Option<String>,
    pub to: String,
    pub note: String,
}

impl Bridge {
    pub(crate) fn new(config: BridgeConfig) -> Self {
        Self {
            config,
            wake: Notify::new(),
            state: Mutex::default(),
            moves: Mutex::default(),
            last_move: watch::Sender::new(0),
        }
    }

    /// Something was approved that a foreign executor executes.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    fn change(&self, change: impl FnOnce(&mut WorkerState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn saw(&self, at: Timestamp, file: &str, from: Option<&str>, to: &str, note: &str) {
        let mut moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        let seq = *self.last_move.borrow() + 1;
        if moves.len() >= MOVES_KEPT {
            moves.pop_front();
        }
        moves.push_back(MoveSeen {
            seq,
            at,
            file: file.to_owned(),
            from: from.map(str::to_owned),
            to: to.to_owned(),
            note: note.to_owned(),
        });
        drop(moves);
        self.last_move.send_replace(seq);
    }

    fn moves_after(&self, after: u64) -> Vec<MoveSeen> {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        moves
            .iter()
            .filter(|one| one.seq > after)
            .cloned()
            .collect()
    }
}

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
