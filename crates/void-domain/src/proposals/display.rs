//! How a proposal stands, for whoever looks: one set of states and one table of words for every surface, the web
//! page, the link page, the command line, messages, files of the bridge, tools of agents and the built-in brain.
//! None of the words says more than is recorded: what is approved has not been sent.

use super::{Proposal, State, VerificationOutcome};

/// What keeps a proposal from starting at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartHold {
    Nothing,
    /// Something else runs on its target or did a moment ago, or the target is another's to work on.
    Target,
    Freeze,
    /// An agent above whoever asked, or the owner. It counts for what waits too.
    FromAbove,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DisplayState {
    Waiting,
    Starting,
    WaitsForTarget,
    HeldByFreeze,
    /// Whether or not it is approved: nothing of it starts before the owner lifts the hold.
    HeldFromAbove,
    Running,
    BeingChecked,
    Verified,
    CheckFailed,
    Unconfirmed,
    Failed,
    Unknown,
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// The approval was not used in time.
    Lapsed,
    Withdrawn,
    Refused,
}

impl DisplayState {
    pub const ALL: [Self; 17] = [
        Self::Waiting,
        Self::Starting,
        Self::WaitsForTarget,
        Self::HeldByFreeze,
        Self::HeldFromAbove,
        Self::Running,
        Self::BeingChecked,
        Self::Verified,
        Self::CheckFailed,
        Self::Unconfirmed,
        Self::Failed,
        Self::Unknown,
        Self::Rejected,
        Self::Expired,
        Self::Lapsed,
        Self::Withdrawn,
        Self::Refused,
    ];

    /// What is shown of a proposal. What holds it counts only for one that is approved and that Void starts itself:
    /// a foreign executor takes what is its own when it wants.
    pub fn of(proposal: &Proposal, hold: StartHold) -> Self {
        match &proposal.state {
            State::Pending | State::Approved { .. } if hold == StartHold::FromAbove => {
                Self::HeldFromAbove
            }
            State::Pending => Self::Waiting,
            State::Approved { .. } if proposal.subject.is_by_file() => Self::WaitsForTarget,
            State::Approved { .. } => match hold {
                StartHold::Nothing => Self::Starting,
                StartHold::Target => Self::WaitsForTarget,
                StartHold::Freeze => Self::HeldByFreeze,
                StartHold::FromAbove => Self::HeldFromAbove,
            },
            State::Running { .. } => Self::Running,
            State::Executed { verification, .. } => {
                match verification.as_ref().map(|seen| seen.outcome) {
                    None => Self::BeingChecked,
                    Some(VerificationOutcome::Verified) => Self::Verified,
                    Some(VerificationOutcome::Failed) => Self::CheckFailed,
                    Some(VerificationOutcome::Unverified) => Self::Unconfirmed,
                }
            }
            State::Failed { .. } => Self::Failed,
            State::Unknown { .. } => Self::Unknown,
            State::Rejected { .. } => Self::Rejected,
            State::Expired { lapsed: None, .. } => Self::Expired,
            State::Expired { .. } => Self::Lapsed,
            State::Cancelled { .. } => Self::Withdrawn,
            State::Refused { .. } => Self::Refused,
        }
    }

    /// `display_state` on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Starting => "starting",
            Self::WaitsForTarget => "waits_for_target",
            Self::HeldByFreeze => "held_by_freeze",
            Self::HeldFromAbove => "held_from_above",
            Self::Running => "running",
            Self::BeingChecked => "being_checked",
            Self::Verified => "verified",
            Self::CheckFailed => "check_failed",
            Self::Unconfirmed => "unconfirmed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Lapsed => "lapsed",
            Self::Withdrawn => "withdrawn",
            Self::Refused => "refused",
        }
    }

    /// `None`: a word of another version.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// The few words that stand beside a proposal.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting for yes",
            Self::Starting => "Approved, starting",
            Self::WaitsForTarget => "Approved, waits for its target",
            Self::HeldByFreeze => "Approved, held by the freeze",
            Self::HeldFromAbove => "Held, lift it first",
            Self::Running => "Running",
            Self::BeingChecked => "Ran, being checked",
            Self::Verified => "Done, checked",
            Self::CheckFailed => "Ran, check failed",
            Self::Unconfirmed => "Ran, not confirmed",
            Self::Failed => "Failed",
            Self::Unknown => "Outcome unknown",
            Self::Rejected => "Rejected",
            Self::Expired => "Expired",
            Self::Lapsed => "Lapsed",
            Self::Withdrawn => "Withdrawn",
            Self::Refused => "Refused",
        }
    }

    /// The same after the name of what was proposed, said to the owner: "Restart Caddy is running".
    pub const fn clause(self) -> &'static str {
        match self {
            Self::Waiting => "waits for your yes",
            Self::Starting => "is approved, starting",
            Self::WaitsForTarget => "is approved, waits for its target",
            Self::HeldByFreeze => "is approved, held by the freeze",
            Self::HeldFromAbove => "is held, and waits for you to lift that",
            Self::Running => "is running",
            Self::BeingChecked => "ran, and is being checked",
            Self::Verified => "ran, and the check confirmed it",
            Self::CheckFailed => "ran, and the check says that it did not help",
            Self::Unconfirmed => "ran; nobody has confirmed that it helped",
            Self::Failed => "failed",
            Self::Unknown => "may have run",
            Self::Rejected => "was rejected",
            Self::Expired => "expired, and nothing ran",
            Self::Lapsed => "lapsed, and nothing ran",
            Self::Withdrawn => "was withdrawn",
            Self::Refused => "was refused",
        }
    }

    /// The same for an agent, in sentences: what it means, and what the agent is not to do.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Waiting => "It waits for the owner's yes. Nothing has run.",
            Self::Starting => "Approved, starting. It has not run yet.",
            Self::WaitsForTarget => "Approved, waits for its target. It has not run yet.",
            Self::HeldByFreeze => {
                "Approved, held by the freeze. It has not run, and does not before the owner thaws."
            }
            Self::HeldFromAbove => {
                "It is held from above. It has not run, and does not before the owner lifts that."
            }
            Self::Running => "It is still running; ask proposal_status later.",
            Self::BeingChecked => {
                "It ran; its check is still under way, ask proposal_status later."
            }
            Self::Verified => "It ran and the check confirmed it.",
            Self::CheckFailed => "It ran, and the check says that it did not help.",
            Self::Unconfirmed => "It ran; nobody has confirmed that it helped.",
            Self::Failed => "It failed.",
            Self::Unknown => "Whether it ran is not known. Do not repeat it.",
            Self::Rejected => "The owner said no.",
            Self::Expired => "Nobody decided in time; it will not run.",
            Self::Lapsed => "It was approved and could not start in time; it will not run.",
            Self::Withdrawn => "It was withdrawn; it will not run.",
            Self::Refused => "It was refused and nothing ran.",
        }
    }
}

#[cfg(test)]
mod tests;
