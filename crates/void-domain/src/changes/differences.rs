//! What a draft of knowledge changes, word by word, made from its patch and from nothing else: the digest binds the patch, so
//! whoever reads the words has read what a yes binds. The spans are whole; nothing of a difference is left out, however long.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::{Change, ChangeTarget};
use crate::diffs::{self, PatchPart};
use crate::knowledge::{DiffGrain, Hiding, SpanKind, WordDiff, WordSpan};
use crate::text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordDifference {
    pub parts: Vec<DifferencePart>,
    pub words_added: usize,
    pub words_removed: usize,
    /// How many places change, over all parts.
    pub places: usize,
    /// How anything of it hides, each once.
    pub hidings: Vec<Hiding>,
}

/// Lines that change, with some around them that stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferencePart {
    /// The line of the written form with which it begins, from 1.
    pub line: usize,
    pub grain: DiffGrain,
    /// Their texts are as they are shown: what would not be seen in them is escaped.
    pub spans: Vec<WordSpan>,
}

/// `None`: it is no change of knowledge, or a deletion, which has no patch.
pub fn difference(change: &Change) -> Option<WordDifference> {
    if change.target != ChangeTarget::Knowledge || change.patch.is_empty() {
        return None;
    }
    Some(of_parts(diffs::parts(&change.patch).ok()?))
}

/// The same of two texts, whatever is between them. `None`: they are equal.
pub fn between(old: &str, new: &str) -> Option<WordDifference> {
    if old == new {
        return None;
    }
    let patch = diffs::unified_exact(old, new).ok();
    let parts = patch.and_then(|patch| diffs::parts(&patch).ok());
    // Where too many lines differ, all of both is one part.
    let whole = || PatchPart {
        line: 1,
        old: old.to_owned(),
        new: new.to_owned(),
    };
    Some(of_parts(parts.unwrap_or_else(|| vec![whole()])))
}

fn of_parts(parts: Vec<PatchPart>) -> WordDifference {
    let mut whole = WordDifference {
        parts: Vec::with_capacity(parts.len()),
        words_added: 0,
        words_removed: 0,
        places: 0,
        hidings: Vec::new(),
    };
    let mut hidings = BTreeSet::new();
    for part in parts {
        let words = WordDiff::between(&part.old, &part.new);
        whole.words_added += words.words_added;
        whole.words_removed += words.words_removed;
        whole.places += words.places();
        hidings.extend(words.hidings());
        whole.parts.push(DifferencePart {
            line: part.line,
            grain: words.grain,
            spans: words.spans.into_iter().map(shown).collect(),
        });
    }
    whole.hidings = hidings.into_iter().collect();
    whole
}

/// The span as a person is shown it.
pub fn shown(span: WordSpan) -> WordSpan {
    let text = match span.kind {
        SpanKind::Same => in_lines(&span.text, text::told_apart),
        SpanKind::Added | SpanKind::Removed if span.hidings.contains(&Hiding::BlanksOnly) => {
            spelled_blanks(&span.text)
        }
        SpanKind::Added | SpanKind::Removed if span.hidings.contains(&Hiding::LookAlike) => {
            in_lines(&span.text, text::spelled_out)
        }
        SpanKind::Added | SpanKind::Removed => with_blanks_at_ends(&span.text),
    };
    WordSpan { text, ..span }
}

fn in_lines(text: &str, shown: impl Fn(&str) -> String) -> String {
    let lines: Vec<String> = text.split('\n').map(shown).collect();
    lines.join("\n")
}

/// Blanks that a line ends with and nobody sees are spelled out. One blank at the end of the span stands between two words.
fn with_blanks_at_ends(text: &str) -> String {
    let last = text.matches('\n').count();
    let lines = text.split('\n').enumerate().map(|(number, line)| {
        let kept = line.trim_end_matches(' ');
        match line.len() - kept.len() {
            1 if number == last => text::told_apart(line),
            blanks => format!("{}{}", text::told_apart(kept), "\\u{20}".repeat(blanks)),
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// Blanks and ends of lines, each as its number; the line ends too, so that the text below stays where it is.
fn spelled_blanks(text: &str) -> String {
    let mut shown = String::new();
    for blank in text.chars() {
        shown.extend(blank.escape_unicode());
        if blank == '\n' {
            shown.push('\n');
        }
    }
    shown
}
