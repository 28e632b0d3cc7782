//! The service process itself.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::folder::ALIVE;
use crate::services::files::{ServiceFiles, ServiceKind};
use crate::services::processes::Owner;
use crate::services::{ServiceError, report};

const CONNECTIONS_MAX: usize = 64;
const REQUEST_BYTES_MAX: usize = 8192;
const REQUEST_TIME_MAX: Duration = Duration::from_secs(2);
/// A predecessor's lock and port may take a moment to be let go.
const TAKE_OVER_TIME_MAX: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Serves `name` as `folder` says, in a session of its own, until it is ended or the lab is gone. Returns
/// only when it could not begin.
pub fn run(folder: &Path, name: &str) -> ExitCode {
    // Fails if the caller gave it a group of its own already, which does as well.
    let _ = rustix::process::setsid();
    report(serve(folder, name).map(|()| format!("{name} ended")))
}

fn serve(folder: &Path, name: &str) -> Result<(), ServiceError> {
    let files = ServiceFiles::new(folder, name)?;
    let plan = files.plan()?;
    if files.is_broken() {
        return Err(ServiceError::Broken(name.to_owned()));
    }
    end_with_lab(folder).map_err(|error| files.failed(error))?;
    let lock = files.lock_file()?;
    let locked = patiently(|| match lock.try_lock() {
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Ok(()) => Ok(()),
    });
    locked.map_err(|error| files.failed(error))?;
    let listener = patiently(|| TcpListener::bind((Ipv4Addr::LOCALHOST, plan.port)));
    let listener = listener.map_err(|error| files.failed(error))?;
    let owner =
        Owner::this_process().ok_or_else(|| files.failed(io::ErrorKind::NotFound.into()))?;
    files.write_owner(&lock, owner)?;
    accept(&listener, plan.kind, &Arc::from(name));
    Ok(())
}

/// The lab holds `alive`; whoever gets it too knows that the lab is gone.
fn end_with_lab(folder: &Path) -> io::Result<()> {
    let alive = File::open(folder.join(ALIVE))?;
    // Before anything is served: the thread alone could be late.
    match alive.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => return Err(io::Error::other("its lab is gone")),
    }
    let wait = move || {
        while alive
            .lock_shared()
            .is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
        {}
        // Nothing is left to tidy up: what this process holds, the kernel lets go of.
        std::process::exit(0);
    };
    std::thread::Builder::new()
        .name("lab-gone".to_owned())
        .spawn(wait)?;
    Ok(())
}

fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(error) if begun.elapsed() > TAKE_OVER_TIME_MAX => return Err(error),
            Err(_) => std::thread::sleep(LOOK_AGAIN),
            done => return done,
        }
    }
}

fn accept(listener: &TcpListener, kind: ServiceKind, name: &Arc<str>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            std::thread::sleep(LOOK_AGAIN);
            continue;
        };
        // To accept is all that a TCP service does.
        if kind == ServiceKind::Tcp || open.load(Ordering::Relaxed) >= CONNECTIONS_MAX {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (counted, name) = (Arc::clone(&open), Arc::clone(name));
        let answer = move || {
            let _ = answer(stream, &name);
            counted.fetch_sub(1, Ordering::Relaxed);
        };
        if std::thread::Builder::new().spawn(answer).is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn answer(mut stream: TcpStream, name: &str) -> io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_TIME_MAX))?;
    stream.set_write_timeout(Some(REQUEST_TIME_MAX))?;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        if count == 0 || request.len() > REQUEST_BYTES_MAX {
            return Ok(());
        }
        request.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
    let body = format!("{name} is up (rehearsal)\n");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if !request.starts_with(b"HEAD ") {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}
