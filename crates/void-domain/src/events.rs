//! What others are told: an entry of the record, seen by its audience. The entry's number is the SSE id, so a client
//! that was away resumes without a gap. What an event carries is read from its entry in [`crate::told`].

mod ids;

use crate::ids::RequesterId;

pub use self::ids::{EventId, ID_NUMBER_MAX};

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
    /// It was held, vetoed or annotated from above, or the owner lifted a hold.
    ProposalHeld,
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
    /// An agent's process was started or stopped, ended unasked, or was given up.
    AgentChanged,
    /// There is something new in an agent's mailbox.
    MessageSent,
    /// Somebody asks the owner or an agent something.
    QuestionAsked,
    QuestionAnswered,
    QuestionCancelled,
    /// Nobody answered in time.
    QuestionExpired,
    /// Something that the owner keeps was made, changed, thrown away, taken back or vouched for.
    SpaceChanged,
    ProjectChanged,
    PageChanged,
    TaskChanged,
    RefChanged,
}

impl EventKind {
    pub const ALL: [Self; 33] = [
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
        Self::ProposalHeld,
        Self::ServiceChanged,
        Self::TurnStarted,
        Self::TurnFinished,
        Self::TurnFailed,
        Self::FreezeChanged,
        Self::NodeChanged,
        Self::AccessRevoked,
        Self::NotificationFailed,
        Self::MuteChanged,
        Self::AgentChanged,
        Self::MessageSent,
        Self::QuestionAsked,
        Self::QuestionAnswered,
        Self::QuestionCancelled,
        Self::QuestionExpired,
        Self::SpaceChanged,
        Self::ProjectChanged,
        Self::PageChanged,
        Self::TaskChanged,
        Self::RefChanged,
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
            Self::ProposalHeld => "proposal.held",
            Self::ServiceChanged => "service.changed",
            Self::TurnStarted => "turn.started",
            Self::TurnFinished => "turn.finished",
            Self::TurnFailed => "turn.failed",
            Self::FreezeChanged => "freeze.changed",
            Self::NodeChanged => "node.changed",
            Self::AccessRevoked => "access.revoked",
            Self::NotificationFailed => "notification.failed",
            Self::MuteChanged => "mute.changed",
            Self::AgentChanged => "agent.changed",
            Self::MessageSent => "message.sent",
            Self::QuestionAsked => "question.asked",
            Self::QuestionAnswered => "question.answered",
            Self::QuestionCancelled => "question.cancelled",
            Self::QuestionExpired => "question.expired",
            Self::SpaceChanged => "space.changed",
            Self::ProjectChanged => "project.changed",
            Self::PageChanged => "page.changed",
            Self::TaskChanged => "task.changed",
            Self::RefChanged => "ref.changed",
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
            Self::ProposalHeld => &[
                "proposal.held",
                "proposal.vetoed",
                "proposal.annotated",
                "proposal.hold_lifted",
            ],
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
            Self::AgentChanged => &AGENT_VERBS,
            Self::MessageSent => &["message.sent"],
            Self::QuestionAsked => &["question.asked"],
            Self::QuestionAnswered => &["question.answered"],
            Self::QuestionCancelled => &["question.cancelled"],
            Self::QuestionExpired => &["question.expired"],
            Self::SpaceChanged => &SPACE_VERBS,
            Self::ProjectChanged => &PROJECT_VERBS,
            Self::PageChanged => &PAGE_VERBS,
            Self::TaskChanged => &TASK_VERBS,
            Self::RefChanged => &REF_VERBS,
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
            | Self::ProposalUnknown
            | Self::ProposalHeld => true,
            Self::ServiceChanged
            | Self::TurnStarted
            | Self::TurnFinished
            | Self::TurnFailed
            | Self::FreezeChanged
            | Self::NodeChanged
            | Self::AccessRevoked
            | Self::NotificationFailed
            | Self::MuteChanged
            | Self::AgentChanged
            | Self::MessageSent
            | Self::QuestionAsked
            | Self::QuestionAnswered
            | Self::QuestionCancelled
            | Self::QuestionExpired
            | Self::SpaceChanged
            | Self::ProjectChanged
            | Self::PageChanged
            | Self::TaskChanged
            | Self::RefChanged => false,
        }
    }

    /// The event that an entry with this verb is. `None`: nobody is told of such entries, or another version is.
    pub fn of_verb(verb: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.verbs().contains(&verb))
    }
}

/// What happens to an agent's process.
const AGENT_VERBS: [&str; 10] = [
    "agent.started",
    "agent.stopped",
    "agent.restarted",
    "agent.updated",
    "agent.destroyed",
    "agent.paused",
    "agent.resumed",
    "agent.crashed",
    "agent.recovered",
    "agent.given_up",
];

/// What happens to what the owner keeps.
macro_rules! entity_verbs {
    ($name:ident, $kind:literal) => {
        const $name: [&str; 5] = [
            concat!($kind, ".created"),
            concat!($kind, ".changed"),
            concat!($kind, ".deleted"),
            concat!($kind, ".restored"),
            concat!($kind, ".vouched"),
        ];
    };
}
entity_verbs!(SPACE_VERBS, "space");
entity_verbs!(PROJECT_VERBS, "project");
entity_verbs!(PAGE_VERBS, "page");
entity_verbs!(TASK_VERBS, "task");
entity_verbs!(REF_VERBS, "ref");

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
