//! Mutes: for a time, and for a reason, the owner is not told that a service is down. It is still shown
//! as down. A mute ends by itself; what is down then is told.

use std::fmt;
use std::time::Duration;

use crate::ids::MuteId;
use crate::services::{Location, Service, ServiceId};
use crate::time::Timestamp;

/// Nothing is silenced for longer.
pub const LASTS_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many hold at the same time.
pub const RUNNING_MAX: u64 = 200;

/// What is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Muted {
    Service(ServiceId),
    /// Everything on a host, or on the guests of a node.
    Host(String),
}

impl Muted {
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':')? {
            ("service", id) => ServiceId::parse_told(id).map(Self::Service),
            ("host", name) if !name.is_empty() => Some(Self::Host(name.to_owned())),
            _ => None,
        }
    }

    pub fn covers(&self, service: &ServiceId, host: Option<&str>) -> bool {
        match self {
            Self::Service(id) => id == service,
            Self::Host(name) => host == Some(name),
        }
    }
}

impl fmt::Display for Muted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(id) => write!(f, "service:{id}"),
            Self::Host(name) => write!(f, "host:{name}"),
        }
    }
}

/// The host of a service, or the node of its guest: what a mute of a host names.
pub fn host_of(service: &Service) -> Option<&str> {
    match service.place.as_ref()? {
        Location::Host(name) | Location::Guest { node: name, .. } => Some(name),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mute {
    pub id: MuteId,
    pub subject: Muted,
    pub reason: String,
    /// As the record names them.
    pub by: String,
    pub at: Timestamp,
    pub until: Timestamp,
}

impl Mute {
    pub fn holds_at(&self, now: Timestamp) -> bool {
        now < self.until
    }

    pub fn covers(&self, service: &Service) -> bool {
        self.subject.covers(&service.id, host_of(service))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEnd {
    #[error("a mute must end in the future")]
    Past,
    #[error("a mute must end within 30 days")]
    TooLong,
}

/// Whether a mute that begins now may end then.
pub fn check_end(now: Timestamp, until: Timestamp) -> Result<(), InvalidEnd> {
    if until <= now {
        return Err(InvalidEnd::Past);
    }
    if until.since(now) > LASTS_MAX {
        return Err(InvalidEnd::TooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::Services;

    #[test]
    fn a_mute_covers_what_it_names_and_nothing_else() {
        let services = Services::parse(
            r#"{"services": [
            {"id": "caddy", "host": "ct100", "check": {"kind": "tcp", "address": "h:1"}},
            {"id": "nas", "node": "z", "vmid": 107, "check": {"kind": "guest"}},
            {"id": "ct100", "check": {"kind": "tcp", "address": "h:1"}}
        ]}"#,
        )
        .unwrap();
        let covered = |muted: &str| -> Vec<&str> {
            let subject = Muted::parse(muted).unwrap();
            assert_eq!(subject.to_string(), muted);
            let all = services.iter();
            all.filter(|service| subject.covers(&service.id, host_of(service)))
                .map(|service| service.id.as_str())
                .collect()
        };
        assert_eq!(covered("service:caddy"), ["caddy"]);
        assert_eq!(covered("service:ct100"), ["ct100"]);
        assert_eq!(covered("host:ct100"), ["caddy"]);
        assert_eq!(covered("host:z"), ["nas"]);
        assert!(covered("host:107").is_empty() && covered("service:z").is_empty());
        for bad in [
            "",
            "caddy",
            "service:",
            "host:",
            "service:A",
            "node:z",
            "many",
        ] {
            assert_eq!(Muted::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_mute_ends_later_and_within_thirty_days() {
        let now = Timestamp::from_ms(1_762_000_000_000);
        let ms = Duration::from_millis(1);
        for (until, expected) in [
            (now.minus(ms), Err(InvalidEnd::Past)),
            (now, Err(InvalidEnd::Past)),
            (now.plus(ms), Ok(())),
            (now.plus(LASTS_MAX), Ok(())),
            (now.plus(LASTS_MAX + ms), Err(InvalidEnd::TooLong)),
        ] {
            assert_eq!(check_end(now, until), expected, "{until}");
        }
    }
}
