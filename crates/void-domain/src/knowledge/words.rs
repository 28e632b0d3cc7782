//! Words of a text as search knows them: folded to one spelling, the same on every engine, because no engine folds. An
//! accent or the size of a letter does not tell two words apart; `ß` is `ss`.
//!
//! Where people write without blanks (Chinese, Japanese) each character is a word, and what is searched for is a phrase.

use std::ops::{ControlFlow, Range};

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::limits::SEARCH_WORD_CHARS_MAX;
use crate::text::is_deceptive;

/// Calls `visit` with each word, folded, and with where it stands, until it says that it has enough.
pub fn each_word(text: &str, mut visit: impl FnMut(&str, Range<usize>) -> ControlFlow<()>) {
    let mut word = FoldedWord::default();
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        let flow = match class(character, word.begin.is_some()) {
            CharClass::Inside => {
                word.push(character, at, end);
                ControlFlow::Continue(())
            }
            CharClass::Alone => match word.end(&mut visit) {
                ControlFlow::Continue(()) => {
                    word.push(character, at, end);
                    word.end(&mut visit)
                }
                enough @ ControlFlow::Break(()) => enough,
            },
            CharClass::Unseen => ControlFlow::Continue(()),
            CharClass::Between => word.end(&mut visit),
        };
        if flow.is_break() {
            return;
        }
    }
    let _ended = word.end(&mut visit);
}

/// All words of a short text.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word, _| {
        words.push(word.to_owned());
        ControlFlow::Continue(())
    });
    words
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Part of a word.
    Inside,
    /// A word by itself.
    Alone,
    /// Shown as nothing: it neither belongs to a word nor ends one.
    Unseen,
    Between,
}

fn class(character: char, is_in_word: bool) -> CharClass {
    if character.is_ascii() {
        return match character.is_ascii_alphanumeric() {
            true => CharClass::Inside,
            false => CharClass::Between,
        };
    }
    if is_deceptive(character) {
        return match character {
            // Blanks without a width, and ends of lines and paragraphs.
            '\u{200b}' | '\u{2028}' | '\u{2029}' => CharClass::Between,
            _ => CharClass::Unseen,
        };
    }
    if is_written_without_blanks(character) {
        return CharClass::Alone;
    }
    let is_mark = is_in_word && is_combining_mark(character);
    match is_mark || character.is_alphanumeric() {
        true => CharClass::Inside,
        false => CharClass::Between,
    }
}

const fn is_written_without_blanks(character: char) -> bool {
    matches!(
        character,
        '\u{3041}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    ) && !matches!(character, '\u{3099}'..='\u{309c}' | '\u{30a0}' | '\u{30fb}')
}

#[derive(Debug, Default)]
struct FoldedWord {
    text: String,
    chars: usize,
    begin: Option<usize>,
    end: usize,
}

impl FoldedWord {
    fn push(&mut self, character: char, at: usize, end: usize) {
        self.begin.get_or_insert(at);
        self.end = end;
        if character.is_ascii() {
            self.keep(character.to_ascii_lowercase());
            return;
        }
        for part in character.to_lowercase().nfkd().flat_map(char::to_lowercase) {
            if canonical_combining_class(part) != 0 {
                continue;
            }
            match spelled_out(part) {
                Some(letters) => letters.chars().for_each(|letter| self.keep(letter)),
                None if part.is_alphanumeric() || is_combining_mark(part) => self.keep(part),
                None => {}
            }
        }
    }

    fn keep(&mut self, character: char) {
        if self.chars < SEARCH_WORD_CHARS_MAX {
            self.chars += 1;
            self.text.push(character);
        }
    }

    fn end(
        &mut self,
        visit: &mut impl FnMut(&str, Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(begin) = self.begin.take() else {
            return ControlFlow::Continue(());
        };
        let flow = match self.text.is_empty() {
            true => ControlFlow::Continue(()),
            false => visit(&self.text, begin..self.end),
        };
        self.text.clear();
        self.chars = 0;
        flow
    }
}

/// Letters that people write otherwise where they do not have them, and that do not come apart by themselves.
const fn spelled_out(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'þ' => "th",
        'ı' => "i",
        'ħ' => "h",
        'ς' => "σ",
        _ => return None,
    })
}

/// The stored number of a word: FNV-1a, which never changes. Never 0.
pub fn word_number(word: &str) -> u32 {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    let folded = u32::from_be_bytes([a, b, c, d]) ^ u32::from_be_bytes([e, f, g, h]);
    folded.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_and_sizes_do_not_tell_words_apart() {
        for (text, expected) in [
            ("Café CAFE\u{301} cafe", "cafe cafe cafe"),
            ("Größe STRASSE Straße", "grosse strasse strasse"),
            (
                "naïve Œuvre Ærø Łódź İstanbul",
                "naive oeuvre aero lodz istanbul",
            ),
            ("ﬁle Ｆｕｌｌ", "file full"),
            ("don't a-b 192.168.1.1", "don t a b 192 168 1 1"),
            ("back\u{ad}up zero\u{200d}width", "backup zerowidth"),
            ("日本語 text", "日 本 語 text"),
            ("Ёлка ёлка ЕЛКА", "елка елка елка"),
            ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"),
            ("हिन्दी", "हिनदी"),
            ("... --- \u{301}", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_where_it_says_and_as_long_as_one_may_be() {
        let text = "Über den Zaun";
        let mut found = Vec::new();
        each_word(text, |word, range| {
            found.push((word.to_owned(), text[range].to_owned()));
            match found.len() {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        let expected = [("uber", "Über"), ("den", "den")];
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));

        let long = "x".repeat(SEARCH_WORD_CHARS_MAX + 1);
        assert_eq!(words(&long), [&long[1..]]);
    }

    #[test]
    fn a_word_keeps_its_number() {
        assert_eq!(word_number(""), 0xcbf2_9ce4 ^ 0x8422_2325);
        assert_eq!(word_number("backup"), word_number("backup"));
        assert_ne!(word_number("backup"), word_number("backups"));
    }
}
