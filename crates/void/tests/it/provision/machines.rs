//! A machine of its own to run printed scripts on: this one, with its own copies of what the scripts change, in a
//! mount namespace that goes away with its processes. Accounts, sudo and sshd are the real ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub struct Machine {
    folder: TempDir,
}

impl Machine {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["etc", "bin", "lib"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let copied = Command::new("cp")
            .args(["-a", "/etc/."])
            .arg(folder.path().join("etc"))
            .status()
            .unwrap();
        assert!(copied.success());
        for file in ["sudoers.d/void-act", "sudoers.d/void-local", "void-act"] {
            let path = folder.path().join("etc").join(file);
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir_all(&path);
        }
        let machine = Self { folder };
        // There is no systemd in a container. What it was told is written down.
        machine.write(
            "systemctl",
            &format!(
                "#!/bin/sh\necho \"$(id -un): $*\" >> {}\n",
                machine.path("told").display()
            ),
            0o755,
        );
        machine
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn copy(&self, from: &Path, name: &str) {
        fs::copy(from, self.path(name)).unwrap();
    }

    /// Runs a shell script there as root; `$W` is the machine's folder.
    pub fn run(&self, script: &str) -> Output {
        let prepared = format!(
            "mount --bind \"$W/etc\" /etc\nmount --bind \"$W/bin\" /usr/local/bin\nmount --bind \"$W/lib\" /var/lib\nmount --bind \"$W/systemctl\" /usr/bin/systemctl\ncd \"$W\"\n{script}"
        );
        Command::new("unshare")
            .args(["-m", "--propagation", "private", "sh", "-c", &prepared])
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env("W", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}
