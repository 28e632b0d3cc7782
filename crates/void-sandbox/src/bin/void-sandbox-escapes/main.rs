//! For this crate's tests, never in a package: an agent process in other hands.
//!
//! It reads a plan and its targets as two lines of standard input, confines itself as an agent does, and then tries
//! everything that it must not, and a few things that it may. Each try is a line of standard output: its name, and
//! how it ended (`done`, `denied`, or another error, which no fence answers with).
//!
//! `escape N` does so on a kernel whose Landlock goes no further than step N. `unconfined` tries without any fence
//! what harms nobody, so that the tests know what was possible. `fills`, `grows` and `waits` use memory, write a
//! file and wait for the end.

mod files;
mod machine;
mod network;
mod processes;

use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use serde::Deserialize;
use void_sandbox::{Confined, Kernel, SandboxPlan, confine};

/// Where to. Everything of it is there.
#[derive(Deserialize)]
struct Targets {
    /// Of the server: `void.db`, `owner.token` and a folder `meta`; `agents/sibling/state/secret` in it.
    data: PathBuf,
    /// The agent's own folder, with the links `to-database`, `to-data` and `to-new` out of it.
    state: PathBuf,
    /// Read-only, with a file `agent.toml`.
    applied: PathBuf,
    /// A file that is not there, in a folder that everybody may write.
    outside: PathBuf,
    /// Somebody else's process.
    process: i32,
    /// Where the server listens, and where somebody else does.
    server_port: u16,
    other_port: u16,
    /// Where a Unix socket listens, by path and by name.
    socket: PathBuf,
    socket_name: String,
    /// A descriptor that nobody agreed on.
    descriptor: i32,
}

type Try = (&'static str, io::Result<()>);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((plan, targets)) = read() else {
        return ExitCode::from(2);
    };
    let (kernel, word) = match words.as_slice() {
        ["unconfined"] => return say(&outside(&targets)),
        ["escape", step] => (step.parse().unwrap_or(0), "escape"),
        [word] => (i32::MAX, *word),
        _ => return ExitCode::from(2),
    };
    let kernel = Kernel::of_this_machine().no_newer_than(kernel);
    let confined = match confine(&plan, kernel, &[0, 1, 2]) {
        Ok(confined) => confined,
        Err(why) => return say(&format!("not confined: {why}\n")),
    };
    let missing: Vec<String> = confined.missing.iter().map(ToString::to_string).collect();
    match word {
        "escape" => {
            let tries = inside(&targets, &confined);
            say(&format!("missing: {}\n{tries}", missing.join(", ")))
        }
        "fills" => fill(),
        "grows" => grow(),
        "waits" => {
            let _ = say("confined\n");
            loop {
                std::thread::park();
            }
        }
        _ => ExitCode::from(2),
    }
}

fn read() -> Option<(SandboxPlan, Targets)> {
    let mut lines = io::stdin().lock().lines();
    let plan = SandboxPlan::read(&lines.next()?.ok()?).ok()?;
    let targets = serde_json::from_str(&lines.next()?.ok()?).ok()?;
    Some((plan, targets))
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

fn inside(targets: &Targets, confined: &Confined) -> String {
    let mut tries = outside(targets);
    for (name, ended) in files::that_change(targets)
        .into_iter()
        .chain(processes::that_change(targets))
        .chain(processes::that_multiply())
        .chain(network::that_change())
        .chain(machine::that_change())
    {
        tries.push_str(&line(name, &ended));
    }
    for (name, ended) in files::that_are_allowed(confined)
        .into_iter()
        .chain(network::that_are_allowed(targets))
    {
        tries.push_str("allowed, ");
        tries.push_str(&line(name, &ended));
    }
    tries
}

/// What harms nobody without a fence.
fn outside(targets: &Targets) -> String {
    let tries = files::that_look(targets)
        .into_iter()
        .chain(processes::that_look(targets))
        .chain(network::that_look(targets))
        .chain(machine::that_look());
    tries.map(|(name, ended)| line(name, &ended)).collect()
}

/// A fence answers with EPERM or EACCES; a link that is not followed out of the sandbox likewise.
fn line(name: &str, ended: &io::Result<()>) -> String {
    match ended {
        Ok(()) => format!("{name}: done\n"),
        Err(why) if matches!(why.raw_os_error(), Some(libc::EPERM | libc::EACCES)) => {
            format!("{name}: denied\n")
        }
        Err(why) => format!("{name}: {why}\n"),
    }
}

fn fill() -> ExitCode {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for _ in 0..4096 {
        let mut more: Vec<u8> = Vec::new();
        if more.try_reserve_exact(1024 * 1024).is_err() {
            return say("denied\n");
        }
        more.resize(1024 * 1024, 1);
        all.push(more);
    }
    say("done\n")
}

fn grow() -> ExitCode {
    let block = [b'a'; 64 * 1024];
    let Ok(mut file) = fs::File::create("grown") else {
        return ExitCode::from(3);
    };
    for _ in 0..16 * 1024 {
        if file.write_all(&block).is_err() {
            return say("denied\n");
        }
    }
    say("done\n")
}

/// A system call by its number.
fn call(number: libc::c_long, arguments: [usize; 5]) -> io::Result<()> {
    let [a, b, c, d, e] = arguments;
    #[expect(
        unsafe_code,
        reason = "it is to be refused before it reads its arguments"
    )]
    // SAFETY: the pointers among the arguments are null or of values that live here.
    let answer = unsafe { libc::syscall(number, a, b, c, d, e, 0) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
