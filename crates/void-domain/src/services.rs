//! Services whose health is watched: what to ask, how often, and what the answers mean.
//!
//! A reading is typed: a status code, a latency, a reason. No text that a stranger wrote enters it,
//! so reading health never taints anybody.

mod monitor;
mod read;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use monitor::{Monitor, Standing, StandingChange};

use crate::agents::AgentName;
use crate::digests::Digest;
use crate::ids::is_slug;
use crate::time::Timestamp;
use crate::written::Problem;

pub const INTERVAL_DEFAULT: Duration = Duration::from_secs(30);
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
pub const SERVICES_MAX: usize = 5_000;
/// A reading older than this many intervals says nothing about now.
const STALE_INTERVALS: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct ServiceId(String);

impl ServiceId {
    pub fn parse(text: &str) -> Option<Self> {
        is_slug(text).then(|| Self(text.to_owned()))
    }

    /// What an agent's process is told under, among what is down. No service of the services file has such an id.
    pub fn of_agent(name: &AgentName) -> Self {
        Self(format!("{AGENT}{name}"))
    }

    /// The same, or the id of a service.
    pub fn parse_told(text: &str) -> Option<Self> {
        match text.strip_prefix(AGENT) {
            Some(name) => name.parse().ok().map(|name| Self::of_agent(&name)),
            None => Self::parse(text),
        }
    }

    pub fn is_of_agent(&self) -> bool {
        self.0.starts_with(AGENT)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// No id of a service has a dot.
const AGENT: &str = "agent.";

impl std::fmt::Display for ServiceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Default)]
pub struct Services {
    list: Vec<Service>,
    digest: Option<Digest>,
}

impl Services {
    /// Reads `config/services.json`, whole, or says everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Vec<Problem>> {
        read::services(text)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Service> {
        self.list.iter()
    }

    pub fn get(&self, id: &str) -> Option<&Service> {
        self.list.iter().find(|service| service.id.as_str() == id)
    }

    /// `None` if there is no file.
    pub fn digest(&self) -> Option<Digest> {
        self.digest
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Service {
    pub id: ServiceId,
    pub label: String,
    pub place: Option<Location>,
    pub check: Check,
    pub interval: Duration,
    pub timeout: Duration,
    /// The owner wants to hear at any hour that it is down.
    pub urgent: bool,
}

impl Service {
    /// How old a reading may be before it says nothing about now.
    pub fn fresh_for(&self) -> Duration {
        self.interval * STALE_INTERVALS + self.timeout
    }

    /// Another one for another meaning; defaults that are written out change nothing.
    pub fn digest(&self) -> Digest {
        // Texts and numbers under fixed names: this is always written.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// Where it runs, as far as somebody wrote that down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Location {
    Host(String),
    Guest { node: String, vmid: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Check {
    Http(HttpCheck),
    /// Something accepts a connection.
    Tcp {
        host: String,
        port: u16,
    },
    /// The guest of its place runs, says Proxmox.
    Guest,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HttpCheck {
    pub secure: bool,
    pub host: String,
    pub port: u16,
    /// Path and query, beginning with `/`.
    pub path: String,
    /// The status that means up; any below 400 if not set.
    pub status: Option<u16>,
    /// SHA-256 of the leaf certificate, for a service with a certificate of its own making.
    pub certificate: Option<Digest>,
}

/// One look at a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub at: Timestamp,
    pub answer: CheckResult,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CheckResult {
    Good {
        latency_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
    },
    Bad {
        reason: Bad,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
    },
    /// It could not be asked.
    None { reason: Unreadable },
}

/// Why an answer is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bad {
    Refused,
    Unreachable,
    TimedOut,
    Reset,
    WrongStatus,
    NotHttp,
    /// The guest is not running.
    Stopped,
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unreadable {
    /// The name has no address.
    UnknownName,
    /// The certificate is none that is trusted.
    Certificate,
    /// Proxmox could not be asked, or does not show this guest.
    Proxmox,
    /// This machine could not make a connection at all.
    Local,
}

impl CheckResult {
    pub const fn health(self) -> Health {
        match self {
            Self::Good { .. } => Health::Up,
            Self::Bad { .. } => Health::Down,
            Self::None { .. } => Health::Unknown,
        }
    }

    /// The reason as a stable word, if there is one.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Good { .. } => None,
            Self::Bad { reason, .. } => Some(match reason {
                Bad::Refused => "refused",
                Bad::Unreachable => "unreachable",
                Bad::TimedOut => "timed_out",
                Bad::Reset => "reset",
                Bad::WrongStatus => "wrong_status",
                Bad::NotHttp => "not_http",
                Bad::Stopped => "stopped",
            }),
            Self::None { reason } => Some(match reason {
                Unreadable::UnknownName => "unknown_name",
                Unreadable::Certificate => "certificate",
                Unreadable::Proxmox => "proxmox",
                Unreadable::Local => "local",
            }),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    Up,
    Down,
    Unknown,
}

impl Health {
    pub const ALL: [Self; 3] = [Self::Up, Self::Down, Self::Unknown];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|health| health.as_str() == text)
    }
}
