//! This process: which instance it is, whether another one took its place, and whether it stops.

use std::sync::atomic::AtomicBool;

use tokio::sync::watch;

use super::instances::Identity;
use super::readiness::Readiness;

pub(crate) struct Process {
    pub(crate) instance: Identity,
    /// What this process is called in the row of its instance.
    pub(crate) mark: String,
    /// Another process took over that row.
    pub(crate) displaced: AtomicBool,
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) readiness: Readiness,
}

impl Process {
    pub(crate) fn new(instance: Identity, mark: String) -> Self {
        Self {
            instance,
            mark,
            displaced: AtomicBool::new(false),
            stopping: watch::Sender::new(false),
            readiness: Readiness::default(),
        }
    }
}
