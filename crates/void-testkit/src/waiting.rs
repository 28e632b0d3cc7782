//! Waiting for something to become true, with a generous end.

use std::future::Future;
use std::time::{Duration, Instant};

/// Far beyond what a busy machine needs; a test that runs into it has failed, not raced.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// Polls until there is an answer.
pub async fn eventually<T, F, Fut>(what: &str, mut look: F) -> T
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "waited {PATIENCE:?} for: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}

pub fn eventually_blocking<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited {PATIENCE:?} for: {what}");
        std::thread::sleep(PAUSE);
    }
}
