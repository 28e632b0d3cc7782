//! For this crate's tests, never in a package: an agent process that behaves as its first word says.
//!
//! `agent run` is what a real one does. All others read their two lines, as an agent does, and are not confined.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, thread};

use rustix::process::{getpid, setsid};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    #[expect(clippy::disallowed_methods, reason = "the one place that reads it")]
    let variable = |name: &str| env::var(name).ok();
    match words.as_slice() {
        ["agent", "run"] => return void_supervise::run_agent(variable),
        // A grandchild that has left everything that it could leave.
        ["orphan", file] => {
            let _ = setsid();
            let _ = fs::write(file, getpid().to_string());
            loop {
                thread::park();
            }
        }
        _ => {}
    }
    let mut lines = io::stdin().lock().lines();
    let (Some(Ok(token)), Some(Ok(_plan))) = (lines.next(), lines.next()) else {
        return ExitCode::from(2);
    };
    match words.as_slice() {
        ["silent"] => stay(),
        ["babbles"] => {
            tell("awake and much more than a word\n");
            stay()
        }
        ["crashes"] => {
            tell("asleep\n");
            ExitCode::from(3)
        }
        ["leaks"] => {
            println!("my token is {token}");
            eprintln!("{token}");
            tell("asleep\n");
            stay()
        }
        ["floods"] => {
            tell("asleep\n");
            let block = [b'a'; 1000];
            loop {
                let _ = io::stdout().write_all(&block);
                let _ = io::stdout().write_all(b"\n");
            }
        }
        // It does not listen, and leaves somebody behind.
        ["clings", file] => {
            start("/proc/self/exe", &["orphan", file]);
            tell("asleep\n");
            stay()
        }
        _ => ExitCode::from(2),
    }
}

fn stay() -> ExitCode {
    thread::sleep(Duration::from_secs(600));
    ExitCode::SUCCESS
}

fn tell(word: &str) {
    let _ = rustix::io::write(io::stdin(), word.as_bytes());
}

/// Twice removed: nobody here waits for it.
#[expect(
    clippy::disallowed_methods,
    reason = "what it leaves behind is to be found"
)]
fn start(program: &str, words: &[&str]) {
    let _ = std::process::Command::new(program).args(words).spawn();
}
