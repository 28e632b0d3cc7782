//! How each way to the owner stands, as far as this instance has seen since it started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use void_domain::notifications::Target;
use void_domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChannelStanding {
    Works { since: Timestamp },
    Broken { since: Timestamp, why: String },
}

/// One broken webhook says nothing about another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Listening to what is said to the bot.
    Polling,
    To(Target),
}

#[derive(Default)]
pub(crate) struct Standings(Mutex<BTreeMap<Way, ChannelStanding>>);

impl Standings {
    pub(crate) fn get(&self, way: &Way) -> Option<ChannelStanding> {
        let standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        standings.get(way).cloned()
    }

    pub(crate) fn works(&self, way: Way, now: Timestamp) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(standings.get(&way), Some(ChannelStanding::Works { .. })) {
            standings.insert(way, ChannelStanding::Works { since: now });
        }
    }

    /// Said once in the log, however often it happens.
    pub(crate) fn is_broken(&self, way: Way, now: Timestamp, why: &str) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match standings.get(&way) {
            Some(ChannelStanding::Broken { why: known, .. }) => known == why,
            Some(ChannelStanding::Works { .. }) | None => false,
        };
        if !known {
            tracing::warn!(?way, why, "a way to the owner is broken");
            let why = why.to_owned();
            standings.insert(way, ChannelStanding::Broken { since: now, why });
        }
    }
}
