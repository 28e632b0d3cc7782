//! SSH: the system's `ssh` by argv, with pinned host keys and nothing from anybody's configuration.
//!
//! A connection is opened first and alone, so a failure there is known to have sent nothing. Commands
//! then travel over it or not at all. `ssh` ends with 255 for its own failures; after a command went
//! out that means the answer is lost, not that nothing happened.

mod arguments;
mod connections;
pub(crate) mod host_keys;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use void_act::Answer;
use void_domain::digests::Digest;
use void_domain::failures::FailureCode;
use void_domain::hosts::{Host, HostName, SshAddress};
use void_domain::proposals::Failure;
use void_domain::text;

use self::connections::{Connections, SocketSlot};
use self::host_keys::KnownHosts;
use crate::act::{self, Carrier, NoAnswer};
use crate::process::{self, Finished, NotFinished, Program};

/// Waiting for a place, name look-up, connecting and the handshake, with room to spare.
const OPEN_TIMEOUT: Duration = Duration::from_secs(25);
/// How long a command waits for others to end when all connections are full.
const PLACE_TIMEOUT: Duration = Duration::from_secs(10);
/// A Unix socket's path holds 107 bytes; the name takes 13, and `ssh` adds 17 while it binds.
const RUN_FOLDER_BYTES_MAX: usize = 75;
const SAID_BYTES_MAX: usize = 300;

#[derive(Debug, Clone)]
pub struct SshConfig {
    pub program: PathBuf,
    pub keyscan: PathBuf,
    /// The private key; without it no host can be reached.
    pub key: Option<PathBuf>,
    /// Keys that the owner trusted, one `name type key` per line.
    pub known_hosts: PathBuf,
    /// A private folder for control sockets and the keys that `ssh` compares with.
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

impl SshConfig {
    fn check(&self) -> Result<(), UnsafePath> {
        let paths = [
            self.key.as_deref(),
            Some(&self.known_hosts),
            Some(&self.run_folder),
        ];
        let unsafe_path = |path: &Path, why| {
            let path = path.to_owned();
            Err(UnsafePath { path, why })
        };
        for path in paths.into_iter().flatten() {
            let special = |c: char| c.is_control() || c.is_whitespace() || "%$\"'\\".contains(c);
            if path.to_str().is_none_or(|text| text.contains(special)) {
                let why = "ssh would read %, $, quotes, spaces or line breaks in this path as something else";
                return unsafe_path(path, why);
            }
            if !path.is_absolute() {
                return unsafe_path(path, "ssh does not run in this folder; give the whole path");
            }
        }
        if self.run_folder.as_os_str().len() > RUN_FOLDER_BYTES_MAX {
            let why = "too long for the sockets of shared connections; set ssh.run_folder to a shorter one";
            return unsafe_path(&self.run_folder, why);
        }
        Ok(())
    }
}

pub(crate) struct Ssh {
    config: SshConfig,
    known: KnownHosts,
    connections: Connections,
}

/// An open connection with a place for one command.
pub(crate) struct SshCommandLine {
    socket: PathBuf,
    place: SocketSlot,
}

impl Ssh {
    pub(crate) fn new(config: SshConfig) -> Result<Self, UnsafePath> {
        config.check()?;
        Ok(Self {
            known: KnownHosts::new(&config),
            connections: Connections::new(&config.run_folder),
            config,
        })
    }

    pub(crate) const fn known(&self) -> &KnownHosts {
        &self.known
    }

    pub(crate) const fn config(&self) -> &SshConfig {
        &self.config
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

    /// A line to the host, over a connection that is there or a new one.
    async fn open(&self, host: &HostName, address: &SshAddress) -> Result<SshCommandLine, Failure> {
        match tokio::time::timeout(OPEN_TIMEOUT, self.open_line(host, address)).await {
            Ok(line) => line,
            Err(_late) => {
                let message = format!(
                    "{host} ({}) did not answer in time; nothing was sent",
                    address.address
                );
                Err(Failure::new(FailureCode::Unreachable, message))
            }
        }
    }

    async fn open_line(
        &self,
        host: &HostName,
        address: &SshAddress,
    ) -> Result<SshCommandLine, Failure> {
        let key = self.key()?;
        let known_hosts = self.known.file_for(host, address).map_err(|error| {
            let folder = self.config.run_folder.display();
            Failure::new(
                FailureCode::NotConfigured,
                format!("{folder} cannot be written: {error}"),
            )
        })?;
        let identity = format!(
            "{host}|{}|{}|{}|{}",
            address.user,
            address.address,
            address.port,
            known_hosts.display()
        );
        let place = self.connections.place(Digest::of(identity.as_bytes()));
        let place = tokio::time::timeout(PLACE_TIMEOUT, place).await;
        let place = place.map_err(|_late| {
            let message = format!("{host} has too many commands under way; nothing was sent");
            Failure::new(FailureCode::Busy, message)
        })?;
        let mut present = place.socket().await;
        let socket = match &*present {
            Some(socket) if connections::is_alive(socket).await => socket.clone(),
            _ => {
                let socket = self.connections.new_socket();
                let args = arguments::connecting(host, address, &socket, key, &known_hosts);
                self.connect(host, address, args).await?;
                *present = Some(socket.clone());
                socket
            }
        };
        drop(present);
        Ok(SshCommandLine { socket, place })
    }

    /// Nothing is sent to the host but who we are.
    async fn connect(
        &self,
        host: &HostName,
        address: &SshAddress,
        args: Vec<OsString>,
    ) -> Result<(), Failure> {
        match self.run(args, OPEN_TIMEOUT).await {
            Ok(Finished { code: Some(0), .. }) => Ok(()),
            Ok(finished) => Err(self.why_not_open(host, address, &finished.stderr).await),
            Err(NotFinished::NotStarted(error)) => Err(self.no_program(&error)),
            Err(NotFinished::GivenUp) => {
                let message = format!("{host} ({}) did not answer in time", address.address);
                Err(Failure::new(FailureCode::Unreachable, message))
            }
        }
    }

    fn no_program(&self, error: &std::io::Error) -> Failure {
        let program = self.config.program.display();
        Failure::new(
            FailureCode::NotConfigured,
            format!("{program} cannot be started: {error}"),
        )
    }

    fn key(&self) -> Result<&Path, Failure> {
        let message = "the server has no SSH key: put its path into void.toml ([ssh] key = …) and run void reload, or into ACTIONS_SSH_KEY before the server starts";
        let key = self
            .config
            .key
            .as_deref()
            .ok_or_else(|| Failure::new(FailureCode::NotConfigured, message))?;
        if key.is_file() {
            return Ok(key);
        }
        Err(Failure::new(
            FailureCode::NotConfigured,
            format!("the SSH key {} is not there", key.display()),
        ))
    }

    /// Tells the reasons apart. None of them sent anything.
    async fn why_not_open(&self, host: &HostName, address: &SshAddress, stderr: &str) -> Failure {
        let said = said(stderr);
        if stderr.contains("Host key verification failed")
            || stderr.contains("IDENTIFICATION HAS CHANGED")
        {
            return self.known.why_refused(host, address).await;
        }
        if stderr.contains("UNPROTECTED PRIVATE KEY FILE") || stderr.contains("Load key \"") {
            let message = format!("ssh does not take the SSH key: {said}");
            return Failure::new(FailureCode::NotConfigured, message);
        }
        if stderr.contains("Permission denied (") {
            let message = format!(
                "{host} does not accept Void's key for {}: {said}",
                address.user
            );
            return Failure::new(FailureCode::AuthRefused, message);
        }
        Failure::new(
            FailureCode::Unreachable,
            format!("{host} ({}) cannot be reached: {said}", address.address),
        )
    }
}

/// What `ssh` printed, as one line without its frames of `@`.
fn said(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(|line| line.trim_matches(|c: char| c == '@' || c.is_whitespace()))
        .filter(|line| !line.is_empty())
        .collect();
    text::escaped(text::cut(&lines.join("; "), SAID_BYTES_MAX))
}

/// One host behind SSH.
pub(crate) struct SshHost<'a> {
    pub ssh: &'a Ssh,
    pub host: Host,
    pub address: SshAddress,
}

impl Carrier for SshHost<'_> {
    type Line = SshCommandLine;

    fn host(&self) -> &str {
        self.host.name.as_str()
    }

    fn provision(&self) -> String {
        format!("void provision ssh {}", self.host.name)
    }

    async fn open(&self) -> Result<SshCommandLine, Failure> {
        self.ssh.open(&self.host.name, &self.address).await
    }

    /// A connection may have ended, or hang, without anybody having noticed, and what answers may not be `void-act`
    /// any more. A question finds that out and can be asked again; a ticket that is lost is lost for good.
    fn is_fresh(&self, _: &SshCommandLine) -> bool {
        false
    }

    async fn ask(
        &self,
        line: &SshCommandLine,
        command: &[&str],
        limit: Duration,
    ) -> Result<Answer, NoAnswer> {
        let name = &self.host.name;
        let mut args = arguments::sending(name, &self.address, &line.socket);
        args.extend(command.iter().map(OsString::from));
        let finished = match self.ssh.run(args, limit).await {
            Ok(finished) => finished,
            Err(NotFinished::NotStarted(error)) => {
                return Err(NoAnswer::NotSent(self.ssh.no_program(&error)));
            }
            Err(NotFinished::GivenUp) => {
                line.place.forget(&line.socket).await;
                let message = format!("{name} did not answer in time");
                return Err(NoAnswer::Lost(Failure::new(FailureCode::Timeout, message)));
            }
        };
        if let Some(answer) = act::parse(&finished.stdout) {
            return Ok(answer);
        }
        let no_answer = why_no_answer(name, &finished);
        if matches!(no_answer, NoAnswer::Broken(_)) {
            line.place.forget(&line.socket).await;
        }
        Err(no_answer)
    }
}

fn why_no_answer(name: &HostName, finished: &Finished) -> NoAnswer {
    let said = said(&finished.stderr);
    // 255 is ssh's own word for what went wrong; without any, something killed it.
    if finished.code.is_some_and(|code| code != 255) {
        let message = format!("{name} did not answer as void-act does (is it installed?): {said}");
        return NoAnswer::Lost(Failure::new(FailureCode::NoAnswer, message));
    }
    // The connection's process says so before it sends anything.
    if finished.stderr.contains("Session open refused by peer") {
        let message = format!("{name} takes no more sessions at once (MaxSessions of its sshd)");
        return NoAnswer::NotSent(Failure::new(FailureCode::Busy, message));
    }
    // The sending `ssh` knows no host key on purpose (see `arguments::sending`): this is how it says that
    // the shared connection is gone, not that anything is wrong with the host's key.
    let message = if finished.stderr.contains("host key is known for") {
        format!("the shared connection to {name} ended before it answered")
    } else {
        format!("the connection to {name} broke before it answered: {said}")
    };
    NoAnswer::Broken(Failure::new(FailureCode::ConnectionLost, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_fits_into_one_line() {
        let frame = "@@@@@@@@@@@@@@@@@@@\r\n@ WARNING: CHANGED! @\r\n@@@@@@@@@@@@@@@@@@@\r\nby \u{1b}[31mwhom\n\n";
        assert_eq!(said(frame), "WARNING: CHANGED!; by \\u{1b}[31mwhom");
        assert_eq!(said(&"x".repeat(1000)).len(), SAID_BYTES_MAX);
    }
}
