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
mod shared;
mod sync;
mod watching;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use void_control::Control;

pub use reports::{Counts, InvalidFile, Report};
pub use shared::{BridgeConfig, MoveSeen};

use crate::shared::Shared;

/// The file bridge at work. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Bridge(Arc<Shared>);

impl Bridge {
    /// Begins to work on the folder. The control plane has to know that there is a bridge: what goes by file is
    /// left to it.
    pub fn start(control: &Control, config: BridgeConfig) -> Self {
        let shared = Arc::new(Shared::new(control, config));
        tokio::spawn(worker::run(Arc::clone(&shared)));
        Self(shared)
    }

    /// How it stands.
    pub async fn report(&self) -> Report {
        reports::report(&self.0).await
    }

    /// What moved after `after` (`None`: from now on), and the newest number; waits up to `patience` for
    /// the first.
    pub async fn moves(&self, after: Option<u64>, patience: Duration) -> (Vec<MoveSeen>, u64) {
        let mut last = self.0.last_move.subscribe();
        let newest = *last.borrow();
        // A number from before a restart is as good as none.
        let after = after.filter(|after| *after <= newest).unwrap_or(newest);
        let mut stopping = self.0.control.stopping();
        tokio::select! {
            _ = tokio::time::timeout(patience, last.wait_for(|seq| *seq > after)) => {}
            _ = stopping.wait_for(|stop| *stop) => {}
        }
        let moves = self.0.moves_after(after);
        let newest = moves.last().map_or(after, |newest| newest.seq);
        (moves, newest)
    }
}
