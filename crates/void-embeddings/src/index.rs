//! Which chunks are nearest to a query, from 62 bytes a chunk in memory.
//!
//! Three sieves, each finer and slower: the signs of all chunks are compared with the query's and the
//! nearest some thousand kept; of these the product is estimated, and the best few hundred kept; the stored
//! vectors of those are read and give the result. Every cut has a total order (by distance or score, then
//! entity, then number), so the same chunks give the same result in whatever order they came.
//!
//! The index knows nothing of who may see what but the Spaces that a search names: none named, nothing found.

mod codes;
mod partitions;
mod rotations;
mod scores;

use std::collections::BTreeMap;

use self::codes::CodedQuery;
pub use self::codes::{CODE_BYTES, Code, Coder, DimensionsDiffer};
use self::partitions::{Near, Partition};
pub(crate) use self::rotations::splitmix;
pub use self::scores::{Found, Scored, best_of_entities, score};
use crate::chunks::CHUNKS_PER_ENTITY_MAX;
use crate::vectors::Embedding;

/// How many chunks the signs let through at least: all of a Space of less.
const NEAR_CHUNKS_MIN: usize = 2_048;
/// Beyond that, one of so many: signs err by some chunks of each hundred.
const NEAR_CHUNKS_SHARE: usize = 128;
/// How many stored vectors are read for a search when nobody says otherwise.
pub const CANDIDATES: usize = 384;
/// Whoever asks for more gets these.
pub const CANDIDATES_MAX: usize = 2_048;
/// A chunk's place in a partition is a `u32`.
const PARTITION_CHUNKS_MAX: usize = u32::MAX as usize;

/// A Space, by its number in the database. Or whatever else searches are confined to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceNumber(pub u64);

/// A page, task, ref or project, by its number in the database; in one Space at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityNumber(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkKey {
    pub entity: EntityNumber,
    /// Counted from 0 within the entity.
    pub number: u16,
}

/// Nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IndexFull {
    #[error("{0} chunks of one entity; {CHUNKS_PER_ENTITY_MAX} fit")]
    Entity(usize),
    #[error("the Space has as many chunks as can be counted")]
    Space,
}

/// What a search is for.
pub struct SearchScope<'a> {
    pub spaces: &'a [SpaceNumber],
    /// Of which entities; for filters that the database answers.
    pub accepts: &'a dyn Fn(EntityNumber) -> bool,
}

impl<'a> SearchScope<'a> {
    /// Everything in these Spaces.
    pub fn spaces(spaces: &'a [SpaceNumber]) -> Self {
        Self {
            spaces,
            accepts: &|_| true,
        }
    }
}

pub struct Index {
    coder: Coder,
    partitions: BTreeMap<SpaceNumber, Partition>,
}

impl Index {
    /// Takes no memory until something is in it.
    pub fn new(coder: Coder) -> Self {
        Self {
            coder,
            partitions: BTreeMap::new(),
        }
    }

    /// Makes the codes that this index takes.
    pub fn coder(&self) -> &Coder {
        &self.coder
    }

    /// The entity has these chunks from now on, in this Space and no other.
    pub fn replace(
        &mut self,
        space: SpaceNumber,
        entity: EntityNumber,
        codes: &[Code],
    ) -> Result<(), IndexFull> {
        if codes.len() > CHUNKS_PER_ENTITY_MAX {
            return Err(IndexFull::Entity(codes.len()));
        }
        let there = self.partitions.get(&space).map_or(0, Partition::len);
        if there + codes.len() > PARTITION_CHUNKS_MAX {
            return Err(IndexFull::Space);
        }
        self.remove(entity);
        if codes.is_empty() {
            return Ok(());
        }
        let partition = self.partitions.entry(space).or_default();
        for (code, number) in codes.iter().zip(0_u16..) {
            partition.push(ChunkKey { entity, number }, code);
        }
        Ok(())
    }

    /// How many chunks it had.
    pub fn remove(&mut self, entity: EntityNumber) -> usize {
        let partitions = self.partitions.values_mut();
        let removed = partitions.map(|partition| partition.remove(entity)).sum();
        if removed > 0 {
            self.partitions.retain(|_, partition| partition.len() > 0);
        }
        removed
    }

    pub fn remove_space(&mut self, space: SpaceNumber) -> usize {
        let removed = self.partitions.remove(&space);
        removed.map_or(0, |partition| partition.len())
    }

    /// Chunks.
    pub fn len(&self) -> usize {
        self.partitions.values().map(Partition::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// What the codes take with everything that is kept about them.
    pub fn memory_bytes(&self) -> usize {
        let partitions = self.partitions.values();
        let own = partitions.map(|one| one.memory_bytes() + size_of::<(SpaceNumber, Partition)>());
        own.sum()
    }

    /// The chunks whose stored vectors are worth reading, at most `count`, the most promising first.
    pub fn candidates(
        &self,
        scope: &SearchScope<'_>,
        query: &Embedding,
        count: usize,
    ) -> Result<Vec<ChunkKey>, DimensionsDiffer> {
        let query = self.coder.query(query)?;
        let count = count.min(CANDIDATES_MAX);
        let mut spaces = scope.spaces.to_vec();
        spaces.sort_unstable();
        spaces.dedup();
        let partitions = spaces.iter().filter_map(|space| self.partitions.get(space));
        let mut estimated: Vec<(f32, ChunkKey)> = Vec::new();
        for partition in partitions {
            let near = nearest(partition, &query, scope.accepts);
            let codes = near
                .iter()
                .filter_map(|near| partition.get(near.position as usize));
            estimated.extend(codes.map(|(chunk, code)| (query.estimate(&code), chunk)));
        }
        keep_least(&mut estimated, count, scores::best_first);
        estimated.sort_unstable_by(scores::best_first);
        Ok(estimated.into_iter().map(|(_, chunk)| chunk).collect())
    }

    /// [`Index::candidates`] and [`score`] in one, for a caller that reads stored vectors without waiting.
    pub fn search<E>(
        &self,
        scope: &SearchScope<'_>,
        query: &Embedding,
        limit: usize,
        read: impl FnOnce(&[ChunkKey]) -> Result<Vec<(ChunkKey, Embedding)>, E>,
    ) -> Result<Found, SearchError<E>> {
        let candidates = self.candidates(scope, query, CANDIDATES.max(limit));
        let candidates = candidates.map_err(SearchError::Dimensions)?;
        let vectors = read(&candidates).map_err(SearchError::Read)?;
        Ok(score(query, &candidates, vectors, limit))
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError<E> {
    #[error(transparent)]
    Dimensions(DimensionsDiffer),
    #[error("the stored vectors cannot be read")]
    Read(E),
}

/// The chunks with the fewest signs that differ. Memory does not grow with the partition.
fn nearest(
    partition: &Partition,
    query: &CodedQuery,
    accepts: &dyn Fn(EntityNumber) -> bool,
) -> Vec<Near> {
    let count = NEAR_CHUNKS_MIN.max(partition.len() / NEAR_CHUNKS_SHARE);
    let mut near: Vec<Near> = Vec::with_capacity((2 * count).min(partition.len()));
    let mut farthest = u32::MAX;
    partition.scan(&query.signs, farthest, |chunk| {
        if accepts(chunk.chunk.entity) {
            near.push(chunk);
        }
        if near.len() == 2 * count {
            keep_least(&mut near, count, Near::cmp);
            let distances = near.iter().map(|near| near.distance);
            farthest = distances.max().unwrap_or(farthest);
        }
        farthest
    });
    keep_least(&mut near, count, Near::cmp);
    near
}

/// The least `count`, in no order.
fn keep_least<T>(
    values: &mut Vec<T>,
    count: usize,
    order: impl FnMut(&T, &T) -> std::cmp::Ordering,
) {
    if values.len() > count {
        if let Some(last) = count.checked_sub(1) {
            values.select_nth_unstable_by(last, order);
        }
        values.truncate(count);
    }
}

#[cfg(test)]
mod tests;
