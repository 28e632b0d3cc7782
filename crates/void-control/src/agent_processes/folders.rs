//! Folders of agents: `agents/NAME/state` is the agent's own, and whoever stands above it reaches it by its group. What
//! is beside it in `agents/NAME` is the server's.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use void_domain::agents::AgentName;
use void_sandbox::{Folder, FolderAccess};
use void_supervise::MountedFolder;

use super::users::UserRange;

/// Nobody but the server.
const PRIVATE: u32 = 0o700;
/// The agent and its group; what is made in it belongs to that group too.
const OF_A_GROUP: u32 = 0o2770;

pub(super) fn log(data: &Path, name: &AgentName) -> PathBuf {
    data.join("agents").join(name.as_str()).join("log")
}

/// An agent's own folder and whose it is.
pub(super) struct State {
    pub path: PathBuf,
    /// `None`: the server's.
    pub user: Option<u32>,
}

/// The state folder of an agent, made if it is not there.
pub(super) fn state(data: &Path, name: &AgentName, users: Option<UserRange>) -> io::Result<State> {
    let agents = data.join("agents");
    let path = agents.join(name.as_str()).join("state");
    for folder in [&agents, &agents.join(name.as_str()), &path] {
        make(folder)?;
    }
    let Some(users) = users else {
        return Ok(State { path, user: None });
    };
    let owner = fs::symlink_metadata(&path)?.uid();
    let user = match users.has(owner) {
        true => owner,
        false => {
            let taken = owners(&agents)?;
            let full = || io::Error::other(format!("all users of {users} are taken"));
            let user = users.free(&taken).ok_or_else(full)?;
            chown(&path, Some(user), Some(user))?;
            user
        }
    };
    // After the change of owner, which takes the group's bit away.
    fs::set_permissions(&path, Permissions::from_mode(OF_A_GROUP))?;
    let user = Some(user);
    Ok(State { path, user })
}

/// A folder, not a link to one.
fn make(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PRIVATE).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ if fs::symlink_metadata(folder)?.is_dir() => Ok(()),
        _ => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Who has a state folder.
fn owners(agents: &Path) -> io::Result<BTreeSet<u32>> {
    let mut owners = BTreeSet::new();
    for entry in fs::read_dir(agents)? {
        if let Ok(state) = fs::symlink_metadata(entry?.path().join("state")) {
            owners.insert(state.uid());
        }
    }
    Ok(owners)
}

pub(super) fn mounted(
    path: PathBuf,
    access: FolderAccess,
    inside: impl Into<PathBuf>,
) -> MountedFolder {
    MountedFolder {
        folder: Folder { path, access },
        inside: inside.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> AgentName {
        text.parse().unwrap()
    }

    #[test]
    fn a_state_folder_is_made_once_and_is_nobody_elses() {
        let data = tempfile::tempdir().unwrap();
        let made = state(data.path(), &name("alice"), None).unwrap();
        assert_eq!(made.user, None);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&made.path), 0o700);
        assert_eq!(mode(&data.path().join("agents")), 0o700);
        fs::write(made.path.join("kept"), "x").unwrap();
        let again = state(data.path(), &name("alice"), None).unwrap();
        assert!(again.path.join("kept").exists());
        let own = fs::metadata(&again.path).unwrap().uid();
        if own != 0 {
            return;
        }
        let users = UserRange::parse("70000-70001").unwrap();
        let alice = state(data.path(), &name("alice"), Some(users)).unwrap();
        let bob = state(data.path(), &name("bob"), Some(users)).unwrap();
        assert_eq!((alice.user, bob.user), (Some(70_000), Some(70_001)));
        assert_eq!(mode(&bob.path), 0o2770);
        // It stays its own.
        let alice = state(data.path(), &name("alice"), Some(users)).unwrap();
        assert_eq!(alice.user, Some(70_000));
        assert!(state(data.path(), &name("carol"), Some(users)).is_err());
    }

    #[test]
    fn a_link_is_no_folder_of_an_agent() {
        let data = tempfile::tempdir().unwrap();
        fs::create_dir(data.path().join("agents")).unwrap();
        std::os::unix::fs::symlink("/etc", data.path().join("agents/alice")).unwrap();
        assert!(state(data.path(), &name("alice"), None).is_err());
        assert!(!Path::new("/etc/state").exists());
    }
}
