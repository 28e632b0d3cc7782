//! A plain day without a time or a zone, as front matter has it: `2026-12-31`.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a day is written as 2026-12-31")]
pub struct NotADay;

impl Day {
    /// A day that is in the calendar.
    pub fn new(year: u16, month: u8, day: u8) -> Result<Self, NotADay> {
        let last = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap(year) => 29,
            2 => 28,
            _ => return Err(NotADay),
        };
        if !(1..=9999).contains(&year) || !(1..=last).contains(&day) {
            return Err(NotADay);
        }
        Ok(Self { year, month, day })
    }

    pub const fn year(self) -> u16 {
        self.year
    }

    pub const fn month(self) -> u8 {
        self.month
    }

    pub const fn day(self) -> u8 {
        self.day
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

impl FromStr for Day {
    type Err = NotADay;

    fn from_str(text: &str) -> Result<Self, NotADay> {
        let shape = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != "2026-12-31".len() || !text.bytes().enumerate().all(shape) {
            return Err(NotADay);
        }
        let mut parts = text.split('-');
        let mut number = || -> Option<u16> { parts.next()?.parse().ok() };
        let (Some(year), Some(month), Some(day)) = (number(), number(), number()) else {
            return Err(NotADay);
        };
        let small = |number: u16| u8::try_from(number).map_err(|_| NotADay);
        Self::new(year, small(month)?, small(day)?)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_of_the_calendar_are_days() {
        for good in [
            "2026-11-19",
            "2024-02-29",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
        ] {
            assert_eq!(good.parse::<Day>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "2026-2-1",
            "2026-02-30",
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-04-31",
            "0000-01-01",
            "2026/01/01",
            "2026-01-01T10:00",
            "+026-01-01",
            "tomorrow",
            "２０２６-01",
            "12026-01-01",
        ] {
            assert_eq!(bad.parse::<Day>(), Err(NotADay), "{bad}");
        }
    }
}
