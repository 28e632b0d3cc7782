//! `/gateway/anthropic`: a program in a turn reaches the model, and nothing else does.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use void_agent::agents::Agent;
use void_agent::brains::{
    BaseUrl, BrainConfig, ClaudeBrain, ClaudeConfig, ClaudeLogin, Http, Patience, SEARCH_PATH,
    SILENCE_MAX,
};
use void_agent::gateway::Gateway;
use void_agent::personas::Personas;
use void_agent::turns::{ChatEvent, Started, TURN_MODEL_CALLS_MAX};
use void_control::callers;
use void_domain::conversations::{Said, Turn};
use void_domain::limits::TURN_OUTPUT_TOKENS_MAX;
use void_domain::secrets::Secret;
use void_testkit::claude::ScriptedClaude;
use void_testkit::models::{Format, ModelServer, Script};
use void_testkit::processes::is_running;
use void_testkit::{eventually, free_port};

use crate::apps::{App, Setup};
use crate::callers::Shows;

const KEY: &str = "sk-ant-the-real-key-0123456789";
const MESSAGES: &str = "/gateway/anthropic/v1/messages";

/// A question as the program asks it.
fn question() -> Value {
    json!({
        "model": "the-dearest", "max_tokens": 32_000, "stream": true,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        "tools": [{"name": "mcp__void__service_status", "input_schema": {"type": "object"}}],
        "metadata": {"user_id": "me"},
    })
}

fn asks() -> Value {
    json!({"asks": {"body": question()}})
}

struct Stand {
    app: App,
    claude: ScriptedClaude,
}

impl Stand {
    /// One agent whose program does this, with its model there.
    async fn up(model_url: &str, steps: Value) -> Self {
        let claude = ScriptedClaude::new(&json!([steps]));
        let program = claude.program();
        Self::with(model_url, claude, program).await
    }

    async fn with(model_url: &str, claude: ScriptedClaude, program: PathBuf) -> Self {
        let listen = ([127, 0, 0, 1], free_port()).into();
        let brain = ClaudeBrain::new(ClaudeConfig {
            program,
            search_path: SEARCH_PATH.into(),
            void_program: "/nonexistent/void".into(),
            api_url: BaseUrl::parse(&format!("http://{listen}")).unwrap(),
            model: "scripted-1".to_owned(),
            work_folder: claude.path().join("work"),
            login: ClaudeLogin::Gateway,
            silence_max: SILENCE_MAX,
        });
        let personas = Personas::builtin().unwrap();
        let persona = Arc::clone(personas.get("little-blue").unwrap());
        let mut agent = Agent::new(persona, "claude", Arc::new(brain.unwrap()));
        // Somebody has to have chosen how TLS is done.
        drop(crate::callers::client());
        let gateway = Gateway::new(BrainConfig {
            http: Http::new().unwrap(),
            base: BaseUrl::parse(model_url).unwrap(),
            key: Some(Secret::new(KEY)),
            model: "scripted-1".to_owned(),
            patience: Patience::new(|| 0),
        });
        agent.gateway = Some(gateway.unwrap());
        let setup = Setup {
            listen,
            agents: vec![agent],
            ..Setup::default()
        };
        let app = setup.start().await;
        app.secrets.add(KEY);
        Self { app, claude }
    }

    async fn say(&self) -> Started {
        let control = &self.app.control;
        let owner = callers::by_bearer(control, self.app.owner_token(), false).await;
        let owner = owner.unwrap().unwrap();
        let ctx = owner.ctx(callers::new_request_id(control).unwrap());
        let agent = Arc::clone(self.app.talk.agent("little-blue").unwrap());
        let Ok(conversation) = self.app.talk.conversation(&ctx, &agent).await else {
            panic!("a conversation")
        };
        let text = "hello".to_owned();
        let Ok(started) = self.app.talk.say(&ctx, &agent, conversation.id, text).await else {
            panic!("a turn")
        };
        started
    }

    async fn turn(&self, started: &Started) -> (Turn, String) {
        let mut seen = 0;
        loop {
            let events = started.live.after(seen).await;
            seen += events.len();
            if events.last().is_none_or(ChatEvent::is_last) {
                break;
            }
        }
        let id = started.message_id;
        let message = void_control::conversations::message(&self.app.control, id).await;
        let message = message.unwrap().unwrap();
        match message.said {
            Said::ByAgent(turn) => (*turn, message.body),
            Said::ByOwner => panic!("not the owner's"),
        }
    }

    /// The whole turn, and what the program heard.
    async fn run(&self) -> (Turn, String, Vec<Value>) {
        let started = self.say().await;
        let (turn, body) = self.turn(&started).await;
        let heard = self.claude.run(1).unwrap()["heard"]
            .as_array()
            .unwrap()
            .clone();
        let whole = self.claude.run(1).unwrap().to_string();
        assert!(!whole.contains(KEY), "{whole}");
        (turn, body, heard)
    }

    fn pass(&self) -> Option<String> {
        let run = self.claude.run(1)?;
        run["env"]["VOID_AGENT_TOKEN"].as_str().map(str::to_owned)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_reaches_its_model_with_the_servers_key_and_within_its_budget() {
    let scripts = [
        Script::says("one")
            .usage(100, 20)
            .header("set-cookie", "a=b"),
        Script::says("two").usage(7, 3),
    ];
    let model = ModelServer::start(Format::Anthropic, scripts);
    let by_key = json!({"asks": {"body": question(), "as": "key"}});
    let steps = json!([asks(), by_key, {"says": ["Hello."]}, {"result": {}}]);
    let stand = Stand::up(&model.base_url(), steps).await;
    let (turn, body, heard) = stand.run().await;
    assert_eq!(body, "Hello.");
    assert_eq!(
        (turn.usage.input_tokens, turn.usage.output_tokens),
        (107, 23)
    );
    assert!(
        heard.iter().all(|heard| heard["status"] == 200),
        "{heard:?}"
    );
    let first = heard[0]["answer"].as_str().unwrap();
    assert!(first.contains("text/event-stream") && first.contains("message_stop"));
    assert!(!first.contains("set-cookie"), "{first}");

    let pass = stand.pass().unwrap();
    let requests = model.requests();
    let left = [TURN_OUTPUT_TOKENS_MAX, TURN_OUTPUT_TOKENS_MAX - 20];
    for (request, left) in requests.iter().zip(left) {
        assert_eq!(request["headers"]["x-api-key"], KEY);
        assert_eq!(request["headers"]["anthropic-beta"], "claude-code-20250219");
        assert_eq!(request["headers"]["anthropic-version"], "2023-06-01");
        for name in ["authorization", "x-app", "cookie"] {
            assert!(request["headers"][name].is_null(), "{name}");
        }
        assert!(!request.to_string().contains(&pass));
        assert_eq!(request["body"]["model"], "scripted-1");
        assert_eq!(request["body"]["max_tokens"], left);
        assert!(request["body"]["metadata"].is_null());
    }
    assert_eq!(requests.len(), 2);
    // The turn is over, and so is its pass.
    let holder = stand.app.caller(Shows::Bearer(pass));
    holder
        .post(MESSAGES, question())
        .await
        .error(401, "unauthenticated");
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_opens_the_gateway_while_its_turn_runs_and_nothing_else_does() {
    let model = ModelServer::with(Format::Anthropic, |_| Script::says("hello"));
    let stand = Stand::up(&model.base_url(), json!([{"stalls": true}])).await;
    let started = stand.say().await;
    let pass = eventually("the pass", || async { stand.pass() }).await;
    stand.app.secrets.add(&pass);
    let (app, key) = (&stand.app, |key: &str| {
        Shows::Headers(vec![("x-api-key", key.to_owned())])
    });
    let holder = app.caller(Shows::Bearer(pass.clone()));
    assert_eq!(holder.post(MESSAGES, question()).await.status, 200);
    assert_eq!(
        app.caller(key(&pass))
            .post(MESSAGES, question())
            .await
            .status,
        200
    );
    let counted = holder
        .post(&format!("{MESSAGES}/count_tokens"), question())
        .await;
    assert_eq!(counted.ok(), json!({"input_tokens": 7}));
    let body = model.bodies().pop().unwrap();
    assert_eq!(body["model"], "scripted-1");
    assert!(
        body["max_tokens"].is_null() && body["stream"].is_null(),
        "{body}"
    );
    // A key is a pass or nothing, here and nowhere else.
    let owner = app.owner_token().to_owned();
    for (shows, path, status, code) in [
        (key(&owner), MESSAGES, 401, "unauthenticated"),
        (key("void_turn_x"), MESSAGES, 401, "unauthenticated"),
        (Shows::Nothing, MESSAGES, 401, "unauthenticated"),
        (Shows::Bearer(owner.clone()), MESSAGES, 403, "forbidden"),
        (key(&pass), "/api/freeze", 401, "unauthenticated"),
        (key(&owner), "/api/freeze", 401, "unauthenticated"),
        (Shows::Bearer(pass.clone()), "/api/freeze", 403, "forbidden"),
    ] {
        let answer = app.caller(shows.clone()).post(path, question()).await;
        assert_eq!(answer.status, status, "{shows:?} {path}: {}", answer.text);
        answer.error(status, code);
    }
    for path in [
        "/gateway/anthropic/v1/models",
        "/gateway/anthropic/v1/files",
        "/gateway/anthropic",
    ] {
        holder.post(path, question()).await.error(404, "not_found");
    }
    let both = [("x-api-key", pass.clone()), ("x-api-key", pass.clone())];
    let both = app.caller(Shows::Headers(both.to_vec()));
    both.post(MESSAGES, question())
        .await
        .error(401, "unauthenticated");
    // Tools of the provider's would run at the provider's.
    let mut search = question();
    search["tools"] = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    holder.post(MESSAGES, search).await.error(422, "invalid");
    holder.post(MESSAGES, json!({})).await.error(422, "invalid");
    let mut large = question();
    large["system"] = json!("x".repeat(4 * 1024 * 1024));
    holder.post(MESSAGES, large).await.error(413, "too_large");
    let mut large = question();
    large["system"] = json!("x".repeat(2 * 1024 * 1024));
    assert_eq!(holder.post(MESSAGES, large).await.status, 200);
    assert_eq!(model.requests().len(), 4);
    started.live.stop();
    stand.turn(&started).await;
    holder
        .post(MESSAGES, question())
        .await
        .error(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_has_spent_its_output_asks_no_more() {
    let spent = u64::from(TURN_OUTPUT_TOKENS_MAX);
    let model = ModelServer::with(Format::Anthropic, move |_| {
        Script::says("x").usage(1, spent)
    });
    let limit = json!({"is_error": true, "api_error_status": 400, "result":
        "API Error: 400 void: this turn has no tokens of output left"});
    let steps = json!([asks(), asks(), {"says": ["So far."]}, {"result": limit}, {"exits": 1}]);
    let stand = Stand::up(&model.base_url(), steps).await;
    let (_, body, heard) = stand.run().await;
    assert_eq!(
        (&heard[0]["status"], &heard[1]["status"]),
        (&json!(200), &json!(400))
    );
    let refusal = heard[1]["answer"].as_str().unwrap();
    assert!(
        refusal.contains("void: this turn has no tokens of output left"),
        "{refusal}"
    );
    assert!(
        body.starts_with("So far.") && body.contains("limit of its length"),
        "{body}"
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_go_through_as_often_as_a_turn_may_ask() {
    let model = ModelServer::with(Format::Anthropic, |_| {
        Script::status(429)
            .header("retry-after", "3")
            .header("x-secret", "s")
    });
    let mut steps = vec![asks(); TURN_MODEL_CALLS_MAX as usize + 1];
    steps.push(json!({"result": {}}));
    let stand = Stand::up(&model.base_url(), Value::Array(steps)).await;
    let (turn, _, heard) = stand.run().await;
    let (last, others) = heard.split_last().unwrap();
    for heard in others {
        assert_eq!(heard["status"], 429);
        let answer = heard["answer"].as_str().unwrap();
        assert!(
            answer.contains("retry-after: 3") && answer.contains("scripted 429"),
            "{answer}"
        );
        assert!(!answer.contains("x-secret"), "{answer}");
    }
    assert_eq!(last["status"], 400);
    assert_eq!(model.requests().len(), TURN_MODEL_CALLS_MAX as usize);
    assert_eq!(turn.usage.input_tokens, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_repeats_the_key_is_not_repeated() {
    let words = format!("no such key: {KEY}");
    let scripts = [
        Script::status(401).refusing("authentication_error", &words),
        Script::status(400).refusing("invalid_request_error", &words),
        Script::status(302).header("location", "http://evil.example/"),
    ];
    let model = ModelServer::start(Format::Anthropic, scripts);
    let steps = json!([asks(), asks(), asks(), {"result": {}}]);
    let stand = Stand::up(&model.base_url(), steps).await;
    let (_, _, heard) = stand.run().await;
    let statuses: Vec<&Value> = heard.iter().map(|heard| &heard["status"]).collect();
    assert_eq!(statuses, [401, 400, 502]);
    for heard in heard {
        let answer = heard["answer"].as_str().unwrap();
        assert!(answer.contains("refuses Void's request"), "{answer}");
        assert!(!answer.contains("evil.example"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_is_not_there_is_an_error_of_the_gateway() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let stand = Stand::up(&url, json!([asks(), {"result": {}}])).await;
    let (_, _, heard) = stand.run().await;
    assert_eq!(heard[0]["status"], 502);
    assert!(
        heard[0]["answer"]
            .as_str()
            .unwrap()
            .contains("brain_unreachable")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_is_counted() {
    let torn = Script::says("half of an answer").usage(50, 1).cut();
    let model = ModelServer::start(Format::Anthropic, [torn]);
    let stand = Stand::up(&model.base_url(), json!([asks(), {"result": {}}])).await;
    let (turn, _, heard) = stand.run().await;
    assert!(
        !heard[0]["answer"].as_str().unwrap().ends_with("0\r\n\r\n"),
        "no good end"
    );
    assert_eq!(turn.usage.input_tokens, 50);
    assert!(turn.usage.output_tokens >= 4, "{:?}", turn.usage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_stopped_ends_its_program_and_its_call_and_counts_both() {
    let stalls = Script::says("half of an answer").usage(50, 1).stall();
    let model = ModelServer::start(Format::Anthropic, [stalls]);
    let stand = Stand::up(&model.base_url(), json!([asks()])).await;
    let started = stand.say().await;
    eventually("the first words", || async {
        let answer = stand.claude.answer(1)?;
        answer.contains("half of").then_some(())
    })
    .await;
    started.live.stop();
    let (turn, _) = stand.turn(&started).await;
    assert_eq!(turn.usage.input_tokens, 50);
    eventually("the call to be over", || async {
        (model.hangups() == 1).then_some(())
    })
    .await;
    let pid = stand.claude.pid(1).unwrap();
    eventually("the program to be gone", || async {
        (!is_running(pid)).then_some(())
    })
    .await;
}

/// By hand: `CLAUDE_EXE=… cargo nextest run -p void-server --run-ignored all the_real_program`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real program"]
async fn the_real_program_speaks_as_the_stand_in_does() {
    let model = ModelServer::with(Format::Anthropic, |_| {
        Script::new().texts(["All ", "is well."]).usage(100, 20)
    });
    let program = std::env::var("CLAUDE_EXE").unwrap();
    let claude = ScriptedClaude::new(&json!([]));
    let stand = Stand::with(&model.base_url(), claude, program.into()).await;
    let mut session = None;
    for nth in 1..=2 {
        let (turn, body) = stand.turn(&stand.say().await).await;
        assert_eq!(body, "All is well.", "{turn:?}");
        assert_eq!(
            (turn.usage.input_tokens, turn.usage.output_tokens),
            (100, 20)
        );
        // The second turn goes on with the first one's conversation.
        let session = session.get_or_insert(turn.session.clone());
        assert_eq!(turn.session, *session);
        let requests = model.requests();
        assert_eq!(requests.len(), nth);
        let request = requests.last().unwrap();
        assert_eq!(request["headers"]["x-api-key"], KEY);
        assert_eq!(
            request["body"]["messages"].as_array().unwrap().len(),
            2 * nth - 1
        );
        assert!(request["body"].to_string().contains("The owner says:"));
    }
}
