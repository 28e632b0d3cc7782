//! The parts of a transformer that are no products: layer norm, softmax, GELU, and adding.

use super::matrices::{Matrix, SizesDiffer, Target, multiply};

/// `y = x·Wᵀ + b`, with the weights of an output side by side.
pub(super) struct Linear {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
    pub inputs: usize,
}

pub(super) struct LayerNorm {
    pub weight: Vec<f32>,
    pub bias: Vec<f32>,
    pub epsilon: f32,
}

impl Linear {
    /// One row of `input` after the other.
    pub(super) fn apply(&self, input: &[f32]) -> Result<Vec<f32>, SizesDiffer> {
        let rows = input.len() / self.inputs.max(1);
        let outputs = self.bias.len();
        let mut output = self.bias.repeat(rows);
        let weights = Matrix::rows(&self.weight, outputs, self.inputs).transposed();
        let target = Target {
            numbers: &mut output,
            row_step: outputs,
        };
        multiply(
            1.0,
            Matrix::rows(input, rows, self.inputs),
            weights,
            1.0,
            target,
        )?;
        Ok(output)
    }
}

impl LayerNorm {
    /// Each row gets the mean 0 and the variance 1, then weight and bias.
    pub(super) fn apply(&self, rows: &mut [f32]) {
        let width = self.weight.len().max(1);
        for row in rows.chunks_exact_mut(width) {
            let count = width as f32;
            let mean = row.iter().sum::<f32>() / count;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            let parameters = self.weight.iter().zip(&self.bias);
            for (value, (weight, bias)) in row.iter_mut().zip(parameters) {
                *value = (*value - mean) * factor * weight + bias;
            }
        }
    }
}

pub(super) fn add(target: &mut [f32], more: &[f32]) {
    for (value, more) in target.iter_mut().zip(more) {
        *value += more;
    }
}

/// Each row becomes shares of one. The largest is subtracted first, so nothing overflows.
pub(super) fn softmax(rows: &mut [f32], width: usize) {
    for row in rows.chunks_exact_mut(width.max(1)) {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for value in row.iter_mut() {
            *value = (*value - largest).exp();
            sum += *value;
        }
        for value in row.iter_mut() {
            *value /= sum;
        }
    }
}

/// `x·Φ(x)`, with the real Φ and not its tanh look-alike.
pub(super) fn gelu(values: &mut [f32]) {
    for value in values {
        *value *= 0.5 * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Off by 1.5e-7 at most (Abramowitz and Stegun 7.1.26), which is what an `f32` near one is off by.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let terms = [
        1.061_405_4,
        -1.453_152_1,
        1.421_413_8,
        -0.284_496_72,
        0.254_829_6,
    ];
    let polynomial = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    (1.0 - polynomial * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erf_is_that_of_the_tables() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
            (3.5, 0.999_999_3),
            (40.0, 1.0),
        ] {
            assert!((erf(x) - expected).abs() < 4e-7, "{x} {}", erf(x));
            assert!((erf(-x) + expected).abs() < 4e-7, "{x}");
        }
    }

    #[test]
    fn shares_of_large_numbers_are_shares() {
        let mut rows = [1e30, 1e30, -1e30, 1.0, 1.0, 1.0];
        softmax(&mut rows, 3);
        assert_eq!(rows[..3], [0.5, 0.5, 0.0]);
        assert!((rows[3..].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_row_without_variance_is_its_bias() {
        let norm = LayerNorm {
            weight: vec![2.0; 3],
            bias: vec![1.0, 2.0, 3.0],
            epsilon: 1e-12,
        };
        let mut row = [5.0; 3];
        norm.apply(&mut row);
        assert_eq!(row, [1.0, 2.0, 3.0]);
        let mut row = [-1.0, 0.0, 1.0];
        norm.apply(&mut row);
        let third = 2.0 * 1.5_f32.sqrt();
        for (value, expected) in row.iter().zip([1.0 - third, 2.0, 3.0 + third]) {
            assert!((value - expected).abs() < 1e-5, "{value}");
        }
    }

    #[test]
    fn weights_of_another_size_are_refused() {
        let linear = Linear {
            weight: vec![1.0; 5],
            bias: vec![0.0; 2],
            inputs: 3,
        };
        assert_eq!(linear.apply(&[1.0; 6]), Err(SizesDiffer));
        let linear = Linear {
            weight: vec![1.0, 0.0, 0.0, 0.0, 1.0, 1.0],
            bias: vec![10.0, 20.0],
            inputs: 3,
        };
        let output = linear.apply(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(output, Ok(vec![11.0, 25.0, 14.0, 31.0]));
    }
}
