//! The only code that reaches machines.
//!
//! What changes something takes a [`Permit`](void_domain::permits::Permit) and consumes it; what only
//! looks goes through [`Probe`], which has no changing method. A channel says *done*, *failed* or
//! *unknown*, and says unknown whenever the machine may have done it and has not told us.

mod act;
mod applied_folders;
mod catalogue_file;
mod checks;
mod config_repositories;
mod executor;
mod git;
mod local;
mod meta_folder;
mod node;
mod outcomes;
mod probe;
mod process;
mod proxmox;
mod router;
mod ssh;
mod tls;

pub use act::{HostList, is_question, run_command};
pub use applied_folders::AppliedFolders;
pub use catalogue_file::{CatalogueFile, InGit};
pub use checks::Checker;
pub use config_repositories::{ConfigCommitInfo, ConfigReadError, ConfigRepository};
pub use executor::Executor;
pub use local::LocalConfig;
pub use meta_folder::{
    MetaAuthor, MetaDocument, MetaEdit, MetaError, MetaFile, MetaFolder, MetaState,
};
pub use node::{Arrival, Command, Connection, Nodes, Poll, Reported, Superseded, command_of_run};
pub use outcomes::{Evidence, Outcome};
pub use probe::Probe;
pub use proxmox::{
    Excess, GuestState, GuestStatus, InvalidProxmox, Lab, LabGuest, LabNode, Load, NodeStatus, Now,
    Patience, ProxmoxConfig, ProxmoxServer, Rights, Shortage, certificate_shown,
};
pub use router::{Channel, Channels};
pub use ssh::host_keys::{HostKey, InvalidFingerprint};
pub use ssh::{SshConfig, UnsafePath};
pub use tls::{Trust, UnusableAuthorities};
