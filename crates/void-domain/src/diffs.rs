//! What differs between two texts, as a unified diff, and such a diff put into effect.
//!
//! Applying is strict: every line of context has to stand exactly where the diff says. A diff that would fit
//! somewhere else as well could do something else than what was read.

#[cfg(test)]
mod tests;

use similar::TextDiff;

/// How many lines may differ; finding the shortest diff of more takes too long.
const DIFFERENT_LINES_MAX: usize = 4_000;
const NO_NEWLINE: &str = "\\ No newline at end of file";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPatch {
    #[error("it is no unified diff: line {line} is neither a header nor a line of a hunk")]
    NotADiff { line: usize },
    #[error("it has no hunk, so it changes nothing")]
    Empty,
    #[error("it is for several files; one at a time")]
    SeveralFiles,
    #[error("the hunk at line {line} does not have as many lines as its header says")]
    WrongCount { line: usize },
    #[error("line {line} does not fit: line {at} of the file says something else")]
    DoesNotFit { line: usize, at: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {DIFFERENT_LINES_MAX} lines differ")]
pub struct TooDifferent;

/// The unified diff from one text to the other, with three lines of context. Empty if they are equal.
pub fn unified(old: &str, new: &str) -> Result<String, TooDifferent> {
    let (before, after): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let same_first = before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count();
    let same_last = (before.iter().skip(same_first).rev())
        .zip(after.iter().skip(same_first).rev())
        .take_while(|(a, b)| a == b)
        .count();
    if before.len() + after.len() - 2 * (same_first + same_last) > DIFFERENT_LINES_MAX {
        return Err(TooDifferent);
    }
    let diff = TextDiff::from_lines(old, new);
    Ok(diff.unified_diff().context_radius(3).to_string())
}

/// The text that a unified diff makes of another.
pub fn apply(old: &str, patch: &str) -> Result<String, InvalidPatch> {
    let old = lines(old);
    let mut new = String::with_capacity(old.iter().map(|line| line.len()).sum());
    let mut at = 0;
    let mut hunks = Hunks::of(patch);
    let mut is_empty = true;
    while let Some(hunk) = hunks.next()? {
        is_empty = false;
        let begins = hunk.begins;
        if begins < at || begins > old.len() {
            return Err(InvalidPatch::DoesNotFit {
                line: hunk.line,
                at: begins + 1,
            });
        }
        for line in old.iter().take(begins).skip(at) {
            new.push_str(line);
        }
        at = begins;
        for (number, edit) in &hunk.edits {
            match edit {
                Edit::Added(text) => new.push_str(text),
                Edit::Kept(text) | Edit::Removed(text) => {
                    if old.get(at) != Some(&text.as_str()) {
                        return Err(InvalidPatch::DoesNotFit {
                            line: *number,
                            at: at + 1,
                        });
                    }
                    if let Edit::Kept(text) = edit {
                        new.push_str(text);
                    }
                    at += 1;
                }
            }
        }
    }
    if is_empty {
        return Err(InvalidPatch::Empty);
    }
    for line in old.iter().skip(at) {
        new.push_str(line);
    }
    Ok(new)
}

/// The lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

enum Edit {
    Kept(String),
    Removed(String),
    Added(String),
}

impl Edit {
    fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Kept(text) | Self::Removed(text) | Self::Added(text) => text,
        }
    }
}

struct Hunk {
    /// The line of its header in the patch.
    line: usize,
    /// How many lines of the file stand before it.
    begins: usize,
    /// Each with its line in the patch.
    edits: Vec<(usize, Edit)>,
}

/// Reads one hunk after the other.
struct Hunks<'a> {
    rest: std::iter::Peekable<std::iter::Enumerate<std::str::Split<'a, char>>>,
    files: usize,
}

impl<'a> Hunks<'a> {
    fn of(patch: &'a str) -> Self {
        Self {
            rest: patch
                .strip_suffix('\n')
                .unwrap_or(patch)
                .split('\n')
                .enumerate()
                .peekable(),
            files: 0,
        }
    }

    fn next(&mut self) -> Result<Option<Hunk>, InvalidPatch> {
        while let Some((index, text)) = self.rest.next() {
            let line = index + 1;
            if let Some(header) = text.strip_prefix("@@ ") {
                return self.hunk(line, header).map(Some);
            }
            if text.starts_with("--- ") {
                self.files += 1;
            }
            if self.files > 1 {
                return Err(InvalidPatch::SeveralFiles);
            }
            let is_header = ["--- ", "+++ ", "diff --git ", "index "]
                .iter()
                .any(|header| text.starts_with(header));
            if !is_header && !text.trim().is_empty() {
                return Err(InvalidPatch::NotADiff { line });
            }
        }
        Ok(None)
    }

    fn hunk(&mut self, line: usize, header: &str) -> Result<Hunk, InvalidPatch> {
        let ranges = ranges(header).ok_or(InvalidPatch::NotADiff { line })?;
        let ((first, mut kept), (_, mut made)) = ranges;
        let mut hunk = Hunk {
            line,
            // A range without lines names the one before it.
            begins: if kept == 0 {
                first
            } else {
                first.saturating_sub(1)
            },
            edits: Vec::new(),
        };
        let wrong = InvalidPatch::WrongCount { line };
        while kept > 0 || made > 0 {
            let (index, text) = self.rest.next().ok_or_else(|| wrong.clone())?;
            let sign = text.chars().next().unwrap_or(' ');
            let body = format!("{}\n", text.get(1..).unwrap_or_default());
            let edit = match sign {
                ' ' => Edit::Kept(body),
                '-' => Edit::Removed(body),
                '+' => Edit::Added(body),
                '\\' => {
                    self.without_newline(&mut hunk);
                    continue;
                }
                _ => return Err(wrong),
            };
            let (of_old, of_new) = match edit {
                Edit::Kept(_) => (1, 1),
                Edit::Removed(_) => (1, 0),
                Edit::Added(_) => (0, 1),
            };
            kept = kept.checked_sub(of_old).ok_or_else(|| wrong.clone())?;
            made = made.checked_sub(of_new).ok_or_else(|| wrong.clone())?;
            hunk.edits.push((index + 1, edit));
        }
        if self.rest.next_if(|(_, text)| *text == NO_NEWLINE).is_some() {
            self.without_newline(&mut hunk);
        }
        Ok(hunk)
    }

    fn without_newline(&mut self, hunk: &mut Hunk) {
        if let Some((_, last)) = hunk.edits.last_mut() {
            let text = last.text_mut();
            text.truncate(text.trim_end_matches('\n').len());
        }
    }
}

type Range = (usize, usize);

/// `-3,7 +3,8 @@ …` as both ranges.
fn ranges(header: &str) -> Option<(Range, Range)> {
    let (ranges, _) = header.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    Some((
        range(old.strip_prefix('-')?)?,
        range(new.strip_prefix('+')?)?,
    ))
}

fn range(text: &str) -> Option<Range> {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((number(first)?, number(count)?))
}

fn number(text: &str) -> Option<usize> {
    let is_plain = !text.is_empty() && text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_plain)
}
