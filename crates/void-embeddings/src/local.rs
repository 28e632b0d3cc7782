//! A sentence model in process: BERT with mean pooling, such as all-MiniLM-L6-v2, from a folder with
//! `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json`.
//!
//! Files are bounded and checked before they are believed: sizes, names, shapes, and that every number is
//! one. A text makes at most [`WINDOWS_MAX`] passes of 256 tokens; one that fits a pass gets exactly the
//! vector that the model's own library gives it, a longer one the mean over all of its tokens.

mod architecture;
mod files;
mod forward;
mod layers;
mod matrices;
mod safetensors;
mod tokenizer;
mod vocabulary;
mod words;

use std::path::Path;

use self::architecture::Architecture;
pub use self::files::ModelError;
use self::forward::Encoder;
use self::tokenizer::Tokenizer;
pub use self::tokenizer::{TOKENS_MAX, WINDOWS_MAX};
use crate::vectors::Embedding;

/// 90 MB of numbers for MiniLM-L6; nothing is kept of the files.
pub struct LocalModel {
    tokenizer: Tokenizer,
    encoder: Encoder,
    fingerprint: String,
}

impl LocalModel {
    /// Reads the whole folder, which takes a moment: not for a thread that others wait for.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let mut digest = files::FolderDigest::default();
        let architecture = Architecture::read(folder, &mut digest)?;
        let vocabulary = vocabulary::read(folder, &mut digest)?;
        if vocabulary.len() > architecture.vocabulary {
            return Err(ModelError::VocabularyTooLarge {
                words: vocabulary.len(),
                vectors: architecture.vocabulary,
            });
        }
        let mut weights = safetensors::Weights::open(folder, &mut digest)?;
        let encoder = Encoder::read(&mut weights, architecture)?;
        Ok(Self {
            tokenizer: Tokenizer::new(vocabulary, architecture.positions),
            encoder,
            fingerprint: digest.finish(),
        })
    }

    pub fn dimensions(&self) -> usize {
        self.encoder.dimensions()
    }

    /// Of the files: vectors of folders with the same one can be compared.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Computes for some hundredths of a second for each window of the text.
    pub fn embed(&self, text: &str) -> Result<Embedding, ModelError> {
        let mut sum = vec![0.0; self.dimensions()];
        for window in self.tokenizer.windows(text) {
            self.encoder.add_tokens(&window, &mut sum)?;
        }
        Embedding::normalised(sum).map_err(ModelError::Computed)
    }
}

#[cfg(test)]
mod tests;
