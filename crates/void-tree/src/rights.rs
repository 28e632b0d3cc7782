//! Who may do what: one table. A row says which relations an operation takes, and whether a person has to nod.

use void_domain::capabilities::Capabilities;
use void_domain::relations::Relation;

use crate::operations::Operation;

/// Later is more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    Never,
    /// It may ask, and a person says yes or no.
    WithNod,
    /// Where the two stand asks for no person. What else holds it back is judged elsewhere.
    Alone,
}

impl Right {
    pub const ALL: [Self; 3] = [Self::Never, Self::WithNod, Self::Alone];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::WithNod => "with_nod",
            Self::Alone => "alone",
        }
    }

    pub const fn words(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::WithNod => "with a nod",
            Self::Alone => "alone",
        }
    }
}

/// Where an agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentKind {
    /// In the server. It has no process, no logs and no config of its own.
    Resident,
    /// In a process of its own.
    Process,
}

impl AgentKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Process => "process",
        }
    }
}

/// Whether a person wrote down that one may write to the other wherever they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Listed {
    No,
    Yes,
}

/// All that a right follows from.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Of the agent that acts, seen from the one it acts on.
    pub relation: Relation,
    /// What the one it acts on is.
    pub target: AgentKind,
    pub listed: Listed,
    /// Of the agent that acts.
    pub capabilities: &'a Capabilities,
}

/// Which relations a row of the table takes.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// Any ancestor.
    Above(Right),
    /// Any ancestor, of an agent that has a process.
    AboveProcess(Right),
    /// Oneself and any ancestor.
    OwnAndAbove(Right),
    /// Oneself, and any ancestor of an agent that has a process.
    OwnAndAboveProcess(Right),
    /// Oneself.
    Own(Right),
    /// Oneself by the one right, ancestors by the other.
    OwnThenAbove(Right, Right),
    /// Its parent, siblings, itself and descendants, and whoever the allow-list names.
    Near(Right),
    /// A person, at any depth of the tree.
    Nobody,
}

const fn row(operation: Operation) -> Row {
    use Right::{Alone, WithNod};
    match operation {
        Operation::Start
        | Operation::Kill
        | Operation::Restart
        | Operation::Update
        | Operation::Destroy
        | Operation::GetLogs
        | Operation::WriteConfig => Row::AboveProcess(Alone),
        Operation::ApplyCommit => Row::AboveProcess(WithNod),
        Operation::WriteState => Row::OwnAndAboveProcess(Alone),
        Operation::Spawn
        | Operation::Receive
        | Operation::Wake
        | Operation::Remind
        | Operation::ReadMeta => Row::Own(Alone),
        Operation::UpdateMetaInputs => Row::Own(WithNod),
        Operation::Act => Row::OwnThenAbove(Alone, WithNod),
        Operation::SeeProposals | Operation::Moderate | Operation::SeeLooseEnds => {
            Row::OwnAndAbove(Alone)
        }
        Operation::Hold | Operation::Veto | Operation::Annotate => Row::Above(Alone),
        Operation::Delegate => Row::Above(WithNod),
        Operation::Send | Operation::Ask => Row::Near(Alone),
        Operation::LiftHold
        | Operation::Approve
        | Operation::Move
        | Operation::ChangeCapabilities => Row::Nobody,
    }
}

/// Whether an agent may do this, alone, with a nod or never.
#[must_use]
pub fn right(operation: Operation, standing: Standing<'_>) -> Right {
    let needed = operation.needs();
    if needed.is_some_and(|needed| !standing.capabilities.has(needed)) {
        return Right::Never;
    }
    let (is_own, is_above) = match standing.relation {
        Relation::Same => (true, false),
        Relation::Ancestor { .. } => (false, true),
        Relation::Descendant { .. } | Relation::Sibling | Relation::Stranger => (false, false),
    };
    let is_process = match standing.target {
        AgentKind::Process => true,
        AgentKind::Resident => false,
    };
    let only = |is_so: bool, right: Right| if is_so { right } else { Right::Never };
    match row(operation) {
        Row::Above(right) => only(is_above, right),
        Row::AboveProcess(right) => only(is_above && is_process, right),
        Row::OwnAndAbove(right) => only(is_own || is_above, right),
        Row::OwnAndAboveProcess(right) => only(is_own || (is_above && is_process), right),
        Row::Own(right) => only(is_own, right),
        Row::OwnThenAbove(own, above) => only(is_own, own).max(only(is_above, above)),
        Row::Near(right) => only(is_near(standing.relation, standing.listed), right),
        Row::Nobody => Right::Never,
    }
}

/// Messages go to oneself, one's parent, one's siblings and everybody below; to others where a person said so.
const fn is_near(relation: Relation, listed: Listed) -> bool {
    match (relation, listed) {
        (
            Relation::Same
            | Relation::Ancestor { .. }
            | Relation::Descendant { depth: 1 }
            | Relation::Sibling,
            _,
        )
        | (Relation::Descendant { .. } | Relation::Stranger, Listed::Yes) => true,
        (Relation::Descendant { .. } | Relation::Stranger, Listed::No) => false,
    }
}
