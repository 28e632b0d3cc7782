//! The export of Karakeep: `{"bookmarks":[{createdAt, title, tags, content, note, archived}]}`, as its JSON or
//! as a zip archive that holds it. What newer versions add is ignored; files that it keeps elsewhere are
//! counted and left out.

use serde::Deserialize;

use crate::archives;
use crate::inert;
use crate::limits::{
    BOOKMARKS_MAX, BOOKMARKS_TEXT_BYTES_MAX, TAG_CHARS_MAX, TAGS_MAX, TEXT_BYTES_MAX, URL_BYTES_MAX,
};
use crate::plain_text::one_line;
use crate::reports::{Bookmark, Bookmarks, ExportFault, Unreadable};

#[derive(Deserialize)]
struct Export {
    bookmarks: Vec<Exported>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exported {
    /// Unix seconds.
    created_at: Option<f64>,
    title: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    content: Option<ExportedContent>,
    note: Option<String>,
    #[serde(default)]
    archived: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ExportedContent {
    Link {
        url: String,
    },
    Text {
        text: String,
    },
    #[serde(other)]
    Elsewhere,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Bookmarks, Unreadable> {
    let exports = if archives::is_archive(bytes) {
        let files = archives::json_files(bytes).map_err(Unreadable::Archive)?;
        let mut parsed = Vec::new();
        for file in files {
            parsed.extend(serde_json::from_slice::<Export>(&file).ok());
        }
        if parsed.is_empty() {
            return Err(Unreadable::NoExport(ExportFault::NotInArchive));
        }
        parsed
    } else {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let parsed = serde_json::from_slice(bytes);
        vec![parsed.map_err(|_| Unreadable::NoExport(ExportFault::Json))?]
    };
    collect(exports).ok_or(Unreadable::NoExport(ExportFault::TooMuch))
}

/// `None` if it is too much: half an import is none.
fn collect(exports: Vec<Export>) -> Option<Bookmarks> {
    let mut collected = Bookmarks {
        bookmarks: Vec::new(),
        left_out: 0,
        cut: false,
    };
    let mut text_bytes = 0_usize;
    for exported in exports.into_iter().flat_map(|export| export.bookmarks) {
        let Some(bookmark) = convert(exported, &mut collected.cut) else {
            collected.left_out += 1;
            continue;
        };
        let words = [&bookmark.text, &bookmark.note, &bookmark.title];
        let bytes = words.into_iter().flatten().map(String::len);
        text_bytes += bytes.sum::<usize>();
        collected.bookmarks.push(bookmark);
        if collected.bookmarks.len() > BOOKMARKS_MAX || text_bytes > BOOKMARKS_TEXT_BYTES_MAX {
            return None;
        }
    }
    Some(collected)
}

fn convert(exported: Exported, cut: &mut bool) -> Option<Bookmark> {
    let (url, text) = match exported.content {
        Some(ExportedContent::Link { url }) => (Some(url), None),
        Some(ExportedContent::Text { text }) => (None, Some(text)),
        Some(ExportedContent::Elsewhere) | None => (None, None),
    };
    let url = url.filter(|url| is_url(url));
    let text = text.and_then(|text| words(&text, cut));
    let note = exported.note.and_then(|note| words(&note, cut));
    if url.is_none() && text.is_none() && note.is_none() {
        return None;
    }
    let tags = exported.tags.iter().map(|tag| {
        let tag: String = one_line(tag).chars().take(TAG_CHARS_MAX).collect();
        tag
    });
    let title = exported.title.map(|title| one_line(&title));
    Some(Bookmark {
        url,
        title: title.filter(|title| !title.is_empty()),
        text,
        note,
        tags: tags.filter(|tag| !tag.is_empty()).take(TAGS_MAX).collect(),
        created_at_ms: exported.created_at.and_then(to_ms),
        archived: exported.archived,
    })
}

/// Of the web; whether it may be asked for is another question.
fn is_url(text: &str) -> bool {
    let parsed = url::Url::parse(text);
    let is_web = parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    is_web && text.len() <= URL_BYTES_MAX && !text.contains(|c: char| c.is_control())
}

/// The owner's words and those that they kept, without what cannot be seen.
fn words(text: &str, cut: &mut bool) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter(|c| inert::is_kept(*c));
    let mut kept: String = kept.collect();
    if kept.len() > TEXT_BYTES_MAX {
        kept.truncate(kept.floor_char_boundary(TEXT_BYTES_MAX));
        *cut = true;
    }
    (!kept.trim().is_empty()).then_some(kept)
}

/// `None` for what is no time between 1970 and the year 10000.
fn to_ms(seconds: f64) -> Option<i64> {
    const YEAR_10000: f64 = 253_402_300_800.0;
    let is_time = seconds.is_finite() && (0.0..YEAR_10000).contains(&seconds);
    #[expect(clippy::cast_possible_truncation, reason = "it was just bounded")]
    is_time.then_some((seconds * 1000.0).round() as i64)
}

#[cfg(test)]
mod tests;
