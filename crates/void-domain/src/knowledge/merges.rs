//! A draft that was made of an older revision, said again of the newest one: what only one side changed is taken from that side,
//! and where both changed the same lines, or lines beside each other, nothing is guessed. Each property is merged as a whole.
//! What comes out is drafted, not applied: a person reads it first.

#[cfg(test)]
mod tests;

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::entities::{EntityKind, Fields};
use super::written_form::InvalidWrittenForm;
use crate::diffs::{TooDifferent, check_comparable};
use crate::limits::MERGE_CONFLICTS_TOLD_MAX;

/// A place that both sides changed, each otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The line of the written form of what is there now with which it begins, from 1.
    pub line: usize,
    pub base: String,
    pub draft: String,
    pub now: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMerge {
    #[error("the draft and what is there now change the same lines in {} places", .conflicts.len() + .left_out)]
    Conflicts {
        conflicts: Vec<MergeConflict>,
        /// How many more there are.
        left_out: usize,
    },
    #[error(transparent)]
    TooDifferent(#[from] TooDifferent),
    #[error("what comes out of both is not allowed: {0}")]
    Invalid(#[from] InvalidWrittenForm),
}

/// `base` is what the draft was made of.
pub fn merge(base: &Fields, draft: &Fields, now: &Fields) -> Result<Fields, NoMerge> {
    let kind: EntityKind = now.kind();
    let [base, draft, now] = [base, draft, now].map(Fields::written);
    check_comparable(&base, &draft)?;
    check_comparable(&base, &now)?;
    let mut merged = Merging::default();
    let (base_head, base_body) = parts(&base);
    let (draft_head, draft_body) = parts(&draft);
    let (now_head, now_body) = parts(&now);
    // A property is a line of its own, whatever is changed in the line beside it.
    for ((base, draft), now) in base_head.iter().zip(&draft_head).zip(&now_head) {
        merged.add(&[*base], &[*draft], &[*now]);
    }
    merged.add(&base_body, &draft_body, &now_body);
    merged
        .into_text()
        .and_then(|text| Ok(Fields::read(kind, &text)?))
}

/// The lines of the properties, and the lines behind them.
fn parts(written: &str) -> (Vec<&str>, Vec<&str>) {
    let mut lines: Vec<&str> = written.split_inclusive('\n').collect();
    let head = lines.iter().take_while(|line| **line != "\n").count();
    let body = lines.split_off(head);
    (lines, body)
}

#[derive(Default)]
struct Merging {
    text: String,
    /// How many lines of what is there now are behind us.
    now_lines: usize,
    conflicts: Vec<MergeConflict>,
    left_out: usize,
}

/// Lines of the base that one side has otherwise.
#[derive(Debug, Clone)]
struct LineChange {
    base: Range<usize>,
    side: Range<usize>,
}

fn changes(base: &[&str], side: &[&str]) -> Vec<LineChange> {
    let ops = capture_diff_slices(Algorithm::Myers, base, side);
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    changed
        .map(|op| LineChange {
            base: op.old_range(),
            side: op.new_range(),
        })
        .collect()
}

impl Merging {
    fn add(&mut self, base: &[&str], draft: &[&str], now: &[&str]) {
        let mut of_draft = changes(base, draft).into_iter().peekable();
        let mut of_now = changes(base, now).into_iter().peekable();
        let mut at = 0;
        loop {
            let starts =
                [of_draft.peek(), of_now.peek()].map(|next| next.map(|one| one.base.start));
            let Some(start) = starts.into_iter().flatten().min() else {
                break;
            };
            self.keep(base.get(at..start).unwrap_or_default());
            // Everything of either side that overlaps or touches is one place.
            let (mut end, mut drafted, mut current) = (start, Vec::new(), Vec::new());
            loop {
                let is_here = |change: &LineChange| change.base.start <= end;
                let next = match (of_draft.next_if(is_here), drafted.len()) {
                    (Some(change), _) => {
                        drafted.push(change.clone());
                        Some(change)
                    }
                    (None, _) => of_now
                        .next_if(is_here)
                        .inspect(|change| current.push(change.clone())),
                };
                match next {
                    Some(change) => end = end.max(change.base.end),
                    None => break,
                }
            }
            let region = start..end;
            let said =
                |side: &[&str], changes: &[LineChange]| said_in(base, side, &region, changes);
            self.place(
                base.get(region.clone()).unwrap_or_default().concat(),
                (!drafted.is_empty()).then(|| said(draft, &drafted)),
                (!current.is_empty()).then(|| said(now, &current)),
            );
            at = end;
        }
        self.keep(base.get(at..).unwrap_or_default());
    }

    /// What neither side changed.
    fn keep(&mut self, lines: &[&str]) {
        self.text.push_str(&lines.concat());
        self.now_lines += lines.len();
    }

    fn place(&mut self, base: String, draft: Option<String>, now: Option<String>) {
        let lines = now.as_ref().unwrap_or(&base).split_inclusive('\n').count();
        match (draft, now) {
            (Some(draft), Some(now)) if draft != now => {
                if self.conflicts.len() < MERGE_CONFLICTS_TOLD_MAX {
                    self.conflicts.push(MergeConflict {
                        line: self.now_lines + 1,
                        base,
                        draft,
                        now,
                    });
                } else {
                    self.left_out += 1;
                }
            }
            (Some(said), _) | (None, Some(said)) => self.text.push_str(&said),
            (None, None) => {}
        }
        self.now_lines += lines;
    }

    fn into_text(self) -> Result<String, NoMerge> {
        match self.conflicts.is_empty() {
            true => Ok(self.text),
            false => Err(NoMerge::Conflicts {
                conflicts: self.conflicts,
                left_out: self.left_out,
            }),
        }
    }
}

/// What one side says instead of a part of the base.
fn said_in(base: &[&str], side: &[&str], region: &Range<usize>, changes: &[LineChange]) -> String {
    let mut said = String::new();
    let mut at = region.start;
    for change in changes {
        said.push_str(&base.get(at..change.base.start).unwrap_or_default().concat());
        said.push_str(&side.get(change.side.clone()).unwrap_or_default().concat());
        at = change.base.end;
    }
    said.push_str(&base.get(at..region.end).unwrap_or_default().concat());
    said
}
