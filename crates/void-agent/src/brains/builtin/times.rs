//! Times as people say them: short, in the zone of the machine that Void runs on. Tools tell them in UTC.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
const DAY_S: i64 = 24 * HOUR_S;
/// Nearer than this, nobody counts.
const NOW_S: i64 = 2;

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

    /// `14:55`, `yesterday 14:55`, `2 Nov 08:05`.
    pub(super) fn clock(&self, text: &str) -> String {
        let Some(at) = self.read(text) else {
            return text.to_owned();
        };
        let (day, today) = (at.date(), self.now.date());
        let form = match () {
            () if day == today => "%H:%M",
            () if today.yesterday().ok() == Some(day) => "yesterday %H:%M",
            () if day.year() == today.year() => "%-d %b %H:%M",
            () => "%-d %b %Y %H:%M",
        };
        // A machine without a zone of its own says so: its clock is hardly the one on the wall.
        let has_zone = at.time_zone().iana_name().is_some_and(is_a_place);
        let zone = if at.offset().is_zero() && !has_zone {
            " UTC"
        } else {
            ""
        };
        format!("{}{zone}", at.strftime(form))
    }

    /// `12 min ago`, and from an hour on its clock.
    pub(super) fn ago(&self, text: &str) -> String {
        match self.passed_s(text) {
            None => text.to_owned(),
            Some(..=NOW_S) => "just now".to_owned(),
            Some(passed_s) if passed_s < HOUR_S => format!("{} ago", span(passed_s)),
            Some(_) => self.clock(text),
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

/// `Europe/London`, but not `Etc/UTC`.
fn is_a_place(name: &str) -> bool {
    name.contains('/') && !name.starts_with("Etc/")
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
    fn what_is_near_is_counted_and_what_is_far_has_its_clock() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let times = Times::in_zone("2026-11-16T12:55:00.000Z", zone);
        for (text, clock, ago) in [
            ("2026-11-16T12:54:59.000Z", "14:54", "just now"),
            ("2026-11-16T12:54:48.000Z", "14:54", "12 s ago"),
            ("2026-11-16T12:43:00.000Z", "14:43", "12 min ago"),
            ("2026-11-16T11:55:00.000Z", "13:55", "13:55"),
            // Midnight is the zone's.
            ("2026-11-15T22:00:00.000Z", "00:00", "00:00"),
            (
                "2026-11-15T21:59:00.000Z",
                "yesterday 23:59",
                "yesterday 23:59",
            ),
            ("2026-11-02T06:05:00.000Z", "2 Nov 08:05", "2 Nov 08:05"),
            (
                "2025-11-02T06:05:00.000Z",
                "2 Nov 2025 08:05",
                "2 Nov 2025 08:05",
            ),
            ("no time", "no time", "no time"),
        ] {
            assert_eq!(times.clock(text), clock, "{text}");
            assert_eq!(times.ago(text), ago, "{text}");
        }
        let utc = Times::in_zone("2026-11-16T12:55:00.000Z", TimeZone::UTC);
        assert_eq!(utc.clock("2026-11-16T11:43:00.000Z"), "11:43 UTC");
    }
}
