//! One process makes room for the next without closing the door: the program is replaced in place, and the listening
//! socket goes along as its standard input. Within a process the catalogue stays as it is.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use void_server::Bound;

use crate::settings::Environment;

/// Says to the next process that its standard input is the listening socket.
const INHERITED: &str = "VOID_INHERITED_LISTENER";

/// The socket that the process before this one left, if it is the one to listen on.
pub(crate) fn inherited(environment: &Environment, wanted: std::net::SocketAddr) -> Option<Bound> {
    environment.get(INHERITED)?;
    let socket = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().ok()?;
    let is_wanted = address == wanted || (wanted.port() == 0 && address.ip() == wanted.ip());
    is_wanted
        .then(|| Bound::from_listener(listener).ok())
        .flatten()
}

/// Becomes the next process. Returns only if that failed.
#[expect(
    clippy::disallowed_methods,
    reason = "this very program again, with its own arguments"
)]
pub(crate) fn replace(socket: OwnedFd) -> io::Error {
    let program = match program() {
        Ok(program) => program,
        Err(error) => return error,
    };
    Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(INHERITED, "1")
        .stdin(Stdio::from(socket))
        .exec()
}

/// Where this program is; after an upgrade, the new one in the same place.
pub(crate) fn program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let replaced = program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(replaced.map(PathBuf::from).unwrap_or(program))
}
