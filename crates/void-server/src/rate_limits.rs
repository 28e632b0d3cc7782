//! A limiter on what strangers may try over and over, in bounded memory. Of an IPv6 address its network
//! counts: whoever has one has all of it. So it is with the addresses of this machine.
//!
//! It holds back only what can be guessed, a password above all. Behind a proxy everybody has one
//! address, so a stranger who tries could otherwise keep the owner out.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use void_domain::ids::SessionId;
use void_domain::time::Timestamp;

/// Wrong guesses a minute.
pub(crate) const TRIES_MAX: u32 = 10;
/// As many as fit into the table while they are good.
const CHALLENGES_MAX: u32 = 50;
const WINDOW: Duration = Duration::from_secs(60);
const KEPT_MAX: usize = 4_096;

pub(crate) struct RateLimiter<K> {
    windows: Mutex<HashMap<K, Window>>,
    tries_max: u32,
}

/// Everything that is held back, each by itself: who floods one thing does not close another.
pub(crate) struct RateLimits {
    /// Passwords, by address.
    pub passwords: RateLimiter<IpAddr>,
    /// Passwords in an open session, which a stranger does not have.
    pub confirmations: RateLimiter<SessionId>,
    /// What authenticators are asked for strangers: each is a row.
    pub challenges: RateLimiter<IpAddr>,
    pub joins: RateLimiter<IpAddr>,
    /// Bearer tokens, if one of the settings is short enough to be guessed.
    pub bearers: RateLimiter<IpAddr>,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            passwords: RateLimiter::new(TRIES_MAX),
            confirmations: RateLimiter::new(TRIES_MAX),
            challenges: RateLimiter::new(CHALLENGES_MAX),
            joins: RateLimiter::new(TRIES_MAX),
            bearers: RateLimiter::new(TRIES_MAX),
        }
    }
}

struct Window {
    since: Timestamp,
    tries: u32,
}

impl<K: Hash + Eq + Clone> RateLimiter<K> {
    pub(crate) fn new(tries_max: u32) -> Self {
        Self {
            windows: Mutex::default(),
            tries_max,
        }
    }

    /// Counts a try; `false` if there were enough for now.
    pub(crate) fn try_once(&self, who: K, now: Timestamp) -> bool {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= KEPT_MAX && !windows.contains_key(&who) {
            windows.retain(|_, window| now.since(window.since) < WINDOW);
            // Full of fresh ones is a flood: the oldest is forgotten, and who is new is not kept out.
            if windows.len() >= KEPT_MAX
                && let Some(oldest) = windows.iter().min_by_key(|(_, window)| window.since)
            {
                let oldest = oldest.0.clone();
                windows.remove(&oldest);
            }
        }
        let window = windows.entry(who).or_insert(Window {
            since: now,
            tries: 0,
        });
        if now.since(window.since) >= WINDOW {
            *window = Window {
                since: now,
                tries: 0,
            };
        }
        window.tries = window.tries.saturating_add(1);
        window.tries <= self.tries_max
    }

    /// Whether there were enough for now; counts nothing.
    pub(crate) fn is_on(&self, who: &K, now: Timestamp) -> bool {
        let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.get(who).is_some_and(|window| {
            now.since(window.since) < WINDOW && window.tries >= self.tries_max
        })
    }

    /// What turned out to be right was no guess.
    pub(crate) fn forgive(&self, who: &K) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.remove(who);
    }
}

/// What counts as one address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    let address = address.to_canonical();
    if address.is_loopback() {
        return IpAddr::V4(Ipv4Addr::LOCALHOST);
    }
    match address {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tries_a_minute_and_bounded_memory() {
        let limiter = RateLimiter::new(TRIES_MAX);
        let address = |n: u32| IpAddr::from(n.to_be_bytes());
        let at = Timestamp::from_ms;
        for n in 0..20 {
            assert_eq!(limiter.is_on(&address(1), at(0)), n >= TRIES_MAX);
            assert_eq!(limiter.try_once(address(1), at(0)), n < TRIES_MAX);
        }
        assert!(
            limiter.try_once(address(2), at(0)),
            "others are not punished"
        );
        assert!(!limiter.try_once(address(1), at(59_999)));
        assert!(limiter.try_once(address(1), at(60_000)));
        for (n, tail) in (0..20).zip(["1", "2", "ffff:1", "b:c:d"].into_iter().cycle()) {
            let address = network(format!("fd00:1:2:3::{tail}").parse().unwrap());
            assert_eq!(limiter.try_once(address, at(0)), n < TRIES_MAX);
        }
        assert!(limiter.try_once(network("fd00:1:2:4::1".parse().unwrap()), at(0)));
        let locals = ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.9"];
        for (n, local) in (0..20).zip(locals.into_iter().cycle()) {
            let address = network(local.parse().unwrap());
            assert_eq!(limiter.try_once(address, at(0)), n < TRIES_MAX, "{local}");
        }
        for n in 10..u32::try_from(KEPT_MAX).unwrap() + 100 {
            assert!(
                limiter.try_once(address(n), at(60_001)),
                "a flood keeps nobody out"
            );
        }
        assert!(limiter.windows.lock().unwrap().len() <= KEPT_MAX);
    }

    #[test]
    fn who_was_right_begins_anew() {
        let limiter = RateLimiter::new(2);
        let at = Timestamp::from_ms(0);
        for _ in 0..10 {
            assert!(limiter.try_once("owner", at));
            limiter.forgive(&"owner");
        }
    }
}
