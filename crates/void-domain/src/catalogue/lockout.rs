//! The lock-out guard: what would cut off Void itself, its database, the network path or the last
//! approval channel is critical, whatever the catalogue calls it, and however it spells it.

use super::machines::{Machines, plain_service};
use super::{Action, ActionKind};
use crate::text;

/// `[self]` of the settings: where Void lives, and what must stay up for the owner to reach it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lockout {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    setting: &'static str,
    written: String,
    what: Protected,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Protected {
    Guest(String, u32),
    Host(String),
    Service(String, String),
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
            let what = guest(entry);
            lockout.add("guests", entry, what, "node/vmid, such as z/311")?;
        }
        for entry in hosts {
            lockout.add("hosts", entry, host(entry), "a host, or host/service")?;
        }
        for entry in protected {
            let what = guest(entry).or_else(|| host(entry));
            let expected = "node/vmid, a host, or host/service";
            lockout.add("protected", entry, what, expected)?;
        }
        Ok(lockout)
    }

    fn add(
        &mut self,
        setting: &'static str,
        written: &str,
        what: Option<Protected>,
        expected: &'static str,
    ) -> Result<(), InvalidLockout> {
        let what = what.ok_or_else(|| invalid(setting, written, expected))?;
        self.entries.push(Entry {
            setting,
            written: written.to_owned(),
            what,
        });
        Ok(())
    }

    /// Why this kind of action must be critical, if it must.
    pub(super) fn reason(&self, kind: &ActionKind, machines: &Machines) -> Option<String> {
        if !kind.interrupts() {
            return None;
        }
        let named = self
            .entries
            .iter()
            .find(|entry| entry.what.covers(kind, machines))?;
        Some(match (&named.what, kind) {
            (Protected::Guest(..), ActionKind::GuestPower { power, .. }) => {
                format!("guest {}/{} is named in [self]", power.node, power.vmid)
            }
            (Protected::Host(_), _) => format!("host {} is named in [self]", kind.machine()),
            _ => format!("{} is named in [self]", named.written),
        })
    }

    /// Entries that protect nothing that the catalogue knows: each as its setting and how it is written.
    pub(super) fn idle<'a>(
        &'a self,
        actions: &[&Action],
        machines: &Machines,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        let is_idle = |entry: &&Entry| {
            let is_known_host = match &entry.what {
                Protected::Host(name) => machines.named(name).is_some(),
                Protected::Guest(..) | Protected::Service(..) => false,
            };
            let mut kinds = actions.iter().map(|action| &action.execution.kind);
            !is_known_host && !kinds.any(|kind| entry.what.covers(kind, machines))
        };
        let idle: Vec<&Entry> = self.entries.iter().filter(is_idle).collect();
        idle.into_iter()
            .map(|entry| (entry.setting, entry.written.as_str()))
    }
}

impl Protected {
    fn covers(&self, kind: &ActionKind, machines: &Machines) -> bool {
        match (self, kind) {
            // A number is one in a cluster, and a guest may have moved: the node says nothing.
            (Self::Guest(_, vmid), ActionKind::GuestPower { power, .. }) => *vmid == power.vmid,
            (Self::Guest(..), _) | (_, ActionKind::GuestPower { .. }) => false,
            (Self::Host(host), kind) => machines.may_be_one(host, kind.machine()),
            (
                Self::Service(host, service),
                ActionKind::ServiceRestart { service: own, .. }
                | ActionKind::OnNode { service: own, .. },
            ) => machines.may_be_one(host, kind.machine()) && may_stop(own, service),
        }
    }
}

/// Whether working on the unit `own` can take `service` down: it is the same, belongs to it (`caddy.socket`), or is
/// a target, slice, mount or the like that others hang on.
fn may_stop(own: &str, service: &str) -> bool {
    let (own, service) = (plain_service(own), plain_service(service));
    match own.rsplit_once('.') {
        _ if own == service => true,
        Some((stem, "socket" | "path" | "timer")) => stem == service,
        Some((_, "target" | "slice" | "scope" | "mount" | "automount" | "device" | "swap")) => true,
        _ => false,
    }
}

fn guest(entry: &str) -> Option<Protected> {
    let (node, vmid) = entry.split_once('/')?;
    let vmid = vmid.parse().ok()?;
    is_name(node).then(|| Protected::Guest(node.to_owned(), vmid))
}

fn host(entry: &str) -> Option<Protected> {
    match entry.split_once('/') {
        None if is_name(entry) => Some(Protected::Host(entry.to_owned())),
        Some((host, service)) if is_name(host) && is_name(service) => {
            Some(Protected::Service(host.to_owned(), service.to_owned()))
        }
        _ => None,
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
