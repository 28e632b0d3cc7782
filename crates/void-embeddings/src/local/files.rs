//! The files of a model's folder: read with a bound, summed up into a fingerprint, and what can be wrong.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::vectors::InvalidEmbedding;

/// Of the digest's bytes, so many say which model it is.
const FINGERPRINT_BYTES: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{file} cannot be read: {cause}")]
    Unreadable {
        file: &'static str,
        cause: io::Error,
    },
    #[error("{file} has more than {bytes_max} bytes")]
    TooLarge { file: &'static str, bytes_max: u64 },
    #[error("{file}: {what}")]
    Malformed {
        file: &'static str,
        what: &'static str,
    },
    /// `name` is one of ours, not the file's.
    #[error("the weights {name}: {what}")]
    Weights { name: String, what: &'static str },
    #[error("the weights {name} have the shape {found:?} where the model needs {expected:?}")]
    Shape {
        name: String,
        expected: Vec<usize>,
        found: Vec<usize>,
    },
    #[error("the vocabulary has {words} words, the model {vectors} vectors for them")]
    VocabularyTooLarge { words: usize, vectors: usize },
    #[error("what the model computed is no vector: {0}")]
    Computed(InvalidEmbedding),
}

/// SHA-256 over the files in the order in which they are read.
#[derive(Default)]
pub(super) struct FolderDigest(Sha256);

impl FolderDigest {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> String {
        let digest = self.0.finalize();
        let bytes = digest.iter().take(FINGERPRINT_BYTES);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

pub(super) fn open(folder: &Path, file: &'static str) -> Result<File, ModelError> {
    File::open(folder.join(file)).map_err(|cause| ModelError::Unreadable { file, cause })
}

/// The whole file, unless it is larger than that.
pub(super) fn read(
    folder: &Path,
    file: &'static str,
    bytes_max: u64,
    digest: &mut FolderDigest,
) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    // Read and then judged: the size that a file system tells may change.
    let read = open(folder, file)?
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes);
    read.map_err(|cause| ModelError::Unreadable { file, cause })?;
    if bytes.len() as u64 > bytes_max {
        return Err(ModelError::TooLarge { file, bytes_max });
    }
    digest.update(&bytes);
    Ok(bytes)
}
