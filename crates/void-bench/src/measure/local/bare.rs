//! The least that running a command is: fork, exec, pipes, wait.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::servers::own_program;
use crate::statistics::Round;

/// What this program does when it starts itself: so many threads that start the program, read what it says and wait.
/// It prints how long each start took, in microseconds, after the time that all took.
pub(crate) fn start_programs(program: &Path, at_once: usize, duration: Duration) -> Outcome<()> {
    let begun = Instant::now();
    let mut all = Vec::new();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once)
            .map(|_| scope.spawn(|| start_until(program, begun + duration)))
            .collect();
        for thread in threads {
            let micros = thread.join().map_err(|_| "a thread broke off")??;
            all.extend(micros);
        }
        Outcome::Ok(())
    })?;
    let words: Vec<String> = std::iter::once(begun.elapsed().as_micros().to_string())
        .chain(all.iter().map(u32::to_string))
        .collect();
    println!("{}", words.join(" "));
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "starting programs is what is measured"
)]
fn start_until(program: &Path, until: Instant) -> Outcome<Vec<u32>> {
    let mut micros = Vec::new();
    while Instant::now() < until {
        let asked = Instant::now();
        let ended = Command::new(program).stdin(Stdio::null()).output()?;
        if !ended.status.success() {
            return Err(format!("{} failed", program.display()).into());
        }
        micros.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    Ok(micros)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark starts itself as what is measured beside Void"
)]
pub(super) fn in_a_process(program: &Path, at_once: usize, duration: Duration) -> Outcome<Round> {
    let ended = Command::new(own_program()?)
        .arg("start-programs")
        .arg("--program")
        .arg(program)
        .args(["--at-once", &at_once.to_string()])
        .args(["--ms", &duration.as_millis().to_string()])
        .output()?;
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned().into());
    }
    let said = String::from_utf8(ended.stdout)?;
    let mut words = said.split_whitespace();
    let elapsed = words.next().ok_or("no time was told")?.parse()?;
    let micros = words.map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    Ok(Round::new(micros, Duration::from_micros(elapsed)))
}
