//! An agent's config, to be looked at: what is applied, what its repository has, and what waits for a person.

use void_channels::ConfigCommitInfo;
use void_domain::agent_configs::{CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::changes::agent_configs::agent_of;
use void_domain::ids::ProposalId;
use void_domain::proposals::Status;
use void_store::proposals;
use void_tree::AgentKind;

use super::requests::opened;
use super::{AgentConfigError, ConfigFolders};
use crate::context::Ctx;
use crate::control::Control;

/// Newest first, of all branches.
const HISTORY_MAX: usize = 50;
/// What waits, of everybody.
const WAITING_MAX: u32 = 1_000;

#[derive(Debug)]
pub struct ConfigView {
    pub name: AgentName,
    pub parent: Option<AgentName>,
    /// The commit that is applied; `None`: none is.
    pub applied: Option<CommitId>,
    /// Its files; `None` if nothing is applied, or they are not in the repository any more.
    pub files: Option<ConfigFiles>,
    pub history: Vec<ConfigCommitInfo>,
    /// Proposals about it that wait for a person, with the commit that each is for; somebody new has none yet.
    pub waiting: Vec<(ProposalId, Option<CommitId>)>,
    /// Why its repository cannot be read, in words.
    pub problem: Option<String>,
}

/// For the owner.
pub async fn view(
    control: &Control,
    ctx: &Ctx,
    name: &AgentName,
) -> Result<ConfigView, AgentConfigError> {
    if !ctx.actor.is_owner() {
        let said = "only the owner looks at configs";
        return Err(AgentConfigError::Forbidden(said.to_owned()));
    }
    let (tree, meta) = opened(control).await?;
    if !tree.topology.has(name) {
        return Err(AgentConfigError::Unknown(name.clone()));
    }
    if tree.kind(name) == AgentKind::Resident {
        return Err(AgentConfigError::Resident(name.clone()));
    }
    let folders = ConfigFolders::of(control, name);
    let folders = folders.ok_or_else(|| AgentConfigError::Unknown(name.clone()))?;
    let repository = folders.repository(&meta);
    let applied = tree.lock.agents.get(name).cloned();
    let mut problem = None;
    let history = repository.history(HISTORY_MAX).await;
    let history = history.unwrap_or_else(|error| {
        problem = Some(error.to_string());
        Vec::new()
    });
    let files = match &applied {
        Some(commit) => match repository.read(commit).await {
            Ok(files) => Some(files),
            Err(error) => {
                problem = Some(error.to_string());
                None
            }
        },
        None => None,
    };
    Ok(ConfigView {
        parent: tree.topology.parent(name).cloned(),
        waiting: waiting(control, name).await?,
        name: name.clone(),
        applied,
        files,
        history,
        problem,
    })
}

async fn waiting(
    control: &Control,
    name: &AgentName,
) -> Result<Vec<(ProposalId, Option<CommitId>)>, AgentConfigError> {
    let all = control
        .store
        .read(|tx| Box::pin(proposals::list_in(tx, Status::Pending, WAITING_MAX)))
        .await?;
    let of_agent = all.iter().filter_map(|stored| {
        let change = stored.proposal.subject.change()?;
        let is_its = agent_of(change).is_some_and(|agent| agent == *name);
        let deploy = change.deploy.as_ref();
        let commit = deploy.and_then(|deploy| deploy.commit.clone());
        is_its.then_some((stored.proposal.id, commit))
    });
    Ok(of_agent.collect())
}
