//! The rehearsal lab against real clients: raw TLS sockets, the PyPI package `proxmoxer`, and processes
//! that are killed. Needs `python3` with `venv`, and PyPI the first time (`scripts/test` sees to it).

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise and start programs"
)]

mod access;
mod certificates;
mod client;
mod connections;
mod faults;
mod folders;
mod guests;
mod lab;
mod logins;
mod parameters;
mod power;
mod processes;
mod proxmoxer;
mod services;
mod shapes;
mod tasks;
