//! The only SQL in Void: SQLite by default, PostgreSQL when one machine is not enough.
//!
//! Writes go through one writer per process, which runs use cases in savepoints and commits many at
//! once; a caller is answered only after its commit. The writer holds the row `heads` for the whole
//! batch, so the entries of the record are numbered in commit order, on both engines and across
//! instances. Reads use their own connections. One file per noun; every function takes the
//! transaction first, and the same SQL text serves both engines.

pub mod agents;
pub mod alerts;
pub mod backups;
pub mod bridge;
pub mod challenges;
mod clocks;
mod columns;
pub mod conversations;
mod errors;
pub mod events;
pub mod facts;
pub mod freezes;
mod heads;
pub mod installation;
pub mod instances;
pub mod lanes;
mod migrations;
pub mod mutes;
pub mod nodes;
pub mod notifications;
pub mod passkeys;
pub mod passwords;
mod postgres;
pub mod proposals;
pub mod quarantine;
mod queries;
pub mod retention;
mod rollbacks;
pub mod schema;
pub mod services;
pub mod sessions;
pub mod setup_links;
mod sqlite;
mod store;
pub mod tokens;
mod tx;
mod values;
mod writer;

pub use errors::StoreError;
pub use futures_util::future::BoxFuture;
pub use heads::{Heads, Newest};
pub use postgres::PostgresConfig;
pub use rollbacks::Rollback;
pub use sqlite::SqliteConfig;
pub use store::Store;
pub use tx::Tx;
pub use values::{DatabaseBytes, Page, Row};
