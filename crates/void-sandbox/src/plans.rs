//! What is left to an agent process: one value, written by the server as one line of JSON and read by the process.
//! It holds no secret. What it does not name, the process cannot reach.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One line, with the folders of every descendant.
pub const PLAN_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Descriptors that the process has besides one for each of its folders.
const OPEN_FILES_BESIDE_FOLDERS: u64 = 64;
/// How much further behind everybody else's its wish for the processor stands.
pub(crate) const NICENESS: i32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxPlan {
    /// The first one is the agent's own state, and the folder that the process works in.
    pub folders: Vec<Folder>,
    /// Where the server listens; no other port can be connected to.
    pub server_port: u16,
    /// The process that it belongs to; with that process it ends.
    pub server_process: u32,
    /// Who it becomes; `None` leaves it who it is.
    pub user: Option<u32>,
    /// Whose files it may reach besides its own, as groups.
    pub groups: Vec<u32>,
    pub limits: SandboxLimits,
    pub mode: SandboxMode,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    pub path: PathBuf,
    pub access: FolderAccess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderAccess {
    ReadWrite,
    ReadOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SandboxLimits {
    /// Of address space: program, libraries and everything that it asks for.
    pub memory_bytes: u64,
    /// Of one file. A process that writes beyond it is ended.
    pub file_bytes: u64,
}

/// What happens where the kernel lacks a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// The process does not start.
    #[default]
    Full,
    /// It starts with the fences that there are: the owner said so by this name. What the kernel has is held all
    /// the same.
    Incomplete,
}

impl SandboxMode {
    /// The word in settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Incomplete => "incomplete",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::Full, Self::Incomplete];
        all.into_iter().find(|mode| mode.word() == word)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlan {
    #[error("the plan of the sandbox is not one: {0}")]
    Unreadable(String),
    #[error("the plan of the sandbox names no folder that the agent may write")]
    NoOwnState,
    #[error("the plan of the sandbox names {0}, which is no whole path")]
    NotWhole(PathBuf),
}

impl SandboxPlan {
    pub fn read(text: &str) -> Result<Self, InvalidPlan> {
        let plan: Self = serde_json::from_str(text)
            .map_err(|error| InvalidPlan::Unreadable(error.to_string()))?;
        plan.check()?;
        Ok(plan)
    }

    /// In one line.
    pub fn to_line(&self) -> Result<String, InvalidPlan> {
        self.check()?;
        serde_json::to_string(self).map_err(|error| InvalidPlan::Unreadable(error.to_string()))
    }

    fn check(&self) -> Result<(), InvalidPlan> {
        match self.folders.first() {
            Some(own) if own.access == FolderAccess::ReadWrite => {}
            Some(_) | None => return Err(InvalidPlan::NoOwnState),
        }
        match self.folders.iter().find(|folder| !is_whole(&folder.path)) {
            Some(folder) => Err(InvalidPlan::NotWhole(folder.path.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn open_files(&self) -> u64 {
        let folders = u64::try_from(self.folders.len()).unwrap_or(u64::MAX);
        folders.saturating_add(OPEN_FILES_BESIDE_FOLDERS)
    }
}

/// From the root, without a step back, and not the root itself.
fn is_whole(path: &Path) -> bool {
    use std::path::Component;
    let mut parts = path.components();
    let begins = parts.next() == Some(Component::RootDir);
    let rest: Vec<Component<'_>> = parts.collect();
    let are_names = rest.iter().all(|part| matches!(part, Component::Normal(_)));
    begins && are_names && !rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(paths: &[&str]) -> SandboxPlan {
        let folder = |path: &&str| Folder {
            path: path.into(),
            access: FolderAccess::ReadWrite,
        };
        SandboxPlan {
            folders: paths.iter().map(folder).collect(),
            server_port: 3000,
            server_process: 1,
            user: None,
            groups: Vec::new(),
            limits: SandboxLimits {
                memory_bytes: 1,
                file_bytes: 1,
            },
            mode: SandboxMode::Full,
        }
    }

    #[test]
    fn a_plan_is_one_line_and_comes_back_as_it_was() {
        let plan = plan(&["/data/agents/a/state", "/data/agents/b\n/state"]);
        let line = plan.to_line().unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(SandboxPlan::read(&line).unwrap(), plan);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for path in ["state", "/", "/data/../etc", "./state", ""] {
            let refused = plan(&["/data/state", path]).to_line();
            assert_eq!(refused, Err(InvalidPlan::NotWhole(path.into())), "{path:?}");
        }
        assert_eq!(plan(&[]).to_line(), Err(InvalidPlan::NoOwnState));
        let mut read_only = plan(&["/data/state"]);
        for folder in &mut read_only.folders {
            folder.access = FolderAccess::ReadOnly;
        }
        assert_eq!(read_only.to_line(), Err(InvalidPlan::NoOwnState));
        let more = plan(&["/data/state"]).to_line().unwrap();
        let more = more.replacen('{', "{\"shell\":true,", 1);
        for text in ["", "{}", "null", &more] {
            let read = SandboxPlan::read(text);
            assert!(matches!(read, Err(InvalidPlan::Unreadable(_))), "{text}");
        }
    }
}
