//! Use cases: one file each, one transaction each. Load, judge, move, write state with audit and
//! event together, answer. Nothing outside the database happens inside a transaction; what reaches a
//! machine comes after the commit that allows it.

pub mod agents;
mod alerts;
pub mod allowances;
pub mod audit;
pub mod backups;
pub mod callers;
mod clock;
mod clock_acceptance;
mod clock_notes;
mod context;
mod control;
pub mod conversations;
pub mod events;
pub mod facts;
pub mod freezes;
pub mod health;
pub mod hosts;
pub mod inbox;
pub mod instances;
pub mod lab;
mod maintenance;
pub mod mutes;
pub mod nodes;
pub mod notification_keys;
pub mod outbox;
mod parts;
mod private_files;
pub mod proposals;
pub mod quarantine;
pub mod random;
pub mod readiness;
pub mod refusal_counts;
pub mod retention;
mod rollbacks;
mod row_budgets;
mod service_views;
pub mod sessions;
mod startup;
pub mod stops;
pub mod tokens;
mod witness;

pub use clock::{Clock, ClockDoubt};
pub use clock_acceptance::accept_file;
pub use context::Ctx;
pub use control::{Beside, Control, ControlConfig};
pub use parts::bounds::Limits;
pub use parts::in_force::CatalogueSource;
pub use parts::owner_token::OWNER_TOKEN_LONG;
pub use parts::row_budgets::TooManyRows;
pub use void_store::StoreError;
pub use void_store::lanes;
pub use witness::{ROLLBACK_SUBJECT, ROLLED_BACK};
