//! Processes: the one place that starts any, and how one is known again later.
//!
//! A process id alone is not an identity, because ids are given again; id and start time are. A signal
//! goes through a handle that was opened before the start time was compared, so it cannot hit another.

use std::ffi::OsString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::services::ServiceError;
use crate::services::files::ServiceFiles;

/// Field 22 of `/proc/PID/stat`, counted from the state, which is field 3.
const START_TIME_AFTER_STATE: usize = 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    started: u64,
}

impl Owner {
    pub(crate) fn this_process() -> Option<Self> {
        let pid = std::process::id();
        let started = start_time(pid)?;
        Some(Self { pid, started })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pid, started) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Self {
            pid: pid.parse().ok()?,
            started: started.parse().ok()?,
        })
    }

    pub(crate) fn line(self) -> String {
        format!("{} {}\n", self.pid, self.started)
    }

    pub(crate) fn is_running(self) -> bool {
        start_time(self.pid) == Some(self.started)
    }

    /// A handle to exactly this process, if it runs.
    pub(crate) fn handle(self) -> Option<Handle> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        self.is_running().then_some(Handle(handle))
    }
}

pub(crate) struct Handle(OwnedFd);

impl Handle {
    pub(crate) fn signal(&self, signal: Signal) {
        // One that has just ended needs no signal.
        let _ = pidfd_send_signal(&self.0, signal);
    }

    /// Whether it ended within this time, all its threads and what they held open included.
    pub(crate) fn ends_within(&self, time: Duration) -> bool {
        let limit = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        };
        let mut watched = [PollFd::new(&self.0, PollFlags::IN)];
        matches!(retry_on_intr(|| poll(&mut watched, Some(&limit))), Ok(1))
    }
}

/// Clock ticks after boot; `None` for a process that is gone or has only not been waited for.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last `)` may contain anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(START_TIME_AFTER_STATE)?.parse().ok()
}

/// A service's process while it starts.
pub(crate) struct Started(Child);

impl Started {
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(Some(_)))
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
    }

    /// It outlives its starter or is waited for; a lab that lives long leaves no dead entries behind.
    pub(crate) fn reap_later(mut self) {
        let wait = move || {
            let _ = self.0.wait();
        };
        let _ = std::thread::Builder::new()
            .name("rehearsal-reap".to_owned())
            .spawn(wait);
    }
}

/// Starts `program args… folder name` with nothing of ours: no pipes, no environment, no folder.
pub(crate) fn spawn(
    program: &Path,
    args: &[OsString],
    files: &ServiceFiles,
) -> Result<Started, ServiceError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts a lab's processes"
    )]
    let mut command = Command::new(program);
    command
        .args(args)
        .arg(files.folder())
        .arg(files.name())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn().map_err(|error| files.failed(error))?;
    Ok(Started(child))
}
