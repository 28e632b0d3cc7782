//! Room for the last words. A small file is kept in the data folder; when the disk is full it is
//! given back, so that outcomes, rejections and a freeze can still be recorded.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A first checkpoint writes every page of the schema, which is most of what closing needs.
pub(super) const RESERVE_BYTES: usize = 1024 * 1024;

pub(super) struct Reserve {
    path: PathBuf,
    folder: PathBuf,
    low_water_bytes: u64,
}

impl Reserve {
    pub(super) fn new(database: &Path, low_water_bytes: u64) -> Self {
        let folder = database
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let reserve = Self {
            path: database.with_extension("reserve"),
            folder: folder.to_owned(),
            low_water_bytes,
        };
        reserve.refill();
        reserve
    }

    /// Whether new work should be refused. If it cannot be told, it is not.
    pub(super) fn is_low(&self) -> bool {
        match rustix::fs::statvfs(&self.folder) {
            Ok(stat) => stat.f_bavail.saturating_mul(stat.f_frsize) < self.low_water_bytes,
            Err(_) => false,
        }
    }

    /// Gives the room back to the file system.
    pub(super) fn release(&self) {
        if fs::remove_file(&self.path).is_ok() {
            tracing::warn!("the disk is full: the reserve was released to record what ends");
        }
    }

    /// Takes the room again once there is plenty. Real blocks: a sparse file would reserve nothing.
    pub(super) fn refill(&self) {
        if self.path.exists() || self.is_low() {
            return;
        }
        let filled = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(super::PRIVATE)
            .open(&self.path)
            .and_then(|mut file| file.write_all(&vec![0x56; RESERVE_BYTES]));
        if filled.is_err() {
            let _ = fs::remove_file(&self.path);
        }
    }
}
