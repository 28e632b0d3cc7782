//! Ollama's own chat, in JSON lines.

mod lines;
mod requests;

use serde_json::Value;
use void_domain::text;

use self::lines::LineReader;
use super::endpoints::{Endpoint, KeyHeader};
use super::errors::{BrainError, BrainErrorKind};
use super::exchanges::{self, Wire};
use super::frames::Framing;
use super::{Answering, Brain, BrainConfig, InvalidBrain, OnEvent, Prompt};

#[derive(Debug)]
pub struct OllamaBrain {
    endpoint: Endpoint,
}

impl OllamaBrain {
    /// Where it is when nobody says otherwise.
    pub const BASE: &'static str = "http://127.0.0.1:11434";

    pub fn new(config: BrainConfig) -> Result<Self, InvalidBrain> {
        let endpoint = Endpoint::new("Ollama", "/api/chat", config, &KeyHeader::Bearer)?;
        Ok(Self { endpoint })
    }
}

impl Brain for OllamaBrain {
    fn model(&self) -> &str {
        &self.endpoint.model
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        Box::pin(exchanges::answer(self, prompt, on_event))
    }
}

impl Wire for OllamaBrain {
    type Reader = LineReader;
    const FRAMING: Framing = Framing::Lines;

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, prompt: &Prompt) -> Value {
        requests::body(&self.endpoint.model, prompt)
    }

    fn reader(&self, prompt: &Prompt) -> LineReader {
        LineReader::new(prompt.call_ids())
    }

    /// The one thing that a person can do about it.
    fn explain(&self, mut error: BrainError) -> BrainError {
        if error.kind == BrainErrorKind::NotFound {
            let model = text::escaped(&self.endpoint.model);
            error.message = format!("{}; pull it with ollama pull {model}", error.message);
        }
        error
    }
}
