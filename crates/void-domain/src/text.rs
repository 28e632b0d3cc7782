//! Text that strangers wrote: what may be stored, and how it is shown.
//!
//! Agent and host text reaches terminals, logs and pages. Control characters, bidirectional
//! overrides and invisible characters can make a reader see something else than what is stored,
//! so they are shown as escapes, never as themselves.

use std::fmt::Write as _;

use unicode_security::confusable_detection::skeleton;

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
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffc}'
            | '\u{13430}'..='\u{1345f}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    ) || is_last_of_a_plane(character)
}

/// The two of each plane that are no characters, and are drawn as nothing in many places.
fn is_last_of_a_plane(character: char) -> bool {
    u32::from(character) & 0xfffe == 0xfffe
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

/// Like [`escaped`], for two texts that a reader compares: blanks that are not the common one, and letters of another
/// script in a word that has Latin ones, are escaped too.
pub fn told_apart(text: &str) -> String {
    let is_foreign = |letter: char| letter.is_alphabetic() && !is_latin(letter);
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let is_mixed = word.contains(is_latin) && word.contains(is_foreign);
        for letter in word.chars() {
            let is_odd_blank = letter.is_whitespace() && letter != ' ';
            if is_odd_blank || (is_mixed && is_foreign(letter)) {
                out.extend(letter.escape_unicode());
            } else {
                out.push_str(&escaped(letter.encode_utf8(&mut [0; 4])));
            }
        }
    }
    out
}

/// What a reader sees of a text, by what Unicode knows of letters that are taken for each other (UTS 39): two texts that
/// look the same have the same.
pub fn looks(text: &str) -> String {
    skeleton(text).collect()
}

/// Whether two texts differ, and a reader would not see that they do.
pub fn look_alike(one: &str, other: &str) -> bool {
    one != other && looks(one) == looks(other)
}

/// One line in which every character that is not of ASCII is escaped, for a text that looks like the one beside it: a
/// word may be wholly of another script, where [`told_apart`] takes it for a word of another language.
pub fn spelled_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_ascii() && !letter.is_ascii_control() {
            true => out.push(letter),
            false => out.extend(letter.escape_unicode()),
        }
    }
    out
}

/// Blanks in a row that are shown as themselves in somebody's words; more of them would draw columns.
const BLANKS_OF_WORDS_MAX: usize = 2;

/// Whether a value could be shown without quotes: nothing in it looks like an end of it, and no blank of it is missed.
pub fn is_told_plainly(value: &str) -> bool {
    let is_trimmed = value.trim() == value;
    is_trimmed && !value.contains("  ") && !value.contains(" · ") && told_apart(value) == value
}

/// A value as one element, in quotes that nothing in it closes: blanks at its ends and in a row are seen, and no two
/// values look the same.
pub fn value_in_quotes(value: &str) -> String {
    in_quotes(value, told_apart)
}

/// The same for a value that looks like the one beside it.
pub fn spelled_out_in_quotes(value: &str) -> String {
    in_quotes(value, spelled_out)
}

fn in_quotes(value: &str, shown: fn(&str) -> String) -> String {
    let begun = value.trim_start_matches(' ');
    let inner = begun.trim_end_matches(' ');
    let blanks = |count: usize| "\\u{20}".repeat(count);
    let before = blanks(value.len() - begun.len());
    let after = blanks(begun.len() - inner.len());
    format!("\"{before}{}{after}\"", shown(&unclosed(inner, 1)))
}

/// Somebody's words in quotes that nothing in them closes.
pub fn words_in_quotes(words: &str) -> String {
    format!("\"{}\"", escaped(&unclosed(words, BLANKS_OF_WORDS_MAX)))
}

fn unclosed(text: &str, blanks_max: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0;
    for letter in text.chars() {
        blanks = if letter.is_whitespace() {
            blanks + 1
        } else {
            0
        };
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if blanks > blanks_max => out.extend(letter.escape_unicode()),
            _ => out.push(letter),
        }
    }
    out
}

/// A letter of the Latin blocks, up to Latin Extended-B.
fn is_latin(letter: char) -> bool {
    letter.is_alphabetic() && letter <= '\u{24f}'
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
        // Shorthand and hieroglyph formats, fillers, and what Unicode keeps free for nobody.
        let hidden =
            "\u{1bca0}\u{13430}\u{16fe4}\u{1d159}\u{fdd0}\u{fffc}\u{ffff}\u{1fffe}\u{10ffff}";
        for one in hidden.chars() {
            assert!(is_deceptive(one), "{}", one.escape_unicode());
        }
        assert_eq!(escaped("Grüße, 東京 🙂"), "Grüße, 東京 🙂");
        assert_eq!(escaped_lines("a\r\nb\tc"), "a\nb    c");
    }

    #[test]
    fn what_only_looks_the_same_is_told_apart() {
        for (text, shown) in [
            ("Restart Caddy", "Restart Caddy"),
            ("Grüße aus 東京, Łódź", "Grüße aus 東京, Łódź"),
            ("Перезапуск Caddy", "Перезапуск Caddy"),
            ("C\u{430}ddy", "C\\u{430}ddy"),
            ("Restart\u{a0}Caddy", "Restart\\u{a0}Caddy"),
            ("Restart\u{2009}Caddy\r", "Restart\\u{2009}Caddy\\u{d}"),
            ("\u{202e}yddaC", "\\u{202e}yddaC"),
        ] {
            assert_eq!(told_apart(text), shown, "{text:?}");
        }
    }

    /// Letter for letter in another script; what differs for the eye is left as it is.
    #[test]
    fn texts_that_look_alike_are_known_and_spelled_out() {
        for (one, other) in [
            ("ace", "\u{430}\u{441}\u{435}"),
            ("ace", "\u{430}ce"),
            ("scope", "\u{455}\u{441}\u{43e}\u{440}\u{435}"),
            ("Restart Caddy", "Restart\u{a0}Caddy"),
            ("OK", "\u{39f}\u{39a}"),
            ("ok", "o\u{200b}k"),
            ("caddy1", "caddyl"),
        ] {
            assert!(look_alike(one, other) && look_alike(other, one), "{other}");
        }
        for (one, other) in [
            ("ace", "ace"),
            ("ace", "act"),
            ("Grüße", "Grusse"),
            ("Restart", "Перезапуск"),
            ("Restart Caddy", "restart caddy"),
        ] {
            assert!(!look_alike(one, other), "{other}");
        }
        assert_eq!(spelled_out("a \u{441}\u{fc}\n"), "a \\u{441}\\u{fc}\\u{a}");
        let quoted = spelled_out_in_quotes(" \u{430}\"");
        assert_eq!(quoted, "\"\\u{20}\\u{430}\\\"\"");
    }

    #[test]
    fn nothing_in_quotes_closes_them_and_no_blank_is_missed() {
        for (value, shown) in [
            ("a b", r#""a b""#),
            (" a  b ", r#""\u{20}a \u{20}b\u{20}""#),
            ("a   b", r#""a \u{20}\u{20}b""#),
            ("a\u{a0}\u{a0}b", r#""a\u{a0}\u{a0}b""#),
            ("a\" risk: \"b", r#""a\" risk: \"b""#),
            (r"a\u{20}b", r#""a\\u{20}b""#),
            ("\u{202e}C\u{430}", r#""\u{202e}C\u{430}""#),
            ("", r#""""#),
        ] {
            assert_eq!(value_in_quotes(value), shown, "{value:?}");
        }
        for (words, shown) in [
            ("Done.  Next", r#""Done.  Next""#),
            ("a\"     id", r#""a\"  \u{20}\u{20}\u{20}id""#),
            ("a\nb\\", r#""a\u{a}b\\""#),
            ("Caddyを再起動", "\"Caddyを再起動\""),
        ] {
            assert_eq!(words_in_quotes(words), shown, "{words:?}");
        }
        for plain in ["", "^[a-z0-9./:-]+$", "Restart Caddy", r"^\d+$"] {
            assert!(is_told_plainly(plain), "{plain}");
        }
        for odd in [
            " a",
            "a ",
            "a  b",
            "a\u{a0}b",
            "a · risk nominal",
            "a\nb",
            "C\u{430}",
        ] {
            assert!(!is_told_plainly(odd), "{odd:?}");
        }
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
