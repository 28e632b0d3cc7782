//! Every bound of this crate, by name and with its unit. What is beyond one is refused or cut, and said.

use std::time::Duration;

/// A URL, written out; the same for a redirect's target.
pub const URL_BYTES_MAX: usize = 4096;
/// Hops after the first URL.
pub const REDIRECTS_MAX: usize = 5;
/// The body of an answer, as it comes over the wire (nothing is unpacked).
pub const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;
/// The head of an answer, all its header lines; what one read brings beyond it is looked at too.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
pub const HEADERS_MAX: usize = 100;
/// Of the addresses of one name so many are tried; all are judged.
pub const ADDRESSES_TRIED_MAX: usize = 4;
/// Until one address answers the connection and its TLS handshake is done.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// One capture: every hop, the body, and reading it.
pub const CAPTURE_TIMEOUT: Duration = Duration::from_secs(20);
pub const CAPTURES_AT_ONCE_MAX: usize = 8;
/// So many more wait for their turn, no longer than one capture lasts; the next is told to come later.
pub const CAPTURES_WAITING_MAX: usize = 32;

/// What an extractor is given: an attachment may be larger than a page.
pub const INPUT_BYTES_MAX: usize = 20 * 1024 * 1024;
/// The one line of JSON in front of the bytes.
pub const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// The text of one document; the rest is cut off, and that is said.
pub const TEXT_BYTES_MAX: usize = 512 * 1024;
pub const TITLE_CHARS_MAX: usize = 200;
/// What the server keeps of an extractor's answer; more than this is no answer.
pub const REPORT_BYTES_MAX: usize = 48 * 1024 * 1024;
/// How long an extractor may take by the clock.
pub const EXTRACT_TIMEOUT: Duration = Duration::from_secs(15);
/// How long it may compute; the kernel ends it.
pub const EXTRACT_CPU_SECONDS_MAX: u64 = 10;
/// Its address space. A decoded page, its tree and its text are a fraction of it.
pub const EXTRACT_MEMORY_BYTES_MAX: u64 = 768 * 1024 * 1024;
/// Standard input, output and error, and nothing else.
pub const EXTRACT_FILES_MAX: u64 = 3;
/// A reader of PDFs opens itself, its libraries and its tables.
pub const PDF_FILES_MAX: u64 = 32;

/// Open elements; text that is nested deeper is left out.
pub const HTML_DEPTH_MAX: usize = 512;
/// Elements and pieces of text of one page; what comes after them is left out.
pub const HTML_NODES_MAX: usize = 500_000;
/// Different names of elements that a page may make up; more of them count as one.
pub const HTML_NAMES_MAX: usize = 1024;
/// Links whose target is written beside their text.
pub const LINKS_MAX: usize = 10_000;
pub const LINK_BYTES_MAX: usize = 2048;
/// Quotes and lists in one another that are shown as such.
pub const INDENTS_MAX: usize = 16;

pub const BOOKMARKS_MAX: usize = 20_000;
/// Texts and notes of all bookmarks of one file.
pub const BOOKMARKS_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
pub const TAGS_MAX: usize = 64;
pub const TAG_CHARS_MAX: usize = 64;
pub const ARCHIVE_ENTRIES_MAX: usize = 1024;
/// Everything in one archive, unpacked.
pub const ARCHIVE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes that come out of one that goes in. Text with many repetitions reaches fifty.
pub const ARCHIVE_RATIO_MAX: usize = 200;
