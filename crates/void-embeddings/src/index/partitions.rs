//! The codes of one Space, in blocks of fixed size, so that memory grows with what is in it and not in leaps.
//!
//! A chunk costs 62 bytes: 48 of signs, 4 of factors, 8 for its entity, 2 for its number there; beside that a
//! pointer for each block, and what is free in the last one. There is no table from entities to chunks,
//! which would cost more than the rest: whoever takes an entity away looks for it.

use super::codes::{CODE_WORDS, Code, Short, Signs};
use super::{ChunkKey, EntityNumber};

/// 15 KiB: a partition with one chunk costs that.
pub(super) const BLOCK_CHUNKS: usize = 256;

#[derive(Default)]
pub(super) struct Partition {
    blocks: Vec<Box<Block>>,
    chunks: usize,
    /// No entity beyond these has ever been here: most that come are new and need not be looked for.
    span: Option<(EntityNumber, EntityNumber)>,
}

struct Block {
    signs: [Signs; BLOCK_CHUNKS],
    entities: [u64; BLOCK_CHUNKS],
    numbers: [u16; BLOCK_CHUNKS],
    scales: [Short; BLOCK_CHUNKS],
    offsets: [Short; BLOCK_CHUNKS],
}

/// A chunk and how many of its signs are not the query's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Near {
    pub distance: u32,
    pub chunk: ChunkKey,
    pub position: u32,
}

impl Partition {
    pub(super) fn len(&self) -> usize {
        self.chunks
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.blocks.len() * size_of::<Block>() + self.blocks.capacity() * size_of::<Box<Block>>()
    }

    pub(super) fn push(&mut self, chunk: ChunkKey, code: &Code) {
        if self.chunks == self.blocks.len() * BLOCK_CHUNKS {
            self.blocks.push(Block::empty());
        }
        self.put(self.chunks, chunk, code);
        self.chunks += 1;
        let entity = chunk.entity;
        let (first, last) = self.span.unwrap_or((entity, entity));
        self.span = Some((first.min(entity), last.max(entity)));
    }

    /// How many chunks it had.
    pub(super) fn remove(&mut self, entity: EntityNumber) -> usize {
        let may_be_here = |(first, last)| first <= entity && entity <= last;
        if !self.span.is_some_and(may_be_here) {
            return 0;
        }
        let before = self.chunks;
        // From the end: what moves into a hole has been looked at.
        for position in (0..before).rev() {
            if self.entity(position) == Some(entity.0) {
                self.swap_remove(position);
            }
        }
        self.free_blocks();
        before - self.chunks
    }

    pub(super) fn get(&self, position: usize) -> Option<(ChunkKey, Code)> {
        let (block, at) = self.block(position)?;
        let chunk = block.chunk(at)?;
        let code = Code {
            signs: *block.signs.get(at)?,
            scale: *block.scales.get(at)?,
            offset: *block.offsets.get(at)?,
        };
        Some((chunk, code))
    }

    /// Tells `visit` of every chunk that is not further from the query than `visit` last said.
    pub(super) fn scan(&self, query: &Signs, farthest: u32, mut visit: impl FnMut(Near) -> u32) {
        let mut farthest = farthest;
        for (number, block) in self.blocks.iter().enumerate() {
            let start = number * BLOCK_CHUNKS;
            let filled = self.chunks.saturating_sub(start).min(BLOCK_CHUNKS);
            let distances = block.distances(query);
            for (at, distance) in distances.iter().enumerate().take(filled) {
                let distance = u32::from(*distance);
                if distance > farthest {
                    continue;
                }
                let position = u32::try_from(start + at);
                if let (Some(chunk), Ok(position)) = (block.chunk(at), position) {
                    farthest = visit(Near {
                        distance,
                        chunk,
                        position,
                    });
                }
            }
        }
    }

    fn block(&self, position: usize) -> Option<(&Block, usize)> {
        let block = self.blocks.get(position / BLOCK_CHUNKS)?;
        Some((block, position % BLOCK_CHUNKS))
    }

    fn entity(&self, position: usize) -> Option<u64> {
        let (block, at) = self.block(position)?;
        block.entities.get(at).copied()
    }

    fn put(&mut self, position: usize, chunk: ChunkKey, code: &Code) {
        let at = position % BLOCK_CHUNKS;
        if let Some(block) = self.blocks.get_mut(position / BLOCK_CHUNKS) {
            block.put(at, chunk, code);
        }
    }

    /// The last chunk takes the place of this one.
    fn swap_remove(&mut self, position: usize) {
        let Some(last) = self.chunks.checked_sub(1) else {
            return;
        };
        if position != last
            && let Some((chunk, code)) = self.get(last)
        {
            self.put(position, chunk, &code);
        }
        self.chunks = last;
    }

    fn free_blocks(&mut self) {
        self.blocks.truncate(self.chunks.div_ceil(BLOCK_CHUNKS));
        self.blocks.shrink_to(2 * self.blocks.len());
        if self.chunks == 0 {
            self.span = None;
        }
    }
}

impl Block {
    fn empty() -> Box<Self> {
        Box::new(Self {
            signs: [[0; CODE_WORDS]; BLOCK_CHUNKS],
            entities: [0; BLOCK_CHUNKS],
            numbers: [0; BLOCK_CHUNKS],
            scales: [Short::default(); BLOCK_CHUNKS],
            offsets: [Short::default(); BLOCK_CHUNKS],
        })
    }

    fn chunk(&self, at: usize) -> Option<ChunkKey> {
        Some(ChunkKey {
            entity: EntityNumber(*self.entities.get(at)?),
            number: *self.numbers.get(at)?,
        })
    }

    fn put(&mut self, at: usize, chunk: ChunkKey, code: &Code) {
        set(&mut self.signs, at, code.signs);
        set(&mut self.entities, at, chunk.entity.0);
        set(&mut self.numbers, at, chunk.number);
        set(&mut self.scales, at, code.scale);
        set(&mut self.offsets, at, code.offset);
    }

    /// Of all places of the block, filled or not.
    fn distances(&self, query: &Signs) -> [u16; BLOCK_CHUNKS] {
        let mut distances = [0; BLOCK_CHUNKS];
        for (distance, signs) in distances.iter_mut().zip(&self.signs) {
            *distance = differing(signs, query);
        }
        distances
    }
}

fn set<T>(values: &mut [T], at: usize, value: T) {
    if let Some(place) = values.get_mut(at) {
        *place = value;
    }
}

/// How many signs differ.
fn differing(left: &Signs, right: &Signs) -> u16 {
    let words = left.iter().zip(right);
    let counts = words.map(|(left, right)| (left ^ right).count_ones());
    u16::try_from(counts.sum::<u32>()).unwrap_or(u16::MAX)
}
