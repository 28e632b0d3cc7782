//! A server's data folder with agents in it, a stranger's process, and ports and sockets of others.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::TcpListener;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use void_sandbox::{Folder, FolderAccess, SandboxLimits, SandboxMode, SandboxPlan};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_void-sandbox-escapes");
/// Nobody on a usual machine.
const USER: u32 = 70_901;
const BELOW: u32 = 70_902;

pub(crate) struct House {
    folder: tempfile::TempDir,
    outside: tempfile::TempDir,
    stranger: Child,
    server: TcpListener,
    other: TcpListener,
    _sockets: [UnixListener; 2],
    socket_name: String,
    leaked: OwnedFd,
    pub user: Option<u32>,
}

/// Whether agents can be somebody else than the tests.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl House {
    /// Agents are who the server is.
    pub(crate) fn of_one_user() -> Self {
        Self::new(None)
    }

    /// Each agent is somebody else; `None` where only root could do that.
    pub(crate) fn of_many_users() -> Option<Self> {
        is_root().then(|| Self::new(Some(USER)))
    }

    fn new(user: Option<u32>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let outside = tempfile::tempdir().unwrap();
        fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
        for name in [
            "agents/own/state",
            "agents/below/state",
            "agents/sibling/state",
            "applied/own",
            "meta",
        ] {
            fs::create_dir_all(data.join(name)).unwrap();
        }
        for name in [
            "void.db",
            "owner.token",
            "agents/sibling/state/secret",
            "applied/own/agent.toml",
        ] {
            fs::write(data.join(name), "secret").unwrap();
            fs::set_permissions(data.join(name), fs::Permissions::from_mode(0o644)).unwrap();
        }
        let state = data.join("agents/own/state");
        symlink(data.join("void.db"), state.join("to-database")).unwrap();
        symlink(data, state.join("to-data")).unwrap();
        symlink(data.join("new"), state.join("to-new")).unwrap();
        if user.is_some() {
            give(&state, USER);
            give(&data.join("agents/below/state"), BELOW);
        }
        let stranger = Command::new("/bin/sleep").arg("600").spawn().unwrap();
        let socket_name = format!("void-sandbox-{}-{}", std::process::id(), stranger.id());
        let by_name = SocketAddr::from_abstract_name(&socket_name).unwrap();
        let sockets = [
            UnixListener::bind(data.join("socket")).unwrap(),
            UnixListener::bind_addr(&by_name).unwrap(),
        ];
        let leaked = File::open(data.join("void.db")).unwrap();
        // Out of the way of those that are given out.
        let leaked = fcntl_dupfd_cloexec(&leaked, 200).unwrap();
        fcntl_setfd(&leaked, FdFlags::empty()).unwrap();
        let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            folder,
            outside,
            stranger,
            server: listen(),
            other: listen(),
            _sockets: sockets,
            socket_name,
            leaked,
            user,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn plan(&self) -> SandboxPlan {
        let folder = |name: &str, access| Folder {
            path: self.path(name),
            access,
        };
        SandboxPlan {
            folders: vec![
                folder("agents/own/state", FolderAccess::ReadWrite),
                folder("agents/below/state", FolderAccess::ReadWrite),
                folder("applied/own", FolderAccess::ReadOnly),
            ],
            server_port: self.server.local_addr().unwrap().port(),
            server_process: std::process::id(),
            user: self.user,
            groups: self.user.map(|_| BELOW).into_iter().collect(),
            limits: SandboxLimits {
                memory_bytes: 256 * 1024 * 1024,
                file_bytes: 1024 * 1024,
            },
            mode: SandboxMode::Full,
        }
    }

    pub(crate) fn orders(&self, plan: &SandboxPlan) -> String {
        let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
        let targets = serde_json::json!({
            "data": self.folder.path(),
            "state": self.path("agents/own/state"),
            "applied": self.path("applied/own"),
            "outside": self.outside.path().join("new"),
            "process": self.stranger.id(),
            "server_port": port(&self.server),
            "other_port": port(&self.other),
            "socket": self.path("socket"),
            "socket_name": self.socket_name,
            "descriptor": self.leaked.as_raw_fd(),
        });
        format!("{}\n{targets}\n", plan.to_line().unwrap())
    }

    pub(crate) fn run(&self, words: &[&str], plan: &SandboxPlan) -> Output {
        let mut child = Command::new(PROGRAM)
            .args(words)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let orders = self.orders(plan);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(orders.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }

    /// What it said; it ended well.
    pub(crate) fn said(&self, words: &[&str], plan: &SandboxPlan) -> String {
        let ran = self.run(words, plan);
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Everything outside is as it was.
    pub(crate) fn assert_untouched(&mut self) {
        for name in [
            "void.db",
            "owner.token",
            "agents/sibling/state/secret",
            "applied/own/agent.toml",
        ] {
            let path = self.path(name);
            assert_eq!(fs::read(&path).unwrap(), b"secret", "{name}");
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o644, "{name}");
        }
        for name in ["new", "own", "agents/own/new", "applied/own/new"] {
            assert!(!self.path(name).exists(), "{name}");
        }
        assert!(!self.outside.path().join("new").exists());
        for name in ["moved", "linked", "own-too", "link", "node", "socket"] {
            let path = self.path("agents/own/state").join(name);
            assert!(path.symlink_metadata().is_err(), "{name}");
        }
        self.other.set_nonblocking(true).unwrap();
        assert!(self.other.accept().is_err(), "somebody connected");
        assert!(
            self.stranger.try_wait().unwrap().is_none(),
            "somebody killed it"
        );
    }
}

fn give(folder: &std::path::Path, user: u32) {
    std::os::unix::fs::chown(folder, Some(user), Some(user)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o2770)).unwrap();
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.stranger.kill();
        let _ = self.stranger.wait();
    }
}
