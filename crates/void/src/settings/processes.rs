//! `[processes]`: how processes of agents are started, and what is left to each.

use std::path::PathBuf;

use void_control::agent_processes::{SandboxLimits, SandboxMode, UserRange};

use super::merge::Values;
use crate::exit::CommandError;

const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct ProcessSettings {
    pub mode: SandboxMode,
    pub limits: SandboxLimits,
    /// `None`: as the server, also where that is root.
    pub users: Option<UserRange>,
    pub driver: DriverSettings,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DriverSettings {
    Process,
    Nspawn { root: PathBuf },
}

pub(super) fn read(values: &Values) -> Result<ProcessSettings, CommandError> {
    let word = |key| Ok::<_, CommandError>(values.get::<String>(key)?.value);
    let mode = SandboxMode::parse(&word("processes.sandbox")?).ok_or_else(|| {
        CommandError::config("processes.sandbox is neither `full` nor `incomplete`")
    })?;
    let users = match word("processes.users")?.as_str() {
        "none" => None,
        range => Some(UserRange::parse(range).map_err(|error| {
            CommandError::config(format!("processes.users: {error}, or `none`"))
        })?),
    };
    let root = values.find::<PathBuf>("processes.nspawn_root")?.value;
    let driver = match (word("processes.driver")?.as_str(), root) {
        ("process", _) => DriverSettings::Process,
        ("nspawn", Some(root)) => DriverSettings::Nspawn { root },
        ("nspawn", None) => {
            let message = "processes.driver is `nspawn`, so processes.nspawn_root must say where the root file system is";
            return Err(CommandError::config(message));
        }
        _ => {
            let message = "processes.driver is neither `process` nor `nspawn`";
            return Err(CommandError::config(message));
        }
    };
    let mib = |key| Ok::<_, CommandError>(u64::from(values.small(key)?.value) * MIB);
    Ok(ProcessSettings {
        mode,
        limits: SandboxLimits {
            memory_bytes: mib("processes.memory_mib")?,
            file_bytes: mib("processes.file_mib")?,
        },
        users,
        driver,
    })
}
