//! Control groups: a place that a process and everything that it starts cannot leave, and that is ended as one.
//!
//! Where this server may make none (no cgroup2, or a place that belongs to somebody else), a process is ended by its
//! process group, which a confined one cannot leave either.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ends everything in a group; from Linux 5.14 on.
const KILL: &str = "cgroup.kill";
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// After everything in a group was told to end.
const EMPTY_WITHIN: Duration = Duration::from_secs(10);

/// Where the groups of this server's agents are, once there is one.
#[derive(Debug, Clone)]
pub struct Cgroups(PathBuf);

/// One agent's.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    /// Goes with the last group in it.
    above: PathBuf,
}

impl Cgroups {
    /// Below the group that this process is in. `scope` tells the servers of one machine apart. What an earlier
    /// process left there ends. `None` where the kernel has no such place.
    #[must_use]
    pub fn of_this_process(scope: &str) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let folder = own_folder(&mounts, &own)?.join(format!("void-agents-{scope}"));
        let groups = Self(folder);
        groups.end_all();
        Some(groups)
    }

    /// Everything below ends.
    pub(crate) fn end_all(&self) {
        // Most of the time there is nothing.
        let _ = fs::write(self.0.join(KILL), "1");
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                // Whoever is still about to end keeps it until the next start.
                let _ = fs::remove_dir(entry.path());
            }
        }
        let _ = fs::remove_dir(&self.0);
    }

    /// `None` where this server may make none, or the kernel ends none as one.
    pub(crate) fn make(&self, name: &str) -> io::Result<Option<Cgroup>> {
        if make(&self.0).is_err() {
            return Ok(None);
        }
        if !self.0.join(KILL).exists() {
            let _ = fs::remove_dir(&self.0);
            return Ok(None);
        }
        let folder = self.0.join(name);
        make(&folder)?;
        let above = self.0.clone();
        Ok(Some(Cgroup { folder, above }))
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

impl Cgroup {
    pub(crate) fn add(&self, pid: u32) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string())
    }

    /// Everything in it ends; back when it is empty, or when it does not become so.
    pub(crate) async fn end(&self) -> io::Result<()> {
        fs::write(self.folder.join(KILL), "1")?;
        let empty = async {
            while self.is_populated() {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(EMPTY_WITHIN, empty).await?;
        fs::remove_dir(&self.folder)?;
        // Others may be in it.
        let _ = fs::remove_dir(&self.above);
        Ok(())
    }

    fn is_populated(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }
}

/// Dropped before its end: then even the server is going.
impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.folder.join(KILL), "1");
    }
}

/// Where the kernel shows the group of this process, from `mountinfo` and `/proc/self/cgroup`.
fn own_folder(mounts: &str, own: &str) -> Option<PathBuf> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_v2 = after.split(' ').next() == Some("cgroup2");
        let mut words = before.split(' ').skip(3);
        let (root, place) = (words.next()?, words.next()?);
        is_v2.then_some((root, place))
    });
    let (root, place) = mount?;
    let below = Path::new(own).strip_prefix(root).ok()?;
    Some(Path::new(place).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_wherever_it_is_mounted() {
        let unified = "24 1 0:22 / /proc rw - proc proc rw\n30 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        let hybrid = "31 24 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let container = "30 24 0:27 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let own = "4:memory:/x\n0::/system.slice/void.service\n";
        let found = |mounts, own| own_folder(mounts, own);
        let expected = PathBuf::from("/sys/fs/cgroup/system.slice/void.service");
        assert_eq!(found(unified, own), Some(expected));
        let expected = PathBuf::from("/sys/fs/cgroup/unified/system.slice/void.service");
        assert_eq!(found(hybrid, own), Some(expected));
        let inside = "0::/docker/1/a\n";
        assert_eq!(found(container, inside), Some("/sys/fs/cgroup/a".into()));
        // Nothing of it is guessed.
        assert_eq!(found(container, own), None);
        assert_eq!(found(unified, "4:memory:/x\n"), None);
        assert_eq!(found("", own), None);
    }
}
