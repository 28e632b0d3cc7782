//! What crosses the pipe between the server and its extractor: a kind on the command line, one line of JSON
//! in front of the bytes, one JSON object back.

use serde::{Deserialize, Serialize};

/// What the bytes are to be read as. A word of the command line, because it decides what the process may do
/// before it reads anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractKind {
    Html,
    Text,
    Pdf,
    Karakeep,
}

impl ExtractKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Text => "text",
            Self::Pdf => "pdf",
            Self::Karakeep => "karakeep",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        let all = [Self::Html, Self::Text, Self::Pdf, Self::Karakeep];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// What is known about the bytes beside them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtractHints {
    /// Where they came from: relative links begin there.
    pub url: Option<String>,
    /// What the server calls their encoding.
    pub charset: Option<String>,
}

/// The text of one document, as a person would read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extracted {
    pub title: Option<String>,
    /// Like Markdown: headings, lists, quotes, code, tables as text. Nothing in it is a link, an image or HTML;
    /// where a link led stands behind its words in brackets.
    pub text: String,
    /// As the page names it: `en`, `de-AT`.
    pub language: Option<String>,
    /// Whether the document had more than is here.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmark {
    pub url: Option<String>,
    pub title: Option<String>,
    pub text: Option<String>,
    pub note: Option<String>,
    pub tags: Vec<String>,
    pub created_at_ms: Option<i64>,
    pub archived: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmarks {
    pub bookmarks: Vec<Bookmark>,
    /// Entries that have neither an address nor words: files that Karakeep keeps elsewhere.
    pub left_out: u64,
    /// Whether a text was shortened to its bound.
    pub cut: bool,
}

/// Why bytes could be looked at and still not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Unreadable {
    #[error("it is larger than what is read here")]
    TooLarge,
    #[error("it is written in {0}, which is not read here; UTF-8, UTF-16 and Windows-1252 are")]
    Charset(String),
    #[error("cannot read PDFs here: install poppler-utils")]
    PdfReaderMissing,
    #[error("unreadable: the PDF has no text, only pictures of it")]
    PdfWithoutText,
    #[error("the PDF is locked with a password")]
    PdfLocked,
    #[error("the PDF is damaged, or none")]
    PdfBroken,
    #[error("this is no export of Karakeep: {0}")]
    NoExport(ExportFault),
    #[error("the archive is refused: {0}")]
    Archive(ArchiveFault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ExportFault {
    #[error("it is not the JSON that Karakeep writes")]
    Json,
    #[error("it has more bookmarks or longer texts than are taken at once")]
    TooMuch,
    #[error("there is no export in the archive")]
    NotInArchive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveFault {
    #[error("it is damaged, or written in a way that is not read here")]
    Broken,
    #[error("it has too many files")]
    Entries,
    #[error("it unpacks to too much")]
    Size,
    #[error("a name in it leads out of it")]
    Path,
    #[error("it holds a link or a device")]
    Link,
    #[error("it holds another archive")]
    Nested,
    #[error("it is locked with a password")]
    Locked,
}

/// Why the process would not even begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotConfined {
    #[error(
        "a program cannot be kept from files here (no Landlock), so foreign bytes are not read: void doctor says why; the setting that goes without it is called `without-landlock`"
    )]
    Landlock,
    #[error("the system calls of the reader could not be limited")]
    Filter,
    #[error("the memory and time of the reader could not be limited")]
    Limits,
    #[error("the reader is not alone in its process")]
    Threads,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Report {
    Document(Extracted),
    Bookmarks(Bookmarks),
    Unreadable(Unreadable),
    NotConfined(NotConfined),
}
