//! Who does something. An actor comes from an authenticated channel, never from content.

use std::fmt;

use serde::Serialize;

use crate::agents::AgentName;
use crate::ids::{AgentId, RequesterId, TokenId};
use crate::text;

/// Where a person's hand was. Known from the credential and the route, shown on the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The owner's bearer token, used by a program.
    Api,
    /// The owner's bearer token, used by our command line.
    Cli,
    /// The owner's browser session.
    Web,
    /// A move in the file bridge's folder, where the owner allowed it to count.
    File,
    /// A button in the private chat with a paired account; its number is what was checked. It approves
    /// unless the owner said that it only tells.
    Telegram { user: i64, may_approve: bool },
    /// A single-use token that a notification carried. It approves only where the owner said so.
    Ntfy { may_approve: bool },
}

impl Surface {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Cli => "cli",
            Self::Web => "web",
            Self::File => "file",
            Self::Telegram { .. } => "telegram",
            Self::Ntfy { .. } => "ntfy",
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Telegram { user, .. } => write!(f, "telegram-{user}"),
            Self::Api | Self::Cli | Self::Web | Self::File | Self::Ntfy { .. } => {
                f.write_str(self.as_str())
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Actor {
    Owner {
        surface: Surface,
    },
    /// Whichever of its tokens it showed.
    Agent {
        id: AgentId,
        name: AgentName,
    },
    Viewer {
        id: TokenId,
        name: String,
    },
    Node {
        id: TokenId,
        name: String,
    },
    /// Void itself: a sweep, a start, a recovery.
    System,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActorKind {
    Owner,
    Agent,
    Viewer,
    Node,
    System,
}

impl ActorKind {
    pub const ALL: [Self; 5] = [
        Self::Owner,
        Self::Agent,
        Self::Viewer,
        Self::Node,
        Self::System,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Agent => "agent",
            Self::Viewer => "viewer",
            Self::Node => "node",
            Self::System => "system",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl Actor {
    pub const fn kind(&self) -> ActorKind {
        match self {
            Self::Owner { .. } => ActorKind::Owner,
            Self::Agent { .. } => ActorKind::Agent,
            Self::Viewer { .. } => ActorKind::Viewer,
            Self::Node { .. } => ActorKind::Node,
            Self::System => ActorKind::System,
        }
    }

    pub const fn is_owner(&self) -> bool {
        matches!(self, Self::Owner { .. })
    }

    pub fn requester(&self) -> Requester {
        let (id, name) = match self {
            Self::Owner { .. } => (None, "owner"),
            Self::System => (None, "system"),
            Self::Agent { id, name } => (Some(RequesterId::from(*id)), name.as_str()),
            Self::Viewer { id, name } | Self::Node { id, name } => {
                (Some(RequesterId::from(*id)), name.as_str())
            }
        };
        Requester {
            kind: self.kind(),
            id,
            name: name.to_owned(),
        }
    }
}

/// The form that stands in the record: `owner-cli`, `owner-telegram-12345`, `agent-little-blue`,
/// `system`.
impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { surface } => write!(f, "owner-{surface}"),
            Self::Agent { name, .. } => write!(f, "{}-{name}", self.kind().as_str()),
            Self::Viewer { name, .. } | Self::Node { name, .. } => {
                write!(f, "{}-{name}", self.kind().as_str())
            }
            Self::System => f.write_str("system"),
        }
    }
}

/// Names that are not an agent's to have: `agent-owner` must not read as the owner.
const RESERVED: [&str; 6] = ["you", "owner", "policy", "void", "system", "nobody"];

/// Whoever stands in the record, as people say it: `owner (Telegram)`, `little-blue`, `node n1`, `Void`.
pub fn person(by: &str) -> String {
    let (kind, name) = by.split_once('-').unwrap_or((by, ""));
    match (kind, name) {
        ("owner", "cli") => "owner (command line)".to_owned(),
        ("owner", "web") => "owner (web)".to_owned(),
        ("owner", "api") => "owner (API)".to_owned(),
        ("owner", "ntfy") => "owner (ntfy)".to_owned(),
        ("owner", "file") => "owner (file bridge)".to_owned(),
        ("owner", rest) if rest.starts_with("telegram-") => "owner (Telegram)".to_owned(),
        ("system", "") => "Void".to_owned(),
        ("node", name) if !name.is_empty() => format!("node {}", text::escaped(name)),
        ("agent" | "viewer", name) if RESERVED.contains(&name.to_lowercase().as_str()) => {
            format!("the {kind} called \"{}\"", text::escaped(name))
        }
        ("agent" | "viewer", name) if !name.is_empty() => text::escaped(name),
        _ => text::escaped(by),
    }
}

/// Who asked for a proposal, as it is stored with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Requester {
    #[serde(serialize_with = "kind_as_str")]
    pub kind: ActorKind,
    pub id: Option<RequesterId>,
    pub name: String,
}

fn kind_as_str<S: serde::Serializer>(kind: &ActorKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

#[cfg(test)]
mod tests {
    use super::person;

    #[test]
    fn everyone_has_one_name_and_nobody_passes_for_another() {
        for (by, said) in [
            ("owner-web", "owner (web)"),
            ("owner-cli", "owner (command line)"),
            ("owner-telegram-12345", "owner (Telegram)"),
            ("agent-little-blue", "little-blue"),
            ("agent-owner", "the agent called \"owner\""),
            ("agent-System", "the agent called \"System\""),
            ("viewer-policy", "the viewer called \"policy\""),
            ("node-n1", "node n1"),
            ("policy", "policy"),
            ("system", "Void"),
            ("agent-a\u{202e}b", "a\\u{202e}b"),
            ("agent-", "agent-"),
        ] {
            assert_eq!(person(by), said);
        }
    }
}
