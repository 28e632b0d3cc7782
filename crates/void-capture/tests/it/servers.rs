//! Servers that do what a test says, byte by byte, and remember what they were asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

pub(crate) enum Reply {
    /// And then the connection ends.
    Whole(Vec<u8>),
    /// And then nothing comes any more, and nothing ends.
    ThenSilence(Vec<u8>),
    /// A head, and then this piece without end.
    Endless(Vec<u8>, Vec<u8>),
    /// One byte after the other.
    Drip(Vec<u8>, Duration),
}

pub(crate) type Script = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(script: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_with(script, None).await
    }

    pub(crate) async fn start_with(
        script: impl Fn(&str) -> Reply + Send + Sync + 'static,
        tls: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let script: Script = Arc::new(script);
        let (heard, counted) = (Arc::clone(&requests), Arc::clone(&connections));
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let (script, heard) = (Arc::clone(&script), Arc::clone(&heard));
                let tls = tls.clone();
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, script, heard).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, script, heard).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            address,
            requests,
            connections,
            task,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What the owner would write to allow this server.
    pub(crate) fn allowance(&self) -> String {
        self.address.to_string()
    }

    /// The heads of all requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    script: Script,
    heard: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte).await {
            // A client that begins to speak TLS: it hears that this is no such server.
            Ok(1..) if head.is_empty() && byte == [0x16] => {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
                return;
            }
            Ok(1..) => head.extend(byte),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    heard.lock().unwrap().push(head.clone());
    match script(&head) {
        Reply::Whole(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::ThenSilence(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.flush().await;
            std::future::pending::<()>().await;
        }
        Reply::Endless(head, piece) => {
            let _ = stream.write_all(&head).await;
            while stream.write_all(&piece).await.is_ok() {}
        }
        Reply::Drip(bytes, pause) => {
            for byte in bytes {
                if stream.write_all(&[byte]).await.is_err() || stream.flush().await.is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        }
    }
}

/// A whole answer: status line, these header lines, the length, the body.
pub(crate) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Reply {
    let mut bytes = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for header in headers {
        bytes.extend(format!("{header}\r\n").bytes());
    }
    bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    Reply::Whole(bytes)
}

pub(crate) fn page(body: &str) -> Reply {
    answer(
        "200 OK",
        &["Content-Type: text/html; charset=utf-8"],
        body.as_bytes(),
    )
}

pub(crate) fn moved(location: &str) -> Reply {
    answer("302 Found", &[&format!("Location: {location}")], b"")
}
