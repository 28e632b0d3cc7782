//! Other processes, and more of itself.

use std::io;
use std::thread;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, kill_process, prlimit, setpriority_process, setrlimit,
    test_kill_process, test_kill_process_group,
};

use crate::{Targets, Try, call};

pub(super) fn that_look(targets: &Targets) -> Vec<Try> {
    let process = targets.process;
    vec![
        (
            "signal another process",
            signal(Pid::from_raw(process), Signal::CONT),
        ),
        ("signal the server", signal(getppid(), Signal::CONT)),
        (
            "look whether a process is there",
            with(Pid::from_raw(process), test_kill_process),
        ),
        (
            "hold another process",
            call(libc::SYS_pidfd_open, [number(process), 0, 0, 0, 0]),
        ),
        ("start a program", start("/bin/true")),
        (
            "start a thread",
            thread::Builder::new().spawn(|| {}).map(drop),
        ),
        ("raise its limits", raise()),
    ]
}

pub(super) fn that_change(targets: &Targets) -> Vec<Try> {
    let (pid, process) = (targets.process, number(targets.process));
    let attach = usize::try_from(libc::PTRACE_SEIZE).unwrap_or(0);
    vec![
        (
            "kill another process",
            signal(Pid::from_raw(targets.process), Signal::KILL),
        ),
        ("kill the server", signal(getppid(), Signal::KILL)),
        (
            "signal everybody",
            call(libc::SYS_kill, [usize::MAX, 0, 0, 0, 0]),
        ),
        (
            "signal another's group",
            with(Pid::from_raw(pid), test_kill_process_group),
        ),
        ("signal its group", call(libc::SYS_kill, [0; 5])),
        (
            "queue a signal",
            call(libc::SYS_rt_sigqueueinfo, [process, 0, 0, 0, 0]),
        ),
        (
            "signal another's thread",
            call(libc::SYS_tgkill, [process, process, 0, 0, 0]),
        ),
        (
            "trace another process",
            call(libc::SYS_ptrace, [attach, process, 0, 0, 0]),
        ),
        ("be traced", call(libc::SYS_ptrace, [0; 5])),
        (
            "read another's memory",
            call(libc::SYS_process_vm_readv, [process, 0, 0, 0, 0]),
        ),
        (
            "write another's memory",
            call(libc::SYS_process_vm_writev, [process, 0, 0, 0, 0]),
        ),
        (
            "take another's descriptor",
            call(libc::SYS_pidfd_getfd, [0; 5]),
        ),
        ("limit another process", limit(targets.process)),
        (
            "change another's priority",
            with(Pid::from_raw(targets.process), |process| {
                setpriority_process(Some(process), 19)
            }),
        ),
        (
            "raise its priority",
            call(libc::SYS_setpriority, [0, 0, 0, 0, 0]),
        ),
    ]
}

/// More of itself, and less of what holds it.
pub(super) fn that_multiply() -> Vec<Try> {
    vec![
        ("fork", fork(libc::SYS_clone, 17)),
        ("fork in a new way", fork(libc::SYS_clone3, 0)),
        #[cfg(target_arch = "x86_64")]
        ("fork in the old way", fork(libc::SYS_fork, 0)),
        #[cfg(target_arch = "x86_64")]
        ("fork and wait", fork(libc::SYS_vfork, 0)),
        ("start itself", start("/proc/self/exe")),
        (
            "make a program in memory",
            call(libc::SYS_memfd_create, [0; 5]),
        ),
        ("run by descriptor", call(libc::SYS_execveat, [0; 5])),
        ("make memory a program", executable()),
        ("leave its session", call(libc::SYS_setsid, [0; 5])),
        ("leave its group", call(libc::SYS_setpgid, [0; 5])),
        ("outlive the server", call(libc::SYS_prctl, [1, 0, 0, 0, 0])),
        ("be dumped", call(libc::SYS_prctl, [4, 1, 0, 0, 0])),
    ]
}

fn with(process: Option<Pid>, tries: impl FnOnce(Pid) -> rustix::io::Result<()>) -> io::Result<()> {
    let process = process.ok_or(io::ErrorKind::InvalidInput)?;
    tries(process).map_err(io::Error::from)
}

fn signal(process: Option<Pid>, signal: Signal) -> io::Result<()> {
    with(process, |process| kill_process(process, signal))
}

fn number(process: i32) -> usize {
    usize::try_from(process).unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "it is to be refused")]
fn start(program: &str) -> io::Result<()> {
    std::process::Command::new(program).status().map(drop)
}

/// If there are two of it now, the second one is gone before it does anything.
fn fork(number: libc::c_long, flags: usize) -> io::Result<()> {
    let before = std::process::id();
    let ended = call(number, [flags, 0, 0, 0, 0]);
    if std::process::id() != before {
        std::process::exit(0);
    }
    ended
}

fn limits(most: u64) -> Rlimit {
    Rlimit {
        current: Some(most),
        maximum: Some(most),
    }
}

fn limit(process: i32) -> io::Result<()> {
    prlimit(Pid::from_raw(process), Resource::Core, limits(0))
        .map(drop)
        .map_err(io::Error::from)
}

fn raise() -> io::Result<()> {
    let more = limits(1024 * 1024 * 1024 * 1024);
    setrlimit(Resource::Fsize, more).map_err(io::Error::from)
}

fn executable() -> io::Result<()> {
    let rights = usize::try_from(libc::PROT_READ | libc::PROT_EXEC).unwrap_or(0);
    let flags = usize::try_from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS).unwrap_or(0);
    call(libc::SYS_mmap, [0, 4096, rights, flags, usize::MAX])
}
