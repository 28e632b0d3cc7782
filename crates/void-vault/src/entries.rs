//! What a file of a vault becomes in Void: a page, a task, a ref or an attachment.
//!
//! A note says by `kind:` that it is a task or a ref; nothing else makes one of it. A ref is foreign whatever else
//! its front matter says, and a note that says of itself that it is foreign is believed: doubt taints. A file that
//! is named like a note and is none is an attachment as a whole, never half a note.

use unicode_normalization::UnicodeNormalization;

use crate::days::Day;
use crate::front_matter::{Field, FrontMatter, FrontMatterFault};
use crate::limits::{TITLE_CHARS_MAX, URL_BYTES_MAX};
use crate::note_files::{NotANote, NoteFile};
use crate::paths::{VaultPath, is_visible, shown};

pub(crate) const FOREIGN: &str = "foreign";
pub(crate) const TASK: &str = "task";
pub(crate) const REF: &str = "ref";

/// The title of what has no better one.
pub(crate) const UNTITLED: &str = "Untitled";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    Page,
    Task,
    Ref,
    Attachment,
}

impl EntryKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Task => TASK,
            Self::Ref => REF,
            Self::Attachment => "attachment",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Page, Self::Task, Self::Ref, Self::Attachment]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStatus {
    Open,
    Done,
    Dropped,
}

impl TaskStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Done, Self::Dropped]
            .into_iter()
            .find(|status| text.eq_ignore_ascii_case(status.as_str()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    Page,
    Task {
        status: TaskStatus,
        due: Option<Day>,
    },
    Ref {
        url: String,
        /// As it is written; whoever stores it reads it as a time.
        captured_at: Option<String>,
    },
}

impl NoteKind {
    pub const fn entry(&self) -> EntryKind {
        match self {
            Self::Page => EntryKind::Page,
            Self::Task { .. } => EntryKind::Task,
            Self::Ref { .. } => EntryKind::Ref,
        }
    }

    /// What the front matter makes of its note, and why it is not what it asks for.
    pub(crate) fn of(fields: &FrontMatter) -> (Self, Option<EntryFault>) {
        if says(fields, Field::Kind, TASK) {
            Self::task(fields)
        } else if says(fields, Field::Kind, REF) {
            Self::reference(fields)
        } else {
            // Other programs have kinds of their own.
            (Self::Page, None)
        }
    }

    fn task(fields: &FrontMatter) -> (Self, Option<EntryFault>) {
        let status = fields
            .status()
            .map_or(Some(TaskStatus::Open), TaskStatus::parse);
        match status {
            Some(status) => {
                let due = fields.due();
                (Self::Task { status, due }, None)
            }
            None => (Self::Page, Some(EntryFault::UnknownStatus)),
        }
    }

    fn reference(fields: &FrontMatter) -> (Self, Option<EntryFault>) {
        let Some(url) = fields.words(Field::Url).filter(|url| is_web_address(url)) else {
            return (Self::Page, Some(EntryFault::NoUrl));
        };
        let url = url.to_owned();
        let captured_at = fields.words(Field::CapturedAt).map(str::to_owned);
        (Self::Ref { url, captured_at }, None)
    }
}

fn says(fields: &FrontMatter, field: Field, word: &str) -> bool {
    let words = fields.words(field).map(str::trim);
    words.is_some_and(|words| words.eq_ignore_ascii_case(word))
}

/// An address as Void keeps one: what it would refuse is no ref of it.
fn is_web_address(url: &str) -> bool {
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let has_host = authority.is_some_and(|authority| {
        let is_named = authority
            .split(':')
            .next()
            .is_some_and(|host| !host.is_empty());
        let is_bracketed = authority.starts_with('[') && authority.contains(']');
        // A user name before the host is how one host passes for another.
        !authority.contains('@') && (is_named || is_bracketed)
    });
    let is_odd = |c: char| !is_visible(c) || c.is_whitespace() || "\\\"<>^`{|}".contains(c);
    has_host && !url.contains(is_odd) && url.len() <= URL_BYTES_MAX
}

/// Something that the owner should know of a file that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    #[error("{0}")]
    FrontMatter(FrontMatterFault),
    #[error("a task's `status` is open, done or dropped; it is a page")]
    UnknownStatus,
    #[error("a ref has an http or https `url`; it is a page")]
    NoUrl,
    #[error("named like a note, kept as an attachment: {0}")]
    NotANote(NotANote),
    #[error("it has more links than are read; those behind are text")]
    TooManyLinks,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub file: NoteFile,
    pub fields: FrontMatter,
    pub kind: NoteKind,
    pub title: String,
    /// Its words are a stranger's: whoever reads them is tainted.
    pub is_foreign: bool,
    pub faults: Vec<EntryFault>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VaultEntry {
    Note(Box<Note>),
    /// Its bytes are what is stored. The fault says why it is no note although it is named like one.
    Attachment(Option<EntryFault>),
}

impl VaultEntry {
    pub fn read(path: &VaultPath, bytes: &[u8]) -> Self {
        if !path.is_markdown() {
            return Self::Attachment(None);
        }
        match NoteFile::read(bytes) {
            Ok((file, fields)) => Self::Note(Box::new(Note::of(path, file, fields))),
            Err(why) => Self::Attachment(Some(EntryFault::NotANote(why))),
        }
    }

    pub fn kind(&self) -> EntryKind {
        match self {
            Self::Note(note) => note.kind.entry(),
            Self::Attachment(_) => EntryKind::Attachment,
        }
    }
}

impl Note {
    fn of(path: &VaultPath, file: NoteFile, fields: FrontMatter) -> Self {
        let (kind, fault) = NoteKind::of(&fields);
        let of_fields = fields.faults().iter().copied().map(EntryFault::FrontMatter);
        Self {
            title: title_of(path, &fields),
            is_foreign: is_foreign(&file, &fields),
            faults: of_fields.chain(fault).collect(),
            kind,
            file,
            fields,
        }
    }
}

/// Whether a note says that a stranger wrote it, also in front matter that cannot be read, or asks to be a ref.
pub(crate) fn is_foreign(file: &NoteFile, fields: &FrontMatter) -> bool {
    if says(fields, Field::Origin, FOREIGN) || says(fields, Field::Kind, REF) {
        return true;
    }
    let is_broken = file.front_matter.is_empty() && !fields.faults().is_empty();
    // `{title: a, origin: foreign}` has its pairs on one line.
    let parts = file.body.split(['\n', ',', '{']);
    let mut pairs = parts.filter_map(|part| part.split_once(':'));
    is_broken
        && pairs.any(|(key, value)| {
            let is = |text: &str, word: &str| {
                let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
                bare.eq_ignore_ascii_case(word)
            };
            is(key, Field::Origin.key()) && is(value, FOREIGN)
        })
}

/// The title of a note: its front matter's, or else its file's name. Neither can hold what no title may.
pub fn title_of(path: &VaultPath, fields: &FrontMatter) -> String {
    let titles = fields.title().into_iter().chain([path.stem()]);
    let clean = titles.map(clean_title).find(|title| !title.is_empty());
    clean.unwrap_or_else(|| UNTITLED.to_owned())
}

fn clean_title(title: &str) -> String {
    let plain: String = title
        .nfc()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let cut: String = plain.trim().chars().take(TITLE_CHARS_MAX).collect();
    let cut = cut.trim_end();
    // A title that shows as nothing cannot be told from none.
    let is_blank = cut.chars().all(|c| c == ' ' || !is_visible(c));
    if is_blank {
        String::new()
    } else {
        cut.to_owned()
    }
}

/// For logs and terminals.
impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} “{}”", self.kind.entry().as_str(), shown(&self.title))
    }
}

#[cfg(test)]
mod tests;
