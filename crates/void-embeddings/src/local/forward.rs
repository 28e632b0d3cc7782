//! The forward pass of BERT for one text: embeddings, layers of attention and of two linear steps, each with
//! a residual and a norm.
//!
//! One text at a time: no padding, so no mask, and the mean is over exactly the tokens that are there.

use super::architecture::Architecture;
use super::files::ModelError;
use super::layers::{LayerNorm, Linear, add, gelu, softmax};
use super::matrices::{Matrix, SizesDiffer, Target, multiply};
use super::safetensors::Weights;

pub(super) struct Encoder {
    architecture: Architecture,
    words: Vec<f32>,
    /// With the vector of the first token type added: there is no second text.
    positions: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attention_norm: LayerNorm,
    inner: Linear,
    outer: Linear,
    norm: LayerNorm,
}

impl From<SizesDiffer> for ModelError {
    /// Shapes are checked when weights are read, so nobody meets this.
    fn from(_: SizesDiffer) -> Self {
        Self::Weights {
            name: "of a layer".to_owned(),
            what: "do not fit each other",
        }
    }
}

impl Encoder {
    pub(super) fn read(
        weights: &mut Weights,
        architecture: Architecture,
    ) -> Result<Self, ModelError> {
        let Architecture {
            hidden,
            vocabulary,
            types,
            ..
        } = architecture;
        let table = |name: &str| format!("embeddings.{name}_embeddings.weight");
        let words = weights.read(&table("word"), &[vocabulary, hidden])?;
        let mut positions = weights.read(&table("position"), &[architecture.positions, hidden])?;
        let types = weights.read(&table("token_type"), &[types, hidden])?;
        for position in positions.chunks_exact_mut(hidden) {
            add(position, &types);
        }
        let norm = norm(weights, "embeddings.LayerNorm", &architecture)?;
        let layers = (0..architecture.layers).map(|at| Layer::read(weights, at, &architecture));
        Ok(Self {
            words,
            positions,
            norm,
            layers: layers.collect::<Result<_, _>>()?,
            architecture,
        })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.architecture.hidden
    }

    /// Adds the last layer's vectors of all tokens to `sum`.
    pub(super) fn add_tokens(&self, tokens: &[u32], sum: &mut [f32]) -> Result<(), ModelError> {
        let hidden = self.architecture.hidden;
        let mut states = self.embed(tokens)?;
        for layer in &self.layers {
            states = layer.apply(states, &self.architecture)?;
        }
        for state in states.chunks_exact(hidden) {
            add(sum, state);
        }
        Ok(())
    }

    fn embed(&self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let hidden = self.architecture.hidden;
        let mut states = Vec::with_capacity(tokens.len() * hidden);
        for (position, token) in tokens.iter().enumerate() {
            let word = row(&self.words, *token as usize, hidden)?;
            let position = row(&self.positions, position, hidden)?;
            states.extend(
                word.iter()
                    .zip(position)
                    .map(|(word, position)| word + position),
            );
        }
        self.norm.apply(&mut states);
        Ok(states)
    }
}

impl Layer {
    fn read(
        weights: &mut Weights,
        number: usize,
        architecture: &Architecture,
    ) -> Result<Self, ModelError> {
        let Architecture { hidden, inner, .. } = *architecture;
        let part = |name: &str| format!("encoder.layer.{number}.{name}");
        let mut linear =
            |name: &str, outputs, inputs| linear(weights, &part(name), outputs, inputs);
        Ok(Self {
            query: linear("attention.self.query", hidden, hidden)?,
            key: linear("attention.self.key", hidden, hidden)?,
            value: linear("attention.self.value", hidden, hidden)?,
            attended: linear("attention.output.dense", hidden, hidden)?,
            inner: linear("intermediate.dense", inner, hidden)?,
            outer: linear("output.dense", hidden, inner)?,
            attention_norm: norm(weights, &part("attention.output.LayerNorm"), architecture)?,
            norm: norm(weights, &part("output.LayerNorm"), architecture)?,
        })
    }

    fn apply(
        &self,
        states: Vec<f32>,
        architecture: &Architecture,
    ) -> Result<Vec<f32>, SizesDiffer> {
        let mut attended = self.attended.apply(&self.attend(&states, architecture)?)?;
        add(&mut attended, &states);
        self.attention_norm.apply(&mut attended);
        let mut inner = self.inner.apply(&attended)?;
        gelu(&mut inner);
        let mut output = self.outer.apply(&inner)?;
        add(&mut output, &attended);
        self.norm.apply(&mut output);
        Ok(output)
    }

    /// Every token looks at every token, with each head on its own part of the vectors.
    fn attend(&self, states: &[f32], architecture: &Architecture) -> Result<Vec<f32>, SizesDiffer> {
        let (hidden, head) = (architecture.hidden, architecture.head());
        let tokens = states.len() / hidden;
        let query = self.query.apply(states)?;
        let key = self.key.apply(states)?;
        let value = self.value.apply(states)?;
        let [query, key, value] =
            [&query, &key, &value].map(|all| Matrix::rows(all, tokens, hidden));
        let factor = 1.0 / (head as f32).sqrt();
        let mut shares = vec![0.0; tokens * tokens];
        let mut mixed = vec![0.0; states.len()];
        for first in (0..hidden).step_by(head) {
            let [query, key, value] = [query, key, value].map(|all| all.columns(first, head));
            let target = Target {
                numbers: &mut shares,
                row_step: tokens,
            };
            multiply(factor, query, key.transposed(), 0.0, target)?;
            softmax(&mut shares, tokens);
            let target = Target {
                numbers: mixed.get_mut(first..).unwrap_or_default(),
                row_step: hidden,
            };
            multiply(
                1.0,
                Matrix::rows(&shares, tokens, tokens),
                value,
                0.0,
                target,
            )?;
        }
        Ok(mixed)
    }
}

fn row(table: &[f32], number: usize, width: usize) -> Result<&[f32], SizesDiffer> {
    let start = number.checked_mul(width).ok_or(SizesDiffer)?;
    table.get(start..start + width).ok_or(SizesDiffer)
}

fn linear(
    weights: &mut Weights,
    name: &str,
    outputs: usize,
    inputs: usize,
) -> Result<Linear, ModelError> {
    Ok(Linear {
        weight: weights.read(&format!("{name}.weight"), &[outputs, inputs])?,
        bias: weights.read(&format!("{name}.bias"), &[outputs])?,
        inputs,
    })
}

fn norm(
    weights: &mut Weights,
    name: &str,
    architecture: &Architecture,
) -> Result<LayerNorm, ModelError> {
    Ok(LayerNorm {
        weight: weights.read(&format!("{name}.weight"), &[architecture.hidden])?,
        bias: weights.read(&format!("{name}.bias"), &[architecture.hidden])?,
        epsilon: architecture.epsilon,
    })
}
