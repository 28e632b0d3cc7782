//! The lines of a diff in a terminal: what ends a line and shows as nothing is made visible, and lines that look like
//! others are spelled out, so that two lines that differ do not look the same.

use std::collections::{BTreeMap, BTreeSet};

use void_domain::text;

/// What shows as nothing, and what stands for it.
const MARKS: [(char, char); 3] = [(' ', '·'), ('\t', '→'), ('\r', '␍')];
/// As wide as a tab is shown; its mark is the first of them.
const TAB: &str = "→   ";
const LEGEND: &str = "· is a blank at the end of a line, → a tab, ␍ a carriage return; a line that has one of them itself has it as \\u{…}";

/// The lines as they are shown, and what the marks in them stand for if there are any.
pub(super) fn lines(diff: &str) -> (Vec<String>, Option<&'static str>) {
    let mut shown: Vec<String> = Vec::new();
    let mut is_marked = false;
    let lines = || diff.strip_suffix('\n').unwrap_or(diff).split('\n');
    let mut by_looks = BTreeMap::<String, BTreeSet<&str>>::new();
    for line in lines().filter(|line| line.starts_with(['+', '-'])) {
        let rest = line.get(1..).unwrap_or_default();
        by_looks.entry(text::looks(rest)).or_default().insert(rest);
    }
    let alike = by_looks.into_values().filter(|rests| rests.len() > 1);
    let alike: BTreeSet<&str> = alike.flatten().collect();
    for line in lines() {
        let is_alike = line.get(1..).is_some_and(|rest| alike.contains(rest));
        let (body, end) = parts(line, is_alike);
        is_marked |= !end.is_empty() || body.contains('→');
        shown.push(format!("{body}{end}"));
    }
    (shown, is_marked.then_some(LEGEND))
}

/// A line without what ends it invisibly, and that as marks. The sign in front is no part of either.
fn parts(line: &str, is_alike: bool) -> (String, String) {
    let sign = line.chars().next().map_or(0, char::len_utf8);
    let (sign, rest) = line.split_at_checked(sign).unwrap_or(("", line));
    let is_unseen = |letter: char| MARKS.iter().any(|(unseen, _)| *unseen == letter);
    let kept = rest.trim_end_matches(is_unseen);
    let ends = rest.strip_prefix(kept).unwrap_or_default().chars();
    let marks = ends.filter_map(|end| MARKS.iter().find(|(unseen, _)| *unseen == end));
    // A mark that the file itself has is not taken for one of ours.
    let mut body = text::escaped(sign);
    for letter in kept.chars() {
        match letter {
            '\t' => body.push_str(TAB),
            mark if MARKS.iter().any(|(_, known)| *known == mark) => {
                body.extend(mark.escape_unicode());
            }
            other => {
                let shown = if is_alike {
                    text::spelled_out
                } else {
                    text::escaped
                };
                body.push_str(&shown(other.encode_utf8(&mut [0; 4])));
            }
        }
    }
    (body, marks.map(|(_, mark)| mark).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_line_unseen_is_seen() {
        for (line, body, end) in [
            ("+caddy", "+caddy", ""),
            ("+caddy  ", "+caddy", "··"),
            ("-caddy\t ", "-caddy", "→·"),
            ("+caddy\r", "+caddy", "␍"),
            // Blanks within and the sign of a line that was not changed are what they are.
            ("   \"id\": 1", "   \"id\": 1", ""),
            (" ", " ", ""),
            ("+", "+", ""),
            ("", "", ""),
            ("+   ", "+", "···"),
            ("+\tcaddy", "+→   caddy", ""),
            // Nobody's own dot passes for a blank, and nothing hides behind another name.
            ("+caddy·", "+caddy\\u{b7}", ""),
            ("+a→b", "+a\\u{2192}b", ""),
            ("+a\u{202e}b", "+a\\u{202e}b", ""),
        ] {
            assert_eq!(
                parts(line, false),
                (body.to_owned(), end.to_owned()),
                "{line:?}"
            );
        }
    }

    #[test]
    fn lines_that_look_the_same_are_spelled_out() {
        let diff = "-\"ace\"\n+\"\u{430}\u{441}\u{435}\"\n-Grüße\n+Grüße aus Łódź\n Grüße\n";
        let (shown, _) = lines(diff);
        let expected = [
            "-\"ace\"",
            "+\"\\u{430}\\u{441}\\u{435}\"",
            "-Grüße",
            "+Grüße aus Łódź",
            " Grüße",
        ];
        assert_eq!(shown, expected);
    }
}
