//! A service's files in the lab's folder: `NAME.json` its plan, `NAME.lock` held by its process and
//! naming it, `NAME.turn` held while it is started or stopped, `NAME.broken` while it is to stay down.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::services::ServiceError;
use crate::services::processes::Owner;

pub const NAME_BYTES_MAX: usize = 40;

/// How a service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceKind {
    /// HTTP/1.0 and 1.1: 200 and a tiny body.
    Http,
    /// Accepts connections.
    Tcp,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub port: u16,
    pub kind: ServiceKind,
}

pub(crate) struct ServiceFiles {
    folder: PathBuf,
    name: String,
}

impl ServiceFiles {
    pub(crate) fn new(folder: &Path, name: &str) -> Result<Self, ServiceError> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_plain) {
            return Err(ServiceError::BadName(name.to_owned()));
        }
        Ok(Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn plan(&self) -> Result<Plan, ServiceError> {
        let text = match fs::read(self.path("json")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ServiceError::Unknown(self.name.clone()));
            }
            read => read.map_err(|error| self.failed(error))?,
        };
        serde_json::from_slice(&text).map_err(|error| self.failed(error.into()))
    }

    pub(crate) fn write_plan(&self, port: u16, kind: ServiceKind) -> Result<(), ServiceError> {
        let text = serde_json::to_vec(&Plan { port, kind });
        let text = text.map_err(|error| self.failed(error.into()))?;
        fs::write(self.path("json"), text).map_err(|error| self.failed(error))
    }

    /// Held by whoever starts or stops the service now.
    pub(crate) fn turn(&self) -> Result<File, ServiceError> {
        let turn = self.open("turn")?;
        turn.lock().map_err(|error| self.failed(error))?;
        Ok(turn)
    }

    /// The file that the service's process holds locked.
    pub(crate) fn lock_file(&self) -> Result<File, ServiceError> {
        self.open("lock")
    }

    /// The process that wrote itself down last.
    pub(crate) fn owner(&self) -> Option<Owner> {
        Owner::parse(&fs::read_to_string(self.path("lock")).ok()?)
    }

    pub(crate) fn write_owner(&self, mut lock: &File, owner: Owner) -> Result<(), ServiceError> {
        let written = lock
            .set_len(0)
            .and_then(|()| lock.write_all(owner.line().as_bytes()));
        written.map_err(|error| self.failed(error))
    }

    pub(crate) fn forget_owner(&self) -> Result<(), ServiceError> {
        let forgotten = self.open("lock")?.set_len(0);
        forgotten.map_err(|error| self.failed(error))
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.path("broken").exists()
    }

    pub(crate) fn mark_broken(&self) -> Result<(), ServiceError> {
        self.open("broken").map(|_| ())
    }

    pub(crate) fn repair(&self) -> Result<(), ServiceError> {
        match fs::remove_file(self.path("broken")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    pub(crate) fn failed(&self, error: io::Error) -> ServiceError {
        ServiceError::Io(self.name.clone(), error)
    }

    fn open(&self, suffix: &str) -> Result<File, ServiceError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let opened = options.open(self.path(suffix));
        opened.map_err(|error| self.failed(error))
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", self.name))
    }
}

/// The services that were prepared in this folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name();
            Some(name.to_str()?.strip_suffix(".json")?.to_owned())
        })
        .collect()
}
