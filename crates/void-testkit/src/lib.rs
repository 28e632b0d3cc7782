//! Real parts for tests: a PostgreSQL cluster and an sshd of their own, scripted models and programs,
//! a Bot API with phones, receivers of pushes and webhooks, passkey authenticators, an HTTP proxy, TLS in
//! front of a server, processes that end with the test, folders of Markdown, and waiting on conditions instead of sleeping.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a test harness starts processes, and a broken harness should stop the test at once"
)]

pub mod authenticators;
pub mod claude;
pub mod http;
mod listening;
pub mod models;
mod postgres;
pub mod processes;
pub mod programs;
pub mod proposals;
pub mod proxies;
pub mod receivers;
pub mod sshd;
pub mod telegram;
pub mod tls;
pub mod vaults;
mod waiting;
pub mod wires;

pub use postgres::{PostgresCluster, has_postgres, postgres_database, postgres_run};
pub use processes::{Tethered, free_port};
pub use waiting::{eventually, eventually_blocking};
