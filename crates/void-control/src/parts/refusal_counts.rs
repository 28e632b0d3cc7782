//! Equal refusals of one caller, counted together (I36).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use void_domain::ids::ProposalId;
use void_domain::time::Timestamp;

/// How long equal refusals are counted together.
pub(crate) const WINDOW: Duration = Duration::from_secs(60);

/// Different refusals of one caller that are counted apart; the rest is counted together.
pub(crate) const KINDS_PER_CALLER_MAX: usize = 128;

/// The same of all callers.
pub(crate) const KINDS_MAX: usize = 4_096;

/// Stands for everything that is not counted apart.
pub(crate) const OTHERS: &str = "*";

/// Which refusals are equal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusalKind {
    /// Who was refused.
    pub actor: String,
    /// The entry that the first one has.
    pub verb: &'static str,
    /// The action or operation. Never something that a caller makes up.
    pub what: String,
    pub code: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusalCount {
    pub(crate) since: Timestamp,
    pub(crate) last: Timestamp,
    /// Those after the first.
    pub(crate) repeats: u64,
    /// The proposal that the first one is, once it is written.
    pub(crate) row: Option<ProposalId>,
}

/// What becomes of a refusal on the record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// To be recorded whole.
    First,
    /// Counted; the row of the first one, if it has one.
    Again(Option<ProposalId>),
}

#[derive(Default)]
pub(crate) struct RefusalCounts {
    pub(crate) counts: Mutex<BTreeMap<RefusalKind, RefusalCount>>,
    /// Since the start.
    pub(crate) repeats: AtomicU64,
}

/// As what one request's refusal is counted. Its transaction may run again, and refuse it again, for another reason or
/// not at all: it is counted once, as what it was in the end.
#[derive(Default)]
pub(crate) struct RequestRefusal(Mutex<Option<CountedRefusal>>);

struct CountedRefusal {
    asked: RefusalKind,
    /// The same, or [`OTHERS`].
    counted_as: RefusalKind,
    is_repeat: bool,
}

impl RequestRefusal {
    fn lock(&self) -> MutexGuard<'_, Option<CountedRefusal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RefusalCounts {
    pub(crate) fn lock(&self) -> MutexGuard<'_, BTreeMap<RefusalKind, RefusalCount>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refusals that were counted instead of stored, since the start.
    pub(crate) fn repeats(&self) -> u64 {
        self.repeats.load(Ordering::Relaxed)
    }

    /// Counts one, and says as what it is counted. A window that is over and was not recorded yet goes on until it is.
    pub(crate) fn note(&self, kind: RefusalKind, now: Timestamp) -> (RefusalKind, Recorded) {
        let mut counts = self.lock();
        let kind = match counts.contains_key(&kind) || has_room(&counts, &kind.actor) {
            true => kind,
            false => RefusalKind {
                what: OTHERS.to_owned(),
                ..kind
            },
        };
        if let Some(count) = counts.get_mut(&kind) {
            count.repeats = count.repeats.saturating_add(1);
            count.last = now;
            self.repeats.fetch_add(1, Ordering::Relaxed);
            let row = count.row;
            return (kind, Recorded::Again(row));
        }
        let count = RefusalCount {
            since: now,
            last: now,
            repeats: 0,
            row: None,
        };
        counts.insert(kind.clone(), count);
        (kind, Recorded::First)
    }

    /// The same for a request that may have been counted already.
    pub(crate) fn note_once(
        &self,
        request: &RequestRefusal,
        kind: RefusalKind,
        now: Timestamp,
    ) -> (RefusalKind, Recorded) {
        let mut counted = request.lock();
        if let Some(before) = counted.take() {
            let row = self.lock().get(&before.counted_as).map(|count| count.row);
            if let Some(row) = row.filter(|_| before.asked == kind) {
                let recorded = match (row, before.is_repeat) {
                    // Its own row was rolled back, or another one's is there.
                    (None, false) => Recorded::First,
                    (row, _) => Recorded::Again(row),
                };
                let counted_as = before.counted_as.clone();
                *counted = Some(before);
                return (counted_as, recorded);
            }
            self.take_back_counted(&before);
        }
        let (counted_as, recorded) = self.note(kind.clone(), now);
        *counted = Some(CountedRefusal {
            asked: kind,
            counted_as: counted_as.clone(),
            is_repeat: recorded != Recorded::First,
        });
        (counted_as, recorded)
    }

    /// It was not refused in the end, or that could not be written.
    pub(crate) fn take_back(&self, request: &RequestRefusal) {
        if let Some(counted) = request.lock().take() {
            self.take_back_counted(&counted);
        }
    }

    fn take_back_counted(&self, counted: &CountedRefusal) {
        if !counted.is_repeat {
            self.forget(&counted.counted_as);
            return;
        }
        // What is on the record already stays counted.
        if let Some(count) = self.lock().get_mut(&counted.counted_as)
            && count.repeats > 0
        {
            count.repeats -= 1;
            self.repeats.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The first one was written, as this row.
    pub(crate) fn written(&self, kind: &RefusalKind, row: ProposalId) {
        if let Some(count) = self.lock().get_mut(kind) {
            count.row = Some(row);
        }
    }

    /// The first one could not be written: the next one is the first.
    pub(crate) fn forget(&self, kind: &RefusalKind) {
        let mut counts = self.lock();
        if counts.get(kind).is_some_and(|count| count.repeats == 0) {
            counts.remove(kind);
        }
    }

    /// What this caller was refused about this action of late, and the row of the first time.
    pub(crate) fn last_of(
        &self,
        actor: &str,
        verb: &'static str,
        what: &str,
    ) -> Vec<(String, ProposalId)> {
        let from = RefusalKind {
            actor: actor.to_owned(),
            verb,
            what: what.to_owned(),
            code: String::new(),
        };
        let counts = self.lock();
        let of_action = counts
            .range(&from..)
            .take_while(|(kind, _)| kind.actor == actor && kind.verb == verb && kind.what == what);
        of_action
            .filter_map(|(kind, count)| Some((kind.code.clone(), count.row?)))
            .collect()
    }

    /// Takes what is due, all of it if everything is.
    pub(crate) fn take_due(&self, now: Timestamp, all: bool) -> Vec<(RefusalKind, RefusalCount)> {
        let mut due = Vec::new();
        self.lock().retain(|kind, count| {
            let is_due = all || now.since(count.since) >= WINDOW;
            if is_due && count.repeats > 0 {
                due.push((kind.clone(), count.clone()));
            }
            !is_due
        });
        due
    }

    /// Counts again what could not be recorded.
    pub(crate) fn give_back(&self, due: Vec<(RefusalKind, RefusalCount)>) {
        let mut counts = self.lock();
        for (kind, count) in due {
            let again = counts.entry(kind).or_insert_with(|| RefusalCount {
                repeats: 0,
                ..count.clone()
            });
            again.since = again.since.min(count.since);
            again.repeats = again.repeats.saturating_add(count.repeats);
        }
    }
}

pub(crate) fn has_room(counts: &BTreeMap<RefusalKind, RefusalCount>, actor: &str) -> bool {
    let from = RefusalKind {
        actor: actor.to_owned(),
        verb: "",
        what: String::new(),
        code: String::new(),
    };
    let of_caller = counts
        .range(from..)
        .take_while(|(kind, _)| kind.actor == actor)
        .count();
    of_caller < KINDS_PER_CALLER_MAX && counts.len() < KINDS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(actor: &str, what: &str, code: &str) -> RefusalKind {
        RefusalKind {
            actor: actor.to_owned(),
            verb: "proposal.refused",
            what: what.to_owned(),
            code: code.to_owned(),
        }
    }

    fn counted(due: &[(RefusalKind, RefusalCount)]) -> u64 {
        due.iter().map(|(_, count)| count.repeats).sum()
    }

    #[test]
    fn the_first_is_written_and_the_others_are_counted_until_the_window_ends() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms;
        let blue = kind("agent:blue", "stop-a", "frozen");
        assert_eq!(counts.note(blue.clone(), at(0)).1, Recorded::First);
        for ms in 1..=1_000 {
            assert_eq!(counts.note(blue.clone(), at(ms)).1, Recorded::Again(None));
        }
        for other in [
            kind("agent:red", "stop-a", "frozen"),
            kind("agent:blue", "stop-b", "frozen"),
            kind("agent:blue", "stop-a", "cap_reached"),
        ] {
            assert_eq!(counts.note(other, at(1)).1, Recorded::First);
        }
        assert!(counts.take_due(at(59_999), false).is_empty());
        let due = counts.take_due(at(60_000), false);
        assert_eq!((due.len(), counted(&due)), (1, 1_000));
        // It begins anew.
        assert_eq!(counts.note(blue.clone(), at(60_001)).1, Recorded::First);
        counts.note(blue.clone(), at(60_002));
        assert_eq!(counted(&counts.take_due(at(60_003), true)), 1);
        assert!(counts.lock().is_empty());
        // What could not be written is not lost.
        counts.give_back(due);
        counts.note(blue, at(60_004));
        assert_eq!(counted(&counts.take_due(at(60_005), true)), 1_001);
    }

    #[test]
    fn a_first_that_was_not_written_is_tried_again() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms(0);
        let blue = kind("agent:blue", "stop-a", "frozen");
        for _ in 0..3 {
            assert_eq!(counts.note(blue.clone(), at).1, Recorded::First);
            counts.forget(&blue);
        }
    }

    /// Its transaction runs again: on PostgreSQL that is usual.
    #[test]
    fn a_request_that_is_refused_again_is_counted_once() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms(0);
        let blue = || kind("agent:blue", "stop-a", "frozen");
        let first = RequestRefusal::default();
        for _ in 0..3 {
            let noted = counts.note_once(&first, blue(), at).1;
            assert_eq!(noted, Recorded::First, "nobody else has written it");
        }
        let row = ProposalId::new(at, [7; 10]);
        counts.written(&blue(), row);
        let second = RequestRefusal::default();
        for _ in 0..3 {
            let noted = counts.note_once(&second, blue(), at).1;
            assert_eq!(noted, Recorded::Again(Some(row)));
        }
        assert_eq!(counts.repeats(), 1);
        assert_eq!(counted(&counts.take_due(at, true)), 1);
    }

    #[test]
    fn a_request_is_counted_as_what_it_was_refused_for_in_the_end() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms(0);
        let frozen = || kind("agent:blue", "stop-a", "frozen");
        counts.note(frozen(), at);
        let request = RequestRefusal::default();
        counts.note_once(&request, frozen(), at);
        let busy = || kind("agent:blue", "stop-a", "busy");
        assert_eq!(counts.note_once(&request, busy(), at).1, Recorded::First);
        assert_eq!((counts.repeats(), counts.lock().len()), (0, 2));
        // It was let through.
        counts.take_back(&request);
        counts.take_back(&request);
        assert_eq!(counts.lock().keys().collect::<Vec<_>>(), [&frozen()]);
        assert_eq!(counts.note(busy(), at).1, Recorded::First);
    }

    #[test]
    fn what_is_on_the_record_is_not_taken_back() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms(0);
        let blue = || kind("agent:blue", "stop-a", "frozen");
        let request = RequestRefusal::default();
        counts.note(blue(), at);
        counts.note_once(&request, blue(), at);
        assert_eq!(counted(&counts.take_due(at, true)), 1);
        counts.take_back(&request);
        assert_eq!(counts.repeats(), 1);
        assert_eq!(counts.note_once(&request, blue(), at).1, Recorded::First);
    }

    #[test]
    fn memory_is_bounded_whatever_a_caller_does() {
        let counts = RefusalCounts::default();
        let at = Timestamp::from_ms(0);
        for n in 0..10_000 {
            counts.note(kind("agent:blue", &format!("a-{n}"), "frozen"), at);
        }
        assert_eq!(counts.lock().len(), KINDS_PER_CALLER_MAX + 1);
        for n in 0..10_000 {
            counts.note(kind(&format!("agent:{n}"), "stop-a", "frozen"), at);
        }
        // Beyond the bound one line per caller remains, and callers are the owner's tokens.
        assert!(counts.lock().len() <= 10_000 + KINDS_PER_CALLER_MAX + 1);
        let all = 20_000 - counts.lock().len() as u64;
        assert_eq!(counted(&counts.take_due(at, true)), all, "none is lost");
    }
}
