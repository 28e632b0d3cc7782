//! The texts of an entity, each parsed once. Whoever holds one of these types knows its bounds.

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::ids::AttachmentId;
use crate::limits::{PAGE_BYTES_MAX, REF_URL_BYTES_MAX, TAG_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX};
use crate::text::is_deceptive;

/// What is wrong with a field, to follow its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidField {
    #[error("must be 1 to {TITLE_CHARS_MAX} characters in one line")]
    Title,
    #[error("must be {} KiB of text at most, without null characters", PAGE_BYTES_MAX / 1024)]
    Body,
    #[error("must be open, done or dropped")]
    State,
    #[error("must be a day, such as 2026-11-19")]
    Due,
    #[error(
        "must be an address with http or https, without a user name, of {REF_URL_BYTES_MAX} bytes at most"
    )]
    Url,
    #[error(
        "must be {TAGS_MAX} tags at most, each of 1 to {TAG_CHARS_MAX} letters, digits, and - _ /"
    )]
    Tags,
    #[error("must be a relative path without . and .., in one line")]
    Path,
    #[error("must be a file name in one line, without slashes")]
    FileName,
    #[error("must be a media type: image/png")]
    MediaType,
}

/// Text that goes as text and is parsed where it comes in.
macro_rules! text_field {
    ($name:ident) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use text_field;

/// One line: 1 to 200 characters, none of them a control character, no blanks around it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Title(String);

text_field!(Title);

impl Title {
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let text = text.trim();
        let is_line = !text.chars().any(char::is_control);
        let count = text.chars().take(TITLE_CHARS_MAX + 1).count();
        match is_line && (1..=TITLE_CHARS_MAX).contains(&count) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidField::Title),
        }
    }

    /// What two titles have in common that a link means alike: case and runs of blanks make no difference.
    pub fn key(&self) -> String {
        title_key(&self.0)
    }
}

/// The key of a title that a text names, which may be none of ours.
pub(super) fn title_key(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        key.extend(word.chars().flat_map(char::to_lowercase));
    }
    key
}

/// The text of an entity, kept as it came: a vault that is imported and exported is the same bytes. A null character is
/// the only one that PostgreSQL cannot store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Body(String);

text_field!(Body);

impl Body {
    pub fn new(text: String) -> Result<Self, InvalidField> {
        match text.len() <= PAGE_BYTES_MAX && !text.contains('\0') {
            true => Ok(Self(text)),
            false => Err(InvalidField::Body),
        }
    }

    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        Self::new(text.to_owned())
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    #[default]
    Open,
    Done,
    /// It is not going to be done.
    Dropped,
}

impl TaskState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Done, Self::Dropped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Dropped => "dropped",
        }
    }

    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(InvalidField::State)
    }
}

/// A plain day, wherever one is: `2026-11-19`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueDate(Date);

impl DueDate {
    /// One spelling only, and no year before ours: days are compared as text.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let day: Date = text.parse().map_err(|_| InvalidField::Due)?;
        match day.to_string() == text && day.year() >= 1 {
            true => Ok(Self(day)),
            false => Err(InvalidField::Due),
        }
    }
}

impl fmt::Display for DueDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for DueDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DueDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// Where a ref was found: an address of the web, or a file of its space (`void:attachment/ID`). It is shown and opened, never
/// fetched by this type: who fetches judges the address anew.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RefUrl(String);

const FILE_SCHEME: &str = "void:attachment/";

text_field!(RefUrl);

impl RefUrl {
    pub fn of_file(id: AttachmentId) -> Self {
        Self(format!("{FILE_SCHEME}{id}"))
    }

    pub fn is_of_the_web(&self) -> bool {
        !self.0.starts_with(FILE_SCHEME)
    }

    /// Blanks around it came along when it was copied; a line break did not.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let text = text.trim_matches(' ');
        if let Some(id) = text.strip_prefix(FILE_SCHEME) {
            let id: Result<AttachmentId, _> = id.parse();
            return id.map(Self::of_file).map_err(|_| InvalidField::Url);
        }
        let is_odd = |c: char| {
            c.is_control() || c.is_whitespace() || is_deceptive(c) || "\\\"<>^`{|}".contains(c)
        };
        if text.len() > REF_URL_BYTES_MAX || text.contains(is_odd) {
            return Err(InvalidField::Url);
        }
        let (scheme, rest) = text.split_once("://").ok_or(InvalidField::Url)?;
        let is_web = ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.split(':').next().unwrap_or_default();
        let is_bracketed = authority.starts_with('[') && authority.contains(']');
        // A user name before the host is how one host passes for another.
        let is_plain = !authority.contains('@') && (!host.is_empty() || is_bracketed);
        match is_web && is_plain {
            true => Ok(Self(format!("{}://{rest}", scheme.to_ascii_lowercase()))),
            false => Err(InvalidField::Url),
        }
    }
}

#[cfg(test)]
mod tests;
