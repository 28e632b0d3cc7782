//! A model server that says what a test tells it to, on a real socket, in the real wire formats, and
//! keeps every request that it was sent.
//!
//! It runs on a thread of its own, so it answers whatever the test does, and ends when it is dropped.
//! Requests that the real servers would refuse are refused here too (see `rules`), so a conversation
//! that passes is one that they would have taken.

#![expect(
    clippy::indexing_slicing,
    reason = "JSON values only: what is absent reads as null"
)]

mod anthropic;
mod connections;
mod heard;
mod ollama;
mod openai;
mod rules;
mod scripts;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::listening::Listening;

pub use self::heard::{heard, offered_tools};
pub use self::scripts::Script;
use self::scripts::{Output, Refusal};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `POST /v1/messages`, server-sent events; `…/count_tokens` always counts seven.
    Anthropic,
    /// `POST /v1/chat/completions`, server-sent events.
    OpenAi,
    /// `POST /api/chat`, JSON lines.
    Ollama,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Ollama];

    fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::OpenAi => "/v1/chat/completions",
            Self::Ollama => "/api/chat",
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenAi => "text/event-stream; charset=utf-8",
            Self::Ollama => "application/x-ndjson",
        }
    }

    fn stream(self, script: &Script, nth: usize) -> Vec<Output> {
        match self {
            Self::Anthropic => anthropic::stream(script, nth),
            Self::OpenAi => openai::stream(script, nth),
            Self::Ollama => ollama::stream(script, nth),
        }
    }

    fn refusal(self, refusal: &Refusal) -> Value {
        match self {
            Self::Anthropic => anthropic::error(refusal),
            Self::OpenAi => openai::error(refusal),
            Self::Ollama => ollama::error(refusal),
        }
    }
}

pub struct ModelServer {
    shared: Arc<Shared>,
    listening: Listening,
}

type Respond = Box<dyn Fn(&Value) -> Script + Send + Sync>;

struct Shared {
    format: Format,
    respond: Respond,
    requests: Mutex<Vec<Value>>,
    connections: AtomicUsize,
    hangups: AtomicUsize,
}

impl ModelServer {
    /// Answers with one script after the other; a request too many is refused with 400.
    pub fn start(format: Format, scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts: Mutex<VecDeque<Script>> = Mutex::new(scripts.into_iter().collect());
        Self::with(format, move |_| {
            let over =
                || Script::status(400).refusing("invalid_request_error", "the script is over");
            lock(&scripts).pop_front().unwrap_or_else(over)
        })
    }

    /// Answers as the test decides, from the request: `{"method", "path", "headers", "body"}`.
    pub fn with(
        format: Format,
        respond: impl Fn(&Value) -> Script + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            format,
            respond: Box::new(respond),
            requests: Mutex::default(),
            connections: AtomicUsize::new(0),
            hangups: AtomicUsize::new(0),
        });
        let served = Arc::clone(&shared);
        let listening = Listening::start(0, |listener| connections::serve(listener, served));
        Self { shared, listening }
    }

    /// The base address that a brain of this format takes.
    pub fn base_url(&self) -> String {
        match self.shared.format {
            Format::Anthropic | Format::Ollama => format!("http://{}", self.listening.address),
            Format::OpenAi => format!("http://{}/v1", self.listening.address),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.listening.address
    }

    /// Everything it was sent, in order: `{"method", "path", "headers", "body"}`, header names in
    /// lower case, the body as JSON.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.shared.requests).clone()
    }

    /// The JSON bodies alone.
    pub fn bodies(&self) -> Vec<Value> {
        let requests = self.requests().into_iter();
        requests
            .map(|mut request| request.get_mut("body").map(Value::take).unwrap_or_default())
            .collect()
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How often the other side closed the connection before its answer was over.
    pub fn hangups(&self) -> usize {
        self.shared.hangups.load(Ordering::SeqCst)
    }
}

/// The bytes of a script without a server, for tests that record a stream first.
pub fn recorded(format: Format, script: &Script) -> Vec<u8> {
    let outputs = format.stream(script, 1).into_iter();
    let bytes = outputs.filter_map(|output| match output {
        Output::Bytes(bytes) => Some(bytes),
        Output::Pause(_) | Output::Cut | Output::Stall | Output::Endless(_) => None,
    });
    bytes.flatten().collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
