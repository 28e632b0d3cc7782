//! For this crate's tests, never in a package: a process that confines itself as an extractor does.
//!
//! `extract …` is what the hidden subcommand of the server runs. `extract-without-kernel …` is the same on a
//! kernel without Landlock, `extract-with-threads …` in a process that has two threads. `rest` confines itself and
//! waits, so that one can look at it from outside. `escape READ WRITE
//! PORT PID` confines itself and then tries everything that it must not; called as a reader of PDFs is called,
//! it is one, and does what the "PDF" says. Each try is a line of standard output: its name, and how it ended.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, thread};

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
use void_capture::{Isolation, Role, confine, run_extractor};

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let Some((first, rest)) = words.split_first() else {
        return ExitCode::from(2);
    };
    let extract = || {
        run_extractor(
            rest.iter().cloned(),
            io::stdin().lock(),
            io::stdout().lock(),
        )
    };
    match first.to_str() {
        Some("extract") => extract(),
        Some("extract-without-kernel") => match take_landlock_away() {
            Some(()) => extract(),
            None => ExitCode::from(3),
        },
        Some("extract-with-threads") => {
            let _second = thread::spawn(thread::park);
            extract()
        }
        Some("escape") => escape(rest),
        Some("rest") => rest_confined(rest),
        Some("-q") => read_pdf(),
        _ => ExitCode::from(2),
    }
}

/// As a kernel answers that was built without it.
fn take_landlock_away() -> Option<()> {
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    let rules: BTreeMap<_, _> = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let arch = ARCH.try_into().ok()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, arch).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    apply_filter(&program).ok()
}

fn escape(words: &[OsString]) -> ExitCode {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let Some([read, write, port, pid]) = words.as_deref() else {
        return ExitCode::from(2);
    };
    let (Ok(port), Ok(pid)) = (port.parse(), pid.parse()) else {
        return ExitCode::from(2);
    };
    if let Err(why) = confine(Isolation::Full, Role::Reader) {
        return say(&format!("confine: {why}\n"));
    }
    say(&tries(read, write, port, pid))
}

/// Confines itself as a reader, or as the program that is named, says so, and rests until its input ends.
fn rest_confined(words: &[OsString]) -> ExitCode {
    let role = match words {
        [] => Role::Reader,
        [program, ..] => Role::Program(Path::new(program)),
    };
    if let Err(why) = confine(Isolation::Full, role) {
        return say(&format!("confine: {why}\n"));
    }
    let said = say("confined\n");
    let _ = io::stdin().read(&mut [0]);
    said
}

/// The first line of a "PDF" of the tests says what its reader does.
fn read_pdf() -> ExitCode {
    let mut input = Vec::new();
    if io::stdin().lock().read_to_end(&mut input).is_err() {
        return ExitCode::from(1);
    }
    let text = String::from_utf8_lossy(&input);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let words: Vec<&str> = first.split(' ').skip(1).collect();
    match words.as_slice() {
        ["says"] => say(rest),
        ["ends", code] => ExitCode::from(code.parse().unwrap_or(1)),
        ["reports"] => {
            say(rest);
            ExitCode::from(90)
        }
        ["computes"] => loop {
            std::hint::spin_loop();
        },
        ["floods"] => {
            let block = [b'a'; 64 * 1024];
            while io::stdout().lock().write_all(&block).is_ok() {}
            ExitCode::SUCCESS
        }
        ["fills"] => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1_u8; 1024 * 1024]);
            }
        }
        ["escapes", read, write, port, pid] => {
            let (Ok(port), Ok(pid)) = (port.parse(), pid.parse()) else {
                return ExitCode::from(2);
            };
            say(&tries(read, write, port, pid))
        }
        _ => ExitCode::from(1),
    }
}

fn say(text: &str) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(4),
    }
}

fn tries(read: &str, write: &str, port: u16, pid: i32) -> String {
    let address = ("127.0.0.1", port);
    let attempts: [(&str, io::Result<()>); 24] = [
        ("read a file", fs::read(read).map(drop)),
        ("read the accounts", fs::read("/etc/passwd").map(drop)),
        ("read its memory map", fs::read("/proc/self/maps").map(drop)),
        (
            "read another's environment",
            fs::read(format!("/proc/{pid}/environ")).map(drop),
        ),
        ("list a folder", fs::read_dir("/").map(drop)),
        ("write a file", fs::write(write, "x")),
        (
            "empty a file",
            fs::OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(read)
                .map(drop),
        ),
        ("remove a file", fs::remove_file(read)),
        ("make a folder", fs::create_dir(write)),
        ("link a file", std::os::unix::fs::symlink(read, write)),
        (
            "change a file's mode",
            fs::set_permissions(read, fs::Permissions::from_mode(0o777)),
        ),
        ("connect", TcpStream::connect(address).map(drop)),
        ("listen", TcpListener::bind(("127.0.0.1", 0)).map(drop)),
        (
            "send a datagram",
            UdpSocket::bind(("127.0.0.1", 0)).map(drop),
        ),
        ("open a Unix socket", UnixDatagram::unbound().map(drop)),
        ("pair Unix sockets", UnixStream::pair().map(drop)),
        (
            "look up a name",
            std::net::ToSocketAddrs::to_socket_addrs("localhost:80").map(drop),
        ),
        ("start a program", start("/bin/true")),
        ("start itself", start("/proc/self/exe")),
        (
            "start a thread",
            thread::Builder::new().spawn(|| {}).map(drop),
        ),
        ("signal another process", signal(pid)),
        ("raise its limits", raise()),
        ("find an environment", environment()),
        ("limit another process", limit(pid)),
    ];
    let lines = attempts.into_iter().map(|(name, ended)| match ended {
        Ok(()) => format!("{name}: done\n"),
        Err(_) => format!("{name}: denied\n"),
    });
    lines.collect()
}

#[expect(clippy::disallowed_methods, reason = "it is to be refused")]
fn start(program: &str) -> io::Result<()> {
    std::process::Command::new(program).status().map(drop)
}

fn signal(pid: i32) -> io::Result<()> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    kill_process(pid, Signal::CONT).map_err(io::Error::from)
}

fn limit(pid: i32) -> io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Pid::from_raw(pid), Resource::Core, none)
        .map(drop)
        .map_err(io::Error::from)
}

fn environment() -> io::Result<()> {
    let found = env::vars_os().next();
    found
        .map(drop)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn raise() -> io::Result<()> {
    let more = Rlimit {
        current: Some(1024 * 1024 * 1024 * 1024),
        maximum: Some(1024 * 1024 * 1024 * 1024),
    };
    setrlimit(Resource::As, more).map_err(io::Error::from)
}
