//! The only SQL in Void: SQLite by default, PostgreSQL when one machine is not enough.
//!
//! Writes go through one writer per process, which runs use cases and commits many at
//! once; a caller is answered only after its commit. The writer holds the row `heads` for the whole
//! batch, so the entries of the record are numbered in commit order, on both engines and across
//! instances. Reads use their own connections. One file per noun; every function takes the
//! transaction first, and the same SQL text serves both engines.

pub mod agent_messages;
pub mod agent_pauses;
pub mod agent_processes;
pub mod agent_tombstones;
pub mod agent_turns;
pub mod agents;
pub mod alerts;
pub mod attachments;
pub mod backups;
pub mod bridge;
pub mod challenges;
mod clocks;
mod columns;
pub mod conversations;
pub mod drafts;
pub mod embeddings;
pub mod entities;
mod entity_tables;
mod errors;
pub mod events;
pub mod facts;
pub mod freezes;
mod heads;
pub mod holds;
pub mod installation;
pub mod instances;
pub mod lanes;
pub mod links;
mod migrations;
pub mod mutes;
pub mod nodes;
pub mod notifications;
pub mod pages;
pub mod passkeys;
pub mod passwords;
mod postgres;
pub mod projects;
pub mod proposals;
pub mod quarantine;
mod queries;
pub mod questions;
pub mod refs;
pub mod reminders;
pub mod retention;
pub mod revisions;
mod rollbacks;
pub mod runbooks;
pub mod schema;
pub mod search;
pub mod services;
pub mod sessions;
pub mod setup_links;
pub mod spaces;
mod sqlite;
mod store;
pub mod tasks;
pub mod token_taints;
pub mod tokens;
mod tx;
mod values;
pub mod vault_files;
mod writer;

pub use errors::StoreError;
pub use futures_util::future::BoxFuture;
pub use heads::{Heads, Newest};
pub use postgres::PostgresConfig;
pub use rollbacks::Rollback;
pub use sqlite::{SqliteConfig, Version};
pub use store::Store;
pub use tx::{ConflictKey, Tx, Whose};
pub use values::{DatabaseBytes, Page, Row};
