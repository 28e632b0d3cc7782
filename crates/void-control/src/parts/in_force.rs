//! What requests are judged by, read once at the start: the catalogue, where it came from, and the tree of agents.

use std::sync::OnceLock;

use void_channels::CatalogueFile;
use void_domain::agents::AgentName;
use void_domain::catalogue::{Catalogue, Lockout};

use super::topology::Topology;

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
    pub(crate) topology: Topology,
    /// Who lives here, whether or not they have acted yet.
    pub(crate) residents: OnceLock<Vec<AgentName>>,
}
