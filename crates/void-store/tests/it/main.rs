//! The store on both engines, always: one story per noun, races, faults, migrations.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    unreachable_pub,
    reason = "tests stop at the first surprise"
)]

mod agent_messages;
mod agent_processes;
mod agent_turns;
mod agents;
mod alerts;
mod backups;
mod batches;
mod bridge;
mod conversations;
mod credentials;
mod durability;
mod embeddings;
mod engines;
mod entities;
mod events;
mod executions;
mod facts;
mod faults;
mod flights;
mod full_spaces;
mod instances;
mod lanes;
mod limits;
mod links;
mod lists;
mod migrations;
mod mutes;
mod nodes;
mod notifications;
mod proposals;
mod prunes;
mod quarantine;
mod questions;
mod records;
mod retention;
mod rollbacks;
mod search;
mod states;
mod versions;
mod waiting;
mod walks;
mod writer;
