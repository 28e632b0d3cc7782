//! A real sshd on a loopback port, as an unprivileged account with a forced command. Nothing of it
//! runs as root.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::processes::{Tethered, free_port};
use crate::waiting::eventually_blocking;

/// The account that hosts use, made once per machine.
pub const ACCOUNT: &str = "voidact";

pub struct Sshd {
    /// Root owns it; the account owns what is in `state` and `home`.
    pub folder: TempDir,
    pub port: u16,
    /// The client's private key.
    pub key: PathBuf,
    /// `ssh-ed25519 AAAA…` of the server.
    pub host_key: String,
    server: Option<Tethered>,
}

impl Sshd {
    /// Starts one whose forced command is `command`, a shell line as in `authorized_keys`.
    pub fn start(command: &str) -> Self {
        make_account();
        // Not below /tmp: a list must not lie in a folder that others can write.
        let folder = tempfile::Builder::new()
            .prefix("void-sshd-")
            .tempdir_in("/run")
            .expect("/run is writable for root");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))
            .expect("our own folder");
        let key = folder.path().join("client_key");
        let host_key_file = folder.path().join("host_key");
        run(
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", "", "-f", text(&key)],
        );
        run(
            "ssh-keygen",
            &[
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-C",
                "",
                "-f",
                text(&host_key_file),
            ],
        );
        run("chown", &[&format!("{ACCOUNT}:"), text(&host_key_file)]);
        let state = folder.path().join("state");
        fs::create_dir(&state).expect("our own folder");
        run("chown", &[&format!("{ACCOUNT}:"), text(&state)]);
        fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("our own folder");
        let public = fs::read_to_string(key.with_extension("pub")).expect("ssh-keygen wrote it");
        let host_key =
            fs::read_to_string(host_key_file.with_extension("pub")).expect("ssh-keygen wrote it");
        let mut sshd = Self {
            port: free_port(),
            key,
            host_key: host_key.trim().to_owned(),
            folder,
            server: None,
        };
        sshd.authorize(&format!("restrict,command=\"{command}\" {public}"));
        sshd.restart();
        sshd
    }

    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Replaces the account's `authorized_keys`.
    pub fn authorize(&self, line: &str) {
        let file = self.folder.path().join("authorized_keys");
        fs::write(&file, line).expect("our own folder");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("our own file");
    }

    /// Gives the server another host key; `restart` makes it show it.
    pub fn change_host_key(&mut self) {
        let file = self.folder.path().join("host_key");
        fs::remove_file(&file).expect("it is there");
        run(
            "ssh-keygen",
            &["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", text(&file)],
        );
        run("chown", &[&format!("{ACCOUNT}:"), text(&file)]);
        let public = fs::read_to_string(file.with_extension("pub")).expect("ssh-keygen wrote it");
        self.host_key = public.trim().to_owned();
    }

    /// Stops it, with every connection; the port refuses then.
    pub fn stop(&mut self) {
        self.server = None;
        let port = self.port;
        eventually_blocking("sshd to be gone", || {
            std::net::TcpStream::connect(("127.0.0.1", port))
                .is_err()
                .then_some(())
        });
    }

    pub fn restart(&mut self) {
        if self.server.is_some() {
            self.stop();
        }
        let folder = self.folder.path().display().to_string();
        let options = [
            format!("Port={}", self.port),
            "ListenAddress=127.0.0.1".to_owned(),
            format!("HostKey={folder}/host_key"),
            format!("AuthorizedKeysFile={folder}/authorized_keys"),
            format!("PidFile={folder}/state/sshd.pid"),
            "UsePAM=no".to_owned(),
            "PasswordAuthentication=no".to_owned(),
            "KbdInteractiveAuthentication=no".to_owned(),
            // What a careless machine might have, so that the forced command has to hold by itself.
            "AcceptEnv=*".to_owned(),
            "PermitUserEnvironment=yes".to_owned(),
            "AllowTcpForwarding=yes".to_owned(),
            "X11Forwarding=yes".to_owned(),
            "PermitTunnel=yes".to_owned(),
            "Subsystem=sftp internal-sftp".to_owned(),
            "MaxStartups=200".to_owned(),
            "MaxSessions=200".to_owned(),
            "PerSourceMaxStartups=none".to_owned(),
            "LogLevel=VERBOSE".to_owned(),
        ];
        let options: Vec<String> = options
            .iter()
            .map(|option| format!("-o '{option}'"))
            .collect();
        let command = format!(
            "exec setpriv --reuid={ACCOUNT} --regid={ACCOUNT} --clear-groups -- /usr/sbin/sshd -D -f /dev/null -E {folder}/state/log {}",
            options.join(" ")
        );
        let cleanup = format!("pkill -KILL -F {folder}/state/sshd.pid 2>/dev/null");
        let mut server = Tethered::start(&command, &cleanup);
        let port = self.port;
        eventually_blocking("sshd to listen", || {
            let log = || fs::read_to_string(format!("{folder}/state/log")).unwrap_or_default();
            assert!(!server.has_ended(), "sshd ended: {}", log());
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        self.server = Some(server);
    }
}

fn make_account() {
    static MADE: OnceLock<()> = OnceLock::new();
    MADE.get_or_init(|| {
        let exists = Command::new("id")
            .args(["-u", ACCOUNT])
            .output()
            .is_ok_and(|output| output.status.success());
        if !exists {
            // Several test processes may try at once; one wins and the others find it made.
            let _ = Command::new("useradd")
                .args([
                    "--system",
                    "--no-create-home",
                    "--home-dir",
                    "/nonexistent",
                    "--shell",
                    "/bin/sh",
                    ACCOUNT,
                ])
                .output();
        }
        run("id", &["-u", ACCOUNT]);
    });
}

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program)
        .args(args)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        output.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn text(path: &Path) -> &str {
    path.to_str().expect("our own paths are UTF-8")
}
