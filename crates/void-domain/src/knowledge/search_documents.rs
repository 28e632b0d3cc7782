//! What an entity is found by: a set of lexemes for the index of an engine, and the order of its words for ranking and phrases.
//!
//! Lexemes hold letters and digits; what is no word of the text begins with a sign that no word has, so nothing that is
//! written in a page passes for a tag, a kind or a space. Both engines store just these and make none of their own.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::entities::{Details, EntityKind, Fields};
use super::queries::folded_tag;
use super::words::{each_word, word_number, words};
use crate::ids::SpaceId;
use crate::limits::{SEARCH_LEXEMES_BYTES_MAX, SEARCH_SEQUENCE_WORDS_MAX};

/// A word of the title.
pub const IN_TITLE: char = '=';
const TAG: char = '#';
const KIND: char = '%';
const SPACE: char = '@';

pub fn tag_lexeme(folded_tag: &str) -> String {
    format!("{TAG}{folded_tag}")
}

pub fn kind_lexeme(kind: EntityKind) -> String {
    format!("{KIND}{kind}")
}

pub fn space_lexeme(space: SpaceId) -> String {
    format!("{SPACE}{space}")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDocument {
    /// Each once, with a blank between them.
    pub lexemes: String,
    /// The numbers of the words of the text in their order, as far as they are kept.
    pub sequence: WordSequence,
}

impl SearchDocument {
    pub fn of(space: SpaceId, fields: &Fields) -> Self {
        let mut lexemes = Lexemes::default();
        lexemes.push(&space_lexeme(space));
        lexemes.push(&kind_lexeme(fields.kind()));
        for tag in fields.all_tags().iter() {
            let tag = folded_tag(tag);
            // What is under `net/dns` is under `net` too.
            for (at, _) in tag.match_indices('/') {
                lexemes.push(&tag_lexeme(tag.get(..at).unwrap_or_default()));
            }
            lexemes.push(&tag_lexeme(&tag));
            lexemes.push_words(&tag);
        }
        for word in words(fields.title.as_str()) {
            lexemes.push(&format!("{IN_TITLE}{word}"));
            lexemes.push(&word);
        }
        if let Details::Ref(kept) = &fields.details {
            lexemes.push_words(kept.url.as_str());
        }
        let mut sequence = WordSequence::default();
        each_word(fields.body.as_str(), |word, _| {
            sequence.push(word);
            lexemes.push(word);
            ControlFlow::Continue(())
        });
        Self {
            lexemes: lexemes.text,
            sequence,
        }
    }
}

#[derive(Debug, Default)]
struct Lexemes {
    text: String,
    known: HashSet<Box<str>>,
}

impl Lexemes {
    /// The space, the kind, tags and the title come first, so it is words of a text that do not fit.
    fn push(&mut self, lexeme: &str) {
        let bytes = self.text.len() + 1 + lexeme.len();
        if bytes > SEARCH_LEXEMES_BYTES_MAX || self.known.contains(lexeme) {
            return;
        }
        self.known.insert(lexeme.into());
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(lexeme);
    }

    fn push_words(&mut self, text: &str) {
        each_word(text, |word, _| {
            self.push(word);
            ControlFlow::Continue(())
        });
    }
}

/// The first words of a text, each as its number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordSequence {
    numbers: Vec<u8>,
    word_count: u64,
}

const NUMBER_BYTES: usize = size_of::<u32>();

impl WordSequence {
    /// All words of a text, also of one that is longer than what is stored of it.
    pub fn of_all(text: &str) -> Self {
        let mut all = Self::default();
        each_word(text, |word, _| {
            all.word_count += 1;
            all.numbers.extend(word_number(word).to_le_bytes());
            ControlFlow::Continue(())
        });
        all
    }

    /// As it was stored. `None`: that is none.
    pub fn stored(numbers: Vec<u8>, word_count: u64) -> Option<Self> {
        let kept = numbers.len() / NUMBER_BYTES;
        let is_whole = numbers.len().is_multiple_of(NUMBER_BYTES);
        let expected = usize::try_from(word_count).unwrap_or(usize::MAX);
        (is_whole && kept == expected.min(SEARCH_SEQUENCE_WORDS_MAX)).then_some(Self {
            numbers,
            word_count,
        })
    }

    fn push(&mut self, word: &str) {
        self.word_count += 1;
        if self.numbers.len() < SEARCH_SEQUENCE_WORDS_MAX * NUMBER_BYTES {
            self.numbers.extend(word_number(word).to_le_bytes());
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.numbers
    }

    /// How many words the text has, kept or not.
    pub const fn word_count(&self) -> u64 {
        self.word_count
    }

    /// Whether the text goes on after what is kept.
    pub const fn is_cut(&self) -> bool {
        (self.numbers.len() / NUMBER_BYTES) as u64 != self.word_count
    }

    pub fn count_of(&self, word: &str) -> u64 {
        let wanted = word_number(word).to_le_bytes();
        let (numbers, _) = self.numbers.as_chunks::<NUMBER_BYTES>();
        numbers.iter().filter(|number| **number == wanted).count() as u64
    }

    /// How often these words stand one after the other.
    pub fn count_of_phrase(&self, words: &[String]) -> u64 {
        let wanted: Vec<[u8; NUMBER_BYTES]> = words
            .iter()
            .map(|word| word_number(word).to_le_bytes())
            .collect();
        let (numbers, _) = self.numbers.as_chunks::<NUMBER_BYTES>();
        if wanted.is_empty() {
            return 0;
        }
        let runs = numbers.windows(wanted.len());
        runs.filter(|run| *run == wanted).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::{Body, PageDetails, Tags, Title};
    use crate::limits::PAGE_BYTES_MAX;
    use crate::time::Timestamp;

    fn document(title: &str, body: String) -> SearchDocument {
        let fields = Fields {
            title: Title::parse(title).unwrap(),
            body: Body::new(body).unwrap(),
            details: Details::Page(PageDetails {
                tags: Tags::parse(["Net/DNS"]).unwrap(),
                ..PageDetails::default()
            }),
        };
        SearchDocument::of(SpaceId::new(Timestamp::from_ms(1), [1; 10]), &fields)
    }

    #[test]
    fn a_page_is_found_by_its_words_tags_kind_and_space() {
        let document = document(
            "Der Zaun",
            "---\ntags: [old]\n---\nDer Zaun der Nachbarn #tag %page =x".to_owned(),
        );
        let lexemes: Vec<&str> = document.lexemes.split(' ').collect();
        let space = space_lexeme(SpaceId::new(Timestamp::from_ms(1), [1; 10]));
        assert_eq!(
            lexemes,
            [
                &*space, "%page", "#net", "#net/dns", "net", "dns", "#old", "old", "=der", "der",
                "=zaun", "zaun", "tags", "nachbarn", "tag", "page", "x"
            ]
        );
        let sequence = document.sequence;
        assert_eq!(sequence.word_count(), 9);
        assert_eq!(sequence.count_of("der"), 2);
        let phrase = |text: &str| words(text);
        assert_eq!(sequence.count_of_phrase(&phrase("zaun der nachbarn")), 1);
        assert_eq!(sequence.count_of_phrase(&phrase("nachbarn zaun")), 0);
        assert_eq!(sequence.count_of_phrase(&[]), 0);
        let stored = WordSequence::stored(sequence.bytes().to_vec(), 9);
        assert_eq!(stored, Some(sequence));
        assert_eq!(WordSequence::stored(vec![0; 8], 3), None);
        assert_eq!(WordSequence::stored(vec![0; 7], 1), None);
    }

    #[test]
    fn a_long_text_is_kept_as_far_as_the_bounds_say() {
        let text = "ab ".repeat(SEARCH_SEQUENCE_WORDS_MAX + 1);
        let sequence = document("x", text.clone()).sequence;
        assert!(sequence.is_cut());
        assert_eq!(sequence.bytes().len(), SEARCH_SEQUENCE_WORDS_MAX * 4);
        let all = WordSequence::of_all(&text);
        assert!(!all.is_cut());
        assert_eq!(all.count_of("ab"), SEARCH_SEQUENCE_WORDS_MAX as u64 + 1);

        // Each of these is eleven times as long when it is folded.
        let mut text = String::new();
        for n in 0.. {
            let word = format!("\u{fdfa}{n} ");
            if text.len() + word.len() > PAGE_BYTES_MAX {
                break;
            }
            text.push_str(&word);
        }
        let lexemes = document("x", text).lexemes;
        assert!(lexemes.len() <= SEARCH_LEXEMES_BYTES_MAX);
        assert!(lexemes.len() > SEARCH_LEXEMES_BYTES_MAX - 100);
    }
}
