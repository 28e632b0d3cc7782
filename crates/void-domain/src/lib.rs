//! What Void means, without doing anything: ids, actors, the catalogue, policy, the life of a
//! proposal, the entries of the record and events. No I/O, no async, no clock, no randomness: time and random
//! bytes arrive as arguments, so every rule here can be tested as a table.

pub mod actors;
<<<<<<< HEAD
pub mod agent_configs;
pub mod agent_messages;
=======
>>>>>>> parent of 255e842 (agent_configs: agent.toml as a typed value, its judge, and the change of it in words)
pub mod agent_processes;
pub mod agent_turns;
pub mod agents;
pub mod alerts;
pub mod bridge;
pub mod budgets;
pub mod canonical;
pub mod capabilities;
pub mod cards;
pub mod catalogue;
pub mod changes;
pub mod conversations;
pub mod diffs;
pub mod digests;
pub mod events;
pub mod executions;
pub mod facts;
pub mod failpoints;
pub mod failures;
pub mod freezes;
pub mod holds;
pub mod hosts;
pub mod ids;
pub mod instances;
pub mod knowledge;
pub mod limits;
pub mod mutes;
pub mod nodes;
pub mod notifications;
pub mod passwords;
pub mod permits;
pub mod policy;
pub mod proposals;
pub mod questions;
pub mod relations;
pub mod reminders;
pub mod retention;
pub mod secrets;
pub mod services;
pub mod sessions;
pub mod starters;
pub mod taint;
pub mod text;
pub mod time;
pub mod told;
pub mod written;
