//! The notification clients and workers as far as they need no server; the rest is in `void-server/tests/it`.

#![allow(
    clippy::allow_attributes,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "tests stop at the first surprise"
)]

mod settings;
