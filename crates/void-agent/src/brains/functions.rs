//! What OpenAI's format and Ollama's write the same way.

use serde_json::{Value, json};

use super::{Block, Format, ToolResult, ToolSpec, set};

pub(super) fn tools(tools: &[ToolSpec]) -> Value {
    let functions = tools.iter().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
        }})
    });
    functions.collect()
}

/// The assistant's message. Its content is never null: templates of local servers stumble over it.
/// Reasoning goes back in the field that it came in, and only with the tool calls that it led to.
pub(super) fn assistant(blocks: &[Block], format: Format, calls: Vec<Value>) -> Value {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::ToolCall(_) | Block::Opaque(_) => None,
    });
    let mut message = json!({"role": "assistant", "content": texts.collect::<String>()});
    if calls.is_empty() {
        return message;
    }
    set(&mut message, "tool_calls", Value::Array(calls));
    for block in blocks {
        if let Block::Opaque(opaque) = block
            && opaque.format == format
        {
            for (field, value) in &opaque.value {
                set(&mut message, field, value.clone());
            }
        }
    }
    message
}

/// There is no field for failure, so the text says it.
pub(super) fn result_text(result: &ToolResult) -> String {
    if result.is_error {
        format!("Error: {}", result.content)
    } else {
        result.content.clone()
    }
}
