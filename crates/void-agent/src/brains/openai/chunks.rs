//! Reads the chunks of one completion. Servers leave out pieces: choices may be empty, fields null,
//! counters and even the last mark missing.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::brains::calls::{Calls, Piece};
use crate::brains::exchanges::{Fault, Progress, Reader};
use crate::brains::frames::Frame;
use crate::brains::refusals::ProviderError;
use crate::brains::tallies::Tally;
use crate::brains::{Block, BrainEvent, Format, OnEvent, Opaque, Stop};

pub(in crate::brains) struct ChunkReader {
    text: String,
    /// The text and the field that it came in.
    reasoning: Option<(&'static str, String)>,
    calls: Calls,
    stop: Option<Stop>,
    is_refusal: bool,
    is_over: bool,
    tally: Tally,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<ChunkChoice>>,
    usage: Option<UsageCounts>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    #[serde(default)]
    index: u64,
    delta: Option<ChunkDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChunkDelta {
    /// Text, null, or a list of parts.
    content: Option<Value>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct UsageCounts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl ChunkReader {
    pub(super) fn new(call_ids: BTreeSet<String>) -> Self {
        Self {
            text: String::new(),
            reasoning: None,
            calls: Calls::new(call_ids),
            stop: None,
            is_refusal: false,
            is_over: false,
            tally: Tally::default(),
        }
    }

    fn choice(&mut self, choice: ChunkChoice, on_event: OnEvent<'_>) -> Result<(), Fault> {
        if let Some(delta) = choice.delta {
            self.delta(delta, on_event)?;
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            // A router in between lost its server.
            Some("error") => return Err(Fault::ProviderError(ProviderError::default())),
            Some(reason) => self.stop = Some(stop_of(reason)),
        }
        Ok(())
    }

    fn delta(&mut self, delta: ChunkDelta, on_event: OnEvent<'_>) -> Result<(), Fault> {
        for (field, more) in [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
        ] {
            if let Some(more) = more.filter(|more| !more.is_empty()) {
                // Some send the same twice, under both names: the first name stays.
                let (kept, text) = self.reasoning.get_or_insert((field, String::new()));
                if *kept == field {
                    text.push_str(&more);
                }
            }
        }
        if let Some(refusal) = delta.refusal {
            self.is_refusal = true;
            self.say(refusal, on_event);
        }
        match delta.content {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.say(text, on_event),
            Some(Value::Array(parts)) => {
                for part in parts {
                    if let Some(text) = part.get("text").and_then(Value::as_str) {
                        self.say(text.to_owned(), on_event);
                    }
                }
            }
            Some(_) => return Err(Fault::Malformed("text as content")),
        }
        for call in delta.tool_calls.unwrap_or_default() {
            let (name, arguments) = match call.function {
                Some(function) => (function.name, function.arguments),
                None => (None, None),
            };
            let piece = Piece {
                index: call.index,
                id: call.id.as_deref().unwrap_or_default(),
                name: name.as_deref().unwrap_or_default(),
                arguments,
            };
            self.calls.piece(piece, on_event)?;
        }
        Ok(())
    }

    fn say(&mut self, text: String, on_event: OnEvent<'_>) {
        if !text.is_empty() {
            self.text.push_str(&text);
            on_event(BrainEvent::Text(text));
        }
    }

    /// What was read from the cache is part of their count and not of ours.
    fn count(&mut self, usage: UsageCounts) {
        let details = usage.prompt_tokens_details;
        let cached = details.and_then(|details| details.cached_tokens);
        let cached = cached.unwrap_or(0);
        self.tally = Tally {
            input: usage
                .prompt_tokens
                .map(|input| input.saturating_sub(cached)),
            output: usage.completion_tokens,
            cache_read: cached,
            cache_write: 0,
        };
    }

    fn has_content(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty() || self.reasoning.is_some()
    }
}

impl Reader for ChunkReader {
    fn take(&mut self, frame: &Frame<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        let data = frame.data.trim_ascii();
        if data == b"[DONE]" {
            if self.stop.is_none() && !self.has_content() {
                return Err(Fault::Malformed("an answer before its end"));
            }
            self.is_over = true;
            return Ok(());
        }
        if frame.is_error {
            let value: Option<Value> = serde_json::from_slice(data).ok();
            return Err(Fault::ProviderError(
                value.as_ref().map(ProviderError::of).unwrap_or_default(),
            ));
        }
        let chunk: Chunk = serde_json::from_slice(data).map_err(|_| Fault::Malformed("a chunk"))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Fault::ProviderError(ProviderError::of(&error)));
        }
        if let Some(usage) = chunk.usage {
            self.count(usage);
        }
        let choices = chunk.choices.unwrap_or_default();
        // One was asked for.
        for choice in choices.into_iter().filter(|choice| choice.index == 0) {
            self.choice(choice, on_event)?;
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.is_over {
            Progress::Over
        } else if self.stop.is_some() {
            Progress::Whole
        } else if self.has_content() {
            Progress::Begun
        } else {
            Progress::Waiting
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn reply_bytes(&self) -> usize {
        let reasoning = self.reasoning.as_ref().map_or(0, |(_, text)| text.len());
        self.text.len() + reasoning + self.calls.bytes()
    }

    fn finish(self) -> (Vec<Block>, Stop) {
        let mut blocks = Vec::new();
        if let Some((field, text)) = self.reasoning {
            let value = Map::from_iter([(field.to_owned(), Value::String(text))]);
            let format = Format::OpenAi;
            blocks.push(Block::Opaque(Opaque { format, value }));
        }
        if !self.text.is_empty() {
            blocks.push(Block::Text(self.text));
        }
        blocks.extend(self.calls.finish());
        let stop = match self.stop {
            _ if self.is_refusal => Stop::Refused,
            Some(stop) => stop,
            None => Stop::End,
        };
        (blocks, stop)
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "stop" | "eos" | "end_turn" => Stop::End,
        "tool_calls" | "function_call" => Stop::ToolUse,
        "length" | "max_tokens" => Stop::OutputLimit,
        "content_filter" => Stop::Refused,
        other => Stop::other(other),
    }
}
