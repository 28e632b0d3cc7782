//! What the supervisor asks: with what a process is started, and that it hears how one stands.

use std::io;

use void_domain::agents::{Agent, AgentName};
use void_domain::capabilities::Capability;
use void_domain::digests::Digest;
use void_sandbox::FolderAccess;
use void_store::{StoreError, agent_processes as table};
use void_supervise::{
    AgentFacts, Host, HostFuture, MountedFolder, Order, ProcessState, ProcessStatus, TokenText,
};
use void_tree::AgentKind;

use super::{AgentProcessesConfig, folders, wishes};
use crate::agents;
use crate::alerts::{self, AgentHealth};
use crate::control::Control;
use crate::parts::tree::Tree;
use crate::tokens::new_text;

pub(super) struct House {
    pub control: Control,
    pub config: AgentProcessesConfig,
}

impl Host for House {
    fn order<'a>(&'a self, name: &'a str) -> HostFuture<'a, Result<Order, String>> {
        Box::pin(async move { self.make_order(name).await })
    }

    fn changed<'a>(&'a self, name: &'a str, status: &'a ProcessStatus) -> HostFuture<'a, ()> {
        Box::pin(async move {
            if let Err(error) = self.note(name, status).await {
                tracing::error!(%error, agent = name, "how an agent's process stands cannot be recorded");
            }
        })
    }

    fn may_wake<'a>(&'a self, name: &'a str) -> HostFuture<'a, bool> {
        Box::pin(async move {
            let Ok(name) = name.parse::<AgentName>() else {
                return false;
            };
            // Doubt leaves it asleep.
            matches!(agents::is_paused(&self.control, &name).await, Ok(false))
        })
    }

    fn now_ms(&self) -> i64 {
        self.control.clock.now().as_ms()
    }
}

impl House {
    /// Everything is looked up anew for each process: the tree, the agent and its capabilities may have changed.
    async fn make_order(&self, name: &str) -> Result<Order, String> {
        let name: AgentName = name.parse().map_err(|_| "it has no name".to_owned())?;
        let judged = self.judge_place(&name).await;
        judged.map_err(|refusal| refusal.to_string())?;
        let agent = self
            .usable(&name)
            .await
            .map_err(|error| error.to_string())?;
        let agent = agent.ok_or_else(|| format!("{name} is nobody here, or was withdrawn"))?;
        let tree = self.tree().await;
        let places = self.folders(&agent, &tree);
        let places = places.map_err(|error| format!("its folders: {error}"))?;
        let text = new_text("process").map_err(|error| error.to_string())?;
        let token = TokenText::new(text.expose()).ok_or("its token is no word")?;
        let hash = Digest::of(text.expose().as_bytes());
        self.control
            .process_tokens
            .give(agent.id, name.clone(), hash);
        let api = self.config.api;
        Ok(Order {
            facts: AgentFacts {
                name: name.to_string(),
                parent: tree.topology.parent(&name).map(ToString::to_string),
                api_url: format!("http://{api}"),
            },
            token,
            folders: places.folders,
            server_port: api.port(),
            user: places.user,
            groups: places.groups,
            limits: self.config.limits,
            mode: self.config.mode,
            log: folders::log(&self.config.data, &name),
        })
    }

    /// Its own state and that of everybody below it to write, what was applied to read, and what its capabilities say.
    fn folders(&self, agent: &Agent, tree: &Tree) -> io::Result<AgentFolders> {
        let (data, users) = (&self.config.data, self.config.users);
        let own = folders::state(data, &agent.name, users)?;
        let inside = |name: &AgentName| format!("/agents/{name}/state");
        let write = FolderAccess::ReadWrite;
        let mut all = vec![folders::mounted(own.path, write, inside(&agent.name))];
        let mut groups = Vec::new();
        for below in tree.index.descendants(&agent.name) {
            if tree.kind(below) == AgentKind::Resident {
                continue;
            }
            let state = folders::state(data, below, users)?;
            groups.extend(state.user);
            all.push(folders::mounted(state.path, write, inside(below)));
        }
        let applied = data.join("applied").join(agent.name.as_str());
        let mut read = vec![(applied, format!("/applied/{}", agent.name))];
        if agent.capabilities.has(Capability::MetaRead) {
            read.push((data.join("meta"), "/meta".to_owned()));
        }
        for (path, inside) in read.into_iter().filter(|(path, _)| path.is_dir()) {
            all.push(folders::mounted(path, FolderAccess::ReadOnly, inside));
        }
        Ok(AgentFolders {
            folders: all,
            user: own.user,
            groups,
        })
    }

    /// What became of a process, on the record and to whoever is told: its parent by the event, the owner also where
    /// they are told of services that are down.
    async fn note(&self, name: &str, status: &ProcessStatus) -> Result<(), StoreError> {
        let (health, is_last) = match status.state {
            ProcessState::Crashed { .. } => (down(status), false),
            ProcessState::GivenUp { .. } => (down(status), true),
            ProcessState::Running | ProcessState::Asleep => (AgentHealth::Up, false),
            ProcessState::Stopped | ProcessState::Starting => return Ok(()),
        };
        let Ok(name) = name.parse::<AgentName>() else {
            return Ok(());
        };
        if health != AgentHealth::Up {
            self.control.process_tokens.end(&name);
        }
        let Some(agent) = agents::find(&self.control, &name).await? else {
            return Ok(());
        };
        let (context, at) = (
            self.control.context(&self.control.system_ctx()?),
            self.control.clock.now(),
        );
        let (control, why) = (self.control.clone(), status.ending.as_ref());
        let why = why.map(ToString::to_string);
        let instance = self.control.process.instance.id.clone();
        self.control
            .store
            .write(move |tx| {
                Box::pin(async move {
                    if is_last && !table::give_up(tx, &agent.name, &instance, at).await? {
                        return Ok(());
                    }
                    let is_news =
                        alerts::follow_agent(tx, &control, &agent.name, &health, at).await?;
                    let verb = match (health, is_last) {
                        (AgentHealth::Up, _) if !is_news => return Ok(()),
                        (AgentHealth::Up, _) => "agent.recovered",
                        (AgentHealth::Down(_) | AgentHealth::Stopped, false) => "agent.crashed",
                        (AgentHealth::Down(_) | AgentHealth::Stopped, true) => "agent.given_up",
                    };
                    wishes::record_for(tx, &context, at, (verb, wishes::of(&agent)), &agent, why)
                        .await
                })
            })
            .await
    }
}

fn down(status: &ProcessStatus) -> AgentHealth {
    let why = status.ending.as_ref().map(ToString::to_string);
    AgentHealth::Down(why.unwrap_or_default())
}

struct AgentFolders {
    folders: Vec<MountedFolder>,
    user: Option<u32>,
    groups: Vec<u32>,
}
