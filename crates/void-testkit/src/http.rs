//! A small HTTP server for fakes, on a thread of its own. It may hang up instead of answering, before
//! or after the effect, because that is when programs show what they are made of.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::listening::Listening;

const HEAD_BYTES_MAX: usize = 64 * 1024;
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Map<String, Value>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
pub enum Reply {
    Json(u16, Value),
    /// A status with a header and no body.
    Header(u16, &'static str, String),
    /// The connection is closed without a word.
    HangUp,
}

pub(crate) type Handler =
    dyn Fn(Request) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync;

pub(crate) struct HttpServer {
    listening: Listening,
    down: Arc<AtomicBool>,
}

impl HttpServer {
    /// On this port, or on a free one for 0.
    pub(crate) fn start(port: u16, handler: Arc<Handler>) -> Self {
        let down = Arc::new(AtomicBool::new(false));
        let is_down = Arc::clone(&down);
        let listening = Listening::start(port, |listener| accept(listener, handler, is_down));
        Self { listening, down }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listening.address)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// While down, everybody is hung up on.
    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, handler: Arc<Handler>, down: Arc<AtomicBool>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (handler, down) = (Arc::clone(&handler), Arc::clone(&down));
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let mut connection = Connection {
                stream,
                unread: Vec::new(),
            };
            while let Some(request) = connection.request().await {
                if down.load(Ordering::SeqCst) {
                    return;
                }
                let reply = handler(request).await;
                if down.load(Ordering::SeqCst) || !connection.answer(reply).await {
                    return;
                }
            }
        });
    }
}

struct Connection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Connection {
    async fn request(&mut self) -> Option<Request> {
        read_request(&mut self.stream, &mut self.unread).await
    }

    /// Whether the connection goes on.
    async fn answer(&mut self, reply: Reply) -> bool {
        let text = match reply {
            Reply::HangUp => return false,
            Reply::Json(status, body) => {
                let body = body.to_string();
                format!(
                    "HTTP/1.1 {status} Fake\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                )
            }
            Reply::Header(status, name, value) => {
                format!("HTTP/1.1 {status} Fake\r\n{name}: {value}\r\ncontent-length: 0\r\n\r\n")
            }
        };
        self.stream.write_all(text.as_bytes()).await.is_ok()
    }
}

/// The next request of a connection; `None` when there is none, or none that can be read.
pub(crate) async fn read_request(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<Request> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if unread.len() > HEAD_BYTES_MAX || !fill(stream, unread).await {
            return None;
        }
    };
    let head: Vec<u8> = unread.drain(..head_end).collect();
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Map::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        headers.insert(name.to_ascii_lowercase(), json!(value.trim()));
    }
    let length = headers.get("content-length").and_then(Value::as_str);
    let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > BODY_BYTES_MAX {
        return None;
    }
    while unread.len() < length {
        if !fill(stream, unread).await {
            return None;
        }
    }
    let body = unread.drain(..length).collect();
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}

async fn fill(stream: &mut TcpStream, unread: &mut Vec<u8>) -> bool {
    matches!(stream.read_buf(unread).await, Ok(read) if read > 0)
}
