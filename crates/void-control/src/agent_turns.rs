//! Turns of agents with a process that nobody speaks to: what wakes an agent is kept until a turn that had it is over.
//!
//! There is one way to wake somebody: [`wake`], or [`note`] inside a transaction of one's own and [`tell`] after it. A
//! turn is opened when the agent's process asks for one ([`open`]), and settled where every turn ends
//! ([`crate::conversations`]): what it had goes with a good end and waits again after a bad one, in one transaction with
//! that end. So a cause is never lost, and never had by two turns that both came to an end.

mod files;
mod open;
mod settle;
mod wake;

use void_domain::agents::AgentName;
use void_domain::ids::AgentId;
use void_store::StoreError;
use void_tree::AgentKind;

pub use self::files::{file_taint, mark_files};
pub use self::open::open;
pub(crate) use self::settle::settle;
pub use self::wake::{WakeOutcome, note, tell, wake, wake_by_owner};

use crate::agents;
use crate::context::Ctx;
use crate::control::Control;
use crate::random;

/// Where an agent stands: what its prompt and its environment say of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentPlace {
    pub parent: Option<AgentName>,
    pub children: Vec<AgentName>,
    /// Those below it that have a process, at any depth: it reaches their files.
    pub files_of: Vec<AgentName>,
}

/// `None`: it stands nowhere.
pub fn place(control: &Control, name: &AgentName) -> Option<AgentPlace> {
    let tree = control.in_force.tree.now();
    tree.index.position(name)?;
    let below = tree.index.descendants(name).iter();
    let children = below
        .clone()
        .filter(|one| tree.topology.parent(one) == Some(name));
    Some(AgentPlace {
        parent: tree.topology.parent(name).cloned(),
        children: children.cloned().collect(),
        files_of: below
            .filter(|one| tree.kind(one) == AgentKind::Process)
            .cloned()
            .collect(),
    })
}

/// Whether an agent of this name stands in the tree and has a process of its own.
pub fn has_process(control: &Control, name: &AgentName) -> bool {
    let tree = control.in_force.tree.now();
    let is_resident = agents::residents(control).contains(name) || name.as_str() == void_tree::ROOT;
    !is_resident && tree.index.position(name).is_some() && tree.kind(name) == AgentKind::Process
}

/// In whose name the server acts in a turn of an agent with a process. `None`: it was withdrawn, or stands nowhere.
pub async fn ctx(control: &Control, name: &AgentName) -> Result<Option<Ctx>, StoreError> {
    let Some(agent) = agents::find(control, name).await? else {
        return Ok(None);
    };
    let may = agent.is_live() && has_process(control, name);
    if !may || !agents::is_usable(control, agent.id).await? {
        return Ok(None);
    }
    Ok(Some(Ctx {
        actor: void_domain::actors::Actor::Agent {
            id: agent.id,
            name: agent.name,
        },
        capabilities: agent.capabilities,
        ..Ctx::system(random::request_id(control.clock.now())?)
    }))
}

/// Comes when the process that the agent has now is gone, whatever comes after it.
pub fn process_end(control: &Control, agent: AgentId) -> impl Future<Output = ()> + Send + use<> {
    let control = control.clone();
    let held = control.process_tokens.held(agent);
    async move { control.process_tokens.ended(agent, held).await }
}
