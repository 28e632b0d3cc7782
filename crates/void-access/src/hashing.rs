//! The turns of whoever hashes a password, and the memory for it.

use std::sync::{Arc, Mutex};

use argon2::Block;
use tokio::sync::Semaphore;

/// Each takes 19 MiB while it runs, and a core.
pub(crate) const STRANGERS_AT_ONCE_MAX: usize = 2;

/// Whoever has a session does not wait behind those who have none.
pub(crate) const KNOWN_AT_ONCE_MAX: usize = 1;

/// The turns of whoever hashes a password, and the memory for it.
#[derive(Clone)]
pub(crate) struct Hashing {
    pub(crate) strangers: Arc<Semaphore>,
    pub(crate) known: Arc<Semaphore>,
    pub(crate) spare: Arc<Mutex<Vec<Vec<Block>>>>,
}

impl Default for Hashing {
    fn default() -> Self {
        Self {
            strangers: Arc::new(Semaphore::new(STRANGERS_AT_ONCE_MAX)),
            known: Arc::new(Semaphore::new(KNOWN_AT_ONCE_MAX)),
            spare: Arc::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked; wait a little")]
pub struct Busy;
