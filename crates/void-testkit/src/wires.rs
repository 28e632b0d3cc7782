//! A wire to a PostgreSQL server that notes which statements go over it, so that a test can count them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

const SOCKET: &str = ".s.PGSQL.5432";
/// Of the first message, which has no type: its length.
const LENGTH_BYTES: usize = 4;

/// What a connection has sent: the text of a simple statement, or nothing for one that was prepared before.
type Sent = Arc<Mutex<Vec<Option<String>>>>;

pub struct Wire {
    folder: TempDir,
    database: String,
    connections: Arc<Mutex<Vec<Sent>>>,
    rollbacks: Arc<AtomicUsize>,
}

impl Wire {
    /// In front of the database at this address, on this machine.
    pub fn start(url: &str) -> Self {
        let (server, database) = url
            .strip_prefix("postgres://postgres@")
            .and_then(|rest| rest.split_once('/'))
            .expect("an address of the test cluster");
        let server = PathBuf::from(server.replace("%2F", "/")).join(SOCKET);
        let folder = tempfile::tempdir_in("/tmp").expect("there is room for a socket");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("it is free");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&connections);
        let rollbacks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&rollbacks);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let sent = Sent::default();
                all.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Arc::clone(&sent));
                tokio::spawn(carry(client, server.clone(), sent, Arc::clone(&counted)));
            }
        });
        Self {
            folder,
            database: database.to_owned(),
            connections,
            rollbacks,
        }
    }

    pub fn url(&self) -> String {
        let socket = self.folder.path().display().to_string();
        format!(
            "postgres://postgres@{}/{}",
            socket.replace('/', "%2F"),
            self.database
        )
    }

    /// How many whole transactions were taken back so far, a flight that did not land among them.
    pub fn rollbacks(&self) -> usize {
        self.rollbacks.load(Ordering::SeqCst)
    }

    /// How many statements each transaction had that a flight made and committed since the last call.
    pub fn flights(&self) -> Vec<usize> {
        let connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut flights = Vec::new();
        for sent in connections.iter() {
            let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
            let is_commit = |text: &Option<String>| {
                text.as_ref()
                    .is_some_and(|text| text.starts_with("NOTIFY") && text.ends_with("COMMIT"))
            };
            while let Some(at) = sent.iter().position(is_commit) {
                let statements: Vec<Option<String>> = sent.drain(..=at).collect();
                let begins = |text: &Option<String>| {
                    text.as_ref()
                        .is_some_and(|text| text.starts_with("BEGIN; SET LOCAL"))
                };
                if let Some(begun) = statements.iter().position(begins) {
                    flights.push(statements.len() - begun);
                }
            }
        }
        flights
    }
}

async fn carry(mut client: UnixStream, server: PathBuf, sent: Sent, rollbacks: Arc<AtomicUsize>) {
    let Ok(mut server) = UnixStream::connect(server).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let forth = async {
        let (mut buffer, mut unread, mut is_first) = (vec![0; 65_536], Vec::new(), true);
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            let chunk = buffer.get(..read).unwrap_or_default();
            unread.extend_from_slice(chunk);
            let new = note(&mut unread, &mut is_first, &sent);
            rollbacks.fetch_add(new, Ordering::SeqCst);
            if to_server.write_all(chunk).await.is_err() {
                break;
            }
        }
    };
    let back = tokio::io::copy(&mut from_server, &mut to_client);
    tokio::select! {
        () = forth => {}
        _ = back => {}
    }
}

/// Takes whole messages off what was read. How many of them take back a transaction.
fn note(unread: &mut Vec<u8>, is_first: &mut bool, sent: &Sent) -> usize {
    let mut rollbacks = 0;
    loop {
        let type_bytes = usize::from(!*is_first);
        let length = unread
            .get(type_bytes..type_bytes + LENGTH_BYTES)
            .and_then(|bytes| bytes.try_into().ok())
            .map(u32::from_be_bytes);
        let Some(end) = length.map(|length| type_bytes + length as usize) else {
            return rollbacks;
        };
        if unread.len() < end {
            return rollbacks;
        }
        let message: Vec<u8> = unread.drain(..end).collect();
        let kind = message.first().filter(|_| !*is_first);
        *is_first = false;
        let statement = match kind {
            Some(b'Q') => {
                let text = message.get(type_bytes + LENGTH_BYTES..end - 1);
                Some(Some(
                    String::from_utf8_lossy(text.unwrap_or_default()).into_owned(),
                ))
            }
            // Executes what was bound.
            Some(b'E') => Some(None),
            _ => None,
        };
        let is_rollback = matches!(&statement, Some(Some(text)) if text == "ROLLBACK");
        rollbacks += usize::from(is_rollback);
        let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.extend(statement);
    }
}
