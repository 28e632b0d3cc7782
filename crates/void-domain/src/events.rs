//! What others are told: an entry of the record, seen by its audience. The entry's number is the SSE id, so a client
//! that was away resumes without a gap. What an event carries is read from its entry in [`crate::told`].

mod ids;

use crate::ids::RequesterId;

pub use self::ids::EventId;

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

    /// The verbs of the entries that are this event.
    pub const fn verbs(self) -> &'static [&'static str] {
        match self {
            Self::ProposalCreated => &["proposal.created"],
            Self::ProposalJoined => &["proposal.joined"],
            Self::ProposalApproved => &["proposal.approved"],
            Self::ProposalStarted => &["proposal.started"],
            Self::ProposalExecuted => &["proposal.executed"],
            Self::ProposalVerified => &["proposal.verified"],
            Self::ProposalFailed => &["proposal.failed"],
            Self::ProposalRejected => &["proposal.rejected"],
            Self::ProposalRefused => &["proposal.refused"],
            Self::ProposalExpired => &["proposal.expired"],
            Self::ProposalCancelled => &["proposal.cancelled"],
            Self::ProposalUnknown => &["proposal.unknown"],
            Self::ServiceChanged => &["service.changed"],
            Self::TurnStarted => &["turn.started"],
            Self::TurnFinished => &["turn.finished"],
            Self::TurnFailed => &["turn.failed"],
            Self::FreezeChanged => &["freeze.set", "freeze.lengthened", "freeze.lifted"],
            Self::NodeChanged => &[
                "node.invited",
                "node.asked",
                "node.joined",
                "node.changed",
                "node.twin_refused",
                "node.command_refused",
                "node.removed",
            ],
            Self::AccessRevoked => &[
                "token.revoked",
                "session.closed",
                "session.revoked",
                "session.others_ended",
                "quarantine.set",
            ],
            Self::NotificationFailed => &["notification.failed"],
            Self::MuteChanged => &["mute.set", "mute.lifted", "mute.ended"],
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

    /// The event that an entry with this verb is. `None`: nobody is told of such entries, or another version is.
    pub fn of_verb(verb: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.verbs().contains(&verb))
    }
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
