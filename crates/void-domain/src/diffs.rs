//! What differs between two texts, as a unified diff, and such a diff put into effect.
//!
//! Applying is strict: every line of context has to stand exactly where the diff says. A diff that would fit
//! somewhere else as well could do something else than what was read.

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use similar::TextDiff;

use crate::text;

/// How many lines may differ; finding the shortest diff of more takes too long.
const DIFFERENT_LINES_MAX: usize = 4_000;
/// What a diff calls the side that does not exist.
const NO_FILE: &str = "/dev/null";
/// What git puts before the two names of a file.
const SIDES: [&str; 6] = ["a/", "b/", "c/", "i/", "o/", "w/"];
const NAME_BYTES_MAX: usize = 200;
const NO_NEWLINE: &str = "\\ No newline at end of file";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPatch {
    #[error("it is no unified diff: line {line} is neither a header nor a line of a hunk")]
    NotADiff { line: usize },
    #[error("it has no hunk, so it changes nothing")]
    Empty,
    #[error("it is for several files; one at a time")]
    SeveralFiles,
    #[error("line {line} names another file: {name}")]
    AnotherFile { line: usize, name: String },
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
    check_lines(&lines(old), &lines(new))?;
    let diff = TextDiff::from_lines(old, new);
    Ok(diff.unified_diff().context_radius(3).to_string())
}

/// The same of texts in which a carriage return is a sign like any other: only a line feed ends a line, as where a diff
/// is applied.
pub fn unified_exact(old: &str, new: &str) -> Result<String, TooDifferent> {
    let (before, after) = (lines(old), lines(new));
    check_lines(&before, &after)?;
    let diff = TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&before, &after);
    Ok(diff.unified_diff().context_radius(3).to_string())
}

/// Whether so few lines of two texts differ that they can be compared in a moment.
pub fn check_comparable(old: &str, new: &str) -> Result<(), TooDifferent> {
    check_lines(&lines(old), &lines(new))
}

fn check_lines(before: &[&str], after: &[&str]) -> Result<(), TooDifferent> {
    let same_first = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let same_last = (before.iter().skip(same_first).rev())
        .zip(after.iter().skip(same_first).rev())
        .take_while(|(a, b)| a == b)
        .count();
    match before.len() + after.len() - 2 * (same_first + same_last) > DIFFERENT_LINES_MAX {
        true => Err(TooDifferent),
        false => Ok(()),
    }
}

/// The one file that a diff may be for.
#[derive(Debug, Clone, Copy)]
pub struct PatchedFile<'a> {
    /// The whole paths that lead to it.
    pub paths: &'a [PathBuf],
    /// It is not there yet.
    pub is_new: bool,
}

/// The text that a unified diff makes of another, whatever file its headers name.
pub fn apply(old: &str, patch: &str) -> Result<String, InvalidPatch> {
    apply_hunks(old, Hunks::of(patch, None))
}

/// The same, if every header that it has names this file.
pub fn apply_to(file: PatchedFile<'_>, old: &str, patch: &str) -> Result<String, InvalidPatch> {
    apply_hunks(old, Hunks::of(patch, Some(file)))
}

fn apply_hunks(old: &str, mut hunks: Hunks<'_>) -> Result<String, InvalidPatch> {
    let old = lines(old);
    let mut new = String::with_capacity(old.iter().map(|line| line.len()).sum());
    let mut at = 0;
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

/// What one part of a diff says on both sides, lines around it that stay among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchPart {
    /// The line of the old text with which it begins, from 1; 1 too where there is no old text.
    pub line: usize,
    pub old: String,
    pub new: String,
}

/// The parts of a diff, one after the other, without the text that it is against.
pub fn parts(patch: &str) -> Result<Vec<PatchPart>, InvalidPatch> {
    let mut hunks = Hunks::of(patch, None);
    let mut parts = Vec::new();
    while let Some(hunk) = hunks.next()? {
        let mut part = PatchPart {
            line: hunk.begins + 1,
            old: String::new(),
            new: String::new(),
        };
        for (_, edit) in &hunk.edits {
            match edit {
                Edit::Kept(text) => {
                    part.old.push_str(text);
                    part.new.push_str(text);
                }
                Edit::Removed(text) => part.old.push_str(text),
                Edit::Added(text) => part.new.push_str(text),
            }
        }
        parts.push(part);
    }
    Ok(parts)
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
    /// A hunk has been read: what names a file behind it begins another one.
    has_hunk: bool,
    file: Option<PatchedFile<'a>>,
}

impl<'a> Hunks<'a> {
    fn of(patch: &'a str, file: Option<PatchedFile<'a>>) -> Self {
        Self {
            rest: patch
                .strip_suffix('\n')
                .unwrap_or(patch)
                .split('\n')
                .enumerate()
                .peekable(),
            files: 0,
            has_hunk: false,
            file,
        }
    }

    fn next(&mut self) -> Result<Option<Hunk>, InvalidPatch> {
        while let Some((index, text)) = self.rest.next() {
            let line = index + 1;
            if let Some(header) = text.strip_prefix("@@ ") {
                self.has_hunk = true;
                return self.hunk(line, header).map(Some);
            }
            let Some(header) = Header::read(text) else {
                match text.trim().is_empty() {
                    true => continue,
                    false => return Err(InvalidPatch::NotADiff { line }),
                }
            };
            if matches!(header, Header::Old(_)) {
                self.files += 1;
            }
            if self.files > 1 || self.has_hunk {
                return Err(InvalidPatch::SeveralFiles);
            }
            if let Some(name) = self.file.and_then(|file| header.of_another(file)) {
                let name = text::escaped(text::cut(name, NAME_BYTES_MAX));
                return Err(InvalidPatch::AnotherFile { line, name });
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

/// A line before the first hunk.
enum Header<'a> {
    /// `--- a/actions.json`
    Old(&'a str),
    /// `+++ b/actions.json`
    New(&'a str),
    /// `diff --git a/actions.json b/actions.json`
    Both(&'a str),
    /// `new file mode 100644`
    Created(&'a str),
    /// `index 83db48f..bf269f4 100644`: names no file.
    Index,
}

impl<'a> Header<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let text = text.strip_suffix('\r').unwrap_or(text);
        // Behind a tab is the time of the file.
        let name = |text: &'a str| text.split('\t').next().unwrap_or_default();
        if let Some(rest) = text.strip_prefix("--- ") {
            return Some(Self::Old(name(rest)));
        }
        if let Some(rest) = text.strip_prefix("+++ ") {
            return Some(Self::New(name(rest)));
        }
        if let Some(rest) = text.strip_prefix("diff --git ") {
            return Some(Self::Both(rest));
        }
        if text.starts_with("new file mode ") {
            return Some(Self::Created(text));
        }
        text.starts_with("index ").then_some(Self::Index)
    }

    /// What it names, if that is not this file.
    fn of_another(&self, file: PatchedFile<'_>) -> Option<&'a str> {
        let (name, is_it) = match *self {
            Self::Old(NO_FILE) => (NO_FILE, file.is_new),
            Self::Old(name) | Self::New(name) => (name, file.is_named(name)),
            Self::Both(names) => {
                let mut blanks = names.match_indices(' ');
                let is_it = blanks.any(|(at, _)| {
                    let parts = names.split_at_checked(at);
                    let parts = parts.and_then(|(old, new)| Some((old, new.get(1..)?)));
                    parts.is_some_and(|(old, new)| file.is_named(old) && file.is_named(new))
                });
                (names, is_it)
            }
            Self::Created(text) => (text, file.is_new),
            Self::Index => return None,
        };
        (!is_it).then_some(name)
    }
}

impl PatchedFile<'_> {
    /// Whether a name in a header means this file: its whole path, or the end of it, with what git puts before it.
    fn is_named(&self, name: &str) -> bool {
        let plain = SIDES.iter().find_map(|side| name.strip_prefix(side));
        [Some(name), plain].into_iter().flatten().any(|name| {
            let name = Path::new(name);
            let mut parts = name.components();
            let is_plain = parts.all(|part| {
                matches!(
                    part,
                    Component::Normal(_) | Component::RootDir | Component::CurDir
                )
            });
            let below = name.strip_prefix(".").unwrap_or(name);
            let is_it = |path: &PathBuf| match below.is_absolute() {
                true => path == below,
                false => path.ends_with(below),
            };
            is_plain && below.file_name().is_some() && self.paths.iter().any(is_it)
        })
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
