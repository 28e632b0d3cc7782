//! The file of a note as Void has it now: what was imported and not edited comes out as the same bytes.
//!
//! The front matter is only touched where it says something else than Void does, one field at a time. What Void
//! made itself gets the least that reads back as the same thing: a page whose file is named like its title has no
//! front matter at all.

use crate::days::Day;
use crate::entries::{FOREIGN, NoteKind, REF, TASK, TaskStatus, is_foreign, title_of};
use crate::front_matter::{Field, FieldValue, FrontMatter, with_field};
use crate::note_files::NoteFile;
use crate::paths::VaultPath;

/// What Void knows of a note beside its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteFields<'a> {
    Page {
        title: &'a str,
    },
    Task {
        title: &'a str,
        status: TaskStatus,
        due: Option<Day>,
    },
    Ref {
        title: &'a str,
        url: &'a str,
        captured_at: Option<&'a str>,
    },
}

impl<'a> NoteFields<'a> {
    fn title(&self) -> &'a str {
        match self {
            Self::Page { title } | Self::Task { title, .. } | Self::Ref { title, .. } => title,
        }
    }
}

/// What Void knows of a note of any kind, where the file does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoteMarks<'a> {
    /// The tags that it has to name, if those in the file are not the ones.
    pub tags: Option<&'a [String]>,
    /// A stranger could have written it, and whoever takes it in has to know.
    pub is_foreign: bool,
}

type Edits = Vec<(Field, Option<FieldValue>)>;

/// The bytes of the file at this path. The note's front matter is the one that was imported, or empty.
pub fn write_note(
    path: &VaultPath,
    note: &NoteFile,
    fields: &NoteFields<'_>,
    marks: &NoteMarks<'_>,
) -> Vec<u8> {
    let (_, read) = FrontMatter::split(&note.front_matter);
    let mut edits = title_edits(path, &read, fields.title());
    edits.extend(kind_edits(&read, fields));
    if let Some(tags) = marks.tags {
        let list = (!tags.is_empty()).then(|| FieldValue::List(tags.to_vec()));
        edits.push((Field::Tags, list));
    }
    let mut written = note.clone();
    for (field, value) in edits {
        written.front_matter = with_field(&written.front_matter, field, value.as_ref());
    }
    // As it is read by whoever takes it in: an edit may have taken away what made it a stranger's.
    if marks.is_foreign && !says_foreign(&written) {
        let foreign = words(FOREIGN);
        written.front_matter = with_field(&written.front_matter, Field::Origin, foreign.as_ref());
    }
    written.write()
}

/// Also in front matter that cannot be read, which is text.
fn says_foreign(note: &NoteFile) -> bool {
    let (_, whole) = FrontMatter::split(&note.text());
    is_foreign(note, &whole)
}

fn title_edits(path: &VaultPath, read: &FrontMatter, title: &str) -> Edits {
    if title_of(path, read) == title {
        return Vec::new();
    }
    let mut edits = vec![(Field::Title, words(title))];
    // Obsidian finds a note by its file's name and its aliases, not by its title.
    if *read == FrontMatter::default() {
        let aliases = FieldValue::List(vec![title.to_owned()]);
        edits.push((Field::Aliases, Some(aliases)));
    }
    edits
}

fn kind_edits(read: &FrontMatter, fields: &NoteFields<'_>) -> Edits {
    let (was, _) = NoteKind::of(read);
    let mut edits = Vec::new();
    match (*fields, was) {
        (NoteFields::Page { .. }, NoteKind::Page) => {}
        (NoteFields::Page { .. }, _) => edits.push((Field::Kind, None)),
        (
            NoteFields::Task { status, due, .. },
            NoteKind::Task {
                status: old_status,
                due: old_due,
            },
        ) => {
            if status != old_status {
                edits.push((Field::Status, words(status.as_str())));
            }
            if due != old_due {
                edits.push((Field::Due, due.and_then(|due| words(&due.to_string()))));
            }
        }
        (NoteFields::Task { status, due, .. }, _) => {
            edits.push((Field::Kind, words(TASK)));
            edits.push((Field::Status, words(status.as_str())));
            edits.push((Field::Due, due.and_then(|due| words(&due.to_string()))));
        }
        (
            NoteFields::Ref {
                url, captured_at, ..
            },
            NoteKind::Ref {
                url: old_url,
                captured_at: old_captured_at,
            },
        ) => {
            if url != old_url {
                edits.push((Field::Url, words(url)));
            }
            if captured_at != old_captured_at.as_deref() {
                edits.push((Field::CapturedAt, captured_at.and_then(words)));
            }
        }
        (
            NoteFields::Ref {
                url, captured_at, ..
            },
            _,
        ) => {
            edits.push((Field::Kind, words(REF)));
            edits.push((Field::Url, words(url)));
            edits.push((Field::CapturedAt, captured_at.and_then(words)));
            edits.push((Field::Origin, words(FOREIGN)));
        }
    }
    edits
}

// An option because that is what an edit takes: nothing removes the field.
fn words(words: &str) -> Option<FieldValue> {
    Some(FieldValue::Words(words.to_owned()))
}

#[cfg(test)]
mod tests;
