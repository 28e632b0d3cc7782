//! What one agent may do to another, or for itself.

use void_domain::capabilities::Capability;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    Start,
    Kill,
    Restart,
    Update,
    Destroy,
    GetLogs,
    /// Makes a child below the one that is named.
    Spawn,
    WriteConfig,
    ApplyCommit,
    WriteState,
    Act,
    SeeProposals,
    Hold,
    Veto,
    Annotate,
    LiftHold,
    Approve,
    Send,
    Receive,
    Wake,
    Ask,
    /// Cancels or answers questions of the one that is named, and cancels its reminders. Whoever was asked answers
    /// because they were asked, not by this.
    Moderate,
    Remind,
    SeeLooseEnds,
    Delegate,
    ReadMeta,
    UpdateMetaInputs,
    Move,
    ChangeCapabilities,
}

impl Operation {
    pub const ALL: [Self; 29] = [
        Self::Start,
        Self::Kill,
        Self::Restart,
        Self::Update,
        Self::Destroy,
        Self::GetLogs,
        Self::Spawn,
        Self::WriteConfig,
        Self::ApplyCommit,
        Self::WriteState,
        Self::Act,
        Self::SeeProposals,
        Self::Hold,
        Self::Veto,
        Self::Annotate,
        Self::LiftHold,
        Self::Approve,
        Self::Send,
        Self::Receive,
        Self::Wake,
        Self::Ask,
        Self::Moderate,
        Self::Remind,
        Self::SeeLooseEnds,
        Self::Delegate,
        Self::ReadMeta,
        Self::UpdateMetaInputs,
        Self::Move,
        Self::ChangeCapabilities,
    ];

    /// As programs call it; a tool of this operation has this name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Kill => "kill",
            Self::Restart => "restart",
            Self::Update => "update",
            Self::Destroy => "destroy",
            Self::GetLogs => "get_logs",
            Self::Spawn => "request_init_config",
            Self::WriteConfig => "write_config",
            Self::ApplyCommit => "request_apply_commit",
            Self::WriteState => "write_state",
            Self::Act => "act",
            Self::SeeProposals => "see_proposals",
            Self::Hold => "hold",
            Self::Veto => "veto",
            Self::Annotate => "annotate",
            Self::LiftHold => "lift_hold",
            Self::Approve => "approve",
            Self::Send => "send",
            Self::Receive => "recv",
            Self::Wake => "wake",
            Self::Ask => "ask",
            Self::Moderate => "moderate",
            Self::Remind => "remind",
            Self::SeeLooseEnds => "loose_ends",
            Self::Delegate => "delegate",
            Self::ReadMeta => "read_meta",
            Self::UpdateMetaInputs => "request_update_meta_inputs",
            Self::Move => "move",
            Self::ChangeCapabilities => "change_capabilities",
        }
    }

    /// As people say it, of somebody called `it`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Start => "start it",
            Self::Kill => "stop it",
            Self::Restart => "restart it",
            Self::Update => "restart it on its newest config",
            Self::Destroy => "destroy it",
            Self::GetLogs => "read its logs",
            Self::Spawn => "make a child below it",
            Self::WriteConfig => "write its config",
            Self::ApplyCommit => "have a commit of its config applied",
            Self::WriteState => "read and write its files",
            Self::Act => "ask for actions that name it",
            Self::SeeProposals => "see what it asks for",
            Self::Hold => "hold what it asks for",
            Self::Veto => "veto what it asks for",
            Self::Annotate => "add words to what it asks for",
            Self::LiftHold => "lift a hold on what it asks for",
            Self::Approve => "approve what it asks for",
            Self::Send => "send it messages",
            Self::Receive => "receive its messages",
            Self::Wake => "wake it",
            Self::Ask => "ask it questions",
            Self::Moderate => "cancel or answer its questions and cancel its reminders",
            Self::Remind => "set its reminders",
            Self::SeeLooseEnds => "see its loose ends",
            Self::Delegate => "hand down capabilities to it",
            Self::ReadMeta => "read the tree's repository",
            Self::UpdateMetaInputs => "have pinned inputs updated",
            Self::Move => "move it in the tree",
            Self::ChangeCapabilities => "change its capabilities",
        }
    }

    /// What whoever does it has to hold, wherever they stand.
    pub const fn needs(self) -> Option<Capability> {
        match self {
            Self::Spawn => Some(Capability::Spawn),
            Self::Act => Some(Capability::Act),
            Self::ReadMeta => Some(Capability::MetaRead),
            Self::UpdateMetaInputs => Some(Capability::MetaUpdate),
            Self::Start
            | Self::Kill
            | Self::Restart
            | Self::Update
            | Self::Destroy
            | Self::GetLogs
            | Self::WriteConfig
            | Self::ApplyCommit
            | Self::WriteState
            | Self::SeeProposals
            | Self::Hold
            | Self::Veto
            | Self::Annotate
            | Self::LiftHold
            | Self::Approve
            | Self::Send
            | Self::Receive
            | Self::Wake
            | Self::Ask
            | Self::Moderate
            | Self::Remind
            | Self::SeeLooseEnds
            | Self::Delegate
            | Self::Move
            | Self::ChangeCapabilities => None,
        }
    }
}
