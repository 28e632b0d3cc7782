//! The SSH and local channels against a real sshd, the system's `ssh` and the built `void-act`; the
//! Proxmox channel against the rehearsal lab's server. Effects are counted outside of all of them.
//!
//! The suite runs as root, because who owns a list is part of what is tested; sshd and everything
//! behind it run as the unprivileged account of the test kit.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests stop at the first surprise, start programs, and make permits without a store"
)]

mod again;
mod checks;
mod connections;
mod definitions;
mod forwardings;
mod host_keys;
mod interruptions;
mod kills;
mod lab;
mod lost;
mod meta_folder;
mod outputs;
mod proxmox;
mod refusals;
mod runs;
mod sessions;
mod sockets;
mod starts;
mod tickets;
mod via_host;
mod words;
