//! The vector of a text: finite numbers of length one, in the order of the model's dimensions.
//!
//! Whatever comes from a model, an endpoint or the database becomes an [`Embedding`] here or an error, so
//! nobody behind this line meets a number that is none. The cosine of two of them is their product.

use std::fmt;

/// More than any model in use has.
pub const DIMENSIONS_MAX: usize = 4_096;
/// A stored vector is read back exactly; what is further from length one than this was not written by us.
const LENGTH_TOLERANCE: f64 = 1e-3;
const FLOAT_BYTES: usize = size_of::<f32>();
/// Sums that are added side by side, so that the compiler can use wide registers. Fixed, so that every
/// machine adds in the same order and finds the same bits.
const LANES: usize = 16;

#[derive(Clone, PartialEq)]
pub struct Embedding(Box<[f32]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmbedding {
    #[error("a vector of {0} dimensions; it has 1 to {DIMENSIONS_MAX}")]
    Dimensions(usize),
    #[error("the vector has a number in it that is not finite")]
    NotFinite,
    #[error("the vector is zero and has no direction")]
    NoDirection,
    #[error("{0} bytes are not a stored vector")]
    Bytes(usize),
    #[error("the stored vector is not of length one")]
    Length,
}

impl Embedding {
    /// Of any length but zero; it is made one.
    pub fn normalised(mut values: Vec<f32>) -> Result<Self, InvalidEmbedding> {
        let length = checked_length(&values)?;
        if length == 0.0 {
            return Err(InvalidEmbedding::NoDirection);
        }
        for value in &mut values {
            *value = narrowed(f64::from(*value) / length);
        }
        Ok(Self(values.into()))
    }

    /// What [`Embedding::to_bytes`] made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidEmbedding> {
        let (floats, []) = bytes.as_chunks::<FLOAT_BYTES>() else {
            return Err(InvalidEmbedding::Bytes(bytes.len()));
        };
        let values: Vec<f32> = floats
            .iter()
            .map(|float| f32::from_le_bytes(*float))
            .collect();
        let length = checked_length(&values)?;
        if (length - 1.0).abs() > LENGTH_TOLERANCE {
            return Err(InvalidEmbedding::Length);
        }
        Ok(Self(values.into()))
    }

    /// Little-endian floats, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// None between vectors of two models.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        (self.dimensions() == other.dimensions()).then(|| dot(&self.0, &other.0))
    }
}

/// Vectors are long, and of no use to a reader of logs.
impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Embedding of {} dimensions", self.0.len())
    }
}

fn checked_length(values: &[f32]) -> Result<f64, InvalidEmbedding> {
    if values.is_empty() || values.len() > DIMENSIONS_MAX {
        return Err(InvalidEmbedding::Dimensions(values.len()));
    }
    if !values.iter().all(|value| value.is_finite()) {
        return Err(InvalidEmbedding::NotFinite);
    }
    let squares = values.iter().map(|value| f64::from(*value).powi(2));
    Ok(squares.sum::<f64>().sqrt())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "f64 has no other way to f32 than `as`, which rounds"
)]
pub(crate) fn narrowed(value: f64) -> f32 {
    value as f32
}

/// Of the common part of both.
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_lanes, left_rest) = left.as_chunks::<LANES>();
    let (right_lanes, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left_lanes.iter().zip(right_lanes) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest = left_rest.iter().zip(right_rest);
    let rest = rest.map(|(left, right)| left * right).sum::<f32>();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_gets_length_one_however_long_it_was() {
        for factor in [1.0, 1e-30, 1e30, f32::MAX / 4.0, 1e-38] {
            let made = Embedding::normalised(vec![3.0 * factor, 4.0 * factor]).unwrap();
            for (value, expected) in made.as_slice().iter().zip([0.6, 0.8]) {
                assert!((value - expected).abs() < 1e-6, "{factor} {value}");
            }
        }
    }

    #[test]
    fn what_has_no_direction_or_is_no_number_is_refused() {
        for (values, error) in [
            (vec![], InvalidEmbedding::Dimensions(0)),
            (vec![0.0; 3], InvalidEmbedding::NoDirection),
            (vec![1.0, f32::NAN], InvalidEmbedding::NotFinite),
            (vec![f32::INFINITY], InvalidEmbedding::NotFinite),
            (
                vec![1.0; DIMENSIONS_MAX + 1],
                InvalidEmbedding::Dimensions(DIMENSIONS_MAX + 1),
            ),
        ] {
            assert_eq!(Embedding::normalised(values), Err(error));
        }
        let longest = Embedding::normalised(vec![1.0; DIMENSIONS_MAX]).unwrap();
        assert_eq!(longest.dimensions(), DIMENSIONS_MAX);
    }

    #[test]
    fn stored_bytes_are_read_back_exactly_or_refused() {
        let made =
            Embedding::normalised((0_u8..100).map(|n| f32::from(n) - 31.5).collect()).unwrap();
        assert_eq!(Embedding::from_bytes(&made.to_bytes()), Ok(made.clone()));
        let bytes = made.to_bytes();
        assert_eq!(
            Embedding::from_bytes(&bytes[1..]),
            Err(InvalidEmbedding::Bytes(399))
        );
        assert_eq!(
            Embedding::from_bytes(&bytes[4 * 50..]),
            Err(InvalidEmbedding::Length)
        );
        assert_eq!(
            Embedding::from_bytes(&[]),
            Err(InvalidEmbedding::Dimensions(0))
        );
        let mut damaged = bytes;
        damaged[3] = 0x7f;
        damaged[2] = 0xc0;
        assert_eq!(
            Embedding::from_bytes(&damaged),
            Err(InvalidEmbedding::NotFinite)
        );
    }

    #[test]
    fn the_product_counts_every_number_once() {
        for length in [0_u8, 1, 15, 16, 17, 40] {
            let left: Vec<f32> = (0..length).map(f32::from).collect();
            let right = vec![2.0; left.len()];
            let sum: f32 = left.iter().sum();
            assert!(
                (dot(&left, &right) - 2.0 * sum).abs() < f32::EPSILON,
                "{length}"
            );
        }
    }

    #[test]
    fn vectors_of_two_models_have_no_cosine() {
        let two = Embedding::normalised(vec![1.0, 0.0]).unwrap();
        let three = Embedding::normalised(vec![1.0, 0.0, 0.0]).unwrap();
        assert_eq!(two.cosine(&three), None);
        assert_eq!(two.cosine(&two), Some(1.0));
    }
}
