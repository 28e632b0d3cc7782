//! The most that a child may be given: what its parent has now. What cannot be found out is not there.

use std::collections::BTreeSet;

use void_domain::agent_configs::{AgentConfig, ConfigCeiling, DailyBudget};
use void_domain::agents::AgentName;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::ids::ActionId;
use void_tree::ROOT;

use super::AgentConfigError;
use crate::agents;
use crate::control::Control;
use crate::parts::tree::Tree;
use crate::tree;

/// What `agent` may have below `parent`.
pub(super) async fn ceiling(
    control: &Control,
    tree: &Tree,
    agent: &AgentName,
    parent: &AgentName,
) -> Result<ConfigCeiling, AgentConfigError> {
    let config = applied_config(tree, parent)?;
    let (budget, actions) = match config {
        Some(config) => (config.budget, config.actions.clone()),
        None => (DailyBudget::default(), None),
    };
    Ok(ConfigCeiling {
        capabilities: capabilities(control, tree, parent).await?,
        parent: parent.clone(),
        budget,
        actions,
        closed_actions: closed_actions(control, tree, agent, parent),
    })
}

/// Right below the root stands whom the owner put there: as long as no persona is called so, nobody is the root, and the
/// owner's yes is what bounds such an agent.
async fn capabilities(
    control: &Control,
    tree: &Tree,
    parent: &AgentName,
) -> Result<Capabilities, AgentConfigError> {
    let is_nobody = parent.as_str() == ROOT && !agents::residents(control).contains(parent);
    if is_nobody {
        return Ok(Capability::granted().collect());
    }
    let known = tree::capabilities_now(control, tree, parent).await?;
    Ok(known.unwrap_or_else(Capabilities::none))
}

/// The config that is applied of an agent. `None`: it has none. One that cannot be read bounds everything.
fn applied_config<'a>(
    tree: &'a Tree,
    agent: &AgentName,
) -> Result<Option<&'a AgentConfig>, AgentConfigError> {
    match (
        tree.lock.agents.contains_key(agent),
        tree.configs.get(agent),
    ) {
        (false, _) => Ok(None),
        (true, Some(config)) => Ok(Some(config)),
        (true, None) => {
            let said = format!("what is applied of {agent} cannot be read");
            Err(AgentConfigError::Broken(said))
        }
    }
}

/// Actions whose list of agents names neither the child nor anybody above it.
fn closed_actions(
    control: &Control,
    tree: &Tree,
    agent: &AgentName,
    parent: &AgentName,
) -> BTreeSet<ActionId> {
    let above = tree.topology.ancestors(parent);
    let chain: BTreeSet<&str> = above
        .chain([agent, parent])
        .map(AgentName::as_str)
        .collect();
    let all = control.in_force.catalogue.actions();
    let closed = all.filter(|action| {
        let named = action.agents.as_ref();
        named.is_some_and(|named| !named.iter().any(|one| chain.contains(one.as_str())))
    });
    closed.map(|action| action.id.clone()).collect()
}
