//! How long to wait before asking again, if at all.

use std::time::Duration;

use super::errors::{BrainError, BrainErrorKind, Retry};
use super::{Patience, Random};

/// The pause before try number `tries + 1`, or none when it is not worth it.
///
/// Silence is not retried here: whoever waited for it has waited long enough.
pub(super) fn pause(error: &BrainError, tries: u32, patience: &Patience) -> Option<Duration> {
    if tries >= patience.retries_max || error.kind == BrainErrorKind::TimedOut {
        return None;
    }
    let Retry::After(told) = error.retry else {
        return None;
    };
    let backoff = patience.backoff.saturating_mul(2_u32.saturating_pow(tries));
    let backoff = backoff.min(patience.pause_max);
    if told > patience.pause_max {
        return None;
    }
    Some(told.max(backoff / 2) + spread(backoff / 2, patience.random))
}

/// Somewhere between nothing and `most`, so that turns refused together do not return together.
fn spread(most: Duration, random: Random) -> Duration {
    let most_us = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    Duration::from_micros(random() % most_us.saturating_add(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brains::Usage;

    fn error(kind: BrainErrorKind, told_s: u64) -> BrainError {
        BrainError {
            kind,
            message: String::new(),
            retry: kind.retry(Some(Duration::from_secs(told_s))),
            usage: Usage::default(),
        }
    }

    #[test]
    fn pauses_grow_are_spread_and_end() {
        let least = Patience::new(|| 0);
        let most = Patience::new(|| 250_000);
        let overloaded = error(BrainErrorKind::Overloaded, 0);
        let ms = |pause: Option<Duration>| pause.map(|pause| pause.as_millis());
        assert_eq!(ms(pause(&overloaded, 0, &least)), Some(250));
        assert_eq!(ms(pause(&overloaded, 0, &most)), Some(500));
        assert_eq!(ms(pause(&overloaded, 1, &least)), Some(500));
        assert_eq!(ms(pause(&overloaded, 2, &least)), None, "tries are counted");
    }

    #[test]
    fn what_the_server_asks_for_is_kept_or_left() {
        let patience = Patience::new(|| 0);
        let told = |told_s| pause(&error(BrainErrorKind::RateLimited, told_s), 0, &patience);
        assert_eq!(told(3), Some(Duration::from_secs(3)));
        assert_eq!(told(10), Some(Duration::from_secs(10)));
        assert_eq!(told(11), None, "nobody waits that long in a turn");
        assert_eq!(told(u64::MAX), None);
    }

    #[test]
    fn only_what_can_pass_is_retried() {
        let patience = Patience::new(|| 0);
        for (kind, again) in [
            (BrainErrorKind::Unreachable, true),
            (BrainErrorKind::BrokenOff, true),
            (BrainErrorKind::Failed, true),
            (BrainErrorKind::TimedOut, false),
            (BrainErrorKind::KeyRefused, false),
            (BrainErrorKind::OutOfCredit, false),
            (BrainErrorKind::BadAnswer, false),
        ] {
            let pause = pause(&error(kind, 0), 0, &patience);
            assert_eq!(pause.is_some(), again, "{kind:?}");
        }
    }
}
