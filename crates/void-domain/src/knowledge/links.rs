//! Links between entities, as they are written in a text: `[[Title]]`, `[[Title|words]]`, `[[Title#part]]`, embedded with a
//! `!` before it, and `[words](void:page/ID)`. What stands in code is no link.
//!
//! The text is read once and every window is bounded, so a text that is made to be slow is not.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use super::entities::{EntityId, EntityKind};
use super::fields::title_key;
use crate::limits::{LINK_BYTES_MAX, LINKS_MAX};

const SCHEME: &str = "](void:";
/// The longest kind, a slash and an id.
const ADDRESS_BYTES_MAX: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LinkTarget {
    /// The page of this title in the same space, if there is exactly one.
    Title(String),
    Entity(EntityId),
}

impl LinkTarget {
    /// What a title has to have for its key to be meant.
    pub fn title_key(&self) -> Option<String> {
        match self {
            Self::Title(title) => Some(title_key(title)),
            Self::Entity(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub target: LinkTarget,
    /// What is shown instead of the title, if the writer says so.
    pub words: Option<String>,
    /// `![[…]]`: what it names is shown in its place.
    pub is_embed: bool,
    /// Where it stands, in bytes of the text. Of an address, from the end of its words on.
    pub at: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// In the order of the text.
    pub links: Vec<Link>,
    /// There are more than are read.
    pub is_cut: bool,
}

impl Links {
    pub fn of(text: &str) -> Self {
        let mut found = Self::default();
        let mut fence = None;
        let mut begin = 0;
        for line in text.split_inclusive('\n') {
            let is_code = fence.is_some();
            match (fence, Fence::of(line)) {
                (None, opened) => fence = opened,
                (Some(open), Some(closing)) if closing.closes(open) => fence = None,
                (Some(_), _) => {}
            }
            if !is_code && fence.is_none() && !found.read_line(line, begin) {
                break;
            }
            begin += line.len();
        }
        found
    }

    /// Each target once, in the order in which they are first named.
    pub fn targets(&self) -> Vec<&LinkTarget> {
        let mut seen = std::collections::HashSet::new();
        let all = self.links.iter().map(|link| &link.target);
        all.filter(|target| seen.insert(*target)).collect()
    }

    /// `false`: there are enough.
    fn read_line(&mut self, line: &str, begin: usize) -> bool {
        let code = CodeSpans::of(line);
        let bytes = line.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let step = match byte {
                b'\\' => 2,
                b'`' => code.skip(at),
                b'[' | b']' => match self.read_at(line, at, begin) {
                    Ok(step) => step,
                    Err(Full) => return false,
                },
                _ => 1,
            };
            at += step;
        }
        true
    }

    /// How far the reader may go on.
    fn read_at(&mut self, line: &str, at: usize, begin: usize) -> Result<usize, Full> {
        let rest = line.as_bytes().get(at..).unwrap_or_default();
        let read = if rest.starts_with(b"[[") {
            wiki(line, at)
        } else if rest.starts_with(SCHEME.as_bytes()) {
            address(line, at)
        } else {
            return Ok(1);
        };
        let (link, step) = match read {
            Ok(read) => read,
            Err(NoLink(step)) => return Ok(step),
        };
        if self.links.len() >= LINKS_MAX {
            self.is_cut = true;
            return Err(Full);
        }
        self.links.push(Link {
            at: begin + link.at.start..begin + link.at.end,
            ..link
        });
        Ok(step)
    }
}

struct Full;

/// How many bytes can be passed over.
struct NoLink(usize);

/// `[[Title#part|words]]` at this place of the line.
fn wiki(line: &str, at: usize) -> Result<(Link, usize), NoLink> {
    let begin = at + 2;
    let bytes = line.as_bytes().get(begin..).unwrap_or_default();
    let window = bytes.iter().take(LINK_BYTES_MAX + 1);
    let length = window
        .take_while(|byte| !matches!(byte, b'[' | b']' | b'\n'))
        .count();
    let is_closed = bytes.get(length..length + 2) == Some(b"]]");
    // What is passed over holds no bracket that a link begins with; of three in a row the second one may.
    let none = NoLink(if length == 0 { 1 } else { 2 + length });
    if !is_closed || length > LINK_BYTES_MAX {
        return Err(none);
    }
    let inner = line.get(begin..begin + length).unwrap_or_default();
    let (name, words) = match inner.split_once('|') {
        // In a table the bar is escaped.
        Some((name, words)) => (name.trim_end_matches('\\'), Some(words.trim())),
        None => (inner, None),
    };
    let title = name.split('#').next().unwrap_or_default().trim();
    if title.is_empty() {
        return Err(none);
    }
    let is_embed = at
        .checked_sub(1)
        .and_then(|before| line.as_bytes().get(before))
        == Some(&b'!');
    let link = Link {
        target: LinkTarget::Title(title.to_owned()),
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        is_embed,
        at: at - usize::from(is_embed)..begin + length + 2,
    };
    Ok((link, length + 4))
}

/// `](void:page/ID)` at this place of the line.
fn address(line: &str, at: usize) -> Result<(Link, usize), NoLink> {
    let begin = at + SCHEME.len();
    let none = || NoLink(SCHEME.len());
    let bytes = line.as_bytes().get(begin..).unwrap_or_default();
    let mut window = bytes.iter().take(ADDRESS_BYTES_MAX);
    let length = window.position(|byte| *byte == b')').ok_or_else(none)?;
    let inner = line.get(begin..begin + length).ok_or_else(none)?;
    let (kind, id) = inner.split_once('/').ok_or_else(none)?;
    let kind = EntityKind::parse(kind).ok_or_else(none)?;
    let id = EntityId::parse(kind, id).map_err(|_| none())?;
    let link = Link {
        target: LinkTarget::Entity(id),
        words: None,
        is_embed: false,
        at: at..begin + length + 1,
    };
    Ok((link, SCHEME.len() + length + 1))
}

/// A line of three or more backticks or tildes.
#[derive(Clone, Copy)]
struct Fence {
    sign: u8,
    length: usize,
    /// Words behind it say a language, so it opens and never closes.
    is_bare: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_start_matches(' ').trim_end();
        let sign = *line.as_bytes().first()?;
        let length = line.bytes().take_while(|byte| *byte == sign).count();
        let rest = line.get(length..).unwrap_or_default();
        let is_fence =
            length >= 3 && matches!(sign, b'`' | b'~') && !(sign == b'`' && rest.contains('`'));
        is_fence.then_some(Self {
            sign,
            length,
            is_bare: rest.is_empty(),
        })
    }

    const fn closes(self, open: Self) -> bool {
        self.sign == open.sign && self.length >= open.length && self.is_bare
    }
}

/// The runs of backticks of a line.
struct CodeSpans {
    /// Where each begins and how long it is.
    runs: Vec<(usize, usize)>,
    /// Where the last run of each length begins.
    last: HashMap<usize, usize>,
}

impl CodeSpans {
    fn of(line: &str) -> Self {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (at, byte) in line.bytes().enumerate() {
            if byte != b'`' {
                continue;
            }
            match runs.last_mut() {
                Some((begin, length)) if *begin + *length == at => *length += 1,
                _ => runs.push((at, 1)),
            }
        }
        let last = runs
            .iter()
            .map(|(begin, length)| (*length, *begin))
            .collect();
        Self { runs, last }
    }

    /// From a backtick to behind the code that it opens, or behind its run if it opens none. Each run is looked at once: what
    /// lies between is skipped with it.
    fn skip(&self, at: usize) -> usize {
        let index = self
            .runs
            .partition_point(|(begin, length)| begin + length <= at);
        let Some((begin, length)) = self.runs.get(index) else {
            return 1;
        };
        let rest = begin + length - at;
        // A backslash before the run takes its first sign away.
        let length = rest;
        if self.last.get(&length).is_none_or(|last| *last <= at) {
            return rest;
        }
        let mut behind = self.runs.iter().skip(index + 1);
        let closing = behind.find(|(_, other)| *other == length);
        closing.map_or(rest, |(begin, length)| begin + length - at)
    }
}
