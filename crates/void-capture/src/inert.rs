//! Words of strangers that do nothing: no character that cannot be seen, and no mark that a reader of Markdown
//! would make a link, an image, a wiki link or HTML of.
//!
//! What is needed for that is a backslash in front of the second character of a mark, so the words stay what
//! they were for whoever reads them. Code is left as it is.

/// Whether a character is kept. Line ends and tabs are; what hides, reorders or smuggles text is not.
pub(crate) fn is_kept(c: char) -> bool {
    !matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, joiners of nothing, fillers, marks of direction.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{fdd0}'..='\u{fdef}' | '\u{13430}'..='\u{1345f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}'
        // Tags and variation selectors beyond those of emoji: bytes can be hidden in them.
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Line and paragraph separators, and the form feed between the pages of a PDF.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Appends one character of prose.
pub(crate) fn push(out: &mut String, c: char) {
    match (out.chars().next_back(), c) {
        // `[[wiki`, `](target`, `][reference`, `]: definition`
        (Some('['), '[') | (Some(']'), '(' | '[' | ':') => out.push('\\'),
        // `<tag`, `</tag`, `<!--`, `<?php`, `<https://…>`
        (Some('<'), '!' | '/' | '?') => escape_last(out),
        (Some('<'), letter) if letter.is_ascii_alphabetic() => escape_last(out),
        _ => {}
    }
    out.push(c);
}

fn escape_last(out: &mut String) {
    if let Some(last) = out.pop() {
        out.push('\\');
        out.push(last);
    }
}

/// Where a link leads, as words: without what could end its brackets or begin a mark.
pub(crate) fn target(url: &str) -> String {
    let mut text = String::with_capacity(url.len());
    for c in url.chars().filter(|c| is_kept(*c) && !c.is_whitespace()) {
        match c {
            '[' => text.push_str("%5B"),
            ']' => text.push_str("%5D"),
            '<' => text.push_str("%3C"),
            '>' => text.push_str("%3E"),
            '`' => text.push_str("%60"),
            '\\' => text.push_str("%5C"),
            _ => text.push(c),
        }
    }
    text
}

/// A line of prose, with a backslash where it would begin a heading, a quote, a list, a rule, a table or code.
pub(crate) fn line_start(line: &str) -> String {
    let escape_at = |at: usize| match line.split_at_checked(at) {
        Some((before, after)) => format!("{before}\\{after}"),
        None => line.to_owned(),
    };
    let after = |mark: char| line.trim_start_matches(mark);
    let ends_a_mark = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    match line.chars().next() {
        Some('#') if ends_a_mark(after('#')) => escape_at(0),
        Some('>' | '|') => escape_at(0),
        Some('-' | '+' | '*' | '=' | '_') => {
            let is_item = line.get(1..).is_some_and(ends_a_mark);
            let is_rule = line.chars().all(|c| "-+*=_ ".contains(c));
            if is_item || is_rule {
                escape_at(0)
            } else {
                line.to_owned()
            }
        }
        Some('`') if line.starts_with("```") => escape_at(0),
        Some('~') if line.starts_with("~~~") => escape_at(0),
        Some('0'..='9') => {
            let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let rest = line.get(digits..).unwrap_or_default();
            let marked = rest.strip_prefix(['.', ')']).is_some_and(ends_a_mark);
            if marked && digits <= 9 {
                escape_at(digits)
            } else {
                line.to_owned()
            }
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(text: &str) -> String {
        let mut out = String::new();
        for c in text.chars().filter(|c| is_kept(*c)) {
            push(&mut out, c);
        }
        out
    }

    #[test]
    fn no_mark_of_markdown_survives_in_prose() {
        for (text, inert) in [
            ("[[Home]]", r"[\[Home]]"),
            ("[a](https://x)", r"[a]\(https://x)"),
            ("![a](https://x)", r"![a]\(https://x)"),
            ("[a][b]", r"[a]\[b]"),
            ("[b]: https://x", r"[b]\: https://x"),
            ("<script>x</script>", r"\<script>x\</script>"),
            ("<https://x>", r"\<https://x>"),
            ("<!-- -->", r"\<!-- -->"),
            ("as [1] says, a < b", "as [1] says, a < b"),
            ("[\u{200b}[Home]]", r"[\[Home]]"),
            ("]\u{202e}(x)", r"]\(x)"),
            ("<\u{feff}b>", r"\<b>"),
        ] {
            assert_eq!(prose(text), inert, "{text}");
        }
    }

    #[test]
    fn a_line_of_prose_begins_nothing() {
        for (line, inert) in [
            ("# a", r"\# a"),
            ("#tag", "#tag"),
            ("> a", r"\> a"),
            ("- a", r"\- a"),
            ("-a", "-a"),
            ("---", r"\---"),
            ("===", r"\==="),
            ("* * *", r"\* * *"),
            ("*emphasis*", "*emphasis*"),
            ("1. a", r"1\. a"),
            ("1.5 a", "1.5 a"),
            ("1984) a", r"1984\) a"),
            ("| a |", r"\| a |"),
            ("```sh", r"\```sh"),
            ("~~~", r"\~~~"),
            ("", ""),
            ("ä", "ä"),
        ] {
            assert_eq!(line_start(line), inert, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_not_kept_and_what_joins_letters_is() {
        let hidden = "a\u{0}\u{1b}\u{ad}\u{200b}\u{200f}\u{202e}\u{2066}\u{feff}\u{e0041}\u{e0100}\u{1bca0}\u{16fe4}b";
        assert_eq!(prose(hidden), "ab");
        let joined = "\u{6a9}\u{200c}\u{6cc} \u{1f468}\u{200d}\u{1f467} \u{2764}\u{fe0f}";
        assert_eq!(prose(joined), joined);
    }

    #[test]
    fn a_target_cannot_leave_its_brackets() {
        let url = "https://x/[[a]]?b=`<c>\\ \u{202e}d";
        assert_eq!(target(url), "https://x/%5B%5Ba%5D%5D?b=%60%3Cc%3E%5Cd");
    }
}
