//! The built-in brain: rules, no key, no network. It uses the same tools as every other brain, says
//! only what they returned, and says plainly that it is made of rules.

mod intents;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Map, Value, json};

use self::intents::Intent;
use super::{
    Answering, Arguments, Block, Brain, BrainEvent, Message, OnEvent, Prompt, Reply, Stop,
    ToolCall, Usage,
};

pub struct BuiltinBrain;

const MODEL: &str = "rules-1";

impl Brain for BuiltinBrain {
    fn model(&self) -> &str {
        MODEL
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        let step = next(prompt);
        Box::pin(async move {
            let (block, stop) = match step {
                Next::Say(text) => {
                    on_event(BrainEvent::Text(text.clone()));
                    (Block::Text(text), Stop::End)
                }
                Next::Use { tool, arguments } => {
                    on_event(BrainEvent::ToolStarted {
                        name: tool.to_owned(),
                    });
                    let call = ToolCall {
                        id: format!("rule-{}", prompt.messages.len()),
                        name: tool.to_owned(),
                        arguments: Arguments::Object(arguments),
                    };
                    (Block::ToolCall(call), Stop::ToolUse)
                }
            };
            Ok(Reply {
                blocks: vec![block],
                stop,
                usage: Usage::default(),
                session: None,
            })
        })
    }
}

/// What it does next.
pub(super) enum Next {
    Say(String),
    Use {
        tool: &'static str,
        arguments: Map<String, Value>,
    },
}

/// What this turn has seen so far: the owner's words, and the last result of each tool.
pub(super) struct Seen<'a> {
    pub said: &'a str,
    pub can_propose: bool,
    results: Vec<(String, Value)>,
    /// What it said in earlier turns, newest last.
    pub earlier: Vec<&'a str>,
}

impl Seen<'_> {
    /// The last result of a tool in this turn.
    pub(super) fn result(&self, tool: &str) -> Option<&Value> {
        let mut results = self.results.iter().rev();
        results
            .find(|(name, _)| name == tool)
            .map(|(_, value)| value)
    }
}

fn next(prompt: &Prompt) -> Next {
    let seen = look_back(prompt);
    Intent::of(&seen).next(&seen)
}

fn look_back(prompt: &Prompt) -> Seen<'_> {
    let mut seen = Seen {
        said: "",
        can_propose: prompt
            .tools
            .iter()
            .any(|tool| tool.name == "propose_action"),
        results: Vec::new(),
        earlier: Vec::new(),
    };
    let mut names: Vec<(&str, &str)> = Vec::new();
    for message in &prompt.messages {
        match message {
            Message::User(text) => {
                // Without what the server put before it.
                let text = text.as_str();
                seen.said = text
                    .strip_prefix("[Void's record")
                    .and_then(|rest| rest.split_once("]\n\n"))
                    .map_or(text, |(_, said)| said);
                seen.results.clear();
            }
            Message::Assistant(blocks) => {
                for block in blocks {
                    match block {
                        Block::ToolCall(call) => names.push((&call.id, &call.name)),
                        Block::Text(text) => seen.earlier.push(text),
                        Block::Opaque(_) => {}
                    }
                }
            }
            Message::ToolResults(results) => {
                for result in results {
                    let name = names.iter().rev().find(|(id, _)| *id == result.call_id);
                    let value = serde_json::from_str(&result.content)
                        .unwrap_or_else(|_| json!({"error": {"code": "unreadable"}}));
                    if let Some((_, name)) = name {
                        seen.results.push(((*name).to_owned(), value));
                    }
                }
            }
        }
    }
    seen
}
