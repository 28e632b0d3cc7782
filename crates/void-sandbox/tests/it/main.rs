//! What an agent process may not do is tried by one in other hands, from the inside, after it confined itself.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise and start programs"
)]

mod escapes;
mod houses;
mod kernels;
mod limits;
mod orphans;
