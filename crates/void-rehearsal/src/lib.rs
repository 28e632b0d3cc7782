//! A simulated lab as real sockets and real processes, for `void demo` and for tests.
//!
//! [`proxmox`] is a Proxmox VE API server over TLS as clients see it, faults included. [`services`] are
//! little processes whose ports health checks read and which list entries restart. [`folder`] is where
//! a lab keeps its files; it ties the services to the life of the process that made the lab.
//!
//! Nothing here reaches a real machine: everything listens on loopback, and every process and file ends
//! with the lab, also when the lab is killed.

mod clock;
pub mod folder;
pub mod proxmox;
pub mod services;
