//! The brains against a scripted model server that speaks the real wire formats; turns and tools in a
//! real control plane.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests stop at the first surprise"
)]

mod cancellations;
mod claude;
mod companion;
mod containment;
mod faults;
mod labs;
mod mailboxes;
mod ollama;
mod quirks;
mod refusals;
mod replies;
mod requests;
mod retries;
mod rooms;
mod scripted;
mod secrets;
mod sentences;
mod speed;
mod splits;
mod stops;
mod talk;
mod tools;
mod turns;
