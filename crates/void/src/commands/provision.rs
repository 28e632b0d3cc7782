//! `void provision`: what to put on a machine, all of it made from the catalogue. Prints, and changes
//! nothing.

mod local;
mod node;
pub(super) mod proxmox;
mod scripts;
mod ssh;

use super::Session;
use crate::cli::ProvisionCommand;
use crate::exit::{CommandError, Exit};

pub(super) fn run(session: &Session<'_>, command: ProvisionCommand) -> Result<Exit, CommandError> {
    match command {
        ProvisionCommand::Local { user } => local::run(session, user.as_deref()),
        ProvisionCommand::Ssh { host } => ssh::run(session, &host),
        ProvisionCommand::Node { name } => node::run(session, &name),
        ProvisionCommand::Proxmox => proxmox::run(session),
    }
}
