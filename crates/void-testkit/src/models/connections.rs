//! HTTP/1.1 by hand, because faults happen below what a library lets one do.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::scripts::{Output, Refusal, Script, Writing};
use super::{Format, Shared, lock, rules};
use crate::http::read_request;

/// The other side is gone.
struct HungUp;

pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let mut connection = ModelConnection {
                stream,
                unread: Vec::new(),
            };
            while let Some(request) = connection.request().await {
                if connection.answer(&shared, request).await.is_err() {
                    break;
                }
            }
        });
    }
}

struct ModelConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl ModelConnection {
    async fn request(&mut self) -> Option<Value> {
        let request = read_request(&mut self.stream, &mut self.unread).await?;
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        Some(json!({
            "method": request.method, "path": request.path, "headers": request.headers, "body": body,
        }))
    }

    async fn answer(&mut self, shared: &Shared, request: Value) -> Result<(), HungUp> {
        let nth = {
            let mut requests = lock(&shared.requests);
            requests.push(request.clone());
            requests.len()
        };
        let is_count = shared.format == Format::Anthropic
            && request["path"] == format!("{}/count_tokens", shared.format.path());
        let script = if is_count {
            Script::status(200).body("{\"input_tokens\":7}")
        } else if request["method"] != "POST" || request["path"] != shared.format.path() {
            Script::status(404).refusing("not_found_error", "Not found")
        } else if let Some(complaint) = rules::broken(shared.format, &request["body"]) {
            Script::status(400).refusing("invalid_request_error", &complaint)
        } else {
            (shared.respond)(&request)
        };
        let sent = match &script.refusal {
            Some(refusal) => self.refuse(shared, &script, refusal).await,
            None => self.stream(shared, &script, nth).await,
        };
        if sent.is_err() {
            shared.hangups.fetch_add(1, Ordering::SeqCst);
        }
        sent.and_then(|is_cut| if is_cut { Err(HungUp) } else { Ok(()) })
    }

    async fn refuse(
        &mut self,
        shared: &Shared,
        script: &Script,
        refusal: &Refusal,
    ) -> Result<bool, HungUp> {
        let body = match &refusal.body {
            Some(body) => body.clone(),
            None => shared.format.refusal(refusal).to_string(),
        };
        let head = format!(
            "HTTP/1.1 {} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{}\r\n",
            refusal.status,
            body.len(),
            header_lines(script),
        );
        self.write(format!("{head}{body}").as_bytes()).await?;
        Ok(false)
    }

    /// Whether the script wants the connection cut.
    async fn stream(
        &mut self,
        shared: &Shared,
        script: &Script,
        nth: usize,
    ) -> Result<bool, HungUp> {
        if script.is_silent {
            self.listen(Duration::MAX).await?;
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ntransfer-encoding: chunked\r\n{}\r\n",
            shared.format.content_type(),
            header_lines(script),
        );
        self.write(head.as_bytes()).await?;
        let outputs = shared.format.stream(script, nth);
        for output in rewritten(outputs, &script.writing) {
            match output {
                Output::Bytes(bytes) => self.write(&chunk(&bytes)).await?,
                Output::Pause(pause) => self.listen(pause).await?,
                Output::Cut => {
                    self.write(b"ff\r\n{").await?;
                    return Ok(true);
                }
                Output::Stall => self.listen(Duration::MAX).await?,
                Output::Endless(bytes) => {
                    // Large writes: the limit that this is for is one of bytes.
                    let many = chunk(&bytes.repeat(1 + 16 * 1024 / bytes.len().max(1)));
                    loop {
                        self.write(&many).await?;
                    }
                }
            }
        }
        self.write(b"0\r\n\r\n").await?;
        Ok(false)
    }

    /// Waits, and notices when the other side leaves.
    async fn listen(&mut self, pause: Duration) -> Result<(), HungUp> {
        let leaving = async {
            loop {
                if self.fill().await.is_err() {
                    return HungUp;
                }
            }
        };
        match tokio::time::timeout(pause, leaving).await {
            Ok(hung_up) => Err(hung_up),
            Err(_over) => Ok(()),
        }
    }

    async fn fill(&mut self) -> Result<(), HungUp> {
        match self.stream.read_buf(&mut self.unread).await {
            Ok(0) | Err(_) => Err(HungUp),
            Ok(_) => Ok(()),
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), HungUp> {
        self.stream.write_all(bytes).await.map_err(|_| HungUp)
    }
}

fn header_lines(script: &Script) -> String {
    let lines = script.headers.iter();
    lines
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// The same bytes in other pieces; pauses and faults stay where they are.
fn rewritten(outputs: Vec<Output>, writing: &Writing) -> Vec<Output> {
    let cuts: Box<dyn Fn(usize) -> bool> = match writing {
        Writing::ByEvent => return outputs,
        Writing::ChunksOf(size) => Box::new(move |at| at % size == 0),
        Writing::SplitAt(positions) => Box::new(move |at| positions.binary_search(&at).is_ok()),
    };
    let (mut pieces, mut piece, mut at) = (Vec::new(), Vec::new(), 0);
    for output in outputs {
        let Output::Bytes(bytes) = output else {
            pieces.push(Output::Bytes(std::mem::take(&mut piece)));
            pieces.push(output);
            continue;
        };
        for byte in bytes {
            if cuts(at) && !piece.is_empty() {
                pieces.push(Output::Bytes(std::mem::take(&mut piece)));
            }
            piece.push(byte);
            at += 1;
        }
    }
    pieces.push(Output::Bytes(piece));
    pieces
}
