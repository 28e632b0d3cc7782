//! Services: little processes that listen on a loopback port, so that health checks read real sockets.
//!
//! Invariants: at most one process serves a name (it holds `NAME.lock`); a process is ended only after
//! its start time shows that it is the one that was recorded; no service outlives its lab. Starting and
//! stopping one service happens in turn, whoever asks.
//!
//! `void rehearsal …` calls these from processes of its own; so programs and paths come in as arguments.

mod files;
mod ports;
mod probe;
mod processes;
mod serve;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use thiserror::Error;

pub use crate::services::files::{NAME_BYTES_MAX, ServiceKind};
use crate::services::files::{Plan, ServiceFiles};
pub use crate::services::serve::run;

/// How long a started service may take until it answers.
pub const START_TIME_MAX: Duration = Duration::from_secs(5);
const STOP_TIME_MAX: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

#[derive(Debug, Error)]
pub enum ServiceError {
    #[error("`{0}` is not a service's name: a-z, 0-9 and -, at most {NAME_BYTES_MAX}")]
    BadName(String),
    #[error("there is no service `{0}` in this lab")]
    Unknown(String),
    #[error("{0} is broken; a restart repairs it")]
    Broken(String),
    #[error("{0} ended as soon as it was started")]
    EndedAtOnce(String),
    #[error("{0} does not answer after {secs} s", secs = START_TIME_MAX.as_secs())]
    NoAnswer(String),
    #[error("{0} does not end")]
    DoesNotEnd(String),
    #[error("no loopback port is free")]
    NoPort,
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
}

/// Writes down that the lab has this service, on a port of its own; says which.
pub fn prepare(folder: &Path, name: &str, kind: ServiceKind) -> Result<u16, ServiceError> {
    let files = ServiceFiles::new(folder, name)?;
    let port = ports::free().ok_or(ServiceError::NoPort)?;
    files.write_plan(port, kind)?;
    Ok(port)
}

/// Ends the running one, if any, and starts a new one as `program args… folder name`, which has to call
/// [`run`]. Repairs what [`break_it`] broke. Returns when it answers, with a line for people.
pub fn restart(
    folder: &Path,
    name: &str,
    program: &Path,
    args: &[OsString],
) -> Result<String, ServiceError> {
    let (files, plan, _turn) = in_turn(folder, name)?;
    end(&files)?;
    files.repair()?;
    launch(&files, program, args)?;
    Ok(format!(
        "{name} restarted, it answers on 127.0.0.1:{}",
        plan.port
    ))
}

/// Starts it unless it runs. A broken one stays down.
pub fn start(
    folder: &Path,
    name: &str,
    program: &Path,
    args: &[OsString],
) -> Result<String, ServiceError> {
    let (files, plan, _turn) = in_turn(folder, name)?;
    if files.is_broken() {
        return Err(ServiceError::Broken(name.to_owned()));
    }
    if files.owner().is_some_and(processes::Owner::is_running) {
        return Ok(format!("{name} already runs on 127.0.0.1:{}", plan.port));
    }
    launch(&files, program, args)?;
    Ok(format!(
        "{name} started, it answers on 127.0.0.1:{}",
        plan.port
    ))
}

/// Ends it if it runs; its port is free when this returns.
pub fn stop(folder: &Path, name: &str) -> Result<String, ServiceError> {
    let (files, _, _turn) = in_turn(folder, name)?;
    let ran = end(&files)?;
    Ok(format!(
        "{name} {}",
        if ran { "stopped" } else { "was not running" }
    ))
}

/// Ends it and keeps it down until the next [`restart`].
pub fn break_it(folder: &Path, name: &str) -> Result<String, ServiceError> {
    let (files, _, _turn) = in_turn(folder, name)?;
    files.mark_broken()?;
    end(&files)?;
    Ok(format!("{name} is broken until it is restarted"))
}

/// Whether its own process runs and its port answers.
pub fn is_up(folder: &Path, name: &str) -> bool {
    ServiceFiles::new(folder, name).is_ok_and(|files| answers(&files))
}

/// The port that [`prepare`] gave it.
pub fn port(folder: &Path, name: &str) -> Result<u16, ServiceError> {
    Ok(ServiceFiles::new(folder, name)?.plan()?.port)
}

/// Ends every service of a lab, as far as it can.
pub fn stop_all(folder: &Path) {
    for name in files::names(folder) {
        let _ = stop(folder, &name);
    }
}

/// Says in one line how it went, on stdout or stderr, for a command's `main`.
pub fn report(result: Result<String, ServiceError>) -> ExitCode {
    match result {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A service that the lab has; while the last is held, nobody else starts or stops it.
fn in_turn(folder: &Path, name: &str) -> Result<(ServiceFiles, Plan, File), ServiceError> {
    let files = ServiceFiles::new(folder, name)?;
    let plan = files.plan()?;
    let turn = files.turn()?;
    Ok((files, plan, turn))
}

fn launch(files: &ServiceFiles, program: &Path, args: &[OsString]) -> Result<(), ServiceError> {
    files.forget_owner()?;
    let mut child = processes::spawn(program, args, files)?;
    let begun = Instant::now();
    let result = loop {
        if answers(files) {
            break Ok(());
        }
        if child.has_ended() {
            break Err(ServiceError::EndedAtOnce(files.name().to_owned()));
        }
        if begun.elapsed() > START_TIME_MAX {
            child.kill();
            break Err(ServiceError::NoAnswer(files.name().to_owned()));
        }
        std::thread::sleep(LOOK_AGAIN);
    };
    child.reap_later();
    result
}

/// Whether it ran.
fn end(files: &ServiceFiles) -> Result<bool, ServiceError> {
    let Some(process) = files.owner().and_then(processes::Owner::handle) else {
        return Ok(false);
    };
    for signal in [Signal::TERM, Signal::KILL] {
        process.signal(signal);
        if process.ends_within(STOP_TIME_MAX / 2) {
            return Ok(true);
        }
    }
    Err(ServiceError::DoesNotEnd(files.name().to_owned()))
}

fn answers(files: &ServiceFiles) -> bool {
    let runs = files.owner().is_some_and(processes::Owner::is_running);
    runs && files
        .plan()
        .is_ok_and(|plan| probe::answers(plan.port, plan.kind))
}
