//! The seed's table of errors, one test a row and by its name: each while a draft is under way, which stays exactly what it is.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_agent::agents::Agent;
use void_agent::brains::{AnthropicBrain, BaseUrl, BrainConfig, Http, Patience};
use void_agent::personas::Personas;
use void_control::embeddings::EmbeddingsConfig;
use void_domain::secrets::Secret;
use void_embeddings::embedders::Embedder;
use void_embeddings::endpoints::{Endpoint, EndpointConfig, EndpointFormat};
use void_testkit::eventually;
use void_testkit::models::{Format, ModelServer, Script};

use crate::apps::{App, Setup};
use crate::companions::{CompanionRig, drafts, named};
use crate::routes::entities::id;
use crate::talks::{MODEL_KEY, Turn, text_of};

fn model(scripts: impl IntoIterator<Item = Script>) -> ModelServer {
    ModelServer::start(Format::Anthropic, scripts)
}

/// Everybody thinks with a model whose silence is waited for no longer than this.
async fn impatient(model: &ModelServer, patience: Duration) -> App {
    started(model, patience, EmbeddingsConfig::Off).await
}

async fn started(model: &ModelServer, patience: Duration, embeddings: EmbeddingsConfig) -> App {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let brain = AnthropicBrain::new(BrainConfig {
        http: Http::new().unwrap(),
        base: BaseUrl::parse(&model.base_url()).unwrap(),
        key: Some(Secret::new(MODEL_KEY)),
        model: "scripted-1".to_owned(),
        patience: Patience {
            answer: patience,
            read: patience,
            retries_max: 0,
            ..Patience::new(|| 0)
        },
    });
    let brain = Arc::new(brain.unwrap());
    let personas = Personas::builtin().unwrap();
    let agents = personas.iter().cloned();
    let setup = Setup {
        agents: agents
            .map(|persona| Agent::new(persona, "anthropic", brain.clone()))
            .collect(),
        embeddings,
        ..Setup::default()
    };
    let app = setup.start().await;
    app.secrets.add(MODEL_KEY);
    app
}

/// What the owner keeps is as it was, and the one draft waits as it did.
async fn nothing_happened(desk: &CompanionRig, draft: &Value) {
    assert_eq!(desk.page_now().await, desk.page);
    let tasks = format!("/api/spaces/{}/tasks", desk.space);
    assert_eq!(desk.owner.get(&tasks).await.ok()["tasks"], json!([]));
    let pending = desk.pending().await;
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(&pending[0]["id"], draft);
    assert_eq!(pending[0]["status"], "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn anthropic_api_error_or_timeout_is_an_error_event_without_a_partial_change_and_can_be_tried_again()
 {
    let refused = Script::status(400).refusing("invalid_request_error", "no credit left");
    for failing in [
        refused,
        Script::silence(),
        Script::new().text("I have").cut(),
    ] {
        let model = model([
            drafts("Renew the certificate"),
            failing,
            Script::says("It waits already."),
        ]);
        let app = impatient(&model, Duration::from_millis(700)).await;
        let desk = CompanionRig::of(app).await;
        let said = desk.say("make a task of it").await;
        let heard = desk.heard(&said.answer).await;
        let draft = named(&heard, "draft")[0]["pending_change_id"].clone();
        let error = heard.last().unwrap();
        assert_eq!(error.event, "error", "{heard:?}");
        let code = error.data["code"].as_str().unwrap();
        assert!(code.starts_with("brain_"), "{code}");
        let words = error.data["message"].as_str().unwrap();
        assert!(!words.is_empty() && !words.contains(MODEL_KEY), "{words}");
        nothing_happened(&desk, &draft).await;
        let stored = desk.stored().await;
        assert_eq!(
            stored[0]["body"], "make a task of it",
            "what was said is kept"
        );
        assert_eq!(stored[1]["turn"]["status"], "failed");
        assert_eq!(stored[1]["turn"]["error"]["code"], code);
        assert_eq!(stored[1]["turn"]["truth"]["waits"][0]["id"], draft);
        // The second attempt knows what the first one drafted, and drafts it no second time.
        let retry = desk.owner.post_nothing(&desk.path("retry")).await.ok();
        assert_eq!(retry["assistant_message_id"], said.answer.as_str());
        let heard = desk.heard(&said.answer).await;
        assert_eq!(heard.last().unwrap().event, "done", "{heard:?}");
        assert_eq!(text_of(&heard), "It waits already.");
        let prompt = model.bodies().pop().unwrap()["messages"].to_string();
        assert!(
            prompt.contains("your attempt to answer this, which was cut off"),
            "{prompt}"
        );
        nothing_happened(&desk, &draft).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_handler_error_is_a_failed_chip_and_the_loop_goes_on_to_an_answer() {
    let gone = "01999999-0000-7000-8000-000000000001";
    let wrong = Script::new()
        .tool("read", &json!({"kind": "page", "id": gone}))
        .tool(
            "propose_change",
            &json!({"entity": "page", "op": "update", "id": gone, "reason": "r"}),
        )
        .tool("search", &json!({"query": 7}));
    let model = model([
        drafts("Look at the disk"),
        wrong,
        Script::says("I did not find that page."),
    ]);
    let desk = CompanionRig::new(&model).await;
    let said = desk.say("note it, and read the other one").await;
    let heard = desk.heard(&said.answer).await;
    let ended = named(&heard, "tool")
        .into_iter()
        .filter(|step| step["status"] != "running");
    let chips: Vec<(&str, &str)> = ended
        .map(|step| {
            (
                step["tool"].as_str().unwrap(),
                step["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        chips,
        [
            ("propose_change", "ok"),
            ("read", "error"),
            ("propose_change", "error"),
            ("search", "error")
        ]
    );
    assert_eq!(heard.last().unwrap().event, "done");
    assert_eq!(text_of(&heard), "I did not find that page.");
    let draft = named(&heard, "draft");
    assert_eq!(draft.len(), 1);
    nothing_happened(&desk, &draft[0]["pending_change_id"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sse_disconnect_mid_turn_loses_nothing_and_the_turn_can_be_asked_for_again() {
    let slow = Script::new()
        .text("It ")
        .pause(Duration::from_millis(500))
        .text("waits.");
    let model = model([drafts("Look at the disk"), slow]);
    let desk = CompanionRig::new(&model).await;
    let said = desk.say("note it").await;
    let mut listener = Turn::read(&desk.owner, &desk.conversation, &said.answer, None).await;
    let last = loop {
        let event = listener.next().await.unwrap();
        if event.event == "draft" {
            break event;
        }
    };
    drop(listener);
    let stored = desk.stored().await;
    assert_eq!(
        stored[0]["body"], "note it",
        "kept before anything was answered"
    );
    // Who comes back goes on where they were, or begins anew, and hears the same draft.
    let rest = Turn::read(
        &desk.owner,
        &desk.conversation,
        &said.message,
        Some(&last.id),
    )
    .await;
    let rest = { rest }.rest().await;
    assert_eq!(text_of(&rest), "It waits.");
    assert_eq!(named(&rest, "draft"), Vec::<&Value>::new());
    let whole = desk.heard(&said.message).await;
    assert_eq!(named(&whole, "draft"), [&last.data]);
    assert_eq!(whole.last().unwrap().event, "done");
    nothing_happened(&desk, &last.data["pending_change_id"]).await;
    let again = desk.owner.post_nothing(&desk.path("retry")).await;
    again.error(409, "not_retryable");
}

#[tokio::test(flavor = "multi_thread")]
async fn capability_denied_is_a_denial_that_the_agent_can_explain() {
    let model = model([
        drafts("Look at the disk"),
        Script::calls(
            "propose_action",
            &json!({"action_id": "touch-a", "reason": "r"}),
        ),
        Script::says("I can only draft changes."),
        drafts("Another one"),
        Script::says("I can only look."),
    ]);
    let desk = CompanionRig::new(&model).await;
    let said = desk.say("note it and restart it").await;
    let heard = desk.heard(&said.answer).await;
    let draft = named(&heard, "draft")[0]["pending_change_id"].clone();
    let denied = |heard: &[crate::talks::ChatEvent], tool: &str| {
        let steps = named(heard, "tool").into_iter();
        steps
            .filter(|step| step["tool"] == tool && step["status"] == "denied")
            .count()
    };
    assert_eq!(denied(&heard, "propose_action"), 1, "{heard:?}");
    let result = |at: usize| model.bodies()[at]["messages"].to_string();
    assert!(
        result(2).contains("you can only look and draft changes"),
        "{}",
        result(2)
    );
    assert!(desk.app.lab.effects().is_empty(), "nothing ran");
    nothing_happened(&desk, &draft).await;
    // What the owner takes away is gone at once, and the draft waits for the owner as before.
    let narrower = json!({"kind": "agent", "name": "companion", "capabilities": ["read"]});
    desk.owner.post("/api/tokens", narrower).await.ok();
    let said = desk.say("and another").await;
    let heard = desk.heard(&said.answer).await;
    assert_eq!(denied(&heard, "propose_change"), 1, "{heard:?}");
    assert_eq!(named(&heard, "draft"), Vec::<&Value>::new());
    assert!(
        result(4).contains("propose_change needs the capability suggest"),
        "{}",
        result(4)
    );
    assert_eq!(text_of(&heard), "I can only look.");
    let pending = desk.pending().await;
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(id(&pending[0]), draft.as_str().unwrap());
    eventually("the turn to be over", || async {
        let stored = desk.stored().await;
        (stored.last().unwrap()["turn"]["status"] == "done").then_some(())
    })
    .await;
}

/// Nobody listens where the vectors should come from.
fn ollama_down() -> EmbeddingsConfig {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let endpoint = Endpoint::new(EndpointConfig {
        format: EndpointFormat::Ollama,
        base: format!("http://{address}"),
        key: None,
        model: "words".to_owned(),
        dimensions: None,
    });
    EmbeddingsConfig::Ready(Arc::new(Embedder::Endpoint(endpoint.unwrap())))
}

#[tokio::test(flavor = "multi_thread")]
async fn ollama_down_leaves_the_search_by_words_and_the_turn_goes_on() {
    let look = Script::calls("search", &json!({"query": "listens"}));
    let model = model([
        drafts("Look at the port"),
        look,
        Script::says("Caddy listens on 443."),
    ]);
    let app = started(&model, Duration::from_secs(30), ollama_down()).await;
    let desk = CompanionRig::of(app).await;
    let said = desk.say("note it, and what listens where?").await;
    let heard = desk.heard(&said.answer).await;
    assert_eq!(heard.last().unwrap().event, "done", "{heard:?}");
    assert_eq!(text_of(&heard), "Caddy listens on 443.");
    let prompt = model.bodies().pop().unwrap()["messages"].to_string();
    assert!(prompt.contains("It listens on 443."), "{prompt}");
    // The model reads that only words were looked for, and why.
    assert!(prompt.contains("\\\"mode\\\":\\\"text\\\""), "{prompt}");
    assert!(prompt.contains("\\\"why\\\":\\\""), "{prompt}");
    // What was done, what was drafted, what was said, and then the end with what it cost.
    let order = ["tool", "draft", "delta", "done"];
    let first = order.map(|name| heard.iter().position(|event| event.event == name));
    assert!(
        first.iter().all(Option::is_some) && first.is_sorted(),
        "{heard:?}"
    );
    let usage = &heard.last().unwrap().data["usage"];
    assert!(
        usage["input_tokens"]
            .as_u64()
            .is_some_and(|count| count > 0),
        "{usage}"
    );
    let draft = named(&heard, "draft")[0]["pending_change_id"].clone();
    nothing_happened(&desk, &draft).await;
    // Whoever searches hears it, with the reason.
    let found = desk.owner.get("/api/search?q=listens").await.ok();
    assert_eq!(found["mode"], "text", "{found}");
    assert_eq!(found["results"][0]["title"], "Caddy");
    assert!(
        found["why"].as_str().is_some_and(|why| !why.is_empty()),
        "{found}"
    );
}
