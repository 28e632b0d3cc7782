//! What kind of document bytes are, by what their server says and by how they begin.

use crate::limits::INPUT_BYTES_MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Html,
    /// Plain text and Markdown.
    Text,
    Pdf,
}

/// Bytes that were fetched, not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where they came from in the end, after all redirects.
    pub url: String,
    pub kind: DocumentKind,
    /// What the server calls their encoding; nobody checked it.
    pub charset: Option<String>,
    pub bytes: Vec<u8>,
}

/// The two words of a `Content-Type` that matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContentType {
    pub essence: String,
    pub charset: Option<String>,
}

const WORD_BYTES_MAX: usize = 100;
const PDF_MARK: &[u8] = b"%PDF-";
/// Readers of PDFs look for the mark this far.
const PDF_MARK_WITHIN_BYTES: usize = 1024;

impl ContentType {
    pub(crate) fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            (is_charset && is_word(value)).then(|| value.to_ascii_lowercase())
        });
        let essence = if is_word(essence) { essence } else { "" };
        Self {
            essence: essence.to_ascii_lowercase(),
            charset,
        }
    }
}

impl ContentType {
    fn says_nothing(&self) -> bool {
        let empty = ["", "application/octet-stream", "binary/octet-stream"];
        empty.contains(&self.essence.as_str())
    }

    /// Whether the bytes are worth waiting for.
    pub(crate) fn may_be_read(&self) -> bool {
        self.says_nothing() || DocumentKind::judge(self, b"").is_some()
    }
}

fn is_word(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$&^_.+-/:".contains(&b);
    !text.is_empty() && text.len() <= WORD_BYTES_MAX && text.bytes().all(is_plain)
}

impl DocumentKind {
    /// `None` is a kind that nobody reads here. A server that says nothing, or only that these are bytes, is
    /// helped by the bytes themselves; one that says something is believed: the reader copes with a lie.
    pub(crate) fn judge(said: &ContentType, bytes: &[u8]) -> Option<Self> {
        match said.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            "text/plain" | "text/markdown" | "text/x-markdown" => Some(Self::Text),
            "application/pdf" | "application/x-pdf" => Some(Self::Pdf),
            _ if said.says_nothing() => Self::sniff(bytes),
            _ => None,
        }
    }

    /// By the bytes alone: for a file that was handed in.
    #[must_use]
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        let begin = bytes.get(..PDF_MARK_WITHIN_BYTES).unwrap_or(bytes);
        if begin.windows(PDF_MARK.len()).any(|it| it == PDF_MARK) {
            return Some(Self::Pdf);
        }
        let text = begin.trim_ascii_start();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let text = text.trim_ascii_start();
        let begins = |mark: &[u8]| {
            let head = text.get(..mark.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(mark))
        };
        if begins(b"<!doctype html") || begins(b"<html") || begins(b"<head") {
            return Some(Self::Html);
        }
        let is_text = bytes.len() <= INPUT_BYTES_MAX
            && !bytes.contains(&0)
            && std::str::from_utf8(bytes).is_ok();
        is_text.then_some(Self::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_is_two_words_or_nothing() {
        for (header, essence, charset) in [
            ("text/html", "text/html", None),
            ("Text/HTML; Charset=\"UTF-8\"", "text/html", Some("utf-8")),
            (
                "text/plain;a=b; charset=latin1 ;x",
                "text/plain",
                Some("latin1"),
            ),
            ("", "", None),
            ("\u{1b}[31m", "", None),
            ("text/html; charset=<script>", "text/html", None),
        ] {
            let parsed = ContentType::parse(header);
            assert_eq!(parsed.essence, essence, "{header}");
            assert_eq!(parsed.charset.as_deref(), charset, "{header}");
        }
        let long = format!("text/{}", "x".repeat(WORD_BYTES_MAX));
        assert_eq!(ContentType::parse(&long).essence, "");
    }

    #[test]
    fn bytes_say_what_they_are_when_nobody_else_does() {
        use DocumentKind::*;
        let cases: [(&[u8], Option<DocumentKind>); 9] = [
            (b"%PDF-1.7\n", Some(Pdf)),
            (b"junk\n%PDF-1.4", Some(Pdf)),
            (b"\xef\xbb\xbf <!DOCTYPE html>", Some(Html)),
            (b"<HTML>", Some(Html)),
            (b"# Title", Some(Text)),
            (b"", Some(Text)),
            (b"\x89PNG\r\n\x1a\n\0", None),
            (b"\xff\xfe\xfd", None),
            (b"PK\x03\x04\0", None),
        ];
        for (bytes, kind) in cases {
            assert_eq!(DocumentKind::sniff(bytes), kind, "{bytes:?}");
        }
        let said = |essence: &str| DocumentKind::judge(&ContentType::parse(essence), b"<html>");
        assert_eq!(said("application/octet-stream"), Some(Html));
        assert_eq!(said("image/png"), None);
        assert_eq!(said("text/plain"), Some(Text));
        assert!(!ContentType::parse("image/png").may_be_read());
        assert!(ContentType::parse("").may_be_read());
    }
}
