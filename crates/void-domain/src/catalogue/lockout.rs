//! The lock-out guard: what would cut off Void itself, its database, the network path or the last
//! approval channel is critical, whatever the catalogue calls it.

use std::collections::BTreeSet;

use super::ActionKind;
use crate::text;

/// `[self]` of the settings: where Void lives, and what must stay up for the owner to reach it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lockout {
    guests: BTreeSet<(String, u32)>,
    hosts: BTreeSet<String>,
    services: BTreeSet<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[self] {setting}: \"{}\" is not {expected}", text::escaped(.entry))]
pub struct InvalidLockout {
    pub setting: &'static str,
    pub entry: String,
    pub expected: &'static str,
}

impl Lockout {
    /// `guests` are `node/vmid`, `hosts` are `host` or `host/service`, `protected` is any of these.
    pub fn parse(
        guests: &[String],
        hosts: &[String],
        protected: &[String],
    ) -> Result<Self, InvalidLockout> {
        let mut lockout = Self::default();
        for entry in guests {
            if !lockout.add_guest(entry) {
                return Err(invalid("guests", entry, "node/vmid, such as z/311"));
            }
        }
        for entry in hosts {
            if !lockout.add_host(entry) {
                return Err(invalid("hosts", entry, "a host, or host/service"));
            }
        }
        for entry in protected {
            if !lockout.add_guest(entry) && !lockout.add_host(entry) {
                return Err(invalid(
                    "protected",
                    entry,
                    "node/vmid, a host, or host/service",
                ));
            }
        }
        Ok(lockout)
    }

    fn add_guest(&mut self, entry: &str) -> bool {
        let Some((node, vmid)) = entry.split_once('/') else {
            return false;
        };
        match vmid.parse() {
            Ok(vmid) if is_name(node) => {
                self.guests.insert((node.to_owned(), vmid));
                true
            }
            _ => false,
        }
    }

    fn add_host(&mut self, entry: &str) -> bool {
        match entry.split_once('/') {
            None if is_name(entry) => {
                self.hosts.insert(entry.to_owned());
                true
            }
            Some((host, service)) if is_name(host) && is_name(service) => {
                self.services.insert((host.to_owned(), service.to_owned()));
                true
            }
            _ => false,
        }
    }

    /// Why this kind of action must be critical, if it must.
    pub(super) fn reason(&self, kind: &ActionKind) -> Option<String> {
        if !kind.interrupts() {
            return None;
        }
        let (place, thing) = match kind {
            ActionKind::ServiceRestart { host, service } => (host.as_str(), service),
            ActionKind::OnNode { node, service, .. } => (node.as_str(), service),
            ActionKind::GuestPower { node, vmid, .. } => {
                return self
                    .guests
                    .contains(&(node.clone(), *vmid))
                    .then(|| format!("guest {node}/{vmid} is named in [self]"));
            }
        };
        if self.hosts.contains(place) {
            return Some(format!("host {place} is named in [self]"));
        }
        self.services
            .contains(&(place.to_owned(), thing.clone()))
            .then(|| format!("{place}/{thing} is named in [self]"))
    }
}

fn is_name(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && !text.starts_with('-')
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'@' | b':'))
}

fn invalid(setting: &'static str, entry: &str, expected: &'static str) -> InvalidLockout {
    InvalidLockout {
        setting,
        entry: entry.to_owned(),
        expected,
    }
}
