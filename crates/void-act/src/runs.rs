//! Running one argv: no shell, one environment variable, nothing inherited, bounded time and output.
//!
//! This is the only place that starts a process. Output past its bound is drained and dropped, so that a talkative
//! command is not blocked; a left-over descendant that keeps a pipe open cannot hold up the answer.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::answers::{Ending, Reason, Refusal};
use crate::lists::{CountSpec, Invocation, RecordSpec};
use crate::progress::{Budget, Lines, Listener};
use crate::sys;

const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const OUTPUT_BYTES_MAX: usize = 32 << 10;
const READ_BYTES: usize = 16 << 10;
const TERM_GRACE: Duration = Duration::from_secs(5);
/// A command that became root through sudo cannot be killed by us; then its real end is worth waiting for.
const KILL_GRACE: Duration = Duration::from_secs(3600);
const DRAIN_MAX: Duration = Duration::from_secs(1);
const RECORD_TIME: Duration = Duration::from_secs(20);
/// Copies that are still starting, or falling over, have this long; less than the server waits beyond a run.
const COUNT_TIME: Duration = Duration::from_secs(8);
const COUNT_LOOK_TIME: Duration = Duration::from_secs(3);
const COUNT_APART: Duration = Duration::from_millis(500);
/// A copy that is just starting may be counted once and fall over.
const COUNT_SEEN: u32 = 2;

pub(crate) enum Ran {
    Ended(Ending),
    /// It outlived its time and every attempt to stop it; how it will end is not known.
    StillRunning {
        note: String,
    },
}

pub(crate) fn run(invocation: &Invocation, limit: Duration, tell: Listener<'_>) -> Ran {
    let mut child = match spawn(invocation) {
        Ok(child) => child,
        Err(error) => {
            return Ran::Ended(Ending::failed(format!(
                "void-act: cannot be started: {error}"
            )));
        }
    };
    match Watch::over(&mut child).and_then(|watch| watch.until_end(limit, tell)) {
        Ok(watched) => watched.into_ran(limit),
        Err(error) => Ran::StillRunning {
            note: format!("void-act: it runs but cannot be watched: {error}"),
        },
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the only process that void-act starts is started here"
)]
fn spawn(invocation: &Invocation) -> io::Result<Child> {
    let strings = invocation
        .argv
        .iter()
        .map(|text| CString::new(text.as_str()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut env = vec![CString::new(PATH)?];
    for (name, value) in &invocation.env {
        env.push(CString::new(format!("{name}={value}"))?);
    }
    // The name is never used: the image below replaces the child, or reports why it could not.
    let mut command = Command::new("/");
    command.env_clear().current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    sys::exec_alone(&mut command, strings, env);
    command.spawn()
}

/// Asks sudo what it would allow, and runs nothing of the list. `None` when it did not say.
pub(crate) fn ask_sudo(argv: Vec<String>, limit: Duration) -> Option<Ending> {
    let question = Invocation {
        argv,
        env: Vec::new(),
    };
    match run(&question, limit, &mut |_| {}) {
        Ran::Ended(ending) => Some(ending),
        Ran::StillRunning { .. } => None,
    }
}

/// Looks what runs now, to have something to return to. Nothing is changed yet, so any doubt is a refusal.
pub(crate) fn record(spec: &RecordSpec) -> Result<Option<String>, Refusal> {
    let look = Invocation {
        argv: spec.argv.clone(),
        env: Vec::new(),
    };
    match run(&look, RECORD_TIME, &mut |_| {}) {
        Ran::Ended(Ending {
            done: true, stdout, ..
        }) => spec.read(&stdout.unwrap_or_default()),
        Ran::Ended(_) | Ran::StillRunning { .. } => Err(Refusal::new(
            Reason::RecordFailed,
            "what runs now could not be looked up, so nothing was changed",
        )),
    }
}

/// Counts until as many run as wanted, twice in a row, or the time is over; then what was counted last, and `None`
/// when that was no number.
pub(crate) fn count(spec: &CountSpec, wanted: i64) -> Option<u32> {
    let look = Invocation {
        argv: spec.argv.clone(),
        env: Vec::new(),
    };
    let end = Instant::now() + COUNT_TIME;
    let mut in_a_row = 0;
    loop {
        let counted = match run(&look, COUNT_LOOK_TIME, &mut |_| {}) {
            Ran::Ended(Ending {
                done: true, stdout, ..
            }) => CountSpec::read(&stdout.unwrap_or_default()),
            Ran::Ended(_) => None,
            Ran::StillRunning { .. } => return None,
        };
        let is_wanted = counted.is_some_and(|counted| i64::from(counted) == wanted);
        in_a_row = if is_wanted { in_a_row + 1 } else { 0 };
        if in_a_row >= COUNT_SEEN || Instant::now() + COUNT_APART >= end {
            // Once is not enough, and there is no time for a second look.
            return counted.filter(|_| !is_wanted || in_a_row >= COUNT_SEEN);
        }
        std::thread::sleep(COUNT_APART);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    InTime,
    Terminated,
    Killed,
    Exited,
}

struct Watch<'a> {
    child: &'a mut Child,
    exit: OwnedFd,
    stdout: Capture,
    stderr: Capture,
}

struct Watched {
    /// None when it would not end.
    status: Option<ExitStatus>,
    timed_out: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'a> Watch<'a> {
    fn over(child: &'a mut Child) -> io::Result<Self> {
        let stdout = Capture::new(child.stdout.take().map(OwnedFd::from));
        let stderr = Capture::new(child.stderr.take().map(OwnedFd::from));
        Ok(Self {
            exit: sys::exit_of(child.id())?,
            child,
            stdout,
            stderr,
        })
    }

    fn until_end(mut self, limit: Duration, tell: Listener<'_>) -> io::Result<Watched> {
        let mut budget = Budget::new();
        let mut stage = Stage::InTime;
        let mut timed_out = false;
        let mut deadline = Instant::now() + limit;
        while stage != Stage::Exited || self.stdout.is_open() || self.stderr.is_open() {
            let exit = (stage != Stage::Exited).then_some(self.exit.as_fd());
            let wait = deadline.saturating_duration_since(Instant::now());
            let [out, err, exited] =
                sys::wait_readable([self.stdout.fd(), self.stderr.fd(), exit], wait)?;
            if out {
                self.stdout.read(&mut budget, tell);
            }
            if err {
                self.stderr.read(&mut budget, tell);
            }
            if exited {
                stage = Stage::Exited;
                deadline = Instant::now() + DRAIN_MAX;
            } else if Instant::now() >= deadline {
                match stage {
                    Stage::InTime => {
                        (stage, deadline, timed_out) =
                            (Stage::Terminated, Instant::now() + TERM_GRACE, true);
                        self.signal(libc::SIGTERM);
                    }
                    Stage::Terminated => {
                        (stage, deadline) = (Stage::Killed, Instant::now() + KILL_GRACE);
                        self.signal(libc::SIGKILL);
                    }
                    Stage::Killed | Stage::Exited => break,
                }
            }
        }
        if timed_out {
            // The leader is not reaped yet, so its number still names this group and no other.
            self.signal(libc::SIGKILL);
        }
        let status = if stage == Stage::Exited {
            Some(self.child.wait()?)
        } else {
            None
        };
        Ok(Watched {
            status,
            timed_out,
            stdout: self.stdout.kept,
            stderr: self.stderr.kept,
        })
    }

    fn signal(&self, signal: i32) {
        // A group that is gone or not ours to signal is told by the stage that follows.
        let _ = sys::signal_group(self.child.id(), signal);
    }
}

impl Watched {
    fn into_ran(self, limit: Duration) -> Ran {
        let mut notes = Vec::new();
        if self.timed_out {
            notes.push(format!(
                "it ran past its time limit of {} s",
                limit.as_secs()
            ));
        }
        let Some(status) = self.status else {
            notes.push("could not be stopped and still runs".to_owned());
            return Ran::StillRunning {
                note: format!("void-act: {}", notes.join("; ")),
            };
        };
        if let Some(signal) = status.signal() {
            notes.push(format!("ended by signal {signal}"));
        }
        let mut stderr = String::from_utf8_lossy(&self.stderr).into_owned();
        if !notes.is_empty() {
            let gap = if stderr.is_empty() || stderr.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            stderr = format!("{stderr}{gap}void-act: {}", notes.join("; "));
        }
        Ran::Ended(Ending {
            done: status.success() && !self.timed_out,
            exit: status.code(),
            stdout: Some(String::from_utf8_lossy(&self.stdout).into_owned()),
            stderr: Some(stderr),
        })
    }
}

/// The beginning of one output stream.
struct Capture {
    pipe: Option<File>,
    kept: Vec<u8>,
    lines: Lines,
}

impl Capture {
    fn new(pipe: Option<OwnedFd>) -> Self {
        Self {
            pipe: pipe.map(File::from),
            kept: Vec::new(),
            lines: Lines::new(),
        }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn read(&mut self, budget: &mut Budget, tell: Listener<'_>) {
        let mut chunk = [0; READ_BYTES];
        match self.pipe.as_mut().map(|pipe| pipe.read(&mut chunk)) {
            Some(Ok(count)) if count > 0 => {
                let room = OUTPUT_BYTES_MAX.saturating_sub(self.kept.len());
                self.kept.extend(chunk.iter().take(count.min(room)));
                let read = chunk.get(..count).unwrap_or_default();
                self.lines.feed(read, budget, tell);
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Some(Ok(_) | Err(_)) | None => self.pipe = None,
        }
    }
}
