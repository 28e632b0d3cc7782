//! The life of a proposal.
//!
//! A proposal is one request: to run one action with given parameters, or to make one change. Its state is an enum whose
//! variants hold exactly what is true then; transitions consume the value and return the next one.
//! There is no way from a finished state back, and none from *unknown* but evidence or the owner.

mod display;
mod history;
mod joining;
mod sight;
mod transitions;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use display::{DisplayState, StartHold};
pub use history::history;
pub use joining::{Joined, Twin, Words};
pub use sight::Sight;
pub use transitions::{InvalidTransition, Moved};

use crate::actors::Requester;
use crate::catalogue::{Risk, Tier};
use crate::changes::Change;
use crate::digests::Digest;
use crate::events::EventKind;
use crate::executions::{Execution, Route};
use crate::failures::{AnyCode, FailureCode};
use crate::hosts::Host;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::taint::Taint;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub id: ProposalId,
    pub code: ProposalCode,
    pub subject: Subject,
    pub requested_by: Requester,
    /// The requester's own words; shown apart and marked as such.
    pub reason: Option<String>,
    /// What would change, as the requester says; shown with the reason, and believed as little.
    pub diff: Option<String>,
    pub taint: Taint,
    /// How often the same requester asked for the same while it waited.
    pub count: u64,
    /// What it said then, where that differs.
    pub joined: Joined,
    /// Rises whenever a later request changes what a person should have read before a yes.
    pub revision: u64,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: State,
}

/// What was proposed, fixed at that moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    pub label: String,
    pub tier: Tier,
    pub risk: Risk,
    /// What at most one proposal works on at a time.
    pub target: String,
    pub digest: Digest,
    pub kind: SubjectKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SubjectKind {
    /// An action of the catalogue, on a machine.
    Action(ProposedAction),
    /// A change of what the owner keeps.
    Change(ProposedChange),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProposedAction {
    pub action_id: ActionId,
    /// All that the digest binds but for the parameters, as it is stored.
    pub definition: Value,
    /// What the definition does. `None` if it is none of the catalogue's, because the row was edited or is damaged:
    /// it is listed and shown, and neither executed nor settled by a channel.
    pub execution: Option<Execution>,
    pub params: Value,
    pub exec_digest: Digest,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProposedChange {
    /// All that the digest binds, as it is stored.
    pub definition: Value,
    /// `None` if the definition is no change, because the row was edited or is damaged: it is listed and shown, and
    /// never applied.
    pub change: Option<Change>,
}

impl Subject {
    /// The word of the API for it.
    pub const fn word(&self) -> &'static str {
        match self.kind {
            SubjectKind::Action(_) => "action",
            SubjectKind::Change(_) => "change",
        }
    }

    pub const fn action(&self) -> Option<&ProposedAction> {
        match &self.kind {
            SubjectKind::Action(action) => Some(action),
            SubjectKind::Change(_) => None,
        }
    }

    pub const fn action_mut(&mut self) -> Option<&mut ProposedAction> {
        match &mut self.kind {
            SubjectKind::Action(action) => Some(action),
            SubjectKind::Change(_) => None,
        }
    }

    pub const fn change(&self) -> Option<&Change> {
        match &self.kind {
            SubjectKind::Change(proposed) => proposed.change.as_ref(),
            SubjectKind::Action(_) => None,
        }
    }

    pub const fn is_change(&self) -> bool {
        matches!(self.kind, SubjectKind::Change(_))
    }

    pub fn action_id(&self) -> Option<&ActionId> {
        self.action().map(|action| &action.action_id)
    }

    /// The parameters of an action; a change has none.
    pub fn params(&self) -> &Value {
        static NONE: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
        self.action().map_or(&*NONE, |action| &action.params)
    }

    pub const fn definition(&self) -> &Value {
        match &self.kind {
            SubjectKind::Action(action) => &action.definition,
            SubjectKind::Change(change) => &change.definition,
        }
    }

    /// What is done to a machine, if that is known.
    pub fn execution(&self) -> Option<&Execution> {
        self.action().and_then(|action| action.execution.as_ref())
    }

    /// Whether a foreign executor takes it from the file bridge. Void itself never executes it.
    pub fn is_by_file(&self) -> bool {
        self.execution().map(Execution::route) == Some(Route::File)
    }

    /// The host whose `void-act` runs it.
    pub fn host(&self) -> Option<&Host> {
        self.execution().and_then(Execution::host)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Pending,
    Approved {
        approval: Approval,
    },
    Running {
        approval: Approval,
        run: Run,
    },
    Executed {
        approval: Approval,
        run: Run,
        at: Timestamp,
        result: Value,
        verification: Option<Verification>,
    },
    Failed {
        approval: Approval,
        run: Run,
        at: Timestamp,
        failure: Failure,
        settled_by: String,
    },
    /// It may have happened. Only evidence or the owner settles it.
    Unknown {
        approval: Approval,
        run: Run,
        at: Timestamp,
        failure: Failure,
    },
    Rejected {
        by: String,
        at: Timestamp,
        reason: Option<String>,
    },
    /// Nobody decided in time, or the approval lapsed before it could start.
    Expired {
        at: Timestamp,
        lapsed: Option<Approval>,
    },
    Cancelled {
        by: String,
        at: Timestamp,
        why: Cancellation,
    },
    /// Policy said no, to the request or to what it had let through and had not started; recorded, ends.
    Refused {
        at: Timestamp,
        failure: Failure,
    },
}

/// Who said yes: a person, or policy for what is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub by: String,
    pub at: Timestamp,
}

impl Approval {
    pub const POLICY: &'static str = "policy";

    /// Whether no person said it.
    pub fn is_by_policy(&self) -> bool {
        self.by == Self::POLICY
    }
}

/// One execution. `ticket_expires_at` is part of what the host receives, so it is stored: asking
/// about a ticket later needs the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub started_at: Timestamp,
    pub ticket_expires_at: Timestamp,
    /// Until then the instance that started it is believed to be working on it.
    pub lease_until: Timestamp,
}

/// Why something ended badly: a stable code and a sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub code: AnyCode,
    pub message: String,
    /// What the machine said, if it said anything.
    pub result: Option<Value>,
}

impl Failure {
    pub fn new(code: impl Into<AnyCode>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            result: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancellation {
    /// By who asked, or by the owner.
    Withdrawn,
    /// The catalogue changed over a restart: what waited is not what would run.
    DefinitionChanged,
    /// The database was restored from an older copy: an old approval must not come back.
    Restored,
    /// The record does not say what the row says: somebody edited the database.
    NotOnRecord,
    /// What it would change was changed or thrown away meanwhile.
    BaseMoved,
    /// By an agent above whoever asked, or by the owner.
    Vetoed,
}

impl Cancellation {
    pub const ALL: [Self; 6] = [
        Self::Withdrawn,
        Self::DefinitionChanged,
        Self::Restored,
        Self::NotOnRecord,
        Self::BaseMoved,
        Self::Vetoed,
    ];

    pub const fn code(self) -> FailureCode {
        match self {
            Self::Withdrawn => FailureCode::Withdrawn,
            Self::DefinitionChanged => FailureCode::DefinitionChanged,
            Self::Restored => FailureCode::Restored,
            Self::NotOnRecord => FailureCode::NotOnRecord,
            Self::BaseMoved => FailureCode::BaseMoved,
            Self::Vetoed => FailureCode::Vetoed,
        }
    }

    pub const fn as_str(self) -> &'static str {
        self.code().as_str()
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.as_str() == text)
    }

    pub const fn message(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn before it started",
            Self::DefinitionChanged => {
                "the catalogue changed; what waited is not what would run now"
            }
            Self::Restored => "the database was restored from an older copy",
            Self::NotOnRecord => {
                "the record does not say what its row says: the row was edited in the database, and nothing ran"
            }
            Self::BaseMoved => {
                "what it would change was changed or thrown away meanwhile; nothing was applied"
            }
            Self::Vetoed => "vetoed from above; nothing ran",
        }
    }
}

/// The result of looking whether it worked, apart from the run itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    pub outcome: VerificationOutcome,
    pub at: Timestamp,
    pub detail: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerificationOutcome {
    Verified,
    Failed,
    /// There was no check, or it could not be read in time.
    Unverified,
}

impl VerificationOutcome {
    pub const ALL: [Self; 3] = [Self::Verified, Self::Failed, Self::Unverified];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Failed => "failed",
            Self::Unverified => "unverified",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == text)
    }
}

/// What a person says to a proposal that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Reject,
}

/// The name of a state, as the API, the table and the record spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Pending,
    Approved,
    Running,
    Executed,
    Failed,
    Rejected,
    Expired,
    Cancelled,
    Unknown,
    Refused,
}

impl Status {
    pub const ALL: [Self; 10] = [
        Self::Pending,
        Self::Approved,
        Self::Running,
        Self::Executed,
        Self::Failed,
        Self::Rejected,
        Self::Expired,
        Self::Cancelled,
        Self::Unknown,
        Self::Refused,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Running => "running",
            Self::Executed => "executed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
            Self::Refused => "refused",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Whether nothing more will happen to it by itself.
    pub const fn is_end(self) -> bool {
        match self {
            Self::Pending | Self::Approved | Self::Running => false,
            Self::Executed
            | Self::Failed
            | Self::Rejected
            | Self::Expired
            | Self::Cancelled
            | Self::Unknown
            | Self::Refused => true,
        }
    }

    /// The state that an entry with this verb says a proposal has arrived in.
    pub fn of_verb(verb: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|status| status.event().as_str() == verb)
    }

    /// What arriving in this state is called in events and in the record.
    pub const fn event(self) -> EventKind {
        match self {
            Self::Pending => EventKind::ProposalCreated,
            Self::Approved => EventKind::ProposalApproved,
            Self::Running => EventKind::ProposalStarted,
            Self::Executed => EventKind::ProposalExecuted,
            Self::Failed => EventKind::ProposalFailed,
            Self::Rejected => EventKind::ProposalRejected,
            Self::Expired => EventKind::ProposalExpired,
            Self::Cancelled => EventKind::ProposalCancelled,
            Self::Unknown => EventKind::ProposalUnknown,
            Self::Refused => EventKind::ProposalRefused,
        }
    }
}

impl State {
    pub const fn status(&self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Approved { .. } => Status::Approved,
            Self::Running { .. } => Status::Running,
            Self::Executed { .. } => Status::Executed,
            Self::Failed { .. } => Status::Failed,
            Self::Rejected { .. } => Status::Rejected,
            Self::Expired { .. } => Status::Expired,
            Self::Cancelled { .. } => Status::Cancelled,
            Self::Unknown { .. } => Status::Unknown,
            Self::Refused { .. } => Status::Refused,
        }
    }
}

impl Proposal {
    pub const fn status(&self) -> Status {
        self.state.status()
    }

    pub const fn approval(&self) -> Option<&Approval> {
        match &self.state {
            State::Approved { approval }
            | State::Running { approval, .. }
            | State::Executed { approval, .. }
            | State::Failed { approval, .. }
            | State::Unknown { approval, .. } => Some(approval),
            State::Expired { lapsed, .. } => lapsed.as_ref(),
            State::Pending
            | State::Rejected { .. }
            | State::Cancelled { .. }
            | State::Refused { .. } => None,
        }
    }

    pub const fn run(&self) -> Option<Run> {
        match &self.state {
            State::Running { run, .. }
            | State::Executed { run, .. }
            | State::Failed { run, .. }
            | State::Unknown { run, .. } => Some(*run),
            State::Pending
            | State::Approved { .. }
            | State::Rejected { .. }
            | State::Expired { .. }
            | State::Cancelled { .. }
            | State::Refused { .. } => None,
        }
    }

    /// Why it did not go as wished, if it did not.
    pub const fn failure(&self) -> Option<&Failure> {
        match &self.state {
            State::Failed { failure, .. }
            | State::Unknown { failure, .. }
            | State::Refused { failure, .. } => Some(failure),
            _ => None,
        }
    }

    pub const fn verification(&self) -> Option<&Verification> {
        match &self.state {
            State::Executed { verification, .. } => verification.as_ref(),
            _ => None,
        }
    }

    /// Whether it ran and its check is not over.
    pub const fn is_unchecked(&self) -> bool {
        matches!(
            self.state,
            State::Executed {
                verification: None,
                ..
            }
        )
    }

    /// Who decided it, and when it ended; as far as that is so.
    pub fn resolution(&self) -> (Option<&str>, Option<Timestamp>) {
        match &self.state {
            State::Pending => (None, None),
            State::Approved { approval } | State::Running { approval, .. } => {
                (Some(&approval.by), None)
            }
            State::Executed { approval, at, .. }
            | State::Failed { approval, at, .. }
            | State::Unknown { approval, at, .. } => (Some(&approval.by), Some(*at)),
            State::Rejected { by, at, .. } | State::Cancelled { by, at, .. } => {
                (Some(by), Some(*at))
            }
            State::Expired { at, .. } => (Some("system"), Some(*at)),
            State::Refused { at, .. } => (Some(Approval::POLICY), Some(*at)),
        }
    }
}

/// One step of a proposal's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    pub from: Option<Status>,
    pub to: Status,
    pub at: Timestamp,
    pub by: String,
}
