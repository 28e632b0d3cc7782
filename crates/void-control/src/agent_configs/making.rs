//! Somebody new, and pinned inputs: what a yes to them does. A new agent's repository is made beside its place; one commit
//! in `meta` then gives it its place in the tree and says what is applied, and everything else follows from that.

use serde_json::{Value, json};
use void_channels::{MetaAuthor, MetaFolder};
use void_domain::agent_configs::{CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::changes::agent_configs::first_text;
use void_domain::changes::meta_inputs::new_inputs;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::permits::ChangePermit;
use void_domain::proposals::Failure;
use void_tree::Topology;

use super::deploys::{Deployment, Why, failure, held};
use super::writer::{Judged, Writing, changed, read_failure};
use crate::agents;

impl Writing<'_> {
    pub(super) async fn init(&self, permit: &ChangePermit) -> Result<Value, Failure> {
        let (agent, parent) = (self.agent()?, self.parent()?);
        let (tree, kept) = held(self.control).await?;
        let folder = kept.as_ref().ok_or_else(|| changed("no repository"))?;
        let judged = self.judged_files(&tree, self.first_files()?).await?;
        self.check_base(&tree, permit)?;
        let is_free = agents::judge_free_name(self.control, &agent).await;
        let is_free = is_free.map_err(|error| failure(FailureCode::Unavailable, error.to_string()));
        is_free?.map_err(|error| failure(FailureCode::NameTaken, error.to_string()))?;
        let topology = with_child(&tree.topology, &agent, &parent)?;
        let commit = self
            .make_repository(folder, &agent, judged.files.config())
            .await?;
        fail_point!("config.repository.after");
        let mut lock = tree.lock.clone();
        lock.agents.insert(agent.clone(), commit.clone());
        let deployment = self.making(folder, &agent, &commit, &judged);
        deployment.run(&tree, lock, Some(topology)).await?;
        Ok(self.made_result(&agent, &commit))
    }

    pub(super) fn first_files(&self) -> Result<ConfigFiles, Failure> {
        let text = first_text(self.change).ok_or_else(|| changed("its text is not whole"))?;
        ConfigFiles::of_config(&text).map_err(|error| changed(error.to_string()))
    }

    pub(super) fn making<'a>(
        &'a self,
        folder: &'a MetaFolder,
        agent: &'a AgentName,
        commit: &'a CommitId,
        judged: &'a Judged,
    ) -> Deployment<'a> {
        Deployment {
            control: self.control,
            folder,
            author: &self.author,
            why: Why::Made,
            agent: Some(agent),
            from: None,
            to: Some(commit),
            files: Some(&judged.files),
            capabilities: Some(judged.capabilities.clone()),
            said: None,
        }
    }

    pub(super) fn made_result(&self, agent: &AgentName, commit: &CommitId) -> Value {
        let deploy = self.change.deploy.as_ref();
        json!({
            "agent": agent,
            "parent": deploy.and_then(|deploy| deploy.parent.as_ref()),
            "commit": commit,
            "note": "made; its process is not started",
        })
    }

    /// Beside its place: whoever has a folder called `config` belongs into the tree.
    async fn make_repository(
        &self,
        folder: &MetaFolder,
        agent: &AgentName,
        text: &str,
    ) -> Result<CommitId, Failure> {
        let folders = self.folders(agent)?;
        let there = |error: std::io::Error| {
            failure(FailureCode::NotWritten, format!("its folder: {error}"))
        };
        folders.make_own().map_err(there)?;
        if std::fs::symlink_metadata(folders.config()).is_ok() {
            let said = format!("agents/{agent}/config is there already");
            return Err(failure(FailureCode::NotWritten, said));
        }
        let author = MetaAuthor {
            name: self.author.requested_by.clone(),
            at: self.control.clock.now(),
        };
        let message = format!("begin the config of {agent}");
        let repository = folders.begun_repository(folder);
        let made = repository.create(text, &author, &message).await;
        made.map_err(read_failure)
    }

    pub(super) async fn pin(&self, permit: &ChangePermit) -> Result<Value, Failure> {
        let (tree, kept) = held(self.control).await?;
        let folder = kept.as_ref().ok_or_else(|| changed("no repository"))?;
        self.check_base(&tree, permit)?;
        let inputs = new_inputs(self.change, &tree.lock.inputs);
        let mut lock = tree.lock.clone();
        lock.inputs = inputs.ok_or_else(|| changed("the inputs are other ones now"))?;
        let deployment = self.pinning(folder);
        deployment.run(&tree, lock, None).await?;
        Ok(self.pinned_result())
    }

    pub(super) fn pinning<'a>(&'a self, folder: &'a MetaFolder) -> Deployment<'a> {
        Deployment {
            control: self.control,
            folder,
            author: &self.author,
            why: Why::Pinned,
            agent: None,
            from: None,
            to: None,
            files: None,
            capabilities: None,
            said: None,
        }
    }

    pub(super) fn pinned_result(&self) -> Value {
        json!({
            "sha256": self.change.result,
            "note": "pinned; nothing was fetched by it",
        })
    }
}

/// The tree with one more, if it is sound with it.
fn with_child(
    topology: &Topology,
    agent: &AgentName,
    parent: &AgentName,
) -> Result<Topology, Failure> {
    let entries = topology.entries();
    let entries = entries.map(|(name, parent)| (name.clone(), parent.cloned()));
    let all = entries
        .chain([(agent.clone(), Some(parent.clone()))])
        .collect();
    let (after, problems) = Topology::of(all);
    match problems.first() {
        Some(problem) => Err(changed(problem.to_string())),
        None if after.has(agent) => Ok(after),
        None => Err(changed("it would have no position")),
    }
}
