//! The values of fields: words, quoted words, lists behind the key or on lines of their own.

use std::iter::Peekable;
use std::str::Chars;

use super::blocks::{RawField, is_empty_or_comment, is_item};
use super::{FaultKind, Field, FieldValue};
use crate::limits::FRONT_MATTER_ITEMS_MAX;

/// The value of a field; nothing where nothing is written, or `null`.
pub(super) fn read(field: Field, raw: &RawField<'_>) -> Result<Option<FieldValue>, FaultKind> {
    if !field.is_list() {
        return Ok(words(raw)?.map(FieldValue::Words));
    }
    let items = if raw.rest.starts_with('[') {
        flow_list(&flow_text(raw))?
    } else if has_items(raw) {
        block_list(raw)?
    } else {
        let separates = |c: char| c == ',' || field == Field::Tags && c.is_whitespace();
        let words = words(raw)?.unwrap_or_default();
        words.split(separates).map(str::to_owned).collect()
    };
    let mut kept: Vec<String> = Vec::new();
    for item in &items {
        let item = item.trim();
        let item = match field {
            Field::Tags => item.trim_start_matches('#'),
            _ => item,
        };
        if !item.is_empty() && !kept.iter().any(|other| other == item) {
            if kept.len() == FRONT_MATTER_ITEMS_MAX {
                return Err(FaultKind::TooManyItems);
            }
            kept.push(item.to_owned());
        }
    }
    Ok((!kept.is_empty()).then_some(FieldValue::List(kept)))
}

/// The lines below the key that say something.
fn lines<'a>(raw: &RawField<'a>) -> impl Iterator<Item = &'a str> {
    let said = raw.more.iter().copied();
    said.filter(|line| !is_empty_or_comment(line))
}

/// Whether the value is a list on lines of its own.
fn has_items(raw: &RawField<'_>) -> bool {
    raw.rest.is_empty() && lines(raw).next().is_some_and(is_item)
}

/// Whether nothing but a comment follows a value, which needs a blank before it.
fn is_over(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t']) && is_empty_or_comment(rest)
}

/// The text up to a comment, which begins with a blank and `#`.
fn without_comment(text: &str) -> &str {
    let starts = [" #", "\t#"]
        .into_iter()
        .filter_map(|start| text.find(start));
    let end = starts.min().unwrap_or(text.len());
    text.get(..end).unwrap_or("").trim()
}

fn words(raw: &RawField<'_>) -> Result<Option<String>, FaultKind> {
    if raw.rest.starts_with(['|', '>']) {
        return block_words(raw);
    }
    if has_items(raw) {
        return Err(FaultKind::Unsupported);
    }
    // Words may go on on lines that are farther to the right; nothing does behind a comment or a quote.
    let mut said: Vec<&str> = Vec::new();
    let mut has_ended = false;
    let below = raw
        .more
        .iter()
        .copied()
        .map(|line| (line, line.starts_with(' ')));
    for (line, is_inside) in [(raw.rest, true)].into_iter().chain(below) {
        let text = line.trim();
        if is_empty_or_comment(text) {
            has_ended |= !text.is_empty() && !said.is_empty();
            continue;
        }
        if has_ended || !is_inside {
            return Err(FaultKind::Unsupported);
        }
        if said.is_empty() && text.starts_with(['"', '\'']) {
            has_ended = true;
            said.push(text);
        } else {
            let plain = without_comment(text);
            has_ended = plain.len() < text.len();
            said.push(plain);
        }
    }
    scalar(&said.join(" "))
}

/// Words below `|` or `>`; the ends of their lines are blanks.
fn block_words(raw: &RawField<'_>) -> Result<Option<String>, FaultKind> {
    let marks = without_comment(raw.rest).get(1..).unwrap_or("");
    let is_head = marks.chars().all(|c| matches!(c, '+' | '-' | '1'..='9'));
    if !is_head || marks.len() > 2 {
        return Err(FaultKind::Unsupported);
    }
    let indent_of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut said: Vec<&str> = Vec::new();
    let mut indent = None;
    for line in raw.more.iter().filter(|line| !line.trim().is_empty()) {
        let of_line = indent_of(line);
        if of_line > 0 && of_line >= *indent.get_or_insert(of_line) {
            said.push(line.trim());
        } else if is_empty_or_comment(line) {
            break;
        } else {
            return Err(FaultKind::Unsupported);
        }
    }
    Ok((!said.is_empty()).then(|| said.join(" ")))
}

/// One value that is no list.
fn scalar(text: &str) -> Result<Option<String>, FaultKind> {
    if text.starts_with(['"', '\'']) {
        let (words, rest) = quoted(text)?;
        return if is_over(rest) {
            Ok(Some(words))
        } else {
            Err(FaultKind::Quote)
        };
    }
    let text = without_comment(text);
    let is_special = text.starts_with([
        '[', ']', '{', '}', ',', '&', '*', '!', '|', '>', '%', '@', '`', '#',
    ]);
    if is_special || is_item(text) || text == "?" || text.starts_with("? ") {
        return Err(FaultKind::Unsupported);
    }
    if text.contains(": ") || text.contains(":\t") || text.ends_with(':') {
        return Err(FaultKind::ColonInside);
    }
    let is_nothing = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    Ok((!is_nothing).then(|| text.to_owned()))
}

fn block_list(raw: &RawField<'_>) -> Result<Vec<String>, FaultKind> {
    let mut items = Vec::new();
    let mut indent = None;
    for line in lines(raw) {
        let words = line.trim_start();
        let of_line = line.len() - words.len();
        // What is farther to the right goes on with the item before.
        if !is_item(line) || *indent.get_or_insert(of_line) != of_line {
            return Err(FaultKind::Unsupported);
        }
        let item = words.strip_prefix('-').unwrap_or("").trim();
        // `- #x` is a comment to YAML, and a tag to whoever wrote it: nothing, as YAML has it.
        if !item.starts_with('#') {
            items.extend(scalar(item)?);
        }
    }
    Ok(items)
}

/// Everything from the bracket on as one line.
fn flow_text(raw: &RawField<'_>) -> String {
    let mut all = without_flow_comment(raw.rest).to_owned();
    for line in lines(raw) {
        all.push(' ');
        all.push_str(without_flow_comment(line).trim());
    }
    all
}

/// The text up to a comment that no quote hides.
fn without_flow_comment(text: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let opens = before.is_whitespace() || matches!(before, '[' | ',');
        match (quote, character) {
            (None, '#') if before.is_whitespace() => {
                return text.get(..at).unwrap_or("").trim_end();
            }
            (None, '"' | '\'') if opens => quote = Some(character),
            (Some('"'), '"') if before == '\\' => {}
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        before = character;
    }
    text
}

/// `[a, "b", c]`, and nothing behind it.
fn flow_list(text: &str) -> Result<Vec<String>, FaultKind> {
    let mut items = Vec::new();
    let mut rest = text.strip_prefix('[').unwrap_or(text).trim_start();
    loop {
        if let Some(after) = rest.strip_prefix(']') {
            return if is_over(after) {
                Ok(items)
            } else {
                Err(FaultKind::Unsupported)
            };
        }
        if rest.starts_with(['"', '\'']) {
            let (item, after) = quoted(rest)?;
            items.push(item);
            rest = after.trim_start();
        } else {
            let end = rest.find([',', ']', '[', '{', '}']);
            let end = end.ok_or(FaultKind::Unsupported)?;
            let (item, after) = rest.split_at_checked(end).ok_or(FaultKind::Unsupported)?;
            items.extend(scalar(item.trim())?);
            rest = after;
        }
        rest = match rest.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if rest.starts_with(']') => rest,
            None => return Err(FaultKind::Unsupported),
        };
    }
}

/// The words between quotes at the beginning of the text, and what stands behind them.
pub(super) fn quoted(text: &str) -> Result<(String, &str), FaultKind> {
    let mut characters = text.chars();
    let quote = characters.next();
    let mut words = String::new();
    let mut rest = characters.clone().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\'' if quote == Some('\'') && rest.peek() == Some(&'\'') => {
                rest.next();
                words.push('\'');
            }
            close if quote == Some(close) => {
                let after: usize = rest.map(char::len_utf8).sum();
                let at = text.len() - after;
                return Ok((words, text.get(at..).unwrap_or("")));
            }
            '\\' if quote == Some('"') => words.push(escape(&mut rest)?),
            other => words.push(other),
        }
    }
    Err(FaultKind::Quote)
}

fn escape(rest: &mut Peekable<Chars<'_>>) -> Result<char, FaultKind> {
    let digits = match rest.next() {
        Some('n') => return Ok('\n'),
        Some('t' | '\t') => return Ok('\t'),
        Some('r') => return Ok('\r'),
        Some('e') => return Ok('\u{1b}'),
        Some('N') => return Ok('\u{85}'),
        Some('_') => return Ok('\u{a0}'),
        Some('L') => return Ok('\u{2028}'),
        Some('P') => return Ok('\u{2029}'),
        Some(itself @ ('"' | '\\' | '/' | ' ')) => return Ok(itself),
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        _ => return Err(FaultKind::Escape),
    };
    let mut code = 0_u32;
    for _ in 0..digits {
        let digit = rest.next().and_then(|digit| digit.to_digit(16));
        code = (code << 4) | digit.ok_or(FaultKind::Escape)?;
    }
    match char::from_u32(code) {
        // No text of Void holds a NUL, and no database takes one.
        Some('\0') | None => Err(FaultKind::Escape),
        Some(character) => Ok(character),
    }
}
