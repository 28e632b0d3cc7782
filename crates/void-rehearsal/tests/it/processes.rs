//! Processes that the tests start: this very test binary, told to be a service, a restart or a lab.
//! `void rehearsal …` will be these.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use void_rehearsal::folder;
use void_rehearsal::services::{self, ServiceKind};

use crate::lab::eventually;

/// This binary, and what makes it the named process; what that needs to know comes behind.
pub(crate) fn as_process(name: &str) -> (PathBuf, Vec<OsString>) {
    let name = format!("processes::{name}");
    let args = ["--ignored", "--exact", "--nocapture", "--quiet", &name];
    let program = std::env::current_exe().unwrap();
    (program, args.iter().map(OsString::from).collect())
}

pub(crate) fn spawn(name: &str, last: &[&Path]) -> Child {
    let (program, args) = as_process(name);
    let mut command = Command::new(program);
    command
        .args(args)
        .args(last)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What comes behind the named process; nobody else may run it, since a lab waits for ever.
fn last_args<const N: usize>(name: &str) -> [String; N] {
    let args: Vec<String> = std::env::args().collect();
    let (before, last) = args.split_at(args.len() - N);
    let is_told = before.ends_with(&[format!("processes::{name}")]);
    assert!(is_told, "{name} is a process that another test starts");
    last.to_vec().try_into().unwrap()
}

#[test]
#[ignore = "a service's process"]
fn service() {
    let [folder, name] = last_args("service");
    assert_eq!(services::run(Path::new(&folder), &name), ExitCode::SUCCESS);
}

#[test]
#[ignore = "a process that restarts a service, as a host's list entry does"]
fn restart() {
    let [folder, name] = last_args("restart");
    let (program, args) = as_process("service");
    let result = services::restart(Path::new(&folder), &name, &program, &args);
    assert_eq!(services::report(result), ExitCode::SUCCESS);
}

#[test]
#[ignore = "a lab with three services, which waits to be killed"]
fn lab() {
    let [base] = last_args("lab");
    let folder = folder::create(Path::new(&base)).unwrap();
    let (program, args) = as_process("service");
    for name in ["web", "dns", "mail"] {
        services::prepare(folder.path(), name, ServiceKind::Http).unwrap();
        services::start(folder.path(), name, &program, &args).unwrap();
    }
    fs::write(
        Path::new(&base).join("ready"),
        folder.path().to_str().unwrap(),
    )
    .unwrap();
    loop {
        std::thread::park();
    }
}

/// The process that serves this name now, as it wrote itself down.
pub(crate) fn pid_of(folder: &Path, name: &str) -> u32 {
    eventually("the service's process id", || {
        let line = fs::read_to_string(folder.join(format!("{name}.lock"))).ok()?;
        line.split(' ').next()?.parse().ok()
    })
}

/// Whether it runs; one that ended and was only not waited for does not.
pub(crate) fn is_running(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z")
}

/// The session it belongs to.
pub(crate) fn session_of(pid: u32) -> u32 {
    stat(pid).unwrap()[3].parse().unwrap()
}

/// The fields after the name: state, parent, group, session, …
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(
        stat.rsplit_once(") ")?
            .1
            .split(' ')
            .map(str::to_owned)
            .collect(),
    )
}

pub(crate) fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
