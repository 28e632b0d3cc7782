//! Ends the process, hard, at the point that the environment names; for tests only.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::settings::Environment;

static CHOSEN: OnceLock<(String, u32)> = OnceLock::new();
static SEEN: AtomicU32 = AtomicU32::new(0);

/// `VOID_FAILPOINT=name` or `name#3` for the third time it is reached.
pub(crate) fn install(environment: &Environment) {
    let Some(text) = environment.get("VOID_FAILPOINT") else {
        return;
    };
    let (name, times) = match text.split_once('#') {
        Some((name, times)) => (name, times.parse().unwrap_or(1)),
        None => (text, 1),
    };
    let _ = CHOSEN.set((name.to_owned(), times));
    void_domain::failpoints::install(|name| {
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
