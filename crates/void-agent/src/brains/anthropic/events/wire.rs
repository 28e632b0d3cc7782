//! The shapes of the events, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
pub(super) struct EventType<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct MessageStart {
    pub message: StartedMessage,
}

#[derive(Deserialize)]
pub(super) struct StartedMessage {
    #[serde(default)]
    pub usage: UsagePart,
}

#[derive(Deserialize, Default)]
pub(super) struct UsagePart {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cache_read_input_tokens: Option<u64>,
    pub cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct BlockStart {
    pub index: u64,
    pub content_block: Map<String, Value>,
}

#[derive(Deserialize)]
pub(super) struct BlockDelta<'a> {
    pub index: u64,
    #[serde(borrow)]
    pub delta: Delta<'a>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub partial_json: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub thinking: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub signature: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct MessageDelta {
    #[serde(default)]
    pub delta: StopDelta,
    #[serde(default)]
    pub usage: UsagePart,
}

#[derive(Deserialize, Default)]
pub(super) struct StopDelta {
    pub stop_reason: Option<String>,
}
