//! Reads the events of one message. The `claude` program wraps the same events, so the reader takes
//! them one by one and knows nothing of how they came.

mod wire;

use serde::Deserialize;
use serde_json::{Map, Value};

use self::wire::{BlockDelta, BlockStart, Delta, EventType, MessageDelta, MessageStart, UsagePart};
use crate::brains::exchanges::{Fault, Progress, Reader};
use crate::brains::frames::Frame;
use crate::brains::refusals::ProviderError;
use crate::brains::tallies::Tally;
use crate::brains::{
    ARGUMENTS_BYTES_MAX, Arguments, BLOCKS_MAX, Block, BrainEvent, Format, OnEvent, Opaque, Stop,
    ToolCall,
};

#[derive(Default)]
pub(in crate::brains) struct MessageReader {
    /// In the order in which they began, each with its index.
    parts: Vec<(u64, EventPart)>,
    stop: Option<String>,
    is_over: bool,
    tally: Tally,
}

enum EventPart {
    Text(String),
    Call {
        id: String,
        name: String,
        input: Value,
        pieces: String,
    },
    Opaque {
        value: Map<String, Value>,
        pieces: String,
    },
}

impl Reader for MessageReader {
    fn take(&mut self, frame: &Frame<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        if frame.is_error {
            let value: Value = parse(frame.data, "an error")?;
            return Err(Fault::ProviderError(ProviderError::of(&value)));
        }
        self.event(frame.data, on_event)
    }

    fn progress(&self) -> Progress {
        if self.is_over {
            Progress::Over
        } else if self.stop.is_some() {
            Progress::Whole
        } else if self.parts.is_empty() {
            Progress::Waiting
        } else {
            Progress::Begun
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn reply_bytes(&self) -> usize {
        self.parts.iter().map(|(_, part)| part.bytes()).sum()
    }

    fn finish(self) -> (Vec<Block>, Stop) {
        let parts = self.parts.into_iter();
        let blocks = parts.filter_map(|(_, part)| part.into_block()).collect();
        (blocks, stop_of(self.stop.as_deref()))
    }
}

/// What a `stop_reason` means.
pub(in crate::brains) fn stop_of(reason: Option<&str>) -> Stop {
    match reason {
        Some("end_turn" | "stop_sequence") => Stop::End,
        Some("tool_use") => Stop::ToolUse,
        Some("max_tokens" | "model_context_window_exceeded") => Stop::OutputLimit,
        Some("refusal") => Stop::Refused,
        Some(other) => Stop::other(other),
        None => Stop::other("unspecified"),
    }
}

impl MessageReader {
    /// One event as JSON. Types that nobody knew when this was written are left alone.
    pub(in crate::brains) fn event(
        &mut self,
        json: &[u8],
        on_event: OnEvent<'_>,
    ) -> Result<(), Fault> {
        let EventType { kind } = parse(json, "an event")?;
        match kind.as_ref() {
            "message_start" => {
                let start: MessageStart = parse(json, "message_start")?;
                self.count(&start.message.usage);
            }
            "content_block_start" => {
                self.start(parse(json, "content_block_start")?, on_event)?;
            }
            "content_block_delta" => {
                self.delta(parse(json, "content_block_delta")?, on_event)?;
            }
            "message_delta" => {
                let delta: MessageDelta = parse(json, "message_delta")?;
                self.count(&delta.usage);
                if let Some(reason) = delta.delta.stop_reason {
                    self.stop = Some(reason);
                }
            }
            "message_stop" => self.is_over = true,
            "error" => {
                let value: Value = parse(json, "error")?;
                return Err(Fault::ProviderError(ProviderError::of(&value)));
            }
            _ping_or_unknown => {}
        }
        Ok(())
    }

    fn start(&mut self, start: BlockStart, on_event: OnEvent<'_>) -> Result<(), Fault> {
        if self.parts.len() == BLOCKS_MAX {
            return Err(Fault::too_many_blocks());
        }
        if self.parts.iter().any(|(index, _)| *index == start.index) {
            return Err(Fault::Malformed("an index for every block"));
        }
        let mut block = start.content_block;
        let text = |block: &Map<String, Value>, key: &str| {
            let value = block.get(key).and_then(Value::as_str);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let part = match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let text = text(&block, "text").unwrap_or_default();
                if !text.is_empty() {
                    on_event(BrainEvent::Text(text.clone()));
                }
                EventPart::Text(text)
            }
            Some("tool_use") => {
                let id = text(&block, "id").ok_or(Fault::Malformed("an id of a tool call"))?;
                let name = text(&block, "name");
                let name = name.ok_or(Fault::Malformed("a name of a tool"))?;
                on_event(BrainEvent::ToolStarted { name: name.clone() });
                EventPart::Call {
                    id,
                    name,
                    input: block.remove("input").unwrap_or_default(),
                    pieces: String::new(),
                }
            }
            Some(_) => EventPart::Opaque {
                value: block,
                pieces: String::new(),
            },
            None => return Err(Fault::Malformed("a type of a block")),
        };
        self.parts.push((start.index, part));
        Ok(())
    }

    fn delta(&mut self, delta: BlockDelta<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        let parts = self.parts.iter_mut();
        // Nearly always the last one.
        let part = parts.rev().find(|(index, _)| *index == delta.index);
        let Some((_, part)) = part else {
            return Err(Fault::Malformed("the beginning of a block"));
        };
        part.grow(delta.delta, on_event)
    }

    /// The second part repeats or completes the first.
    fn count(&mut self, usage: &UsagePart) {
        self.tally.input = usage.input_tokens.or(self.tally.input);
        self.tally.output = usage.output_tokens.or(self.tally.output);
        if let Some(read) = usage.cache_read_input_tokens {
            self.tally.cache_read = read;
        }
        if let Some(write) = usage.cache_creation_input_tokens {
            self.tally.cache_write = write;
        }
    }
}

impl EventPart {
    fn grow(&mut self, delta: Delta<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        match (self, delta.kind.as_ref()) {
            (Self::Text(text), "text_delta") => {
                let more = delta.text.ok_or(Fault::Malformed("text in a text_delta"))?;
                if !more.is_empty() {
                    text.push_str(&more);
                    on_event(BrainEvent::Text(more.into_owned()));
                }
            }
            (Self::Call { pieces, .. } | Self::Opaque { pieces, .. }, "input_json_delta") => {
                let more = delta.partial_json;
                pieces.push_str(&more.ok_or(Fault::Malformed("JSON in an input_json_delta"))?);
                if pieces.len() > ARGUMENTS_BYTES_MAX {
                    return Err(Fault::arguments_too_large());
                }
            }
            (Self::Opaque { value, .. }, "thinking_delta") => {
                append(value, "thinking", &delta.thinking.unwrap_or_default());
            }
            (Self::Opaque { value, .. }, "signature_delta") => {
                append(value, "signature", &delta.signature.unwrap_or_default());
            }
            (_, "text_delta" | "input_json_delta" | "thinking_delta" | "signature_delta") => {
                return Err(Fault::Malformed("a piece that fits its block"));
            }
            _citations_or_unknown => {}
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Call { name, pieces, .. } => name.len() + pieces.len(),
            Self::Opaque { value, pieces } => {
                let texts = value.values().filter_map(Value::as_str);
                texts.map(str::len).sum::<usize>() + pieces.len()
            }
        }
    }

    fn into_block(self) -> Option<Block> {
        match self {
            Self::Text(text) => Some(Block::Text(text)),
            Self::Call {
                id,
                name,
                input,
                pieces,
            } => {
                let arguments = match input {
                    Value::Object(object) if pieces.is_empty() => Arguments::Object(object),
                    _ => Arguments::parse(pieces),
                };
                Some(Block::ToolCall(ToolCall {
                    id,
                    name,
                    arguments,
                }))
            }
            Self::Opaque { mut value, pieces } => {
                let is_thinking = value.get("type").is_some_and(|kind| kind == "thinking");
                let signature = value.get("signature").and_then(Value::as_str);
                if is_thinking && signature.is_none_or(str::is_empty) {
                    // Cut before it was signed; nobody takes it back.
                    return None;
                }
                if !pieces.is_empty() {
                    let input = serde_json::from_str(&pieces).ok()?;
                    value.insert("input".to_owned(), input);
                }
                Some(Block::Opaque(Opaque {
                    format: Format::Anthropic,
                    value,
                }))
            }
        }
    }
}

/// In place, so that a long text is not copied with every piece.
fn append(object: &mut Map<String, Value>, key: &str, more: &str) {
    match object.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            object.insert(key.to_owned(), Value::String(more.to_owned()));
        }
    }
}

fn parse<'a, T: Deserialize<'a>>(json: &'a [u8], what: &'static str) -> Result<T, Fault> {
    serde_json::from_slice(json).map_err(|_| Fault::Malformed(what))
}
