//! What crosses the wire: requests, answers and errors of the HTTP API, one file per noun. The server writes and reads
//! them, and so do its own clients: the command line and the node executor. Each type is its JSON schema too.
//!
//! A request refuses names that it does not know; an answer is read with names that the reader does not know, so
//! that a client and a server of different versions understand each other.

pub mod actions;
pub mod agent_configs;
pub mod agent_processes;
pub mod agents;
pub mod attachments;
pub mod audit;
pub mod backups;
pub mod bounds;
pub mod bridge;
pub mod cards;
pub mod conversations;
pub mod doctor;
pub mod draft_decisions;
pub mod drafts;
pub mod entities;
pub mod entity_responses;
pub mod errors;
pub mod events;
pub mod freeze;
pub mod health;
pub mod home;
pub mod hosts;
pub mod inbox;
pub mod lab;
pub mod login;
pub mod markdown;
pub mod mutes;
pub mod node;
pub mod nodes;
pub mod notifications;
pub mod pages;
pub mod passkeys;
pub mod password;
pub mod previews;
pub mod projects;
pub mod proposals;
pub mod quarantine;
pub mod refs;
pub mod revisions;
pub mod runbooks;
mod schemas;
pub mod search;
pub mod services;
pub mod session;
pub mod sessions;
pub mod setup_links;
pub mod spaces;
pub mod status;
pub mod tasks;
pub mod tokens;
pub mod tree;
pub mod vault_files;

use std::borrow::Cow;

/// A word out of a fixed list. The server names a constant; a client keeps what it read, also a word that a newer
/// server knows and it does not.
pub type Word = Cow<'static, str>;

#[cfg(test)]
mod tests;
