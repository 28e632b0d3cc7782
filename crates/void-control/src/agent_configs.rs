//! Configs of agents with processes of their own: asked for, looked at, and put in force after the owner's yes.
//!
//! `requests` makes proposals; `writer` and `making` are what their yes does, with `deploys` for the steps, of which the
//! commit in the repository `meta` decides, and `settling` for what a crash cut off; `ceilings` finds out what a child may
//! have; `views` shows.

mod ceilings;
mod deploys;
mod making;
mod requests;
mod settling;
mod views;
mod writer;

use std::io;
use std::path::PathBuf;

use void_channels::{AppliedFolders, ConfigReadError, ConfigRepository, MetaFolder};
use void_domain::agents::{AgentName, AgentRefusal};
use void_domain::changes::agent_configs::InvalidConfigChange;
use void_domain::changes::meta_inputs::InvalidInputsChange;
use void_domain::failures::FailureCode;
use void_domain::limits;
use void_store::StoreError;

pub use self::requests::{
    ApplyCommitRequest, InitConfigRequest, RequestNotes, UpdateInputsRequest, WriteConfigRequest,
    request_apply_commit, request_init_config, request_update_meta_inputs, write_config,
};
pub use self::views::{ConfigView, view};
pub use crate::parts::row_budgets::TooManyRows;
pub use void_domain::meta_locks::InputSchemes;

use crate::control::Control;
use crate::parts::tree::AgentPlaces;

/// Why nothing is proposed.
#[derive(Debug, thiserror::Error)]
pub enum AgentConfigError {
    #[error("{0}")]
    Forbidden(String),
    #[error("there is no agent called {0} in the tree")]
    Unknown(AgentName),
    #[error("{0} lives in the server and has no config of its own")]
    Resident(AgentName),
    #[error(transparent)]
    Name(#[from] AgentRefusal),
    #[error("the tree is not changed while something is wrong with it: {0}")]
    Broken(String),
    #[error(transparent)]
    Read(#[from] ConfigReadError),
    #[error(transparent)]
    Config(#[from] InvalidConfigChange),
    #[error(transparent)]
    Inputs(#[from] InvalidInputsChange),
    #[error("the reason is longer than {} bytes", limits::REASON_BYTES_MAX)]
    ReasonTooLong,
    #[error(transparent)]
    TooManyRows(#[from] TooManyRows),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentConfigError {
    /// The stable code that callers see.
    pub const fn code(&self) -> FailureCode {
        match self {
            Self::Forbidden(_) | Self::Resident(_) => FailureCode::Forbidden,
            Self::Unknown(_)
            | Self::Read(
                ConfigReadError::NoRepository
                | ConfigReadError::NoCommit
                | ConfigReadError::Unreachable,
            ) => FailureCode::NotFound,
            Self::Name(AgentRefusal::Withdrawn) => FailureCode::NameWithdrawn,
            Self::Name(AgentRefusal::TooMany) => FailureCode::TooMany,
            Self::Name(_) => FailureCode::NameTaken,
            Self::Broken(_) => FailureCode::TreeBroken,
            Self::Config(InvalidConfigChange::Same) | Self::Inputs(InvalidInputsChange::Same) => {
                FailureCode::NotNeeded
            }
            Self::Read(ConfigReadError::Files(_) | ConfigReadError::Unsafe(_))
            | Self::Config(_)
            | Self::Inputs(_) => FailureCode::Invalid,
            Self::Read(ConfigReadError::Git(_) | ConfigReadError::File(_)) => {
                FailureCode::Unavailable
            }
            Self::ReasonTooLong => FailureCode::ReasonTooLong,
            Self::TooManyRows(_) => FailureCode::RateLimited,
            Self::Store(_) => FailureCode::Unavailable,
        }
    }
}

/// From now on changes of the tree's repository can be put in force here.
pub(crate) fn begin(control: &Control) {
    let writer = writer::RepositoryWriter::of(control);
    control
        .in_force
        .change_writers
        .set_writer(std::sync::Arc::new(writer));
}

/// The folders of one agent.
struct ConfigFolders {
    agent: AgentName,
    places: AgentPlaces,
}

impl ConfigFolders {
    /// `None`: the tree was not opened, so nobody has any.
    fn of(control: &Control, agent: &AgentName) -> Option<Self> {
        let places = control.in_force.tree.places.get()?;
        Some(Self {
            agent: agent.clone(),
            places: places.clone(),
        })
    }

    fn own(&self) -> PathBuf {
        self.places.agents.join(self.agent.as_str())
    }

    fn config(&self) -> PathBuf {
        self.own().join("config")
    }

    /// Where the repository of somebody new is made, who is nobody until it is in its place.
    fn begun(&self) -> PathBuf {
        self.own().join("begun")
    }

    fn repository(&self, meta: &MetaFolder) -> ConfigRepository {
        ConfigRepository::new(self.config(), meta)
    }

    fn begun_repository(&self, meta: &MetaFolder) -> ConfigRepository {
        ConfigRepository::new(self.begun(), meta)
    }

    fn applied(&self) -> AppliedFolders {
        AppliedFolders::new(self.places.applied.clone())
    }

    /// Of somebody new: nothing of it may be a link, or be there and not be ours.
    fn make_own(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt as _;
        for folder in [&self.places.agents, &self.own()] {
            let made = std::fs::DirBuilder::new().mode(0o700).create(folder);
            match made {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ if std::fs::symlink_metadata(folder)?.is_dir() => {}
                _ => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        Ok(())
    }
}
