//! How fast a place may be written to: a few at once, then one per second, and not at all while the
//! other side asks for a pause.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use void_domain::notifications::{Channel, Target};

/// About one message per second and chat is what Telegram asks for; short bursts are fine.
const CHAT_BURST: f64 = 5.0;
const CHAT_PER_SECOND: f64 = 1.0;
/// Telegram's limit over all chats.
const ALL_BURST: f64 = 25.0;
const ALL_PER_SECOND: f64 = 25.0;
/// Strangers who write to the bot are places too; not for long.
const PLACES_MAX: usize = 1_000;

/// Shared by everything that writes on a channel.
pub(crate) struct SendLimits(Mutex<SendLimitState>);

struct SendLimitState {
    limited: bool,
    all: TokenBucket,
    places: HashMap<Target, TokenBucket>,
    paused_until: Option<Instant>,
}

struct TokenBucket {
    tokens: f64,
    filled_at: Instant,
    burst: f64,
    per_second: f64,
}

impl TokenBucket {
    fn new(now: Instant, burst: f64, per_second: f64) -> Self {
        Self {
            tokens: burst,
            filled_at: now,
            burst,
            per_second,
        }
    }

    fn is_full(&mut self, now: Instant) -> bool {
        self.has(now) && self.tokens >= self.burst
    }

    fn has(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.filled_at = now;
        self.tokens >= 1.0
    }
}

impl SendLimits {
    pub(crate) fn of(channel: Channel) -> Self {
        Self(Mutex::new(SendLimitState::of(channel, Instant::now())))
    }

    /// Whether one may be sent now; if so, it counts.
    pub(crate) fn take(&self, target: &Target) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(target, Instant::now())
    }

    pub(crate) fn pause(&self, pause: Duration) {
        let mut limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        limits.paused_until = Some(Instant::now() + pause);
    }
}

impl SendLimitState {
    fn of(channel: Channel, now: Instant) -> Self {
        Self {
            limited: matches!(channel, Channel::Telegram | Channel::Ntfy),
            all: TokenBucket::new(now, ALL_BURST, ALL_PER_SECOND),
            places: HashMap::new(),
            paused_until: None,
        }
    }

    fn take(&mut self, target: &Target, now: Instant) -> bool {
        if self.paused_until.is_some_and(|until| until > now) {
            return false;
        }
        if !self.limited {
            return true;
        }
        if self.places.len() >= PLACES_MAX {
            // Whoever has not been written to for a while starts afresh anyway.
            self.places.retain(|_, place| !place.is_full(now));
        }
        let place = self
            .places
            .entry(target.clone())
            .or_insert_with(|| TokenBucket::new(now, CHAT_BURST, CHAT_PER_SECOND));
        if !(place.has(now) && self.all.has(now)) {
            return false;
        }
        place.tokens -= 1.0;
        self.all.tokens -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(100);

    #[test]
    fn a_chat_gets_a_few_at_once_then_one_per_second() {
        let mut now = Instant::now();
        let mut limits = SendLimitState::of(Channel::Telegram, now);
        let (one, other) = (Target::Telegram { user: 1 }, Target::Telegram { user: 2 });
        assert_eq!((0..10).filter(|_| limits.take(&one, now)).count(), 5);
        assert!(limits.take(&other, now), "another chat has its own");
        let mut sent = 0;
        for _ in 0..100 {
            now += TICK;
            sent += u32::from(limits.take(&one, now));
        }
        assert!((9..=11).contains(&sent), "{sent} in ten seconds");
        limits.paused_until = Some(now + 50 * TICK);
        assert!(!limits.take(&one, now + 49 * TICK));
        assert!(limits.take(&one, now + 51 * TICK));
    }

    #[test]
    fn all_chats_together_stay_below_the_limit() {
        let mut now = Instant::now();
        let mut limits = SendLimitState::of(Channel::Telegram, now);
        let mut sent = 0;
        for tick in 0..100 {
            for user in 0..200 {
                let target = Target::Telegram { user: user + tick };
                sent += u32::from(limits.take(&target, now));
            }
            now += TICK;
        }
        assert!(sent <= 25 + 25 * 10, "{sent} in ten seconds");
        for user in 0..3_000 {
            limits.take(&Target::Telegram { user }, now);
            now += 60 * TICK;
        }
        assert!(limits.places.len() <= PLACES_MAX);
    }
}
