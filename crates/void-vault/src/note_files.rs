//! A note's file taken apart so that nothing is lost: byte-order mark, line endings, front matter, body.
//!
//! `NoteFile::read(bytes)` then `write()` gives the same bytes for every file that `read` accepts. Line endings
//! are only taken out where one rule puts them all back; a file that mixes them keeps them in its text.

use std::fmt;
use std::str::FromStr;

use crate::front_matter::FrontMatter;
use crate::limits::NOTE_BYTES_MAX;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// How the lines of a file end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    LineFeed,
    /// Every line feed has a carriage return before it, and none stands elsewhere.
    CarriageReturnLineFeed,
    /// Anything else: carriage returns are characters of the text.
    Mixed,
}

/// What is around the text of a file and is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding {
    pub byte_order_mark: bool,
    pub line_ending: LineEnding,
}

impl TextEncoding {
    /// What a note has that Void made itself.
    pub const PLAIN: Self = Self {
        byte_order_mark: false,
        line_ending: LineEnding::LineFeed,
    };
}

/// As it is stored: `lf`, `crlf` or `mixed`, with `bom+` before it where the file begins so.
impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.byte_order_mark {
            f.write_str("bom+")?;
        }
        f.write_str(match self.line_ending {
            LineEnding::LineFeed => "lf",
            LineEnding::CarriageReturnLineFeed => "crlf",
            LineEnding::Mixed => "mixed",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a text encoding that Void writes")]
pub struct UnknownEncoding;

impl FromStr for TextEncoding {
    type Err = UnknownEncoding;

    fn from_str(text: &str) -> Result<Self, UnknownEncoding> {
        let (byte_order_mark, ending) = match text.strip_prefix("bom+") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let line_ending = match ending {
            "lf" => LineEnding::LineFeed,
            "crlf" => LineEnding::CarriageReturnLineFeed,
            "mixed" => LineEnding::Mixed,
            _ => return Err(UnknownEncoding),
        };
        Ok(Self {
            byte_order_mark,
            line_ending,
        })
    }
}

/// Why a file whose name says Markdown is no note. It is kept whole as an attachment where that is small enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotANote {
    #[error("it is no UTF-8 from byte {at} on")]
    NotUtf8 { at: usize },
    #[error("it holds a NUL at byte {at}, so it is no text")]
    Nul { at: usize },
    #[error("its text has {bytes} bytes, more than the {NOTE_BYTES_MAX} of a page")]
    TooLong { bytes: usize },
}

/// A note as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    pub encoding: TextEncoding,
    /// From the first `---` to the end of the last one's line, as it is written; empty when there is none or
    /// when it cannot be read, for then it is text like any other.
    pub front_matter: String,
    pub body: String,
}

impl NoteFile {
    /// Takes the file apart, and reads its front matter.
    pub fn read(bytes: &[u8]) -> Result<(Self, FrontMatter), NotANote> {
        // Each line feed may have brought a carriage return, and a mark may be in front.
        if bytes.len() > 2 * NOTE_BYTES_MAX + BYTE_ORDER_MARK.len_utf8() {
            return Err(NotANote::TooLong { bytes: bytes.len() });
        }
        let text = str::from_utf8(bytes).map_err(|error| NotANote::NotUtf8 {
            at: error.valid_up_to(),
        })?;
        if let Some(at) = text.find('\0') {
            return Err(NotANote::Nul { at });
        }
        let (byte_order_mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let line_ending = line_ending(text);
        let text = match line_ending {
            LineEnding::CarriageReturnLineFeed => text.replace("\r\n", "\n"),
            LineEnding::LineFeed | LineEnding::Mixed => text.to_owned(),
        };
        if text.len() > NOTE_BYTES_MAX {
            return Err(NotANote::TooLong { bytes: text.len() });
        }
        let encoding = TextEncoding {
            byte_order_mark,
            line_ending,
        };
        Ok(Self::of_text(encoding, text))
    }

    /// The note with this text, which may begin with front matter.
    pub fn of_text(encoding: TextEncoding, mut text: String) -> (Self, FrontMatter) {
        let (at, fields) = FrontMatter::split(&text);
        let body = text.split_off(at);
        let note = Self {
            encoding,
            front_matter: text,
            body,
        };
        (note, fields)
    }

    /// Front matter and body as one text, which is what a person edits.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.front_matter.len() + self.body.len() + 1);
        text.push_str(&self.front_matter);
        // A file may end with the front matter's last mark; a body that came later needs a line of its own.
        if !text.is_empty() && !text.ends_with('\n') && !self.body.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.body);
        text
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let text = self.text();
        let text = match self.encoding.line_ending {
            LineEnding::LineFeed | LineEnding::Mixed => text,
            // An edit may have brought its own carriage returns.
            LineEnding::CarriageReturnLineFeed => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        };
        if self.encoding.byte_order_mark {
            format!("{BYTE_ORDER_MARK}{text}").into_bytes()
        } else {
            text.into_bytes()
        }
    }
}

fn line_ending(text: &str) -> LineEnding {
    let feeds = text.bytes().filter(|byte| *byte == b'\n').count();
    let returns = text.bytes().filter(|byte| *byte == b'\r').count();
    if returns == 0 {
        return LineEnding::LineFeed;
    }
    if feeds == returns && text.matches("\r\n").count() == feeds {
        return LineEnding::CarriageReturnLineFeed;
    }
    LineEnding::Mixed
}

#[cfg(test)]
mod tests;
