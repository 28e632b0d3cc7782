//! What a person types into a search: words, `"phrases"`, `prefix*`, `kind:page`, `tag:x`, and `-` before any of them for
//! what must not be there. Whatever else is typed is words or nothing; there is no text that is a mistake but one that is
//! too long. Nothing that was typed reaches a database but as folded words.

use std::fmt;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::entities::EntityKind;
use super::words::{each_word, words};
use crate::limits::{SEARCH_PREFIX_CHARS_MIN, SEARCH_QUERY_BYTES_MAX, SEARCH_QUERY_WORDS_MAX};

/// What can be found: what the owner keeps, and by name what is in the lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchKind {
    Space,
    Project,
    Page,
    Task,
    Ref,
    Service,
    Action,
    Agent,
    Proposal,
}

impl SearchKind {
    pub const ALL: [Self; 9] = [
        Self::Space,
        Self::Project,
        Self::Page,
        Self::Task,
        Self::Ref,
        Self::Service,
        Self::Action,
        Self::Agent,
        Self::Proposal,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::Project => "project",
            Self::Page => "page",
            Self::Task => "task",
            Self::Ref => "ref",
            Self::Service => "service",
            Self::Action => "action",
            Self::Agent => "agent",
            Self::Proposal => "proposal",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// `None`: it is something of the lab.
    pub const fn entity_kind(self) -> Option<EntityKind> {
        match self {
            Self::Space => Some(EntityKind::Space),
            Self::Project => Some(EntityKind::Project),
            Self::Page => Some(EntityKind::Page),
            Self::Task => Some(EntityKind::Task),
            Self::Ref => Some(EntityKind::Ref),
            Self::Service | Self::Action | Self::Agent | Self::Proposal => None,
        }
    }
}

impl From<EntityKind> for SearchKind {
    fn from(kind: EntityKind) -> Self {
        match kind {
            EntityKind::Space => Self::Space,
            EntityKind::Project => Self::Project,
            EntityKind::Page => Self::Page,
            EntityKind::Task => Self::Task,
            EntityKind::Ref => Self::Ref,
        }
    }
}

impl fmt::Display for SearchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why nothing is found by meaning where nobody wants it: no trouble, and not worth a word to people.
pub const NO_EMBEDDINGS: &str = "no embeddings are set up";

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuery {
    #[error("a search may have {SEARCH_QUERY_BYTES_MAX} bytes at most")]
    TooLong,
    #[error("a search may have {SEARCH_QUERY_WORDS_MAX} words at most")]
    TooManyWords,
}

/// A part of a query that is about the text. All words are folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    Word(String),
    /// A word that begins so.
    Prefix(String),
    /// These words, one after the other: at least two.
    Phrase(Vec<String>),
}

impl SearchTerm {
    /// Whether this folded word is a hit of it.
    pub fn has(&self, word: &str) -> bool {
        match self {
            Self::Word(wanted) => wanted == word,
            Self::Prefix(prefix) => word.starts_with(&**prefix),
            Self::Phrase(words) => words.iter().any(|wanted| wanted == word),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchQuery {
    pub wanted: Vec<SearchTerm>,
    pub unwanted: Vec<SearchTerm>,
    /// One of these, if there are any.
    pub kinds: Vec<SearchKind>,
    pub unwanted_kinds: Vec<SearchKind>,
    /// All of these; folded.
    pub tags: Vec<String>,
    pub unwanted_tags: Vec<String>,
}

impl SearchQuery {
    pub fn parse(text: &str) -> Result<Self, InvalidQuery> {
        if text.len() > SEARCH_QUERY_BYTES_MAX {
            return Err(InvalidQuery::TooLong);
        }
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (is_unwanted, part) = match rest.strip_prefix('-') {
                Some(part) => (true, part),
                None => (false, rest),
            };
            let after = match part.strip_prefix('"') {
                Some(quoted) => {
                    let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
                    query.push_words(phrase, is_unwanted);
                    after
                }
                None => {
                    let end = part.find(char::is_whitespace).unwrap_or(part.len());
                    let (part, after) = part.split_at(end);
                    query.push(part, is_unwanted);
                    after
                }
            };
            rest = after.trim_start();
        }
        match query.word_count() > SEARCH_QUERY_WORDS_MAX {
            true => Err(InvalidQuery::TooManyWords),
            false => Ok(query),
        }
    }

    /// Whether it says nothing that could be found: what must not be there alone finds nothing.
    pub const fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.kinds.is_empty() && self.tags.is_empty()
    }

    pub fn has_phrase(&self) -> bool {
        let is_phrase = |term: &SearchTerm| matches!(term, SearchTerm::Phrase(_));
        self.wanted.iter().chain(&self.unwanted).any(is_phrase)
    }

    /// Whether something of this kind may be a result.
    pub fn may_be(&self, kind: SearchKind) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && !self.unwanted_kinds.contains(&kind)
    }

    fn push(&mut self, part: &str, is_unwanted: bool) {
        if let Some(kind) = part.strip_prefix("kind:").and_then(SearchKind::parse) {
            match is_unwanted {
                true => self.unwanted_kinds.push(kind),
                false => self.kinds.push(kind),
            }
            return;
        }
        if let Some(tag) = part.strip_prefix("tag:").map(folded_tag)
            && !tag.is_empty()
        {
            match is_unwanted {
                true => self.unwanted_tags.push(tag),
                false => self.tags.push(tag),
            }
            return;
        }
        match part.strip_suffix('*') {
            Some(stem) => self.push_prefix(stem, is_unwanted),
            None => self.push_words(part, is_unwanted),
        }
    }

    fn push_words(&mut self, text: &str, is_unwanted: bool) {
        let mut words = words(text);
        let term = match (words.len(), words.pop()) {
            (_, None) => return,
            (1, Some(word)) => SearchTerm::Word(word),
            (_, Some(last)) => {
                words.push(last);
                SearchTerm::Phrase(words)
            }
        };
        self.push_term(term, is_unwanted);
    }

    /// `a-b*`: the words before the last one, and what begins as the last one.
    fn push_prefix(&mut self, stem: &str, is_unwanted: bool) {
        let mut last = None;
        each_word(stem, |word, range| {
            last = Some((word.to_owned(), range));
            ControlFlow::Continue(())
        });
        let Some((word, range)) = last else {
            return;
        };
        // A star after anything but a word begins no word.
        let is_long = word.chars().count() >= SEARCH_PREFIX_CHARS_MIN;
        if !is_long || range.end != stem.len() || (is_unwanted && range.start > 0) {
            return self.push_words(stem, is_unwanted);
        }
        self.push_words(stem.get(..range.start).unwrap_or_default(), is_unwanted);
        self.push_term(SearchTerm::Prefix(word), is_unwanted);
    }

    fn push_term(&mut self, term: SearchTerm, is_unwanted: bool) {
        let terms = match is_unwanted {
            true => &mut self.unwanted,
            false => &mut self.wanted,
        };
        if !terms.contains(&term) {
            terms.push(term);
        }
    }

    fn word_count(&self) -> usize {
        let words = |term: &SearchTerm| match term {
            SearchTerm::Word(_) | SearchTerm::Prefix(_) => 1,
            SearchTerm::Phrase(words) => words.len(),
        };
        let terms: usize = self.wanted.iter().chain(&self.unwanted).map(words).sum();
        let kinds = self.kinds.len() + self.unwanted_kinds.len();
        terms + kinds + self.tags.len() + self.unwanted_tags.len()
    }
}

/// A tag with its words folded; what stands between them stays as it is in tags.
pub fn folded_tag(tag: &str) -> String {
    let tag = tag.strip_prefix('#').unwrap_or(tag);
    let mut folded = String::with_capacity(tag.len());
    let mut from = 0;
    each_word(tag, |word, range| {
        folded.extend(between(tag, from, range.start));
        folded.push_str(word);
        from = range.end;
        ControlFlow::Continue(())
    });
    folded.extend(between(tag, from, tag.len()));
    folded
}

fn between(tag: &str, from: usize, to: usize) -> impl Iterator<Item = char> {
    let signs = tag.get(from..to).unwrap_or_default().chars();
    signs.filter(|sign| matches!(sign, '-' | '_' | '/'))
}

#[cfg(test)]
mod tests;
