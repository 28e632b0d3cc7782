//! What a yes to a change of the tree's repository does. Everything is looked at again, under the lock of whoever changes
//! the tree: the commit that is applied, who stands above, what that one has, and every byte that comes out.

use serde_json::{Value, json};
use void_channels::{ConfigReadError, ConfigRepository, Evidence, Outcome};
use void_domain::agent_configs::{AgentConfig, CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::changes::agent_configs::{agent_of, judged};
use void_domain::changes::meta_inputs::new_inputs;
use void_domain::changes::{Change, ChangeOp, ChangeTarget};
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::permits::{ChangeAuthor, ChangePermit};
use void_domain::proposals::Failure;

use super::ceilings::ceiling;
use super::deploys::{Deployment, Why, failure, held};
use super::{AgentConfigError, ConfigFolders};
use crate::control::{Control, WeakControl};
use crate::parts::change_writers::{ChangeWriter, EffectFuture, Restarted};
use crate::parts::tree::Tree;

/// How the reason of a rollback begins.
const NOT_UP: &str = "the agent did not come up";

pub(super) struct RepositoryWriter {
    control: WeakControl,
}

impl RepositoryWriter {
    pub(super) fn of(control: &Control) -> Self {
        Self {
            control: control.downgrade(),
        }
    }
}

impl ChangeWriter for RepositoryWriter {
    fn fits(&self, change: &Change) -> bool {
        let Some(control) = self.control.upgrade() else {
            return false;
        };
        let tree = control.in_force.tree.now();
        // Before the tree is open, and while something is wrong with it, nobody knows: nothing is thrown away for that.
        tree.commit.is_none() || tree.is_broken || is_of(&tree, change)
    }

    fn write(&self, permit: ChangePermit) -> EffectFuture<'_, Outcome> {
        Box::pin(async move {
            let Some(control) = self.control.upgrade() else {
                let said = "the server ends; nothing was changed";
                return Outcome::Failed(failure(FailureCode::NotStarted, said));
            };
            let written = Writing {
                control: &control,
                change: permit.change(),
                author: permit.author().clone(),
            };
            match written.write(&permit).await {
                Ok(result) => Outcome::Done { result },
                Err(failure) => Outcome::Failed(failure),
            }
        })
    }

    fn settle<'a>(
        &'a self,
        change: &'a Change,
        author: ChangeAuthor,
    ) -> EffectFuture<'a, Evidence> {
        Box::pin(async move {
            let Some(control) = self.control.upgrade() else {
                let said = "the server ends";
                return Evidence::None(failure(FailureCode::NoEvidence, said));
            };
            let written = Writing {
                control: &control,
                change,
                author,
            };
            written.settle().await
        })
    }
}

/// Whether what is in force is what a change was made against.
fn is_of(tree: &Tree, change: &Change) -> bool {
    match change.target {
        ChangeTarget::MetaInputs => new_inputs(change, &tree.lock.inputs).is_some(),
        ChangeTarget::AgentConfig => {
            let Some(agent) = agent_of(change) else {
                return false;
            };
            let deploy = change.deploy.as_ref();
            let Some(parent) = deploy.and_then(|deploy| deploy.parent.as_ref()) else {
                return false;
            };
            let applied = tree.lock.agents.get(&agent).map(CommitId::as_str);
            match change.op {
                ChangeOp::Create => {
                    applied.is_none() && !tree.topology.has(&agent) && tree.topology.has(parent)
                }
                ChangeOp::Update => {
                    applied == change.base.as_deref()
                        && tree.topology.parent(&agent) == Some(parent)
                }
                ChangeOp::Delete => false,
            }
        }
        ChangeTarget::Knowledge | ChangeTarget::Topology | ChangeTarget::Catalogue => false,
    }
}

/// One change that is put in force, or looked for.
pub(super) struct Writing<'a> {
    pub control: &'a Control,
    pub change: &'a Change,
    pub author: ChangeAuthor,
}

/// A config with what it is judged by.
pub(super) struct Judged {
    pub files: ConfigFiles,
    pub capabilities: Capabilities,
}

impl Writing<'_> {
    async fn write(&self, permit: &ChangePermit) -> Result<Value, Failure> {
        match (self.change.target, self.change.op) {
            (ChangeTarget::MetaInputs, _) => self.pin(permit).await,
            (ChangeTarget::AgentConfig, ChangeOp::Create) => self.init(permit).await,
            (ChangeTarget::AgentConfig, ChangeOp::Update) => {
                let from = self.apply(permit).await?;
                self.restart(from).await
            }
            _ => Err(changed("it is a change of nothing that is kept here")),
        }
    }

    pub(super) fn agent(&self) -> Result<AgentName, Failure> {
        agent_of(self.change).ok_or_else(|| changed("it names no agent"))
    }

    pub(super) fn commit(&self) -> Result<CommitId, Failure> {
        let deploy = self.change.deploy.as_ref();
        let commit = deploy.and_then(|deploy| deploy.commit.clone());
        commit.ok_or_else(|| changed("it names no commit"))
    }

    pub(super) fn parent(&self) -> Result<AgentName, Failure> {
        let deploy = self.change.deploy.as_ref();
        let parent = deploy.and_then(|deploy| deploy.parent.clone());
        parent.ok_or_else(|| changed("it names nobody above"))
    }

    pub(super) fn folders(&self, agent: &AgentName) -> Result<ConfigFolders, Failure> {
        let folders = ConfigFolders::of(self.control, agent);
        folders.ok_or_else(|| failure(FailureCode::TreeBroken, "the tree was not opened"))
    }

    /// The files of a commit, if they are those that were approved and their config is within what the parent has now.
    pub(super) async fn judged(
        &self,
        tree: &Tree,
        repository: &ConfigRepository,
        commit: &CommitId,
    ) -> Result<Judged, Failure> {
        let files = repository.read(commit).await.map_err(read_failure)?;
        self.judged_files(tree, files).await
    }

    pub(super) async fn judged_files(
        &self,
        tree: &Tree,
        files: ConfigFiles,
    ) -> Result<Judged, Failure> {
        if files.digest() != self.change.result {
            return Err(changed("the files are not those that were approved"));
        }
        let (agent, parent) = (self.agent()?, self.parent()?);
        let ceiling = ceiling(self.control, tree, &agent, &parent).await;
        let ceiling = ceiling.map_err(config_failure)?;
        let config = judged(&files, &ceiling).map_err(|error| changed(error.to_string()))?;
        Ok(Judged {
            files,
            capabilities: config.capabilities,
        })
    }

    pub(super) fn check_base(&self, tree: &Tree, permit: &ChangePermit) -> Result<(), Failure> {
        if !is_of(tree, self.change) {
            return Err(changed("what it was made against was changed meanwhile"));
        }
        match permit.is_stopped() {
            true => Err(failure(
                FailureCode::Frozen,
                "everything was frozen before it was written; nothing was changed",
            )),
            false => Ok(()),
        }
    }

    /// A commit becomes what is applied. The commit that was applied before.
    async fn apply(&self, permit: &ChangePermit) -> Result<Option<CommitId>, Failure> {
        let (agent, commit) = (self.agent()?, self.commit()?);
        let (tree, kept) = held(self.control).await?;
        let folder = kept.as_ref().ok_or_else(|| changed("no repository"))?;
        let repository = self.folders(&agent)?.repository(folder);
        let judged = self.judged(&tree, &repository, &commit).await?;
        self.check_base(&tree, permit)?;
        let from = tree.lock.agents.get(&agent).cloned();
        let mut lock = tree.lock.clone();
        lock.agents.insert(agent.clone(), commit.clone());
        let deployment = Deployment {
            control: self.control,
            folder,
            author: &self.author,
            why: Why::Applied,
            agent: Some(&agent),
            from: from.as_ref(),
            to: Some(&commit),
            files: Some(&judged.files),
            capabilities: Some(judged.capabilities),
            said: None,
        };
        deployment.run(&tree, lock, None).await?;
        Ok(from)
    }

    /// Its process begins anew; if it does not come up, the commit before is put back.
    pub(super) async fn restart(&self, from: Option<CommitId>) -> Result<Value, Failure> {
        let (agent, commit) = (self.agent()?, self.commit()?);
        fail_point!("config.restart.before");
        let restarted = match self.control.in_force.change_writers.restarter() {
            Some(restarter) => restarter.restart(&agent).await,
            None => Restarted::NotWanted,
        };
        fail_point!("config.restart.after");
        let note = match restarted {
            Restarted::IsUp => "applied, and its process came up with it",
            Restarted::NotWanted => "applied; its process does not run, so nobody saw it come up",
            Restarted::IsNotUp(why) => return Err(self.roll_back(&agent, from, &why).await),
        };
        Ok(json!({"agent": agent, "from": from, "commit": commit, "note": note}))
    }

    /// What is to be recorded of an agent that did not come up.
    async fn roll_back(&self, agent: &AgentName, from: Option<CommitId>, why: &str) -> Failure {
        let back = self.put_back(agent, from.as_ref(), why).await;
        let said = match (back, &from) {
            (Ok(()), Some(from)) => format!("the commit {from} is applied again"),
            (Ok(()), None) => "nothing is applied, as before".to_owned(),
            (Err(failure), _) => format!(
                "and what was applied before could not be put back: {}",
                failure.message
            ),
        };
        let said = format!("{NOT_UP} ({why}); {said}");
        if let Some(restarter) = self.control.in_force.change_writers.restarter() {
            match restarter.restart(agent).await {
                Restarted::IsUp | Restarted::NotWanted => {}
                Restarted::IsNotUp(why) => {
                    let said = format!("{said}; it does not come up with that either: {why}");
                    return failure(FailureCode::CheckFailed, said);
                }
            }
        }
        failure(FailureCode::CheckFailed, said)
    }

    async fn put_back(
        &self,
        agent: &AgentName,
        from: Option<&CommitId>,
        why: &str,
    ) -> Result<(), Failure> {
        let commit = self.commit()?;
        let (tree, kept) = held(self.control).await?;
        let folder = kept.as_ref().ok_or_else(|| changed("no repository"))?;
        if tree.lock.agents.get(agent) != Some(&commit) {
            return Err(changed("another commit was applied meanwhile"));
        }
        let mut lock = tree.lock.clone();
        lock.agents.remove(agent);
        let before = match from {
            Some(from) => {
                let files = self.folders(agent)?.repository(folder).read(from).await;
                let files = files.map_err(read_failure)?;
                lock.agents.insert(agent.clone(), from.clone());
                Some(files)
            }
            None => None,
        };
        let config = before
            .as_ref()
            .map(|files| AgentConfig::parse(files.config()));
        let config = config.and_then(Result::ok);
        // Whoever had no config before may nothing by this one.
        let capabilities = config.map_or_else(Capabilities::none, |config| config.capabilities);
        let deployment = Deployment {
            control: self.control,
            folder,
            author: &self.author,
            why: Why::RolledBack,
            agent: Some(agent),
            from: Some(&commit),
            to: from,
            files: before.as_ref(),
            capabilities: Some(capabilities),
            said: Some(why),
        };
        deployment.run(&tree, lock, None).await
    }
}

pub(super) fn changed(said: impl Into<String>) -> Failure {
    let said: String = said.into();
    failure(FailureCode::Changed, format!("{said}; nothing was changed"))
}

pub(super) fn read_failure(error: ConfigReadError) -> Failure {
    changed(error.to_string())
}

fn config_failure(error: AgentConfigError) -> Failure {
    changed(error.to_string())
}
