//! Who may have a table `[agents.NAME]`: those who come with Void, the personas of the data folder, and agents with a
//! process of their own.

use std::fs;
use std::path::Path;

use void_agent::personas::Personas;
use void_domain::agents::AgentName;
use void_tree::{MEMBERS_MAX, ROOT, Topology};

use crate::exit::CommandError;
use crate::personas;

/// Of `agents/NAME` and of the tree: whoever is there and lives not in the server has a process of its own.
fn with_processes(data: &Path) -> Vec<String> {
    let folders = fs::read_dir(data.join("agents")).into_iter().flatten();
    let folders = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let tree = fs::read_to_string(data.join("meta/topology.json")).ok();
    let tree = Topology::read(tree.as_deref()).topology;
    let names = tree.entries().map(|(name, _)| name.to_string());
    let all = folders.chain(names);
    let named = all.filter(|name| name != ROOT && name.parse::<AgentName>().is_ok());
    named.take(MEMBERS_MAX).collect()
}

#[derive(Default)]
pub(super) struct AgentNames {
    known: Vec<String>,
    /// The folder of the personas cannot be read: the command line reads the same settings as the server, and
    /// need not be able to read its data.
    may_be_others: bool,
}

impl AgentNames {
    pub(super) fn of(data: &Path) -> Result<Self, CommandError> {
        let builtin =
            Personas::builtin().map_err(|error| CommandError::config(error.to_string()))?;
        let mut known: Vec<String> = builtin.iter().map(|one| one.slug.to_string()).collect();
        let files = personas::names(data);
        let may_be_others = files.is_none();
        let is_new = |name: &String| !known.contains(name);
        let own = files.into_iter().flatten().chain(with_processes(data));
        let own: Vec<String> = own.filter(is_new).collect();
        known.extend(own);
        known.sort();
        known.dedup();
        Ok(Self {
            known,
            may_be_others,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        let is_known = self.known.iter().any(|known| known == name);
        is_known || (self.may_be_others && name.parse::<AgentName>().is_ok())
    }

    /// Somebody whom the file names, where it cannot be seen who there is.
    pub(super) fn note(&mut self, name: &str) {
        if self.has(name) && !self.known.iter().any(|known| known == name) {
            self.known.push(name.to_owned());
        }
    }
}
