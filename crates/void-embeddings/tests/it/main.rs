//! Endpoints against a real server on a socket, with every fault it can have; the model in process against
//! what its own library computes.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests stop at the first surprise"
)]

mod endpoints;
mod faults;
mod minilm;
mod servers;
