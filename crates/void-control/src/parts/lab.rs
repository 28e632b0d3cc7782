//! What Proxmox said last, and when.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::Instant;
use void_channels::Lab;
use void_domain::proposals::Failure;
use void_domain::time::Timestamp;

/// What was seen, and when.
#[derive(Debug, Clone)]
pub struct Sight {
    pub read_at: Timestamp,
    pub lab: Result<Arc<Lab>, Failure>,
}

#[derive(Default)]
pub(crate) struct LastSight(pub(crate) Arc<Mutex<Option<(Instant, Sight)>>>);
