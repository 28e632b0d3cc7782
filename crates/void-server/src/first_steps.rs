//! What an empty Void says to its owner: which files are read, an example of each, and the commands that check
//! them and take them over. The binary knows all of it from its settings; the page only shows it.

use void_control::{Control, StoreError, hosts, lab, nodes};
use void_domain::executions::{Execution, Route};
use void_domain::hosts::Reach;
use void_domain::nodes::Membership;

#[derive(Debug, Clone, Default)]
pub struct FirstSteps {
    /// The catalogue that is read.
    pub actions_file: String,
    pub actions_example: String,
    /// The services file that is read.
    pub services_file: String,
    pub services_example: String,
    /// To be typed after a file was written, one after the other.
    pub commands: Vec<String>,
    /// The program, with what a command in another terminal needs to find this server.
    pub called: String,
    /// The program alone: its path, or its name where the shell finds it.
    pub program: String,
    /// Where the owner's token is, unless the settings say otherwise.
    pub owner_token_file: Option<String>,
}

/// Whether something of the catalogue can run: there is a way to its machine. None is told of while this machine, which
/// the catalogue names, was never set up (`is_local_missing`): the owner is in the middle of it.
pub(crate) async fn can_run(control: &Control, is_local_missing: bool) -> Result<bool, StoreError> {
    let catalogue = control.catalogue();
    if is_local_missing || catalogue.actions().len() == 0 {
        return Ok(false);
    }
    let is_connected = lab::is_connected(control);
    let has_way = catalogue
        .actions()
        .any(|action| match Execution::route(&action.execution) {
            Route::Host(host) => host.reach == Reach::Local,
            Route::Proxmox(_) => is_connected,
            Route::Node(_) => false,
            Route::File => true,
        });
    if has_way {
        return Ok(true);
    }
    let mut hosts = hosts::list(control).into_iter();
    if hosts.any(|view| view.actions > 0 && !view.trusted.is_empty()) {
        return Ok(true);
    }
    let nodes = nodes::list(control).await?;
    Ok(nodes
        .iter()
        .any(|view| view.actions > 0 && matches!(view.node.membership, Membership::Joined { .. })))
}
