//! The words of a model and their numbers: `vocab.txt`, one a line, or the table in `tokenizer.json`.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::files::{self, FolderDigest, ModelError};

const TEXT: &str = "vocab.txt";
const JSON: &str = "tokenizer.json";
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;
const JSON_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) struct Vocabulary {
    numbers: HashMap<Box<str>, u32>,
    pub unknown: u32,
    pub start: u32,
    pub end: u32,
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: HashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// `numbers` count from 0 without gaps.
    fn new(numbers: HashMap<Box<str>, u32>) -> Result<Self, &'static str> {
        let mut is_used = vec![false; numbers.len()];
        for number in numbers.values() {
            match is_used.get_mut(*number as usize) {
                Some(used) if !*used => *used = true,
                _ => return Err("has words whose numbers are not those from 0 on"),
            }
        }
        let special = |word: &str| numbers.get(word).copied();
        let special = (special("[UNK]"), special("[CLS]"), special("[SEP]"));
        let (Some(unknown), Some(start), Some(end)) = special else {
            return Err("lacks [UNK], [CLS] or [SEP]");
        };
        Ok(Self {
            numbers,
            unknown,
            start,
            end,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }
}

pub(super) fn read(folder: &Path, digest: &mut FolderDigest) -> Result<Vocabulary, ModelError> {
    if folder.join(TEXT).exists() {
        let malformed = |what| ModelError::Malformed { file: TEXT, what };
        let bytes = files::read(folder, TEXT, TEXT_BYTES_MAX, digest)?;
        let text = String::from_utf8(bytes).map_err(|_| malformed("is not UTF-8"))?;
        let words = text.lines().zip(0_u32..);
        let numbers = words.map(|(word, number)| (word.into(), number)).collect();
        return Vocabulary::new(numbers).map_err(malformed);
    }
    let malformed = |what| ModelError::Malformed { file: JSON, what };
    let bytes = files::read(folder, JSON, JSON_BYTES_MAX, digest)?;
    let file: TokenizerFile = serde_json::from_slice(&bytes)
        .map_err(|_| malformed("is not the JSON of a WordPiece vocabulary"))?;
    Vocabulary::new(file.model.vocab).map_err(malformed)
}
