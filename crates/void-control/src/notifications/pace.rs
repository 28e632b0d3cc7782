//! How fast a place may be written to: a few at once, then one per second, and not at all while the
//! other side asks for a pause.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;
use void_domain::notifications::{Channel, Target};

/// About one message per second and chat is what Telegram asks for; short bursts are fine.
const CHAT_BURST: f64 = 3.0;
const CHAT_PER_SECOND: f64 = 1.0;
/// Telegram's limit over all chats.
const ALL_BURST: f64 = 25.0;
const ALL_PER_SECOND: f64 = 25.0;

pub(super) struct Pace {
    limited: bool,
    all: Bucket,
    places: HashMap<Target, Bucket>,
    paused_until: Option<Instant>,
}

struct Bucket {
    tokens: f64,
    filled_at: Instant,
    burst: f64,
    per_second: f64,
}

impl Bucket {
    fn new(now: Instant, burst: f64, per_second: f64) -> Self {
        Self {
            tokens: burst,
            filled_at: now,
            burst,
            per_second,
        }
    }

    fn has(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.filled_at = now;
        self.tokens >= 1.0
    }
}

impl Pace {
    pub(super) fn of(channel: Channel) -> Self {
        let now = Instant::now();
        Self {
            limited: matches!(channel, Channel::Telegram | Channel::Ntfy),
            all: Bucket::new(now, ALL_BURST, ALL_PER_SECOND),
            places: HashMap::new(),
            paused_until: None,
        }
    }

    /// Whether one may be sent now; if so, it counts.
    pub(super) fn take(&mut self, target: &Target) -> bool {
        let now = Instant::now();
        if self.paused_until.is_some_and(|until| until > now) {
            return false;
        }
        if !self.limited {
            return true;
        }
        let place = self
            .places
            .entry(target.clone())
            .or_insert_with(|| Bucket::new(now, CHAT_BURST, CHAT_PER_SECOND));
        if !(place.has(now) && self.all.has(now)) {
            return false;
        }
        place.tokens -= 1.0;
        self.all.tokens -= 1.0;
        true
    }

    pub(super) fn pause(&mut self, pause: Duration) {
        self.paused_until = Some(Instant::now() + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_chat_gets_a_few_at_once_then_one_per_second() {
        let mut pace = Pace::of(Channel::Telegram);
        let (one, other) = (Target::Telegram { user: 1 }, Target::Telegram { user: 2 });
        let burst = (0..10).filter(|_| pace.take(&one)).count();
        assert_eq!(burst, 3);
        assert!(pace.take(&other), "another chat has its own");
        let mut sent = 0;
        for _ in 0..100 {
            tokio::time::advance(Duration::from_millis(100)).await;
            sent += u32::from(pace.take(&one));
        }
        assert!((9..=11).contains(&sent), "{sent} in ten seconds");
        pace.pause(Duration::from_secs(5));
        tokio::time::advance(Duration::from_secs(4)).await;
        assert!(!pace.take(&one));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(pace.take(&one));
    }

    #[tokio::test(start_paused = true)]
    async fn all_chats_together_stay_below_the_limit() {
        let mut pace = Pace::of(Channel::Telegram);
        let mut sent = 0;
        for tick in 0..100 {
            for user in 0..200 {
                sent += u32::from(pace.take(&Target::Telegram {
                    user: user + tick % 2,
                }));
            }
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        assert!(sent <= 25 + 25 * 10, "{sent} in ten seconds");
    }
}
