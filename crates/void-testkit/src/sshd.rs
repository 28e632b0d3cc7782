//! A real sshd on a loopback port, as an unprivileged account with a forced command. Nothing of it
//! runs as root; root owns what the account must not change.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::processes::{
    Process, Signal, Tethered, free_port, is_running, processes, processes_about, signal,
    signal_group,
};
use crate::programs;
use crate::waiting::eventually_blocking;

/// The account that hosts use, made once per machine.
pub const ACCOUNT: &str = "voidact";

/// A port may be taken between looking and listening.
const STARTS_MAX: u32 = 5;

pub struct Sshd {
    /// Root owns it; the account owns `state` and `work` in it.
    folder: TempDir,
    account: Account,
    pub port: u16,
    /// The client's private key.
    pub key: PathBuf,
    /// `ssh-ed25519 AAAA…` of the server.
    pub host_key: String,
    options: Vec<String>,
    server: Option<Tethered>,
}

impl Sshd {
    /// With `void-act` as its forced command. There is no list yet, so everything is refused.
    pub fn start() -> Self {
        Self::with_options(&[])
    }

    /// The same with options of `sshd_config`, each as `Name=value`, before the usual ones: the first
    /// value of an option counts.
    pub fn with_options(options: &[&str]) -> Self {
        Self::of(Account::usual(), folder(), options)
    }

    /// The same as an account of its own, with this login shell and a home that is there: `home` in
    /// the folder, which root owns.
    pub fn with_home(shell: &str) -> Self {
        let folder = folder();
        let home = folder.path().join("home");
        fs::create_dir(&home).expect("our own folder");
        Self::of(Account::with_home(&home, shell), folder, &[])
    }

    fn of(account: Account, folder: TempDir, options: &[&str]) -> Self {
        for name in ["state", "marks"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).expect("our own folder");
            set_mode(&path, 0o700);
            account.own(&path);
        }
        let key = folder.path().join("client_key");
        make_key(&key);
        let mut sshd = Self {
            port: 0,
            key,
            host_key: String::new(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            folder,
            account,
            server: None,
        };
        let program = programs::void_act();
        run("cp", &[text(program), text(&sshd.path("void-act"))]);
        sshd.force(&sshd.void_act());
        sshd.change_host_key();
        for _ in 0..STARTS_MAX {
            sshd.port = free_port();
            if sshd.listen() {
                return sshd;
            }
        }
        panic!("sshd does not start: {}", sshd.log());
    }

    /// The name of the account that everything runs as.
    pub fn account(&self) -> &str {
        &self.account.name
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where `void-act` keeps its journal.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Where listed commands may leave their traces.
    pub fn work(&self) -> PathBuf {
        self.path("marks")
    }

    /// The usual forced command.
    pub fn void_act(&self) -> String {
        let folder = self.folder.path().display();
        format!("{folder}/void-act --list {folder}/list.json --state {folder}/state")
    }

    /// Makes `command`, a shell line without double quotes, what the client's key runs.
    pub fn force(&self, command: &str) {
        let public = fs::read_to_string(self.key.with_extension("pub")).expect("we made it");
        self.authorize(&format!("restrict,command=\"{command}\" {public}"));
    }

    /// Replaces the account's `authorized_keys`.
    pub fn authorize(&self, lines: &str) {
        self.write("authorized_keys", lines, 0o644);
    }

    /// Puts a file there that root owns, in one step: connections may be reading the old one.
    pub fn write(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let (path, draft) = (self.path(name), self.path(&format!("{name}.draft")));
        fs::write(&draft, content).expect("our own folder");
        set_mode(&draft, mode);
        fs::rename(&draft, &path).expect("our own folder");
        path
    }

    /// Puts a program there that root owns. It is copied by another process: a file that this one had
    /// open for writing may be inherited by a fork of a parallel test, and then it cannot be executed.
    pub fn install(&self, name: &str, script: &str) -> PathBuf {
        let (path, draft) = (self.path(name), self.write("script", script, 0o755));
        run("cp", &["-p", text(&draft), text(&path)]);
        path
    }

    /// A named pipe in `work`, at which a listed command waits for the test.
    pub fn fifo(&self, name: &str) -> PathBuf {
        let path = self.work().join(name);
        run("mkfifo", &["-m", "0666", text(&path)]);
        path
    }

    /// Gives the server another host key; `restart` makes it show it.
    pub fn change_host_key(&mut self) {
        let file = self.path("host_key");
        let _ = fs::remove_file(&file);
        make_key(&file);
        self.account.own(&file);
        let public = fs::read_to_string(file.with_extension("pub")).expect("ssh-keygen wrote it");
        self.host_key = public.trim().to_owned();
    }

    /// What the server has said since the folder was made.
    pub fn log(&self) -> String {
        fs::read_to_string(self.state().join("log")).unwrap_or_default()
    }

    /// How often a client has proved who it is.
    pub fn logins(&self) -> usize {
        self.log().matches("Accepted publickey").count()
    }

    /// The processes of connections, without what they run.
    pub fn connections(&self) -> Vec<Process> {
        let Some(listener) = self.server.as_ref().map(Tethered::pid) else {
            return Vec::new();
        };
        let sshd: Vec<Process> = processes()
            .into_iter()
            .filter(|process| process.name == "sshd")
            .collect();
        let mut ours = vec![listener];
        let mut found = Vec::new();
        while let Some(parent) = ours.pop() {
            for process in sshd.iter().filter(|process| process.parent == parent) {
                ours.push(process.pid);
                found.push(process.clone());
            }
        }
        found
    }

    /// Breaks every connection, as a network does: what runs behind them goes on.
    pub fn cut(&self) {
        for process in self.connections() {
            signal(process.pid, Signal::KILL);
        }
    }

    /// Stops the server and breaks every connection; the port refuses then.
    pub fn stop(&mut self) {
        let Some(server) = &self.server else { return };
        // Stopped first, so that no connection comes in between looking and killing.
        signal(server.pid(), Signal::STOP);
        let connections = self.connections();
        self.cut();
        signal(server.pid(), Signal::KILL);
        self.server = None;
        for process in connections {
            eventually_blocking("a connection to be gone", || {
                (!is_running(process.pid)).then_some(())
            });
        }
    }

    /// Adds an option before the others; `restart` makes it count.
    pub fn push_option(&mut self, option: &str) {
        self.options.insert(0, option.to_owned());
    }

    /// Starts the server again at the same port, with its present host key.
    pub fn restart(&mut self) {
        self.stop();
        assert!(self.listen(), "sshd does not start: {}", self.log());
    }

    /// False if the server ended at once, most likely because somebody took its port.
    fn listen(&mut self) -> bool {
        let folder = self.folder.path().display();
        let pid_file = self.state().join("sshd.pid");
        let _ = fs::remove_file(&pid_file);
        let usual = [
            format!("Port={}", self.port),
            "ListenAddress=127.0.0.1".to_owned(),
            format!("HostKey={folder}/host_key"),
            format!("AuthorizedKeysFile={folder}/authorized_keys"),
            format!("PidFile={}", pid_file.display()),
            "UsePAM=no".to_owned(),
            "PasswordAuthentication=no".to_owned(),
            "KbdInteractiveAuthentication=no".to_owned(),
            // What a careless machine might have, so that the forced command has to hold by itself.
            "AcceptEnv=*".to_owned(),
            "PermitUserEnvironment=yes".to_owned(),
            "AllowTcpForwarding=yes".to_owned(),
            "AllowAgentForwarding=yes".to_owned(),
            "X11Forwarding=yes".to_owned(),
            "PermitTunnel=yes".to_owned(),
            "Subsystem=sftp internal-sftp".to_owned(),
            "LogLevel=VERBOSE".to_owned(),
        ];
        let options: Vec<String> = self
            .options
            .iter()
            .chain(&usual)
            .map(|option| format!("-o '{option}'"))
            .collect();
        let command = format!(
            "exec setpriv --reuid={} --regid={} --clear-groups --inh-caps=-all -- \
             /usr/sbin/sshd -D -f /dev/null -E {folder}/state/log {}",
            self.account.user,
            self.account.group,
            options.join(" ")
        );
        // After a normal end `Drop` has done this already. The commands of connections go on for as
        // long as `void-act` lets them.
        let own = if self.account.is_ours {
            format!("; userdel {}", self.account.name)
        } else {
            String::new()
        };
        let cleanup = format!(
            "[ -d /proc/{} ] || {{ rm -rf {folder}{own}; }}",
            std::process::id()
        );
        let mut server = Tethered::start(&command, Signal::TERM, &cleanup);
        // It writes its number once it listens.
        let listens = eventually_blocking("sshd to listen", || {
            (server.has_ended() || pid_file.exists()).then(|| !server.has_ended())
        });
        self.server = listens.then_some(server);
        listens
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("sshd said:\n{}", self.log());
        }
        self.stop();
        for process in processes_about(self.folder.path()) {
            signal_group(process.pid, Signal::KILL);
        }
        if self.account.is_ours {
            let _ = Command::new("userdel").arg(&self.account.name).output();
        }
    }
}

struct Account {
    name: String,
    user: u32,
    group: u32,
    /// Made for one server, and removed with it.
    is_ours: bool,
}

impl Account {
    fn usual() -> Self {
        static IDS: OnceLock<(u32, u32)> = OnceLock::new();
        let &(user, group) = IDS.get_or_init(|| {
            if ids(ACCOUNT).is_none() {
                // Several test processes may try at once; one wins and the others find it made.
                add_account(ACCOUNT, Path::new("/nonexistent"), "/bin/sh");
            }
            ids(ACCOUNT).expect("useradd made the account")
        });
        Self {
            name: ACCOUNT.to_owned(),
            user,
            group,
            is_ours: false,
        }
    }

    fn with_home(home: &Path, shell: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("void-{}-{count}", std::process::id());
        // Whoever else changes the list of accounts right now is done in a moment.
        let (user, group) = eventually_blocking("useradd", || {
            add_account(&name, home, shell);
            ids(&name)
        });
        Self {
            name,
            user,
            group,
            is_ours: true,
        }
    }

    fn own(&self, path: &Path) {
        chown(path, Some(self.user), Some(self.group)).expect("we are root");
    }
}

fn add_account(name: &str, home: &Path, shell: &str) {
    let _ = Command::new("useradd")
        .args(["--system", "--user-group", "--no-create-home", "--home-dir"])
        .arg(home)
        .args(["--shell", shell, name])
        .output();
}

/// User and group, if there is such an account.
fn ids(name: &str) -> Option<(u32, u32)> {
    let id = |which: &str| -> Option<u32> {
        let output = Command::new("id").args([which, name]).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    id("-u").zip(id("-g"))
}

fn folder() -> TempDir {
    // Not below /tmp: a list must not lie in a folder that others can write.
    let folder = tempfile::Builder::new()
        .prefix("void-sshd-")
        .tempdir_in("/run")
        .expect("the tests of the host side run as root");
    set_mode(folder.path(), 0o755);
    folder
}

fn make_key(path: &Path) {
    let fixed = ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"];
    run("ssh-keygen", &[&fixed[..], &[text(path)]].concat());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own file");
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
