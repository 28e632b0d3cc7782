//! How large everything was at the last look.

use std::time::Instant;

use void_domain::retention::Retention;
use void_store::DatabaseBytes;

/// What is kept for how long, how many rows of each table there are, and what all of it takes.
#[derive(Debug, Clone)]
pub struct Sizes {
    pub kept: Retention,
    pub rows: Vec<(&'static str, u64)>,
    pub bytes: DatabaseBytes,
    pub attachment_bytes: u64,
}

/// The last look and when it was.
#[derive(Default)]
pub(crate) struct LastSizes(pub(crate) tokio::sync::Mutex<Option<(Instant, Sizes)>>);
