//! The stop switch. Anyone who may act pulls it; only the owner lets go.
//!
//! Who has not just proved to be the owner makes a freeze that holds neither shorter nor another one:
//! a freeze for one second would otherwise be a thaw.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::actors::{Actor, ActorKind, Surface, person};
use crate::policy;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freeze {
    Thawed,
    Frozen(Frozen),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    pub by: String,
    pub at: Timestamp,
    pub reason: Option<String>,
    /// Set only by the owner: when the freeze ends by itself.
    pub until: Option<Timestamp>,
}

impl Freeze {
    /// What holds at `now`: a freeze with an end is over once the end has come.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        match self {
            Self::Thawed => false,
            Self::Frozen(frozen) => frozen.until.is_none_or(|until| now < until),
        }
    }
}

impl Frozen {
    fn ends_later_than(&self, other: &Self) -> bool {
        match (self.until, other.until) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(mine), Some(others)) => mine > others,
        }
    }

    /// The reason as far as agents may read it. What another agent wrote is foreign text: whoever reads
    /// it would have to be marked as tainted, and a freeze reaches everybody.
    pub fn reason_for(&self, reader: &Actor) -> Option<&str> {
        let is_foreign = match reader.kind() {
            ActorKind::Owner | ActorKind::Viewer | ActorKind::System => false,
            ActorKind::Agent | ActorKind::Node => {
                !self.is_by_owner_or_system() && self.by != reader.to_string()
            }
        };
        self.reason.as_deref().filter(|_| !is_foreign)
    }

    /// By whom, why and until when, as far as the reader may know it.
    pub fn told_to(&self, reader: &Actor, clock: impl Fn(Timestamp) -> String) -> String {
        let mut told = format!("by {}", person(&self.by));
        if let Some(reason) = self.reason_for(reader) {
            told.push_str(&format!(", \"{reason}\""));
        }
        if let Some(until) = self.until {
            told.push_str(&format!(", until {}", clock(until)));
        }
        told
    }

    /// The reason as far as everybody may hear it.
    pub fn reason_for_everyone(&self) -> Option<&str> {
        self.reason
            .as_deref()
            .filter(|_| self.is_by_owner_or_system())
    }

    /// From the form in which actors stand in the record.
    fn is_by_owner_or_system(&self) -> bool {
        let kind = self.by.split('-').next();
        kind.and_then(ActorKind::parse)
            .is_some_and(|kind| matches!(kind, ActorKind::Owner | ActorKind::System))
    }
}

/// What somebody who freezes may do to a freeze that holds already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// The owner, just proved: may end it, so may also shorten or replace it.
    Replace,
    /// The owner on a surface that proves nothing now: a session of yesterday, a phone.
    Lengthen,
    /// Agents: it stays as it is.
    Keep,
}

impl Authority {
    pub fn of(actor: &Actor, authenticated_ago: Option<Duration>) -> Self {
        match actor {
            Actor::Owner { surface } => match surface {
                // A bearer token is the proof.
                Surface::Api | Surface::Cli => Self::Replace,
                Surface::Web if policy::is_fresh(authenticated_ago) => Self::Replace,
                Surface::Web | Surface::File | Surface::Telegram { .. } | Surface::Ntfy { .. } => {
                    Self::Lengthen
                }
            },
            Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System => {
                Self::Keep
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreezeVerdict {
    Set(Frozen),
    /// The one that held, with a later end.
    Lengthened(Frozen),
    /// The one that held.
    Stays(Frozen),
    /// It would end sooner: only who has just proved to be the owner does that.
    ProofNeeded,
}

/// Judges a request to freeze. Whatever the verdict, things are frozen afterwards, and if something held
/// before, at least as long; only [`Authority::Replace`] is free.
pub fn judge(
    current: &Freeze,
    wanted: Frozen,
    authority: Authority,
    now: Timestamp,
) -> FreezeVerdict {
    let held = match current {
        Freeze::Frozen(held) if current.holds_at(now) => held,
        Freeze::Frozen(_) | Freeze::Thawed => return FreezeVerdict::Set(wanted),
    };
    match authority {
        Authority::Replace => FreezeVerdict::Set(wanted),
        Authority::Keep => FreezeVerdict::Stays(held.clone()),
        Authority::Lengthen if wanted.ends_later_than(held) => FreezeVerdict::Lengthened(Frozen {
            until: wanted.until,
            ..held.clone()
        }),
        Authority::Lengthen if held.ends_later_than(&wanted) => FreezeVerdict::ProofNeeded,
        Authority::Lengthen => FreezeVerdict::Stays(held.clone()),
    }
}

/// The freeze as permits see it: looked at once more right before the first byte goes out, so that
/// nothing starts after the switch, however long a connection took.
///
/// Every pull has a number of its own. A freeze switch that was pinned before a claim stays on for that claim
/// after any later pull, also when it was released in between; and whoever releases it because of what
/// they read does not release a pull that came after they read.
#[derive(Debug, Clone, Default)]
pub struct FreezeSwitch {
    /// Twice the number of pulls, and one more while it is pulled.
    state: Arc<AtomicU64>,
    pinned: Option<Generation>,
}

/// How often a freeze switch was pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

const PULLED: u64 = 1;

impl FreezeSwitch {
    pub fn pull(&self) {
        let next = |state: u64| Some(((state >> 1).wrapping_add(1) << 1) | PULLED);
        let _ = self
            .state
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, next);
    }

    /// Pulls it unless it is pulled already.
    pub fn hold(&self) {
        if self.state.load(Ordering::SeqCst) & PULLED == 0 {
            self.pull();
        }
    }

    pub fn release(&self) {
        self.state.fetch_and(!PULLED, Ordering::SeqCst);
    }

    /// Releases it unless somebody has pulled it since. Whether it is released now.
    pub fn release_if(&self, generation: Generation) -> bool {
        let (pulled, released) = ((generation.0 << 1) | PULLED, generation.0 << 1);
        match self
            .state
            .compare_exchange(pulled, released, Ordering::SeqCst, Ordering::SeqCst)
        {
            Ok(_) => true,
            Err(found) => found == released,
        }
    }

    pub fn generation(&self) -> Generation {
        Generation(self.state.load(Ordering::SeqCst) >> 1)
    }

    /// The same freeze switch for a claim that begins now.
    pub fn pinned(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            pinned: Some(self.generation()),
        }
    }

    /// Whether it is pulled, or was since it was pinned.
    pub fn is_pulled(&self) -> bool {
        let state = self.state.load(Ordering::SeqCst);
        let is_later = self.pinned.is_some_and(|pinned| pinned.0 != state >> 1);
        state & PULLED != 0 || is_later
    }
}

#[cfg(test)]
mod tests;
