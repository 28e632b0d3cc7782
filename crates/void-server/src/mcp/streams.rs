//! A stream of messages, one a line, both ways: what `void mcp` opens, so that a call costs no request of
//! its own. Answers come in the order in which they are ready.
//!
//! Whoever opened it is looked at again with everything that is read from it, so a withdrawn token ends
//! with its next call.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{oneshot, watch};
use void_domain::budgets::UNSENT_BYTES_MAX;
use void_domain::limits::REQUEST_BODY_BYTES_MAX;

use super::{Client, Toolbox, messages, progress};
use crate::budgets::BytesHeld;
use crate::metered::TooManyBytes;

/// Calls of one stream that are under way at a time; more wait to be read.
const OPEN_MAX: usize = 64;
const READ_BYTES: usize = 16 * 1024;
/// A line without an end is waited for up to here; one that is too long and has an end is refused alone.
const UNREAD_BYTES_MAX: usize = 2 * REQUEST_BODY_BYTES_MAX;
/// Whoever does not take their answers for this long is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// An answer, and the id of the request that it answers.
type Answered = (Option<Vec<u8>>, Option<String>);
type Answering = Pin<Box<dyn Future<Output = Answered> + Send>>;

struct Stream {
    client: Client,
    socket: TcpStream,
    unread: Vec<u8>,
    /// Counts a long line that has not ended yet.
    unread_held: BytesHeld,
    open: FuturesUnordered<Answering>,
    unsent: Vec<u8>,
    /// How what is under way is given up, by the id of its request.
    cancels: HashMap<String, oneshot::Sender<()>>,
    /// Word of what takes its time.
    notices: (UnboundedSender<Vec<u8>>, UnboundedReceiver<Vec<u8>>),
}

/// Answers until the client has said everything, the server stops, or the client may no more.
pub(crate) async fn serve(
    client: Client,
    socket: TcpStream,
    early: Bytes,
    mut stop: watch::Receiver<bool>,
) {
    let unread_held = client.held();
    let mut stream = Stream {
        client,
        socket,
        unread: early.to_vec(),
        unread_held,
        open: FuturesUnordered::new(),
        unsent: Vec::new(),
        cancels: HashMap::new(),
        notices: unbounded_channel(),
    };
    let mut reads = stream.unread.is_empty() || stream.begin().await;
    while reads || !stream.open.is_empty() {
        let wants = reads && stream.open.len() < OPEN_MAX;
        stream.unread.reserve(READ_BYTES);
        tokio::select! {
            read = stream.socket.read_buf(&mut stream.unread), if wants => {
                reads = matches!(read, Ok(1..)) && stream.begin().await;
            }
            Some(answer) = stream.open.next() => stream.finish(answer),
            Some(notice) = stream.notices.1.recv() => stream.keep(Some(notice)),
            () = stopped(&mut stop), if reads => reads = false,
        }
        if !stream.send().await {
            return;
        }
    }
    let _ = stream.socket.shutdown().await;
}

/// Waits for `work` while what is under way goes on: what stands still could have the connection to the database, or
/// the place before it, that `work` waits for. Answers of more than `bytes_max` wait with it.
async fn beside<T>(
    open: &mut FuturesUnordered<Answering>,
    bytes_max: usize,
    work: impl Future<Output = T>,
) -> (T, Vec<Answered>) {
    let (mut ready, mut bytes) = (Vec::new(), 0);
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return (done, ready),
            Some(answer) = open.next(), if bytes < bytes_max => {
                bytes += answer.0.as_ref().map_or(0, Vec::len);
                ready.push(answer);
            }
        }
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

impl Stream {
    /// Begins what has been read. `false`: nothing more is read.
    async fn begin(&mut self) -> bool {
        let Some(end) = self.unread.iter().rposition(|byte| *byte == b'\n') else {
            return self.may_keep_unread() || self.too_long();
        };
        self.unread_held = self.client.held();
        let (toolbox, ready) = beside(&mut self.open, usize::MAX, self.client.toolbox()).await;
        self.finish_all(ready);
        let Some(toolbox) = toolbox else {
            return false;
        };
        let rest = self.unread.split_off(end + 1);
        let lines = std::mem::replace(&mut self.unread, rest);
        for line in lines.split(|byte| *byte == b'\n') {
            let line = line.trim_ascii();
            if line.is_empty() || line.len() > REQUEST_BODY_BYTES_MAX && !self.too_long() {
                continue;
            }
            let ((), ready) = beside(&mut self.open, usize::MAX, self.client.pace()).await;
            self.finish_all(ready);
            let mut held = self.client.held();
            match held.add(line.len()) {
                true => self.answer(toolbox.again(), line, held),
                false => self.too_much(line),
            }
        }
        true
    }

    /// Whether there is room for a line that has not ended yet.
    fn may_keep_unread(&mut self) -> bool {
        self.unread_held = self.client.held();
        let is_short = self.unread.len() <= READ_BYTES;
        is_short || self.unread_held.add(self.unread.len()) && self.unread.len() <= UNREAD_BYTES_MAX
    }

    /// Its token has too much under way: this message is refused alone.
    fn too_much(&mut self, line: &[u8]) {
        #[derive(Deserialize)]
        struct RequestHead {
            id: RequestId,
        }
        let head = serde_json::from_slice::<RequestHead>(line).ok();
        let error = ErrorData::invalid_request(TooManyBytes.to_string(), None);
        let refused = messages::refused(head.as_ref().map(|head| &head.id), &error);
        self.keep(Some(refused));
    }

    fn answer(&mut self, toolbox: Toolbox, line: &[u8], held: BytesHeld) {
        let (id, cancelled) = ids(line);
        if let Some(cancelled) = cancelled.and_then(|id| self.cancels.remove(&id)) {
            let _ = cancelled.send(());
        }
        let (cancel, given_up) = oneshot::channel();
        // A second request of the same id cannot be told apart, so neither is given up.
        let is_new = id.as_ref().is_some_and(|id| !self.cancels.contains_key(id));
        let kept = match &id {
            Some(id) if is_new => {
                self.cancels.insert(id.clone(), cancel);
                None
            }
            _ => Some(cancel),
        };
        let (line, notices) = (line.to_vec(), self.notices.0.clone());
        self.open.push(Box::pin(async move {
            let _kept = (kept, held);
            let token = progress::token(&line);
            let answering = messages::answer(&toolbox, &line);
            let tell = |notice| notices.send(notice).is_ok();
            // What was begun goes on; only its answer is not waited for.
            tokio::select! {
                answer = progress::while_waiting(token, answering, tell) => (answer, id),
                Ok(()) = given_up => (None, id),
            }
        }));
    }

    fn finish_all(&mut self, ready: Vec<Answered>) {
        for answer in ready {
            self.finish(answer);
        }
    }

    fn finish(&mut self, (answer, id): Answered) {
        if let Some(id) = id {
            self.cancels.remove(&id);
        }
        self.keep(answer);
    }

    fn too_long(&mut self) -> bool {
        let message = format!("a message is at most {REQUEST_BODY_BYTES_MAX} bytes");
        let error = ErrorData::invalid_request(message, None);
        let answer = messages::refused(None, &error);
        self.keep(Some(answer));
        false
    }

    fn keep(&mut self, answer: Option<Vec<u8>>) {
        if let Some(answer) = answer {
            self.unsent.extend_from_slice(&answer);
            self.unsent.push(b'\n');
        }
    }

    /// Sends everything that is ready, as much of it at once as may be unsent. `false`: nobody takes it.
    async fn send(&mut self) -> bool {
        loop {
            while self.unsent.len() < UNSENT_BYTES_MAX
                && let Some(Some(answer)) = self.open.next().now_or_never()
            {
                self.finish(answer);
            }
            if self.unsent.is_empty() {
                return true;
            }
            let sending = self.socket.write_all(&self.unsent);
            let sending = tokio::time::timeout(WRITE_TIMEOUT, sending);
            let (sent, ready) = beside(&mut self.open, UNSENT_BYTES_MAX, sending).await;
            self.client.charge(self.unsent.len());
            // A long answer does not leave its room behind.
            self.unsent.clear();
            self.unsent.shrink_to(READ_BYTES);
            self.finish_all(ready);
            if !matches!(sent, Ok(Ok(()))) {
                return false;
            }
        }
    }
}

/// The id of a request, and the id of the one that a notice gives up; as they are written.
fn ids(line: &[u8]) -> (Option<String>, Option<String>) {
    #[derive(Deserialize)]
    struct MessageHead {
        id: Option<Value>,
        method: Option<String>,
        params: Option<Value>,
    }
    let Ok(head) = serde_json::from_slice::<MessageHead>(line) else {
        return (None, None);
    };
    let id = head.id.map(|id| id.to_string());
    if head.method.as_deref() != Some("notifications/cancelled") {
        return (id, None);
    }
    let cancelled = head
        .params
        .as_ref()
        .and_then(|params| params.get("requestId"));
    (id, cancelled.map(Value::to_string))
}
