//! Lines of text with what stands in front of them: markers of lists and quotes. One line is open at a time;
//! white space is folded as it comes, and code is kept apart until its end, because its fence has to be longer
//! than any in it.

use crate::inert;
use crate::limits::{INDENTS_MAX, TEXT_BYTES_MAX};

/// A line that never ends is broken here, so that no single one outgrows the bound.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Code with longer runs of backticks than this is shown with other quotes: its fence would be longer still.
const BACKTICKS_MAX: usize = 60;
/// Kept free for the fence that ends code, and what stands in front of it.
const FENCE_BYTES_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Lines {
    out: String,
    /// The open line, without what stands in front of it.
    current: String,
    /// What the open line begins with on purpose: a heading's mark.
    start: String,
    /// Between the last word and the next.
    space: bool,
    /// Before the next line an empty one.
    gap: bool,
    indents: Vec<Indent>,
    /// Deeper than is shown.
    hidden_indents: usize,
    code: Option<String>,
    code_depth: usize,
    span: Option<String>,
    span_depth: usize,
    cell_depth: usize,
    /// The open line is a row of a table, which begins with a bar on purpose.
    is_row: bool,
    full: bool,
}

#[derive(Debug)]
struct Indent {
    first: String,
    rest: String,
    used: bool,
}

impl Lines {
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn finish(mut self) -> (String, bool) {
        self.code_depth = self.code_depth.min(1);
        self.end_code(None);
        self.span_depth = self.span_depth.min(1);
        self.end_code_span();
        self.cell_depth = 0;
        self.line();
        self.out.truncate(self.out.trim_end().len());
        (self.out, self.full)
    }

    /// The open line, so far.
    pub(super) fn current(&self) -> &str {
        &self.current
    }

    pub(super) fn mark(&self) -> usize {
        self.out.len() + self.current.len()
    }

    /// What the open line holds of what was written since the mark.
    pub(super) fn since(&self, mark: usize) -> &str {
        let at = mark.saturating_sub(self.out.len());
        self.current.get(at..).unwrap_or(&self.current)
    }

    /// Words of the page.
    pub(super) fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            for c in text.chars().filter(|c| inert::is_kept(*c)) {
                if code.len() >= TEXT_BYTES_MAX {
                    self.full = true;
                    return;
                }
                code.push(c);
            }
            return;
        }
        for c in text.chars() {
            let is_space = c.is_whitespace() || inert::is_line_end(c);
            if is_space {
                self.space = true;
            } else if inert::is_kept(c) {
                self.push(c);
            }
        }
    }

    fn push(&mut self, c: char) {
        let in_cell = self.cell_depth > 0;
        let line = match &mut self.span {
            Some(span) => span,
            None => &mut self.current,
        };
        if line.len() > LINE_BYTES_MAX {
            self.full |= in_cell || self.span.is_some();
            if self.full {
                return;
            }
            self.line();
            self.current.push(c);
            return;
        }
        if self.space && !line.is_empty() {
            line.push(' ');
        }
        self.space = false;
        if self.span.is_some() {
            if let Some(span) = &mut self.span {
                span.push(c);
            }
        } else if in_cell && c == '|' {
            self.current.push_str("\\|");
        } else {
            inert::push(&mut self.current, c);
        }
    }

    /// Words of ours, behind those of the page.
    pub(super) fn raw(&mut self, text: &str) {
        if self.code.is_none() && self.span.is_none() {
            self.current.push_str(text);
        }
    }

    /// Ends the open line. In a cell there is one line only.
    pub(super) fn line(&mut self) {
        if self.code.is_some() {
            return;
        }
        if self.cell_depth > 0 || self.span.is_some() {
            self.space = true;
            return;
        }
        self.space = false;
        let line = std::mem::take(&mut self.current);
        let start = std::mem::take(&mut self.start);
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        let line = if !start.is_empty() {
            format!("{start}{line}")
        } else if self.is_row {
            line.to_owned()
        } else {
            inert::line_start(line)
        };
        self.write(&line);
    }

    /// Ends the open line and leaves an empty one before the next.
    pub(super) fn block(&mut self) {
        self.line();
        // Inside an item that has said nothing yet the first paragraph stands behind the marker.
        let is_fresh = self.indents.last().is_some_and(|indent| !indent.used);
        let is_open = self.cell_depth > 0 || self.code.is_some() || self.span.is_some();
        self.gap |= !is_fresh && !is_open;
    }

    pub(super) fn start_with(&mut self, mark: &str) {
        if self.cell_depth == 0 && self.code.is_none() && self.span.is_none() {
            mark.clone_into(&mut self.start);
        }
    }

    pub(super) fn rule(&mut self) {
        self.block();
        if self.cell_depth == 0 && self.code.is_none() && self.span.is_none() {
            self.write("---");
            self.gap = true;
        }
    }

    pub(super) fn indent(&mut self, first: &str, rest: &str) {
        if self.indents.len() >= INDENTS_MAX || self.cell_depth > 0 || self.code.is_some() {
            self.hidden_indents += 1;
            return;
        }
        self.indents.push(Indent {
            first: first.to_owned(),
            rest: rest.to_owned(),
            used: false,
        });
    }

    pub(super) fn outdent(&mut self) {
        if self.hidden_indents > 0 {
            self.hidden_indents -= 1;
        } else {
            self.indents.pop();
        }
    }

    pub(super) fn begin_code(&mut self) {
        self.code_depth += 1;
        if self.cell_depth == 0 && self.span.is_none() && self.code.is_none() {
            self.code = Some(String::new());
        }
    }

    pub(super) fn end_code(&mut self, language: Option<&str>) {
        self.code_depth = self.code_depth.saturating_sub(1);
        if self.code_depth > 0 {
            return;
        }
        let Some(code) = self.code.take() else {
            return;
        };
        let code = code
            .replace("\r\n", "\n")
            .replace(|c| c == '\r' || inert::is_line_end(c), "\n");
        let (code, run) = with_short_runs(code.trim_matches('\n').trim_end());
        if code.is_empty() {
            return;
        }
        // Where it is cut, its end has to stand all the same: an open fence would swallow what follows the text.
        let was_full = std::mem::take(&mut self.full);
        let fence = "`".repeat(run.max(2) + 1);
        self.write(&format!("{fence}{}", language.unwrap_or_default()));
        let has_begun = !self.full;
        for line in code.split('\n') {
            self.write(line.trim_end());
        }
        if has_begun {
            self.write_within(&fence, TEXT_BYTES_MAX);
        }
        self.full |= was_full;
        self.gap = true;
    }

    pub(super) fn begin_code_span(&mut self) {
        self.span_depth += 1;
        if self.code.is_none() && self.span.is_none() {
            if self.space && !self.current.is_empty() {
                self.current.push(' ');
            }
            self.space = false;
            self.span = Some(String::new());
        }
    }

    pub(super) fn end_code_span(&mut self) {
        self.span_depth = self.span_depth.saturating_sub(1);
        if self.span_depth > 0 {
            return;
        }
        let Some(span) = self.span.take() else {
            return;
        };
        if span.is_empty() {
            return;
        }
        let (span, run) = with_short_runs(&span);
        let fence = "`".repeat(run + 1);
        let pad = if span.starts_with('`') || span.ends_with('`') {
            " "
        } else {
            ""
        };
        let span = if self.cell_depth > 0 {
            span.replace('|', "\\|")
        } else {
            span
        };
        self.current
            .push_str(&format!("{fence}{pad}{span}{pad}{fence}"));
    }

    pub(super) fn begin_cell(&mut self) {
        if self.cell_depth == 0 {
            self.is_row = true;
            self.space = false;
            self.current.push_str("| ");
        }
        self.cell_depth += 1;
    }

    pub(super) fn end_cell(&mut self) {
        self.cell_depth = self.cell_depth.saturating_sub(1);
        if self.cell_depth == 0 {
            self.space = false;
            self.current.push(' ');
        }
    }

    pub(super) fn end_row(&mut self) {
        self.current.push('|');
        self.line();
        self.is_row = false;
    }

    pub(super) fn table_rule(&mut self, cells: usize) {
        self.write(&format!(
            "|{}",
            " --- |".repeat(cells.min(LINE_BYTES_MAX / 6))
        ));
    }

    /// One whole line, behind its markers.
    fn write(&mut self, line: &str) {
        if !self.full {
            self.full = !self.write_within(line, TEXT_BYTES_MAX - FENCE_BYTES_MAX);
        }
    }

    /// Whether there was room for it.
    fn write_within(&mut self, line: &str, most: usize) -> bool {
        let mut prefix = String::new();
        let mut blank = String::new();
        for indent in &mut self.indents {
            prefix.push_str(if indent.used {
                &indent.rest
            } else {
                &indent.first
            });
            blank.push_str(if indent.used { &indent.rest } else { "" });
            indent.used = true;
        }
        let gap = self.gap && !self.out.is_empty();
        // An empty line inside a quote is one of the quote.
        let blank = blank.trim_end();
        let bytes = prefix.len() + line.len() + blank.len() + 2;
        if self.out.len() + bytes > most {
            return false;
        }
        if gap {
            self.out.push_str(blank);
            self.out.push('\n');
        }
        self.gap = false;
        self.out.push_str(&prefix);
        self.out.push_str(line);
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        true
    }
}

/// The code and the longest run of backticks in it.
fn with_short_runs(code: &str) -> (String, usize) {
    match longest_run(code) {
        run if run > BACKTICKS_MAX => (code.replace('`', "'"), 0),
        run => (code.to_owned(), run),
    }
}

fn longest_run(code: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in code.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
