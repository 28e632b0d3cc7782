//! A vector in 52 bytes: the sign of each of 384 rotated dimensions, and two numbers that make an estimate
//! of its product with a query from them.
//!
//! With the centre `c` of the corpus, a chunk is `o = c + r` and a query `q = c + s`, so
//! `q·o = s·r + c·r + q·c`. The last part is the same for all chunks, `c·r` is stored, and `s·r` is
//! estimated from the signs of the rotated `r` times the factor by which those signs are too long (the
//! estimator of RaBitQ). Vectors of more dimensions keep the first 384 of the rotated ones.

use super::rotations::Rotation;
use crate::vectors::{DIMENSIONS_MAX, Embedding, InvalidEmbedding, dot};

pub(super) const CODE_BITS: usize = 384;
pub(super) const CODE_WORDS: usize = CODE_BITS / 64;
const SIGN_BYTES: usize = CODE_BITS / 8;
/// A stored code.
pub const CODE_BYTES: usize = SIGN_BYTES + 2 * size_of::<u16>();
const BYTE_VALUES: usize = 256;

/// Signs, 64 in a word.
pub(super) type Signs = [u64; CODE_WORDS];

/// Makes codes of vectors of one model. Codes of one coder are compared with each other only.
#[derive(Debug)]
pub struct Coder {
    rotation: Rotation,
    /// In the model's own dimensions.
    centre: Vec<f32>,
    /// How many dimensions are rotated: those of the model, and zeros up to the bits of a code.
    width: usize,
}

/// What the index keeps of a vector; may be stored beside it, so that a start need not read the vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    pub(super) signs: Signs,
    pub(super) scale: Short,
    pub(super) offset: Short,
}

/// The upper half of an `f32`: what is lost is a tenth of what the signs lose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Short(u16);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vector of {found} dimensions in an index of {expected}")]
pub struct DimensionsDiffer {
    pub expected: usize,
    pub found: usize,
}

impl Coder {
    /// With zero as the centre: for a corpus that is not known yet.
    pub fn new(dimensions: usize) -> Result<Self, InvalidEmbedding> {
        Self::with_centre(vec![0.0; dimensions])
    }

    /// With the mean of some vectors of the corpus as the centre, which makes codes tell more. A thousand are
    /// enough. Vectors that do not fit the first one are left out.
    pub fn centred<'a>(
        sample: impl IntoIterator<Item = &'a Embedding>,
    ) -> Result<Self, InvalidEmbedding> {
        let mut sample = sample.into_iter();
        let first = sample.next().ok_or(InvalidEmbedding::Dimensions(0))?;
        let mut sums: Vec<f64> = first
            .as_slice()
            .iter()
            .map(|value| f64::from(*value))
            .collect();
        let mut count = 1.0;
        for vector in sample.filter(|vector| vector.dimensions() == first.dimensions()) {
            for (sum, value) in sums.iter_mut().zip(vector.as_slice()) {
                *sum += f64::from(*value);
            }
            count += 1.0;
        }
        let mean = sums
            .into_iter()
            .map(|sum| crate::vectors::narrowed(sum / count));
        Self::with_centre(mean.collect())
    }

    /// With the centre of a coder whose codes were stored ([`Coder::centre`]).
    pub fn with_centre(centre: Vec<f32>) -> Result<Self, InvalidEmbedding> {
        if centre.is_empty() || centre.len() > DIMENSIONS_MAX {
            return Err(InvalidEmbedding::Dimensions(centre.len()));
        }
        if !centre.iter().all(|value| value.is_finite()) {
            return Err(InvalidEmbedding::NotFinite);
        }
        let width = centre.len().max(CODE_BITS).next_multiple_of(2);
        Ok(Self {
            rotation: Rotation::new(width),
            centre,
            width,
        })
    }

    pub fn dimensions(&self) -> usize {
        self.centre.len()
    }

    /// To be stored with the codes.
    pub fn centre(&self) -> &[f32] {
        &self.centre
    }

    pub fn encode(&self, vector: &Embedding) -> Result<Code, DimensionsDiffer> {
        let (rotated, offset) = self.rotated(vector)?;
        let lengths: f32 = rotated.iter().map(|value| value.abs()).sum();
        // Of a vector that is the centre itself nothing is left: it is estimated by its offset.
        let scale = if lengths > 0.0 {
            dot(&rotated, &rotated) / lengths * self.kept()
        } else {
            0.0
        };
        Ok(Code {
            signs: signs(&rotated),
            scale: Short::of(scale),
            offset: Short::of(offset),
        })
    }

    pub(super) fn query(&self, vector: &Embedding) -> Result<CodedQuery, DimensionsDiffer> {
        let (rotated, _) = self.rotated(vector)?;
        Ok(CodedQuery::new(&rotated))
    }

    /// How many rotated dimensions stand behind each that a code keeps.
    fn kept(&self) -> f32 {
        self.width as f32 / CODE_BITS as f32
    }

    /// The rotated distance from the centre, as far as a code keeps it, and its product with the centre.
    fn rotated(&self, vector: &Embedding) -> Result<(Vec<f32>, f32), DimensionsDiffer> {
        if vector.dimensions() != self.dimensions() {
            return Err(DimensionsDiffer {
                expected: self.dimensions(),
                found: vector.dimensions(),
            });
        }
        let pairs = vector.as_slice().iter().zip(&self.centre);
        let mut rest: Vec<f32> = pairs.map(|(value, centre)| value - centre).collect();
        let offset = dot(&rest, &self.centre);
        rest.resize(self.width, 0.0);
        self.rotation.apply(&mut rest);
        rest.truncate(CODE_BITS);
        Ok((rest, offset))
    }
}

impl Code {
    pub fn to_bytes(&self) -> [u8; CODE_BYTES] {
        let mut bytes = [0; CODE_BYTES];
        let words = self.signs.iter().flat_map(|word| word.to_le_bytes());
        let shorts = [self.scale.0, self.offset.0];
        let shorts = shorts.into_iter().flat_map(u16::to_le_bytes);
        for (byte, value) in bytes.iter_mut().zip(words.chain(shorts)) {
            *byte = value;
        }
        bytes
    }

    /// None for anything that [`Code::to_bytes`] does not make.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CODE_BYTES] = bytes.try_into().ok()?;
        let (sign_bytes, shorts) = bytes.split_at(SIGN_BYTES);
        let mut signs = [0; CODE_WORDS];
        for (word, bytes) in signs.iter_mut().zip(sign_bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let [scale, offset] = shorts.as_chunks().0 else {
            return None;
        };
        let [scale, offset] = [scale, offset].map(|bytes| Short(u16::from_le_bytes(*bytes)));
        let finite = scale.value().is_finite() && offset.value().is_finite();
        finite.then_some(Self {
            signs,
            scale,
            offset,
        })
    }
}

impl Short {
    fn of(value: f32) -> Self {
        // To the nearest; vectors are of length one, so nothing overflows.
        let rounded = value.to_bits().saturating_add(0x8000) >> 16;
        Self(u16::try_from(rounded).unwrap_or_default())
    }

    pub(super) fn value(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

fn signs(rotated: &[f32]) -> Signs {
    let mut words = [0; CODE_WORDS];
    for (word, values) in words.iter_mut().zip(rotated.chunks(64)) {
        for (at, value) in values.iter().enumerate() {
            *word |= u64::from(*value >= 0.0) << at;
        }
    }
    words
}

/// A query, ready to be compared with codes.
pub(super) struct CodedQuery {
    pub signs: Signs,
    /// For each byte of signs and each of its values, the sum of the query's numbers with those signs.
    sums: Vec<[f32; BYTE_VALUES]>,
}

impl CodedQuery {
    fn new(rotated: &[f32]) -> Self {
        Self {
            signs: signs(rotated),
            sums: rotated.as_chunks::<8>().0.iter().map(byte_sums).collect(),
        }
    }

    /// The product of query and chunk, but for what is the same for all chunks.
    pub(super) fn estimate(&self, code: &Code) -> f32 {
        let bytes = code.signs.iter().flat_map(|word| word.to_le_bytes());
        let terms = bytes.zip(&self.sums);
        let product: f32 = terms
            .filter_map(|(byte, sums)| sums.get(usize::from(byte)))
            .sum();
        product * code.scale.value() + code.offset.value()
    }
}

fn byte_sums(values: &[f32; 8]) -> [f32; BYTE_VALUES] {
    let mut sums = [0.0; BYTE_VALUES];
    for (signs, sum) in sums.iter_mut().enumerate() {
        let signed = values.iter().enumerate();
        let signed = signed.map(|(at, value)| if signs >> at & 1 == 1 { *value } else { -value });
        *sum = signed.sum();
    }
    sums
}

#[cfg(test)]
mod tests;
