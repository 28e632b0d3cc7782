//! What runs keeps up with the tree: whoever stands above others reaches their folders from its start on, so whoever
//! lost or gained somebody is started anew at once, and so is whoever has another parent.

use std::collections::BTreeSet;

use void_domain::agents::AgentName;
use void_tree::AgentKind;

use super::{AgentProcesses, wishes};
use crate::agents;
use crate::control::Control;
use crate::parts::tree::Tree;

/// After a change of the tree, whose commit is in force. Back when no process reaches what it may no more.
pub(crate) async fn follow_tree(control: &Control, before: &Tree, after: &Tree) {
    let Some(processes) = AgentProcesses::of(control) else {
        return;
    };
    for name in changed(before, after) {
        if let Err(error) = processes.0.supervisor.renew(name.as_str()).await {
            // Whoever ends all of them has ended this one too.
            tracing::debug!(%error, agent = %name, "not started anew");
            return;
        }
        if let Err(error) = record(control, &name).await {
            tracing::error!(%error, agent = %name, "that it was started anew after a move is not on the record");
        }
    }
}

/// Those whose folders or parent are others than before.
fn changed(before: &Tree, after: &Tree) -> Vec<AgentName> {
    let names = after.index.names().iter();
    let processes = names.filter(|name| after.kind(name) == AgentKind::Process);
    let is_other = |name: &&AgentName| {
        reached(before, name) != reached(after, name)
            || before.topology.parent(name) != after.topology.parent(name)
    };
    processes.filter(is_other).cloned().collect()
}

fn reached<'a>(tree: &'a Tree, name: &AgentName) -> BTreeSet<&'a AgentName> {
    let below = tree.index.descendants(name).iter();
    below
        .filter(|one| tree.kind(one) == AgentKind::Process)
        .collect()
}

async fn record(control: &Control, name: &AgentName) -> Result<(), void_store::StoreError> {
    let running = AgentProcesses::of(control).is_some_and(|processes| {
        let status = processes.0.supervisor.status(name.as_str());
        status.state.is_there()
    });
    let Some(agent) = agents::find(control, name).await?.filter(|_| running) else {
        return Ok(());
    };
    let (context, at) = (control.context(&control.system_ctx()?), control.clock.now());
    let why = Some("the tree of agents changed".to_owned());
    control
        .store
        .write(move |tx| {
            Box::pin(async move {
                wishes::record(tx, &context, at, wishes::RESTARTED, &agent, why).await
            })
        })
        .await
}
