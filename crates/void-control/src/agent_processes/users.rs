//! Who agent processes run as: a user and a group of the same number each, which nobody else of the machine has. An
//! agent's number is that of its state folder, so it stays its own for as long as the folder is there.

use std::collections::BTreeSet;
use std::fmt;

/// Numbers from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRange {
    first: u32,
    last: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a range of users is FIRST-LAST, from 1000 to 4294967290")]
pub struct InvalidUserRange;

/// Below are people and services, above are numbers that mean nobody.
const LEAST: u32 = 1_000;
const MOST: u32 = 4_294_967_290;

impl UserRange {
    pub fn parse(text: &str) -> Result<Self, InvalidUserRange> {
        let (first, last) = text.split_once('-').ok_or(InvalidUserRange)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| InvalidUserRange);
        let (first, last) = (number(first)?, number(last)?);
        match LEAST <= first && first <= last && last <= MOST {
            true => Ok(Self { first, last }),
            false => Err(InvalidUserRange),
        }
    }

    pub(super) fn has(self, user: u32) -> bool {
        (self.first..=self.last).contains(&user)
    }

    /// The first that nobody has; `None` if all are taken.
    pub(super) fn free(self, taken: &BTreeSet<u32>) -> Option<u32> {
        (self.first..=self.last).find(|user| !taken.contains(user))
    }
}

impl fmt::Display for UserRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_people_below_it_and_nobody_above() {
        let range = UserRange::parse("70000-70002").unwrap();
        assert_eq!(range.to_string(), "70000-70002");
        assert!(range.has(70_000) && range.has(70_002) && !range.has(70_003) && !range.has(0));
        for text in [
            "",
            "70000",
            "0-10",
            "999-2000",
            "2000-1999",
            "1000-4294967295",
            "a-b",
            "-1-5",
            "1000-2000-3000",
        ] {
            assert_eq!(UserRange::parse(text), Err(InvalidUserRange), "{text}");
        }
        assert!(UserRange::parse("1000-1000").is_ok());
    }

    #[test]
    fn the_first_free_number_is_given_until_there_is_none() {
        let range = UserRange::parse("70000-70002").unwrap();
        let free = |taken: &[u32]| range.free(&taken.iter().copied().collect());
        assert_eq!(free(&[]), Some(70_000));
        assert_eq!(free(&[70_000, 70_002]), Some(70_001));
        assert_eq!(free(&[70_000, 70_001, 70_002, 5]), None);
    }
}
