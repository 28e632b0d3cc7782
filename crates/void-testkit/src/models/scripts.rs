//! What the model says to one request: words, tool calls, faults, in order.

use std::time::Duration;

use serde_json::Value;

/// One answer. Built in the order in which it is to be sent; the format's own beginning and end are
/// added around it unless a fault ends it.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub(super) refusal: Option<Refusal>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) stop: Option<String>,
    pub(super) usage: Counts,
    pub(super) is_raw: bool,
    pub(super) is_silent: bool,
    pub(super) writing: Writing,
}

#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub status: u16,
    pub name: String,
    pub message: String,
    /// Instead of the format's own error.
    pub body: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    /// One delta; neighbours make one block.
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Tool {
        id: Option<String>,
        name: String,
        pieces: Vec<String>,
    },
    Raw(Vec<u8>),
    Error {
        name: String,
        message: String,
    },
    Pause(Duration),
    /// The transfer ends properly, the answer does not.
    End,
    /// The connection ends in the middle of the transfer.
    Cut,
    /// Nothing more, until the other side hangs up.
    Stall,
    /// The same text again and again, until the other side hangs up.
    Endless(String),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub is_sent: bool,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            is_sent: true,
            input: 10,
            output: 5,
            cache_read: 0,
            cache_write: 0,
        }
    }
}

/// Where the bytes are cut into transfer chunks, which the other side reads one by one.
#[derive(Debug, Clone, Default)]
pub(super) enum Writing {
    #[default]
    ByEvent,
    ChunksOf(usize),
    SplitAt(Vec<usize>),
}

/// What goes over the wire.
#[derive(Debug, Clone)]
pub(super) enum Output {
    Bytes(Vec<u8>),
    Pause(Duration),
    Cut,
    Stall,
    Endless(Vec<u8>),
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of one piece of text.
    pub fn says(text: &str) -> Self {
        Self::new().text(text)
    }

    /// An answer of one tool call.
    pub fn calls(name: &str, arguments: &Value) -> Self {
        Self::new().tool(name, arguments)
    }

    /// Exactly these bytes with status 200, nothing around them.
    pub fn raw_stream(bytes: impl Into<Vec<u8>>) -> Self {
        let script = Self {
            is_raw: true,
            ..Self::default()
        };
        script.raw(bytes)
    }

    /// Takes the request and does not even begin to answer.
    pub fn silence() -> Self {
        Self {
            is_silent: true,
            ..Self::default()
        }
    }

    /// No stream: a refusal in the format's words.
    pub fn status(status: u16) -> Self {
        let refusal = Refusal {
            status,
            name: "api_error".to_owned(),
            message: format!("scripted {status}"),
            body: None,
        };
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }

    /// The refusal's type and message.
    pub fn refusing(mut self, name: &str, message: &str) -> Self {
        if let Some(refusal) = &mut self.refusal {
            name.clone_into(&mut refusal.name);
            message.clone_into(&mut refusal.message);
        }
        self
    }

    /// The refusal's body, whatever the format.
    pub fn body(mut self, body: &str) -> Self {
        if let Some(refusal) = &mut self.refusal {
            refusal.body = Some(body.to_owned());
        }
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn text(self, text: &str) -> Self {
        self.step(Step::Text(text.to_owned()))
    }

    pub fn texts<'a>(self, texts: impl IntoIterator<Item = &'a str>) -> Self {
        texts.into_iter().fold(self, Self::text)
    }

    pub fn thinking(self, text: &str, signature: &str) -> Self {
        self.step(Step::Thinking {
            text: text.to_owned(),
            signature: signature.to_owned(),
        })
    }

    pub fn tool(self, name: &str, arguments: &Value) -> Self {
        let pieces = vec![arguments.to_string()];
        self.step(Step::Tool {
            id: None,
            name: name.to_owned(),
            pieces,
        })
    }

    /// A call with its arguments as text in pieces, valid or not.
    pub fn tool_pieces(self, id: &str, name: &str, pieces: &[&str]) -> Self {
        self.step(Step::Tool {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            pieces: pieces.iter().map(|piece| (*piece).to_owned()).collect(),
        })
    }

    /// Bytes in the stream as they are: garbage, or what only this server sends.
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Raw(bytes.into()))
    }

    /// An error inside the stream, which ends it.
    pub fn error(self, name: &str, message: &str) -> Self {
        let (name, message) = (name.to_owned(), message.to_owned());
        self.step(Step::Error { name, message })
    }

    pub fn pause(self, pause: Duration) -> Self {
        self.step(Step::Pause(pause))
    }

    pub fn end(self) -> Self {
        self.step(Step::End)
    }

    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    pub fn endless(self, text: &str) -> Self {
        self.step(Step::Endless(text.to_owned()))
    }

    /// The wire's own word: `max_tokens`, `length`. Otherwise it follows from what was said.
    pub fn stop(mut self, reason: &str) -> Self {
        self.stop = Some(reason.to_owned());
        self
    }

    pub fn usage(mut self, input: u64, output: u64) -> Self {
        (self.usage.input, self.usage.output) = (input, output);
        self
    }

    pub fn cached(mut self, read: u64, write: u64) -> Self {
        (self.usage.cache_read, self.usage.cache_write) = (read, write);
        self
    }

    pub fn without_usage(mut self) -> Self {
        self.usage.is_sent = false;
        self
    }

    pub fn chunks_of(mut self, bytes: usize) -> Self {
        self.writing = Writing::ChunksOf(bytes);
        self
    }

    /// At these positions, in rising order.
    pub fn split_at(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        self.writing = Writing::SplitAt(positions.into_iter().collect());
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) fn calls_tools(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, Step::Tool { .. }))
    }
}
