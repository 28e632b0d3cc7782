//! `model.safetensors`: eight bytes with the length of a header, the header in JSON, then the numbers.
//!
//! Only what the model asks for by name is read, straight into its place. The header is bounded, and no
//! offset is followed that leads out of the file or does not fit the shape beside it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::files::{self, FolderDigest, ModelError};

const FILE: &str = "model.safetensors";
/// Of the largest model that `config.json` may describe the header is below a tenth of this.
pub(super) const HEADER_BYTES_MAX: u64 = 1024 * 1024;
/// More than a gigabyte is another kind of model.
const FILE_BYTES_MAX: u64 = 1 << 30;
const FLOAT_BYTES: usize = size_of::<f32>();
const PREFIX_BYTES: usize = size_of::<u64>();

pub(super) struct Weights {
    file: BufReader<File>,
    tensors: HashMap<String, Tensor>,
    data_start: u64,
    data_bytes: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderEntry {
    Tensor(Tensor),
    /// `__metadata__`, or what is damaged: nobody finds a tensor there.
    Other(IgnoredAny),
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [u64; 2],
}

impl Weights {
    /// Reads the file once from end to end, for the digest.
    pub(super) fn open(folder: &Path, digest: &mut FolderDigest) -> Result<Self, ModelError> {
        let mut file = files::open(folder, FILE)?;
        let bytes = digest_file(&mut file, digest)?;
        let mut file = BufReader::new(file);
        file.rewind().map_err(unreadable)?;
        let mut prefix = [0; PREFIX_BYTES];
        exactly(&mut file, &mut prefix, "ends before its header")?;
        let header_bytes = u64::from_le_bytes(prefix);
        if header_bytes > HEADER_BYTES_MAX {
            return Err(malformed("has a header that is too large"));
        }
        let data_start = PREFIX_BYTES as u64 + header_bytes;
        let data_bytes = bytes
            .checked_sub(data_start)
            .ok_or(malformed("ends within its header"))?;
        let mut header = Vec::new();
        let limited = file.by_ref().take(header_bytes).read_to_end(&mut header);
        limited.map_err(unreadable)?;
        let entries: HashMap<String, HeaderEntry> = serde_json::from_slice(&header)
            .map_err(|_| malformed("has a header that is not JSON"))?;
        let tensors = entries.into_iter().filter_map(|(name, entry)| match entry {
            HeaderEntry::Tensor(tensor) => Some((name, tensor)),
            HeaderEntry::Other(_) => None,
        });
        Ok(Self {
            file,
            tensors: tensors.collect(),
            data_start,
            data_bytes,
        })
    }

    /// The numbers of this tensor, row after row.
    pub(super) fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let wrong = |what| ModelError::Weights {
            name: name.to_owned(),
            what,
        };
        let tensor = self.tensors.get(name).ok_or(wrong("are missing"))?;
        if tensor.dtype != "F32" {
            return Err(wrong("are not numbers of 32 bits (F32)"));
        }
        if tensor.shape != shape {
            return Err(ModelError::Shape {
                name: name.to_owned(),
                expected: shape.to_vec(),
                found: tensor.shape.clone(),
            });
        }
        // The architecture is bounded, so this is no more than a file may have.
        let count: usize = shape.iter().product();
        let [start, end] = tensor.data_offsets;
        if end > self.data_bytes || end.checked_sub(start) != Some((count * FLOAT_BYTES) as u64) {
            return Err(wrong("stand outside of the file or have the wrong length"));
        }
        let seek = SeekFrom::Start(self.data_start + start);
        self.file.seek(seek).map_err(unreadable)?;
        let mut numbers = Vec::with_capacity(count);
        let mut bytes = [0; FLOAT_BYTES];
        for _ in 0..count {
            exactly(&mut self.file, &mut bytes, "ends within its weights")?;
            numbers.push(f32::from_le_bytes(bytes));
        }
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(wrong("have a number in them that is not finite"));
        }
        Ok(numbers)
    }
}

/// How many bytes the file has.
fn digest_file(file: &mut File, digest: &mut FolderDigest) -> Result<u64, ModelError> {
    let mut limited = file.take(FILE_BYTES_MAX + 1);
    let (mut bytes, mut buffer) = (0_u64, vec![0; 1 << 16]);
    loop {
        let read = limited.read(&mut buffer).map_err(unreadable)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            return Ok(bytes);
        };
        digest.update(part);
        bytes += part.len() as u64;
        if bytes > FILE_BYTES_MAX {
            return Err(ModelError::TooLarge {
                file: FILE,
                bytes_max: FILE_BYTES_MAX,
            });
        }
    }
}

fn exactly(file: &mut impl Read, bytes: &mut [u8], end: &'static str) -> Result<(), ModelError> {
    file.read_exact(bytes).map_err(|cause| {
        if cause.kind() == io::ErrorKind::UnexpectedEof {
            malformed(end)
        } else {
            unreadable(cause)
        }
    })
}

fn malformed(what: &'static str) -> ModelError {
    ModelError::Malformed { file: FILE, what }
}

fn unreadable(cause: io::Error) -> ModelError {
    ModelError::Unreadable { file: FILE, cause }
}
