//! A brake on guessing: ten logins a minute per address, in bounded memory. Of an IPv6 address its
//! network counts: whoever has one has all of it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use void_domain::time::Timestamp;

pub(crate) const TRIES_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
const ADDRESSES_MAX: usize = 4_096;

#[derive(Default)]
pub(crate) struct Logins(Mutex<HashMap<IpAddr, Window>>);

struct Window {
    since: Timestamp,
    tries: u32,
}

impl Logins {
    /// Counts a try; `false` if this address has had enough for now.
    pub(crate) fn try_once(&self, from: IpAddr, now: Timestamp) -> bool {
        let from = network(from);
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= ADDRESSES_MAX && !windows.contains_key(&from) {
            windows.retain(|_, window| now.since(window.since) < WINDOW);
            // Full of fresh ones: a flood. Whoever is new waits.
            if windows.len() >= ADDRESSES_MAX {
                return false;
            }
        }
        let window = windows.entry(from).or_insert(Window {
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
        window.tries <= TRIES_MAX
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tries_a_minute_and_bounded_memory() {
        let logins = Logins::default();
        let address = |n: u32| IpAddr::from(n.to_be_bytes());
        let at = Timestamp::from_ms;
        for n in 0..20 {
            assert_eq!(logins.try_once(address(1), at(0)), n < TRIES_MAX);
        }
        assert!(
            logins.try_once(address(2), at(0)),
            "others are not punished"
        );
        assert!(!logins.try_once(address(1), at(59_999)));
        assert!(logins.try_once(address(1), at(60_000)));
        for (n, tail) in (0..20).zip(["1", "2", "ffff:1", "b:c:d"].into_iter().cycle()) {
            let address = format!("fd00:1:2:3::{tail}").parse().unwrap();
            assert_eq!(logins.try_once(address, at(0)), n < TRIES_MAX);
        }
        assert!(logins.try_once("fd00:1:2:4::1".parse().unwrap(), at(0)));
        for n in 10..u32::try_from(ADDRESSES_MAX).unwrap() + 100 {
            logins.try_once(address(n), at(60_001));
        }
        assert!(logins.0.lock().unwrap().len() <= ADDRESSES_MAX);
    }
}
