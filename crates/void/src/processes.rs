//! Processes of agents as these settings have them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::process::geteuid;
use void_control::Control;
use void_control::agent_processes::{
    AgentProcesses, AgentProcessesConfig, Cgroups, Driver, NspawnDriver, Patience, ProcessDriver,
    Restarts,
};
use void_domain::failures::FailureCode;

use crate::exit::CommandError;
use crate::settings::{DriverSettings, Settings};
use crate::successor;

/// The words that lead to the process's side, which `main` looks for before anything else.
pub(crate) const RUN: [&str; 2] = ["agent", "run"];
const NSPAWN: &str = "/usr/bin/systemd-nspawn";

/// None runs yet. `api` is where programs of this machine reach the server.
pub(crate) fn of(
    settings: &Settings,
    control: &Control,
    api: SocketAddr,
) -> Result<AgentProcesses, CommandError> {
    let wanted = &settings.processes;
    let config = AgentProcessesConfig {
        data: whole(&settings.data.value)?,
        api,
        driver: driver(&wanted.driver)?,
        cgroups: Cgroups::of_this_process(&control.instance().id),
        users: wanted.users.filter(|_| geteuid().is_root()),
        limits: wanted.limits,
        mode: wanted.mode,
        restarts: Restarts::default(),
        patience: Patience::default(),
    };
    AgentProcesses::new(control, config).map_err(|error| internal(&error))
}

fn driver(wanted: &DriverSettings) -> Result<Arc<dyn Driver>, CommandError> {
    let program = successor::program().map_err(|error| internal(&error))?;
    let words = RUN.to_vec();
    Ok(match wanted {
        DriverSettings::Process => Arc::new(ProcessDriver { program, words }),
        DriverSettings::Nspawn { root } => Arc::new(NspawnDriver {
            nspawn: PathBuf::from(NSPAWN),
            root: root.clone(),
            program,
            words,
        }),
    })
}

/// From the root, without links: a plan names folders so.
fn whole(folder: &std::path::Path) -> Result<PathBuf, CommandError> {
    folder.canonicalize().map_err(|error| internal(&error))
}

fn internal(error: &std::io::Error) -> CommandError {
    CommandError::failed(
        FailureCode::Internal,
        format!("processes of agents cannot be looked after: {error}"),
    )
}
