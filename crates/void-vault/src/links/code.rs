//! Where code stands in Markdown: fenced blocks, and spans between runs of backquotes.
//!
//! All of it is found before links are looked for, in one pass over the lines and one over the runs, so that no
//! backquote is looked at twice.

use std::collections::{BTreeMap, VecDeque};

/// Marks of the shortest fence.
const FENCE_MIN: usize = 3;

/// The code of a text; asked from the beginning to the end.
pub(super) struct CodeSpans<'a> {
    text: &'a str,
    /// Fenced blocks, in their order: where each begins and ends.
    fences: VecDeque<(usize, usize)>,
    /// Where paragraphs end, in their order.
    breaks: VecDeque<usize>,
    /// Where runs of backquotes begin, by their length.
    runs: BTreeMap<usize, VecDeque<usize>>,
}

impl<'a> CodeSpans<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut found = Self {
            text,
            fences: VecDeque::new(),
            breaks: VecDeque::new(),
            runs: BTreeMap::new(),
        };
        found.read_lines();
        found.read_runs();
        found
    }

    fn read_lines(&mut self) {
        let mut start = 0;
        let mut open: Option<(usize, &str)> = None;
        for whole in self.text.split_inclusive('\n') {
            let content = whole.trim_start_matches([' ', '\t', '>']).trim_end();
            let end = start + whole.len();
            match open {
                Some((begin, fence)) if closes(content, fence) => {
                    self.fences.push_back((begin, end));
                    open = None;
                }
                Some(_) => {}
                None => {
                    open = fence(content).map(|fence| (start, fence));
                    if content.is_empty() || open.is_some() {
                        self.breaks.push_back(start);
                    }
                }
            }
            start = end;
        }
        if let Some((begin, _)) = open {
            self.fences.push_back((begin, self.text.len()));
        }
    }

    fn read_runs(&mut self) {
        let mut at = 0;
        while let Some(found) = self.text.get(at..).and_then(|rest| rest.find('`')) {
            at += found;
            let length = run_length(self.text, at);
            self.runs.entry(length).or_default().push_back(at);
            at += length;
        }
    }

    /// Where the code ends that begins or goes on at this byte, or where a run of backquotes ends that
    /// begins none. The byte never lies before one that was asked for earlier.
    pub(super) fn end_at(&mut self, at: usize) -> Option<usize> {
        while self.fences.front().is_some_and(|(_, end)| *end <= at) {
            self.fences.pop_front();
        }
        if let Some((begin, end)) = self.fences.front().copied()
            && begin <= at
        {
            return Some(end);
        }
        let length = run_length(self.text, at);
        if length == 0 {
            return None;
        }
        let behind = at + length;
        while self.breaks.front().is_some_and(|end| *end < behind) {
            self.breaks.pop_front();
        }
        let paragraph_end = self.breaks.front().copied().unwrap_or(self.text.len());
        let same = self.runs.entry(length).or_default();
        while same.front().is_some_and(|begin| *begin < behind) {
            same.pop_front();
        }
        let closing = same.front().filter(|begin| **begin < paragraph_end);
        Some(closing.map_or(behind, |begin| begin + length))
    }
}

fn run_length(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    rest.bytes().take_while(|byte| *byte == b'`').count()
}

/// The marks of a line that opens a fenced block.
fn fence(content: &str) -> Option<&str> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let behind = content.trim_start_matches(mark);
    let marks = content.get(..content.len() - behind.len())?;
    // Words behind backquotes hold none, or they are a span of code on one line.
    let is_fence = marks.len() >= FENCE_MIN && !(mark == '`' && behind.contains('`'));
    is_fence.then_some(marks)
}

fn closes(content: &str, fence: &str) -> bool {
    let mark = fence.chars().next().unwrap_or('`');
    content.len() >= fence.len() && content.trim_start_matches(mark).is_empty()
}
