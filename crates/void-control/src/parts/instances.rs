//! Who this instance is among those on the database.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use void_domain::instances::InstanceName;
use void_store::instances::Claimant;

use crate::clock::Clock;
use crate::private_files::{self, KeptFor};
use crate::random;

/// Who this instance is.
#[derive(Debug, Clone)]
pub struct Identity {
    pub id: String,
    pub name: InstanceName,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    pub(crate) id: String,
    pub(crate) name: String,
}

impl Identity {
    pub const FILE: &'static str = "instance.json";

    /// The identity that is kept in a data folder, made at the first start. A file that cannot be read
    /// is an error: another identity would call its runs somebody else's.
    pub fn of_folder(folder: &Path, given: Option<InstanceName>) -> io::Result<Self> {
        let path = folder.join(Self::FILE);
        let written = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .ok()
                .filter(|written: &Written| written.id.len() == 36)
                .ok_or_else(|| {
                    io::Error::new(
                        io::ErrorKind::InvalidData,
                        "it does not hold an id and a name; delete it, and runs that are under way are settled by you",
                    )
                })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
            Err(error) => return Err(error),
        };
        let stored = InstanceName::parse(&written.name)
            .unwrap_or_else(|| InstanceName::made_from("", &written.id));
        Ok(Self {
            id: written.id,
            name: given.unwrap_or(stored),
        })
    }

    pub(crate) fn claimant(&self) -> Claimant {
        Claimant {
            id: self.id.clone(),
            name: self.name.to_string(),
        }
    }
}

pub(crate) fn make(path: &Path) -> io::Result<Written> {
    let id = random::request_id(Clock::system().now())
        .map_err(io::Error::other)?
        .to_string();
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = InstanceName::made_from(machine.trim(), &id).to_string();
    let written = Written { id, name };
    private_files::replace(path, &serde_json::to_vec(&written)?, KeptFor::ForGood)?;
    Ok(written)
}
