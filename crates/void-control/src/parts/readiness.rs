//! The newest trial of a write.

use std::sync::Mutex;

use tokio::sync::watch;
use tokio::time::Instant;
use void_store::StoreError;

pub(crate) type Verdict = Result<(), StoreError>;

/// The newest trial: when it began, and how it ended once it did.
#[derive(Default)]
pub(crate) struct Readiness(pub(crate) Mutex<Option<(Instant, watch::Receiver<Option<Verdict>>)>>);
