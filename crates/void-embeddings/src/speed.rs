//! The index beside a scan of all vectors, in one run on one corpus: what `void-bench` and
//! `examples/search-speed.rs` print.

use std::fmt;
use std::time::Duration;

use crate::corpora::{Corpus, CorpusShape, exact};
use crate::index::{
    CANDIDATES, ChunkKey, Coder, EntityNumber, Index, IndexFull, SearchScope, SpaceNumber, score,
};
use crate::vectors::{Embedding, InvalidEmbedding};

/// As many results as a person looks at.
const RESULTS: usize = 10;
const CENTRE_SAMPLE: usize = 1_000;
const SPACE: SpaceNumber = SpaceNumber(1);

/// Medians over the queries.
#[derive(Debug, Clone)]
pub struct SearchSpeed {
    pub chunks: usize,
    /// A scan of all vectors.
    pub exact: Duration,
    /// All three sieves, the stored vectors in memory.
    pub index: Duration,
    /// Of the exact best ten, how many the index finds.
    pub recall: f64,
    pub bytes_per_chunk: f64,
}

impl SearchSpeed {
    pub fn ratio(&self) -> f64 {
        self.index.as_secs_f64() / self.exact.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl fmt::Display for SearchSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} chunks: exact {:?}, index {:?} ({:.3}), recall@{RESULTS} {:.4}, {:.1} bytes a chunk",
            self.chunks,
            self.exact,
            self.index,
            self.ratio(),
            self.recall,
            self.bytes_per_chunk
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error(transparent)]
    Vector(#[from] InvalidEmbedding),
    #[error(transparent)]
    Dimensions(#[from] crate::index::DimensionsDiffer),
    #[error(transparent)]
    Full(#[from] IndexFull),
}

/// `now` is a clock that only goes forward.
pub fn measure(
    shape: CorpusShape,
    queries: usize,
    now: &dyn Fn() -> Duration,
) -> Result<SearchSpeed, MeasureError> {
    let corpus = Corpus::new(shape, 7);
    let vectors = corpus.chunks().collect::<Result<Vec<_>, _>>()?;
    let mut index = Index::new(Coder::centred(vectors.iter().take(CENTRE_SAMPLE))?);
    for (page, vectors) in vectors.chunks(shape.chunks_per_page.max(1)).enumerate() {
        let codes = vectors.iter().map(|vector| index.coder().encode(vector));
        let codes = codes.collect::<Result<Vec<_>, _>>()?;
        index.replace(SPACE, EntityNumber(page as u64), &codes)?;
    }
    let (mut exact_times, mut index_times, mut found) = (Vec::new(), Vec::new(), 0);
    for number in 0..queries {
        let query = corpus.query(number)?;
        let begun = now();
        let expected = exact(&vectors, &query, RESULTS);
        let scanned = now();
        let candidates = index.candidates(&SearchScope::spaces(&[SPACE]), &query, CANDIDATES)?;
        let stored = stored(&vectors, &candidates, shape.chunks_per_page.max(1));
        let best = score(&query, &candidates, stored, RESULTS);
        index_times.push(now().saturating_sub(scanned));
        exact_times.push(scanned.saturating_sub(begun));
        let positions = best
            .chunks
            .iter()
            .map(|scored| position(scored.chunk, shape.chunks_per_page.max(1)));
        found += positions
            .filter(|position| expected.contains(position))
            .count();
    }
    Ok(SearchSpeed {
        chunks: vectors.len(),
        exact: median(exact_times),
        index: median(index_times),
        recall: found as f64 / (queries * RESULTS.min(vectors.len())).max(1) as f64,
        bytes_per_chunk: index.memory_bytes() as f64 / index.len().max(1) as f64,
    })
}

fn position(chunk: ChunkKey, per_page: usize) -> usize {
    usize::try_from(chunk.entity.0).unwrap_or(usize::MAX) * per_page + usize::from(chunk.number)
}

fn stored(
    vectors: &[Embedding],
    candidates: &[ChunkKey],
    per_page: usize,
) -> Vec<(ChunkKey, Embedding)> {
    let read = |chunk: &ChunkKey| Some((*chunk, vectors.get(position(*chunk, per_page))?.clone()));
    candidates.iter().filter_map(read).collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
