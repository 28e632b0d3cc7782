//! The note of a running server in its data folder: which process it is and what it was started with. The lock on the
//! file says whether it still runs, whatever the file says.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const FILE: &str = "running.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub pid: u32,
    /// Another one for each start, also of the same process.
    pub start: String,
    /// Where it listens; notes of earlier versions do not say it.
    #[serde(default)]
    pub listen: Option<SocketAddr>,
    pub actions: PathBuf,
    pub services: PathBuf,
    /// The digest of each service that is watched.
    pub watched: BTreeMap<String, String>,
    /// How often it was asked to reload and did not, and why the last time.
    #[serde(default)]
    pub refusals: u32,
    #[serde(default)]
    pub refusal: Option<String>,
}

/// Held by the server as long as it runs.
pub(crate) struct Running {
    file: File,
    note: Note,
}

impl Running {
    /// `None`: somebody else holds it, or it cannot be written; nothing depends on it but reloading.
    pub(crate) fn start(folder: &Path, note: Note) -> Option<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(folder.join(FILE))
            .ok()?;
        // Whoever looks takes it for a moment.
        file.lock().ok()?;
        let mut running = Self { file, note };
        running.write().ok()?;
        Some(running)
    }

    pub(crate) fn refuse(&mut self, why: String) {
        self.note.refusals = self.note.refusals.saturating_add(1);
        self.note.refusal = Some(why);
        if let Err(error) = self.write() {
            tracing::warn!(%error, "why nothing was reloaded could not be noted");
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file
            .write_all(serde_json::to_string(&self.note)?.as_bytes())
    }
}

/// The server that runs on this data folder. `None`: none does, or it is just starting.
pub(crate) fn find(folder: &Path) -> Option<Note> {
    let mut file = File::open(folder.join(FILE)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        // Nobody holds it: what it says is over.
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note() -> Note {
        Note {
            pid: 1,
            start: "a".to_owned(),
            listen: Some(([127, 0, 0, 1], 3001).into()),
            actions: "/a".into(),
            services: "/s".into(),
            watched: BTreeMap::from([("web".to_owned(), "d1".to_owned())]),
            refusals: 0,
            refusal: None,
        }
    }

    #[test]
    fn a_note_counts_as_long_as_its_writer_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(folder.path()), None);
        let mut running = Running::start(folder.path(), note()).unwrap();
        assert_eq!(find(folder.path()), Some(note()));
        running.refuse("no".to_owned());
        let refused = find(folder.path()).unwrap();
        assert_eq!(
            (refused.refusals, refused.refusal.as_deref()),
            (1, Some("no"))
        );
        drop(running);
        assert_eq!(find(folder.path()), None, "it is over, whatever it says");
    }

    #[test]
    fn a_damaged_note_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::start(folder.path(), note()).unwrap();
        std::fs::write(folder.path().join(FILE), "{\"pid\":").unwrap();
        assert_eq!(find(folder.path()), None);
        drop(running);
    }
}
