//! What agents and the owner ask for: a child with a first config, a commit of a descendant's config, other commits of
//! pinned inputs. Each becomes a proposal that waits for a person. Whether somebody may ask follows from where they stand,
//! and is judged before anything of anybody's repository is read.

use void_channels::{MetaAuthor, MetaFolder};
use void_domain::actors::Actor;
use void_domain::agent_configs::{CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::changes::Change;
use void_domain::changes::agent_configs::{self as configs, ConfigCommit, ConfigPlace, judged};
use void_domain::changes::drafts::DraftTurn;
use void_domain::changes::meta_inputs::{self, WantedInputs};
use void_domain::limits;
use void_domain::meta_locks::InputSchemes;
use void_domain::taint::Taint;
use void_tree::{AgentKind, Operation, Right};

use super::ceilings::ceiling;
use super::{AgentConfigError, ConfigFolders};
use crate::access_refusals::record_refusal;
use crate::context::Ctx;
use crate::control::Control;
use crate::parts::drafting::UnderWay;
use crate::parts::tree::Tree;
use crate::proposals::{DeployRequest, Proposed, propose_deploy};
use crate::{agents, row_budgets, tree};

/// What comes with every request.
#[derive(Debug, Clone, Default)]
pub struct RequestNotes {
    pub reason: Option<String>,
    pub taint: Taint,
    /// The turn in which it was made, if it was made in one.
    pub turn: Option<DraftTurn>,
}

#[derive(Debug, Clone)]
pub struct InitConfigRequest {
    pub name: AgentName,
    /// The owner names one; an agent's child stands under itself, and it names nobody or itself.
    pub parent: Option<AgentName>,
    /// The text of `agent.toml`.
    pub config: String,
    pub notes: RequestNotes,
}

#[derive(Debug, Clone)]
pub struct ApplyCommitRequest {
    pub agent: AgentName,
    pub commit: CommitId,
    pub notes: RequestNotes,
}

#[derive(Debug, Clone)]
pub struct UpdateInputsRequest {
    pub inputs: WantedInputs,
    pub schemes: InputSchemes,
    pub notes: RequestNotes,
}

#[derive(Debug, Clone)]
pub struct WriteConfigRequest {
    pub agent: AgentName,
    /// The text of `agent.toml`; every other file stays as it is applied.
    pub config: String,
    pub message: String,
}

/// Longer than a line of `git log` is read.
const MESSAGE_BYTES_MAX: usize = 200;

/// A new agent below the asker, with capabilities of the asker's own at most.
pub async fn request_init_config(
    control: &Control,
    ctx: &Ctx,
    request: InitConfigRequest,
) -> Result<Proposed, AgentConfigError> {
    let _drafting = take(control, ctx, &request.notes)?;
    let parent = match (&ctx.actor, &request.parent) {
        (Actor::Owner { .. }, Some(parent)) => parent.clone(),
        (Actor::Owner { .. }, None) => void_tree::ROOT.parse().map_err(|_| no_tree())?,
        (Actor::Agent { name, .. }, None) => name.clone(),
        (Actor::Agent { name, .. }, Some(parent)) if parent == name => name.clone(),
        (Actor::Agent { .. } | Actor::Viewer { .. } | Actor::Node { .. } | Actor::System, _) => {
            let said = "an agent's child stands under itself and under nobody else";
            return Err(refused(control, ctx, Operation::Spawn, said).await?);
        }
    };
    may(control, ctx, Operation::Spawn, &parent).await?;
    let (tree, _) = opened(control).await?;
    if !tree.topology.has(&parent) {
        return Err(AgentConfigError::Unknown(parent));
    }
    agents::judge_free_name(control, &request.name).await??;
    let ceiling = ceiling(control, &tree, &request.name, &parent).await?;
    let place = ConfigPlace {
        instance: &control.process.instance.name,
        agent: &request.name,
        ceiling: &ceiling,
    };
    let change = configs::init(place, &request.config)?;
    propose(control, ctx, change, request.notes).await
}

/// A commit of a descendant's repository, never of oneself.
pub async fn request_apply_commit(
    control: &Control,
    ctx: &Ctx,
    request: ApplyCommitRequest,
) -> Result<Proposed, AgentConfigError> {
    let _drafting = take(control, ctx, &request.notes)?;
    let agent = &request.agent;
    may(control, ctx, Operation::ApplyCommit, agent).await?;
    let (tree, meta) = opened(control).await?;
    let parent = placed(&tree, agent)?;
    let folders = ConfigFolders::of(control, agent).ok_or_else(no_tree)?;
    let repository = folders.repository(&meta);
    let to = ConfigCommit {
        files: repository.read(&request.commit).await?,
        id: request.commit.clone(),
    };
    let from = match tree.lock.agents.get(agent) {
        Some(id) => Some(ConfigCommit {
            files: repository.read(id).await?,
            id: id.clone(),
        }),
        None => None,
    };
    let ceiling = ceiling(control, &tree, agent, &parent).await?;
    let instance = control.process.instance.name.clone();
    let agent = agent.clone();
    // Comparing takes its time, and is done beside everything else.
    let compared = tokio::task::spawn_blocking(move || {
        let place = ConfigPlace {
            instance: &instance,
            agent: &agent,
            ceiling: &ceiling,
        };
        configs::apply(place, from.as_ref(), &to)
    });
    let compared = compared.await;
    let change = compared.map_err(|error| internal(&error.to_string()))??;
    propose(control, ctx, change, request.notes).await
}

/// Other commits of pinned inputs, by the capability `meta.update`.
pub async fn request_update_meta_inputs(
    control: &Control,
    ctx: &Ctx,
    request: UpdateInputsRequest,
) -> Result<Proposed, AgentConfigError> {
    let _drafting = take(control, ctx, &request.notes)?;
    let own = match &ctx.actor {
        Actor::Agent { name, .. } => name.clone(),
        _ => void_tree::ROOT.parse().map_err(|_| no_tree())?,
    };
    may(control, ctx, Operation::UpdateMetaInputs, &own).await?;
    let (tree, _) = opened(control).await?;
    let instance = &control.process.instance.name;
    let old = &tree.lock.inputs;
    let change = meta_inputs::change(instance, old, &request.inputs, request.schemes)?;
    propose(control, ctx, change, request.notes).await
}

/// Puts a commit into a descendant's repository, on a branch of the writer's own. Nothing is in force by it.
pub async fn write_config(
    control: &Control,
    ctx: &Ctx,
    request: WriteConfigRequest,
) -> Result<CommitId, AgentConfigError> {
    let _drafting = take(control, ctx, &RequestNotes::default())?;
    let agent = &request.agent;
    may(control, ctx, Operation::WriteConfig, agent).await?;
    let (tree, meta) = opened(control).await?;
    let parent = placed(&tree, agent)?;
    let folders = ConfigFolders::of(control, agent).ok_or_else(no_tree)?;
    let repository = folders.repository(&meta);
    let before = tree.lock.agents.get(agent);
    let mut files = match before {
        Some(id) => repository.read(id).await?,
        None => ConfigFiles::none(),
    };
    let invalid = configs::InvalidConfigChange::from;
    files = files.with_config(&request.config).map_err(invalid)?;
    let ceiling = ceiling(control, &tree, agent, &parent).await?;
    judged(&files, &ceiling)?;
    let (author, by) = match &ctx.actor {
        Actor::Agent { name, .. } => (name.to_string(), name.clone()),
        other => (other.to_string(), agent.clone()),
    };
    let author = MetaAuthor {
        name: author,
        at: control.clock.now(),
    };
    // A line that begins with a dash would still be a message: it follows -m.
    let message =
        void_domain::text::escaped(void_domain::text::cut(&request.message, MESSAGE_BYTES_MAX));
    let written = repository.write(&files, before, &by, &author, &message);
    Ok(written.await?)
}

/// What every request costs, before any work is done for it.
fn take(
    control: &Control,
    ctx: &Ctx,
    notes: &RequestNotes,
) -> Result<Option<UnderWay>, AgentConfigError> {
    let reason = notes.reason.as_ref();
    if reason.is_some_and(|reason| reason.len() > limits::REASON_BYTES_MAX) {
        return Err(AgentConfigError::ReasonTooLong);
    }
    row_budgets::take(control, ctx)?;
    Ok(match row_budgets::requester(ctx) {
        Some(id) => Some(control.bounds.drafting.begin(id)?),
        None => None,
    })
}

/// Whether somebody may ask: the owner, and whoever the table of rights lets.
async fn may(
    control: &Control,
    ctx: &Ctx,
    operation: Operation,
    target: &AgentName,
) -> Result<(), AgentConfigError> {
    // Where everybody stands is not known before that.
    control.in_force.tree.opened().await;
    if ctx.actor.is_owner() {
        return Ok(());
    }
    match tree::right_of(control, ctx, operation, target) {
        Right::Alone | Right::WithNod => Ok(()),
        Right::Never => {
            let said = match operation.needs() {
                Some(needed) if !ctx.capabilities.has(needed) => {
                    format!("{} needs the capability {needed}", operation.as_str())
                }
                _ => "that is for whoever stands above, never for oneself, and for nobody outside"
                    .to_owned(),
            };
            Err(refused(control, ctx, operation, &said).await?)
        }
    }
}

async fn refused(
    control: &Control,
    ctx: &Ctx,
    operation: Operation,
    said: &str,
) -> Result<AgentConfigError, AgentConfigError> {
    record_refusal(control, ctx, operation.as_str()).await?;
    Ok(AgentConfigError::Forbidden(said.to_owned()))
}

/// The tree that a request is judged by, with the repository that it is in.
pub(super) async fn opened(
    control: &Control,
) -> Result<(std::sync::Arc<Tree>, MetaFolder), AgentConfigError> {
    let part = &control.in_force.tree;
    part.opened().await;
    let folder = part.folder.lock().await.clone();
    let tree = part.now();
    let Some(folder) = folder.filter(|_| !tree.is_broken) else {
        let first = tree.problems.first().map(String::as_str);
        let why = first.unwrap_or("it was not opened");
        return Err(AgentConfigError::Broken(why.to_owned()));
    };
    Ok((tree, folder))
}

/// Who stands above an agent that has a process of its own.
fn placed(tree: &Tree, agent: &AgentName) -> Result<AgentName, AgentConfigError> {
    if tree.topology.has(agent) && tree.kind(agent) == AgentKind::Resident {
        return Err(AgentConfigError::Resident(agent.clone()));
    }
    let parent = tree.topology.parent(agent).cloned();
    parent.ok_or_else(|| AgentConfigError::Unknown(agent.clone()))
}

fn no_tree() -> AgentConfigError {
    AgentConfigError::Broken("it was not opened".to_owned())
}

fn internal(error: &str) -> AgentConfigError {
    void_store::StoreError::Internal(error.to_owned()).into()
}

async fn propose(
    control: &Control,
    ctx: &Ctx,
    change: Change,
    notes: RequestNotes,
) -> Result<Proposed, AgentConfigError> {
    let request = DeployRequest {
        change,
        reason: notes.reason,
        taint: notes.taint,
        turn: notes.turn,
    };
    Ok(propose_deploy(control, ctx, request).await?)
}
