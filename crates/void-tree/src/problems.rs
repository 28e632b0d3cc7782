//! What can be wrong with a written tree, in words for whoever can mend it.

use void_domain::agents::AgentName;

use crate::bounds::{DEPTH_MAX, MEMBERS_MAX, TOPOLOGY_BYTES_MAX};

/// Whoever is named in one of these has no position in the tree. Text of the file is escaped already.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum TreeProblem {
    #[error("the file is missing, so nobody stands above anybody")]
    Missing,
    #[error("the file cannot be read ({0}), so nobody stands above anybody")]
    Unreadable(String),
    #[error("the file is longer than {TOPOLOGY_BYTES_MAX} bytes, so nobody stands above anybody")]
    TooLong,
    #[error("the file is no JSON object of names ({0}), so nobody stands above anybody")]
    NotJson(String),
    #[error("there is no \"root\" that has no parent, so nobody stands above anybody")]
    NoRoot,
    #[error("\"{0}\" is no name of an agent: 1 to 64 of a-z, 0-9 and -, not beginning with -")]
    NotAName(String),
    #[error("{0} stands there twice")]
    Twice(AgentName),
    #[error("{0} has a parent that is neither a name nor null: {1}")]
    NotAParent(AgentName, String),
    #[error("{0} has no parent; only root has none")]
    SecondRoot(AgentName),
    #[error("{name} stands under {parent}, who is not in the tree")]
    UnknownParent { name: AgentName, parent: AgentName },
    #[error("{0} stands, over others, under itself")]
    InCycle(AgentName),
    #[error("{name} stands below {wrong}, which has no position itself")]
    BelowWrong { name: AgentName, wrong: AgentName },
    #[error("{0} stands deeper than {DEPTH_MAX} below root")]
    TooDeep(AgentName),
    #[error("{name} reads like {other}")]
    ReadsLike { name: AgentName, other: AgentName },
    #[error("{0} has no position: a tree holds {MEMBERS_MAX} agents")]
    TooMany(AgentName),
}
