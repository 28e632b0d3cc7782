//! Use cases: one file each, one transaction each. Load, judge, move, write state with audit and
//! event together, answer. Nothing outside the database happens inside a transaction; what reaches a
//! machine comes after the commit that allows it.

pub mod access;
pub mod audit;
pub mod backups;
pub mod bridge;
mod clock;
mod context;
mod control;
pub mod conversations;
pub mod credentials;
pub mod events;
pub mod freezes;
pub mod health;
pub mod hosts;
pub mod inbox;
pub mod lab;
mod maintenance;
pub mod nodes;
pub mod notifications;
pub mod passkeys;
pub mod passwords;
pub mod proposals;
mod random;
mod records;
pub mod sessions;
pub mod setup_links;
pub mod tokens;
mod witness;

pub use clock::Clock;
pub use context::Ctx;
pub use control::{Control, ControlConfig, Limits, OWNER_TOKEN_LONG};
pub use void_store::StoreError;
