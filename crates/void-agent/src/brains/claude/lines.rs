//! Reads what the program prints: one JSON object per line. Its `stream_event` lines wrap the events of
//! the Messages API; the last line is the `result`. Every other kind is left alone, above all what it
//! says about tools.

use serde::Deserialize;
use serde_json::Value;

use crate::brains::anthropic::{self, MessageReader};
use crate::brains::exchanges::Fault;
use crate::brains::{BrainEvent, OnEvent, Stop, Usage};

/// What the gateway says when the turn may not ask any more, by which the end of the program is known.
pub(crate) const NO_TOKENS_LEFT: &str = "void: this turn has no tokens of output left";
pub(crate) const NO_CALLS_LEFT: &str = "void: this turn has no calls to a model left";

/// One run of the program, as far as it was heard.
#[derive(Default)]
pub(super) struct Conversation {
    text: String,
    message: MessageReader,
    /// A new message began, and it has not said anything yet.
    is_new_message: bool,
    result: Option<ResultLine>,
}

pub(super) enum Verdict {
    Answered(Stop),
    /// It was told to go on with a conversation that it does not have.
    UnknownSession,
    Failed(Failed),
}

pub(super) struct Failed {
    pub status: Option<u16>,
    pub words: String,
}

#[derive(Deserialize)]
struct ClaudeLine {
    #[serde(rename = "type")]
    kind: String,
    event: Option<Value>,
    /// Of a helper that the program runs inside itself; there should be none.
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct ResultLine {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    is_error: bool,
    api_error_status: Option<u16>,
    result: Option<String>,
    #[serde(default)]
    errors: Vec<String>,
    stop_reason: Option<String>,
    session_id: Option<String>,
    #[serde(default)]
    usage: UsageLine,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct UsageLine {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
}

impl Conversation {
    pub(super) fn take(&mut self, line: &[u8], on_event: OnEvent<'_>) -> Result<(), Fault> {
        let ClaudeLine {
            kind,
            event,
            parent_tool_use_id,
        } = serde_json::from_slice(line).map_err(|_| Fault::Malformed("a line of JSON"))?;
        match (kind.as_str(), event) {
            ("stream_event", Some(event)) if parent_tool_use_id.is_none() => {
                self.hear(&event, on_event)
            }
            ("stream_event", None) => Err(Fault::Malformed("an event in a stream_event")),
            ("result", _) => {
                let result = serde_json::from_slice(line);
                let result: ResultLine = result.map_err(|_| Fault::Malformed("a result"))?;
                self.finish(result, on_event);
                Ok(())
            }
            _other => Ok(()),
        }
    }

    fn hear(&mut self, event: &Value, on_event: OnEvent<'_>) -> Result<(), Fault> {
        if event
            .get("type")
            .is_some_and(|kind| kind == "message_start")
        {
            self.message = MessageReader::default();
            self.is_new_message = true;
        }
        let (text, is_new_message) = (&mut self.text, &mut self.is_new_message);
        let mut say = |event: BrainEvent| {
            if let BrainEvent::Text(words) = event {
                if std::mem::take(is_new_message) && !text.is_empty() {
                    text.push_str("\n\n");
                    on_event(BrainEvent::Text("\n\n".to_owned()));
                }
                text.push_str(&words);
                on_event(BrainEvent::Text(words));
            }
        };
        self.message.event(event.to_string().as_bytes(), &mut say)
    }

    fn finish(&mut self, result: ResultLine, on_event: OnEvent<'_>) {
        let words = result.result.as_deref().filter(|_| !result.is_error);
        if let Some(words) = words.filter(|words| self.text.is_empty() && !words.is_empty()) {
            // An answer that no model gave has no events.
            self.text.push_str(words);
            on_event(BrainEvent::Text(words.to_owned()));
        }
        self.result = Some(result);
    }

    pub(super) fn is_over(&self) -> bool {
        self.result.is_some()
    }

    pub(super) fn session(&self) -> Option<String> {
        self.result.as_ref()?.session_id.clone()
    }

    pub(super) fn usage(&self) -> Usage {
        let usage = self.result.as_ref().map(|result| &result.usage);
        usage.map_or_else(Usage::default, |usage| Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
            is_estimate: false,
        })
    }

    pub(super) fn verdict(&self) -> Verdict {
        let Some(result) = &self.result else {
            return Verdict::Failed(Failed {
                status: None,
                words: String::new(),
            });
        };
        if result.subtype == "error_max_turns" {
            return Verdict::Answered(Stop::other("the limit of its tool rounds"));
        }
        if !result.is_error {
            return Verdict::Answered(anthropic::stop_of(result.stop_reason.as_deref()));
        }
        let mut words = result.errors.join("; ");
        if words.is_empty() {
            words = result.result.clone().unwrap_or_default();
        }
        let has = |part: &str| words.contains(part);
        if has("No conversation found") || has("--resume requires a valid session ID") {
            Verdict::UnknownSession
        } else if has(NO_TOKENS_LEFT) {
            Verdict::Answered(Stop::OutputLimit)
        } else if has(NO_CALLS_LEFT) {
            Verdict::Answered(Stop::other("the limit of its calls to a model"))
        } else {
            Verdict::Failed(Failed {
                status: result.api_error_status,
                words,
            })
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}
