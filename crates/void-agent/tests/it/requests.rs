//! Exactly what is sent.

use serde_json::{Value, json};
use void_agent::brains::{Message, Prompt, ToolResult, ToolSpec};
use void_testkit::models::{Format, ModelServer, Script};

use crate::talk::{KEY, ask_for, brain, brain_with, call, config, patience, text};

fn conversation() -> Prompt {
    let tool = |name: &str, schema: Value| ToolSpec {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        schema,
    };
    let result = |call_id: &str, content: &str, is_error| ToolResult {
        call_id: call_id.to_owned(),
        content: content.to_owned(),
        is_error,
    };
    Prompt {
        system: "You are Little Blue.".to_owned(),
        messages: vec![
            Message::User("restart caddy".to_owned()),
            Message::Assistant(vec![
                text("I look."),
                call("t1", "service_status", json!({})),
                call("t2", "propose_action", json!({"id": "restart-caddy"})),
            ]),
            Message::ToolResults(vec![
                result("t1", "caddy: down", false),
                result("t2", "no such action", true),
            ]),
        ],
        tools: vec![
            tool("service_status", json!({"type": "object"})),
            tool(
                "propose_action",
                json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}),
            ),
        ],
        output_tokens_max: 1234,
        ..Prompt::default()
    }
}

async fn sent(format: Format, prompt: &Prompt) -> Value {
    let server = ModelServer::start(format, [Script::says("ok")]);
    ask_for(&*brain(format, &server), prompt).await.0.unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    requests[0].clone()
}

#[tokio::test]
async fn anthropic_is_sent_the_whole_with_three_cache_marks() {
    let request = sent(Format::Anthropic, &conversation()).await;
    assert_eq!(request["method"], "POST");
    assert_eq!(request["path"], "/v1/messages");
    assert_eq!(request["headers"]["x-api-key"], KEY);
    assert_eq!(request["headers"]["anthropic-version"], "2023-06-01");
    assert_eq!(request["headers"]["content-type"], "application/json");
    assert_eq!(request["headers"]["authorization"], Value::Null);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        request["body"],
        json!({
            "model": "scripted-1",
            "max_tokens": 1234,
            "stream": true,
            "system": [{"type": "text", "text": "You are Little Blue.", "cache_control": mark}],
            "tools": [
                {"name": "service_status", "description": "The tool service_status.", "input_schema": {"type": "object"}},
                {"name": "propose_action", "description": "The tool propose_action.", "cache_control": mark,
                 "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
            ],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "restart caddy"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "service_status", "input": {}},
                    {"type": "tool_use", "id": "t2", "name": "propose_action", "input": {"id": "restart-caddy"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "caddy: down"},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "no such action", "is_error": true, "cache_control": mark},
                ]},
            ],
        })
    );
}

#[tokio::test]
async fn openai_is_sent_functions_and_a_request_for_counters() {
    let request = sent(Format::OpenAi, &conversation()).await;
    assert_eq!(request["path"], "/v1/chat/completions");
    assert_eq!(request["headers"]["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request["headers"]["x-api-key"], Value::Null);
    assert_eq!(
        request["body"],
        json!({
            "model": "scripted-1",
            "max_tokens": 1234,
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": functions(),
            "messages": [
                {"role": "system", "content": "You are Little Blue."},
                {"role": "user", "content": "restart caddy"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "service_status", "arguments": "{}"}},
                    {"id": "t2", "type": "function", "function": {"name": "propose_action", "arguments": "{\"id\":\"restart-caddy\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "t1", "content": "caddy: down"},
                {"role": "tool", "tool_call_id": "t2", "content": "Error: no such action"},
            ],
        })
    );
}

#[tokio::test]
async fn ollama_is_sent_objects_and_the_names_of_tools() {
    let request = sent(Format::Ollama, &conversation()).await;
    assert_eq!(request["path"], "/api/chat");
    assert_eq!(
        request["body"],
        json!({
            "model": "scripted-1",
            "stream": true,
            "options": {"num_predict": 1234},
            "tools": functions(),
            "messages": [
                {"role": "system", "content": "You are Little Blue."},
                {"role": "user", "content": "restart caddy"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "t1", "function": {"name": "service_status", "arguments": {}}},
                    {"id": "t2", "function": {"name": "propose_action", "arguments": {"id": "restart-caddy"}}},
                ]},
                {"role": "tool", "tool_call_id": "t1", "tool_name": "service_status", "content": "caddy: down"},
                {"role": "tool", "tool_call_id": "t2", "tool_name": "propose_action", "content": "Error: no such action"},
            ],
        })
    );
}

fn functions() -> Value {
    json!([
        {"type": "function", "function": {"name": "service_status", "description": "The tool service_status.",
            "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "propose_action", "description": "The tool propose_action.",
            "parameters": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}},
    ])
}

#[tokio::test]
async fn what_is_empty_is_left_out() {
    let prompt = Prompt {
        system: String::new(),
        messages: vec![
            Message::User("hello".to_owned()),
            Message::Assistant(vec![]),
            Message::User("hello?".to_owned()),
            Message::Assistant(vec![text("hi"), text(" ")]),
            Message::User("good".to_owned()),
        ],
        tools: vec![],
        output_tokens_max: 1,
        ..Prompt::default()
    };
    for format in Format::ALL {
        let body = sent(format, &prompt).await["body"].clone();
        assert_eq!(body["messages"].as_array().unwrap().len(), 4, "{format:?}");
        assert_eq!(body.get("tools"), None, "{format:?}");
        assert_eq!(body.get("system"), None, "{format:?}");
        let marks = body.to_string().matches("cache_control").count();
        assert_eq!(marks, usize::from(format == Format::Anthropic));
    }
}

#[tokio::test]
async fn the_prefix_is_the_same_when_the_conversation_grows() {
    let mut long = conversation();
    let short = sent(Format::Anthropic, &long).await["body"].clone();
    long.messages
        .push(Message::Assistant(vec![text("It is down.")]));
    long.messages.push(Message::User("and now?".to_owned()));
    let long = sent(Format::Anthropic, &long).await["body"].clone();
    assert_eq!(short["system"].to_string(), long["system"].to_string());
    assert_eq!(short["tools"].to_string(), long["tools"].to_string());
    let unmarked = |body: &Value| {
        let text = body["messages"].to_string();
        text.replace("\"cache_control\":{\"type\":\"ephemeral\"},", "")
    };
    let short = unmarked(&short);
    assert!(unmarked(&long).starts_with(short.trim_end_matches(']')));
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    for format in Format::ALL {
        let server = ModelServer::start(format, [Script::says("ok")]);
        let mut config = config(&server.base_url(), patience());
        config.key = None;
        let brain = brain_with(format, config);
        ask_for(&*brain, &conversation()).await.0.unwrap();
        let headers = server.requests()[0]["headers"].clone();
        assert_eq!(headers.get("x-api-key"), None);
        assert_eq!(headers.get("authorization"), None);
    }
}
