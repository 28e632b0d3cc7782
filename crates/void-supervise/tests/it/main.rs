//! Real processes: a child of the tests that does what its name says, started, watched and ended.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise and start programs"
)]

mod ends;
mod hosts;
mod lives;
