//! A stream of messages, one a line, both ways: what `void mcp` opens, so that a call costs no request of
//! its own. Answers come in the order in which they are ready.
//!
//! Whoever opened it is looked at again with everything that is read from it, so a withdrawn token ends
//! with its next call.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use void_domain::limits::REQUEST_BODY_BYTES_MAX;

use super::{Client, messages};

/// Calls of one stream that are under way at a time; more wait to be read.
const OPEN_MAX: usize = 64;
const READ_BYTES: usize = 16 * 1024;
/// A line without an end is waited for up to here; one that is too long and has an end is refused alone.
const UNREAD_BYTES_MAX: usize = 2 * REQUEST_BODY_BYTES_MAX;
/// Whoever does not take their answers for this long is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

type Answering = Pin<Box<dyn Future<Output = Option<Vec<u8>>> + Send>>;

struct Stream {
    client: Client,
    socket: TcpStream,
    unread: Vec<u8>,
    open: FuturesUnordered<Answering>,
    unsent: Vec<u8>,
}

/// Answers until the client has said everything, the server stops, or the client may no more.
pub(crate) async fn serve(
    client: Client,
    socket: TcpStream,
    early: Bytes,
    mut stop: watch::Receiver<bool>,
) {
    let mut stream = Stream {
        client,
        socket,
        unread: early.to_vec(),
        open: FuturesUnordered::new(),
        unsent: Vec::new(),
    };
    let mut reads = stream.unread.is_empty() || stream.begin().await;
    while reads || !stream.open.is_empty() {
        let wants = reads && stream.open.len() < OPEN_MAX;
        stream.unread.reserve(READ_BYTES);
        tokio::select! {
            read = stream.socket.read_buf(&mut stream.unread), if wants => {
                reads = matches!(read, Ok(1..)) && stream.begin().await;
            }
            Some(answer) = stream.open.next() => stream.keep(answer),
            () = stopped(&mut stop), if reads => reads = false,
        }
        if !stream.send().await {
            return;
        }
    }
    let _ = stream.socket.shutdown().await;
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

impl Stream {
    /// Begins what has been read. `false`: nothing more is read.
    async fn begin(&mut self) -> bool {
        let Some(end) = self.unread.iter().rposition(|byte| *byte == b'\n') else {
            return self.unread.len() <= UNREAD_BYTES_MAX || self.too_long();
        };
        let Some(toolbox) = self.client.toolbox().await else {
            return false;
        };
        let rest = self.unread.split_off(end + 1);
        let lines = std::mem::replace(&mut self.unread, rest);
        for line in lines.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line.len() > REQUEST_BODY_BYTES_MAX && !self.too_long() {
                continue;
            }
            let (toolbox, line) = (toolbox.again(), line.to_vec());
            let answering = async move { messages::answer(&toolbox, &line).await };
            self.open.push(Box::pin(answering));
        }
        true
    }

    fn too_long(&mut self) -> bool {
        let message = format!("a message is at most {REQUEST_BODY_BYTES_MAX} bytes");
        let error = ErrorData::invalid_request(message, None);
        let answer = messages::written(&ServerJsonRpcMessage::error(error, None));
        self.keep(Some(answer));
        false
    }

    fn keep(&mut self, answer: Option<Vec<u8>>) {
        if let Some(answer) = answer {
            self.unsent.extend_from_slice(&answer);
            self.unsent.push(b'\n');
        }
    }

    /// Sends everything that is ready, at once. `false`: nobody takes it.
    async fn send(&mut self) -> bool {
        while let Some(Some(answer)) = self.open.next().now_or_never() {
            self.keep(answer);
        }
        if self.unsent.is_empty() {
            return true;
        }
        let sending = self.socket.write_all(&self.unsent);
        let sent = tokio::time::timeout(WRITE_TIMEOUT, sending).await;
        self.unsent.clear();
        matches!(sent, Ok(Ok(())))
    }
}
