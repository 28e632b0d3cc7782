//! What the owner looks at while they say something. The page sends it with the message; it is a hint of what "this" means,
//! it grants nothing, and it is stored nowhere but in the step of the turn that asked for it.

use super::ConversationSubject;
use crate::agents::AgentName;
use crate::ids::{AttachmentId, ConversationId, ProposalId};

/// The thing, or the page of the web that shows none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageView {
    /// An entity, a service or an action.
    Subject(ConversationSubject),
    Proposal(ProposalId),
    Conversation(ConversationId),
    Agent(AgentName),
    /// A machine that the catalogue reaches.
    Host(MachineName),
    /// A machine with guests, or one that runs Void's executor.
    Node(MachineName),
    Guest {
        node: MachineName,
        vmid: u32,
    },
    /// A file that is kept.
    Attachment(AttachmentId),
    /// An entry of the record, by its number.
    Entry(u64),
    Screen(Screen),
}

/// As a message says what is looked at.
pub const VIEW_KINDS: [&str; 16] = [
    "space",
    "project",
    "page",
    "task",
    "ref",
    "service",
    "action",
    "proposal",
    "conversation",
    "agent",
    "host",
    "node",
    "guest",
    "attachment",
    "entry",
    "screen",
];

/// What a host or a node is called, as the catalogue and Proxmox spell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineName(String);

impl MachineName {
    const CHARS_MAX: usize = 63;

    pub fn parse(text: &str) -> Option<Self> {
        let is_name = (1..=Self::CHARS_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A page of the web that lists things and is about none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    Home,
    Inbox,
    Lab,
    Chat,
    Knowledge,
    Search,
    Audit,
    Settings,
    More,
}

impl Screen {
    pub const ALL: [Self; 9] = [
        Self::Home,
        Self::Inbox,
        Self::Lab,
        Self::Chat,
        Self::Knowledge,
        Self::Search,
        Self::Audit,
        Self::Settings,
        Self::More,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Inbox => "inbox",
            Self::Lab => "lab",
            Self::Chat => "chat",
            Self::Knowledge => "knowledge",
            Self::Search => "search",
            Self::Audit => "audit",
            Self::Settings => "settings",
            Self::More => "more",
        }
    }
}

impl MessageView {
    /// From `entityType` and `entityId`; `None` if there is no such kind of thing, or if that is no id of it.
    pub fn parse(kind: &str, id: &str) -> Option<Self> {
        match kind {
            "proposal" => id.parse().ok().map(Self::Proposal),
            "conversation" => id.parse().ok().map(Self::Conversation),
            "agent" => id.parse().ok().map(Self::Agent),
            "host" => MachineName::parse(id).map(Self::Host),
            "node" => MachineName::parse(id).map(Self::Node),
            "guest" => {
                let (node, vmid) = id.split_once('/')?;
                let node = MachineName::parse(node)?;
                let vmid = number(vmid).and_then(|vmid| u32::try_from(vmid).ok())?;
                Some(Self::Guest { node, vmid })
            }
            "attachment" => id.parse().ok().map(Self::Attachment),
            "entry" => number(id).map(Self::Entry),
            "screen" => {
                let mut all = Screen::ALL.into_iter();
                all.find(|screen| screen.as_str() == id).map(Self::Screen)
            }
            _ => ConversationSubject::parse(kind, id).map(Self::Subject),
        }
    }

    /// As [`Self::parse`] takes it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Subject(subject) => subject.kind(),
            Self::Proposal(_) => "proposal",
            Self::Conversation(_) => "conversation",
            Self::Agent(_) => "agent",
            Self::Host(_) => "host",
            Self::Node(_) => "node",
            Self::Guest { .. } => "guest",
            Self::Attachment(_) => "attachment",
            Self::Entry(_) => "entry",
            Self::Screen(_) => "screen",
        }
    }

    pub fn id(&self) -> String {
        match self {
            Self::Subject(subject) => subject.id(),
            Self::Proposal(id) => id.to_string(),
            Self::Conversation(id) => id.to_string(),
            Self::Agent(name) => name.to_string(),
            Self::Host(name) | Self::Node(name) => name.as_str().to_owned(),
            Self::Guest { node, vmid } => format!("{}/{vmid}", node.as_str()),
            Self::Attachment(id) => id.to_string(),
            Self::Entry(seq) => seq.to_string(),
            Self::Screen(screen) => screen.as_str().to_owned(),
        }
    }
}

/// From 1, as it is written without anything before it.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_said_as_it_is_read() {
        let id = "01999999-0000-7000-8000-000000000001";
        for (kind, id) in [
            ("page", id),
            ("space", id),
            ("service", "caddy"),
            ("action", "restart-a"),
            ("proposal", id),
            ("conversation", id),
            ("agent", "little-blue"),
            ("project", id),
            ("task", id),
            ("ref", id),
            ("host", "ct101"),
            ("node", "PVE1"),
            ("guest", "pve1/107"),
            ("attachment", id),
            ("entry", "4211"),
        ]
        .into_iter()
        .chain(Screen::ALL.map(|screen| ("screen", screen.as_str())))
        {
            let view = MessageView::parse(kind, id).unwrap();
            assert_eq!((view.kind(), &*view.id()), (kind, id));
            assert!(VIEW_KINDS.contains(&kind), "{kind}");
        }
        for (kind, id) in [
            ("screen", "elsewhere"),
            ("screen", ""),
            ("proposal", "K7M2"),
            ("conversation", "../x"),
            ("agent", "A b"),
            ("Page", id),
            ("node", "A/b"),
            ("node", "a b"),
            ("host", ""),
            ("guest", "pve1"),
            ("guest", "pve1/"),
            ("guest", "pve1/0107"),
            ("guest", "pve1/4294967296"),
            ("guest", "../107"),
            ("attachment", "nas.pdf"),
            ("entry", "0"),
            ("entry", "+1"),
            ("entry", "-1"),
            ("", ""),
        ] {
            assert_eq!(MessageView::parse(kind, id), None, "{kind} {id}");
        }
    }
}
