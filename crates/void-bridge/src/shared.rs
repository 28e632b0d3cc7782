//! What the file bridge's worker shares with everybody who looks at it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;
use void_control::Control;
use void_domain::time::Timestamp;

/// How many moves a watcher may be behind.
pub(crate) const MOVES_KEPT: usize = 256;

#[derive(Debug, Clone)]
pub struct BridgeConfig {
    pub folder: PathBuf,
    /// Whether a move counts as the owner's decision.
    pub decisions: bool,
}

/// What the worker shares with everybody else.
pub(crate) struct Shared {
    pub(crate) control: Control,
    pub(crate) config: BridgeConfig,
    pub(crate) state: Mutex<WorkerState>,
    pub(crate) moves: Mutex<VecDeque<MoveSeen>>,
    pub(crate) last_move: watch::Sender<u64>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct WorkerState {
    pub(crate) problem: Option<String>,
    pub(crate) last_scan_at: Option<Timestamp>,
    /// Files in `running/` that no proposal knows.
    pub(crate) foreign: usize,
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

impl Shared {
    pub(crate) fn new(control: &Control, config: BridgeConfig) -> Self {
        Self {
            control: control.clone(),
            config,
            state: Mutex::default(),
            moves: Mutex::default(),
            last_move: watch::Sender::new(0),
        }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut WorkerState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn saw(&self, at: Timestamp, file: &str, from: Option<&str>, to: &str, note: &str) {
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

    pub(crate) fn moves_after(&self, after: u64) -> Vec<MoveSeen> {
        let moves = self.moves.lock().unwrap_or_else(PoisonError::into_inner);
        moves
            .iter()
            .filter(|one| one.seq > after)
            .cloned()
            .collect()
    }
}
