//! A text as the words that BERT's uncased vocabulary is made of: control characters gone, accents stripped,
//! lower case, apart at white space and around punctuation and ideographs.
//!
//! Punctuation is what Unicode calls so and the symbols of ASCII; other symbols belong to their word.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The words in their order, each made when it is asked for.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let marks = text.chars().filter(|c| !is_dropped(*c)).nfd();
    let plain = marks.filter(|c| c.general_category() != GeneralCategory::NonspacingMark);
    let mut letters = plain.flat_map(char::to_lowercase).peekable();
    std::iter::from_fn(move || {
        while letters.next_if(|c| c.is_whitespace()).is_some() {}
        let first = letters.next()?;
        let mut word = String::from(first);
        if !stands_alone(first) {
            let belongs = |c: &char| !c.is_whitespace() && !stands_alone(*c);
            while let Some(letter) = letters.next_if(belongs) {
                // Longer ones are one unknown word each; the rest of it need not be kept.
                if word.len() <= WORD_BYTES_KEPT {
                    word.push(letter);
                }
            }
        }
        Some(word)
    })
}

/// More characters than a known word has, in four bytes each.
const WORD_BYTES_KEPT: usize = 4 * super::tokenizer::WORD_CHARS_MAX;

fn is_dropped(c: char) -> bool {
    let is_other = || c.general_category_group() == GeneralCategoryGroup::Other;
    match c {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        c => is_other() && c.general_category() != GeneralCategory::Unassigned,
    }
}

fn stands_alone(c: char) -> bool {
    c.is_ascii_punctuation()
        || c.general_category_group() == GeneralCategoryGroup::Punctuation
        || is_ideograph(c)
}

/// The blocks that BERT's authors chose: Han characters, which are written without spaces.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}'
        | '\u{2b740}'..='\u{2b81f}'
        | '\u{2b820}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}'
        | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn words_are_plain_and_apart() {
        assert_eq!(split("Hello,  World!"), ["hello", ",", "world", "!"]);
        assert_eq!(
            split("naïve Ünïcödé ÅNGSTRÖM"),
            ["naive", "unicode", "angstrom"]
        );
        assert_eq!(split("a\u{0}b\u{fffd}c\u{200b}d\u{7}e"), ["abcde"]);
        assert_eq!(
            split("tab\tline\nend\u{a0}wide\u{3000}x"),
            ["tab", "line", "end", "wide", "x"]
        );
        assert_eq!(split("我们go东"), ["我", "们", "go", "东"]);
        assert_eq!(split("İI"), ["ii"]);
        assert!(split("").is_empty() && split(" \u{200b} \0").is_empty());
    }

    /// Splitting on every symbol changes a token of this against the reference.
    #[test]
    fn only_punctuation_and_ascii_symbols_divide() {
        assert_eq!(split("№5"), ["№5"]);
        assert_eq!(split("5€ a§b 2×3"), ["5€", "a", "§", "b", "2×3"]);
        assert_eq!(
            split("a+b=c$d^e`f|g~h<i>"),
            [
                "a", "+", "b", "=", "c", "$", "d", "^", "e", "`", "f", "|", "g", "~", "h", "<",
                "i", ">"
            ]
        );
        assert_eq!(split("“x”—y…¿z"), ["“", "x", "”", "—", "y", "…", "¿", "z"]);
    }

    #[test]
    fn an_endless_word_is_not_kept_whole() {
        let words = split(&"ab".repeat(1_000_000));
        assert_eq!(words.len(), 1);
        assert!(words[0].len() < 1_000);
    }
}
