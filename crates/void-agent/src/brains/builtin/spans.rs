//! How long something is to last, as people say it: "for an hour", "2 stunden".

use super::words::{Sentence, is_one_of};

/// Units as they are said, and as the command line writes them.
const UNITS: [(&str, &str); 3] = [
    ("minute minutes min mins minuten", "m"),
    ("hour hours hrs h stunde stunden std", "h"),
    ("day days tag tage tagen", "d"),
];
const NUMBERS: [(&str, u32); 12] = [
    ("a an one ein eine einen einer", 1),
    ("two zwei couple", 2),
    ("three drei", 3),
    ("four vier", 4),
    ("five fuenf", 5),
    ("six sechs", 6),
    ("seven sieben", 7),
    ("eight acht", 8),
    ("nine neun", 9),
    ("ten zehn", 10),
    ("twenty zwanzig", 20),
    ("thirty dreissig", 30),
];
/// Longer than this nothing is muted.
const DAYS_MAX: u32 = 30;

/// As `--for` takes it: `30m`, `1h`, `2d`. `None` if none is said, or one that is not taken.
pub(super) fn spoken_span(sentence: &Sentence) -> Option<String> {
    let words: Vec<&str> = sentence.spoken().filter(|word| *word != "of").collect();
    let joined = words.iter().find_map(|word| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = word.strip_prefix(digits)?;
        told(digits.parse().ok()?, unit)
    });
    let apart = words.windows(2).find_map(|pair| match pair {
        ["half" | "halbe", "hour" | "stunde"] => Some("30m".to_owned()),
        [number, unit] => told(number_of(number)?, unit),
        _ => None,
    });
    // "half an hour" has "an hour" in it.
    let half = words.windows(3).any(|three| {
        matches!(
            three,
            ["half", "an" | "a", "hour"] | ["eine", "halbe", "stunde"]
        )
    });
    match half {
        true => Some("30m".to_owned()),
        false => joined.or(apart),
    }
}

/// The number that a word is: digits, or one that people write out.
pub(super) fn number_of(word: &str) -> Option<u32> {
    let mut known = NUMBERS.iter();
    let spoken = known.find(|(words, _)| is_one_of(word, words));
    spoken
        .map(|(_, number)| *number)
        .or_else(|| word.parse().ok())
}

pub(super) fn is_unit(word: &str) -> bool {
    const MORE: &str = "second seconds sekunden week weeks woche wochen night nights month months";
    let mut units = UNITS.iter();
    units.any(|(words, _)| is_one_of(word, words)) || is_one_of(word, MORE)
}

fn told(number: u32, unit: &str) -> Option<String> {
    let (_, short) = UNITS
        .iter()
        .find(|(words, short)| is_one_of(unit, words) || unit == *short)?;
    let most = match *short {
        "m" => DAYS_MAX * 24 * 60,
        "h" => DAYS_MAX * 24,
        _ => DAYS_MAX,
    };
    (1..=most)
        .contains(&number)
        .then(|| format!("{number}{short}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_as_the_command_line_takes_it() {
        for (said, span) in [
            ("mute caddy for an hour", Some("1h")),
            ("mute caddy for 1h", Some("1h")),
            ("mute caddy for 90 minutes", Some("90m")),
            ("mute caddy for half an hour", Some("30m")),
            ("mute caddy for two days", Some("2d")),
            ("mute caddy for a couple of hours", Some("2h")),
            ("caddy stummschalten für 2 stunden", Some("2h")),
            ("caddy stumm für eine halbe stunde", Some("30m")),
            ("caddy für einen tag stummschalten", Some("1d")),
            ("mute caddy for 30 days", Some("30d")),
            ("mute caddy for 31 days", None),
            ("mute caddy for 0 hours", None),
            ("mute caddy for 99999999999 hours", None),
            ("mute caddy", None),
            ("mute ct107", None),
        ] {
            let told = spoken_span(&Sentence::read(said));
            assert_eq!(told.as_deref(), span, "{said}");
        }
    }
}
