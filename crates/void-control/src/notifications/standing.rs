//! How each channel stands, as far as this instance has seen since it started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use void_domain::notifications::Channel;
use void_domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Works { since: Timestamp },
    Broken { since: Timestamp, why: String },
}

#[derive(Default)]
pub(super) struct Standings(Mutex<BTreeMap<Channel, Standing>>);

impl Standings {
    pub(super) fn get(&self, channel: Channel) -> Option<Standing> {
        let standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        standings.get(&channel).cloned()
    }

    pub(super) fn works(&self, channel: Channel, now: Timestamp) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(standings.get(&channel), Some(Standing::Works { .. })) {
            standings.insert(channel, Standing::Works { since: now });
        }
    }

    /// Said once in the log, however often it happens.
    pub(super) fn is_broken(&self, channel: Channel, now: Timestamp, why: &str) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match standings.get(&channel) {
            Some(Standing::Broken { why: known, .. }) => known == why,
            Some(Standing::Works { .. }) | None => false,
        };
        if !known {
            tracing::warn!(
                channel = channel.as_str(),
                why,
                "a way to the owner is broken"
            );
            let why = why.to_owned();
            standings.insert(channel, Standing::Broken { since: now, why });
        }
    }
}
