//! The folders of agents that were destroyed: `archive/agents/NAME-TIME` in the data folder, where no process reaches
//! them. Nothing of an agent is deleted.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use void_store::StoreError;
use void_store::agent_tombstones::{self as tombstones, AgentTombstone};

use super::{AgentProcessError, AgentProcesses};

/// Of what is left of the agent, and what the part is called in the archive.
const PARTS: [(&str, &str); 2] = [("agents", "agent"), ("applied", "applied")];

/// What a crash left where it was.
pub(super) async fn finish(processes: &AgentProcesses) -> Result<(), StoreError> {
    let store = &processes.control().store;
    let all = store.read(|tx| Box::pin(tombstones::list(tx))).await?;
    for tombstone in all {
        let name = tombstone.name.clone();
        if let Err(error) = put(processes, tombstone).await {
            tracing::error!(%error, agent = %name, "the folder of a destroyed agent stays where it is");
        }
    }
    Ok(())
}

pub(super) async fn put(
    processes: &AgentProcesses,
    tombstone: AgentTombstone,
) -> Result<(), AgentProcessError> {
    let data = processes.0.house.config.data.clone();
    let moved = tokio::task::spawn_blocking(move || move_parts(&data, &tombstone)).await;
    let moved = moved.map_err(io::Error::other).and_then(|moved| moved);
    moved.map_err(AgentProcessError::Archive)
}

/// In the data folder.
pub(super) fn folder(tombstone: &AgentTombstone) -> PathBuf {
    Path::new("archive").join("agents").join(&tombstone.archive)
}

/// Repeated, it moves what is still there.
fn move_parts(data: &Path, tombstone: &AgentTombstone) -> io::Result<()> {
    let archive = data.join(folder(tombstone));
    for (from, to) in PARTS {
        let from: PathBuf = data.join(from).join(tombstone.name.as_str());
        if fs::symlink_metadata(&from).is_err() {
            continue;
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&archive)?;
        fs::rename(&from, archive.join(to))?;
        for folder in [Some(archive.as_path()), from.parent()]
            .into_iter()
            .flatten()
        {
            File::open(folder)?.sync_all()?;
        }
    }
    Ok(())
}
