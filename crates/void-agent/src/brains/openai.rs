//! Chat completions as OpenAI defined them and llama.cpp, vLLM, LM Studio and others speak them.

mod chunks;
mod requests;

use serde_json::Value;

use self::chunks::ChunkReader;
use self::requests::LimitField;
use super::endpoints::{Endpoint, KeyHeader};
use super::exchanges::{self, Wire};
use super::frames::Framing;
use super::{Answering, Brain, BrainConfig, InvalidBrain, OnEvent, Prompt};

#[derive(Debug)]
pub struct OpenAiBrain {
    endpoint: Endpoint,
    limit: LimitField,
}

impl OpenAiBrain {
    /// Where the API is when nobody says otherwise. The base ends with the version.
    pub const BASE: &'static str = "https://api.openai.com/v1";

    pub fn new(config: BrainConfig) -> Result<Self, InvalidBrain> {
        let limit = LimitField::of(config.base.host());
        let name = "the model server";
        let endpoint = Endpoint::new(name, "/chat/completions", config, &KeyHeader::Bearer)?;
        Ok(Self { endpoint, limit })
    }
}

impl Brain for OpenAiBrain {
    fn model(&self) -> &str {
        &self.endpoint.model
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        Box::pin(exchanges::answer(self, prompt, on_event))
    }
}

impl Wire for OpenAiBrain {
    type Reader = ChunkReader;
    const FRAMING: Framing = Framing::Events;

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request(&self, prompt: &Prompt) -> Value {
        requests::body(&self.endpoint.model, self.limit, prompt)
    }

    fn reader(&self, prompt: &Prompt) -> ChunkReader {
        ChunkReader::new(prompt.call_ids())
    }
}
