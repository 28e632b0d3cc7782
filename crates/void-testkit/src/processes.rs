//! Processes that cannot outlive the test that started them.

use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A process tied to this one by a pipe: when the test ends, however it ends, the pipe closes and a
/// small shell beside the process kills it and cleans up.
pub struct Tethered {
    watcher: Child,
    _tether: ChildStdin,
}

impl Tethered {
    /// `command` is a shell line that ends up as the process itself (begin it with `exec`), `cleanup`
    /// runs after it is gone.
    pub fn start(command: &str, cleanup: &str) -> Self {
        let script = format!(
            "({command}) & pid=$!; cat >/dev/null; kill -INT $pid 2>/dev/null; wait $pid; {cleanup}"
        );
        let mut watcher = Command::new("/bin/sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("/bin/sh starts");
        let tether = watcher.stdin.take().expect("the tether is a pipe");
        Self {
            watcher,
            _tether: tether,
        }
    }

    /// Whether the process has ended by itself, which a harness should say rather than wait for.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.watcher.try_wait(), Ok(Some(_)))
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener
        .local_addr()
        .expect("a bound socket has an address")
        .port()
}
