//! How one agent stands to another in the tree. Rights follow from this and from nothing else.

/// Where the requester stands, seen from the agents that an action names. An action that names
/// nobody counts every requester as [`Relation::Same`]; while agents are flat, an agent is either
/// named or a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    Same,
    Ancestor { depth: u8 },
    Descendant { depth: u8 },
    Sibling,
    Stranger,
}
