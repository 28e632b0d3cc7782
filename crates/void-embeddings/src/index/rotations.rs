//! A fixed rotation that spreads what a vector says evenly over its dimensions, so that the sign of each
//! says about as much as any other's.
//!
//! Signs are flipped and Walsh-Hadamard transforms mixed, which takes `n log n` steps and no matrix. The
//! flips come from a constant: codes that were stored by one process are read by the next.

/// Each round mixes all but what is left over beside a power of two; after these everything is mixed.
const ROUNDS: usize = 4;
const SEED: u64 = 0x5EED_0F5E_A4C4_0001;

#[derive(Debug)]
pub(super) struct Rotation {
    width: usize,
    /// `ROUNDS` times `width` factors, each 1 or -1.
    flips: Vec<f32>,
}

impl Rotation {
    /// `width` is even; lengths and angles stay as they are.
    pub(super) fn new(width: usize) -> Self {
        let mut state = SEED;
        let mut flip = || {
            if splitmix(&mut state) >> 63 == 0 {
                1.0
            } else {
                -1.0
            }
        };
        let flips = (0..ROUNDS * width).map(|_| flip()).collect();
        Self { width, flips }
    }

    /// `values` has `width` numbers; more are left alone.
    pub(super) fn apply(&self, values: &mut [f32]) {
        // The largest power of two that fits: `width` itself or less.
        let block = if self.width == 0 {
            return;
        } else {
            1_usize << self.width.ilog2()
        };
        for (round, flips) in self.flips.chunks(self.width).enumerate() {
            for (value, flip) in values.iter_mut().zip(flips) {
                *value *= flip;
            }
            let start = if round % 2 == 0 {
                0
            } else {
                self.width - block
            };
            if let Some(mixed) = values.get_mut(start..start + block) {
                hadamard(mixed);
            }
            if block != self.width {
                cross(values);
            }
        }
    }
}

/// In place; as many values as a power of two.
fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            butterfly(low, high);
        }
        half *= 2;
    }
}

/// Mixes the first half with the second: what the transform on one side left alone meets the rest.
fn cross(values: &mut [f32]) {
    let (low, high) = values.split_at_mut(values.len() / 2);
    butterfly(low, high);
}

fn butterfly(low: &mut [f32], high: &mut [f32]) {
    for (low, high) in low.iter_mut().zip(high) {
        let (sum, difference) = (*low + *high, *low - *high);
        *low = sum * std::f32::consts::FRAC_1_SQRT_2;
        *high = difference * std::f32::consts::FRAC_1_SQRT_2;
    }
}

/// A sequence of well-mixed numbers from one number (SplitMix64).
pub(crate) fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::dot;

    fn axis(width: usize, at: usize) -> Vec<f32> {
        let mut values = vec![0.0; width];
        values[at] = 1.0;
        values
    }

    #[test]
    fn lengths_and_angles_stay_as_they_are() {
        for width in [2, 384, 386, 512, 768, 1024, 1536] {
            let rotation = Rotation::new(width);
            let mut left: Vec<f32> = (0..width)
                .map(|n| ((n * 7 + 3) % 11) as f32 - 5.0)
                .collect();
            let mut right: Vec<f32> = (0..width)
                .map(|n| ((n * 5 + 1) % 13) as f32 - 6.0)
                .collect();
            let before = (dot(&left, &left), dot(&left, &right));
            rotation.apply(&mut left);
            rotation.apply(&mut right);
            let after = (dot(&left, &left), dot(&left, &right));
            let close = |one: f32, other: f32| (one - other).abs() <= 1e-3 * before.0;
            assert!(
                close(before.0, after.0) && close(before.1, after.1),
                "{width}"
            );
        }
    }

    #[test]
    fn one_dimension_is_spread_over_all() {
        for width in [384, 512, 768, 1024] {
            let rotation = Rotation::new(width);
            for at in [0, 1, width / 2, width - 1] {
                let mut values = axis(width, at);
                rotation.apply(&mut values);
                let largest = values
                    .iter()
                    .fold(0.0_f32, |max, value| max.max(value.abs()));
                // Evenly it would be 1 / sqrt(width), some 0.05.
                assert!(largest < 0.3, "{width} {at} {largest}");
                let silent = values.iter().filter(|value| value.abs() < 1e-6).count();
                assert!(silent < width / 4, "{width} {at} {silent}");
            }
        }
    }

    /// Codes are stored. Whoever changes the rotation makes them worthless, and finds out here.
    #[test]
    fn the_rotation_is_the_same_for_ever() {
        let mut values = axis(384, 5);
        Rotation::new(384).apply(&mut values);
        let signs = values.iter().take(64).enumerate();
        let word = signs.fold(0_u64, |word, (at, value)| {
            word | u64::from(*value >= 0.0) << at
        });
        assert_eq!(format!("{word:016x}"), "d9530b156bd59edd");
    }
}
