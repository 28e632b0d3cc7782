//! Opening the tree, at every start and so at every reload: what a crash cut off is ended, what is committed is read,
//! whoever came gets their place under the root and whoever went leaves it, and what is new is recorded before it is
//! in force. Only what is committed counts. Where something is wrong nothing is written, and it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use void_channels::{MetaAuthor, MetaDocument, MetaError, MetaFile, MetaFolder, MetaState};
use void_domain::agent_configs::{AgentConfig, CONFIG_FILE};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_domain::meta_locks::MetaLock;
use void_domain::text;
use void_store::{StoreError, Tx, agents, tokens};
use void_tree::{AgentKind, Index, MEMBERS_MAX, ROOT, Topology, TreeProblem};

use super::recording::{self, TreeChange, Why};
use crate::control::Control;
use crate::parts::tree::{AgentPlaces, Member, Tree};

/// How many things that are wrong are told one by one.
const PROBLEMS_TOLD_MAX: usize = 50;
/// What every agent with a process has in its folder.
const CONFIG: &str = "config";

/// Where the tree is kept, and where agents with processes have their folders.
#[derive(Debug, Clone)]
pub struct TreePlaces {
    pub meta: PathBuf,
    pub agents: PathBuf,
    /// What is applied of agents' configs.
    pub applied: PathBuf,
}

impl TreePlaces {
    pub fn of_data(data: &Path) -> Self {
        Self {
            meta: data.join("meta"),
            agents: data.join("agents"),
            applied: data.join("applied"),
        }
    }
}

/// Opens it beside everything else: git takes its time, and a start does not wait for it. Until then nobody stands above
/// anybody.
pub fn start(control: &Control, places: TreePlaces, residents: Vec<(AgentName, Capabilities)>) {
    control.in_force.tree.note_opening(true);
    let control = control.clone();
    tokio::spawn(async move {
        if let Err(error) = open(&control, places, residents).await {
            tracing::error!(%error, "the tree of agents could not be opened");
            control.in_force.tree.set(Tree {
                problems: vec![format!("it could not be opened ({error}): void reload")],
                is_broken: true,
                ..Tree::default()
            });
        }
        control.in_force.tree.note_opening(false);
    });
}

/// Opens the tree of those who live here, with what each may, and of those who have a folder. Trouble with the repository
/// is no error: it is told, and nobody stands above anybody.
pub async fn open(
    control: &Control,
    places: TreePlaces,
    residents: Vec<(AgentName, Capabilities)>,
) -> Result<(), StoreError> {
    let part = &control.in_force.tree;
    let mut kept = part.folder.lock().await;
    // Whoever opens it again has the same.
    let _ = part.places.set(AgentPlaces {
        agents: places.agents.clone(),
        applied: places.applied,
    });
    let folder = MetaFolder::new(places.meta);
    let mut problems = Vec::new();
    let opening = Opening {
        control,
        folder: &folder,
        base: base(&places.agents, residents, &mut problems),
        known: recording::known(control).await?,
    };
    let opened = match opening.run().await {
        Ok(opened) => opened,
        Err(NotOpened::Store(error)) => return Err(error),
        Err(NotOpened::Meta(error)) => opening.broken(vec![format!(
            "the repository of the tree cannot be used ({error}), so nobody stands above anybody"
        )]),
    };
    problems.extend(opened.problems);
    let applied = part.places.get().map(|places| places.applied.as_path());
    let configs = applied.map(|applied| configs(&opened.lock, applied, &mut problems));
    if problems.len() > PROBLEMS_TOLD_MAX {
        let more = problems.len() - PROBLEMS_TOLD_MAX;
        problems.truncate(PROBLEMS_TOLD_MAX);
        problems.push(format!("and {more} more"));
    }
    for problem in &problems {
        tracing::error!("the tree of agents: {problem}");
    }
    part.set(Tree {
        configs: configs.unwrap_or_default(),
        index: Index::of(&opened.topology),
        topology: opened.topology,
        members: opened.members,
        lock: opened.lock,
        commit: opened.commit,
        problems,
        is_broken: opened.is_broken,
    });
    *kept = Some(folder);
    Ok(())
}

/// How it begins that somebody's config is not there.
pub(crate) fn unreadable(agent: &AgentName) -> String {
    format!("what is applied of {agent} cannot be read")
}

/// The configs that are applied. Whose cannot be read may ask for nothing and hand nothing down.
fn configs(
    lock: &MetaLock,
    applied: &Path,
    problems: &mut Vec<String>,
) -> BTreeMap<AgentName, AgentConfig> {
    let mut configs = BTreeMap::new();
    for agent in lock.agents.keys() {
        let file = applied.join(agent.as_str()).join(CONFIG_FILE);
        let read = fs::read_to_string(&file).map_err(|error| error.to_string());
        let read =
            read.and_then(|text| AgentConfig::parse(&text).map_err(|error| error.to_string()));
        match read {
            Ok(config) => {
                configs.insert(agent.clone(), config);
            }
            Err(said) => {
                let what = unreadable(agent);
                problems.push(format!(
                    "{what} ({said}): it may ask for nothing until a commit is applied"
                ));
            }
        }
    }
    configs
}

type Members = BTreeMap<AgentName, Member>;

/// Everybody who belongs into the tree whatever its file says: the root and residents, who live in the server, and whoever
/// has a folder with a config.
fn base(
    agents: &Path,
    residents: Vec<(AgentName, Capabilities)>,
    problems: &mut Vec<String>,
) -> Members {
    let folders = folders(agents).unwrap_or_else(|error| {
        problems.push(format!("the folders of agents cannot be read: {error}"));
        Vec::new()
    });
    let process = |name| (name, Member::of(AgentKind::Process, Capabilities::none()));
    let mut members: Members = folders.into_iter().map(process).collect();
    let root = ROOT.parse().ok().map(|root| (root, Capabilities::none()));
    let resident = |(name, may)| (name, Member::of(AgentKind::Resident, may));
    members.extend(root.into_iter().chain(residents).map(resident));
    members
}

/// Of these, whoever was withdrawn, and whoever lived here and does so no more: who has a folder of their own lives there,
/// also while nobody holds a token. A name that nobody has yet is somebody whom the owner has a place for.
async fn gone(
    tx: &mut Tx,
    names: BTreeSet<AgentName>,
    housed: BTreeSet<AgentName>,
) -> Result<Vec<AgentName>, StoreError> {
    let mut gone = Vec::new();
    for name in names {
        let Some(agent) = agents::find_named(tx, &name).await? else {
            continue;
        };
        let live = tokens::list_live_of(tx, agent.id).await?;
        let was_resident = live.iter().all(|token| token.resident) && !housed.contains(&name);
        if !agent.is_live() || was_resident {
            gone.push(name);
        }
    }
    Ok(gone)
}

fn folders(agents: &Path) -> io::Result<Vec<AgentName>> {
    let entries = match fs::read_dir(agents) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries.take(MEMBERS_MAX) {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.parse().ok());
        // Links are passed over: whose folder it is would be said by whoever made one.
        let is_agent = entry.file_type()?.is_dir()
            && fs::symlink_metadata(entry.path().join(CONFIG)).is_ok_and(|config| config.is_dir());
        names.extend(name.filter(|_| is_agent));
    }
    Ok(names)
}

/// What is in force now, and what is told about it.
struct Opened {
    topology: Topology,
    members: Members,
    lock: MetaLock,
    commit: Option<String>,
    problems: Vec<String>,
    is_broken: bool,
}

#[derive(Debug, thiserror::Error)]
enum NotOpened {
    #[error(transparent)]
    Meta(#[from] MetaError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

struct Opening<'a> {
    control: &'a Control,
    folder: &'a MetaFolder,
    base: Members,
    /// The commit that the record knows.
    known: Option<String>,
}

/// What is applied and pinned. A file that is not what was committed is nobody's word: until it is mended nothing of the
/// tree is changed.
fn lock_of(state: &MetaState) -> Result<MetaLock, String> {
    if !state.is_lock_committed {
        return Err("it is not as it was committed: put it back, or commit it".to_owned());
    }
    match &state.lock {
        MetaFile::Missing => Ok(MetaLock::default()),
        MetaFile::Text(text) => MetaLock::parse(text).map_err(|error| error.to_string()),
        MetaFile::Unreadable(error) => Err(text::escaped(error)),
    }
}

impl Opening<'_> {
    fn broken(&self, problems: Vec<String>) -> Opened {
        Opened {
            topology: Topology::empty(),
            members: self.base.clone(),
            lock: MetaLock::default(),
            commit: None,
            problems,
            is_broken: true,
        }
    }

    /// With those who stand in the file, and without those who are gone.
    async fn members(&self, found: &Topology) -> Result<Members, StoreError> {
        let is_resident = |name: &AgentName| {
            let member = self.base.get(name);
            member.is_some_and(|member| member.kind == AgentKind::Resident)
        };
        let names = found
            .entries()
            .map(|(name, _)| name)
            .chain(self.base.keys());
        let names: BTreeSet<AgentName> = names.filter(|name| !is_resident(name)).cloned().collect();
        let housed: BTreeSet<AgentName> = self.base.keys().cloned().collect();
        let mut members = self.base.clone();
        for name in &names {
            let process = Member::of(AgentKind::Process, Capabilities::none());
            members.entry(name.clone()).or_insert(process);
        }
        let read = self
            .control
            .store
            .read(move |tx| Box::pin(gone(tx, names, housed)));
        for name in read.await? {
            members.remove(&name);
        }
        Ok(members)
    }

    async fn run(&self) -> Result<Opened, NotOpened> {
        self.folder.open().await?;
        let state = self.folder.look().await?;
        let lock = match lock_of(&state) {
            Ok(lock) => lock,
            Err(said) => {
                let file = self.folder.path(MetaDocument::Lock);
                let file = text::escaped(&file.display().to_string());
                return Ok(self.broken(vec![format!("{file}: {said}")]));
            }
        };
        let opened = self.run_with(state).await?;
        Ok(Opened { lock, ..opened })
    }

    async fn run_with(&self, state: MetaState) -> Result<Opened, NotOpened> {
        let text = match &state.file {
            MetaFile::Text(text) => text,
            // A tree that was never made; one that is gone is something else.
            MetaFile::Missing if state.commit.is_none() && self.known.is_none() => {
                return self.settle(&state, Topology::empty(), Why::Begun).await;
            }
            MetaFile::Missing => {
                return Ok(self.broken(vec![self.told(&TreeProblem::Missing)]));
            }
            MetaFile::Unreadable(error) => {
                let problem = TreeProblem::Unreadable(text::escaped(error));
                return Ok(self.broken(vec![self.told(&problem)]));
            }
        };
        let reading = Topology::read(Some(text));
        if reading.problems.is_empty() {
            let why = match state.is_committed {
                true => Why::Members,
                false => Why::Edited,
            };
            return self.settle(&state, reading.topology, why).await;
        }
        let problems = reading.problems.iter().map(|problem| self.told(problem));
        let mut problems: Vec<String> = problems.collect();
        let Some(commit) = state.commit.filter(|_| state.is_committed) else {
            let said = "the file was edited by hand and is not committed; it is not taken in while something of it is wrong, \
                and until then nobody stands above anybody";
            problems.insert(0, said.to_owned());
            return Ok(self.broken(problems));
        };
        if self.known.as_ref() != Some(&commit) {
            let (before, after) = (Topology::empty(), &reading.topology);
            self.record(Why::Found, &commit, &before, after).await?;
        }
        Ok(Opened {
            members: self.members(&reading.topology).await?,
            lock: MetaLock::default(),
            topology: reading.topology,
            commit: Some(commit),
            problems,
            is_broken: true,
        })
    }

    fn told(&self, problem: &TreeProblem) -> String {
        let file = self.folder.file();
        format!("{}: {problem}", text::escaped(&file.display().to_string()))
    }

    /// Brings a tree in line with who there is; commits what that changes, and records what the record does not know.
    async fn settle(
        &self,
        state: &MetaState,
        found: Topology,
        why: Why,
    ) -> Result<Opened, NotOpened> {
        let members = self.members(&found).await?;
        let names: BTreeSet<AgentName> = members.keys().cloned().collect();
        let reconciled = found.reconciled(&names);
        let topology = reconciled.topology;
        let is_new = topology != found || !state.is_committed;
        // An edit is told by what was committed before it.
        let committed = match why {
            Why::Edited => self.folder.committed().await,
            Why::Begun | Why::Members | Why::Found | Why::Moved => None,
        };
        let before = match committed {
            Some((text, _)) => Topology::read(Some(&text)).topology,
            None => found,
        };
        let commit = match &state.commit {
            Some(commit) if !is_new => commit.clone(),
            parent => {
                let message = recording::message(why.subject(), &before.relocations(&topology));
                let author = MetaAuthor {
                    name: self.control.system_ctx()?.actor.to_string(),
                    at: self.control.clock.now(),
                };
                let (text, parent) = (topology.to_json(), parent.as_deref());
                self.folder.commit(&text, parent, &author, &message).await?
            }
        };
        if self.known.as_ref() != Some(&commit) {
            let why = if is_new { why } else { Why::Found };
            self.record(why, &commit, &before, &topology).await?;
        }
        Ok(Opened {
            topology,
            members,
            lock: MetaLock::default(),
            commit: Some(commit),
            problems: reconciled
                .problems
                .iter()
                .map(ToString::to_string)
                .collect(),
            is_broken: false,
        })
    }

    async fn record(
        &self,
        why: Why,
        commit: &str,
        before: &Topology,
        after: &Topology,
    ) -> Result<(), NotOpened> {
        let author = self.folder.committed().await.map(|(_, author)| author);
        let change = TreeChange {
            why,
            before: self.known.as_deref(),
            commit,
            author: author.as_deref().unwrap_or_default(),
            relocations: &before.relocations(after),
            rights: &[],
        };
        let ctx = self.control.system_ctx()?;
        Ok(recording::record(self.control, &ctx, &change).await?)
    }
}
