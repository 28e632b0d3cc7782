//! The last sieve: products with the stored vectors themselves.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{ChunkKey, EntityNumber};
use crate::vectors::Embedding;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    pub chunk: ChunkKey,
    /// The cosine, -1 to 1.
    pub score: f32,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best first.
    pub chunks: Vec<Scored>,
    /// Candidates without a stored vector of the query's model: gone since, or damaged.
    pub missing: usize,
}

/// The best `limit` of the candidates by their stored vectors, which may come in any order and be less. What
/// was no candidate does not count, nor does a second vector of one chunk.
pub fn score(
    query: &Embedding,
    candidates: &[ChunkKey],
    vectors: Vec<(ChunkKey, Embedding)>,
    limit: usize,
) -> Found {
    let mut wanted: BTreeSet<ChunkKey> = candidates.iter().copied().collect();
    let mut scored = Vec::with_capacity(wanted.len());
    for (chunk, vector) in vectors {
        let Some(score) = query.cosine(&vector) else {
            continue;
        };
        if wanted.remove(&chunk) {
            scored.push((score, chunk));
        }
    }
    scored.sort_unstable_by(best_first);
    scored.truncate(limit);
    let chunks = scored.into_iter();
    Found {
        chunks: chunks
            .map(|(score, chunk)| Scored { chunk, score })
            .collect(),
        missing: wanted.len(),
    }
}

/// Each entity once, by its best chunk: a list to be merged with one of words.
pub fn best_of_entities(chunks: &[Scored]) -> Vec<EntityNumber> {
    let mut told = BTreeSet::new();
    let entities = chunks.iter().map(|scored| scored.chunk.entity);
    entities.filter(|entity| told.insert(*entity)).collect()
}

/// By score, then by chunk.
pub(super) fn best_first(left: &(f32, ChunkKey), right: &(f32, ChunkKey)) -> Ordering {
    right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
}
