//! One file per file of `src/routes`; the stream has its own, beside this one.

pub mod actions;
mod agents;
mod audit;
mod backups;
mod bridge;
mod conversations;
mod freeze;
mod gateway;
pub mod health;
mod hosts;
mod inbox;
mod lab;
mod login;
mod mcp;
mod node;
mod nodes;
mod notifications;
mod passkeys;
mod password;
pub mod proposals;
mod services;
mod session;
mod sessions;
mod setup_links;
mod status;
mod tokens;
