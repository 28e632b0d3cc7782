//! The wall clock, read in one place. Tasks, effects and certificates' readers need the real time.

use std::time::{SystemTime, UNIX_EPOCH};

use void_domain::time::Timestamp;

#[expect(
    clippy::disallowed_methods,
    reason = "a lab of real sockets runs in real time; it is read here and nowhere else"
)]
pub(crate) fn now() -> Timestamp {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
}

/// Whole seconds since 1970, as Proxmox counts.
pub(crate) fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_ms().div_euclid(1000)).unwrap_or(0)
}
