//! What is applied of agents' configs: `applied/NAME` in the data folder, read by the agent's process. Regular files and
//! folders alone, which nobody can execute; written beside, then put in place whole.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use void_domain::agent_configs::{ConfigFiles, FILE_BYTES_MAX, FILES_MAX};
use void_domain::agents::AgentName;
use void_domain::fail_point;

use crate::config_repositories::{remove_all, sync, write_new};

/// Whoever reaches the folder reads it; nobody but the server writes it.
const FOLDER_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;
const PRIVATE: u32 = 0o700;

#[derive(Debug, Clone)]
pub struct AppliedFolders {
    folder: PathBuf,
}

impl AppliedFolders {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn of(&self, agent: &AgentName) -> PathBuf {
        self.folder.join(agent.as_str())
    }

    /// The name begins with a dot, so it is nobody's.
    fn beside(&self, agent: &AgentName, what: &str) -> PathBuf {
        self.folder.join(format!(".{agent}.{what}"))
    }

    /// Exactly these files are applied afterwards.
    pub fn put(&self, agent: &AgentName, files: &ConfigFiles) -> io::Result<()> {
        if self.holds(agent, files) {
            return Ok(());
        }
        let made = DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE)
            .create(&self.folder);
        made?;
        let (new, old) = (self.beside(agent, "new"), self.beside(agent, "old"));
        remove_all(&new)?;
        remove_all(&old)?;
        make_folder(&new)?;
        for (path, text) in files.iter() {
            write_below(&new, path, text)?;
        }
        fail_point!("config.applied.before");
        match fs::rename(self.of(agent), &old) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fail_point!("config.applied.between");
        fs::rename(&new, self.of(agent))?;
        sync(&self.folder)?;
        fail_point!("config.applied.after");
        remove_all(&old)
    }

    /// Nothing is applied any more.
    pub fn clear(&self, agent: &AgentName) -> io::Result<()> {
        remove_all(&self.beside(agent, "new"))?;
        remove_all(&self.beside(agent, "old"))?;
        remove_all(&self.of(agent))
    }

    /// Whether exactly these files are applied: no other one, no link, nothing that can be executed.
    pub fn holds(&self, agent: &AgentName, files: &ConfigFiles) -> bool {
        let mut found = BTreeMap::new();
        let there = gather(&self.of(agent), "", &mut found);
        let expected: BTreeMap<String, String> = files
            .iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        matches!(there, Ok(true)) && found == expected
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    // Whatever the server's own mask says.
    fs::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

/// A path of [`ConfigFiles`] has plain parts alone, so it stays below.
fn write_below(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let mut at = folder.to_owned();
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last().ok_or(ErrorKind::InvalidInput)?;
    for part in folders {
        at.push(part);
        make_folder(&at)?;
    }
    let file = at.join(name);
    write_new(&file, text, FILE_MODE)?;
    fs::set_permissions(&file, Permissions::from_mode(FILE_MODE))?;
    sync(&at)
}

/// `false`: there is something else than plain files.
fn gather(folder: &Path, below: &str, found: &mut BTreeMap<String, String>) -> io::Result<bool> {
    if !fs::symlink_metadata(folder)?.is_dir() {
        return Ok(false);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            return Ok(false);
        };
        let path = match below.is_empty() {
            true => name,
            false => format!("{below}/{name}"),
        };
        let about = fs::symlink_metadata(entry.path())?;
        if about.is_dir() {
            if ConfigFiles::check_path(&path).is_err() || !gather(&entry.path(), &path, found)? {
                return Ok(false);
            }
            continue;
        }
        let bytes_max = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX);
        let is_plain = about.is_file()
            && about.permissions().mode() & 0o7777 == FILE_MODE
            && about.len() <= bytes_max;
        if !is_plain || found.len() >= FILES_MAX {
            return Ok(false);
        }
        match fs::read_to_string(entry.path()) {
            Ok(text) => found.insert(path, text),
            Err(_) => return Ok(false),
        };
    }
    Ok(true)
}
