//! Times as people say them: local, short, and as far as a person needs them. Programs get RFC 3339 in UTC.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

const MINUTE_S: i64 = 60;
const HOUR_S: i64 = 60 * MINUTE_S;
/// Nearer than this, nobody counts.
const NOW_S: i64 = 2;

/// How this command says times.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    /// In milliseconds. Asked for each time: a command may have waited for a person, or for a run.
    now_ms: fn() -> i64,
    /// `None` says every time as it came, in UTC.
    zone: Option<TimeZone>,
}

impl Times {
    /// As they came: for programs, and with `--utc`.
    pub(crate) const fn as_they_come() -> Self {
        Self {
            now_ms: || 0,
            zone: None,
        }
    }

    /// Beside this moment, in the zone of this machine.
    pub(crate) fn local(now_ms: fn() -> i64) -> Self {
        Self::in_zone(now_ms, TimeZone::system())
    }

    const fn in_zone(now_ms: fn() -> i64, zone: TimeZone) -> Self {
        Self {
            now_ms,
            zone: Some(zone),
        }
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond((self.now_ms)()).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// How far away it is, and from an hour on when: `12 min ago`, `in 4 min`, `14:55`, `yesterday 14:55`.
    pub(crate) fn short(&self, text: &str) -> String {
        let Some((at, zone)) = self.parsed(text) else {
            return text.to_owned();
        };
        let ahead_s = at.as_second().saturating_sub(self.now().as_second());
        let away_s = ahead_s.saturating_abs();
        if away_s <= NOW_S {
            return "now".to_owned();
        }
        if away_s >= HOUR_S {
            return self.spoken(at, zone);
        }
        let away = if away_s < MINUTE_S {
            format!("{away_s} s")
        } else {
            format!("{} min", away_s / MINUTE_S)
        };
        if ahead_s > 0 {
            format!("in {away}")
        } else {
            format!("{away} ago")
        }
    }

    /// When it is, for a sentence: `14:55`, `tomorrow 08:00`.
    pub(crate) fn clock(&self, text: &str) -> String {
        match self.parsed(text) {
            Some((at, zone)) => self.spoken(at, zone),
            None => text.to_owned(),
        }
    }

    /// To the second, with its day and zone, where the very moment matters.
    pub(crate) fn exact(&self, text: &str) -> String {
        match self.parsed(text) {
            Some((at, zone)) => at
                .to_zoned(zone.clone())
                .strftime("%Y-%m-%d %H:%M:%S %Z")
                .to_string(),
            None => text.to_owned(),
        }
    }

    /// A sentence of the server's, with its times as this command says them.
    pub(crate) fn sentence(&self, text: &str) -> String {
        let word = |word: &str| {
            let bare = word.trim_end_matches(['.', ',', ';', ')', ':']);
            let rest = word.get(bare.len()..).unwrap_or_default();
            format!("{}{rest}", self.clock(bare))
        };
        let words = text.split_inclusive(char::is_whitespace).map(|piece| {
            let bare = piece.trim_end();
            let rest = piece.get(bare.len()..).unwrap_or_default();
            format!("{}{rest}", word(bare))
        });
        words.collect()
    }

    fn parsed(&self, text: &str) -> Option<(Timestamp, &TimeZone)> {
        Some((text.parse().ok()?, self.zone.as_ref()?))
    }

    fn spoken(&self, at: Timestamp, zone: &TimeZone) -> String {
        let [at, now]: [Zoned; 2] = [at, self.now()].map(|moment| moment.to_zoned(zone.clone()));
        let (day, today) = (at.date(), now.date());
        let form = if day == today {
            "%H:%M"
        } else if today.yesterday().ok() == Some(day) {
            "yesterday %H:%M"
        } else if today.tomorrow().ok() == Some(day) {
            "tomorrow %H:%M"
        } else if day.year() == today.year() {
            "%-d %b %H:%M"
        } else {
            "%-d %b %Y %H:%M"
        };
        at.strftime(form).to_string()
    }
}

/// A moment as somebody types it, in RFC 3339: one already, or a time of day, which is the next one there.
pub(crate) fn moment(text: &str, now_ms: i64, zone: TimeZone) -> Option<String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.to_string());
    }
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| -> Option<i8> {
        let is_plain = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        is_plain.then(|| text.parse().ok()).flatten()
    };
    let time = Time::new(number(hour)?, number(minute)?, 0, 0).ok()?;
    let now = Timestamp::from_millisecond(now_ms).ok()?;
    let today = now.to_zoned(zone.clone()).date();
    let days = [today, today.tomorrow().ok()?];
    let moments = days
        .into_iter()
        .filter_map(|day| day.to_datetime(time).to_zoned(zone.clone()).ok());
    let mut later = moments.map(|at| at.timestamp()).filter(|at| *at > now);
    later.next().map(|at| at.to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// 16 November 2026, 14:55 in a zone that is two hours ahead of UTC.
    fn times() -> Times {
        Times::in_zone(|| NOW_MS, TimeZone::fixed(jiff::tz::offset(2)))
    }

    const NOW_MS: i64 = 1_794_833_700_000;

    /// A command that waited for a person or for a run tells of what happened meanwhile.
    #[test]
    fn a_time_is_as_far_away_as_when_it_is_told() {
        static WAITED_MS: AtomicI64 = AtomicI64::new(0);
        let now_ms = || NOW_MS + WAITED_MS.load(Ordering::Relaxed);
        let times = Times::in_zone(now_ms, TimeZone::UTC);
        let ran = "2026-11-16T12:55:15.000Z";
        assert_eq!(times.short(ran), "in 15 s");
        WAITED_MS.store(16_000, Ordering::Relaxed);
        assert_eq!(times.short(ran), "now");
    }

    #[test]
    fn what_is_near_is_counted_and_what_is_far_has_its_clock() {
        for (text, said) in [
            ("2026-11-16T12:55:01.900Z", "now"),
            ("2026-11-16T12:54:48.000Z", "12 s ago"),
            ("2026-11-16T12:43:00.000Z", "12 min ago"),
            ("2026-11-16T12:59:00.000Z", "in 4 min"),
            ("2026-11-16T12:55:59.000Z", "in 59 s"),
            ("2026-11-16T13:54:59.000Z", "in 59 min"),
            ("2026-11-16T13:55:00.000Z", "15:55"),
            ("2026-11-16T11:55:00.000Z", "13:55"),
            // Midnight is the zone's.
            ("2026-11-15T22:00:00.000Z", "00:00"),
            ("2026-11-15T21:59:00.000Z", "yesterday 23:59"),
            ("2026-11-15T12:55:00.000Z", "yesterday 14:55"),
            ("2026-11-16T22:00:00.000Z", "tomorrow 00:00"),
            ("2026-11-02T06:05:00.000Z", "2 Nov 08:05"),
            ("2025-11-02T06:05:00.000Z", "2 Nov 2025 08:05"),
        ] {
            assert_eq!(times().short(text), said, "{text}");
        }
        assert_eq!(times().clock("2026-11-16T12:59:00.000Z"), "14:59");
        assert_eq!(
            times().exact("2026-11-16T12:59:07.120Z"),
            "2026-11-16 14:59:07 +02"
        );
    }

    #[test]
    fn what_is_no_time_stays_as_it_is() {
        for text in ["-", "", "never", "2026-13-45T99:00:00Z", "invalid-time(9)"] {
            assert_eq!(times().short(text), text);
            assert_eq!(times().clock(text), text);
        }
        let utc = "2026-11-16T12:43:00.000Z";
        assert_eq!(Times::as_they_come().short(utc), utc);
        assert_eq!(Times::as_they_come().sentence(utc), utc);
    }

    #[test]
    fn a_time_of_day_is_the_next_one_there() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now: Timestamp = "2026-11-16T12:55:00Z".parse().unwrap();
        for (text, at) in [
            ("22:00", Some("2026-11-16T20:00:00Z")),
            ("14:56", Some("2026-11-16T12:56:00Z")),
            ("14:55", Some("2026-11-17T12:55:00Z")),
            ("7:05", Some("2026-11-17T05:05:00Z")),
            ("2026-11-20T08:00:00+01:00", Some("2026-11-20T07:00:00Z")),
            ("24:00", None),
            ("12:60", None),
            ("+1:00", None),
            ("tomorrow", None),
            ("", None),
        ] {
            let found = moment(text, now.as_millisecond(), zone.clone());
            assert_eq!(found.as_deref(), at, "{text}");
        }
    }

    #[test]
    fn a_sentence_keeps_its_other_words() {
        let said = times()
            .sentence("already approved by owner (command line) at 2026-11-16T12:43:00.000Z.");
        assert_eq!(said, "already approved by owner (command line) at 14:43.");
        assert_eq!(times().sentence("a  b\nc"), "a  b\nc");
    }
}
