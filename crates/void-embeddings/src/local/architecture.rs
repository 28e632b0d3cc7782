//! `config.json`: how many layers of which sizes. Other kinds of model are refused by name, sizes are
//! bounded, so that nothing is allocated for a number that somebody wrote.

use std::path::Path;

use serde::Deserialize;

use super::files::{self, FolderDigest, ModelError};

const CONFIG: &str = "config.json";
const POOLING: &str = "1_Pooling/config.json";
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
const HIDDEN_MAX: usize = 1_024;
const INNER_MAX: usize = 4_096;
const LAYERS_MAX: usize = 24;
const VOCABULARY_MAX: usize = 250_000;
const POSITIONS_MAX: usize = 8_192;
const POSITIONS_MIN: usize = 3;
const TYPES_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Architecture {
    pub hidden: usize,
    pub inner: usize,
    pub layers: usize,
    pub heads: usize,
    pub vocabulary: usize,
    pub positions: usize,
    pub types: usize,
    pub epsilon: f32,
}

#[derive(Deserialize)]
struct ConfigFile {
    model_type: String,
    hidden_act: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f32,
}

#[derive(Deserialize)]
struct PoolingFile {
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
}

impl Architecture {
    pub(super) fn read(folder: &Path, digest: &mut FolderDigest) -> Result<Self, ModelError> {
        let malformed = |what| ModelError::Malformed { file: CONFIG, what };
        let bytes = files::read(folder, CONFIG, CONFIG_BYTES_MAX, digest)?;
        let config: ConfigFile = serde_json::from_slice(&bytes)
            .map_err(|_| malformed("is not the JSON of a BERT model's sizes"))?;
        if config.model_type != "bert" || config.hidden_act != "gelu" {
            return Err(malformed(
                "is of another kind of model; BERT with gelu is known",
            ));
        }
        let read = Self {
            hidden: config.hidden_size,
            inner: config.intermediate_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            vocabulary: config.vocab_size,
            positions: config.max_position_embeddings,
            types: config.type_vocab_size,
            epsilon: config.layer_norm_eps,
        };
        read.check().map_err(malformed)?;
        check_pooling(folder, digest)?;
        Ok(read)
    }

    pub(super) fn head(&self) -> usize {
        self.hidden / self.heads.max(1)
    }

    fn check(&self) -> Result<(), &'static str> {
        let sizes = [
            (self.hidden, HIDDEN_MAX),
            (self.inner, INNER_MAX),
            (self.layers, LAYERS_MAX),
            (self.heads, self.hidden),
            (self.vocabulary, VOCABULARY_MAX),
            (self.positions, POSITIONS_MAX),
            (self.types, TYPES_MAX),
        ];
        if sizes.iter().any(|(size, max)| *size == 0 || size > max) {
            return Err("has a size that is zero or larger than any known model's");
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return Err("has heads that do not divide the hidden size");
        }
        if self.positions < POSITIONS_MIN {
            return Err("has no positions for a word between start and end");
        }
        // Twelve zeros behind the point are usual; zero itself would divide by it.
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err("has an epsilon that is not between 0 and 1");
        }
        Ok(())
    }
}

/// The file may be missing. If it is there, it says how vectors of tokens become one.
fn check_pooling(folder: &Path, digest: &mut FolderDigest) -> Result<(), ModelError> {
    let malformed = |what| ModelError::Malformed {
        file: POOLING,
        what,
    };
    if !folder.join(POOLING).exists() {
        return Ok(());
    }
    let bytes = files::read(folder, POOLING, CONFIG_BYTES_MAX, digest)?;
    let pooling: PoolingFile =
        serde_json::from_slice(&bytes).map_err(|_| malformed("is not the JSON of a pooling"))?;
    let is_mean = pooling.pooling_mode_mean_tokens
        && !pooling.pooling_mode_cls_token
        && !pooling.pooling_mode_max_tokens;
    is_mean
        .then_some(())
        .ok_or(malformed("asks for another pooling than the mean"))
}
