//! The request. Four marks say how far the prefix may be cached: the last tool, the system prompt, the place, and the
//! newest message, so that the next call of a growing conversation finds all but its tail.

use serde_json::{Value, json};

use crate::brains::{Block, Format, Message, Prompt, ToolResult, set};

pub(super) fn body(model: &str, prompt: &Prompt) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": prompt.output_tokens_max,
        "stream": true,
        "messages": messages(&prompt.messages),
    });
    let parts = [&prompt.system, &prompt.place];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let system: Vec<Value> = parts
        .map(|part| {
            let mut block = json!({"type": "text", "text": part});
            mark(&mut block);
            block
        })
        .collect();
    if !system.is_empty() {
        set(&mut body, "system", Value::Array(system));
    }
    if !prompt.tools.is_empty() {
        let mut tools: Vec<Value> = prompt
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.schema,
                })
            })
            .collect();
        tools.last_mut().map(mark);
        set(&mut body, "tools", Value::Array(tools));
    }
    body
}

fn messages(messages: &[Message]) -> Vec<Value> {
    let mut written = Vec::with_capacity(messages.len());
    let mut newest_user = None;
    for message in messages {
        let (role, content) = match message {
            Message::User(text) => ("user", vec![json!({"type": "text", "text": text})]),
            Message::Assistant(blocks) => ("assistant", blocks.iter().filter_map(block).collect()),
            Message::ToolResults(results) => ("user", results.iter().map(result).collect()),
        };
        if content.is_empty() {
            continue;
        }
        if role == "user" {
            newest_user = Some(written.len());
        }
        written.push(json!({"role": role, "content": content}));
    }
    let newest = newest_user.and_then(|at| written.get_mut(at));
    let content = newest.and_then(|message| message.get_mut("content")?.as_array_mut());
    if let Some(last) = content.and_then(|content| content.last_mut()) {
        mark(last);
    }
    written
}

/// Empty text is refused there, and another format's private blocks mean nothing.
fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) if text.trim().is_empty() => None,
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments.to_wire(),
        })),
        Block::Opaque(opaque) => {
            (opaque.format == Format::Anthropic).then(|| Value::Object(opaque.value.clone()))
        }
    }
}

fn result(result: &ToolResult) -> Value {
    let mut value = json!({
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.content,
    });
    if result.is_error {
        set(&mut value, "is_error", Value::Bool(true));
    }
    value
}

fn mark(block: &mut Value) {
    set(block, "cache_control", json!({"type": "ephemeral"}));
}
