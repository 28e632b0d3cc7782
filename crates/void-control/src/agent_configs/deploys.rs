//! The steps by which something of the tree's repository comes into force, each of which can be done again: the commit in
//! `meta`, which decides; the files in `applied`; the agent and the entry of the record; then it is in force.
//!
//! A crash before the commit leaves what was; after it, whoever settles the proposal does the steps that are left.

use std::sync::Arc;

use serde_json::{Value, json};
use void_channels::{MetaAuthor, MetaDocument, MetaEdit, MetaError, MetaFolder};
use void_domain::agent_configs::{AgentConfig, CommitId, ConfigFiles};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::fail_point;
use void_domain::failures::FailureCode;
use void_domain::meta_locks::MetaLock;
use void_domain::permits::ChangeAuthor;
use void_domain::proposals::Failure;
use void_store::facts::{self as stored, FactFilter};
use void_store::{StoreError, Tx};
use void_tree::{AgentKind, Index, Topology};

use super::ConfigFolders;
use crate::agents::{Configured, configure};
use crate::control::Control;
use crate::facts;
use crate::parts::tree::{Member, Tree};
use crate::tree::{DEPLOYED, unreadable};

/// Why the repository changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Made,
    Applied,
    RolledBack,
    Pinned,
}

impl Why {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Applied => "applied",
            Self::RolledBack => "rolled_back",
            Self::Pinned => "pinned",
        }
    }
}

/// What is to be in force.
pub(super) struct Deployment<'a> {
    pub control: &'a Control,
    pub folder: &'a MetaFolder,
    pub author: &'a ChangeAuthor,
    pub why: Why,
    /// Whose config; `None`: pinned inputs.
    pub agent: Option<&'a AgentName>,
    pub from: Option<&'a CommitId>,
    pub to: Option<&'a CommitId>,
    /// What comes out; `None` where nothing is applied any more, or nothing has to be.
    pub files: Option<&'a ConfigFiles>,
    /// What the agent may then; `None`: that stays.
    pub capabilities: Option<Capabilities>,
    pub said: Option<&'a str>,
}

pub(super) fn failure(code: FailureCode, said: impl Into<String>) -> Failure {
    Failure::new(code, said)
}

impl Deployment<'_> {
    /// All steps. What was before, if a step before the record cannot be done.
    pub(super) async fn run(
        &self,
        tree: &Tree,
        lock: MetaLock,
        topology: Option<Topology>,
    ) -> Result<(), Failure> {
        let state = self.folder.look().await.map_err(meta_failure)?;
        // Somebody else's work, committed or not, is neither taken in nor written over.
        if state.commit != tree.commit || !state.is_committed || !state.is_lock_committed {
            let said = "the repository meta was changed by hand: void reload takes it in";
            return Err(failure(FailureCode::Changed, said));
        }
        let commit = self.commit(tree, &lock, topology.as_ref()).await?;
        fail_point!("config.meta.after");
        let after = self.after_commit(tree, lock, topology, commit).await;
        match after {
            Ok(()) => Ok(()),
            Err(failure) => {
                self.take_back(tree).await;
                Err(failure)
            }
        }
    }

    /// The steps after the commit, of one that the tree has already.
    pub(super) async fn finish(&self) -> Result<(), Failure> {
        if self.why == Why::Made {
            self.put_repository()?;
        }
        self.put_files()?;
        let mut tree = Tree::clone(&self.control.in_force.tree.now());
        self.set_config(&mut tree);
        self.control.in_force.tree.set(tree);
        self.record_again().await
    }

    /// What it may ask for and hand down follows from what is applied.
    fn set_config(&self, tree: &mut Tree) {
        let Some(agent) = self.agent else { return };
        let config = self.files.map(|files| AgentConfig::parse(files.config()));
        match config {
            Some(Ok(config)) => {
                let said = unreadable(agent);
                tree.problems.retain(|problem| !problem.starts_with(&said));
                tree.configs.insert(agent.clone(), config)
            }
            Some(Err(_)) | None => tree.configs.remove(agent),
        };
    }

    /// The entry of the record, where a crash came before it. What was recorded stays as it is.
    pub(super) async fn record_again(&self) -> Result<(), Failure> {
        let tree = self.control.in_force.tree.now();
        let commit = tree.commit.clone().unwrap_or_default();
        self.record(None, &commit).await
    }

    async fn commit(
        &self,
        tree: &Tree,
        lock: &MetaLock,
        topology: Option<&Topology>,
    ) -> Result<String, Failure> {
        let (lock, topology) = (lock.to_json(), topology.map(Topology::to_json));
        let mut edits: Vec<MetaEdit<'_>> = vec![(MetaDocument::Lock, &lock)];
        edits.extend(
            topology
                .iter()
                .map(|text| (MetaDocument::Topology, text.as_str())),
        );
        let author = MetaAuthor {
            name: self.author.approved_by.clone(),
            at: self.control.clock.now(),
        };
        let (message, before) = (self.message(), tree.commit.as_deref());
        let committed = self.folder.commit_all(&edits, before, &author, &message);
        committed.await.map_err(meta_failure)
    }

    /// The deploy log: who, from where, to where.
    fn message(&self) -> String {
        fn side(commit: Option<&CommitId>) -> &str {
            commit.map_or("nothing", CommitId::as_str)
        }
        let (from, to) = (side(self.from), side(self.to));
        let subject = match (self.agent, self.why) {
            (Some(agent), Why::Made) => format!("deploy: make {agent} at {to}"),
            (Some(agent), Why::RolledBack) => {
                format!("deploy: roll {agent} back from {from} to {to}")
            }
            (Some(agent), _) => format!("deploy: {agent} from {from} to {to}"),
            (None, _) => "lock: move pinned inputs".to_owned(),
        };
        let author = self.author;
        let told = void_domain::text::escaped;
        format!(
            "{subject}\n\nAsked for by {}, approved by {}.\nProposal: {} ({})\nDigest: {}",
            told(&author.requested_by),
            told(&author.approved_by),
            author.code,
            author.proposal_id,
            author.digest,
        )
    }

    async fn after_commit(
        &self,
        tree: &Tree,
        lock: MetaLock,
        topology: Option<Topology>,
        commit: String,
    ) -> Result<(), Failure> {
        if self.why == Why::Made {
            self.put_repository()?;
        }
        self.put_files()?;
        fail_point!("config.record.before");
        self.record(tree.commit.as_deref(), &commit).await?;
        fail_point!("config.record.after");
        self.set(tree, lock, topology, commit);
        Ok(())
    }

    /// The repository of somebody new comes into its place.
    fn put_repository(&self) -> Result<(), Failure> {
        let Some(folders) = self.folders() else {
            return Ok(());
        };
        let is_there = std::fs::symlink_metadata(folders.config()).is_ok();
        if is_there {
            return Ok(());
        }
        let put = std::fs::rename(folders.begun(), folders.config());
        put.map_err(|error| failure(FailureCode::NotWritten, format!("its repository: {error}")))
    }

    fn put_files(&self) -> Result<(), Failure> {
        let (Some(folders), Some(agent)) = (self.folders(), self.agent) else {
            return Ok(());
        };
        let put = match self.files {
            Some(files) => folders.applied().put(agent, files),
            None => folders.applied().clear(agent),
        };
        put.map_err(|error| failure(FailureCode::NotWritten, format!("what is applied: {error}")))
    }

    fn folders(&self) -> Option<ConfigFolders> {
        ConfigFolders::of(self.control, self.agent?)
    }

    /// The agent with what it may, and the entry of the record, in one transaction.
    async fn record(&self, before: Option<&str>, commit: &str) -> Result<(), Failure> {
        let control = self.control.clone();
        let ctx = control.system_ctx().map_err(store_failure)?;
        let context = control.context(&ctx);
        let (agent, capabilities) = (self.agent.cloned(), self.capabilities.clone());
        let (proposal, why) = (self.author.proposal_id.to_string(), self.why.as_str());
        let mut detail = json!({
            "why": self.why.as_str(),
            "commit": commit,
            "before": before,
            "author": self.author.approved_by,
            "agent": self.agent,
            "from": self.from,
            "to": self.to,
            "proposal": self.author.proposal_id,
        });
        if let (Some(said), Some(members)) = (self.said, detail.as_object_mut()) {
            members.insert("said".to_owned(), json!(said));
        }
        let store = control.store.clone();
        let recorded = store.write(move |tx| {
            Box::pin(async move {
                let at = control.clock.now();
                if is_recorded(tx, &control, &proposal, why).await? {
                    return Ok(Recorded::Yes);
                }
                if let (Some(agent), Some(may)) = (&agent, &capabilities) {
                    match configure(tx, &context, &control, (agent, may)).await? {
                        Configured::Yes => {}
                        Configured::Withdrawn => return Ok(Recorded::Withdrawn),
                    }
                }
                let subject = Some(control.process.instance.id.clone());
                facts::audit(tx, &context, at, DEPLOYED, subject, detail).await?;
                Ok::<_, StoreError>(Recorded::Yes)
            })
        });
        match recorded.await.map_err(store_failure)? {
            Recorded::Yes => Ok(()),
            Recorded::Withdrawn => {
                let said = "the agent was withdrawn; nobody but the owner brings it back";
                Err(failure(FailureCode::Withdrawn, said))
            }
        }
    }

    fn set(&self, tree: &Tree, lock: MetaLock, topology: Option<Topology>, commit: String) {
        let mut next = Tree {
            lock,
            commit: Some(commit),
            ..tree.clone()
        };
        if let Some(topology) = topology {
            next.index = Index::of(&topology);
            next.topology = topology;
        }
        if let Some(agent) = self.agent.filter(|_| self.why == Why::Made) {
            let member = Member::of(AgentKind::Process, Capabilities::none());
            next.members.insert(agent.clone(), member);
        }
        self.set_config(&mut next);
        self.control.in_force.tree.set(next);
    }

    /// What cannot be put in force and recorded is taken back, as a move in the tree is.
    async fn take_back(&self, tree: &Tree) {
        let back = self.try_take_back(tree).await;
        let Err(error) = back else { return };
        tracing::error!(%error, "the tree's repository is ahead of what is in force until the next start");
        let mut broken = tree.clone();
        broken.is_broken = true;
        let said = "the repository has a change that could not be put in force: void reload";
        broken.problems.push(said.to_owned());
        self.control.in_force.tree.set(broken);
    }

    async fn try_take_back(&self, tree: &Tree) -> Result<(), String> {
        let state = self.folder.look().await;
        let state = state.map_err(|error| error.to_string())?;
        let newest = state.commit.as_deref().unwrap_or_default();
        let (lock, topology) = (tree.lock.to_json(), tree.topology.to_json());
        let edits = [
            (MetaDocument::Lock, lock.as_str()),
            (MetaDocument::Topology, topology.as_str()),
        ];
        let back = self
            .folder
            .take_back_all(newest, tree.commit.as_deref(), &edits);
        back.await.map_err(|error| error.to_string())?;
        let (Some(folders), Some(agent)) = (self.folders(), self.agent) else {
            return Ok(());
        };
        if self.why == Why::Made {
            let _ = std::fs::rename(folders.config(), folders.begun());
            return Ok(());
        }
        // What was applied before is put back where it can be read; otherwise nothing is applied that nobody approved.
        let put = match self.from {
            Some(from) => match folders.repository(self.folder).read(from).await {
                Ok(files) => folders.applied().put(agent, &files),
                Err(error) => return Err(error.to_string()),
            },
            None => folders.applied().clear(agent),
        };
        put.map_err(|error| error.to_string())
    }
}

/// So many entries are looked through for one of a proposal that was just cut off.
const LOOKED_BACK_MAX: u32 = 100;

/// Whether a crash came after the entry and not before.
async fn is_recorded(
    tx: &mut Tx,
    control: &Control,
    proposal: &str,
    why: &str,
) -> Result<bool, StoreError> {
    let filter = FactFilter {
        subject: Some(control.process.instance.id.clone()),
        actor: String::new(),
        verb: DEPLOYED.to_owned(),
    };
    let newest = stored::list(tx, &filter, None, LOOKED_BACK_MAX).await?;
    Ok(newest.items.iter().any(|entry| {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let says =
            |name: &str, value: &str| detail.get(name).and_then(Value::as_str) == Some(value);
        says("proposal", proposal) && says("why", why)
    }))
}

enum Recorded {
    Yes,
    Withdrawn,
}

fn meta_failure(error: MetaError) -> Failure {
    let code = match error {
        MetaError::Changed => FailureCode::Changed,
        MetaError::Git(_) | MetaError::File(_) => FailureCode::NotWritten,
    };
    failure(code, error.to_string())
}

fn store_failure(error: StoreError) -> Failure {
    failure(FailureCode::Unavailable, error.to_string())
}

/// The tree to change, and its repository, if nothing is wrong with it. Held until it is changed.
pub(super) async fn held(
    control: &Control,
) -> Result<(Arc<Tree>, tokio::sync::MutexGuard<'_, Option<MetaFolder>>), Failure> {
    let part = &control.in_force.tree;
    part.opened().await;
    let folder = part.folder.lock().await;
    let tree = part.now();
    match folder.is_some() && !tree.is_broken {
        true => Ok((tree, folder)),
        false => {
            let first = tree.problems.first().map(String::as_str);
            let said = first.unwrap_or("the tree of agents was not opened");
            Err(failure(FailureCode::TreeBroken, said))
        }
    }
}
