//! Asking a scripted server.

use std::sync::OnceLock;
use std::time::Duration;

use serde_json::json;
use void_agent::brains::{
    AnthropicBrain, Arguments, BaseUrl, Block, Brain, BrainConfig, BrainError, BrainEvent, Http,
    Message, OllamaBrain, OpenAiBrain, Patience, Prompt, Reply, ToolCall, ToolSpec,
};
use void_domain::secrets::Secret;
use void_testkit::models::{Format, ModelServer, Script};

pub(crate) const KEY: &str = "sk-test-0123456789-abcdefghij";

/// Retries at once, waits as long as a slow machine needs.
pub(crate) fn patience() -> Patience {
    Patience {
        backoff: Duration::from_millis(2),
        pause_max: Duration::from_millis(1_500),
        ..Patience::new(|| 0)
    }
}

pub(crate) fn config(base: &str, patience: Patience) -> BrainConfig {
    BrainConfig {
        http: http(),
        base: BaseUrl::parse(base).unwrap(),
        key: Some(Secret::new(KEY)),
        model: "scripted-1".to_owned(),
        patience,
    }
}

/// One for the process: making it reads the system's certificates.
fn http() -> Http {
    static HTTP: OnceLock<Http> = OnceLock::new();
    let made = HTTP.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Http::new().unwrap()
    });
    made.clone()
}

pub(crate) fn brain_with(format: Format, config: BrainConfig) -> Box<dyn Brain> {
    match format {
        Format::Anthropic => Box::new(AnthropicBrain::new(config).unwrap()),
        Format::OpenAi => Box::new(OpenAiBrain::new(config).unwrap()),
        Format::Ollama => Box::new(OllamaBrain::new(config).unwrap()),
    }
}

pub(crate) fn brain(format: Format, server: &ModelServer) -> Box<dyn Brain> {
    brain_with(format, config(&server.base_url(), patience()))
}

pub(crate) fn prompt(text: &str) -> Prompt {
    Prompt {
        system: "You are Little Blue.".to_owned(),
        messages: vec![Message::User(text.to_owned())],
        tools: vec![ToolSpec {
            name: "service_status".to_owned(),
            description: "How services are.".to_owned(),
            schema: json!({"type": "object", "properties": {}}),
        }],
        output_tokens_max: 4096,
        ..Prompt::default()
    }
}

/// What came back and what could be shown on the way.
pub(crate) async fn ask(brain: &dyn Brain) -> (Result<Reply, BrainError>, Vec<BrainEvent>) {
    ask_for(brain, &prompt("what is wrong?")).await
}

pub(crate) async fn ask_for(
    brain: &dyn Brain,
    prompt: &Prompt,
) -> (Result<Reply, BrainError>, Vec<BrainEvent>) {
    let mut events = Vec::new();
    let answer = brain.answer(prompt, &mut |event| events.push(event)).await;
    (answer, events)
}

/// The reply of a server that has only this to say.
pub(crate) async fn reply_to(format: Format, script: Script) -> (Reply, Vec<BrainEvent>) {
    let server = ModelServer::start(format, [script]);
    let (reply, events) = ask(&*brain(format, &server)).await;
    (reply.unwrap(), events)
}

/// The error, the events before it, and how often it was asked.
pub(crate) async fn error_of(
    format: Format,
    scripts: impl IntoIterator<Item = Script>,
    patience: Patience,
) -> (BrainError, Vec<BrainEvent>, usize) {
    let server = ModelServer::start(format, scripts);
    let brain = brain_with(format, config(&server.base_url(), patience));
    let (reply, events) = ask(&*brain).await;
    let error = reply.expect_err("an error");
    assert!(!error.message.contains(KEY), "{error}");
    (error, events, server.requests().len())
}

pub(crate) fn shown(text: &str) -> BrainEvent {
    BrainEvent::Text(text.to_owned())
}

pub(crate) fn started(name: &str) -> BrainEvent {
    BrainEvent::ToolStarted {
        name: name.to_owned(),
    }
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

pub(crate) fn call(id: &str, name: &str, arguments: serde_json::Value) -> Block {
    let arguments = match arguments {
        serde_json::Value::Object(object) => Arguments::Object(object),
        other => panic!("{other} is no object"),
    };
    Block::ToolCall(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    })
}
