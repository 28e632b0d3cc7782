//! What the catalogue says of one machine's list, and which list was last found to hold it.
//!
//! A list is known by the digest of its file. A ticket that names the digest of a list that fitted is refused by the
//! machine itself if its list is another one by then, so it need not be asked for before every run.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct ExpectedList {
    /// Action id → `exec_digest`.
    pub(crate) entries: BTreeMap<String, String>,
    fitting: Mutex<Option<String>>,
}

impl ExpectedList {
    pub(crate) const fn of(entries: BTreeMap<String, String>) -> Self {
        Self {
            entries,
            fitting: Mutex::new(None),
        }
    }

    pub(super) fn fitting(&self) -> Option<String> {
        let fitting = self.fitting.lock();
        fitting.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_fitting(&self, digest: Option<String>) {
        *self.fitting.lock().unwrap_or_else(PoisonError::into_inner) = digest;
    }
}
