//! What requests are judged by, the catalogue and where it came from, read once at the start, and the tree
//! of agents, which the owner changes.

use std::sync::OnceLock;

use void_channels::CatalogueFile;
use void_domain::agents::AgentName;
use void_domain::catalogue::{Catalogue, Lockout};

use super::change_writers::ChangeWriters;
use super::tree::TreePart;

/// Where the catalogue was read from, and what was held against it.
#[derive(Debug, Clone)]
pub struct CatalogueSource {
    pub file: CatalogueFile,
    pub lockout: Lockout,
}

pub(crate) struct InForce {
    pub(crate) catalogue: Catalogue,
    /// The commit that its file is at, if it is in a git work tree.
    pub(crate) catalogue_commit: Option<String>,
    pub(crate) catalogue_source: Option<CatalogueSource>,
    pub(crate) tree: TreePart,
    pub(crate) change_writers: ChangeWriters,
    /// Who lives here, whether or not they have acted yet.
    pub(crate) residents: OnceLock<Vec<AgentName>>,
}

impl InForce {
    pub(crate) fn resident_names(&self) -> Vec<AgentName> {
        self.residents.get().cloned().unwrap_or_default()
    }
}
