//! The two forms of an answer. Lists that are longer than they may be are counted to their end and not kept,
//! so that the error can say by how much and memory stays bounded.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::BATCH_TEXTS_MAX;
use crate::embedders::EmbeddingError;
use crate::vectors::{DIMENSIONS_MAX, Embedding};

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Bounded<Numbers, BATCH_TEXTS_MAX>,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Bounded<OpenAiVector, BATCH_TEXTS_MAX>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    /// Some servers leave it out; then the order is that of the texts.
    index: Option<usize>,
    embedding: Numbers,
}

/// `null` is how JSON spells what is no number. Read in full, so that what is too large for us is no fault of the JSON's.
type Numbers = Bounded<Option<f64>, DIMENSIONS_MAX>;

pub(super) fn ollama(body: &[u8], texts: usize) -> Result<Vec<Embedding>, EmbeddingError> {
    let answer: OllamaAnswer = parsed(body)?;
    let vectors = answer.embeddings.exactly(texts)?;
    vectors.into_iter().map(embedding).collect()
}

pub(super) fn openai(body: &[u8], texts: usize) -> Result<Vec<Embedding>, EmbeddingError> {
    let answer: OpenAiAnswer = parsed(body)?;
    let mut ordered: Vec<Option<Embedding>> = vec![None; texts];
    for (position, vector) in answer.data.exactly(texts)?.into_iter().enumerate() {
        let place = ordered.get_mut(vector.index.unwrap_or(position));
        let free = place.filter(|place| place.is_none());
        *free.ok_or(EmbeddingError::Malformed)? = Some(embedding(vector.embedding)?);
    }
    // As many as texts, and no place twice: every place is taken.
    Ok(ordered.into_iter().flatten().collect())
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, EmbeddingError> {
    serde_json::from_slice(body).map_err(|_| EmbeddingError::Malformed)
}

fn embedding(numbers: Numbers) -> Result<Embedding, EmbeddingError> {
    if numbers.count > DIMENSIONS_MAX {
        return Err(EmbeddingError::Dimensions {
            expected: DIMENSIONS_MAX,
            found: numbers.count,
        });
    }
    let values = numbers.kept.into_iter();
    let values = values
        .map(|number| number.map_or(f32::NAN, narrowed))
        .collect();
    Ok(Embedding::normalised(values)?)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest number is meant; what is beyond becomes infinite and is refused"
)]
const fn narrowed(number: f64) -> f32 {
    number as f32
}

/// A list of which at most `MAX` are kept.
struct Bounded<T, const MAX: usize> {
    kept: Vec<T>,
    count: usize,
}

impl<T, const MAX: usize> Bounded<T, MAX> {
    fn exactly(self, expected: usize) -> Result<Vec<T>, EmbeddingError> {
        if self.count == expected && self.kept.len() == expected {
            return Ok(self.kept);
        }
        Err(EmbeddingError::Count {
            expected,
            found: self.count,
        })
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(BoundedVisitor(PhantomData))
    }
}

struct BoundedVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for BoundedVisitor<T, MAX> {
    type Value = Bounded<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MAX {
            let Some(element) = list.next_element()? else {
                let count = kept.len();
                return Ok(Bounded { kept, count });
            };
            kept.push(element);
        }
        let mut count = kept.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Bounded { kept, count })
    }
}
