//! What is kept beside the database: copies of it, the note of how far the record had come, and how large it was.

use std::path::PathBuf;

use super::sizes::LastSizes;
use super::witness::WitnessNote;

pub(crate) struct Safekeeping {
    pub(crate) backups_folder: Option<PathBuf>,
    /// Copies are made one after the other.
    pub(crate) backups_turn: tokio::sync::Mutex<()>,
    pub(crate) witness_file: Option<PathBuf>,
    pub(crate) witnessed: WitnessNote,
    pub(crate) last_sizes: LastSizes,
}

impl Safekeeping {
    pub(crate) fn new(backups_folder: Option<PathBuf>, witness_file: Option<PathBuf>) -> Self {
        Self {
            backups_folder,
            backups_turn: tokio::sync::Mutex::default(),
            witness_file,
            witnessed: WitnessNote::default(),
            last_sizes: LastSizes::default(),
        }
    }
}
