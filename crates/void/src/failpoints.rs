//! Ends the process, hard, at the point that the environment names; for tests only. Every point that is reached leaves
//! a sign, if there is a place for signs: so a test knows what is still under way and waits for that alone.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::settings::Environment;

static CHOSEN: OnceLock<(String, u32)> = OnceLock::new();
static SEEN: AtomicU32 = AtomicU32::new(0);
static SIGNS: OnceLock<PathBuf> = OnceLock::new();

/// `VOID_FAILPOINT=name` or `name#3` for the third time it is reached; `VOID_FAILPOINT_SIGNS` names a file.
pub(crate) fn install(environment: &Environment) {
    let Some(text) = environment.get("VOID_FAILPOINT") else {
        return;
    };
    let (name, times) = match text.split_once('#') {
        Some((name, times)) => (name, times.parse().unwrap_or(1)),
        None => (text, 1),
    };
    let _ = CHOSEN.set((name.to_owned(), times));
    if let Some(path) = environment.get("VOID_FAILPOINT_SIGNS") {
        let _ = SIGNS.set(PathBuf::from(path));
    }
    void_domain::failpoints::install(|name| {
        leave_sign(name);
        let Some((chosen, times)) = CHOSEN.get() else {
            return;
        };
        if name == chosen && SEEN.fetch_add(1, Ordering::SeqCst) + 1 == *times {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
            // The signal is on its way; nothing after this point may run.
            loop {
                std::thread::park();
            }
        }
    });
}

/// One line for each time a point is reached, there before the process ends at it.
fn leave_sign(name: &str) {
    let Some(path) = SIGNS.get() else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(format!("{name}\n").as_bytes());
    }
}
