//! How a process of an agent is started: as a child of this server, or in a container.

mod nspawn;
mod process;

use std::ffi::OsString;
use std::path::PathBuf;

use void_sandbox::{InvalidPlan, SandboxPlan};

pub use self::nspawn::NspawnDriver;
pub use self::process::ProcessDriver;
use crate::orders::Order;

/// A program and its arguments, never a line of a shell. Nothing of it is secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(&'static str, String)>,
    pub plan: SandboxPlan,
}

#[derive(Debug, thiserror::Error)]
pub enum NotLaunched {
    #[error(transparent)]
    Plan(#[from] InvalidPlan),
    #[error("{program} is not on this machine")]
    Missing { program: PathBuf },
    #[error(
        "the path {0} cannot be mounted: it is not whole, or has a colon, a comma or a backslash"
    )]
    Path(PathBuf),
}

pub trait Driver: Send + Sync {
    fn launch(&self, order: &Order) -> Result<Launch, NotLaunched>;
}

/// With the folders where `place` says they are.
fn plan(
    order: &Order,
    server_process: u32,
    place: impl Fn(&crate::orders::MountedFolder) -> PathBuf,
) -> SandboxPlan {
    let folders = order.folders.iter().map(|mounted| void_sandbox::Folder {
        path: place(mounted),
        access: mounted.folder.access,
    });
    SandboxPlan {
        folders: folders.collect(),
        server_port: order.server_port,
        server_process,
        user: order.user,
        groups: order.groups.clone(),
        limits: order.limits,
        mode: order.mode,
    }
}
