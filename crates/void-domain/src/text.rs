//! Text that strangers wrote: what may be stored, and how it is shown.
//!
//! Agent and host text reaches terminals, logs and pages. Control characters, bidirectional
//! overrides and invisible characters can make a reader see something else than what is stored,
//! so they are shown as escapes, never as themselves.

use std::fmt::Write as _;

/// True for characters that change how the text around them is displayed, or show as nothing.
pub fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// What a reader of JSON or TOML said of a value, in words of those formats instead of the reader's language.
pub fn without_rust_words(message: &str) -> String {
    const NUMBERS: [&str; 12] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    ];
    let mut plain = message
        .replace("unknown variant", "unknown word")
        .replace("invalid digit found in string", "not a whole number")
        .replace("expected a sequence", "expected a list")
        .replace("expected a map", "expected an object")
        .replace("expected f64", "expected a number")
        .replace("expected f32", "expected a number");
    for number in NUMBERS {
        let expected = format!("expected {number}");
        if let Some(at) = plain.find(&expected) {
            let end = at + expected.len();
            let rest = plain.get(end..).unwrap_or_default();
            let is_word = !rest.starts_with(|next: char| next.is_ascii_alphanumeric());
            if is_word {
                plain.replace_range(at..end, "expected a whole number");
            }
        }
    }
    match plain.split_once("expected struct ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|next: char| next.is_alphanumeric() || next == '_');
            format!("{before}expected an object{rest}")
        }
        None => plain,
    }
}

/// One line that shows exactly what is stored: everything that would not print as itself is escaped.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_deceptive(character) {
            let _ = write!(out, "{}", character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Like [`escaped`], but line breaks and tabs stay, for output that people read as lines.
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| escaped(&line.trim_end_matches('\r').replace('\t', "    ")))
        .collect();
    lines.join("\n")
}

/// Cut to at most `max` bytes at a character boundary.
pub fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max))
        .unwrap_or_default()
}

/// Comparing takes as long as both words are together long, squared; nobody mistypes a longer name.
const NEAREST_BYTES_MAX: usize = 80;

/// The candidate that a person most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > NEAREST_BYTES_MAX {
        return None;
    }
    let budget = 1 + word.chars().count() / 4;
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= NEAREST_BYTES_MAX)
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= budget)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_deceives_prints_as_itself() {
        let hostile = "ok\u{1b}[2J\u{202e}txt\u{200b}\u{e0041}\r\n\u{7f}\u{9b}";
        let shown = escaped(hostile);
        assert!(
            shown.chars().all(|c| !c.is_control() && !is_deceptive(c)),
            "{shown}"
        );
        assert!(shown.starts_with("ok\\u{1b}[2J\\u{202e}txt"));
        assert_eq!(escaped("Grüße, 東京 🙂"), "Grüße, 東京 🙂");
        assert_eq!(escaped_lines("a\r\nb\tc"), "a\nb    c");
    }

    #[test]
    fn what_a_reader_says_holds_no_word_of_its_language() {
        for (said, plain) in [
            (
                "invalid type: string \"x\", expected u32",
                "invalid type: string \"x\", expected a whole number",
            ),
            (
                "expected u64 at line 2",
                "expected a whole number at line 2",
            ),
            (
                "unknown variant `x`, expected `a` or `b`",
                "unknown word `x`, expected `a` or `b`",
            ),
            (
                "invalid type: integer `1`, expected struct RunRequest at line 1",
                "invalid type: integer `1`, expected an object at line 1",
            ),
            ("expected u32x", "expected u32x"),
            ("Grüße", "Grüße"),
        ] {
            assert_eq!(without_rust_words(said), plain);
        }
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("abc", 9), "abc");
    }

    #[test]
    fn suggests_only_what_is_near() {
        let words = ["cooldown_s", "timeout_s", "tier"];
        assert_eq!(nearest("cooldwon_s", words), Some("cooldown_s"));
        assert_eq!(nearest("teir", words), Some("tier"));
        assert_eq!(nearest("zzz", words), None);
    }
}
