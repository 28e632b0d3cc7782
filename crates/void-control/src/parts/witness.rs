//! What this process noted last about the record's head.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use void_domain::digests::Digest;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Witness {
    pub(crate) audit_seq: u64,
    pub(crate) audit_hash: Digest,
    /// How often an older copy had come back by then; notes of earlier versions do not say it.
    #[serde(default)]
    pub(crate) epoch: Option<u64>,
}

/// What this process noted last.
#[derive(Debug, Default)]
pub(crate) struct WitnessNote(pub(crate) Mutex<Option<Witness>>);

impl WitnessNote {
    pub(crate) fn get(&self) -> Option<Witness> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, witness: Option<Witness>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = witness;
    }
}
