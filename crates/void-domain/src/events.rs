//! What others are told. Events are durable and numbered in commit order; the number is the
//! SSE id, so a client that was away resumes without a gap.

use serde_json::Value;

use crate::ids::RequesterId;
use crate::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    ProposalCreated,
    /// The same was asked for again, with something new to read.
    ProposalJoined,
    ProposalApproved,
    ProposalStarted,
    ProposalExecuted,
    ProposalVerified,
    ProposalFailed,
    ProposalRejected,
    ProposalRefused,
    ProposalExpired,
    ProposalCancelled,
    ProposalUnknown,
    ServiceChanged,
    TurnStarted,
    TurnFinished,
    TurnFailed,
    FreezeChanged,
    /// A node was invited, asked to join, joined, changed its list or version, or left.
    NodeChanged,
    /// A credential was withdrawn: open streams look again at who is listening.
    AccessRevoked,
    /// A message could not be delivered and is not tried again by itself.
    NotificationFailed,
    /// What is not told for a time was set, lifted or ended.
    MuteChanged,
}

impl EventKind {
    pub const ALL: [Self; 21] = [
        Self::ProposalCreated,
        Self::ProposalJoined,
        Self::ProposalApproved,
        Self::ProposalStarted,
        Self::ProposalExecuted,
        Self::ProposalVerified,
        Self::ProposalFailed,
        Self::ProposalRejected,
        Self::ProposalRefused,
        Self::ProposalExpired,
        Self::ProposalCancelled,
        Self::ProposalUnknown,
        Self::ServiceChanged,
        Self::TurnStarted,
        Self::TurnFinished,
        Self::TurnFailed,
        Self::FreezeChanged,
        Self::NodeChanged,
        Self::AccessRevoked,
        Self::NotificationFailed,
        Self::MuteChanged,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProposalCreated => "proposal.created",
            Self::ProposalJoined => "proposal.joined",
            Self::ProposalApproved => "proposal.approved",
            Self::ProposalStarted => "proposal.started",
            Self::ProposalExecuted => "proposal.executed",
            Self::ProposalVerified => "proposal.verified",
            Self::ProposalFailed => "proposal.failed",
            Self::ProposalRejected => "proposal.rejected",
            Self::ProposalRefused => "proposal.refused",
            Self::ProposalExpired => "proposal.expired",
            Self::ProposalCancelled => "proposal.cancelled",
            Self::ProposalUnknown => "proposal.unknown",
            Self::ServiceChanged => "service.changed",
            Self::TurnStarted => "turn.started",
            Self::TurnFinished => "turn.finished",
            Self::TurnFailed => "turn.failed",
            Self::FreezeChanged => "freeze.changed",
            Self::NodeChanged => "node.changed",
            Self::AccessRevoked => "access.revoked",
            Self::NotificationFailed => "notification.failed",
            Self::MuteChanged => "mute.changed",
        }
    }

    /// Whether it is a step of a proposal.
    pub const fn is_of_proposal(self) -> bool {
        match self {
            Self::ProposalCreated
            | Self::ProposalJoined
            | Self::ProposalApproved
            | Self::ProposalStarted
            | Self::ProposalExecuted
            | Self::ProposalVerified
            | Self::ProposalFailed
            | Self::ProposalRejected
            | Self::ProposalRefused
            | Self::ProposalExpired
            | Self::ProposalCancelled
            | Self::ProposalUnknown => true,
            Self::ServiceChanged
            | Self::TurnStarted
            | Self::TurnFinished
            | Self::TurnFailed
            | Self::FreezeChanged
            | Self::NodeChanged
            | Self::AccessRevoked
            | Self::NotificationFailed
            | Self::MuteChanged => false,
        }
    }

    /// `None`: a kind of another version, which is passed over.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An event before it has a number.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub kind: EventKind,
    pub audience: Audience,
    pub payload: Value,
}

/// Who may hear of it, beside the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Every reader.
    Everyone,
    /// Viewers, and the agent that the event is about.
    Requester(RequesterId),
    /// Viewers; no agent.
    People,
    OwnerOnly,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: u64,
    pub at: Timestamp,
    pub kind: EventKind,
    pub audience: Audience,
    pub payload: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_and_one_of_another_version_is_none() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.as_str()), Some(kind));
            let noun = kind.as_str().split_once('.').map(|(noun, _)| noun);
            assert_eq!(kind.is_of_proposal(), noun == Some("proposal"), "{kind:?}");
        }
        for other in [
            "",
            "proposal",
            "proposal.",
            "proposal.postponed",
            "incident.opened",
        ] {
            assert_eq!(EventKind::parse(other), None);
        }
    }
}
