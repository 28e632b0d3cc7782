//! Seeded vectors that lie as those of real texts do, to measure and test searching with: topics of
//! different sizes, pages within them, chunks within those; everything leans a little to one side.
//!
//! The same seed gives the same numbers on every machine.

use crate::index::splitmix;
use crate::vectors::{Embedding, InvalidEmbedding, dot};

/// How much of a chunk is what all texts have, its topic, its page, itself.
#[derive(Debug, Clone, Copy)]
pub struct CorpusShape {
    pub dimensions: usize,
    pub chunks: usize,
    /// On average; topics differ in size by more than ten times.
    pub chunks_per_topic: usize,
    pub chunks_per_page: usize,
    pub lean: f32,
    pub topic: f32,
    pub page: f32,
    pub own: f32,
}

impl CorpusShape {
    /// Two chunks of a page have a cosine of some 0.7, two of a topic 0.45, two strangers 0.1.
    pub fn texts(chunks: usize) -> Self {
        Self {
            dimensions: 384,
            chunks,
            chunks_per_topic: 1_000,
            chunks_per_page: 8,
            lean: 0.32,
            topic: 0.59,
            page: 0.5,
            own: 0.55,
        }
    }
}

pub struct Corpus {
    shape: CorpusShape,
    lean: Vec<f32>,
    topics: Vec<Vec<f32>>,
    seed: u64,
}

impl Corpus {
    pub fn new(shape: CorpusShape, seed: u64) -> Self {
        let mut numbers = SeededNumbers(seed);
        let lean = numbers.direction(shape.dimensions);
        let count = shape.chunks.div_ceil(shape.chunks_per_topic.max(1)).max(1);
        let topics = (0..count).map(|_| numbers.direction(shape.dimensions));
        Self {
            topics: topics.collect(),
            lean,
            shape,
            seed,
        }
    }

    /// The vectors of the chunks, page after page.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Embedding, InvalidEmbedding>> + '_ {
        let per_page = self.shape.chunks_per_page.max(1);
        (0..self.shape.chunks).map(move |at| self.text(at / per_page, at as u64 + 1))
    }

    /// What somebody asks who looks for some page: as near to its chunks as they are to each other.
    pub fn query(&self, number: usize) -> Result<Embedding, InvalidEmbedding> {
        let pages = self
            .shape
            .chunks
            .div_ceil(self.shape.chunks_per_page.max(1));
        let mut numbers = SeededNumbers(self.seed ^ 0xA5A5 ^ (number as u64) << 20);
        let page = numbers.below(pages.max(1));
        self.text(page, u64::MAX - number as u64)
    }

    fn text(&self, page: usize, own: u64) -> Result<Embedding, InvalidEmbedding> {
        let CorpusShape { dimensions, .. } = self.shape;
        let mut of_page = SeededNumbers(self.seed ^ (page as u64 + 1).wrapping_mul(0x9E37_79B9));
        // The lesser of two leaves some topics with many pages and some with few.
        let topics = self.topics.len();
        let topic = of_page.below(topics).min(of_page.below(topics));
        let page_direction = of_page.direction(dimensions);
        let own_direction = SeededNumbers(self.seed.rotate_left(17) ^ own).direction(dimensions);
        let parts = [
            (self.shape.lean, Some(&self.lean)),
            (self.shape.topic, self.topics.get(topic)),
            (self.shape.page, Some(&page_direction)),
            (self.shape.own, Some(&own_direction)),
        ];
        let mut sum = vec![0.0; dimensions];
        for (weight, direction) in parts {
            for (sum, value) in sum.iter_mut().zip(direction.into_iter().flatten()) {
                *sum += weight * value;
            }
        }
        Embedding::normalised(sum)
    }
}

/// The positions of the best `count` by their exact products: what the index is measured against. Ties go to
/// the lower position.
pub fn exact(vectors: &[Embedding], query: &Embedding, count: usize) -> Vec<usize> {
    let products = vectors
        .iter()
        .map(|vector| dot(vector.as_slice(), query.as_slice()));
    let mut scored: Vec<(f32, usize)> = products.zip(0..).collect();
    let order = |left: &(f32, usize), right: &(f32, usize)| {
        right.0.total_cmp(&left.0).then(left.1.cmp(&right.1))
    };
    if count < scored.len() {
        scored.select_nth_unstable_by(count, order);
        scored.truncate(count);
    }
    scored.sort_unstable_by(order);
    scored.into_iter().map(|(_, position)| position).collect()
}

struct SeededNumbers(u64);

impl SeededNumbers {
    fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(splitmix(&mut self.0) % end.max(1)).unwrap_or_default()
    }

    /// Of about length one, every direction as likely as any other.
    fn direction(&mut self, dimensions: usize) -> Vec<f32> {
        let scale = 1.0 / (dimensions as f32).sqrt();
        (0..dimensions).map(|_| self.normal() * scale).collect()
    }

    /// The sum of twelve, which is near enough to a normal distribution, and exact on every machine.
    fn normal(&mut self) -> f32 {
        let sum: f32 = (0..3)
            .map(|_| {
                let bits = splitmix(&mut self.0);
                let parts = [
                    bits & 0xFFFF,
                    bits >> 16 & 0xFFFF,
                    bits >> 32 & 0xFFFF,
                    bits >> 48,
                ];
                parts
                    .iter()
                    .map(|part| *part as f32 / 65_536.0)
                    .sum::<f32>()
            })
            .sum();
        sum - 6.0
    }
}
