//! The data folder: private, on a file system that keeps what it was given, with room left.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::findings::Findings;
use crate::commands::Session;
use crate::commands::storage::in_units;

const DISK_FREE_BYTES_MIN: u64 = 256 * MIB;
const MIB: u64 = 1024 * 1024;

pub(super) fn check(session: &Session<'_>, findings: &mut Findings) {
    let folder = &session.settings.data.value;
    let shown = folder.display();
    let Ok(metadata) = std::fs::metadata(folder) else {
        let message = format!("{shown} is not there yet");
        findings.warn("data", message, "void serve makes it");
        return;
    };
    let mut is_fine = true;
    if metadata.permissions().mode() & 0o077 != 0 {
        let message = format!("others can look into {shown}");
        findings.wrong("data", message, format!("chmod 700 {shown}"));
        is_fine = false;
    }
    // PostgreSQL keeps the record elsewhere.
    if session.settings.database_url.value.is_none() {
        is_fine &= check_file_system(folder, findings);
    }
    if is_fine {
        findings.fine("data", format!("{shown} is private and on a local disk"));
    }
    check_disk(folder, findings);
}

fn check_file_system(folder: &Path, findings: &mut Findings) -> bool {
    let shown = folder.display();
    let next = "stop the server, move the folder to a local disk, set VOID_DATA to it";
    // f_type is a C long, which some file systems' numbers make negative.
    let kind = rustix::fs::statfs(folder).ok();
    match kind.and_then(|kind| file_system(kind.f_type & 0xffff_ffff)) {
        None => true,
        Some(FileSystem::Network(name)) => {
            let message = format!("{shown} is on {name}; SQLite is not safe there");
            findings.wrong("data", message, next);
            false
        }
        Some(FileSystem::Fuse) => {
            let message = format!(
                "{shown} is on FUSE; SQLite is safe there only if nothing of it is on another machine"
            );
            findings.warn("data", message, next);
            false
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileSystem {
    /// Shared with other machines: locks and flushing are promises of somebody else.
    Network(&'static str),
    /// A program behind it does what it likes: a local disk, or sshfs.
    Fuse,
}

/// By its magic number, as in statfs(2). `None` is a local one.
const fn file_system(magic: i64) -> Option<FileSystem> {
    Some(match magic {
        0x6969 => FileSystem::Network("NFS"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => FileSystem::Network("SMB"),
        0x0102_1997 => FileSystem::Network("9P"),
        0x00c3_6400 => FileSystem::Network("Ceph"),
        0x5346_414f | 0x6b41_4653 => FileSystem::Network("AFS"),
        0x7375_7245 => FileSystem::Network("Coda"),
        0x0bd0_0bd0 => FileSystem::Network("Lustre"),
        0x4750_4653 => FileSystem::Network("GPFS"),
        0x1983_0326 => FileSystem::Network("BeeGFS"),
        0x0116_1970 => FileSystem::Network("GFS2"),
        0x7461_636f => FileSystem::Network("OCFS2"),
        0x786f_4256 => FileSystem::Network("a shared folder of VirtualBox"),
        0xbacb_acbc => FileSystem::Network("a shared folder of VMware"),
        0x6573_5546 => FileSystem::Fuse,
        _ => return None,
    })
}

fn check_disk(folder: &Path, findings: &mut Findings) {
    let stat = match rustix::fs::statvfs(folder) {
        Ok(stat) => stat,
        Err(error) => {
            let message = format!("free space cannot be read: {error}");
            findings.warn("disk", message, "df -h");
            return;
        }
    };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free >= DISK_FREE_BYTES_MIN {
        findings.fine("disk", format!("{} are free", in_units(free)));
        return;
    }
    let message = format!(
        "only {} are free in {}; new work is refused when it runs out",
        in_units(free),
        folder.display()
    );
    let next = format!("free some space: du -xh --max-depth=1 {}", folder.display());
    findings.wrong("disk", message, next);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let network = |magic| matches!(file_system(magic), Some(FileSystem::Network(_)));
        for magic in [
            0x6969,
            0x517b,
            0xff53_4d42,
            0xfe53_4d42,
            0x0102_1997,
            0x00c3_6400,
            0x6b41_4653,
            0x0bd0_0bd0,
            0x1983_0326,
            0x0116_1970,
            0x7461_636f,
        ] {
            assert!(network(magic), "{magic:#x}");
        }
        assert_eq!(file_system(0x6573_5546), Some(FileSystem::Fuse));
        // ext4, XFS, Btrfs, ZFS, tmpfs, overlay, F2FS, bcachefs, squashfs.
        for magic in [
            0xef53,
            0x5846_5342,
            0x9123_683e,
            0x2fc1_2fc1,
            0x0102_1994,
            0x794c_7630,
            0xf2f5_2010,
            0xca45_1a4e,
            0x7371_7368,
        ] {
            assert_eq!(file_system(magic), None, "{magic:#x}");
        }
    }
}
