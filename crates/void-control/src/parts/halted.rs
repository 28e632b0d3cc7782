//! Whether anything may start: the switch of the stored freeze, and why nothing starts whatever is stored.
//!
//! The switch is released only by whoever has read that nothing is frozen, and not while a freeze is on its way to
//! the record: what was read then is older than that freeze.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use void_domain::freezes::{FreezeSwitch, Frozen, Generation};

#[derive(Default)]
pub(crate) struct FreezeState {
    pub(crate) switch: FreezeSwitch,
    pub(crate) halted: Halted,
    /// How many freezes are on their way to the record.
    recordings: AtomicU64,
}

/// As long as it lives, a freeze is on its way to the record and nobody releases the switch.
pub(crate) struct Recording<'a>(&'a AtomicU64);

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FreezeState {
    /// Pulls the switch for a freeze that is to be recorded now.
    pub(crate) fn begin_recording(&self) -> Recording<'_> {
        // Counted first: whoever sees the switch as it is from now on sees the number too.
        self.recordings.fetch_add(1, Ordering::SeqCst);
        let recording = Recording(&self.recordings);
        self.switch.pull();
        recording
    }

    /// To be asked before the stored freeze is read, for [`follow`](Self::follow). `None`: whatever is stored, nothing
    /// may start now.
    pub(crate) fn before_reading(&self) -> Option<Generation> {
        // Taken first: a freeze that begins later has another one.
        let generation = self.switch.generation();
        if self.halted.is_set() {
            self.switch.hold();
            return None;
        }
        // One that is not on its way any more has been recorded before anything is read.
        let is_recording = self.recordings.load(Ordering::SeqCst) > 0;
        (!is_recording).then_some(generation)
    }

    /// Sets the switch as the stored freeze says. A freeze that began since stays.
    pub(crate) fn follow(&self, before: Generation, is_frozen: bool) {
        // What is stored in a database that went back is not believed.
        if self.halted.is_set() || is_frozen {
            self.switch.hold();
        } else {
            self.switch.release_if(before);
        }
    }
}

/// Why nothing starts, whatever freeze is stored.
#[derive(Debug, Default)]
pub(crate) struct Halted {
    /// The database went back, and that is not on the record yet.
    pub(crate) went_back: AtomicBool,
    /// Another file is in its place.
    pub(crate) replaced: AtomicBool,
    unrecorded: Mutex<Unrecorded>,
}

#[derive(Debug, Default)]
struct Unrecorded {
    /// The owner froze everything, and that could not be recorded.
    freeze: Option<Frozen>,
    /// How many there have been.
    number: UnrecordedNumber,
}

/// Which unrecorded freeze somebody knows of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct UnrecordedNumber(u64);

impl Halted {
    pub(crate) fn is_set(&self) -> bool {
        let causes = [&self.went_back, &self.replaced];
        let is_caused = causes.iter().any(|cause| cause.load(Ordering::SeqCst));
        is_caused || self.lock().freeze.is_some()
    }

    pub(crate) fn unrecorded_freeze(&self) -> Option<Frozen> {
        self.lock().freeze.clone()
    }

    /// The newest one so far, for whoever is about to lift it or to put another freeze in its place.
    pub(crate) fn newest_unrecorded(&self) -> UnrecordedNumber {
        self.lock().number
    }

    pub(crate) fn hold_unrecorded(&self, frozen: Frozen) {
        let mut held = self.lock();
        held.number.0 = held.number.0.wrapping_add(1);
        held.freeze = Some(frozen);
    }

    /// Lifts the one that was the newest then; one that came later stays.
    pub(crate) fn lift_unrecorded(&self, known: UnrecordedNumber) {
        let mut held = self.lock();
        if held.number == known {
            held.freeze = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Unrecorded> {
        self.unrecorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use void_domain::time::Timestamp;

    use super::*;

    fn frozen() -> Frozen {
        Frozen {
            by: "owner-api".to_owned(),
            at: Timestamp::from_ms(1),
            reason: None,
            until: None,
        }
    }

    /// Reads that nothing is frozen, and whether the switch is pulled after that.
    fn sweep(state: &FreezeState) -> bool {
        if let Some(before) = state.before_reading() {
            state.follow(before, false);
        }
        state.switch.is_pulled()
    }

    #[test]
    fn nobody_releases_the_switch_while_a_freeze_is_on_its_way_to_the_record() {
        let state = FreezeState::default();
        let (first, second) = (state.begin_recording(), state.begin_recording());
        assert!(sweep(&state));
        drop(second);
        assert!(sweep(&state), "the first one still waits");
        drop(first);
        assert!(!sweep(&state), "neither was recorded");
    }

    /// What it read is older than the freeze, whenever that begins and ends.
    #[test]
    fn whoever_read_before_a_freeze_was_recorded_does_not_release_the_switch() {
        let state = FreezeState::default();
        state.switch.pull();
        let before = state.before_reading().unwrap();
        let recording = state.begin_recording();
        state.follow(before, false);
        assert!(state.switch.is_pulled());
        drop(recording);
        state.follow(before, false);
        assert!(state.switch.is_pulled());

        let recording = state.begin_recording();
        assert!(state.before_reading().is_none());
        drop(recording);
        assert!(!sweep(&state));
    }

    #[test]
    fn an_unrecorded_freeze_pulls_the_switch_before_anything_is_read() {
        let state = FreezeState::default();
        state.halted.hold_unrecorded(frozen());
        assert!(state.before_reading().is_none());
        assert!(state.switch.is_pulled());
        let known = state.halted.newest_unrecorded();
        state.halted.lift_unrecorded(known);
        assert!(!sweep(&state));
    }

    #[test]
    fn what_was_read_does_not_release_the_switch_of_an_unrecorded_freeze_that_came_since() {
        let state = FreezeState::default();
        state.switch.pull();
        let before = state.before_reading().unwrap();
        state.halted.hold_unrecorded(frozen());
        state.follow(before, false);
        assert!(state.switch.is_pulled());
    }

    #[test]
    fn whoever_lifts_an_unrecorded_freeze_lifts_no_later_one() {
        let halted = Halted::default();
        halted.hold_unrecorded(frozen());
        let known = halted.newest_unrecorded();
        halted.hold_unrecorded(frozen());
        halted.lift_unrecorded(known);
        assert_eq!(halted.unrecorded_freeze(), Some(frozen()));
        halted.lift_unrecorded(halted.newest_unrecorded());
        assert_eq!(halted.unrecorded_freeze(), None);
    }
}
