//! Words that somebody looks for in what was said.

use crate::text;

const WORDS_MAX: usize = 8;
/// Of what was said, around the first word that was found.
const FOUND_CHARS_BEFORE: usize = 60;
const FOUND_CHARS_MAX: usize = 200;

/// One to eight words, in small letters. All of them have to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchedWords(Vec<String>);

impl SearchedWords {
    pub const CHARS_MAX: usize = 200;

    /// `None`: no word, too many of them, or too long.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let fits = (1..=WORDS_MAX).contains(&words.len())
            && text.chars().count() <= Self::CHARS_MAX
            && !text.contains('\0');
        fits.then_some(Self(words))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn are_in(&self, said: &str) -> bool {
        let said = said.to_lowercase();
        self.iter().all(|word| said.contains(word))
    }

    /// The part of a message in which the first of the words stands that is in it, on one line. `None`: none is.
    pub fn part_of(&self, said: &str) -> Option<String> {
        let line: Vec<char> = said
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .collect();
        let low: String = line
            .iter()
            .map(|letter| letter.to_lowercase().next().unwrap_or(*letter))
            .collect();
        let at = self.iter().find_map(|word| low.find(word))?;
        let at = low.get(..at)?.chars().count();
        let from = at.saturating_sub(FOUND_CHARS_BEFORE);
        let part: String = line.iter().skip(from).take(FOUND_CHARS_MAX).collect();
        let before = if from > 0 { "…" } else { "" };
        let behind = if from + FOUND_CHARS_MAX < line.len() {
            "…"
        } else {
            ""
        };
        Some(text::escaped(&format!("{before}{part}{behind}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_few_and_short_and_of_small_letters() {
        let words = |text: &str| SearchedWords::parse(text).map(|words| words.0);
        assert_eq!(
            words(" Caddy  Größe "),
            Some(vec!["caddy".to_owned(), "größe".to_owned()])
        );
        let most = ["a"; WORDS_MAX].join(" ");
        assert!(words(&most).is_some());
        let longest = "ä".repeat(SearchedWords::CHARS_MAX);
        assert!(words(&longest).is_some());
        for none in [
            "",
            "  ",
            "a\0",
            &format!("{most} a"),
            &format!("{longest}ä"),
        ] {
            assert_eq!(words(none), None, "{none:?}");
        }
    }

    #[test]
    fn the_part_that_was_found_is_short_and_says_that_there_is_more() {
        let words = SearchedWords::parse("größe nothing").unwrap();
        assert!(!words.are_in("Die GRÖßE"));
        let one = SearchedWords::parse("größe").unwrap();
        assert!(one.are_in("Die GRÖßE"));
        assert_eq!(one.part_of("Die\nGröße "), Some("Die Größe".to_owned()));
        let long = format!("{} Größe {}", "a ".repeat(200), "b ".repeat(200));
        let part = one.part_of(&long).unwrap();
        assert!(
            part.starts_with('…') && part.ends_with('…') && part.contains("Größe"),
            "{part}"
        );
        assert!(part.chars().count() <= FOUND_CHARS_MAX + 2);
        assert_eq!(one.part_of("İİİ Größe"), Some("İİİ Größe".to_owned()));
        assert_eq!(one.part_of("caddy"), None);
        assert_eq!(
            one.part_of("größe\u{202e}x"),
            Some("größe\\u{202e}x".to_owned())
        );
    }
}
