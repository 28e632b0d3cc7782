//! A model for measuring: it speaks the Anthropic wire format, says when it said each piece, and notes
//! when it was asked. What it is to do stands in the owner's last words.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(crate) struct Talker {
    pub address: SocketAddr,
    begun: Instant,
    asked: Arc<Mutex<Vec<Instant>>>,
    serving: JoinHandle<()>,
}

/// What the owner asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TalkScript {
    /// So many pieces of text, this long apart.
    Pieces(u32, Duration),
    /// So many rounds of a tool, then a word.
    Rounds(u32),
}

impl TalkScript {
    pub(crate) fn words(self) -> String {
        match self {
            Self::Pieces(count, pause) => format!("pieces {count} {}", pause.as_micros()),
            Self::Rounds(count) => format!("rounds {count}"),
        }
    }

    fn parse(words: &str) -> Option<Self> {
        let mut words = words.split_whitespace();
        let (kind, count) = (words.next()?, words.next()?.parse().ok()?);
        match kind {
            "pieces" => {
                let pause = Duration::from_micros(words.next()?.parse().ok()?);
                Some(Self::Pieces(count, pause))
            }
            "rounds" => Some(Self::Rounds(count)),
            _ => None,
        }
    }
}

impl Talker {
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (begun, asked) = (Instant::now(), Arc::<Mutex<Vec<Instant>>>::default());
        let noted = Arc::clone(&asked);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                tokio::spawn(async move {
                    // Whoever hangs up is not answered further.
                    let _ = answer(stream, begun, &noted).await;
                });
            }
        });
        Ok(Self {
            address,
            begun,
            asked,
            serving,
        })
    }

    /// Nanoseconds since it began, the clock of its pieces.
    pub(crate) fn now(&self) -> u64 {
        nanos(self.begun)
    }

    /// When it was asked, since the last time this was called.
    pub(crate) fn take_asked(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Talker {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn nanos(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

async fn answer(
    mut stream: TcpStream,
    begun: Instant,
    asked: &Mutex<Vec<Instant>>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let body = read_body(&mut stream).await?;
    asked
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(Instant::now());
    let request: Value = serde_json::from_slice(&body)?;
    stream.write_all(HEAD.as_bytes()).await?;
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let start = json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "talker", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}});
    send(&mut stream, &start).await?;
    let stop = match wish_of(&request) {
        Some(TalkScript::Pieces(count, pause)) => {
            open_text(&mut stream).await?;
            for _ in 0..count {
                tokio::time::sleep(pause).await;
                say(&mut stream, &format!("t={}; ", nanos(begun))).await?;
            }
            "end_turn"
        }
        Some(TalkScript::Rounds(count)) if rounds_so_far(&request) < count => {
            let id = format!("toolu_{}", rounds_so_far(&request));
            let block = json!({"type": "tool_use", "id": id, "name": "list_actions", "input": {}});
            let open = json!({"type": "content_block_start", "index": 0, "content_block": block});
            send(&mut stream, &open).await?;
            "tool_use"
        }
        Some(TalkScript::Rounds(_)) | None => {
            open_text(&mut stream).await?;
            say(&mut stream, "done").await?;
            "end_turn"
        }
    };
    let close = json!({"type": "content_block_stop", "index": 0});
    send(&mut stream, &close).await?;
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 1}});
    send(&mut stream, &delta).await?;
    send(&mut stream, &json!({"type": "message_stop"})).await
}

async fn open_text(stream: &mut TcpStream) -> io::Result<()> {
    let block = json!({"type": "text", "text": ""});
    let open = json!({"type": "content_block_start", "index": 0, "content_block": block});
    send(stream, &open).await
}

async fn say(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    let delta = json!({"type": "text_delta", "text": text});
    let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
    send(stream, &event).await
}

async fn send(stream: &mut TcpStream, event: &Value) -> io::Result<()> {
    let name = event.get("type").and_then(Value::as_str);
    let name = name.unwrap_or_default();
    let frame = format!("event: {name}\ndata: {event}\n\n");
    stream.write_all(frame.as_bytes()).await
}

/// The owner's last words; what the server puts before them ends with an empty line.
fn wish_of(request: &Value) -> Option<TalkScript> {
    let messages = request.get("messages")?.as_array()?;
    messages.iter().rev().find_map(|message| {
        let content = message.get("content")?;
        let text = content.as_str().or_else(|| {
            let mut blocks = content.as_array()?.iter().rev();
            blocks.find_map(|block| block.get("text")?.as_str())
        })?;
        TalkScript::parse(text.rsplit("\n\n").next()?)
    })
}

fn rounds_so_far(request: &Value) -> u32 {
    let text = request.get("messages").map(Value::to_string);
    let text = text.unwrap_or_default();
    u32::try_from(text.matches("\"tool_result\"").count()).unwrap_or(u32::MAX)
}

async fn read_body(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(16 * 1024);
    loop {
        if let Some(body) = whole_body(&bytes) {
            return Ok(body);
        }
        if bytes.len() > REQUEST_BYTES_MAX || stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn whole_body(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = str::from_utf8(bytes.get(..end)?).ok()?.to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))?;
    let length: usize = length.trim().parse().ok()?;
    bytes.get(end..end + length).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_the_owner_said_last() {
        for wish in [
            TalkScript::Pieces(3, Duration::from_micros(50)),
            TalkScript::Rounds(7),
        ] {
            let text = format!(
                "[Void's record of your last turn: nothing]\n\n{}",
                wish.words()
            );
            let request = json!({"messages": [
                {"role": "user", "content": [{"type": "text", "text": text}]},
                {"role": "assistant", "content": [{"type": "text", "text": "t=1; "}]},
            ]});
            assert_eq!(wish_of(&request), Some(wish));
        }
        assert_eq!(wish_of(&json!({})), None);
    }
}
