//! What a model reads in a request, whatever the format: for scripted models that obey or lie.

use serde_json::Value;

/// The texts of users and tools, oldest first.
pub fn heard(request: &Value) -> Vec<String> {
    let messages = request.pointer("/body/messages").and_then(Value::as_array);
    let theirs = messages.into_iter().flatten().filter(|message| {
        let role = message.get("role").and_then(Value::as_str);
        matches!(role, Some("user" | "tool"))
    });
    let mut texts = Vec::new();
    for message in theirs {
        collect(message.get("content"), &mut texts);
    }
    texts
}

/// The names of the tools that it may call.
pub fn offered_tools(request: &Value) -> Vec<String> {
    let tools = request.pointer("/body/tools").and_then(Value::as_array);
    let names = tools.into_iter().flatten().filter_map(|tool| {
        let name = tool.get("name").or_else(|| tool.pointer("/function/name"));
        name.and_then(Value::as_str)
    });
    names.map(str::to_owned).collect()
}

fn collect(content: Option<&Value>, texts: &mut Vec<String>) {
    match content {
        Some(Value::String(text)) => texts.push(text.clone()),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                collect(block.get("text").or_else(|| block.get("content")), texts);
            }
        }
        _ => {}
    }
}
