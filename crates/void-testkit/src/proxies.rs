//! An HTTP proxy on a socket of its own. Whatever host it is asked for, it goes to the one server that the test
//! gave it, so only what came through it can arrive there; and it remembers what it saw.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const HEAD_BYTES_MAX: usize = 64 * 1024;

pub struct Proxy {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// In front of `to`.
    pub fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener
            .set_nonblocking(true)
            .expect("a socket that does not block");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, to, noted) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            seen,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that anybody on the way could read: the heads of requests, and of tunnels their first lines.
    pub fn seen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, to: SocketAddr, seen: Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(pass_on(stream, to, Arc::clone(&seen)));
    }
}

/// One request per connection, which both sides are told: the next one comes with a head of its own.
async fn pass_on(mut client: TcpStream, to: SocketAddr, seen: Arc<Mutex<Vec<String>>>) {
    let mut read = Vec::new();
    let head_end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        let more = client.read_buf(&mut read).await;
        if read.len() > HEAD_BYTES_MAX || !matches!(more, Ok(more) if more > 0) {
            return;
        }
    };
    let rest = read.split_off(head_end);
    let head = String::from_utf8_lossy(&read).into_owned();
    seen.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(head.clone());
    let Ok(mut server) = TcpStream::connect(to).await else {
        return;
    };
    let begun = if head.starts_with("CONNECT ") {
        let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
        client.write_all(agreed).await
    } else {
        // Absolute on the way to a proxy, a path on the way to a server.
        let (line, headers) = head.split_once("\r\n").unwrap_or_default();
        let mut words = line.split(' ');
        let method = words.next().unwrap_or_default();
        let address = words.next().unwrap_or_default();
        let path = address.splitn(4, '/').nth(3).unwrap_or_default();
        let asked = format!("{method} /{path} HTTP/1.1\r\nconnection: close\r\n{headers}");
        server.write_all(asked.as_bytes()).await
    };
    if begun.is_ok() && server.write_all(&rest).await.is_ok() {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    }
}
