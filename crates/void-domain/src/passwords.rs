//! The owner's password before it is hashed: long enough, and not one of the first that anybody tries.

use std::collections::BTreeSet;

use crate::secrets::Secret;

pub const BYTES_MIN: usize = 12;
pub const BYTES_MAX: usize = 256;
const DIFFERENT_MIN: usize = 5;
/// What has to be left of it without well-known words.
const OWN_MIN: usize = 4;

/// Longer ones first: what is left of a longer one is no word.
const WORDS: [&str; 12] = [
    "1234567890",
    "0987654321",
    "abcdefghijkl",
    "password",
    "changeme",
    "homelab",
    "welcome",
    "letmein",
    "qwertz",
    "qwerty",
    "owner",
    "admin",
];

/// A password that may be set.
#[derive(Debug, Clone)]
pub struct Password(Secret);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPassword {
    #[error("must be {BYTES_MIN} to {BYTES_MAX} bytes")]
    Length,
    #[error("must have at least {DIFFERENT_MIN} different characters")]
    Monotonous,
    #[error("must be more than well-known words and the name of this lab")]
    WellKnown,
}

impl Password {
    /// `names` are those by which this lab is known.
    pub fn parse(text: &str, names: &[String]) -> Result<Self, InvalidPassword> {
        if !(BYTES_MIN..=BYTES_MAX).contains(&text.len()) {
            return Err(InvalidPassword::Length);
        }
        if text.chars().collect::<BTreeSet<_>>().len() < DIFFERENT_MIN {
            return Err(InvalidPassword::Monotonous);
        }
        let mut left = text.to_lowercase();
        let names = names.iter().map(|name| name.to_lowercase());
        for name in names.filter(|name| !name.is_empty()) {
            left = left.replace(&name, "");
        }
        for word in WORDS {
            left = left.replace(word, "");
        }
        if left.chars().count() < OWN_MIN {
            return Err(InvalidPassword::WellKnown);
        }
        Ok(Self(Secret::new(text)))
    }

    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_monotonous_and_well_known_ones_are_refused() {
        let names = ["Void".to_owned(), "lab.example".to_owned(), String::new()];
        let parse = |text: &str| Password::parse(text, &names).map(|_| ()).err();
        for good in [
            "correct horse battery staple",
            "twelve bytes",
            "void has 3 owners",
            "\u{1f511}\u{1f512}\u{1f513}ab",
            &"abcde".repeat(51),
        ] {
            assert_eq!(parse(good), None, "{good}");
        }
        for (bad, why) in [
            ("", InvalidPassword::Length),
            ("elevenbytes", InvalidPassword::Length),
            (&"abcdef".repeat(43), InvalidPassword::Length),
            ("aaaaaaaaaaaaaaaa", InvalidPassword::Monotonous),
            ("121212121212", InvalidPassword::Monotonous),
            ("voidvoidvoidvoid", InvalidPassword::Monotonous),
            ("Password1234567890", InvalidPassword::WellKnown),
            ("voidPASSWORDvoid!", InvalidPassword::WellKnown),
            ("lab.example123", InvalidPassword::WellKnown),
            ("qwertyqwerty", InvalidPassword::WellKnown),
        ] {
            assert_eq!(parse(bad), Some(why), "{bad}");
        }
    }
}
