//! Fetching from real servers on loopback, and reading hostile bytes in real child processes.
//!
//! Names are looked up by a resolver of the tests, and loopback is allowed to a test only as an owner would
//! allow it. What the child may not do is tried by a child.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise and start programs"
)]

mod captures;
mod confinement;
mod fetching;
mod hostile_bytes;
mod hostile_urls;
mod names;
mod pdfs;
mod reading;
mod redirects;
mod resolving;
mod servers;
mod tls;
