//! Whether anything may start: the switch of the stored freeze, and why nothing starts whatever is stored.

use std::sync::atomic::{AtomicBool, Ordering};

use void_domain::freezes::FreezeSwitch;

#[derive(Default)]
pub(crate) struct FreezeState {
    pub(crate) switch: FreezeSwitch,
    pub(crate) halted: Halted,
}

/// Why nothing starts, whatever freeze is stored.
#[derive(Debug, Default)]
pub(crate) struct Halted {
    /// The database went back, and that is not on the record yet.
    pub(crate) went_back: AtomicBool,
    /// Another file is in its place.
    pub(crate) replaced: AtomicBool,
    /// The owner froze everything, and that could not be recorded.
    pub(crate) unrecorded_freeze: AtomicBool,
}

impl Halted {
    pub(crate) fn is_set(&self) -> bool {
        let causes = [&self.went_back, &self.replaced, &self.unrecorded_freeze];
        causes.iter().any(|cause| cause.load(Ordering::SeqCst))
    }

    pub(crate) fn set_unrecorded_freeze(&self, is_so: bool) {
        self.unrecorded_freeze.store(is_so, Ordering::SeqCst);
    }
}
