//! The part of a text that shows why it was found: one line, its hits marked. It is made here for every surface, as parts and
//! not as markup, so nothing in a text can mark itself. What could hide or turn text is left out.

use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

use super::queries::SearchQuery;
use super::words::each_word;
use crate::limits::{SNIPPET_CHARS_MAX, SNIPPET_HITS_MAX};
use crate::text::is_deceptive;

/// What stands before the first hit.
const BEFORE_CHARS_MAX: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnippetSpan {
    pub text: String,
    pub hit: bool,
}

/// A word that was looked for, and which of the terms it is.
struct WordHit {
    range: Range<usize>,
    term: usize,
}

/// The place with the most different terms, or how the text begins if none is in it. Empty for an empty text.
pub fn snippet(text: &str, query: &SearchQuery) -> Vec<SnippetSpan> {
    let hits = hits(text, query);
    let begin = best(text, &hits).map_or(0, |range| before(text, range.start));
    let (mut spans, mut shown) = (SnippetSpans::new(), begin);
    if begin > 0 {
        spans.push("… ", false);
    }
    for hit in hits.iter().filter(|hit| hit.range.start >= begin) {
        if !spans.push(text.get(shown..hit.range.start).unwrap_or_default(), false)
            || !spans.push(text.get(hit.range.clone()).unwrap_or_default(), true)
        {
            return spans.end(true);
        }
        shown = hit.range.end;
    }
    let is_whole = spans.push(text.get(shown..).unwrap_or_default(), false);
    spans.end(!is_whole)
}

/// The title, its hits marked.
pub fn marked(title: &str, query: &SearchQuery) -> Vec<SnippetSpan> {
    let (mut spans, mut shown) = (SnippetSpans::new(), 0);
    for hit in hits(title, query) {
        spans.push(title.get(shown..hit.range.start).unwrap_or_default(), false);
        spans.push(title.get(hit.range.clone()).unwrap_or_default(), true);
        shown = hit.range.end;
    }
    spans.push(title.get(shown..).unwrap_or_default(), false);
    spans.end(false)
}

fn hits(text: &str, query: &SearchQuery) -> Vec<WordHit> {
    let mut hits = Vec::new();
    if query.wanted.is_empty() {
        return hits;
    }
    each_word(text, |word, range| {
        if let Some(term) = query.wanted.iter().position(|term| term.has(word)) {
            hits.push(WordHit { range, term });
        }
        match hits.len() < SNIPPET_HITS_MAX {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    hits
}

/// The first of the runs of hits, within what is shown, that have the most different terms and then the most hits.
fn best(text: &str, hits: &[WordHit]) -> Option<Range<usize>> {
    let room = SNIPPET_CHARS_MAX.saturating_sub(BEFORE_CHARS_MAX);
    let mut best: Option<((usize, usize), Range<usize>)> = None;
    for (place, first) in hits.iter().enumerate() {
        let within = text.get(first.range.start..).unwrap_or_default();
        let end = within
            .char_indices()
            .nth(room)
            .map_or(text.len(), |(at, _)| first.range.start + at);
        let run = hits.iter().skip(place);
        let run: Vec<usize> = run
            .take_while(|hit| hit.range.end <= end)
            .map(|hit| hit.term)
            .collect();
        let mut terms = run.clone();
        terms.sort_unstable();
        terms.dedup();
        let worth = (terms.len(), run.len());
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, first.range.clone()));
        }
    }
    best.map(|(_, range)| range)
}

/// A little before a hit, at the beginning of a word.
fn before(text: &str, hit: usize) -> usize {
    let head = text.get(..hit).unwrap_or_default();
    let mut begin = 0;
    for (count, (at, character)) in head.char_indices().rev().enumerate() {
        if count >= BEFORE_CHARS_MAX {
            return match begin {
                0 => at,
                begin => begin,
            };
        }
        if character.is_whitespace() {
            begin = at + character.len_utf8();
        }
    }
    0
}

struct SnippetSpans {
    spans: Vec<SnippetSpan>,
    chars: usize,
    ends_blank: bool,
}

impl SnippetSpans {
    const fn new() -> Self {
        Self {
            spans: Vec::new(),
            chars: 0,
            ends_blank: true,
        }
    }

    /// `false`: not all of it fits.
    fn push(&mut self, text: &str, hit: bool) -> bool {
        for character in text.chars() {
            let is_blank = character.is_whitespace() || character.is_control();
            if is_deceptive(character) || (is_blank && self.ends_blank) {
                continue;
            }
            if self.chars >= SNIPPET_CHARS_MAX {
                return false;
            }
            self.chars += 1;
            self.ends_blank = is_blank;
            let shown = if is_blank { ' ' } else { character };
            match self.spans.last_mut() {
                Some(last) if last.hit == hit => last.text.push(shown),
                _ => self.spans.push(SnippetSpan {
                    text: shown.to_string(),
                    hit,
                }),
            }
        }
        true
    }

    fn end(mut self, is_cut: bool) -> Vec<SnippetSpan> {
        if is_cut {
            match self.spans.last_mut() {
                Some(last) if !last.hit => last.text.push('…'),
                _ => self.spans.push(SnippetSpan {
                    text: "…".to_owned(),
                    hit: false,
                }),
            }
        }
        self.spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let spans = snippet(text, &SearchQuery::parse(query).unwrap());
        let show = |span: &SnippetSpan| match span.hit {
            true => format!("[{}]", span.text),
            false => span.text.clone(),
        };
        spans.iter().map(show).collect()
    }

    #[test]
    fn hits_are_marked_as_they_are_written() {
        assert_eq!(
            shown("Die Größe\n\n der  Straße.", "grosse str*"),
            "Die [Größe] der [Straße]."
        );
        assert_eq!(shown("a b c", "\"b c\""), "a [b] [c]");
        assert_eq!(shown("nothing here", "zaun"), "nothing here");
        assert_eq!(shown("", "zaun"), "");
        assert_eq!(shown("zaun", "-zaun kind:page"), "zaun");
        let title = marked(
            "DNS of\u{202e} the lab",
            &SearchQuery::parse("dns").unwrap(),
        );
        assert_eq!(title.len(), 2);
        assert!(title[0].hit && title[1].text == " of the lab");
    }

    #[test]
    fn the_place_with_the_most_terms_is_shown() {
        let filler = "word ".repeat(200);
        let text = format!("dns here {filler} dns and dhcp together {filler} dhcp");
        let shown = shown(&text, "dns dhcp");
        assert!(shown.contains("[dns] and [dhcp] together"), "{shown}");
        assert!(
            shown.starts_with("… word ") && shown.ends_with('…'),
            "{shown}"
        );
    }

    #[test]
    fn a_snippet_is_one_line_and_bounded_and_hides_nothing() {
        let text = format!("\u{202e}evil\u{200b}\0\n{}", "zaun ".repeat(1_000));
        let spans = snippet(&text, &SearchQuery::parse("zaun").unwrap());
        let all: String = spans.iter().map(|span| &*span.text).collect();
        assert!(all.chars().count() <= SNIPPET_CHARS_MAX + 1, "{all}");
        assert!(
            !all.chars().any(|c| c.is_control() || is_deceptive(c)),
            "{all:?}"
        );
        let long = "x".repeat(100_000);
        assert!(shown(&format!("{long} zaun"), "zaun").len() < 2_000);
        assert!(shown(&format!("{} zaun", "ä".repeat(1_000)), "zaun").contains("[zaun]"));
    }
}
