//! Alerts: what the owner is told of services that are believed down. One alert is one message, which says
//! what became of it: of one service, or of all that a host or node took down with it. A service that goes
//! up and down stays in the alert it has. Unknown is not down, and is never told here.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use crate::ids::AlertId;
use crate::mutes::{Mute, Muted};
use crate::proposals::{Proposal, State};
use crate::services::{Location, Service, ServiceId};
use crate::time::Timestamp;

/// What goes down on the same host or node within this time of the first is told with it.
pub const GATHERS_FOR: Duration = Duration::from_secs(3 * 60);
/// A service that is down again within this time of being up flaps: the same alert goes on.
pub const REOPENS_WITHIN: Duration = Duration::from_secs(15 * 60);
/// An alert goes on for so long at most; what flaps for days is told once a day.
pub const GOES_ON_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// What flapped and then stays down for this long is said once more, with a sound.
pub const STAYS_DOWN_FOR: Duration = Duration::from_secs(10 * 60);
/// A run explains for this long after it ended that what it works on is down: it takes a moment to be seen
/// up, and to be known as stopped.
pub const RUN_SETTLES_WITHIN: Duration = Duration::from_secs(30);
/// And for this long after it began, whatever becomes of it.
pub const RUN_EXPLAINS_FOR: Duration = Duration::from_secs(15 * 60);
/// Beyond so many open alerts what goes down is told in one.
pub const OPEN_MAX: u64 = 100;
/// How many services an alert names one by one.
pub const NAMED_MAX: u32 = 15;

/// What the services of an alert share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// A service that is on nothing that is written down.
    Service(ServiceId),
    Host(String),
    /// The node of their guests.
    Node(String),
    /// Nothing: there were too many alerts.
    Many,
}

const MANY: &str = "many";

impl Scope {
    pub fn of(service: &Service) -> Self {
        match &service.place {
            None => Self::Service(service.id.clone()),
            Some(Location::Host(host)) => Self::Host(host.clone()),
            Some(Location::Guest { node, .. }) => Self::Node(node.clone()),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == MANY => Some(Self::Many),
            Some(("service", id)) => ServiceId::parse_told(id).map(Self::Service),
            Some(("host", name)) if !name.is_empty() => Some(Self::Host(name.to_owned())),
            Some(("node", name)) if !name.is_empty() => Some(Self::Node(name.to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(id) => write!(f, "service:{id}"),
            Self::Host(name) => write!(f, "host:{name}"),
            Self::Node(name) => write!(f, "node:{name}"),
            Self::Many => f.write_str(MANY),
        }
    }
}

/// An alert as a message needs it: all services counted, some named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    pub id: AlertId,
    pub scope: Scope,
    pub opened_at: Timestamp,
    /// When none of its services was down any more.
    pub ended_at: Option<Timestamp>,
    /// Rises when a service joins: a button is good for what was shown with it.
    pub revision: u64,
    pub total: u64,
    pub down: u64,
    /// How often the one went down that did so the most.
    pub downs_max: u64,
    /// When the first of them went down.
    pub first_at: Timestamp,
    /// Those that are down first; never empty.
    pub named: Vec<Alerted>,
}

/// One service in an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alerted {
    pub service: ServiceId,
    pub label: String,
    /// The host, or the node of its guest.
    pub host: Option<String>,
    pub urgent: bool,
    /// When it first went down in this alert.
    pub first_at: Timestamp,
    /// When it last did.
    pub down_at: Timestamp,
    pub ended: Option<Ended>,
    pub downs: u64,
    /// The stable word of a reading; never what a service said.
    pub reason: Option<String>,
}

/// How it stopped being trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Up(Timestamp),
    /// The services file no longer has it: nobody knows how it is.
    Unwatched(Timestamp),
    /// It is down still, as the owner wants it.
    Stopped(Timestamp),
}

impl Ended {
    pub const fn at(self) -> Timestamp {
        match self {
            Self::Up(at) | Self::Unwatched(at) | Self::Stopped(at) => at,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up(_) => "up",
            Self::Unwatched(_) => "unwatched",
            Self::Stopped(_) => "stopped",
        }
    }

    pub fn parse(text: &str, at: Timestamp) -> Option<Self> {
        match text {
            "up" => Some(Self::Up(at)),
            "unwatched" => Some(Self::Unwatched(at)),
            "stopped" => Some(Self::Stopped(at)),
            _ => None,
        }
    }
}

impl Alerted {
    pub const fn is_down(&self) -> bool {
        self.ended.is_none()
    }

    pub fn is_covered_by(&self, mute: &Mute) -> bool {
        mute.subject.covers(&self.service, self.host.as_deref())
    }

    pub const fn is_flapping(&self) -> bool {
        self.downs > 1
    }
}

impl Alert {
    pub const fn is_over(&self) -> bool {
        self.ended_at.is_some()
    }

    /// Whether it tells of something that the owner wants to hear at any hour.
    pub fn is_urgent(&self) -> bool {
        self.named.iter().any(|one| one.urgent && one.is_down())
    }

    /// Since when those that are down are.
    pub fn down_since(&self) -> Timestamp {
        let down = self.named.iter().filter(|one| one.is_down());
        let since = down.map(|one| one.down_at).min();
        since.unwrap_or(self.first_at)
    }

    /// Whether nothing in it that is down is to be told. Of what is not named nobody knows it here.
    pub fn is_muted_by(&self, mutes: &[Mute]) -> bool {
        let mut down = self.named.iter().filter(|one| one.is_down());
        let is_muted = |one: &Alerted| mutes.iter().any(|mute| one.is_covered_by(mute));
        self.down == down.clone().count() as u64 && down.all(is_muted)
    }

    /// What a button under its message mutes: what the message is about.
    pub fn to_mute(&self) -> Option<Muted> {
        match (&self.scope, self.named.as_slice()) {
            (_, [only]) if self.total == 1 => Some(Muted::Service(only.service.clone())),
            (Scope::Host(name) | Scope::Node(name), _) => Some(Muted::Host(name.clone())),
            (Scope::Service(_) | Scope::Many, _) => None,
        }
    }

    /// A message that was delivered says something new at most this often: the more it flaps, the less.
    pub const fn said_every(&self) -> Duration {
        match self.downs_max {
            0 | 1 => Duration::from_secs(2),
            2 => Duration::from_secs(10),
            3..=9 => Duration::from_secs(60),
            _ => Duration::from_secs(5 * 60),
        }
    }
}

/// Whether a run explains that what it works on is down: it runs, is being checked, or has just ended.
pub fn explains(run: &Proposal, verify_within: Duration, now: Timestamp) -> bool {
    match &run.state {
        State::Running { run, .. } => now.since(run.started_at) <= RUN_EXPLAINS_FOR,
        State::Executed {
            at, verification, ..
        } => match verification {
            None => now.since(*at) <= verify_within + RUN_SETTLES_WITHIN,
            Some(seen) => now.since(seen.at) <= RUN_SETTLES_WITHIN,
        },
        State::Failed { at, .. } | State::Unknown { at, .. } => {
            now.since(*at) <= RUN_SETTLES_WITHIN
        }
        State::Pending
        | State::Approved { .. }
        | State::Rejected { .. }
        | State::Expired { .. }
        | State::Cancelled { .. }
        | State::Refused { .. } => false,
    }
}

/// What is said of a service that is down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Telling {
    /// It flaps: the alert that it was in goes on.
    Reopen(AlertId),
    /// It belongs to what is told already.
    Join(AlertId),
    Open(Scope),
}

/// The alert that a service was last in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastAlert {
    pub id: AlertId,
    pub opened_at: Timestamp,
    pub up_at: Timestamp,
}

/// The open alerts that something new may belong to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenAlerts {
    /// The newest of the same scope, and since when it is open.
    pub here: Option<(AlertId, Timestamp)>,
    pub many: Option<AlertId>,
    pub count: u64,
}

/// Where a service is told that is down since `down_at`.
pub fn telling(
    scope: Scope,
    down_at: Timestamp,
    last: Option<LastAlert>,
    open: &OpenAlerts,
    now: Timestamp,
) -> Telling {
    if let Some(last) = last
        && down_at.since(last.up_at) <= REOPENS_WITHIN
        && now.since(last.opened_at) <= GOES_ON_FOR
    {
        return Telling::Reopen(last.id);
    }
    match (open.here, open.many) {
        (Some((id, opened_at)), _) if now.since(opened_at) <= GATHERS_FOR => Telling::Join(id),
        (_, Some(many)) if open.count >= OPEN_MAX => Telling::Join(many),
        (_, None) if open.count >= OPEN_MAX => Telling::Open(Scope::Many),
        _ => Telling::Open(scope),
    }
}
