//! The lab as far as it is watched: its services, what Proxmox said last and when, and what the owner stopped.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::Instant;
use void_channels::{Checker, Lab};
use void_domain::proposals::Failure;
use void_domain::time::Timestamp;

use super::stops::OwnerStops;
use super::watch::Watch;

/// What was seen, and when.
#[derive(Debug, Clone)]
pub struct Sight {
    pub read_at: Timestamp,
    pub lab: Result<Arc<Lab>, Failure>,
}

#[derive(Default)]
pub(crate) struct LastSight(pub(crate) Arc<Mutex<Option<(Instant, Sight)>>>);

pub(crate) struct WatchedLab {
    pub(crate) watch: Watch,
    pub(crate) checker: Checker,
    pub(crate) last_sight: LastSight,
    pub(crate) owner_stops: OwnerStops,
    /// Whether it is a simulated one.
    pub(crate) is_rehearsal: bool,
}
