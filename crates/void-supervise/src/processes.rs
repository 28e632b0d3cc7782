//! One process of an agent, with everything that it started: its lifeline, its output and its end.
//!
//! The invariant: when [`Process::end`] is over, nothing of it is left. It is ended by its control group where there is
//! one and by its process group in any case, and its leader is waited for last, so that its number means this group
//! until then.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as ChildEnds, SignalKind, signal};

use crate::cgroups::Cgroup;
use crate::drivers::Launch;
use crate::lifelines::WORD_BYTES_MAX;
use crate::orders::TokenText;
use crate::states::Ending;

/// After its lifeline is gone it may end by itself.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Process {
    child: Child,
    group: Option<Pid>,
    /// Told when some child of the server has ended.
    children: ChildEnds,
    cgroup: Option<Cgroup>,
    hears: OwnedWriteHalf,
    says: BufReader<OwnedReadHalf>,
}

/// What came from it.
pub(crate) enum Heard {
    Word(String),
    /// No word of anybody who is in their senses.
    Garbled,
    Ended,
}

impl Process {
    /// Starts it. It does nothing before it has read its token and its plan, and by then it is in its group. Called in
    /// the thread that lives as long as the server: with the thread that started it, the process ends.
    pub(crate) async fn start(
        launch: &Launch,
        token: &TokenText,
        cgroup: Option<Cgroup>,
    ) -> io::Result<(Self, pipe::Receiver)> {
        let plan = launch.plan.to_line().map_err(io::Error::other)?;
        let (own, its) = std::os::unix::net::UnixStream::pair()?;
        own.set_nonblocking(true)?;
        let (output, written) = io::pipe()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that starts agent processes"
        )]
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(its)))
            .stdout(Stdio::from(written.try_clone()?))
            .stderr(Stdio::from(written))
            .process_group(0)
            .kill_on_drop(true);
        // Before it is there: its end is not missed.
        let children = signal(SignalKind::child())?;
        let child = command.spawn()?;
        // Its ends of the pairs are in the command.
        drop(command);
        let (says, hears) = UnixStream::from_std(own)?.into_split();
        let pid = child.id().ok_or(io::ErrorKind::NotFound)?;
        let mut process = Self {
            child,
            group: i32::try_from(pid).ok().and_then(Pid::from_raw),
            children,
            cgroup,
            hears,
            says: BufReader::new(says),
        };
        let begun = process.begin(pid, token, &plan).await;
        match begun {
            Ok(()) => Ok((process, pipe::Receiver::from_owned_fd(output.into())?)),
            Err(error) => {
                process.end().await;
                Err(error)
            }
        }
    }

    async fn begin(&mut self, pid: u32, token: &TokenText, plan: &str) -> io::Result<()> {
        if let Some(cgroup) = &self.cgroup {
            cgroup.add(pid)?;
        }
        let orders = format!("{}\n{plan}\n", token.expose());
        self.hears.write_all(orders.as_bytes()).await
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) async fn tell(&mut self, word: &str) {
        // Whoever does not hear it has ended, which is noticed elsewhere.
        let _ = self.hears.write_all(format!("{word}\n").as_bytes()).await;
    }

    /// The next that comes from it. May be dropped and asked again.
    pub(crate) async fn hear(&mut self, begun: &mut Vec<u8>) -> Heard {
        let left = WORD_BYTES_MAX.saturating_sub(u64::try_from(begun.len()).unwrap_or(u64::MAX));
        let mut says = (&mut self.says).take(left);
        tokio::select! {
            biased;
            read = says.read_until(b'\n', begun) => match read {
                Ok(1..) if begun.last() == Some(&b'\n') => {
                    begun.pop();
                    let word = String::from_utf8(std::mem::take(begun));
                    word.map_or(Heard::Garbled, Heard::Word)
                }
                Ok(1..) => Heard::Garbled,
                // It has closed its lifeline, or ended.
                Ok(0) | Err(_) => Heard::Ended,
            },
            () = has_ended(self.group, &mut self.children) => Heard::Ended,
        }
    }

    /// Sees to it that nothing of it is left. It may end by itself first.
    pub(crate) async fn end(mut self) -> Ending {
        let _ = self.hears.shutdown().await;
        let _ = tokio::time::timeout(GRACE, has_ended(self.group, &mut self.children)).await;
        self.kill();
        if let Some(cgroup) = self.cgroup.take()
            && let Err(error) = cgroup.end().await
        {
            tracing::warn!(%error, "the control group of an agent process is not empty");
        }
        let status = self.child.wait().await;
        self.group = None;
        match status {
            Ok(status) => Ending::of(status),
            Err(error) => Ending::NotStarted(error.to_string()),
        }
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            // Nobody there any more is what it is for.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Looks without taking the end away: as long as nobody has waited for it, nobody else can get its number.
async fn has_ended(process: Option<Pid>, children: &mut ChildEnds) {
    let Some(process) = process else { return };
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while let Ok(None) = waitid(WaitId::Pid(process), look) {
        children.recv().await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
