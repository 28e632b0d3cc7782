//! Times in what she says. Days begin in the zone of the machine that Void runs on; a moment is told in UTC, as the
//! tools tell it, and every surface shows it by the reader's clock.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;
/// Nearer than this, nobody counts.
const NOW_S: i64 = 2;
const SECOND_MS: i64 = 1_000;
/// What ends sooner than this is told by how long it still takes.
const COUNTED_MS: i64 = 2 * MINUTE_S * SECOND_MS;

pub(super) struct Times {
    now: Zoned,
}

impl Times {
    /// Beside the moment at which a tool looked.
    pub(super) fn at(now: &str) -> Self {
        Self::in_zone(now, TimeZone::system())
    }

    fn in_zone(now: &str, zone: TimeZone) -> Self {
        let now: Timestamp = now.parse().unwrap_or_default();
        Self {
            now: now.to_zoned(zone),
        }
    }

    pub(super) const fn now(&self) -> &Zoned {
        &self.now
    }

    pub(super) fn read(&self, text: &str) -> Option<Zoned> {
        let at: Timestamp = text.parse().ok()?;
        Some(at.to_zoned(self.now.time_zone().clone()))
    }

    /// A moment as it goes into a text: in UTC, whole. Whoever reads the chat sees it by their own clock, in the
    /// page and in the terminal, also when they read it tomorrow.
    pub(super) fn moment(&self, text: &str) -> String {
        match self.read(text) {
            Some(at) => format!("{:.0}", at.timestamp()),
            None => text.to_owned(),
        }
    }

    /// From when on: near ones by how long that is, because a clock without seconds would say "now".
    pub(super) fn again(&self, text: &str) -> String {
        let until = self.read(text).map(|at| at.timestamp().as_millisecond());
        let left_ms = until.map(|until| until - self.now.timestamp().as_millisecond());
        match left_ms {
            Some(left_ms) if left_ms <= 0 => "again now".to_owned(),
            Some(left_ms) if left_ms < COUNTED_MS => {
                format!("again in {} s", (left_ms + SECOND_MS - 1) / SECOND_MS)
            }
            Some(_) | None => format!("again from {}", self.moment(text)),
        }
    }

    /// How long ago it was: `3 min`, `5 h`, `2 days`.
    pub(super) fn span_since(&self, text: &str) -> Option<String> {
        self.passed_s(text).map(span)
    }

    fn passed_s(&self, text: &str) -> Option<i64> {
        let at = self.read(text)?;
        let passed_s = self.now.timestamp().as_second() - at.timestamp().as_second();
        Some(passed_s.max(0))
    }

    /// The day that begins this many days before today.
    pub(super) fn days_ago(&self, days: i64) -> Option<Zoned> {
        let day = self.now.checked_sub(days.days()).ok()?;
        day.start_of_day().ok()
    }
}

fn span(passed_s: i64) -> String {
    match () {
        () if passed_s <= NOW_S => "a moment".to_owned(),
        () if passed_s < MINUTE_S => format!("{passed_s} s"),
        () if passed_s < HOUR_S => format!("{} min", passed_s / MINUTE_S),
        () if passed_s < DAY_S => format!("{} h", passed_s / HOUR_S),
        () if passed_s < 2 * DAY_S => "a day".to_owned(),
        () => format!("{} days", passed_s / DAY_S),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_for_every_clock_and_a_span_by_its_length() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let times = Times::in_zone("2026-11-16T12:55:00.000Z", zone);
        for (text, moment, span) in [
            (
                "2026-11-16T12:54:59.000Z",
                "2026-11-16T12:54:59Z",
                "a moment",
            ),
            ("2026-11-16T12:54:48.000Z", "2026-11-16T12:54:48Z", "12 s"),
            ("2026-11-16T12:43:00.000Z", "2026-11-16T12:43:00Z", "12 min"),
            ("2026-11-16T08:55:00.000Z", "2026-11-16T08:55:00Z", "4 h"),
            (
                "2026-11-02T06:05:00.000Z",
                "2026-11-02T06:05:00Z",
                "14 days",
            ),
        ] {
            assert_eq!(times.moment(text), moment);
            assert_eq!(times.span_since(text).as_deref(), Some(span), "{text}");
        }
        for (text, again) in [
            ("2026-11-16T12:54:59.000Z", "again now"),
            ("2026-11-16T12:55:00.001Z", "again in 1 s"),
            ("2026-11-16T12:55:23.000Z", "again in 23 s"),
            ("2026-11-16T12:56:59.000Z", "again in 119 s"),
            (
                "2026-11-16T12:57:00.000Z",
                "again from 2026-11-16T12:57:00Z",
            ),
            ("no time", "again from no time"),
        ] {
            assert_eq!(times.again(text), again);
        }
        assert_eq!(times.moment("no time"), "no time");
        assert_eq!(times.span_since("no time"), None);
    }
}
