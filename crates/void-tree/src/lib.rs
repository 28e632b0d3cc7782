//! The tree of agents: who stands under whom, and what one may do to another because of it. No I/O, no async, no
//! clock; the file and its history are kept by others.
//!
//! - [`Topology`] is what `topology.json` says, and always sound: one parent each, all of them below `root`, no cycle,
//!   at most [`DEPTH_MAX`] deep, no two names that read alike. [`Topology::read`] takes any text and puts what is wrong
//!   into words; whoever is named in something wrong has no position, and so has no right over anybody.
//! - [`Index`] answers how two agents stand to each other in constant time: [`Index::relation`].
//! - [`right`] is the only place that says who may do what:
//!
//! ```text
//! pub fn right(operation: Operation, standing: Standing<'_>) -> Right
//!
//! pub struct Standing<'a> {
//!     pub relation: Relation,              // of the agent that acts, seen from the one it acts on (`Index::relation`)
//!     pub target: AgentKind,               // what the one it acts on is: a resident or a process
//!     pub listed: Listed,                  // whether the allow-list of mailboxes names this way
//!     pub capabilities: &'a Capabilities,  // of the agent that acts
//! }
//! pub enum Right { Never, WithNod, Alone } // in this order
//! ```
//!
//! What is about nobody else (receiving, reminders, `meta`) is asked with the agent's own standing, `Relation::Same`.
//! Whoever has no position in the tree (an outside token, the file bridge, a person) is a stranger to everybody, and
//! may do nothing by this function. An answer of [`Right::Alone`] says that no person is needed for where the two stand;
//! what else holds it back (taint, tiers, a freeze, limits) is judged elsewhere and only narrows.

#![forbid(unsafe_code)]

mod bounds;
mod differences;
mod index;
mod intervals;
mod operations;
mod problems;
mod reading;
mod reconcile;
mod rights;
mod routes;
mod topology;

pub use bounds::{DEPTH_MAX, MEMBERS_MAX, ROUTES_BYTES_MAX, ROUTES_MAX, TOPOLOGY_BYTES_MAX};
pub use differences::{RightShift, RightsChange, difference};
pub use index::{Index, Position};
pub use intervals::Intervals;
pub use operations::Operation;
pub use problems::TreeProblem;
pub use reading::Reading;
pub use reconcile::Reconciled;
pub use rights::{AgentKind, Listed, Right, Standing, right};
pub use routes::{Route, RouteProblem, Routes};
pub use topology::{MoveRefusal, ROOT, Relocation, Topology};
