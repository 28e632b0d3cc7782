//! What runs, by which channels, and what waits to run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use void_channels::{Channel, Channels};

use super::executing::Executing;
use super::nodes::StoredNodes;
use super::offers::Offers;

pub(crate) struct Runs {
    pub(crate) channels: Arc<Channels>,
    /// What executes; the channels themselves unless a benchmark measures without machines.
    pub(crate) executor: Arc<dyn Channel>,
    pub(crate) executing: Executing,
    /// Runs whose check is under way here.
    pub(crate) checking: Executing,
    /// Whether an approved proposal may be waiting here for its target.
    pub(crate) somebody_waits: AtomicBool,
    pub(crate) offers: Offers,
    pub(crate) nodes: StoredNodes,
}

impl Runs {
    pub(crate) fn new(
        channels: Arc<Channels>,
        executor: Option<Arc<dyn Channel>>,
        offers: Offers,
    ) -> Self {
        let executor = executor.unwrap_or_else(|| Arc::<Channels>::clone(&channels));
        Self {
            channels,
            executor,
            executing: Executing::default(),
            checking: Executing::default(),
            somebody_waits: AtomicBool::new(true),
            offers,
            nodes: StoredNodes::default(),
        }
    }
}
