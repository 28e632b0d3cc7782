//! What the real servers refuse. Only rules that a client can break by a mistake of its own.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Format;

const CACHE_MARKS_MAX: usize = 4;

/// The complaint, if there is one.
pub(super) fn broken(format: Format, body: &Value) -> Option<String> {
    let result = match format {
        Format::Anthropic => anthropic(body),
        Format::OpenAi => common(body).and_then(|()| openai(body)),
        Format::Ollama => common(body),
    };
    result.err()
}

fn common(body: &Value) -> Result<(), String> {
    ensure(body["model"].is_string(), "model: field required")?;
    ensure(body["stream"] == true, "this server only streams")?;
    ensure(
        !list(&body["messages"]).is_empty(),
        "messages: field required",
    )?;
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        let known = ["system", "user", "assistant", "tool"].contains(&role);
        ensure(known, &format!("messages: unknown role {role:?}"))?;
        ensure(
            message["content"].is_string(),
            "messages: content is no text",
        )?;
    }
    for tool in list(&body["tools"]) {
        let is_object = tool["function"]["parameters"]["type"] == "object";
        ensure(is_object, "tools: parameters is no schema of an object")?;
    }
    Ok(())
}

/// Every result belongs to a call of the assistant before it, and every call has one.
fn openai(body: &Value) -> Result<(), String> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for message in list(&body["messages"]) {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            ensure(open.remove(id), &format!("no call for the result {id:?}"))?;
            continue;
        }
        ensure(open.is_empty(), "tool_calls without their results")?;
        for call in list(&message["tool_calls"]) {
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let is_json = serde_json::from_str::<Value>(arguments).is_ok();
            ensure(is_json, "tool_calls: arguments are no JSON")?;
            ensure(open.insert(id_of(call)), "tool_calls: an id twice")?;
        }
    }
    ensure(open.is_empty(), "tool_calls without their results")
}

fn anthropic(body: &Value) -> Result<(), String> {
    ensure(body["model"].is_string(), "model: Field required")?;
    ensure(
        body["max_tokens"].as_u64() > Some(0),
        "max_tokens: Field required",
    )?;
    ensure(body["stream"] == true, "this server only streams")?;
    let marks = body.to_string().matches("\"cache_control\"").count();
    ensure(
        marks <= CACHE_MARKS_MAX,
        "A maximum of 4 blocks with cache_control may be provided",
    )?;
    for tool in list(&body["tools"]) {
        let is_object = tool["input_schema"]["type"] == "object";
        ensure(is_object, "tools: input_schema.type: Field required")?;
    }
    let messages = list(&body["messages"]);
    ensure(
        !messages.is_empty(),
        "messages: at least one message is required",
    )?;
    let (mut open, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for message in messages {
        let content = list(&message["content"]);
        ensure(!content.is_empty(), "messages: content must not be empty")?;
        let mut calls = BTreeSet::new();
        for block in content {
            let is_text = block["type"] == "text";
            let has_text = block["text"]
                .as_str()
                .is_some_and(|text| !text.trim().is_empty());
            ensure(
                !is_text || has_text,
                "messages: text content blocks must be non-empty",
            )?;
            if block["type"] == "tool_use" {
                ensure(
                    block["input"].is_object(),
                    "tool_use.input: Input should be an object",
                )?;
                ensure(seen.insert(id_of(block)), "`tool_use` ids must be unique")?;
                calls.insert(id_of(block));
            }
            if block["type"] == "tool_result" {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let words = format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}");
                ensure(open.remove(id), &words)?;
            }
        }
        let words = "`tool_use` ids were found without `tool_result` blocks immediately after";
        ensure(open.is_empty(), words)?;
        open = calls;
    }
    ensure(
        open.is_empty(),
        "`tool_use` ids were found without `tool_result` blocks",
    )
}

fn id_of(call: &Value) -> &str {
    call["id"].as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn ensure(holds: bool, complaint: &str) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(complaint.to_owned())
    }
}
