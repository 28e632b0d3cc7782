//! The links of a note to other files of its vault: `[[A]]`, `[[A#h|words]]`, `![[img.png]]`, `[words](a/b.md)`.
//!
//! One pass over the text. What stands in code is no link, an escaped bracket opens none, and an address with a
//! scheme leads elsewhere. Whatever the text is, reading it takes time in proportion to its length: every look
//! ahead ends after `LINK_BYTES_MAX` bytes or at the end of the line, and a look that failed is not repeated.

mod code;
mod destinations;

use std::ops::Range;

use self::code::CodeSpans;
use crate::limits::{LINK_BYTES_MAX, LINKS_MAX};

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkForm {
    /// `[[A]]`
    Wiki,
    /// `![[A]]`: the file is shown in place.
    WikiEmbed,
    /// `[words](a.md)`
    Inline,
    /// `![words](a.png)`
    InlineImage,
}

impl LinkForm {
    /// Whether the target is a path from the note's own folder, and not a name to look for.
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::Inline | Self::InlineImage)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// From the first mark to the last, in the text that was read.
    pub span: Range<usize>,
    pub form: LinkForm,
    /// The name or path as it is meant; empty for a heading of the same note.
    pub target: String,
    /// What stands behind `#`: a heading, or `^` and a block.
    pub heading: Option<String>,
    pub words: Option<String>,
}

/// The links of a text, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    pub found: Vec<Link>,
    /// There are more than `LINKS_MAX`; those behind are text.
    pub are_cut: bool,
}

impl Links {
    pub fn of(text: &str) -> Self {
        let mut links = Self::default();
        let mut reader = Reader::new(text);
        while let Some(link) = reader.next_link() {
            if links.found.len() == LINKS_MAX {
                links.are_cut = true;
                break;
            }
            links.found.push(link);
        }
        links
    }
}

/// An open `[` whose `]` has not come yet.
struct OpenBracket {
    at: usize,
    is_image: bool,
}

struct Reader<'a> {
    text: &'a str,
    code: CodeSpans<'a>,
    at: usize,
    open: Vec<OpenBracket>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            code: CodeSpans::of(text),
            at: 0,
            open: Vec::new(),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn next_link(&mut self) -> Option<Link> {
        loop {
            let marks = ['[', ']', '\\', '`', '\n'];
            self.at += self.rest().find(marks)?;
            if let Some(end) = self.code.end_at(self.at) {
                self.at = end;
                continue;
            }
            let rest = self.rest();
            let link = if rest.starts_with("[[") {
                self.wiki()
            } else if rest.starts_with(']') {
                self.inline()
            } else {
                self.step(rest);
                None
            };
            if link.is_some() {
                return link;
            }
        }
    }

    fn step(&mut self, rest: &str) {
        if rest.starts_with('\\') {
            // Whatever is escaped stands for itself; all marks are one byte long.
            let escaped = rest.chars().nth(1).map_or(0, char::len_utf8);
            self.at += 1 + escaped;
            return;
        }
        if rest.starts_with('[') {
            let (at, is_image) = (self.at, self.follows_mark());
            self.open.push(OpenBracket { at, is_image });
        }
        if rest.starts_with("\n\n") || rest.starts_with("\n\r\n") {
            // Words of a link do not go over the end of a paragraph.
            self.open.clear();
        }
        self.at += 1;
    }

    /// Whether a `!` stands before what is here, and no backslash before that.
    fn follows_mark(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("");
        let slashes = before.strip_suffix('!');
        slashes.is_some_and(|before| {
            let plain = before.trim_end_matches('\\');
            (before.len() - plain.len()).is_multiple_of(2)
        })
    }

    fn wiki(&mut self) -> Option<Link> {
        let start = self.at;
        let inside = self.text.get(start + 2..).unwrap_or("");
        let end = wiki_end(inside);
        let is_embed = self.follows_mark();
        let link = end.and_then(|end| wiki_link(inside.get(..end)?, is_embed));
        let (Some(end), Some((target, heading, words))) = (end, link) else {
            let is_image = is_embed;
            self.open.push(OpenBracket {
                at: start,
                is_image,
            });
            self.at += 1;
            return None;
        };
        self.at = start + 2 + end + 2;
        Some(Link {
            span: start - usize::from(is_embed)..self.at,
            form: match is_embed {
                true => LinkForm::WikiEmbed,
                false => LinkForm::Wiki,
            },
            target,
            heading,
            words,
        })
    }

    /// A `]` that may end the words of a link.
    fn inline(&mut self) -> Option<Link> {
        let end = self.at;
        self.at += 1;
        let open = self.open.pop()?;
        let behind = self.rest().strip_prefix('(')?;
        let (destination, length) = destinations::read(behind)?;
        let target = destinations::in_vault(&destination)?;
        let words = self.text.get(open.at + 1..end)?;
        let span = open.at - usize::from(open.is_image)..self.at + 1 + length;
        if span.len() > LINK_BYTES_MAX {
            return None;
        }
        self.at = span.end;
        if !open.is_image {
            // No link is in a link's words.
            self.open.clear();
        }
        let (target, heading) = match target.split_once('#') {
            Some((target, heading)) => (target, Some(heading)),
            None => (target, None),
        };
        Some(Link {
            span,
            form: match open.is_image {
                true => LinkForm::InlineImage,
                false => LinkForm::Inline,
            },
            target: destinations::decoded(target)?,
            heading: heading.map(|heading| destinations::decoded(heading).unwrap_or_default()),
            words: (!words.is_empty()).then(|| words.to_owned()),
        })
    }
}

/// Where `]]` is, if it comes on this line, in time, and before another link begins.
fn wiki_end(inside: &str) -> Option<usize> {
    let mut characters = inside.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        match (character, next) {
            (']', Some(']')) => return Some(at),
            ('\n', _) | ('[', Some('[')) => return None,
            _ if at + 4 >= LINK_BYTES_MAX => return None,
            _ => {}
        }
    }
    None
}

type WikiParts = (String, Option<String>, Option<String>);

/// Target, heading and words of what stands between `[[` and `]]`.
fn wiki_link(inside: &str, is_embed: bool) -> Option<WikiParts> {
    let (target, words) = match inside.split_once('|') {
        // In a table the bar is escaped.
        Some((target, words)) => (target.strip_suffix('\\').unwrap_or(target), Some(words)),
        None => (inside, None),
    };
    let (target, heading) = match target.split_once('#') {
        Some((target, heading)) => (target, Some(heading.trim())),
        None => (target, None),
    };
    let target = target.trim();
    let has_target = !target.is_empty() || heading.is_some_and(|heading| !heading.is_empty());
    let is_plain = !target.contains(['[', ']', '\0']);
    if !has_target || !is_plain || is_embed && target.is_empty() {
        return None;
    }
    let kept = |part: &str| (!part.is_empty()).then(|| part.to_owned());
    let words = words.map(str::trim).and_then(kept);
    Some((target.to_owned(), heading.and_then(kept), words))
}

#[cfg(test)]
mod tests;
