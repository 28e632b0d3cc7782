//! HTTP written by hand, for what no proper client would send.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Longer than every limit of the server.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn code(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        body["error"]["code"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    pub const fn over(stream: TcpStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// `false` once the other side is gone.
    pub async fn write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Says that nothing more will be sent.
    pub async fn finish(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// The next answer; `None` if the connection ends without one.
    pub async fn read(&mut self) -> Option<Reply> {
        let reading = tokio::time::timeout(PATIENCE, self.read_reply());
        reading.await.expect("an answer or an end")
    }

    async fn read_reply(&mut self) -> Option<Reply> {
        let end = loop {
            if let Some(at) = find(&self.unread, b"\r\n\r\n") {
                break at;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(self.unread.get(..end)?).to_lowercase();
        self.unread.drain(..end + 4);
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.trim().parse().unwrap());
        // A body without a length is a stream; nobody here reads one.
        while self.unread.len() < length {
            self.more().await?;
        }
        let body = self.unread.drain(..length).collect();
        Some(Reply { status, head, body })
    }

    async fn more(&mut self) -> Option<()> {
        let count = self.stream.read_buf(&mut self.unread).await.ok()?;
        (count > 0).then_some(())
    }

    /// Waits until this was said.
    pub async fn heard(&mut self, words: &str) {
        let hearing = async {
            while find(&self.unread, words.as_bytes()).is_none() {
                self.more().await.expect("the stream goes on");
            }
        };
        let heard = tokio::time::timeout(PATIENCE, hearing).await;
        heard.unwrap_or_else(|_| panic!("nobody said {words}"));
    }

    /// Whether this was said already.
    pub fn has_heard(&self, words: &str) -> bool {
        find(&self.unread, words.as_bytes()).is_some()
    }

    /// Waits for the other side to end the connection; how long that took.
    pub async fn ended(&mut self) -> Duration {
        let start = std::time::Instant::now();
        let ending = tokio::time::timeout(PATIENCE, async { while self.more().await.is_some() {} });
        ending.await.expect("the connection is ended by the server");
        start.elapsed()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// One request on a connection of its own.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> Option<Reply> {
    let mut connection = Connection::open(address).await;
    connection.write(request).await;
    connection.read().await
}

/// A whole request; the body's length is added.
pub fn request(line: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("{line} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    format!("{text}\r\n{body}").into_bytes()
}
