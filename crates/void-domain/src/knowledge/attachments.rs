//! Files that belong to a space, known by what they contain. The bytes are stored once, however many names they have.

use super::entities::Deletion;
use super::fields::{InvalidField, text_field};
use super::paths::NotePath;
use crate::digests::Digest;
use crate::ids::{AttachmentId, RefId, SpaceId};
use crate::limits::{ATTACHMENT_NAME_BYTES_MAX, MEDIA_TYPE_BYTES_MAX};
use crate::text;
use crate::time::Timestamp;

const NAMELESS: &str = "file";

/// A file name, one part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttachmentName(String);

text_field!(AttachmentName);

impl AttachmentName {
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let is_fit = !matches!(text, "" | "." | "..")
            && text.len() <= ATTACHMENT_NAME_BYTES_MAX
            && !text.contains(|c: char| c.is_control() || "/\\".contains(c));
        match is_fit {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidField::FileName),
        }
    }

    /// What a file is called here whose own name may have what none here has: a line feed, or a backslash.
    pub fn of_file(name: &str) -> Self {
        let is_odd = |c: char| c.is_control() || "/\\".contains(c);
        let plain: String = name
            .chars()
            .map(|c| if is_odd(c) { '-' } else { c })
            .collect();
        let within = text::cut(&plain, ATTACHMENT_NAME_BYTES_MAX);
        Self(match within {
            "" | "." | ".." => NAMELESS.to_owned(),
            within => within.to_owned(),
        })
    }
}

/// What somebody said the bytes are. Nothing is believed for it: how a file is served is decided where it is served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MediaType(String);

text_field!(MediaType);

impl MediaType {
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
        };
        let is_fit = text.len() <= MEDIA_TYPE_BYTES_MAX
            && text
                .split_once('/')
                .is_some_and(|(kind, form)| is_word(kind) && is_word(form));
        match is_fit {
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err(InvalidField::MediaType),
        }
    }

    /// By how its name ends.
    pub fn of_file(name: &str) -> Self {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let said = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => "image/png",
            Some("jpg" | "jpeg") => "image/jpeg",
            Some("gif") => "image/gif",
            Some("webp") => "image/webp",
            Some("svg") => "image/svg+xml",
            Some("pdf") => "application/pdf",
            Some("mp3") => "audio/mpeg",
            Some("mp4") => "video/mp4",
            Some("json" | "canvas") => "application/json",
            Some("csv") => "text/csv",
            Some("md" | "markdown") => "text/markdown",
            Some("txt") => "text/plain",
            Some("html" | "htm") => "text/html",
            Some("zip") => "application/zip",
            Some(_) | None => "application/octet-stream",
        };
        Self(said.to_owned())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub id: AttachmentId,
    pub space_id: SpaceId,
    pub name: AttachmentName,
    /// Where it is in the folder that it came from.
    pub path: Option<NotePath>,
    /// The ref whose page or file this is, as it came.
    pub ref_id: Option<RefId>,
    pub media_type: MediaType,
    /// Of its bytes.
    pub hash: Digest,
    pub size_bytes: u64,
    pub created_at: Timestamp,
    pub created_by: String,
    pub deleted: Option<Deletion>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path_and_a_type_two_words() {
        for good in ["a.png", "Größe (1).pdf", "..a"] {
            assert_eq!(AttachmentName::parse(good).unwrap().as_str(), good);
        }
        let long = "a".repeat(ATTACHMENT_NAME_BYTES_MAX + 1);
        for bad in ["", ".", "..", "a/b", "a\\b", "a\nb", &long] {
            assert!(AttachmentName::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(
            MediaType::parse("Image/SVG+xml").unwrap().as_str(),
            "image/svg+xml"
        );
        for bad in [
            "",
            "image",
            "/png",
            "image/",
            "a/b/c",
            "a/b; c=d",
            "a/b\r\nX: y",
        ] {
            assert!(MediaType::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn any_file_has_a_name_and_a_type_here() {
        let long = "ä".repeat(ATTACHMENT_NAME_BYTES_MAX);
        for (name, here) in [
            ("a b.png", "a b.png"),
            ("a\\b/c\n\u{85}.png", "a-b-c--.png"),
            ("..", "file"),
            ("", "file"),
            (&long, &long[..ATTACHMENT_NAME_BYTES_MAX - 1]),
        ] {
            let made = AttachmentName::of_file(name);
            assert_eq!(made.as_str(), here);
            assert_eq!(AttachmentName::parse(here), Ok(made));
        }
        for (name, kind) in [
            ("a.PNG", "image/png"),
            ("png", "application/octet-stream"),
            ("a.b.csv", "text/csv"),
            ("a.", "application/octet-stream"),
        ] {
            let made = MediaType::of_file(name);
            assert_eq!(made.as_str(), kind);
            assert_eq!(MediaType::parse(kind), Ok(made));
        }
    }
}
