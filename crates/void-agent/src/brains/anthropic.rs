//! The Anthropic Messages API, streamed.

mod events;
mod requests;

use serde_json::Value;

pub(super) use self::events::{MessageReader, stop_of};
use super::endpoints::{Endpoint, KeyHeader};
use super::exchanges::{self, Wire};
use super::frames::Framing;
use super::{Answering, Brain, BrainConfig, InvalidBrain, OnEvent, Prompt};

#[derive(Debug)]
pub struct AnthropicBrain {
    endpoint: Endpoint,
}

impl AnthropicBrain {
    /// Where the API is when nobody says otherwise.
    pub const BASE: &'static str = "https://api.anthropic.com";

    pub fn new(config: BrainConfig) -> Result<Self, InvalidBrain> {
        let key_header = KeyHeader::Named("x-api-key");
        let endpoint = Endpoint::new("Anthropic", "/v1/messages", config, &key_header)?;
        let endpoint = endpoint.with_header("anthropic-version", "2023-06-01");
        Ok(Self { endpoint })
    }
}

impl Brain for AnthropicBrain {
    fn model(&self) -> &str {
        &self.endpoint.model
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        Box::pin(exchanges::answer(self, prompt, on_event))
    }
}

impl Wire for AnthropicBrain {
    type Reader = MessageReader;
    const FRAMING: Framing = Framing::Events;

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, prompt: &Prompt) -> Value {
        requests::body(&self.endpoint.model, prompt)
    }

    fn reader(&self, _prompt: &Prompt) -> MessageReader {
        MessageReader::default()
    }
}
