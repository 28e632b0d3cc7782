//! The time that a question about the record is about: today, last night, since monday.

use jiff::Zoned;
use jiff::civil::Weekday;

use super::times::Times;
use super::words::Sentence;

/// What is called night, on the clock.
const NIGHT_BEGINS_H: i8 = 18;
const NIGHT_ENDS_H: i8 = 12;
const WEEK_DAYS: i64 = 7;

pub(super) struct Period {
    /// How it is said behind "nothing".
    pub spoken: &'static str,
    from: Zoned,
    until: Option<Zoned>,
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday montag", Weekday::Monday),
    ("tuesday dienstag", Weekday::Tuesday),
    ("wednesday mittwoch", Weekday::Wednesday),
    ("thursday donnerstag", Weekday::Thursday),
    ("friday freitag", Weekday::Friday),
    ("saturday samstag", Weekday::Saturday),
    ("sunday sonntag", Weekday::Sunday),
];

impl Period {
    /// `None` asks for whatever there is.
    pub(super) fn asked_for(sentence: &Sentence, times: &Times) -> Option<Self> {
        let has = |list: &str| sentence.has_any(list);
        let ends = |from: Zoned, days: i64| {
            let until = (!has("since seit")).then(|| times.days_ago(days)).flatten();
            (from, until)
        };
        let (spoken, (from, until)) = if has("night overnight nacht nachts asleep slept geschlafen")
        {
            let from = times
                .days_ago(1)?
                .with()
                .hour(NIGHT_BEGINS_H)
                .build()
                .ok()?;
            let until = times.now().with().hour(NIGHT_ENDS_H).minute(0).build().ok();
            (
                "since last evening",
                (from, until.filter(|end| end < times.now())),
            )
        } else if has("yesterday gestern") {
            ("then", ends(times.days_ago(1)?, 0))
        } else if has("today heute morning frueh") {
            ("today", (times.days_ago(0)?, None))
        } else if has("week woche weekend wochenende") {
            ("this week", (times.days_ago(WEEK_DAYS)?, None))
        } else {
            let day = WEEKDAYS.iter().find(|(names, _)| has(names))?.1;
            let today = times.now().date().weekday();
            let days = i64::from(day.until(today));
            ("since then", (times.days_ago(days)?, None))
        };
        Some(Self {
            spoken,
            from,
            until,
        })
    }

    pub(super) fn has(&self, at: &Zoned) -> bool {
        *at >= self.from && self.until.as_ref().is_none_or(|until| at < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_day_and_a_night_reaches_back_to_the_evening() {
        // A monday.
        let times = Times::at("2026-11-16T14:00:00.000Z");
        let at = |text: &str| times.read(text).unwrap();
        let is_in = |said: &str, text: &str| {
            let period = Period::asked_for(&Sentence::read(said), &times);
            period.is_none_or(|period| period.has(&at(text)))
        };
        for (said, text, expected) in [
            ("what happened today?", "2026-11-16T12:30:00.000Z", true),
            ("what happened today?", "2026-11-14T12:30:00.000Z", false),
            ("what happened yesterday?", "2026-11-15T12:00:00.000Z", true),
            ("was war gestern?", "2026-11-16T12:30:00.000Z", false),
            (
                "what happened since yesterday?",
                "2026-11-16T12:30:00.000Z",
                true,
            ),
            (
                "was ist seit gestern passiert?",
                "2026-11-13T12:30:00.000Z",
                false,
            ),
            (
                "what happened last night?",
                "2026-11-15T23:30:00.000Z",
                true,
            ),
            (
                "what happened since saturday?",
                "2026-11-14T12:30:00.000Z",
                true,
            ),
            (
                "what happened since saturday?",
                "2026-11-12T12:30:00.000Z",
                false,
            ),
            ("what happened this week?", "2026-11-12T12:30:00.000Z", true),
            ("what happened?", "2020-11-12T12:30:00.000Z", true),
        ] {
            assert_eq!(is_in(said, text), expected, "{said} {text}");
        }
    }
}
