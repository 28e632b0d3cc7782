//! The built binary as people and scripts meet it: commands, exit codes, crashes, the tree itself.

#![allow(
    clippy::allow_attributes,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests stop at the first surprise"
)]

mod agent_processes;
mod agents;
mod alerts;
mod bridge;
mod captures;
mod changes;
mod claude;
mod cli;
mod clocks;
mod config;
mod containers;
mod conversations;
#[cfg(feature = "failpoints")]
mod crashes;
mod demo;
mod deploying;
mod doctor;
mod documents;
mod failure_codes;
mod forgeries;
mod freezes;
mod guides;
mod hints;
mod instances;
mod kb;
mod kb_answers;
mod lab;
mod mcp;
mod modes;
mod mutations;
mod nodes;
mod notify;
mod power;
mod provision;
mod reloading;
mod restore;
mod secrets;
mod setup_links;
mod strangers;
mod surfaces;
mod terminal;
mod tidy;
mod tree;
mod vaults;
mod ways_out;
