//! Hours in which nothing makes a noise: recoveries and escalations neither.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};

use crate::time::Timestamp;

/// From one time of day to another, over midnight if the second is the earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietHours {
    from: Time,
    until: Time,
    zone: TimeZone,
    /// The owner wants to be woken for what may cut them off.
    pub critical_breaks_through: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuietHours {
    #[error("a time of day is written like 22:30")]
    Time,
    #[error("quiet hours begin and end at different times")]
    Empty,
}

impl QuietHours {
    pub fn parse(
        from: &str,
        until: &str,
        zone: TimeZone,
        critical_breaks_through: bool,
    ) -> Result<Self, InvalidQuietHours> {
        let (from, until) = (time(from)?, time(until)?);
        if from == until {
            return Err(InvalidQuietHours::Empty);
        }
        Ok(Self {
            from,
            until,
            zone,
            critical_breaks_through,
        })
    }

    /// When the quiet hours that `now` lies in are over; `None` outside of them.
    pub fn end_of(&self, now: Timestamp) -> Option<Timestamp> {
        let now = zoned(now, &self.zone)?;
        let time = now.time();
        let over_midnight = self.from > self.until;
        let is_quiet = if over_midnight {
            time >= self.from || time < self.until
        } else {
            time >= self.from && time < self.until
        };
        if !is_quiet {
            return None;
        }
        let day = if over_midnight && time >= self.from {
            now.date().checked_add(1.day()).ok()?
        } else {
            now.date()
        };
        let end = day
            .to_datetime(self.until)
            .to_zoned(self.zone.clone())
            .ok()?;
        Some(Timestamp::from_ms(end.timestamp().as_millisecond()))
    }
}

fn time(text: &str) -> Result<Time, InvalidQuietHours> {
    let (hour, minute) = text.split_once(':').ok_or(InvalidQuietHours::Time)?;
    let number = |text: &str| -> Option<i8> {
        let two_digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        two_digits.then(|| text.parse().ok()).flatten()
    };
    match (number(hour), number(minute)) {
        (Some(hour), Some(minute)) => {
            Time::new(hour, minute, 0, 0).map_err(|_| InvalidQuietHours::Time)
        }
        _ => Err(InvalidQuietHours::Time),
    }
}

pub(super) fn zoned(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    let at = jiff::Timestamp::from_millisecond(at.as_ms()).ok()?;
    Some(at.to_zoned(zone.clone()))
}

/// `16 Nov 2026, 14:55 CET`: a moment by somebody's clock, and whose.
pub fn moment(at: Timestamp, zone: &TimeZone) -> String {
    zoned(at, zone).map_or_else(
        || at.to_string(),
        |at| at.strftime("%-d %b %Y, %H:%M %Z").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn a_moment_is_written_by_the_clock_of_its_zone_and_says_which() {
        let late = at("2026-11-16T23:30:00.000Z");
        assert_eq!(moment(late, &TimeZone::UTC), "16 Nov 2026, 23:30 UTC");
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(moment(late, &east), "17 Nov 2026, 01:30 +02");
    }

    #[test]
    fn a_night_ends_in_the_morning_whichever_side_of_midnight_it_is() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let night = QuietHours::parse("22:00", "07:30", zone, false).unwrap();
        let morning = Some(at("2026-11-16T05:30:00Z"));
        // (now in UTC, when it ends); local time is two hours ahead.
        for (now, end) in [
            ("2026-11-15T19:59:59Z", None),
            ("2026-11-15T20:00:00Z", morning),
            ("2026-11-15T22:30:00Z", morning),
            ("2026-11-16T05:29:59Z", morning),
            ("2026-11-16T05:30:00Z", None),
            ("2026-11-16T12:00:00Z", None),
        ] {
            assert_eq!(night.end_of(at(now)), end, "{now}");
        }
        let noon = QuietHours::parse("12:00", "13:00", TimeZone::UTC, false).unwrap();
        assert_eq!(noon.end_of(at("2026-11-16T11:59:00Z")), None);
        let end = Some(at("2026-11-16T13:00:00Z"));
        assert_eq!(noon.end_of(at("2026-11-16T12:59:59Z")), end);
    }

    #[test]
    fn what_is_no_time_of_day_is_refused() {
        let parse = |from, until| QuietHours::parse(from, until, TimeZone::UTC, false).err();
        for bad in [
            "", "7", "7:00", "24:00", "07:60", "07:00:00", "+7:00", "ab:cd",
        ] {
            assert_eq!(parse(bad, "08:00"), Some(InvalidQuietHours::Time), "{bad}");
        }
        assert_eq!(parse("07:00", "07:00"), Some(InvalidQuietHours::Empty));
        assert_eq!(parse("23:59", "00:00"), None);
    }
}
