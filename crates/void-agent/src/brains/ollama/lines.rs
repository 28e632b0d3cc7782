//! Reads the lines of one chat answer. Tool calls come whole.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::brains::calls::{Calls, Piece};
use crate::brains::exchanges::{Fault, Progress, Reader};
use crate::brains::frames::Frame;
use crate::brains::refusals::ProviderError;
use crate::brains::tallies::Tally;
use crate::brains::{Block, BrainEvent, Format, OnEvent, Opaque, Stop};

pub(in crate::brains) struct LineReader {
    text: String,
    thinking: String,
    calls: Calls,
    done: Option<Stop>,
    tally: Tally,
}

#[derive(Deserialize)]
struct OllamaLine {
    message: Option<LineMessage>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    /// Left out when the whole prompt was in its cache.
    prompt_eval_count: Option<u64>,
    eval_count: Option<u64>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct LineMessage {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<OllamaCall>>,
}

#[derive(Deserialize)]
struct OllamaCall {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: Option<Value>,
}

impl LineReader {
    pub(super) fn new(call_ids: BTreeSet<String>) -> Self {
        Self {
            text: String::new(),
            thinking: String::new(),
            calls: Calls::new(call_ids),
            done: None,
            tally: Tally::default(),
        }
    }

    fn message(&mut self, message: LineMessage, on_event: OnEvent<'_>) -> Result<(), Fault> {
        self.thinking
            .push_str(&message.thinking.unwrap_or_default());
        if let Some(text) = message.content.filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            on_event(BrainEvent::Text(text));
        }
        for call in message.tool_calls.unwrap_or_default() {
            let piece = Piece {
                index: None,
                id: call.id.as_deref().unwrap_or_default(),
                name: &call.function.name,
                arguments: call.function.arguments,
            };
            self.calls.whole(piece, on_event)?;
        }
        Ok(())
    }
}

impl Reader for LineReader {
    fn take(&mut self, frame: &Frame<'_>, on_event: OnEvent<'_>) -> Result<(), Fault> {
        let line: OllamaLine =
            serde_json::from_slice(frame.data).map_err(|_| Fault::Malformed("a line of JSON"))?;
        if let Some(error) = line.error.filter(|error| !error.is_null()) {
            return Err(Fault::ProviderError(ProviderError::of(&error)));
        }
        if line.message.is_none() && !line.done {
            return Err(Fault::Malformed("a message or the end"));
        }
        if let Some(message) = line.message {
            self.message(message, on_event)?;
        }
        if line.done {
            self.tally.input = line.prompt_eval_count;
            self.tally.output = line.eval_count;
            self.done = Some(match line.done_reason.as_deref() {
                None | Some("" | "stop") => Stop::End,
                Some("length") => Stop::OutputLimit,
                Some(other) => Stop::other(other),
            });
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.done.is_some() {
            Progress::Over
        } else if self.text.is_empty() && self.thinking.is_empty() && self.calls.is_empty() {
            Progress::Waiting
        } else {
            Progress::Begun
        }
    }

    fn tally(&self) -> Tally {
        self.tally
    }

    fn reply_bytes(&self) -> usize {
        self.text.len() + self.thinking.len() + self.calls.bytes()
    }

    fn finish(self) -> (Vec<Block>, Stop) {
        let mut blocks = Vec::new();
        if !self.thinking.is_empty() {
            let value = Map::from_iter([("thinking".to_owned(), Value::String(self.thinking))]);
            let format = Format::Ollama;
            blocks.push(Block::Opaque(Opaque { format, value }));
        }
        if !self.text.is_empty() {
            blocks.push(Block::Text(self.text));
        }
        blocks.extend(self.calls.finish());
        (blocks, self.done.unwrap_or(Stop::End))
    }
}
