//! The request. Arguments are objects here, and a result names its tool.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::brains::{Block, Format, Message, Prompt, ToolResult, functions, set};

pub(super) fn body(model: &str, prompt: &Prompt) -> Value {
    let mut messages = Vec::with_capacity(prompt.messages.len() + 1);
    let instructions = prompt.instructions();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    let mut names = BTreeMap::new();
    for message in &prompt.messages {
        match message {
            Message::User(text) => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant(blocks) if blocks.is_empty() => {}
            Message::Assistant(blocks) => messages.push(assistant(blocks, &mut names)),
            Message::ToolResults(results) => {
                messages.extend(results.iter().map(|one| result(one, &names)));
            }
        }
    }
    let mut body = json!({
        "model": model,
        "stream": true,
        "messages": messages,
        "options": {"num_predict": prompt.output_tokens_max},
    });
    if !prompt.tools.is_empty() {
        set(&mut body, "tools", functions::tools(&prompt.tools));
    }
    body
}

/// Remembers the names of the tools for their results.
fn assistant<'a>(blocks: &'a [Block], names: &mut BTreeMap<&'a str, &'a str>) -> Value {
    let mut calls = Vec::new();
    for block in blocks {
        if let Block::ToolCall(call) = block {
            names.insert(&call.id, &call.name);
            calls.push(json!({
                "id": call.id,
                "function": {"name": call.name, "arguments": call.arguments.to_wire()},
            }));
        }
    }
    functions::assistant(blocks, Format::Ollama, calls)
}

fn result(result: &ToolResult, names: &BTreeMap<&str, &str>) -> Value {
    let mut message = json!({
        "role": "tool",
        "tool_call_id": result.call_id,
        "content": functions::result_text(result),
    });
    if let Some(name) = names.get(result.call_id.as_str()) {
        set(&mut message, "tool_name", json!(name));
    }
    message
}
