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
        if let Some(text) = common(self.0) {
            return f.write_str(std::str::from_utf8(&text).unwrap_or_default());
        }
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            // Outside the years -9999 to 9999: only a damaged row gets here.
            Err(_) => write!(f, "invalid-time({})", self.0),
        }
    }
}

/// What nearly every time is: one of the years 1970 to 9999, as far as it can be read again. The record is spelled with
/// it at every walk.
fn common(ms: i64) -> Option<[u8; 24]> {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    // The last millisecond is the calendar's only in part.
    if ms >= jiff::Timestamp::MAX.as_millisecond() {
        return None;
    }
    let ms = u64::try_from(ms).ok()?;
    let (day, in_day) = (ms / DAY_MS, ms % DAY_MS);
    // Years begin in March here, so that the day that some have more is the last one; an era is 400 years.
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let mut text = *b"0000-00-00T00:00:00.000Z";
    for (at, digits, number) in [
        (0, 4, year),
        (5, 2, month),
        (8, 2, day_of_month),
        (11, 2, in_day / 3_600_000),
        (14, 2, in_day / 60_000 % 60),
        (17, 2, in_day / 1_000 % 60),
        (20, 3, in_day % 1_000),
    ] {
        let mut rest = number;
        for place in text.iter_mut().skip(at).take(digits).rev() {
            *place += u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
    }
    Some(text)
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

    /// Around every day of the first century, and a few thousand times in all the years.
    #[test]
    fn spells_times_as_the_calendar_does() {
        const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
        let days = (0..40_000).flat_map(|day| [day * DAY_MS, (day + 1) * DAY_MS - 1]);
        let years = (0..20_000).map(|n| n * 12_670_115_040_007 / 1_000);
        let ends = [
            i64::MIN,
            -1,
            jiff::Timestamp::MAX.as_millisecond(),
            jiff::Timestamp::MAX.as_millisecond() + 1,
            253_402_300_799_999,
            i64::MAX,
        ];
        for ms in days.chain(years).chain(ends) {
            let slow = match jiff::Timestamp::from_millisecond(ms) {
                Ok(at) => format!("{at:.3}"),
                Err(_) => format!("invalid-time({ms})"),
            };
            assert_eq!(Timestamp::from_ms(ms).to_string(), slow);
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
