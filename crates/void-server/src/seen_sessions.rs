//! When each browser last asked for something, as far as this process saw it. The database has it to the hour, so that
//! reading writes nothing; the list of sessions says it to the second.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use void_domain::ids::SessionId;
use void_domain::time::Timestamp;

const KEPT_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct SeenSessions(Mutex<HashMap<SessionId, Timestamp>>);

impl SeenSessions {
    pub(crate) fn note(&self, id: SessionId, now: Timestamp) {
        let mut seen = self.locked();
        if seen.len() >= KEPT_MAX
            && !seen.contains_key(&id)
            && let Some(oldest) = seen.iter().min_by_key(|(_, at)| **at).map(|(id, _)| *id)
        {
            seen.remove(&oldest);
        }
        seen.insert(id, now);
    }

    /// The later of what was seen here and what is stored.
    pub(crate) fn latest(&self, id: SessionId, stored: Timestamp) -> Timestamp {
        let seen = self.locked().get(&id).copied();
        seen.map_or(stored, |seen| seen.max(stored))
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<SessionId, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_when_it_is_full() {
        let seen = SeenSessions::default();
        let at = |second: usize| Timestamp::from_ms(i64::try_from(second).unwrap() * 1000);
        let ids: Vec<SessionId> = (0..=KEPT_MAX).map(session).collect();
        for (second, id) in ids.iter().enumerate() {
            seen.note(*id, at(second + 1));
        }
        assert_eq!(seen.locked().len(), KEPT_MAX);
        assert_eq!(seen.latest(ids[0], at(0)), at(0));
        assert_eq!(seen.latest(ids[1], at(0)), at(2));
        assert_eq!(seen.latest(ids[1], at(9)), at(9));
    }

    fn session(number: usize) -> SessionId {
        let id = format!("01a1e321-ecf2-763d-bcde-{number:012}");
        id.parse().unwrap()
    }
}
