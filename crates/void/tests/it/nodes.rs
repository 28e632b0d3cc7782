//! Nodes as real processes against the real server: joining, working, and every way to be cut off. Effects are
//! counted outside Void; a row may never claim what did not happen, and nothing happens twice.

mod clocks;
mod cuts;
mod installing;
mod joining;
mod kills;
pub mod stand;
mod tls;
mod work;
