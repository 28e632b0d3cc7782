//! Agents of a test that think with a scripted model, and listening to their turns.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_agent::agents::Agent;
use void_agent::brains::{AnthropicBrain, BaseUrl, BrainConfig, Http, Patience};
use void_agent::personas::Personas;
use void_domain::secrets::Secret;
use void_testkit::models::ModelServer;

use crate::apps::{App, Setup};
use crate::callers::Caller;
use crate::openapi::assert_turn_event;

pub const MODEL_KEY: &str = "sk-test-of-the-scripted-model-0123456789";
const PATIENCE: Duration = Duration::from_secs(30);

/// Everybody thinks with this model.
pub fn agents(model: &ModelServer) -> Vec<Agent> {
    static HTTP: OnceLock<Http> = OnceLock::new();
    let http = HTTP.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Http::new().unwrap()
    });
    let brain = AnthropicBrain::new(BrainConfig {
        http: http.clone(),
        base: BaseUrl::parse(&model.base_url()).unwrap(),
        key: Some(Secret::new(MODEL_KEY)),
        model: "scripted-1".to_owned(),
        patience: Patience::new(|| 0),
    });
    let brain = Arc::new(brain.unwrap());
    let agent = |persona| Agent::new(persona, "anthropic", brain.clone());
    Personas::builtin()
        .unwrap()
        .iter()
        .cloned()
        .map(agent)
        .collect()
}

pub async fn app_with(model: &ModelServer) -> App {
    let setup = Setup {
        agents: agents(model),
        ..Setup::default()
    };
    let app = setup.start().await;
    app.secrets.add(MODEL_KEY);
    app
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChatEvent {
    pub id: String,
    pub event: String,
    pub data: Value,
}

/// A turn as one client hears it.
pub struct Turn {
    response: reqwest::Response,
    unread: String,
}

impl Turn {
    /// Says something to Little Blue.
    pub async fn say(caller: &Caller, text: &str) -> Self {
        let request = caller.request(Method::POST, "/api/little-blue/turn");
        Self::open(request.json(&json!({"text": text}))).await
    }

    /// Reads a turn, as a browser that comes back.
    pub async fn read(
        caller: &Caller,
        conversation: &str,
        message: &str,
        last: Option<&str>,
    ) -> Self {
        Self::stream(caller, conversation, message, last, "").await
    }

    /// The same, for who draws it.
    pub async fn blocks(
        caller: &Caller,
        conversation: &str,
        message: &str,
        last: Option<&str>,
    ) -> Self {
        Self::stream(caller, conversation, message, last, "&blocks=true").await
    }

    async fn stream(
        caller: &Caller,
        conversation: &str,
        message: &str,
        last: Option<&str>,
        more: &str,
    ) -> Self {
        let path = format!("/api/conversations/{conversation}/stream?messageId={message}{more}");
        let mut request = caller.request(Method::GET, &path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Self::open(request).await
    }

    async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        if status != 200 {
            panic!("{status}: {}", response.text().await.unwrap());
        }
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self {
            response,
            unread: String::new(),
        }
    }

    /// The next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<ChatEvent> {
        let heard = tokio::time::timeout(PATIENCE, self.event()).await;
        heard.expect("something to hear")
    }

    async fn event(&mut self) -> Option<ChatEvent> {
        loop {
            while let Some((block, rest)) = self.unread.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.unread = rest;
                let field = |name: &str| {
                    let mut lines = block.lines();
                    lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
                };
                if let (Some(id), Some(event), Some(data)) =
                    (field("id: "), field("event: "), field("data: "))
                {
                    let data = serde_json::from_str(&data).unwrap();
                    assert_turn_event(&event, &data);
                    return Some(ChatEvent { id, event, data });
                }
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    pub async fn rest(&mut self) -> Vec<ChatEvent> {
        let mut heard = Vec::new();
        while let Some(event) = self.next().await {
            heard.push(event);
        }
        heard
    }
}

/// The text of the deltas among them.
pub fn text_of(events: &[ChatEvent]) -> String {
    let deltas = events.iter().filter(|event| event.event == "delta");
    deltas
        .map(|event| event.data["text"].as_str().unwrap())
        .collect()
}

/// What the block events among them come to.
pub fn blocks_of(events: &[ChatEvent]) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for event in events.iter().filter(|event| event.event == "block") {
        blocks.truncate(usize::try_from(event.data["from"].as_u64().unwrap()).unwrap());
        blocks.extend(event.data["blocks"].as_array().unwrap().iter().cloned());
        let more = event.data["more"].as_str().unwrap();
        if let Some(last) = blocks.last_mut().filter(|_| !more.is_empty()) {
            add_to_last_text(last, more);
        }
    }
    json!(blocks)
}

fn add_to_last_text(node: &mut Value, more: &str) {
    if let Some(Value::String(text)) = node.get_mut("text") {
        return text.push_str(more);
    }
    let Value::Object(members) = node else {
        return add_to_last_text(node.as_array_mut().unwrap().last_mut().unwrap(), more);
    };
    let inside = ["inlines", "blocks", "items"]
        .into_iter()
        .find(|name| members.contains_key(*name));
    add_to_last_text(&mut members[inside.unwrap()], more);
}
