//! The shared connections of each host: a few commands on each, so that a host with the usual
//! `MaxSessions` takes them all, and a few connections, so that slow actions hold up no other.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::UnixStream;
use tokio::sync::{Mutex, MutexGuard, OwnedSemaphorePermit, Semaphore};
use void_domain::digests::Digest;

/// sshd takes 10 sessions per connection unless told otherwise.
const COMMANDS_PER_CONNECTION: usize = 8;
const CONNECTIONS_PER_HOST: usize = 4;

pub(super) struct Connections {
    run_folder: PathBuf,
    hosts: Mutex<BTreeMap<Digest, [Arc<SharedConnection>; CONNECTIONS_PER_HOST]>>,
}

struct SharedConnection {
    places: Arc<Semaphore>,
    /// Where the process that holds the connection listens, if there is one.
    socket: Mutex<Option<PathBuf>>,
}

impl Default for SharedConnection {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(COMMANDS_PER_CONNECTION)),
            socket: Mutex::default(),
        }
    }
}

/// A place on one connection, held for as long as a command uses it.
pub(super) struct SocketSlot {
    connection: Arc<SharedConnection>,
    _held: Option<OwnedSemaphorePermit>,
}

impl Connections {
    pub(super) fn new(run_folder: &Path) -> Self {
        Self {
            run_folder: run_folder.to_owned(),
            hosts: Mutex::default(),
        }
    }

    /// A place on the first connection that has one; waits if there is none. `identity` stands for
    /// everything that makes a connection this host's: address, account, the keys it may show.
    pub(super) async fn place(&self, identity: Digest) -> SocketSlot {
        let connections = self.hosts.lock().await.entry(identity).or_default().clone();
        for connection in &connections {
            if let Ok(held) = Arc::clone(&connection.places).try_acquire_owned() {
                return SocketSlot {
                    connection: Arc::clone(connection),
                    _held: Some(held),
                };
            }
        }
        let [first, ..] = connections;
        SocketSlot {
            // Only a closed semaphore gives no place, and nobody closes it.
            _held: Arc::clone(&first.places).acquire_owned().await.ok(),
            connection: first,
        }
    }

    /// A name that no other connection has or had, of this process or another: a process that ends
    /// late takes its socket's name away with it.
    pub(super) fn new_socket(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{} {count}", std::process::id());
            let path = self.run_folder.join(Digest::of(name.as_bytes()).short());
            if !path.exists() {
                return path;
            }
        }
    }
}

impl SocketSlot {
    /// The connection's socket. Whoever holds this may open it anew.
    pub(super) async fn socket(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.connection.socket.lock().await
    }

    /// The next command opens another connection than this one, which does not answer any more.
    pub(super) async fn forget(&self, socket: &Path) {
        let mut present = self.socket().await;
        if present.as_deref() == Some(socket) {
            *present = None;
        }
    }
}

/// Whether somebody listens there.
pub(super) async fn is_alive(socket: &Path) -> bool {
    match UnixStream::connect(socket).await {
        Ok(_) => true,
        Err(error) => {
            if error.kind() == ErrorKind::ConnectionRefused {
                // Left by a process that was killed.
                let _ = std::fs::remove_file(socket);
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_host_has_so_many_places_and_no_more() {
        let connections = Connections::new(Path::new("/nonexistent"));
        let host = Digest::of(b"host");
        let mut places = Vec::new();
        for number in 0..CONNECTIONS_PER_HOST * COMMANDS_PER_CONNECTION {
            let place = connections.place(host).await;
            let first = number / COMMANDS_PER_CONNECTION * COMMANDS_PER_CONNECTION;
            let same = places.get(first).is_none_or(|earlier: &SocketSlot| {
                Arc::ptr_eq(&earlier.connection, &place.connection)
            });
            assert!(same, "{number} is not on the connection of {first}");
            places.push(place);
        }
        let soon = Duration::from_millis(20);
        let more = tokio::time::timeout(soon, connections.place(host)).await;
        assert!(more.is_err());
        // Another host has its own, and an end makes room.
        connections.place(Digest::of(b"other")).await;
        places.truncate(1);
        connections.place(host).await;
    }

    #[tokio::test]
    async fn a_forgotten_connection_is_not_forgotten_twice() {
        let connections = Connections::new(Path::new("/nonexistent"));
        let place = connections.place(Digest::of(b"host")).await;
        let (old, new) = (connections.new_socket(), connections.new_socket());
        assert_ne!(old, new);
        *place.socket().await = Some(new.clone());
        place.forget(&old).await;
        assert_eq!(*place.socket().await, Some(new.clone()));
        place.forget(&new).await;
        assert_eq!(*place.socket().await, None);
    }
}
