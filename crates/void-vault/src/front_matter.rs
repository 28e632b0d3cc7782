//! What a note's front matter says, of what Void asks: a reader of the part of YAML that people write there.
//!
//! It reads the fields of `Field` and steps over everything else; the text itself is kept as it is. It never
//! guesses: a value that YAML would refuse or read as something else is a fault with its line, and a block whose
//! lines are no fields is no front matter at all, but text that the owner sees.

mod blocks;
mod edits;
mod values;

use std::fmt;
use std::ops::Range;

use crate::days::Day;
use crate::entries::FOREIGN;
use crate::limits::{FRONT_MATTER_BYTES_MAX, FRONT_MATTER_ITEMS_MAX};

pub use edits::with_field;

/// A key that Void reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    Title,
    Tags,
    Aliases,
    Services,
    Actions,
    Due,
    Status,
    Kind,
    Url,
    CapturedAt,
    Origin,
}

impl Field {
    pub const ALL: [Self; 11] = [
        Self::Title,
        Self::Tags,
        Self::Aliases,
        Self::Services,
        Self::Actions,
        Self::Due,
        Self::Status,
        Self::Kind,
        Self::Url,
        Self::CapturedAt,
        Self::Origin,
    ];

    pub const fn key(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Aliases => "aliases",
            Self::Services => "services",
            Self::Actions => "actions",
            Self::Due => "due",
            Self::Status => "status",
            Self::Kind => "kind",
            Self::Url => "url",
            Self::CapturedAt => "captured_at",
            Self::Origin => "origin",
        }
    }

    pub const fn is_list(self) -> bool {
        matches!(
            self,
            Self::Tags | Self::Aliases | Self::Services | Self::Actions
        )
    }

    /// The field of a key, in any case; Obsidian's older `tag` and `alias` are their plurals.
    fn of_key(key: &str) -> Option<Self> {
        let is = |name: &str| key.eq_ignore_ascii_case(name);
        match () {
            () if is("tag") => Some(Self::Tags),
            () if is("alias") => Some(Self::Aliases),
            () => Self::ALL.into_iter().find(|field| is(field.key())),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Words(String),
    List(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    field: Field,
    /// The lines of the field, from the beginning of the text.
    span: Range<usize>,
    /// Nothing when nothing is there, or nothing that can be read.
    value: Option<FieldValue>,
}

/// Something that is wrong with a note's front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatterFault {
    /// From 1, in the file.
    pub line: usize,
    pub kind: FaultKind,
}

impl fmt::Display for FrontMatterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    #[error("the front matter that begins here does not end, so it is text")]
    NeverClosed,
    #[error("the front matter has more than {FRONT_MATTER_BYTES_MAX} bytes, so it is text")]
    TooLong,
    #[error("this is no `key: value`, so the front matter is text")]
    NotAField,
    #[error("a tab does not indent in YAML, so the front matter is text")]
    Tab,
    #[error("this key is there twice, so the front matter is text")]
    Twice,
    #[error("Void does not read such a value here")]
    Unsupported,
    #[error("a quote is not closed on its line, or something follows it")]
    Quote,
    #[error("an escape that YAML does not know")]
    Escape,
    #[error("a value with a colon and a space has to be in quotes")]
    ColonInside,
    #[error("the list has more than {FRONT_MATTER_ITEMS_MAX} values")]
    TooManyItems,
    #[error("a day is written as 2026-12-31")]
    NotADay,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    entries: Vec<Entry>,
    due: Option<Day>,
    faults: Vec<FrontMatterFault>,
}

impl FrontMatter {
    /// Where the body of the text begins, and what the front matter before it says.
    pub fn split(text: &str) -> (usize, Self) {
        match blocks::read(text) {
            Ok(None) => (0, Self::default()),
            Ok(Some(block)) => (block.end, Self::of_block(&block)),
            Err(fault) => {
                let faults = vec![fault];
                let read = Self {
                    faults,
                    ..Self::default()
                };
                (0, read)
            }
        }
    }

    fn of_block(block: &blocks::Block<'_>) -> Self {
        let mut read = Self::default();
        for raw in &block.fields {
            let Some(field) = Field::of_key(&raw.key) else {
                continue;
            };
            let value = values::read(field, raw).unwrap_or_else(|kind| {
                let line = raw.line;
                read.faults.push(FrontMatterFault { line, kind });
                unread(field, raw)
            });
            if let (Field::Due, Some(FieldValue::Words(words))) = (field, &value) {
                read.due = words.parse().ok();
                if read.due.is_none() {
                    let (line, kind) = (raw.line, FaultKind::NotADay);
                    read.faults.push(FrontMatterFault { line, kind });
                }
            }
            let span = raw.span.clone();
            read.entries.push(Entry { field, span, value });
        }
        read
    }

    pub fn value(&self, field: Field) -> Option<&FieldValue> {
        self.entry(field)?.value.as_ref()
    }

    fn entry(&self, field: Field) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.field == field)
    }

    /// The value of a field that holds words.
    pub fn words(&self, field: Field) -> Option<&str> {
        match self.value(field) {
            Some(FieldValue::Words(words)) => Some(words),
            Some(FieldValue::List(_)) | None => None,
        }
    }

    /// The values of a field that holds a list.
    pub fn list(&self, field: Field) -> &[String] {
        match self.value(field) {
            Some(FieldValue::List(items)) => items,
            Some(FieldValue::Words(_)) | None => &[],
        }
    }

    pub fn title(&self) -> Option<&str> {
        self.words(Field::Title)
    }

    pub fn tags(&self) -> &[String] {
        self.list(Field::Tags)
    }

    pub fn aliases(&self) -> &[String] {
        self.list(Field::Aliases)
    }

    /// The services that this note is a runbook of.
    pub fn services(&self) -> &[String] {
        self.list(Field::Services)
    }

    /// The actions that this note is a runbook of.
    pub fn actions(&self) -> &[String] {
        self.list(Field::Actions)
    }

    pub fn due(&self) -> Option<Day> {
        self.due
    }

    pub fn status(&self) -> Option<&str> {
        self.words(Field::Status)
    }

    pub fn faults(&self) -> &[FrontMatterFault] {
        &self.faults
    }
}

/// What a value that cannot be read is taken for: an origin that names a stranger somewhere is one, because doubt taints.
fn unread(field: Field, raw: &blocks::RawField<'_>) -> Option<FieldValue> {
    let said = [raw.rest].into_iter().chain(raw.more.iter().copied());
    let mut words = said.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    let names_a_stranger = words.any(|word| word.eq_ignore_ascii_case(FOREIGN));
    (field == Field::Origin && names_a_stranger).then(|| FieldValue::Words(FOREIGN.to_owned()))
}

#[cfg(test)]
mod tests;
