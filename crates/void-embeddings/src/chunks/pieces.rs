//! Sentences, lines of lists, and parts of what is longer: what a chunk is put together from. Each is found
//! in one pass over its characters.

use std::ops::Range;

/// A sentence of more is divided, between words if it has any.
pub(super) const PIECE_TOKENS_MAX: usize = 200;
/// Of a word that a model does not know it makes pieces of about so many letters.
const LATIN_LETTERS_PER_TOKEN: usize = 6;
const OTHER_LETTERS_PER_TOKEN: usize = 2;
/// From here on a character is a token: ideographs, kana, hangul, emoji.
const FIRST_WIDE: char = '\u{1100}';
const LAST_LATIN: char = '\u{24F}';

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub range: Range<usize>,
    pub tokens: usize,
    pub ends_paragraph: bool,
}

pub(super) struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        self.at = self.text.len() - self.rest().trim_start().len();
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let cut = cut(rest);
        let start = self.at;
        self.at += cut.bytes;
        let kept = rest.get(..cut.bytes).unwrap_or(rest).trim_end().len();
        Some(Piece {
            range: start..start + kept,
            tokens: cut.tokens,
            ends_paragraph: ends_paragraph(self.rest()),
        })
    }
}

struct Cut {
    bytes: usize,
    tokens: usize,
}

/// Where the piece ends that begins with the first character, which is no white space.
fn cut(text: &str) -> Cut {
    let mut count = TokenCount::default();
    let mut is_sentence_over = false;
    // The last end of a word, with the tokens up to there.
    let mut word_end = None;
    for (at, c) in text.char_indices() {
        let here = Cut {
            bytes: at,
            tokens: count.tokens,
        };
        if c.is_whitespace() {
            let behind = text.get(at..).unwrap_or_default();
            if is_sentence_over || c == '\n' && line_ends_piece(behind) {
                return here;
            }
            word_end = Some(here);
        }
        count.take(c);
        if count.tokens > PIECE_TOKENS_MAX {
            let here = Cut {
                bytes: at,
                tokens: PIECE_TOKENS_MAX,
            };
            return word_end.unwrap_or(here);
        }
        match c {
            '。' | '！' | '？' => {
                return Cut {
                    bytes: at + c.len_utf8(),
                    tokens: count.tokens,
                };
            }
            '.' | '!' | '?' | '…' => is_sentence_over = true,
            '"' | '\'' | ')' | ']' | '»' | '”' | '’' => {}
            _ => is_sentence_over = false,
        }
    }
    Cut {
        bytes: text.len(),
        tokens: count.tokens,
    }
}

/// `rest` begins with the line's end. Lines of a paragraph belong together, those of a list or table do not.
fn line_ends_piece(rest: &str) -> bool {
    let next = rest.trim_start().chars().next();
    ends_paragraph(rest)
        || next.is_none_or(|c| {
            matches!(c, '-' | '*' | '+' | '#' | '>' | '|' | '`') || c.is_ascii_digit()
        })
}

/// Whether only white space with an empty line in it stands before what follows, if anything does.
fn ends_paragraph(rest: &str) -> bool {
    let gap = rest.len() - rest.trim_start().len();
    let gap = rest.get(..gap).unwrap_or_default();
    gap.len() == rest.len() || gap.bytes().filter(|byte| *byte == b'\n').nth(1).is_some()
}

/// Counts as characters come.
#[derive(Default)]
pub(super) struct TokenCount {
    pub tokens: usize,
    /// Of the word that has begun.
    letters: usize,
}

impl TokenCount {
    pub(super) fn take(&mut self, c: char) {
        if c.is_whitespace() {
            self.letters = 0;
        } else if c.is_alphanumeric() && c < FIRST_WIDE {
            let per_token = if c <= LAST_LATIN {
                LATIN_LETTERS_PER_TOKEN
            } else {
                OTHER_LETTERS_PER_TOKEN
            };
            self.tokens += usize::from(self.letters.is_multiple_of(per_token));
            self.letters += 1;
        } else {
            self.letters = 0;
            self.tokens += 1;
        }
    }
}
