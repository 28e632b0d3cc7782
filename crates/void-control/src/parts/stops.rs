//! The guests that the owner stopped, as far as the record says it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use void_domain::time::Timestamp;

/// A guest, by the names that actions and services have for it.
pub(crate) type GuestKey = (String, u32);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) at: Timestamp,
    /// The service that the action's check looks at; it may not be placed on the guest.
    pub(crate) verify: Option<String>,
}

#[derive(Default)]
pub(crate) struct KnownStop {
    pub(crate) stops: BTreeMap<GuestKey, Stop>,
    /// When Proxmox last showed a guest running that the owner had stopped.
    pub(crate) seen_running: BTreeMap<GuestKey, Timestamp>,
}

#[derive(Default)]
pub(crate) struct OwnerStops(pub(crate) Mutex<KnownStop>);

impl OwnerStops {
    pub(crate) fn lock(&self) -> MutexGuard<'_, KnownStop> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
