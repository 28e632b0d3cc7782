//! `void serve` as the first process of a container, where no init was put before it.
//!
//! The kernel makes the first process the parent of every other one whose own parent is gone, and an ended process keeps
//! its place in the table until its parent has asked how it ended. Prunings of a journal and connections of SSH in the
//! background end that way, and would fill `pids_limit` one by one. So the server runs as a child of a process that does
//! nothing but ask: no wait of the server's own for a child is ever answered here. What the first process is told by
//! signal it passes on, and it ends when the server does, with its code.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};
use tokio::signal::unix::{SignalKind, signal};

use crate::successor;

/// What a shell adds to the number of the signal that ended a command.
const ENDED_BY_SIGNAL: i32 = 128;

pub(crate) fn is_this() -> bool {
    getpid().is_init()
}

/// Runs this very command line as a child until it ends.
pub(crate) fn serve() -> io::Result<ExitCode> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build()?.block_on(until_it_ends())
}

async fn until_it_ends() -> io::Result<ExitCode> {
    // All of them before the child is there: what comes in between waits in them.
    let mut ends = signal(SignalKind::child())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let server = Pid::from_child(&start()?);
    loop {
        if let Some(code) = ended(server)? {
            return Ok(code);
        }
        let told = tokio::select! {
            _ = ends.recv() => continue,
            _ = terminate.recv() => Signal::TERM,
            _ = interrupt.recv() => Signal::INT,
            _ = quit.recv() => Signal::QUIT,
            _ = hangup.recv() => Signal::HUP,
        };
        // Nobody has asked how it ended so far, so no other process can have its number.
        let _ = kill_process(server, told);
    }
}

/// In a group of its own: a terminal tells the whole group, and the server would hear everything twice.
#[expect(
    clippy::disallowed_methods,
    reason = "this very program again, with its own arguments"
)]
fn start() -> io::Result<Child> {
    Command::new(successor::program()?)
        .args(std::env::args_os().skip(1))
        .process_group(0)
        .spawn()
}

/// Takes note of every child that has ended; the server's code if it is one of them.
fn ended(server: Pid) -> io::Result<Option<ExitCode>> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == server => return Ok(Some(code_of(status))),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

fn code_of(status: WaitStatus) -> ExitCode {
    let by_signal = status
        .terminating_signal()
        .map(|signal| ENDED_BY_SIGNAL + signal);
    let code = status.exit_status().or(by_signal);
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
