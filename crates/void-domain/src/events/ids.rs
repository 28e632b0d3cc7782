//! Where a listener stands in the stream: the number of an entry of the record, and in which numbering.
//!
//! A record that went back (a restored copy) gives its numbers out again, and before the record was the stream events had
//! numbers of their own. A number below `numbered_from` may be one of those, so as an id it says in which numbering it
//! counts: `17-120`. From there on the id is the number alone.

use std::fmt;
use std::str::FromStr;

/// More than a record ever has, and a whole number for every client.
const DIGITS_MAX: usize = 15;

/// The highest number that an id can have, of an entry and of a numbering.
pub const ID_NUMBER_MAX: u64 = 999_999_999_999_999;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId {
    pub seq: u64,
    /// `None`: the number alone, as clients of every version know it.
    numbered_from: Option<u64>,
}

impl EventId {
    /// The id of an entry in the numbering of now.
    pub const fn new(seq: u64, numbered_from: u64) -> Self {
        Self {
            seq,
            numbered_from: if seq < numbered_from {
                Some(numbered_from)
            } else {
                None
            },
        }
    }

    /// Whether it can only be a number of this numbering.
    pub const fn is_of(self, numbered_from: u64) -> bool {
        match self.numbered_from {
            Some(other) => other == numbered_from,
            None => self.seq >= numbered_from,
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.numbered_from {
            Some(from) => write!(f, "{}-{from}", self.seq),
            None => write!(f, "{}", self.seq),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the id of an event")]
pub struct NoEventId;

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (seq, from) = match text.split_once('-') {
            Some((seq, from)) => (seq, Some(number(from)?)),
            None => (text, None),
        };
        Ok(Self {
            seq: number(seq)?,
            numbered_from: from,
        })
    }
}

fn number(text: &str) -> Result<u64, NoEventId> {
    let fits = text.len() <= DIGITS_MAX && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| fits);
    number.ok_or(NoEventId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_number_once_no_other_numbering_has_it() {
        for (seq, from, text) in [(0, 0, "0"), (7, 0, "7"), (7, 7, "7"), (6, 7, "6-7")] {
            let id = EventId::new(seq, from);
            assert_eq!(id.to_string(), text);
            assert_eq!(text.parse(), Ok(id));
            assert!(id.is_of(from), "{text}");
        }
        let plain: EventId = "6".parse().unwrap();
        assert!(!plain.is_of(7) && plain.is_of(6));
        let other: EventId = "6-8".parse().unwrap();
        assert!(!other.is_of(7) && !other.is_of(9));
        for text in [
            "",
            "-",
            "6-",
            "-7",
            "x",
            "1.5",
            "6-7-8",
            "1e3",
            "18446744073709551616",
            "1000000000000000",
            "+5",
        ] {
            assert_eq!(text.parse::<EventId>(), Err(NoEventId), "{text}");
        }
        let highest = EventId::new(ID_NUMBER_MAX - 1, ID_NUMBER_MAX);
        assert_eq!(highest.to_string().parse(), Ok(highest));
        let beyond = EventId::new(1, ID_NUMBER_MAX + 1).to_string();
        assert_eq!(beyond.parse::<EventId>(), Err(NoEventId));
    }
}
