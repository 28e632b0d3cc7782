//! An HTTP proxy on a socket of its own. Whatever host it is asked for, it goes to the one server that the test
//! gave it, so only what came through it can arrive there; and it remembers what it saw.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::http::{Request, read_request};
use crate::listening::Listening;

pub struct Proxy {
    listening: Listening,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// In front of `to`.
    pub fn start(to: SocketAddr) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let listening = Listening::start(0, move |listener| accept(listener, to, noted));
        Self { listening, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.listening.address)
    }

    /// What it was asked for, method and address each.
    pub fn seen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

async fn accept(listener: TcpListener, to: SocketAddr, seen: Arc<Mutex<Vec<String>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(pass_on(stream, to, Arc::clone(&seen)));
    }
}

/// Request after request, until one asks for a tunnel or somebody hangs up.
async fn pass_on(mut client: TcpStream, to: SocketAddr, seen: Arc<Mutex<Vec<String>>>) {
    let mut unread = Vec::new();
    while let Some(request) = read_request(&mut client, &mut unread).await {
        let line = format!("{} {}", request.method, request.path);
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
        let Ok(mut server) = TcpStream::connect(to).await else {
            return;
        };
        if request.method == "CONNECT" {
            let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
            if client.write_all(agreed).await.is_ok() {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            }
            return;
        }
        let Some(answer) = ask(&mut server, &request).await else {
            return;
        };
        if client.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// The whole answer of the server, byte for byte.
async fn ask(server: &mut TcpStream, request: &Request) -> Option<Vec<u8>> {
    // Absolute on the way to a proxy, a path on the way to a server.
    let path = request.path.splitn(4, '/').nth(3).unwrap_or_default();
    let head = format!(
        "{} /{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
        request.method,
        request.header("host"),
        request.header("content-type"),
        request.body.len()
    );
    server.write_all(head.as_bytes()).await.ok()?;
    server.write_all(&request.body).await.ok()?;
    let mut answer = Vec::new();
    loop {
        let head_end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(head_end) = head_end {
            let head = String::from_utf8_lossy(answer.get(..head_end)?).to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length?.trim().parse().ok()?;
            if answer.len() >= head_end + 4 + length {
                return Some(answer);
            }
        }
        let more = server.read_buf(&mut answer).await;
        if !matches!(more, Ok(more) if more > 0) {
            return None;
        }
    }
}
