//! SSH: the system's `ssh` by argv, with pinned host keys and nothing from anybody's configuration.
//!
//! A connection is opened first and alone, so a failure there is known to have sent nothing. Commands
//! then share it. `ssh` ends with 255 for its own failures; after a command went out that means the
//! answer is lost, not that nothing happened.

pub(crate) mod host_keys;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use void_act::Answer;
use void_domain::digests::Digest;
use void_domain::hosts::{Host, HostName, SshAddress};
use void_domain::proposals::Failure;
use void_domain::text;

use self::host_keys::KnownHosts;
use crate::act::{self, Carrier, NoAnswer};
use crate::process::{self, Finished, NotFinished, Program};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Name look-up, connecting and the handshake, with room to spare.
const OPEN_TIMEOUT: Duration = Duration::from_secs(25);
/// How long an idle connection is kept; it also bounds how long one outlives a killed server.
const PERSIST_SECONDS: u64 = 60;
/// A Unix socket's path holds 107 bytes; the name takes 12, and `ssh` adds 17 while it binds.
const RUN_FOLDER_BYTES_MAX: usize = 75;

#[derive(Debug, Clone)]
pub struct SshConfig {
    pub program: PathBuf,
    pub keyscan: PathBuf,
    /// The private key; without it no host can be reached.
    pub key: Option<PathBuf>,
    /// Keys that the owner trusted, one `name type key` per line.
    pub known_hosts: PathBuf,
    /// A private folder for control sockets and pinned keys.
    pub run_folder: PathBuf,
}

/// A path that `ssh` would not take as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsafePath {
    pub path: PathBuf,
    pub why: &'static str,
}

impl std::fmt::Display for UnsafePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for UnsafePath {}

pub(crate) struct Ssh {
    config: SshConfig,
    known: KnownHosts,
    /// One opening at a time per host.
    opening: Mutex<BTreeMap<HostName, Arc<Mutex<()>>>>,
}

impl Ssh {
    pub(crate) fn new(config: SshConfig) -> Result<Self, UnsafePath> {
        let paths = [
            config.key.as_deref(),
            Some(&config.known_hosts),
            Some(&config.run_folder),
        ];
        for path in paths.into_iter().flatten() {
            let plain = path
                .to_str()
                .is_some_and(|text| !text.contains(['%', '"', '\'', '\\', ' ', '\n', '\t']));
            if !plain {
                let why = "ssh would read %, quotes, spaces or line breaks in this path as something else";
                return Err(UnsafePath {
                    path: path.to_owned(),
                    why,
                });
            }
        }
        if config.run_folder.as_os_str().len() > RUN_FOLDER_BYTES_MAX {
            let why = "too long for the sockets of shared connections; set ssh.run_folder to a shorter one";
            return Err(UnsafePath {
                path: config.run_folder,
                why,
            });
        }
        let known = KnownHosts::new(&config);
        Ok(Self {
            config,
            known,
            opening: Mutex::default(),
        })
    }

    pub(crate) const fn known(&self) -> &KnownHosts {
        &self.known
    }

    pub(crate) const fn config(&self) -> &SshConfig {
        &self.config
    }

    /// Everything before the destination. `extra` comes first, so that it wins.
    fn options(
        &self,
        host: &HostName,
        address: &SshAddress,
        key: &Path,
        extra: &[&str],
    ) -> Vec<OsString> {
        let mut args: Vec<OsString> = ["-F", "none", "-T"].map(OsString::from).to_vec();
        for option in extra {
            args.extend(["-o".into(), (*option).into()]);
        }
        let known_hosts = self.known.file_for(host, address);
        let fixed = [
            "BatchMode=yes".to_owned(),
            "IdentitiesOnly=yes".to_owned(),
            "PreferredAuthentications=publickey".to_owned(),
            "StrictHostKeyChecking=yes".to_owned(),
            format!("UserKnownHostsFile={}", known_hosts.display()),
            "GlobalKnownHostsFile=/dev/null".to_owned(),
            format!("HostKeyAlias={host}"),
            "UpdateHostKeys=no".to_owned(),
            "VerifyHostKeyDNS=no".to_owned(),
            "CheckHostIP=no".to_owned(),
            "ClearAllForwardings=yes".to_owned(),
            "ForwardAgent=no".to_owned(),
            "PermitLocalCommand=no".to_owned(),
            "ProxyCommand=none".to_owned(),
            "ProxyJump=none".to_owned(),
            "CanonicalizeHostname=no".to_owned(),
            "AddKeysToAgent=no".to_owned(),
            "IdentityAgent=none".to_owned(),
            "EscapeChar=none".to_owned(),
            format!("ConnectTimeout={}", CONNECT_TIMEOUT.as_secs()),
            "ServerAliveInterval=10".to_owned(),
            "ServerAliveCountMax=2".to_owned(),
            "LogLevel=ERROR".to_owned(),
        ];
        for option in fixed {
            args.extend(["-o".into(), option.into()]);
        }
        args.extend(["-i".into(), key.as_os_str().to_owned()]);
        args.extend(["-p".into(), address.port.to_string().into()]);
        args.extend(["-S".into(), self.socket(host, address).into_os_string()]);
        // Whatever follows is a destination and a command, never an option.
        args.extend([
            "--".into(),
            format!("{}@{}", address.user, address.address).into(),
        ]);
        args
    }

    /// The shared connection of this host at this address with this key.
    fn socket(&self, host: &HostName, address: &SshAddress) -> PathBuf {
        let identity = format!(
            "{host}|{}|{}|{}|{:?}",
            address.user, address.address, address.port, address.host_key
        );
        let name = Digest::of(identity.as_bytes()).short();
        self.config.run_folder.join(name)
    }

    async fn run(&self, args: Vec<OsString>, limit: Duration) -> Result<Finished, NotFinished> {
        let program = Program {
            path: self.config.program.clone(),
            args,
            env: Vec::new(),
            dies_with_us: true,
        };
        process::run(program, limit).await
    }

    /// Opens the shared connection if it is not there. Nothing is sent to the host but who we are.
    async fn open(&self, host: &HostName, address: &SshAddress) -> Result<(), Failure> {
        let key = self.key()?;
        let lock = Arc::clone(self.opening.lock().await.entry(host.clone()).or_default());
        let _one_at_a_time = lock.lock().await;
        let socket = self.socket(host, address);
        if socket.exists() {
            let mut check: Vec<OsString> = vec!["-O".into(), "check".into()];
            check.extend(self.options(host, address, key, &[]));
            if matches!(
                self.run(check, OPEN_TIMEOUT).await,
                Ok(Finished { code: Some(0), .. })
            ) {
                return Ok(());
            }
            // A socket without a listener would only slow every command down.
            let _ = std::fs::remove_file(&socket);
        }
        let persist = format!("ControlPersist={PERSIST_SECONDS}");
        let mut args: Vec<OsString> = vec!["-M".into(), "-N".into(), "-f".into()];
        args.extend(self.options(host, address, key, &[&persist]));
        match self.run(args, OPEN_TIMEOUT).await {
            Ok(Finished { code: Some(0), .. }) => Ok(()),
            Ok(finished) => Err(self.why_not_open(host, address, &finished.stderr).await),
            Err(NotFinished::NotStarted(error)) => {
                let message = format!(
                    "{} cannot be started: {error}",
                    self.config.program.display()
                );
                Err(Failure::new("not_configured", message))
            }
            Err(NotFinished::GivenUp) => {
                let message = format!(
                    "{host} ({}) did not answer in time; nothing was sent",
                    address.address
                );
                Err(Failure::new("unreachable", message))
            }
        }
    }

    fn key(&self) -> Result<&Path, Failure> {
        let message = "no SSH key is set: put its path into ACTIONS_SSH_KEY or ssh.key";
        let key = self
            .config
            .key
            .as_deref()
            .ok_or_else(|| Failure::new("not_configured", message))?;
        if key.is_file() {
            return Ok(key);
        }
        Err(Failure::new(
            "not_configured",
            format!("the SSH key {} is not there", key.display()),
        ))
    }

    /// Tells the reasons apart. None of them sent anything.
    async fn why_not_open(&self, host: &HostName, address: &SshAddress, stderr: &str) -> Failure {
        let said = text::escaped(text::cut(stderr.trim(), 300));
        if stderr.contains("Host key verification failed")
            || stderr.contains("IDENTIFICATION HAS CHANGED")
        {
            return self.known.why_refused(host, address).await;
        }
        if stderr.contains("Permission denied") {
            let message = format!(
                "{host} does not accept Void's key for {}: {said}",
                address.user
            );
            return Failure::new("auth_refused", message);
        }
        Failure::new(
            "unreachable",
            format!("{host} ({}) cannot be reached: {said}", address.address),
        )
    }
}

/// One host behind SSH.
pub(crate) struct SshHost<'a> {
    pub ssh: &'a Ssh,
    pub host: Host,
    pub address: SshAddress,
}

impl Carrier for SshHost<'_> {
    fn host(&self) -> &Host {
        &self.host
    }

    async fn ask(&self, command: &[&str], limit: Duration) -> Result<Answer, NoAnswer> {
        let name = &self.host.name;
        self.ssh
            .open(name, &self.address)
            .await
            .map_err(NoAnswer::NotSent)?;
        let key = self.ssh.key().map_err(NoAnswer::NotSent)?;
        let mut args = self
            .ssh
            .options(name, &self.address, key, &["ControlMaster=no"]);
        args.extend(command.iter().map(OsString::from));
        let lost = |code: &str, message: String| Err(NoAnswer::Lost(Failure::new(code, message)));
        match self.ssh.run(args, limit).await {
            Ok(finished) => match act::parse(&finished.stdout) {
                Some(answer) => Ok(answer),
                None if finished.code == Some(255) => {
                    let said = text::escaped(text::cut(finished.stderr.trim(), 300));
                    lost(
                        "connection_lost",
                        format!("the connection to {name} broke after sending: {said}"),
                    )
                }
                None => {
                    let said = text::escaped(text::cut(finished.stderr.trim(), 300));
                    lost(
                        "no_answer",
                        format!(
                            "{name} did not answer as void-act does (is it installed?): {said}"
                        ),
                    )
                }
            },
            Err(NotFinished::NotStarted(error)) => {
                let message = format!(
                    "{} cannot be started: {error}",
                    self.ssh.config.program.display()
                );
                Err(NoAnswer::NotSent(Failure::new("not_configured", message)))
            }
            Err(NotFinished::GivenUp) => lost("timeout", format!("{name} did not answer in time")),
        }
    }
}
