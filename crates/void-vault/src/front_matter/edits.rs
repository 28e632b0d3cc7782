//! One field of front matter written anew, and every other byte left as it is.

use std::fmt::Write as _;

use super::blocks;
use super::{Field, FieldValue, FrontMatter};

/// The front matter with this value for the field, or without the field. `raw` is what `FrontMatter::split`
/// found, or nothing; text that is no front matter is left behind a new one.
pub fn with_field(raw: &str, field: Field, value: Option<&FieldValue>) -> String {
    let feed = match raw.split_inclusive('\n').next() {
        Some(first) if first.ends_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let lines = value.map(|value| field_lines(field, value, feed));
    let lines = lines.unwrap_or_default();
    let Ok(Some(block)) = blocks::read(raw) else {
        return match lines.is_empty() {
            true => raw.to_owned(),
            false => format!("---\n{lines}---\n{raw}"),
        };
    };
    let (_, fields) = FrontMatter::split(raw);
    let span = match fields.entry(field) {
        Some(entry) => entry.span.clone(),
        None => block.closing..block.closing,
    };
    let before = raw.get(..span.start).unwrap_or("");
    let after = raw.get(span.end..).unwrap_or("");
    format!("{before}{lines}{after}")
}

fn field_lines(field: Field, value: &FieldValue, feed: &str) -> String {
    let key = field.key();
    match value {
        FieldValue::Words(words) => format!("{key}: {}{feed}", scalar(words)),
        FieldValue::List(items) => {
            let mut lines = format!("{key}:{feed}");
            for item in items {
                // Writing to a String cannot fail.
                let _ = write!(lines, "  - {}{feed}", scalar(item));
            }
            lines
        }
    }
}

/// The words as YAML reads them back: bare where nobody could take them for something else.
fn scalar(words: &str) -> String {
    let is_bare = words.starts_with(char::is_alphabetic)
        && words.ends_with(char::is_alphanumeric)
        && words
            .chars()
            .all(|c| c.is_alphanumeric() || " -_./".contains(c))
        && words.chars().all(crate::paths::is_visible)
        && !is_reserved(words);
    let is_day = words.parse::<crate::days::Day>().is_ok();
    // Nothing in an address is special to YAML, its colon is followed by no blank.
    let is_url = ["http://", "https://"]
        .iter()
        .any(|scheme| words.starts_with(scheme))
        && words
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b"\"'#`{}[]|\\".contains(&b))
        && !words.ends_with(':');
    if is_bare || is_day || is_url {
        return words.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in words.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            visible if crate::paths::is_visible(visible) => quoted.push(visible),
            other => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\U{:08x}", u32::from(other));
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Words that some version of YAML reads as true, false, nothing or a number.
fn is_reserved(words: &str) -> bool {
    let reserved = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf",
    ];
    reserved.iter().any(|word| words.eq_ignore_ascii_case(word))
}
