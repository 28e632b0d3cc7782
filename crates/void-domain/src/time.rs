//! Points in time: milliseconds since the Unix epoch, UTC. The domain never asks what time it is.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment, to the millisecond. Ordering of records never relies on it; sequence numbers do that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// The moment `duration` later; saturates instead of wrapping around.
    pub fn plus(self, duration: Duration) -> Self {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(ms))
    }

    /// The moment `duration` earlier; saturates instead of wrapping around.
    pub fn minus(self, duration: Duration) -> Self {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(ms))
    }

    /// How much time lies between `earlier` and `self`; zero if `earlier` is in fact later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The form of HTTP's `Date`: `Sun, 15 Nov 2026 20:55:00 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let zoned = jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(text)
            .ok()?;
        Some(Self(zoned.as_millisecond()))
    }

    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>()
            .ok()
            .map(|t| Self(t.as_millisecond()))
    }
}

/// RFC 3339 in UTC with exactly three decimals, so that equal moments are equal bytes.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            // Outside the years -9999 to 9999: only a damaged row gets here.
            Err(_) => write!(f, "invalid-time({})", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_rfc3339(&text).ok_or_else(|| de::Error::custom("not an RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_milliseconds_always() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_762_000_000_120, "2025-11-01T12:26:40.120Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ];
        for (ms, text) in cases {
            assert_eq!(Timestamp::from_ms(ms).to_string(), text);
            assert_eq!(Timestamp::parse_rfc3339(text), Some(Timestamp::from_ms(ms)));
        }
    }

    #[test]
    fn reads_the_date_of_http() {
        let at = Timestamp::parse_http_date("Sat, 01 Nov 2025 12:26:40 GMT");
        assert_eq!(at, Some(Timestamp::from_ms(1_762_000_000_000)));
        assert_eq!(Timestamp::parse_http_date("yesterday"), None);
    }

    #[test]
    fn arithmetic_saturates() {
        let end = Timestamp::from_ms(i64::MAX);
        assert_eq!(end.plus(Duration::MAX), end);
        assert_eq!(
            Timestamp::from_ms(5).since(Timestamp::from_ms(9)),
            Duration::ZERO
        );
    }
}
