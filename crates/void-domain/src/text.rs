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
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
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

/// The candidate that a person most likely meant, if one is near enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let budget = 1 + word.chars().count() / 4;
    candidates
        .into_iter()
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
