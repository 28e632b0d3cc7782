//! `/mcp`: what clients are shown and may do, in every revision of the protocol, and what happens to
//! those who are no clients.

use std::sync::{Arc, Mutex, OnceLock};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use void_agent::agents::Agent;
use void_agent::brains::{Answering, Brain, BrainEvent, OnEvent, Prompt, Reply, Stop, Usage};
use void_agent::personas::Personas;
use void_agent::tools::TOOLS;
use void_agent::turns::ChatEvent;
use void_domain::limits::REQUEST_BODY_BYTES_MAX;
use void_testkit::eventually;

use crate::apps::{App, Setup};
use crate::callers::{Caller, HttpResponse, Shows};

const NEWEST: &str = "2026-07-28";
const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const BLUE: [&str; 6] = [
    "service_status",
    "list_actions",
    "propose_action",
    "proposal_status",
    "withdraw_proposal",
    "search",
];

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

async fn rpc(caller: &Caller, method: &str, params: Value) -> HttpResponse {
    caller.post("/mcp", message(method, params)).await
}

/// The result of a request that is answered with one.
async fn ask(caller: &Caller, method: &str, params: Value) -> Value {
    let answer = rpc(caller, method, params).await.ok();
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["error"], Value::Null, "{answer}");
    answer["result"].clone()
}

async fn use_tool(caller: &Caller, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    ask(caller, "tools/call", params).await
}

/// What a tool gives, which is the same twice.
async fn given(caller: &Caller, name: &str, arguments: Value) -> Value {
    let result = use_tool(caller, name, arguments).await;
    assert_ne!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    assert_eq!(text, result["structuredContent"]);
    text
}

/// The text of a tool's refusal.
async fn refused(caller: &Caller, name: &str, arguments: Value) -> String {
    let result = use_tool(caller, name, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["structuredContent"], Value::Null);
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn names(caller: &Caller, path: &str) -> Vec<String> {
    let answer = caller.post(path, message("tools/list", json!({}))).await;
    let answer = answer.ok();
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

async fn agent(app: &App, capabilities: &[&str]) -> Caller {
    let name = format!("client-{}", capabilities.join("-"));
    app.holder("agent", &name, capabilities).await.caller
}

/// A request as the newest revision wants it, with what it says in its head changed.
async fn newest(caller: &Caller, body: Value, change: &[(&str, Option<&str>)]) -> (u16, Value) {
    let name = body["params"]["name"].as_str().map(str::to_owned);
    let mut head = vec![
        ("mcp-protocol-version", Some(NEWEST.to_owned())),
        ("mcp-method", body["method"].as_str().map(str::to_owned)),
        ("mcp-name", name),
    ];
    for (name, value) in change {
        let line = head.iter_mut().find(|(known, _)| known == name).unwrap();
        line.1 = value.map(str::to_owned);
    }
    let mut request = caller.request(Method::POST, "/mcp").json(&body);
    for (name, value) in head {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

fn newest_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn every_revision_that_clients_speak_is_spoken() {
    let app = App::start().await;
    let agent = agent(&app, &["read", "act"]).await;
    for version in WITH_HANDSHAKE {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let result = ask(&agent, "initialize", params).await;
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "void");
        assert_eq!(
            result["capabilities"],
            json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}})
        );
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let told = agent.post("/mcp", body).await;
        assert_eq!((told.status, told.text.as_str()), (202, ""));
        for (method, member) in [("tools/list", "tools"), ("ping", "")] {
            let request = agent
                .request(Method::POST, "/mcp")
                .header("mcp-protocol-version", version)
                .header("accept", "application/json, text/event-stream");
            let response = request.json(&message(method, json!({}))).send().await;
            let answer: Value = response.unwrap().json().await.unwrap();
            let result = &answer["result"];
            assert!(member.is_empty() || result[member].is_array(), "{answer}");
            assert_eq!(result["resultType"], Value::Null, "{version} {answer}");
        }
    }
    for absent in ["logging/setLevel", "no/such"] {
        let params = json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": "x"}, "level": "info"});
        let answer = rpc(&agent, absent, params).await.ok();
        assert_eq!(answer["error"]["code"], -32601, "{absent} {answer}");
        let message = format!("there is no method \"{absent}\" here");
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(said.starts_with(&message), "{said}");
    }
    let unknown = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let result = ask(&agent, "initialize", unknown).await;
    assert_eq!(result["protocolVersion"], WITH_HANDSHAKE[3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_revision_needs_no_handshake() {
    let app = App::start().await;
    let agent = agent(&app, &["read", "act"]).await;
    let meta = newest_meta();
    let discover = message("server/discover", json!({"_meta": meta}));
    let (status, answer) = newest(&agent, discover, &[]).await;
    assert_eq!(status, 200, "{answer}");
    let spoken = answer["result"]["supportedVersions"].clone();
    let mut expected: Vec<&str> = WITH_HANDSHAKE.to_vec();
    expected.push(NEWEST);
    assert_eq!(spoken, json!(expected));

    let list = message("tools/list", json!({"_meta": meta}));
    let (status, answer) = newest(&agent, list, &[]).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    let params = json!({"name": "list_actions", "arguments": {}, "_meta": meta});
    let call = message("tools/call", params);
    let (status, answer) = newest(&agent, call.clone(), &[]).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["result"]["structuredContent"]["actions"].is_array());
    // What the head says and what the body says is the same, or nothing is done.
    for change in [
        ("mcp-name", Some("propose_action")),
        ("mcp-name", None),
        ("mcp-method", Some("tools/list")),
        ("mcp-method", None),
        ("mcp-protocol-version", Some("2025-06-18")),
        ("mcp-protocol-version", None),
    ] {
        let (status, answer) = newest(&agent, call.clone(), &[change]).await;
        assert_eq!(status, 400, "{change:?} {answer}");
        assert!(answer["error"]["code"].is_i64(), "{change:?} {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_in_one_order_with_what_a_client_has_to_know() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let list = ask(&both, "tools/list", json!({})).await;
    for _ in 0..5 {
        assert_eq!(ask(&both, "tools/list", json!({})).await, list);
    }
    let tools = list["tools"].as_array().unwrap();
    assert_eq!(names(&both, "/mcp").await, BLUE);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let proposes = name == "propose_action";
        let reads = !proposes && name != "withdraw_proposal";
        let hints = json!({
            "readOnlyHint": reads, "destructiveHint": proposes, "idempotentHint": !proposes, "openWorldHint": false,
        });
        let text = tool.to_string();
        assert!(!text.contains("\"format\""), "{text}");
        assert_eq!(tool["annotations"], hints, "{name}");
        assert!(tool["title"].is_string() && tool["description"].is_string());
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name} {schema}");
            jsonschema::validator_for(schema).unwrap();
        }
    }
    for (capabilities, expected) in [
        (
            &["read"] as &[&str],
            vec![
                "service_status",
                "list_actions",
                "proposal_status",
                "search",
            ],
        ),
        (&["act"], BLUE.to_vec()),
    ] {
        let caller = agent(&app, capabilities).await;
        assert_eq!(names(&caller, "/mcp").await, expected, "{capabilities:?}");
    }
    let security = [
        "service_status",
        "list_actions",
        "proposal_status",
        "search",
    ];
    assert_eq!(names(&both, "/mcp?registry=security").await, security);
    // The companion's: with `suggest` it drafts, which applies nothing.
    let companion = ["search", "read", "context", "propose_change"];
    let path = "/mcp?registry=companion";
    assert_eq!(names(&both, path).await, companion[..3]);
    let suggests = agent(&app, &["suggest"]).await;
    let list = suggests.post(path, message("tools/list", json!({}))).await;
    let list = list.ok()["result"]["tools"].clone();
    let listed = list.as_array().unwrap().iter();
    let listed: Vec<&Value> = listed.map(|tool| &tool["name"]).collect();
    assert_eq!(listed, companion);
    let hints = json!({
        "readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false,
    });
    assert_eq!(list[3]["annotations"], hints);
    let answer = both
        .post("/mcp?registry=root", message("ping", json!({})))
        .await;
    assert!(
        answer.error(422, "invalid")["message"]
            .as_str()
            .unwrap()
            .contains("blue, security")
    );
}

/// I8: an agent proposes; nothing that it can call, by its name or by what it says of itself, decides.
#[test]
fn no_tool_decides() {
    let words = [
        "approve", "reject", "decide", "confirm_", "freeze", "thaw", "token", "grant",
    ];
    for tool in TOOLS {
        let told = format!("{} {}", tool.name, tool.title).to_lowercase();
        let members = (tool.arguments)().to_string().to_lowercase();
        for word in words {
            assert!(!told.contains(word), "{} {word}", tool.name);
            assert!(
                !members.contains(&format!("\"{word}\"")),
                "{} {word}",
                tool.name
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_what_their_schemas_say() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let list = ask(&both, "tools/list", json!({})).await;
    let schema = |name: &str| {
        let tools = list["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        jsonschema::validator_for(&tool["outputSchema"]).unwrap()
    };
    let queued = given(
        &both,
        "propose_action",
        json!({"action_id": "stop-a", "reason": "a test"}),
    )
    .await;
    assert_eq!(queued["outcome"], "queued");
    let code = queued["code"].clone();
    for (name, arguments) in [
        ("service_status", json!({})),
        ("list_actions", json!({})),
        (
            "propose_action",
            json!({"action_id": "touch-a", "reason": "a test"}),
        ),
        ("proposal_status", json!({"proposal": code})),
        ("search", json!({"query": "touch"})),
        ("withdraw_proposal", json!({"proposal": code})),
    ] {
        let value = given(&both, name, arguments).await;
        assert!(schema(name).is_valid(&value), "{name} {value}");
    }
    assert_eq!(app.lab.effect_count(), 1, "only the safe one ran");
    let proposed = app.audited("proposal.created").await;
    assert!(
        proposed
            .iter()
            .all(|entry| entry.actor.contains("client-read-act")),
        "{proposed:?}"
    );
    let row = app.row(queued["proposal_id"].as_str().unwrap()).await;
    assert_eq!(row["requested_by"]["name"], "client-read-act");
    assert_eq!(row["status"], "cancelled");
    assert_eq!(row["error"]["code"], "withdrawn");
}

/// Taking back is not deciding: only what is one's own, and only while it waits.
#[tokio::test(flavor = "multi_thread")]
async fn only_ones_own_proposal_is_withdrawn_and_only_while_it_waits() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let other = app.holder("agent", "other", &["read", "act"]).await.caller;
    let reader = agent(&app, &["read"]).await;
    let queued = given(
        &both,
        "propose_action",
        json!({"action_id": "stop-a", "reason": "a test"}),
    )
    .await;
    for key in ["code", "proposal_id"] {
        let arguments = json!({"proposal": queued[key]});
        let text = refused(&other, "withdraw_proposal", arguments.clone()).await;
        assert!(text.starts_with("not_found: "), "{text}");
        let text = refused(&reader, "withdraw_proposal", arguments).await;
        assert!(text.starts_with("forbidden: "), "{text}");
    }
    let owners = app.queue("stop-b").await;
    let text = refused(
        &both,
        "withdraw_proposal",
        json!({"proposal": owners["id"]}),
    )
    .await;
    assert!(text.starts_with("not_found: "), "{text}");
    assert_eq!(
        app.row(owners["id"].as_str().unwrap()).await["status"],
        "pending"
    );
    let arguments = json!({"proposal": queued["code"]});
    given(&both, "withdraw_proposal", arguments).await;
    let again = json!({"proposal": queued["proposal_id"]});
    let text = refused(&both, "withdraw_proposal", again).await;
    assert!(text.starts_with("already_decided: "), "{text}");
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_fails_says_so_in_words() {
    let app = App::start().await;
    let (both, reader) = (
        agent(&app, &["read", "act"]).await,
        agent(&app, &["read"]).await,
    );
    let propose = json!({"action_id": "touch-a", "reason": "a test"});
    let text = refused(&reader, "propose_action", propose.clone()).await;
    assert_eq!(text, "forbidden: propose_action needs the capability act");
    for (name, arguments) in [
        ("list_actions", json!({"shell": "rm -rf /"})),
        ("propose_action", json!({"reason": "x"})),
        (
            "propose_action",
            json!({"action_id": ["touch-a"], "reason": "x"}),
        ),
        ("proposal_status", json!({"proposal": 5})),
        ("search", json!({"query": ""})),
    ] {
        let text = refused(&both, name, arguments).await;
        assert!(text.starts_with("invalid_arguments: "), "{text}");
    }
    for params in [json!(5), json!([]), json!("x"), json!(null)] {
        let arguments = json!({"action_id": "touch-a", "reason": "x", "params": params});
        let text = refused(&both, "propose_action", arguments).await;
        assert!(
            text.starts_with("invalid_arguments: ") && text.contains("params must be an object"),
            "{text}"
        );
    }
    for (arguments, code) in [
        (
            json!({"action_id": "no-such", "reason": "x"}),
            "unknown_action: ",
        ),
        (
            json!({"action_id": "scale-a", "reason": "x", "params": {"replicas": "x"}}),
            "invalid_params: ",
        ),
    ] {
        let text = refused(&both, "propose_action", arguments).await;
        assert!(text.starts_with(code), "{text}");
    }
    let text = refused(&both, "service_status", json!({"id": "no-such"})).await;
    assert!(text.starts_with("not_found: "), "{text}");
    let unknown = rpc(&both, "tools/call", json!({"name": "approve"}))
        .await
        .ok();
    assert_eq!(
        unknown["error"],
        json!({"code": -32602, "message": "Unknown tool: approve"})
    );
    // A tool of another registry is no tool here.
    let body = message(
        "tools/call",
        json!({"name": "propose_action", "arguments": propose}),
    );
    let answer = both.post("/mcp?registry=security", body).await.ok();
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!((app.lab.effect_count(), app.proposal_count().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_machine_wrote_is_handed_out_to_whoever_asks_for_it_alone() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let ran = given(
        &both,
        "propose_action",
        json!({"action_id": "fail-a", "reason": "a test"}),
    )
    .await;
    assert_eq!(ran["outcome"], "failed", "{ran}");
    let code = ran["code"].as_str().unwrap();
    let status = given(&both, "proposal_status", json!({"proposal": code})).await;
    assert_eq!(status["untrusted_output"], Value::Null);
    let row = app.row(ran["proposal_id"].as_str().unwrap()).await;
    let with_output = json!({"proposal": code, "include_output": true});
    let told = given(&both, "proposal_status", with_output).await;
    assert_eq!(told["untrusted_output"], "no such unit\n", "{told} {row}");
    let next = given(&both, "propose_action", json!({"action_id": "touch-a"})).await;
    assert_eq!(
        next["outcome"], "queued",
        "it has read what a stranger could have written"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_token_ends_with_its_next_call() {
    let app = App::start().await;
    let holder = app.holder("agent", "gone", &["read", "act"]).await;
    ask(&holder.caller, "tools/list", json!({})).await;
    app.owner()
        .delete(&format!("/api/tokens/{}", holder.id))
        .await
        .ok();
    for method in ["tools/list", "ping", "tools/call"] {
        rpc(&holder.caller, method, json!({"name": "list_actions"}))
            .await
            .error(401, "unauthenticated");
    }
    for shows in [
        Shows::Nothing,
        Shows::Bearer("void_turn_made-up".to_owned()),
    ] {
        let caller = app.caller(shows);
        rpc(&caller, "tools/list", json!({}))
            .await
            .error(401, "unauthenticated");
    }
    // The owner's token in a model's hands would make it the owner.
    let session = app.session().await;
    for owner in [app.owner(), session] {
        rpc(&owner, "tools/list", json!({}))
            .await
            .error(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_and_nothing_more() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"propose_action","arguments":{arguments}}}}}"#
        )
    };
    let cases: Vec<(String, u16, i64)> = vec![
        ("{".to_owned(), 400, -32700),
        (String::new(), 400, -32700),
        ("ping".to_owned(), 400, -32700),
        ("\"ping\"".to_owned(), 400, -32600),
        ("null".to_owned(), 400, -32600),
        ("{}".to_owned(), 400, -32600),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#.to_owned(),
            400,
            -32600,
        ),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_owned(),
            400,
            -32600,
        ),
        ("[]".to_owned(), 400, -32600),
        // Two readers could read these differently.
        (
            call(r#"{"action_id":"touch-a","action_id":"stop-a","reason":"x"}"#),
            400,
            -32600,
        ),
        (
            call(r#"{"action_id":"touch-a\u0000","reason":"x"}"#),
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#.to_owned(),
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/aprove"}"#.to_owned(),
            200,
            -32601,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
            400,
            -32600,
        ),
    ];
    for (body, status, code) in cases {
        let bytes = Some((body.clone().into_bytes(), "application/json"));
        let answer = both.send_bytes(Method::POST, "/mcp", bytes).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert_eq!(
            answer.json()["error"]["code"],
            code,
            "{body}: {}",
            answer.text
        );
    }
    // Names are told apart by their case: this has no arguments that we know.
    let body = call(r#"{"Action_Id":"touch-a","reason":"x"}"#);
    let bytes = Some((body.into_bytes(), "application/json"));
    let answer = both.send_bytes(Method::POST, "/mcp", bytes).await.ok();
    assert_eq!(answer["result"]["isError"], true);

    let large = message(
        "ping",
        json!({"padding": "x".repeat(REQUEST_BODY_BYTES_MAX)}),
    );
    both.post("/mcp", large).await.error(413, "too_large");
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}"#,
        "[".repeat(100_000)
    );
    let answer = both
        .send_bytes(
            Method::POST,
            "/mcp",
            Some((deep.into_bytes(), "application/json")),
        )
        .await;
    assert_eq!(answer.status, 400);
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let body = message("ping", json!({})).to_string().into_bytes();
        let answer = both
            .send_bytes(Method::POST, "/mcp", Some((body, kind)))
            .await;
        answer.error(415, "unsupported_media_type");
    }
    let nothing = Some((Vec::new(), "text/plain"));
    let answer = both.send_bytes(Method::POST, "/mcp", nothing).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["code"]),
        (400, &json!(-32700))
    );
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        both.send(method, "/mcp", None)
            .await
            .error(405, "method_not_allowed");
    }
    assert_eq!((app.lab.effect_count(), app.proposal_count().await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_page_calls_no_tool() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let body = message(
        "tools/call",
        json!({"name": "propose_action", "arguments": {"action_id": "touch-a", "reason": "x"}}),
    );
    let port = app.address.port();
    for (name, value, status) in [
        ("origin", "https://evil.example".to_owned(), 403),
        ("origin", "null".to_owned(), 403),
        (
            "origin",
            format!("http://127.0.0.1.evil.example:{port}"),
            403,
        ),
        ("origin", format!("http://localhost:{port}"), 403),
        ("sec-fetch-site", "cross-site".to_owned(), 403),
        ("host", "evil.example".to_owned(), 421),
        ("host", "127.evil.example".to_owned(), 421),
    ] {
        let request = both
            .request(Method::POST, "/mcp")
            .header(name, &value)
            .json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{name}: {value}");
    }
    assert_eq!(app.lab.effect_count(), 0);
    let ours = format!("http://127.0.0.1:{port}");
    let request = both
        .request(Method::POST, "/mcp")
        .header("origin", ours)
        .json(&body);
    assert_eq!(request.send().await.unwrap().status().as_u16(), 200);
    assert_eq!(app.lab.effect_count(), 1);
}

/// A program that a brain starts: all it has is the turn's pass, and it calls tools with it.
#[derive(Default)]
struct Program {
    caller: OnceLock<Caller>,
    heard: Mutex<Vec<Value>>,
    pass: Mutex<Option<String>>,
}

impl Brain for Program {
    fn model(&self) -> &str {
        "program"
    }

    fn needs_pass(&self) -> bool {
        true
    }

    fn answer<'a>(&'a self, prompt: &'a Prompt, on_event: OnEvent<'a>) -> Answering<'a> {
        Box::pin(async move {
            let pass = prompt.pass.as_ref().unwrap().expose().to_owned();
            let mut caller = self.caller.get().unwrap().clone();
            caller.shows = Shows::Bearer(pass.clone());
            *self.pass.lock().unwrap() = Some(pass);
            let listed = ask(&caller, "tools/list", json!({})).await;
            self.heard.lock().unwrap().push(listed);
            let failing = json!({"action_id": "fail-a", "reason": "a test"});
            let failed = use_tool(&caller, "propose_action", failing).await;
            let code = failed["structuredContent"]["code"].clone();
            let status = json!({"proposal": code, "include_output": true});
            let safe = json!({"action_id": "touch-a", "reason": "it said so"});
            let heard = [
                failed,
                use_tool(&caller, "proposal_status", status).await,
                use_tool(&caller, "propose_action", safe).await,
                use_tool(&caller, "approve", json!({})).await,
            ];
            self.heard.lock().unwrap().extend(heard);
            // A turn's pass opens nothing else.
            caller.get("/api/proposals").await.error(403, "forbidden");
            on_event(BrainEvent::Text("Done.".to_owned()));
            Ok(Reply {
                blocks: Vec::new(),
                stop: Stop::End,
                usage: Usage::default(),
                session: None,
            })
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_in_a_turn_works_within_the_turn() {
    let program = Arc::new(Program::default());
    let brain: Arc<dyn Brain> = Arc::clone(&program) as Arc<dyn Brain>;
    let personas = Personas::builtin().unwrap();
    let persona = Arc::clone(personas.get("little-blue").unwrap());
    let setup = Setup {
        agents: vec![Agent::new(persona, "program", brain)],
        ..Setup::default()
    };
    let app = setup.start().await;
    let _ = program.caller.set(app.anonymous());
    let owner = void_control::callers::by_bearer(&app.control, app.owner_token(), false).await;
    let request_id = void_control::callers::new_request_id(&app.control).unwrap();
    let ctx = owner.unwrap().unwrap().ctx(request_id);
    let agent = Arc::clone(app.talk.agent("little-blue").unwrap());
    let conversation = app.talk.conversation(&ctx, &agent).await.unwrap();
    let started = app
        .talk
        .say(&ctx, &agent, conversation.id, "go".to_owned())
        .await
        .unwrap();
    let mut seen: Vec<ChatEvent> = Vec::new();
    let truth = loop {
        seen.extend(started.live.after(seen.len()).await);
        match seen.last() {
            Some(ChatEvent::Done { truth, .. }) => break truth.clone(),
            Some(ChatEvent::Error { message, .. }) => panic!("{message}"),
            _ => {}
        }
    };
    let heard = program.heard.lock().unwrap().clone();
    // A program in the owner's conversation also has what is there only.
    let tools = heard[0]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let besides = ["read", "context", "recent_activity"];
    assert_eq!(names, [&BLUE[..], &besides].concat());
    let value = |index: usize| heard[index]["structuredContent"].clone();
    assert_eq!(value(1)["outcome"], "failed");
    assert_eq!(value(2)["untrusted_output"], "no such unit\n");
    assert_eq!(
        value(3)["outcome"],
        "queued",
        "what was read before marks it"
    );
    assert_eq!(heard[4]["isError"], true);
    let traced: Vec<&str> = seen
        .iter()
        .filter_map(|event| match event {
            ChatEvent::Tool { tool, status, .. } if status == "running" => Some(tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        traced,
        ["propose_action", "proposal_status", "propose_action"]
    );
    let told = format!("{truth:?}");
    assert!(
        told.contains("fail-a") && told.contains("touch-a"),
        "{told}"
    );
    assert_eq!(app.lab.effect_count(), 1);
    // The turn is over, and so is its pass.
    let pass = program.pass.lock().unwrap().clone().unwrap();
    rpc(&app.caller(Shows::Bearer(pass)), "ping", json!({}))
        .await
        .error(401, "unauthenticated");
}

/// A connection that `void mcp` would have.
struct Line {
    socket: BufReader<TcpStream>,
}

impl Line {
    /// Asks for the connection; the head of the answer says whether it is given.
    async fn ask(app: &App, shows: &Shows, path: &str) -> (Self, String) {
        let stream = TcpStream::connect(app.address).await.unwrap();
        let mut line = Self {
            socket: BufReader::new(stream),
        };
        let head = line.ask_again(app, shows, path).await;
        (line, head)
    }

    async fn ask_again(&mut self, app: &App, shows: &Shows, path: &str) -> String {
        let mut head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", app.address);
        for (name, value) in shows.headers() {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("connection: upgrade\r\nupgrade: void-mcp\r\n\r\n");
        self.say(&head).await;
        let mut answer = String::new();
        while !answer.ends_with("\r\n\r\n") {
            assert_ne!(self.socket.read_line(&mut answer).await.unwrap(), 0);
        }
        answer
    }

    async fn open(app: &App, caller: &Caller) -> Self {
        let (line, head) = Self::ask(app, &caller.shows, "/mcp").await;
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("upgrade: void-mcp\r\n") && head.contains("connection: upgrade\r\n"));
        line
    }

    async fn say(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next answer; `None` if there is none any more.
    async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.socket.read_line(&mut line).await.unwrap_or_default();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }
}

fn line(id: u64, method: &str, params: Value) -> String {
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    format!("{message}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_answers_many_at_once_and_the_slow_ones_later() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let mut stream = Line::open(&app, &both).await;
    let slow =
        json!({"name": "propose_action", "arguments": {"action_id": "slow-a", "reason": "a test"}});
    let mut said = line(1, "tools/call", slow);
    let quick = json!({"name": "list_actions", "arguments": {}});
    for id in 2..200 {
        said.push_str(&line(id, "tools/call", quick.clone()));
    }
    said.push_str("\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n");
    said.push_str("[]\n{\nnot json\n");
    stream.say(&said).await;
    let (mut heard, mut wrong) = (Vec::new(), Vec::new());
    for _ in 2..203 {
        let answer = stream.hear().await.unwrap();
        match answer["id"].as_u64() {
            Some(id) => {
                assert!(answer["result"]["structuredContent"]["actions"].is_array());
                heard.push(id);
            }
            None => wrong.push(answer["error"]["code"].as_i64().unwrap()),
        }
    }
    heard.sort_unstable();
    assert!(heard.iter().copied().eq(2..200));
    wrong.sort_unstable();
    assert_eq!(wrong, [-32700, -32700, -32600]);
    // Who has said everything still hears what is under way.
    stream.socket.get_mut().shutdown().await.unwrap();
    app.lab.release();
    let last = stream.hear().await.unwrap();
    assert_eq!(
        (
            last["id"].as_u64(),
            &last["result"]["structuredContent"]["outcome"]
        ),
        (Some(1), &json!("executed"))
    );
    assert_eq!(stream.hear().await, None);
}

/// What the SDK answers: a head that says its revision twice is not taken the short way.
async fn by_sdk(caller: &Caller, message: &Value) -> Value {
    let request = caller.request(Method::POST, "/mcp").json(message);
    let version = ("mcp-protocol-version", "2025-06-18");
    let request = request.header(version.0, version.1);
    let response = request.header(version.0, version.1).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    response.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_says_what_single_requests_say() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let mut stream = Line::open(&app, &both).await;
    let meta = newest_meta();
    for (method, params) in [
        (
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        ),
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "list_actions"})),
        ("tools/call", json!({"name": "no_such"})),
        (
            "tools/call",
            json!({"name": "search", "arguments": {"query": ""}}),
        ),
        (
            "tools/call",
            json!({"name": "search", "arguments": {"query": "touch \"a\""}, "_meta": {"progressToken": 1}}),
        ),
        (
            "tools/call",
            json!({"name": "list_actions", "arguments": []}),
        ),
        ("tools/call", json!({"name": 5})),
        ("tools/call", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "x"})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "void://actions"})),
        ("resources/read", json!({"uri": "void://nothing"})),
    ] {
        let single = rpc(&both, method, params.clone()).await.json();
        let sdk = by_sdk(&both, &message(method, params.clone())).await;
        assert_eq!(sdk, single, "{method}");
        stream.say(&line(7, method, params)).await;
        assert_eq!(stream.hear().await.unwrap(), single, "{method}");
    }
    for (method, params) in [
        ("server/discover", json!({"_meta": meta})),
        ("tools/list", json!({"_meta": meta})),
        (
            "tools/call",
            json!({"name": "list_actions", "arguments": {}, "_meta": meta}),
        ),
    ] {
        let (_, single) = newest(&both, message(method, params.clone()), &[]).await;
        stream.say(&line(7, method, params.clone())).await;
        assert_eq!(stream.hear().await.unwrap(), single, "{method}");
        let request = both
            .request(Method::POST, "/mcp")
            .header("x-void-bridge", "1");
        let response = request.json(&message(method, params)).send().await.unwrap();
        assert_eq!(response.json::<Value>().await.unwrap(), single, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_token_or_what_is_too_much() {
    let app = App::start().await;
    let holder = app.holder("agent", "gone", &["read", "act"]).await;
    let mut stream = Line::open(&app, &holder.caller).await;
    stream.say(&line(1, "ping", json!({}))).await;
    assert_eq!(stream.hear().await.unwrap()["result"], json!({}));
    app.owner()
        .delete(&format!("/api/tokens/{}", holder.id))
        .await
        .ok();
    let propose =
        json!({"name": "propose_action", "arguments": {"action_id": "touch-a", "reason": "x"}});
    stream.say(&line(2, "tools/call", propose)).await;
    assert_eq!(stream.hear().await, None);
    assert_eq!(app.lab.effect_count(), 0);
    for (shows, status) in [
        (holder.caller.shows.clone(), 401),
        (Shows::Nothing, 401),
        (app.owner().shows, 403),
    ] {
        let (_, head) = Line::ask(&app, &shows, "/mcp").await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
    let both = agent(&app, &["read", "act"]).await;
    let (_, head) = Line::ask(&app, &both.shows, "/mcp?registry=root").await;
    assert!(head.starts_with("HTTP/1.1 422 "), "{head}");
    let mut stream = Line::open(&app, &both).await;
    let long = line(
        1,
        "ping",
        json!({"padding": "x".repeat(REQUEST_BODY_BYTES_MAX)}),
    );
    stream.say(&long).await;
    assert_eq!(stream.hear().await.unwrap()["error"]["code"], -32600);
    stream.say(&line(2, "ping", json!({}))).await;
    assert_eq!(stream.hear().await.unwrap()["id"], 2);
    stream
        .say(&"x".repeat(2 * REQUEST_BODY_BYTES_MAX + 1))
        .await;
    assert_eq!(stream.hear().await.unwrap()["error"]["code"], -32600);
    assert_eq!(stream.hear().await, None);
    // A connection that has carried a request is not given away.
    let (mut second, head) = Line::ask(&app, &both.shows, "/healthz").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut health = vec![0; head_length(&head)];
    second.socket.read_exact(&mut health).await.unwrap();
    let head = second.ask_again(&app, &both.shows, "/mcp").await;
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
}

fn head_length(head: &str) -> usize {
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    line.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_does_not_keep_the_server_from_stopping() {
    let mut app = App::start().await;
    let both = agent(&app, &["read"]).await;
    let mut stream = Line::open(&app, &both).await;
    stream.say(&line(1, "ping", json!({}))).await;
    assert!(stream.hear().await.is_some());
    assert!(app.shut_down(std::time::Duration::from_secs(10)).await);
    assert_eq!(stream.hear().await, None);
}

fn slow_call(id: u64) -> String {
    let arguments = json!({"action_id": "slow-a", "reason": "a test"});
    let meta = json!({"progressToken": "p-1"});
    let params = json!({"name": "propose_action", "arguments": arguments, "_meta": meta});
    line(id, "tools/call", params)
}

fn assert_progress(notice: &Value, before: &mut u64) {
    assert_eq!(notice["method"], "notifications/progress", "{notice}");
    assert_eq!(notice["params"]["progressToken"], "p-1");
    let progress = notice["params"]["progress"].as_u64().unwrap();
    assert!(progress > *before, "{notice}");
    *before = progress;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_takes_its_time_says_so_to_whoever_asked() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let mut stream = Line::open(&app, &both).await;
    stream.say(&slow_call(1)).await;
    let mut progress = 0;
    for _ in 0..2 {
        assert_progress(&stream.hear().await.unwrap(), &mut progress);
    }
    app.lab.release();
    // The same over HTTP, where it becomes a stream of events.
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let arguments = json!({"action_id": "slow-b", "reason": "a test"});
    let params = json!({"name": "propose_action", "arguments": arguments, "_meta": {"progressToken": "p-1"}});
    let request = both
        .request(Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream");
    let request = request.json(&message("tools/call", params));
    let mut response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let first = response.chunk().await.unwrap().unwrap();
    app.lab.release();
    let mut text = String::from_utf8(first.to_vec()).unwrap();
    text.push_str(&response.text().await.unwrap());
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let (last, notices) = events.split_last().unwrap();
    let mut progress = 0;
    for notice in notices {
        assert_progress(notice, &mut progress);
    }
    assert!(!notices.is_empty());
    assert_eq!(last["id"], 7);
    assert_eq!(last["result"]["structuredContent"]["outcome"], "executed");
    let answer = loop {
        let heard = stream.hear().await.unwrap();
        if heard["id"] == 1 {
            break heard;
        }
        assert_eq!(heard["method"], "notifications/progress");
    };
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "executed");
}

/// Giving up a call gives up its answer: the run goes on, and the connection ends when all is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_keeps_no_stream_open() {
    let app = App::start().await;
    let both = agent(&app, &["read", "act"]).await;
    let mut stream = Line::open(&app, &both).await;
    stream.say(&slow_call(5)).await;
    let mut progress = 0;
    assert_progress(&stream.hear().await.unwrap(), &mut progress);
    let params = json!({"requestId": 5, "reason": "changed my mind"});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    stream
        .say(&format!("{cancel}\n{}", line(6, "ping", json!({}))))
        .await;
    let answer = stream.hear().await.unwrap();
    assert_eq!(answer["id"], 6, "{answer}");
    stream.socket.get_mut().shutdown().await.unwrap();
    assert_eq!(stream.hear().await, None, "no answer to what was given up");
    app.lab.release();
    let row = app.owner().get("/api/proposals?limit=1").await.ok()["proposals"][0].clone();
    let ended = eventually("the run to end", || async {
        let row = app.row(row["id"].as_str().unwrap()).await;
        (row["status"] != "running").then_some(row)
    });
    assert_eq!(ended.await["status"], "executed");
}
