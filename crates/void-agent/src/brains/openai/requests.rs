//! The request.

use serde_json::{Value, json};

use crate::brains::{Block, Format, Message, Prompt, ToolResult, functions, set};

/// OpenAI's newer models refuse the old name, and local servers do not know the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

impl LimitField {
    pub(super) fn of(host: &str) -> Self {
        if host == "api.openai.com" || host.ends_with(".openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

pub(super) fn body(model: &str, limit: LimitField, prompt: &Prompt) -> Value {
    let mut messages = Vec::with_capacity(prompt.messages.len() + 1);
    let instructions = prompt.instructions();
    if !instructions.is_empty() {
        messages.push(json!({"role": "system", "content": instructions}));
    }
    for message in &prompt.messages {
        match message {
            Message::User(text) => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant(blocks) if blocks.is_empty() => {}
            Message::Assistant(blocks) => messages.push(assistant(blocks)),
            Message::ToolResults(results) => messages.extend(results.iter().map(result)),
        }
    }
    let mut body = json!({
        "model": model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages,
    });
    set(&mut body, limit.name(), json!(prompt.output_tokens_max));
    if !prompt.tools.is_empty() {
        set(&mut body, "tools", functions::tools(&prompt.tools));
    }
    body
}

fn assistant(blocks: &[Block]) -> Value {
    let calls = blocks.iter().filter_map(|block| match block {
        Block::ToolCall(call) => Some(json!({
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.arguments.to_wire().to_string(),
            },
        })),
        Block::Text(_) | Block::Opaque(_) => None,
    });
    functions::assistant(blocks, Format::OpenAi, calls.collect())
}

fn result(result: &ToolResult) -> Value {
    json!({
        "role": "tool",
        "tool_call_id": result.call_id,
        "content": functions::result_text(result),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_named_as_the_host_knows_it() {
        for (host, name) in [
            ("api.openai.com", "max_completion_tokens"),
            ("me.openai.azure.com", "max_completion_tokens"),
            ("localhost", "max_tokens"),
            ("api.openai.com.example", "max_tokens"),
        ] {
            assert_eq!(LimitField::of(host).name(), name, "{host}");
        }
    }
}
