//! The same requester asks for the same again while it waits: one proposal, and the strictest of both.
//!
//! Taints are united, the higher risk counts, and other words are kept beside the first ones (I39). Whenever
//! that changes what a person should have read, the revision rises: a yes that was given for an older one
//! does not count. So other words come one at a time: the first few at once, then no more than one a minute.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::{InvalidTransition, Proposal, State, Status};
use crate::catalogue::{Risk, Tier};
use crate::limits::{JOINED_BYTES_MAX, JOINED_WORDS_APART, JOINED_WORDS_AT_ONCE, JOINED_WORDS_MAX};
use crate::taint::Taint;
use crate::time::Timestamp;

/// What later requests for the same said, as far as nobody had said it before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Joined {
    pub words: Vec<Words>,
    /// How many requests had other words that are not kept here; the record has how they begin. Those that are only
    /// counted are not among them.
    pub left_out: u64,
}

/// Words of the requester: a reason or a diff that differs from all before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub at: Timestamp,
}

impl Words {
    fn bytes(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        len(&self.reason) + len(&self.diff)
    }
}

/// What one more request for the same brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    pub reason: Option<String>,
    pub diff: Option<String>,
    pub taint: Taint,
    pub risk: Risk,
}

impl Joined {
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty() && self.left_out == 0
    }

    fn bytes(&self) -> usize {
        self.words.iter().map(Words::bytes).sum()
    }
}

impl Proposal {
    /// Every reason, the first one first.
    pub fn reasons(&self) -> impl Iterator<Item = &str> {
        let later = self.joined.words.iter().map(|words| &words.reason);
        std::iter::once(&self.reason)
            .chain(later)
            .filter_map(Option::as_deref)
    }

    /// Every diff, the first one first.
    pub fn diffs(&self) -> impl Iterator<Item = &str> {
        let later = self.joined.words.iter().map(|words| &words.diff);
        std::iter::once(&self.diff)
            .chain(later)
            .filter_map(Option::as_deref)
    }

    /// The words of a request that nobody has said about this before. `None`: it has none.
    pub fn new_words(&self, twin: &Twin, at: Timestamp) -> Option<Words> {
        let reason =
            (twin.reason.as_ref()).filter(|text| self.reasons().all(|known| known != *text));
        let diff = (twin.diff.as_ref()).filter(|text| self.diffs().all(|known| known != *text));
        (reason.is_some() || diff.is_some()).then(|| Words {
            reason: reason.cloned(),
            diff: diff.cloned(),
            at,
        })
    }

    /// One more request for the same, of which nothing is kept but that it came.
    pub fn count_again(mut self) -> Self {
        self.count = self.count.saturating_add(1);
        self
    }

    /// Until when other words for it have to wait, because there were some a moment ago: whoever reads it would never
    /// come to answer. What makes it stricter never waits, and its words come with it.
    pub fn words_wait_until(&self, twin: &Twin, at: Timestamp) -> Option<Timestamp> {
        let last = self.joined.words.last()?;
        let until = last.at.plus(JOINED_WORDS_APART);
        let is_braked = self.joined.words.len() >= JOINED_WORDS_AT_ONCE && at < until;
        let is_stricter = twin.risk > self.subject.risk || self.taint.clone().unite(&twin.taint);
        let has_new = self.new_words(twin, at).is_some() && self.joined.left_out == 0;
        (is_braked && has_new && !is_stricter).then_some(until)
    }

    /// One more request for the same. The expiry stays. The revision rises if a person should look again.
    pub fn join(mut self, twin: Twin, at: Timestamp) -> Result<Self, InvalidTransition> {
        if !matches!(self.state, State::Pending) {
            return Err(InvalidTransition {
                from: self.status(),
                to: Status::Pending,
            });
        }
        let mut is_news = false;
        if let Some(words) = self.new_words(&twin, at) {
            let fits = self.joined.words.len() < JOINED_WORDS_MAX
                && self.joined.bytes() + words.bytes() <= JOINED_BYTES_MAX;
            if fits {
                self.joined.words.push(words);
                is_news = true;
            } else {
                // That something is left out is said once; how often, is counted.
                is_news = self.joined.left_out == 0;
                self.joined.left_out = self.joined.left_out.saturating_add(1);
            }
        }
        is_news |= self.taint.unite(&twin.taint);
        if twin.risk > self.subject.risk {
            self.subject.risk = twin.risk;
            self.subject.tier = Tier::Risky;
            is_news = true;
        }
        self.count = self.count.saturating_add(1);
        if is_news {
            self.revision = self.revision.saturating_add(1);
        }
        Ok(self)
    }
}
