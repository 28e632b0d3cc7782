//! Plain text, Markdown, and what a reader of PDFs wrote: line ends of one kind, nothing hidden, no more than
//! one empty line in a row, and no more than the bound.

use crate::encodings;
use crate::inert;
use crate::limits::{TEXT_BYTES_MAX, TITLE_CHARS_MAX};
use crate::reports::{ExtractHints, Extracted, Unreadable};

/// Letters that a line needs to be a title.
const TITLE_LETTERS_MIN: usize = 3;
/// Letters and digits that a document needs to say something: a scan has page numbers at most.
const WORDS_CHARS_MIN: usize = 8;

pub(crate) fn extract(bytes: &[u8], hints: &ExtractHints) -> Result<Extracted, Unreadable> {
    let charset = hints.charset.as_deref();
    let decoded = encodings::decode(bytes, charset, encodings::nothing_declared)?;
    let (text, cut) = tidy(&decoded);
    let title = text.lines().find_map(title);
    Ok(Extracted {
        title,
        text,
        language: None,
        cut,
    })
}

/// Whether there is nothing that a person would call text.
pub(crate) fn says_nothing(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.nth(WORDS_CHARS_MIN - 1).is_none()
}

/// One line of a title: nothing hidden, single spaces, cut at its bound.
pub(crate) fn one_line(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| inert::is_kept(*c) || inert::is_line_end(*c))
        .collect();
    let line = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(TITLE_CHARS_MAX).collect()
}

fn title(line: &str) -> Option<String> {
    let line = line.trim_start_matches(['#', '=', '-', '*', ' ']);
    let letters = line.chars().filter(|c| c.is_alphabetic()).count();
    (letters >= TITLE_LETTERS_MIN).then(|| one_line(line))
}

fn tidy(decoded: &str) -> (String, bool) {
    let mut text = String::with_capacity(decoded.len().min(TEXT_BYTES_MAX));
    let mut empty_lines = 0;
    for line in decoded
        .replace("\r\n", "\n")
        .split(|c| c == '\r' || inert::is_line_end(c))
    {
        let line: String = line.chars().filter(|c| inert::is_kept(*c)).collect();
        let line = line.trim_end();
        empty_lines = if line.is_empty() { empty_lines + 1 } else { 0 };
        if empty_lines > 1 || (text.is_empty() && line.is_empty()) {
            continue;
        }
        for c in line.chars() {
            // An escape is a character more.
            if text.len() + c.len_utf8() + 2 > TEXT_BYTES_MAX {
                text.truncate(text.trim_end().len());
                return (text, true);
            }
            inert::push(&mut text, c);
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    (text, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Extracted {
        extract(text.as_bytes(), &ExtractHints::default()).unwrap()
    }

    #[test]
    fn text_is_tidied_and_has_its_first_words_as_a_title() {
        let read = read("\r\n\n# Backups \u{200b}\n\n\n\nOne\rtwo  \u{c}Three [[Home]]\n\n");
        assert_eq!(read.title.as_deref(), Some("Backups"));
        assert_eq!(read.text, "# Backups\n\nOne\ntwo\nThree [\\[Home]]");
        assert!(!read.cut);
    }

    #[test]
    fn text_ends_at_its_bound_and_that_is_said() {
        let fits = read(&"a".repeat(TEXT_BYTES_MAX - 2));
        assert_eq!((fits.text.len(), fits.cut), (TEXT_BYTES_MAX - 2, false));
        let cut = read(&"ä".repeat(TEXT_BYTES_MAX));
        assert!(cut.text.len() <= TEXT_BYTES_MAX && cut.cut);
        let escaped = read(&"[[".repeat(TEXT_BYTES_MAX));
        assert!(escaped.text.len() <= TEXT_BYTES_MAX && escaped.cut);
    }

    #[test]
    fn page_numbers_alone_say_nothing() {
        assert!(says_nothing("1\n\n2\n\n3"));
        assert!(says_nothing("- - -\n\u{c}"));
        assert!(says_nothing("abcdefg"));
        assert!(!says_nothing("abcdefgh"));
    }

    #[test]
    fn a_title_is_one_bounded_line() {
        assert_eq!(one_line(" a\u{2028}b\n\u{202e}c "), "a b c");
        assert_eq!(one_line(&"x".repeat(999)).len(), TITLE_CHARS_MAX);
    }
}
