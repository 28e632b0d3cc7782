//! The file bridge's meaning: what a file says, where the file of a proposal belongs, and what its
//! place tells. The source documents' schema, both ways.
//!
//! Nothing here touches a file. A file's content is never believed: who decided is known from the
//! record, and what a dropped file asks for is looked up in the catalogue.

mod dropped;
mod moves;
mod rendered;
mod returned;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use dropped::{Dropped, DroppedDetails, NoAction};
pub use moves::Move;
pub use rendered::{Note, Rendered, render, render_joined};
pub use returned::{Reported, Returned};

use crate::catalogue::{Action, Catalogue};
use crate::executions::{ActionKind, NodeOp};
use crate::proposals::{Proposal, State};

pub const FILE_BYTES_MAX: usize = 64 * 1024;
/// How many notes about refused moves one file carries.
pub const NOTES_MAX: usize = 10;

/// A status directory. In the order in which a file can move: whoever looks through them in this
/// order may see a moving file twice, and never misses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StatusFolder {
    Pending,
    Approved,
    Running,
    Completed,
    Failed,
    Rejected,
}

impl StatusFolder {
    pub const ALL: [Self; 6] = [
        Self::Pending,
        Self::Approved,
        Self::Running,
        Self::Completed,
        Self::Failed,
        Self::Rejected,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }

    /// Where the file of this proposal belongs. `approved/` holds only what a foreign executor may
    /// take: a file there may be executed by somebody else at any moment.
    pub const fn of(proposal: &Proposal, offered: bool) -> Self {
        match &proposal.state {
            State::Approved { .. } if offered => Self::Approved,
            State::Pending | State::Approved { .. } => Self::Pending,
            State::Running { .. } | State::Unknown { .. } => Self::Running,
            State::Executed { .. } => Self::Completed,
            State::Failed { .. } => Self::Failed,
            State::Rejected { .. }
            | State::Expired { .. }
            | State::Cancelled { .. }
            | State::Refused { .. } => Self::Rejected,
        }
    }
}

impl fmt::Display for StatusFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The `action_id` of a file: one request, not an entry of the catalogue. It is a file's name, so it
/// cannot be a path, an option or a hidden name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct InstanceId(String);

impl InstanceId {
    pub const LENGTH_MAX: usize = 128;
    const SUFFIX: &'static str = ".json";

    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=Self::LENGTH_MAX).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        fits.then(|| Self(text.to_owned()))
    }

    pub fn from_file_name(name: &str) -> Option<Self> {
        Self::parse(name.strip_suffix(Self::SUFFIX)?)
    }

    /// The name of a proposal that was not made by a file.
    pub fn of(proposal: &Proposal) -> Self {
        Self(proposal.id.to_string())
    }

    pub fn file_name(&self) -> String {
        format!("{}{}", self.0, Self::SUFFIX)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a file is about: the three words by which an action of the catalogue is found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSubject {
    pub kind: String,
    pub node: String,
    pub service: String,
}

impl FileSubject {
    /// The one action that these words mean.
    pub fn find<'a>(&self, catalogue: &'a Catalogue) -> Result<&'a Arc<Action>, NoAction> {
        // The source documents' four types cannot say what is done to a guest.
        let is_meant = |action: &&Arc<Action>| {
            let kind = &action.execution.kind;
            kind.power().is_none() && Self::of_kind(kind) == *self
        };
        let mut found = catalogue.actions().filter(is_meant);
        match (found.next(), found.next()) {
            (Some(action), None) => Ok(action),
            (None, _) => Err(NoAction::Unknown),
            (Some(one), Some(other)) => Err(NoAction::Ambiguous(
                one.id.to_string(),
                other.id.to_string(),
            )),
        }
    }

    fn of_kind(kind: &ActionKind) -> Self {
        let (word, service) = match kind {
            ActionKind::OnNode { op, service, .. } => (op.as_str(), service.clone()),
            ActionKind::ServiceRestart { service, .. } => {
                (NodeOp::RestartService.as_str(), service.clone())
            }
            ActionKind::GuestPower { power, .. } => (
                kind.as_str(),
                format!("{}-{}", power.guest.as_str(), power.vmid),
            ),
        };
        Self {
            kind: word.to_owned(),
            node: kind.machine().to_owned(),
            service,
        }
    }

    /// Three empty words for a proposal whose definition cannot be read; nobody executes it.
    fn of_proposal(proposal: &Proposal) -> Self {
        if let Some(change) = proposal.subject.change() {
            return Self {
                kind: proposal.subject.word().to_owned(),
                node: change.entity_id.clone().unwrap_or_default(),
                service: change.entity.clone(),
            };
        }
        let execution = proposal.subject.execution();
        execution.map_or_else(Self::default, |execution| Self::of_kind(&execution.kind))
    }
}
