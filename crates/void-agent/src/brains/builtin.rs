//! The built-in brain: rules, no key, no network. It uses the same tools as every other brain, says
//! only what they returned, and says plainly that it is made of rules.
//!
//! It never does what was not asked: only an order that is nothing but an order ([`orders`], [`targets`])
//! or a plain answer to its own last question ([`questions`]) becomes a wish. All else is answered,
//! offered or asked back.

mod acts;
mod catalogue;
mod clauses;
mod cues;
mod doubts;
mod intents;
mod kinship;
mod known;
mod loads;
mod looks;
mod notes;
mod orders;
mod pasted;
mod patterns;
mod periods;
mod questions;
mod records;
mod rejections;
mod reports;
mod requests;
mod results;
mod services;
mod spans;
mod strangers;
mod targets;
#[cfg(test)]
mod tests;
mod times;
mod topics;
mod unclear;
mod undo;
mod unsupported;
mod verbs;
mod words;

use serde_json::{Map, Value, json};
use void_domain::failures::FailureCode;

use self::questions::Question;
use super::{
    Answering, Arguments, Block, Brain, BrainEvent, Message, OnEvent, Prompt, Reply, Stop,
    ToolCall, Usage,
};

pub struct BuiltinBrain;

const MODEL: &str = "rules-2";

impl Brain for BuiltinBrain {
    fn model(&self) -> &str {
        MODEL
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        let step = next(prompt);
        Box::pin(async move {
            let mut blocks = Vec::new();
            let stop = match step {
                Next::Say(text) => {
                    on_event(BrainEvent::Text(text.clone()));
                    blocks.push(Block::Text(text));
                    Stop::End
                }
                Next::Use {
                    saying,
                    tool,
                    arguments,
                } => {
                    if let Some(text) = saying {
                        on_event(BrainEvent::Text(text.clone()));
                        blocks.push(Block::Text(text));
                    }
                    on_event(BrainEvent::ToolStarted {
                        name: tool.to_owned(),
                    });
                    blocks.push(Block::ToolCall(ToolCall {
                        id: format!("rule-{}", prompt.messages.len()),
                        name: tool.to_owned(),
                        arguments: Arguments::Object(arguments),
                    }));
                    Stop::ToolUse
                }
            };
            Ok(Reply {
                blocks,
                stop,
                usage: Usage::default(),
                session: None,
            })
        })
    }
}

/// What it does next.
enum Next {
    Say(String),
    Use {
        /// What it says before it does it.
        saying: Option<String>,
        tool: &'static str,
        arguments: Map<String, Value>,
    },
}

impl Next {
    fn look(tool: &'static str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        Self::Use {
            saying: None,
            tool,
            arguments,
        }
    }

    /// Says something and then uses a tool.
    fn saying(saying: String, tool: &'static str, arguments: Value) -> Self {
        match Self::look(tool, arguments) {
            Self::Use {
                tool, arguments, ..
            } => Self::Use {
                saying: Some(saying),
                tool,
                arguments,
            },
            said @ Self::Say(_) => said,
        }
    }

    /// Says something that ends with no question of hers.
    fn say(text: impl Into<String>) -> Self {
        Self::Say(questions::closed(text.into()))
    }

    /// Says something and asks.
    fn ask(text: &str, question: &Question) -> Self {
        match text.trim() {
            "" => Self::Say(question.line()),
            text => Self::Say(format!("{text}\n\n{}", question.line())),
        }
    }
}

/// What this turn knows so far.
struct Knowledge<'a> {
    said: &'a str,
    /// What the owner said before that.
    said_before: Option<&'a str>,
    /// Her question that the owner's words follow immediately.
    asked: Option<Question>,
    /// What she said right before.
    said_last: Option<&'a str>,
    /// The codes of what she asked for in this conversation, oldest first.
    requested: Vec<String>,
    /// An earlier attempt to answer the same words was cut off after it had done something.
    is_second_attempt: bool,
    /// What she said in earlier turns, newest last.
    earlier: Vec<&'a str>,
    /// What the owner said in earlier turns, newest last.
    said_earlier: Vec<&'a str>,
    tools: Vec<&'a str>,
    /// Tool, arguments and result, in order.
    results: Vec<(String, Value, Value)>,
}

impl Knowledge<'_> {
    /// The last result of a tool in this turn.
    fn result(&self, tool: &str) -> Option<&Value> {
        let mut results = self.results.iter().rev();
        results
            .find(|(name, _, _)| name == tool)
            .map(|(_, _, value)| value)
    }

    /// Arguments and results of a tool in this turn, in order.
    fn results(&self, tool: &str) -> impl Iterator<Item = (&Value, &Value)> {
        let results = self.results.iter().filter(move |(name, _, _)| name == tool);
        results.map(|(_, arguments, value)| (arguments, value))
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(&name)
    }

    fn may_propose(&self) -> bool {
        self.has_tool("propose_action")
    }
}

fn next(prompt: &Prompt) -> Next {
    intents::next(&look_back(prompt))
}

fn look_back(prompt: &Prompt) -> Knowledge<'_> {
    let mut known = Knowledge {
        said: "",
        said_before: None,
        asked: None,
        said_last: None,
        requested: Vec::new(),
        is_second_attempt: false,
        earlier: Vec::new(),
        said_earlier: Vec::new(),
        tools: prompt.tools.iter().map(|tool| tool.name.as_str()).collect(),
        results: Vec::new(),
    };
    let mut calls: Vec<&ToolCall> = Vec::new();
    let mut before: Option<&Message> = None;
    for message in &prompt.messages {
        match message {
            Message::User(text) => {
                known.said_before = Some(known.said).filter(|said| !said.is_empty());
                known.said_earlier.extend(known.said_before);
                (known.said, known.is_second_attempt) = without_record(text);
                known.asked = before.and_then(asked_in);
                known.said_last = before.and_then(last_text);
                note_requests(&mut known);
                known.results.clear();
            }
            Message::Assistant(blocks) => {
                for block in blocks {
                    match block {
                        Block::ToolCall(call) => calls.push(call),
                        Block::Text(text) => known.earlier.push(text),
                        Block::Opaque(_) => {}
                    }
                }
            }
            Message::ToolResults(results) => {
                for result in results {
                    let call = calls.iter().rev().find(|call| call.id == result.call_id);
                    let value = serde_json::from_str(&result.content)
                        .unwrap_or_else(|_| json!({"error": {"code": FailureCode::Unreadable}}));
                    if let Some(call) = call {
                        let arguments = call.arguments.to_wire();
                        known.results.push((call.name.clone(), arguments, value));
                    }
                }
            }
        }
        before = Some(message);
    }
    known
}

/// The question that a message of hers ends with; nobody else's message has one.
fn asked_in(message: &Message) -> Option<Question> {
    let Message::Assistant(blocks) = message else {
        return None;
    };
    match blocks.last()? {
        Block::Text(text) => Question::ending(text),
        Block::ToolCall(_) | Block::Opaque(_) => None,
    }
}

fn last_text(message: &Message) -> Option<&str> {
    let Message::Assistant(blocks) = message else {
        return None;
    };
    match blocks.last()? {
        Block::Text(text) => Some(text),
        Block::ToolCall(_) | Block::Opaque(_) => None,
    }
}

fn note_requests(known: &mut Knowledge<'_>) {
    let told = known.said_last.unwrap_or_default();
    known
        .requested
        .retain(|code| !requests::is_told_over(told, code));
    for code in requests::codes(known.said_last.unwrap_or_default(), requests::QUEUED) {
        if !known.requested.iter().any(|known| known == code) {
            known.requested.push(code.to_owned());
        }
    }
}

/// What was said without what the server put before it, and whether that speaks of an attempt that was
/// cut off.
fn without_record(text: &str) -> (&str, bool) {
    let record = text
        .strip_prefix("[Void's record ")
        .and_then(|rest| rest.split_once("]\n\n"));
    match record {
        Some((notes, said)) => (said, notes.contains("of your attempt to answer this")),
        None => (text, false),
    }
}
