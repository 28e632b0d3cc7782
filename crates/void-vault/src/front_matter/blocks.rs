//! The lines of front matter: where it ends, and which lines belong to which key.
//!
//! A line that fits nowhere makes the whole block unreadable, as it does for every reader of YAML.

use std::collections::BTreeSet;
use std::ops::Range;

use super::values::quoted;
use super::{FaultKind, Field, FrontMatterFault};
use crate::limits::FRONT_MATTER_BYTES_MAX;

/// Front matter that can be read.
pub(super) struct Block<'a> {
    pub(super) fields: Vec<RawField<'a>>,
    /// Where the line with the closing mark begins.
    pub(super) closing: usize,
    /// Where the body begins.
    pub(super) end: usize,
}

/// A key with what is written behind it and on the lines that belong to it.
pub(super) struct RawField<'a> {
    pub(super) key: String,
    /// From 1, in the file.
    pub(super) line: usize,
    pub(super) span: Range<usize>,
    /// What stands behind the colon, without a comment that begins there.
    pub(super) rest: &'a str,
    /// Lines that follow; comments and empty ones among them.
    pub(super) more: Vec<&'a str>,
}

/// The block at the beginning of the text, if one begins there.
pub(super) fn read(text: &str) -> Result<Option<Block<'_>>, FrontMatterFault> {
    let mut fields: Vec<RawField<'_>> = Vec::new();
    let mut keys = BTreeSet::new();
    let mut start = 0;
    for (at, whole) in text.split_inclusive('\n').enumerate() {
        let span = start..start + whole.len();
        start = span.end;
        let content = whole.trim_end_matches(['\n', '\r']);
        let is_mark = |mark: &str| content.trim_end_matches([' ', '\t']) == mark;
        let line = at + 1;
        if at == 0 {
            if !is_mark("---") {
                return Ok(None);
            }
            continue;
        }
        if span.end > FRONT_MATTER_BYTES_MAX {
            let kind = FaultKind::TooLong;
            return Err(FrontMatterFault { line: 1, kind });
        }
        if is_mark("---") || is_mark("...") {
            let (closing, end) = (span.start, span.end);
            return Ok(Some(Block {
                fields,
                closing,
                end,
            }));
        }
        take(&mut fields, &mut keys, content, line, span)
            .map_err(|kind| FrontMatterFault { line, kind })?;
    }
    // Nothing, or a mark alone that was never closed.
    if text.is_empty() {
        return Ok(None);
    }
    let kind = FaultKind::NeverClosed;
    Err(FrontMatterFault { line: 1, kind })
}

fn take<'a>(
    fields: &mut Vec<RawField<'a>>,
    keys: &mut BTreeSet<String>,
    content: &'a str,
    line: usize,
    span: Range<usize>,
) -> Result<(), FaultKind> {
    if is_empty_or_comment(content) {
        // It is the field's only if more of the field follows.
        if let Some(last) = fields.last_mut() {
            last.more.push(content);
        }
        return Ok(());
    }
    if content.starts_with('\t') {
        return Err(FaultKind::Tab);
    }
    if let Some(last) = fields.last_mut().filter(|last| continues(last, content)) {
        last.more.push(content);
        last.span.end = span.end;
        return Ok(());
    }
    let (key, rest) = key_of(content).ok_or(FaultKind::NotAField)?;
    let name = match Field::of_key(&key) {
        Some(field) => field.key().to_owned(),
        None => key.clone(),
    };
    if !keys.insert(name) {
        return Err(FaultKind::Twice);
    }
    let rest = rest.trim();
    fields.push(RawField {
        key,
        line,
        span,
        rest: if rest.starts_with('#') { "" } else { rest },
        more: Vec::new(),
    });
    Ok(())
}

pub(super) fn is_empty_or_comment(content: &str) -> bool {
    let words = content.trim_start();
    words.is_empty() || words.starts_with('#')
}

/// Whether the line begins an item of a list.
pub(super) fn is_item(content: &str) -> bool {
    let words = content.trim_start();
    words == "-" || words.starts_with("- ") || words.starts_with("-\t")
}

/// Whether a line that is neither empty nor a comment belongs to the field before it.
fn continues(field: &RawField<'_>, content: &str) -> bool {
    if content.starts_with(' ') {
        return true;
    }
    // A list may stand as far to the left as its key.
    if field.rest.is_empty() && is_item(content) {
        return true;
    }
    // What closes a list that was opened behind its key.
    let closes = |open: char, close: char| {
        let is_closed = field.rest.ends_with(close)
            || field
                .more
                .iter()
                .any(|line| line.trim_end().ends_with(close));
        field.rest.starts_with(open) && !is_closed && content.starts_with(close)
    };
    closes('[', ']') || closes('{', '}')
}

/// The key of a line, and what stands behind its colon.
fn key_of(content: &str) -> Option<(String, &str)> {
    if content.starts_with(['"', '\'']) {
        let (key, rest) = quoted(content).ok()?;
        let rest = rest.trim_start().strip_prefix(':')?;
        let is_apart = rest.is_empty() || rest.starts_with([' ', '\t']);
        return is_apart.then_some((key, rest));
    }
    let is_word = !content.starts_with([
        '[', ']', '{', '}', ',', '&', '*', '!', '|', '>', '%', '@', '`', '?', ':', ' ',
    ]);
    // A mark with more behind it begins another document to YAML.
    let is_mark = content.starts_with("--- ") || content.starts_with("... ");
    if !is_word || is_mark || is_item(content) {
        return None;
    }
    let apart = [": ", ":\t"]
        .into_iter()
        .filter_map(|end| content.find(end))
        .min();
    let (key, rest) = match apart {
        Some(at) => content.split_at_checked(at)?,
        None => (content.strip_suffix(':')?, ":"),
    };
    let key = key.trim_end();
    let is_key = !key.is_empty() && !key.contains(" #");
    is_key.then(|| (key.to_owned(), rest.get(1..).unwrap_or("")))
}
