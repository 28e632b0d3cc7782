//! Processes that cannot outlive the test that started them, and a look at what runs on the machine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::process::{Pid, kill_process, kill_process_group};

pub use rustix::process::Signal;

/// A process tied to this one by a pipe: when the test ends, however it ends, the pipe closes and a
/// small shell beside the process ends it and cleans up.
pub struct Tethered {
    process: Child,
    signal: Signal,
    watcher: Child,
    tether: Option<ChildStdin>,
}

impl Tethered {
    /// `command` is a shell line that ends up as the process itself (begin it with `exec`); `signal`
    /// is what it ends at; `cleanup` is a shell line that runs after it is gone.
    pub fn start(command: &str, signal: Signal, cleanup: &str) -> Self {
        let process = shell(command)
            .stdin(Stdio::null())
            .spawn()
            .expect("/bin/sh starts");
        let (pid, number) = (process.id(), signal.as_raw());
        let mut watcher = shell(&format!(
            "cat >/dev/null; kill -{number} {pid} 2>/dev/null; \
             while kill -0 {pid} 2>/dev/null; do sleep 0.02; done; {cleanup}"
        ))
        .stdin(Stdio::piped())
        .spawn()
        .expect("/bin/sh starts");
        let tether = watcher.stdin.take();
        Self {
            process,
            signal,
            watcher,
            tether,
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Whether the process has ended by itself, which a harness should say rather than wait for.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)))
    }
}

impl Drop for Tethered {
    fn drop(&mut self) {
        if !self.has_ended() {
            signal(self.process.id(), self.signal);
        }
        let _ = self.process.wait();
        self.tether = None;
        let _ = self.watcher.wait();
    }
}

/// In a group of its own: an interrupt at the terminal ends the test, and then the watcher has work.
fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
}

/// One line of the kernel's process table.
#[derive(Debug, Clone)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    /// The program's name, cut to 15 bytes by the kernel.
    pub name: String,
    /// Its arguments, each followed by a space; empty for one that has ended and was not waited for.
    pub line: String,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (head, tail) = stat.rsplit_once(") ")?;
        let mut fields = tail.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(Self {
            pid,
            parent,
            name: head.split_once('(')?.1.to_owned(),
            line: String::from_utf8_lossy(&line).replace('\0', " "),
        })
        .filter(|_| state != "Z")
    }
}

/// Everything that runs, except what has ended and was not waited for.
pub fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// What was started with this path somewhere in its arguments.
pub fn processes_about(path: &Path) -> Vec<Process> {
    let needle = path.to_str().expect("our own paths are UTF-8");
    let mut found = processes();
    found.retain(|process| process.line.contains(needle));
    found
}

pub fn is_running(pid: u32) -> bool {
    Process::read(pid).is_some()
}

/// Sends a signal; a process that is gone already is fine.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = as_pid(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Sends a signal to a process and, if it leads a group, to the whole group.
pub fn signal_group(pid: u32, signal: Signal) {
    if let Some(pid) = as_pid(pid) {
        let _ = kill_process_group(pid, signal);
        let _ = kill_process(pid, signal);
    }
}

fn as_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// A port that was free a moment ago, below the range from which the kernel gives ports to outgoing
/// connections: those of parallel tests could otherwise take it before, or while, it is not in use.
pub fn free_port() -> u16 {
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    static TRIED: AtomicU16 = AtomicU16::new(0);
    // Test processes that run side by side begin at different places.
    let begin = u16::try_from(std::process::id() % 60 * 200).expect("less than 12,000");
    for _ in 0..COUNT {
        let tried = TRIED.fetch_add(1, Ordering::Relaxed) % COUNT;
        let port = FIRST + (begin + tried) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("loopback has no free port");
}
