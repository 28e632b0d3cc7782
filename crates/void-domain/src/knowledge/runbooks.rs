//! Runbooks: pages that say in their head which services and actions they are about. The head is written by one function here,
//! so that nobody has to write it by hand, and the line that speaks of an action is found by another.

#[cfg(test)]
mod tests;

use super::fields::{Body, InvalidField};
use super::front_matter::{BYTE_ORDER_MARK, FENCE, FrontMatter, RunbookName, head};
use crate::text;

/// How much of a line is quoted.
const LINE_BYTES_MAX: usize = 300;
/// How many lines of a page are looked through.
const LINES_MAX: usize = 5_000;

/// What a runbook says about something, word for word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunbookLine {
    /// Of the page's text, from 1.
    pub number: usize,
    pub text: String,
}

/// The first line that names what it is about: by its id as a whole word, else by what people call it.
pub fn line_about(body: &str, about: &RunbookName, label: Option<&str>) -> Option<RunbookLine> {
    let behind = FrontMatter::of(body).end;
    let before = body.get(..behind).unwrap_or_default().matches('\n').count();
    let lines = body.get(behind..).unwrap_or_default().lines();
    let lines: Vec<(usize, &str)> = (before + 1..).zip(lines).take(LINES_MAX).collect();
    let by_id = lines.iter().find(|(_, line)| names(line, about.name()));
    let label = label
        .map(str::to_lowercase)
        .filter(|label| !label.trim().is_empty());
    let by_label = || {
        let label = label.as_deref()?;
        lines
            .iter()
            .find(|(_, line)| line.to_lowercase().contains(label))
    };
    let (number, line) = by_id.or_else(by_label)?;
    Some(RunbookLine {
        number: *number,
        text: text::cut(line.trim(), LINE_BYTES_MAX).to_owned(),
    })
}

/// Whether an id stands in a line as a word of its own: `stop-a` is not in `stop-a-b`.
fn names(line: &str, id: &str) -> bool {
    let is_of_id = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    line.match_indices(id).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        let behind = line
            .get(at + id.len()..)
            .and_then(|behind| behind.chars().next());
        !before.is_some_and(is_of_id) && !behind.is_some_and(is_of_id)
    })
}

/// Why a page does not become a runbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRunbook {
    #[error("the page's head would be too long, or name too many services and actions")]
    Head,
    #[error(transparent)]
    Text(#[from] InvalidField),
}

/// The same text, whose head says that it is about exactly these. Everything else of the head stays as it is, and a head that
/// would be empty goes.
pub fn with_runbooks(body: &str, about: &[RunbookName]) -> Result<Body, NoRunbook> {
    let (mark, text) = match body.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (
            body.get(..BYTE_ORDER_MARK.len_utf8()).unwrap_or_default(),
            text,
        ),
        None => ("", body),
    };
    let written = head(body);
    let behind = match &written {
        Some((_, end)) => body.get(*end..).unwrap_or_default(),
        None => text,
    };
    let first_line = text.split_inclusive('\n').next().unwrap_or_default();
    let end = if first_line.ends_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut lines = written.map_or_else(String::new, |(head, _)| without_runbooks(head));
    for (member, kind) in [("services", "service"), ("actions", "action")] {
        let names = about.iter().filter(|name| name.kind() == kind);
        let names: Vec<&str> = names.map(RunbookName::name).collect();
        if !names.is_empty() {
            lines.push_str(&format!("{member}: [{}]{end}", names.join(", ")));
        }
    }
    let new = match lines.trim().is_empty() {
        true => format!("{mark}{behind}"),
        false => format!("{mark}{FENCE}{end}{lines}{FENCE}{end}{behind}"),
    };
    let said = FrontMatter::of(&new).runbooks;
    let is_said = about.iter().all(|name| said.contains(name));
    match is_said && said.iter().all(|name| about.contains(name)) {
        true => Ok(Body::parse(&new)?),
        false => Err(NoRunbook::Head),
    }
}

/// The head without every line that says what the page is about, and what is listed below such a line.
fn without_runbooks(head: &str) -> String {
    let mut kept = String::with_capacity(head.len());
    let mut is_listing = false;
    for line in head.split_inclusive('\n') {
        let member = line
            .split_once(':')
            .map(|(name, said)| (name.trim_end(), said.trim()));
        match member {
            Some(("services" | "actions", said)) => is_listing = said.is_empty(),
            _ if is_listing && line.trim_start().starts_with('-') => {}
            _ => {
                is_listing = false;
                kept.push_str(line);
            }
        }
    }
    kept
}
