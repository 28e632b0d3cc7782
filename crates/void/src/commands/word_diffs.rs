//! A difference by words in a terminal: `[-gone-]` and `{+new+}`, among words that stay. A text that has such marks itself has
//! them escaped, so that nothing passes for a mark of Void's.

use void_api::cards::DifferenceResponse;
use void_api::revisions::DiffSpanResponse;
use void_domain::text;

/// What stands before and behind what is removed and added.
const REMOVED: [&str; 2] = ["[-", "-]"];
const ADDED: [&str; 2] = ["{+", "+}"];

/// The lines of every part, a line with the number of its first one before each.
pub(super) fn lines(difference: &DifferenceResponse) -> Vec<String> {
    let mut lines = Vec::new();
    for part in &difference.parts {
        lines.push(format!("@@ from line {} @@", part.line));
        let drawn: String = part.spans.iter().map(drawn).collect();
        let drawn = drawn.strip_suffix('\n').unwrap_or(&drawn);
        lines.extend(drawn.split('\n').map(str::to_owned));
    }
    lines
}

fn drawn(span: &DiffSpanResponse) -> String {
    let said = unmarked(&span.text);
    let [before, behind] = match span.kind.as_ref() {
        "removed" => REMOVED,
        "added" => ADDED,
        _ => return said,
    };
    // A mark ends with its line, so that every line says for itself what it is.
    let lines: Vec<String> = (said.split('\n'))
        .map(|line| match line.is_empty() {
            true => String::new(),
            false => format!("{before}{line}{behind}"),
        })
        .collect();
    lines.join("\n")
}

/// What the server escaped already stays so; what would pass for a mark of ours is escaped here.
fn unmarked(said: &str) -> String {
    let mut said = text::escaped_lines(said);
    for mark in REMOVED.into_iter().chain(ADDED) {
        let first: String = mark.chars().take(1).collect();
        let rest = mark.get(1..).unwrap_or_default();
        let escaped: String = first.chars().flat_map(char::escape_unicode).collect();
        said = said.replace(mark, &format!("{escaped}{rest}"));
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(spans: &[(&str, &str)]) -> Vec<String> {
        let spans: Vec<serde_json::Value> = (spans.iter())
            .map(|(kind, text)| json!({"kind": kind, "text": text}))
            .collect();
        let difference = json!({
            "parts": [{"line": 4, "grain": "words", "spans": spans}],
            "words_added": 0, "words_removed": 0, "places": 1, "hidden": [],
        });
        lines(&serde_json::from_value(difference).unwrap())
    }

    #[test]
    fn words_are_marked_line_by_line() {
        let spans = [
            ("same", "Restart "),
            ("removed", "it"),
            ("added", "it\nthen\n\nwait"),
            ("same", ".\n"),
        ];
        let expected = [
            "@@ from line 4 @@",
            "Restart [-it-]{+it+}",
            "{+then+}",
            "",
            "{+wait+}.",
        ];
        assert_eq!(shown(&spans), expected);
    }

    #[test]
    fn no_text_passes_for_a_mark() {
        let spans = [
            ("same", "a {+b+} [-c-]"),
            ("added", "x+} gone {+y\u{1b}[2J"),
        ];
        let text = shown(&spans).join("\n");
        for mark in ["{+", "+}"] {
            assert_eq!(text.matches(mark).count(), 1, "{text}");
        }
        assert!(!text.contains("[-") && !text.contains('\u{1b}'), "{text}");
    }
}
