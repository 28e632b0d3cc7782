//! A text in stretches of about 400 tokens, each of which gets a vector.
//!
//! Chunks end where a paragraph or a sentence does, if one does in time, and begin with the last words of
//! the one before, so that what stands across an end is found too. The same text gives the same chunks; none
//! cuts a character; together they cover all that is not white space, up to the last that fits.
//! Tokens are estimated and not counted: every model counts its own.

mod pieces;

use std::collections::VecDeque;
use std::ops::Range;

use self::pieces::{Piece, Pieces};

pub const CHUNK_TOKENS_MAX: usize = 400;
pub const OVERLAP_TOKENS_MAX: usize = 50;
/// With so many, the end of a paragraph is the end of the chunk.
const PARAGRAPH_END_TOKENS: usize = 300;
pub const CHUNKS_PER_ENTITY_MAX: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    /// Bytes of the text, in its order.
    pub ranges: Vec<Range<usize>>,
    /// Whether the text goes on behind the last chunk that an entity may have.
    pub is_cut: bool,
}

impl Chunks {
    pub fn of(text: &str) -> Self {
        let mut ranges = Vec::new();
        let mut open = OpenChunk::default();
        for piece in Pieces::of(text) {
            if !open.fits(&piece) {
                ranges.extend(open.close());
            }
            if ranges.len() == CHUNKS_PER_ENTITY_MAX {
                return Self {
                    ranges,
                    is_cut: true,
                };
            }
            let ends = piece.ends_paragraph;
            open.push(piece);
            if ends && open.tokens >= PARAGRAPH_END_TOKENS {
                ranges.extend(open.close());
            }
        }
        ranges.extend(open.close());
        Self {
            ranges,
            is_cut: false,
        }
    }

    /// The chunks themselves. `text` is the one that they were made of.
    pub fn texts<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let ranges = self.ranges.iter();
        ranges.filter_map(|range| text.get(range.clone()))
    }
}

#[derive(Default)]
struct OpenChunk {
    pieces: VecDeque<Piece>,
    tokens: usize,
    /// How many of the pieces stand in the chunk before, too.
    repeated: usize,
}

impl OpenChunk {
    /// A piece that came since the last end is never left alone: pieces are smaller than chunks.
    fn fits(&self, piece: &Piece) -> bool {
        self.tokens + piece.tokens <= CHUNK_TOKENS_MAX
    }

    fn push(&mut self, piece: Piece) {
        self.tokens += piece.tokens;
        self.pieces.push_back(piece);
    }

    /// Nothing if nothing came since the last one. What remains open is what the next one repeats.
    fn close(&mut self) -> Option<Range<usize>> {
        if self.pieces.len() == self.repeated {
            return None;
        }
        let start = self.pieces.front()?.range.start;
        let end = self.pieces.back()?.range.end;
        while self.tokens > OVERLAP_TOKENS_MAX {
            let piece = self.pieces.pop_front()?;
            self.tokens -= piece.tokens;
        }
        // A short chunk is not repeated whole.
        if self
            .pieces
            .front()
            .is_some_and(|piece| piece.range.start == start)
        {
            self.pieces.clear();
            self.tokens = 0;
        }
        self.repeated = self.pieces.len();
        Some(start..end)
    }
}

/// About how many tokens a model makes of it.
pub fn estimate_tokens(text: &str) -> usize {
    let mut count = pieces::TokenCount::default();
    text.chars().for_each(|c| count.take(c));
    count.tokens
}

#[cfg(test)]
mod tests;
