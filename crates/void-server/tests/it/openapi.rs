//! The OpenAPI document: complete, resolvable, and true of every answer that any test gets.

mod answers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};
use void_control::Ctx;
use void_control::proposals::{ProposeRequest, propose};
use void_domain::actors::{Actor, Surface};
use void_domain::capabilities::Capabilities;
use void_domain::ids::RequestId;
use void_domain::taint::Taint;
use void_server::routes::{Content, ROUTES, Route};
use void_testkit::models::{Format, ModelServer, Script};

use crate::apps::{App, Engine, Setup};
use crate::callers::HttpResponse;
use crate::labs::Lab;
use crate::routes::{agent_configs, agent_processes, attachments, entities};
use crate::stands::{Stand, services};
use crate::talks::{Turn, agents};

/// The row of the table that serves this path.
pub fn route_of(method: &Method, path: &str) -> Option<&'static Route> {
    let path = path.split('?').next().unwrap_or_default();
    let method = if method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let fits = |route: &&Route| route.method == method && is_like(route.path, path);
    // `/api/actions/pending` is itself before it is an id.
    let mut found: Vec<&Route> = ROUTES.iter().filter(fits).collect();
    found.sort_by_key(|route| route.path.matches('{').count());
    found.first().copied()
}

fn is_like(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template
            .zip(path)
            .all(|(expected, word)| expected == word || expected.starts_with('{'))
}

/// Whether an answer is what the document says about it.
pub fn assert_described(method: &Method, path: &str, answer: &HttpResponse) {
    if method == Method::HEAD {
        return;
    }
    let kind = answer.headers.get("content-type");
    let kind = kind.map_or("", |kind| kind.to_str().unwrap());
    let context = format!("{method} {path}: {} {kind} {}", answer.status, answer.text);
    let route = route_of(method, path);
    // Another route's path may fit a template that does not take the method.
    if let Some(route) = route.filter(|_| answer.status != 405) {
        let named = &operation(route)["responses"][answer.status.to_string()];
        assert!(
            named.is_object(),
            "this status is not in the document: {context}"
        );
    }
    let schema = match (route, answer.status) {
        (Some(route), 200) => match route.response {
            Content::Json(_) => route.operation,
            Content::Text(media) => {
                assert!(kind.starts_with(media), "{context}");
                return;
            }
            Content::File => return attachments::assert_inert(kind, &context),
        },
        (Some(route), 503) if matches!(route.operation, "isReady" | "getHealth") => route.operation,
        // A notification has no answer, and a refusal is one of JSON-RPC.
        (Some(route), 202) if route.operation == "callTools" => return,
        (Some(route), 400 | 404) if route.operation == "callTools" => route.operation,
        (None, 200) => panic!("answered without a route: {context}"),
        _ => "Error",
    };
    assert_eq!(kind, "application/json", "{context}");
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{context}"));
    let validator = validators().get(schema).unwrap();
    if let Err(error) = validator.validate(&body) {
        panic!("{error} at {}: {context}", error.instance_path());
    }
}

fn operation(route: &Route) -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let document = DOCUMENT.get_or_init(void_server::document);
    &document["paths"][route.path][route.method.to_ascii_lowercase()]
}

/// Whether an event of `/api/events` is what the document says of it.
pub fn assert_event(name: &str, data: &Value) {
    static EVENTS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    let events = EVENTS.get_or_init(|| events_of("/api/events"));
    assert_fits(events, name, data);
}

/// Whether an event of a turn is what the document says of it.
pub fn assert_turn_event(name: &str, data: &Value) {
    static EVENTS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    let events = EVENTS.get_or_init(|| events_of("/api/conversations/1/stream"));
    assert_fits(events, name, data);
}

fn assert_fits(events: &BTreeMap<String, Validator>, name: &str, data: &Value) {
    if let Err(error) = events.get(name).expect(name).validate(data) {
        panic!("{error}: {name} {data}");
    }
}

/// One validator for each event of a stream; members that the document does not name are errors.
fn events_of(path: &str) -> BTreeMap<String, Validator> {
    let route = route_of(&Method::GET, path).unwrap();
    let content = &operation(route)["responses"]["200"]["content"]["text/event-stream"];
    let events = content["x-events"].as_object().unwrap();
    let mut components = void_server::document()["components"].clone();
    close(&mut components["schemas"]);
    let closed = events.iter().map(|(name, schema)| {
        let mut schema = schema.clone();
        close(&mut schema);
        schema["components"] = components.clone();
        (name.clone(), jsonschema::validator_for(&schema).unwrap())
    });
    closed.collect()
}

/// Requests say how much of what they hold is taken: every text and number has a bound, every object an
/// end, and a body is required where an empty object would not do.
#[test]
fn every_member_of_a_request_has_its_bounds() {
    let document = void_server::document();
    let schemas = &document["components"]["schemas"];
    let resolved = |schema: &Value| match schema["$ref"].as_str() {
        Some(pointer) => document.pointer(&pointer[1..]).unwrap().clone(),
        None => schema.clone(),
    };
    assert!(
        !schemas.to_string().contains("\"uint"),
        "no format of Rust's"
    );
    let mut required = 0;
    for route in ROUTES.iter().filter(|route| route.request.is_some()) {
        let body = &operation(route)["requestBody"];
        let schema = resolved(&body["content"]["application/json"]["schema"]);
        let mut whole = schema.clone();
        whole["components"] = document["components"].clone();
        let is_needed = !jsonschema::is_valid(&whole, &json!({}));
        assert_eq!(body["required"], is_needed, "{}", route.operation);
        required += usize::from(is_needed);
        // Newer nodes, providers' programs and newer revisions of MCP may say more.
        let is_open = ["joinNode", "pollNode", "reportNode", "callTools"];
        let is_open = is_open.contains(&route.operation) || route.operation.starts_with("forward");
        assert!(
            is_open || schema["additionalProperties"] == false,
            "{}",
            route.operation
        );
        // Some say nothing, and take nothing.
        let members = schema["properties"].as_object().cloned();
        for (name, member) in &members.unwrap_or_default() {
            let kinds = member["type"].to_string();
            let has = |key: &str| !member[key].is_null();
            let context = format!("{} {name} {member}", route.operation);
            if kinds.contains("string") {
                assert!(
                    has("pattern") || has("enum") || has("const") || name == "id",
                    "{context}"
                );
                let fixed =
                    has("enum") || has("const") || name == "id" || route.operation == "callTools";
                let pattern = member["pattern"].as_str().unwrap_or_default();
                assert!(
                    fixed || has("maxLength") || !pattern.contains("*$"),
                    "{context}"
                );
            }
            if kinds.contains("integer") && name != "id" {
                assert!(has("minimum") && has("maximum"), "{context}");
            }
            let required = schema["required"].as_array();
            if required.is_some_and(|names| names.contains(&json!(name))) {
                assert!(!has("default"), "{context}");
            }
        }
    }
    assert!(required >= 12, "{required}");
}

/// One validator per JSON operation, and one for errors. Members that the document does not name are
/// errors, so that nothing is answered that is not written down.
fn validators() -> &'static BTreeMap<&'static str, Validator> {
    static VALIDATORS: OnceLock<BTreeMap<&'static str, Validator>> = OnceLock::new();
    VALIDATORS.get_or_init(|| {
        let mut document = void_server::document();
        close(&mut document["components"]["schemas"]);
        let components = document["components"].clone();
        let of = |mut schema: Value| {
            close(&mut schema);
            schema["components"] = components.clone();
            jsonschema::validator_for(&schema).unwrap()
        };
        let mut validators: BTreeMap<&'static str, Validator> = ROUTES
            .iter()
            .filter(|route| matches!(route.response, Content::Json(_)))
            .map(|route| {
                let operation = &document["paths"][route.path][route.method.to_ascii_lowercase()];
                let content = &operation["responses"]["200"]["content"];
                (
                    route.operation,
                    of(content["application/json"]["schema"].clone()),
                )
            })
            .collect();
        validators.insert("Error", of(json!({"$ref": "#/components/schemas/Error"})));
        validators
    })
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") && !members.contains_key("additionalProperties") {
                members.insert("unevaluatedProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_route_is_described_once_and_every_reference_resolves() {
    let document = void_server::document();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut ids = BTreeSet::new();
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} twice");
            for member in ["summary", "description", "responses"] {
                assert!(!operation[member].is_null(), "{id} has no {member}");
            }
            let named: Vec<&str> = path
                .split('/')
                .filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path: Vec<&str> = parameters
                .iter()
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| parameter["name"].as_str().unwrap())
                .collect();
            assert_eq!(in_path, named, "{id}");
            described.insert((method.to_ascii_uppercase(), path.clone()));
        }
    }
    let table = ROUTES
        .iter()
        .map(|route| (route.method.to_owned(), route.path.to_owned()));
    assert_eq!(described, table.collect());
    resolve(&document, &document);
    for schema in document["components"]["schemas"]
        .as_object()
        .unwrap()
        .values()
    {
        jsonschema::meta::validate(
            &json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [schema]}),
        )
        .unwrap();
    }
}

fn resolve(document: &Value, part: &Value) {
    match part {
        Value::Object(members) => {
            if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').expect(reference);
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
            members
                .values()
                .for_each(|member| resolve(document, member));
        }
        Value::Array(items) => items.iter().for_each(|item| resolve(document, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every caller checks every answer; here every operation is asked for a good one at least once.
#[tokio::test(flavor = "multi_thread")]
async fn the_happy_path_of_every_operation_is_as_described() {
    let stand = Stand::up().await;
    let setup = Setup {
        services: services(&[stand.service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    crate::routes::tree::open(&app).await;
    let owner = app.owner();
    let session = app.session().await;
    let (approved, rejected) = (app.queue("stop-a").await, app.queue("stop-b").await);
    let (decided, cancelled) = (app.queue("stop-all").await, app.queue("cool-stop").await);
    let by = |row: &Value, path: &str| path.replace("ROW", row["id"].as_str().unwrap());
    let token = app.holder("viewer", "eve", &[]).await;
    let decide = json!({"decision": "approve", "digest": decided["digest"]});
    let conversation = owner.get("/api/little-blue").await.ok()["conversation_id"].clone();
    let conversation = conversation.as_str().unwrap();
    let talk = |part: &str| format!("/api/conversations/{conversation}/{part}");
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    let calls: Vec<(&str, String, Option<Value>)> = vec![
        ("GET", "/api/actions".into(), None),
        (
            "POST",
            "/api/actions/touch-a/run".into(),
            Some(json!({"params": {}, "reason": "x"})),
        ),
        ("GET", "/api/actions/pending?limit=2".into(), None),
        ("GET", "/api/search?q=stop&limit=2".into(), None),
        (
            "POST",
            by(&approved, "/api/actions/pending/ROW/approve?wait=60"),
            None,
        ),
        (
            "POST",
            by(&rejected, "/api/actions/pending/ROW/reject"),
            Some(json!({"reason": "no"})),
        ),
        ("GET", "/api/actions/recent".into(), None),
        ("GET", "/api/proposals?status=pending&limit=1".into(), None),
        ("GET", by(&approved, "/api/proposals/ROW"), None),
        ("GET", by(&approved, "/api/proposals/ROW/card"), None),
        (
            "POST",
            by(&decided, "/api/proposals/ROW/decide"),
            Some(decide),
        ),
        ("POST", by(&cancelled, "/api/proposals/ROW/cancel"), None),
        ("GET", "/api/inbox".into(), None),
        ("GET", "/api/home".into(), None),
        ("GET", "/api/doctor".into(), None),
        ("GET", "/api/audit?limit=3".into(), None),
        ("GET", "/api/audit/1".into(), None),
        ("GET", "/api/audit-export".into(), None),
        ("GET", "/api/audit-verify".into(), None),
        ("GET", "/api/freeze".into(), None),
        (
            "POST",
            "/api/freeze".into(),
            Some(json!({"reason": "look", "for_s": 60})),
        ),
        ("DELETE", "/api/freeze".into(), None),
        ("GET", "/api/tokens".into(), None),
        (
            "POST",
            "/api/tokens".into(),
            Some(json!({"kind": "node", "name": "n1"})),
        ),
        ("DELETE", format!("/api/tokens/{}", token.id), None),
        ("GET", "/api/session".into(), None),
        (
            "POST",
            "/api/session".into(),
            Some(json!({"token": app.owner_token()})),
        ),
        ("GET", "/api/login".into(), None),
        ("GET", "/api/sessions".into(), None),
        ("GET", "/api/quarantine".into(), None),
        ("GET", "/api/passkeys".into(), None),
        ("POST", "/api/setup-links".into(), None),
        ("GET", "/api/hosts".into(), None),
        ("POST", "/api/hosts/local/check".into(), None),
        ("GET", "/api/nodes".into(), None),
        ("POST", "/api/nodes".into(), Some(json!({"name": "n2"}))),
        ("GET", "/api/services".into(), None),
        ("GET", "/api/services/web".into(), None),
        ("GET", "/api/lab".into(), None),
        ("GET", "/api/agents".into(), None),
        ("GET", "/api/agents/topology".into(), None),
        ("GET", "/api/agents/sentinel/can?limit=2".into(), None),
        (
            "POST",
            "/api/agents/sentinel/move".into(),
            Some(json!({"parent": "little-blue"})),
        ),
        ("GET", "/api/agents/sentinel/conversation".into(), None),
        ("GET", "/api/agents/sentinel/conversations".into(), None),
        ("POST", "/api/agents/sentinel/conversation".into(), None),
        ("GET", "/api/little-blue".into(), None),
        (
            "POST",
            "/api/little-blue/turn".into(),
            Some(json!({"text": "what is wrong?"})),
        ),
        ("GET", talk("messages"), None),
        ("POST", talk("messages"), Some(json!({"text": "hello"}))),
        ("GET", talk("stream"), None),
        ("GET", "/api/mutes".into(), None),
        (
            "POST",
            "/api/mutes".into(),
            Some(json!({"service": "web", "for_s": 60, "reason": "a new disk"})),
        ),
        ("GET", "/api/notifications".into(), None),
        ("POST", "/api/notifications/test".into(), None),
        ("GET", "/api/actions/touch-a".into(), None),
        ("GET", "/api/pending-changes".into(), None),
        ("GET", "/api/backups".into(), None),
        ("POST", "/api/backups".into(), None),
        ("GET", "/api/bridge".into(), None),
        ("GET", "/api/bridge/moves?wait=0".into(), None),
        ("GET", "/api/status".into(), None),
        ("GET", "/api/openapi.json".into(), None),
        ("GET", "/healthz".into(), None),
        ("GET", "/readyz".into(), None),
        ("GET", "/health".into(), None),
        ("GET", "/metrics".into(), None),
    ];
    let of_agents = agent_processes::calls(&app).await.into_iter();
    let of_configs = agent_configs::calls(&app).await;
    for (method, path, body) in calls.into_iter().chain(of_agents).chain(of_configs) {
        let method: Method = method.parse().unwrap();
        let answer = owner.send(method.clone(), &path, body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
        asked.insert(route_of(&method, &path).unwrap().operation);
    }
    assert_eq!(session.delete("/api/session").await.status, 200);
    // Tested with what they need: a stream, a run that was lost, a host that shows a key, a slow model,
    // a program in a turn, a phone, a node, a browser, a token that has read a stranger's text.
    asked.extend([
        "pairChannel",
        "unpairChannel",
        "retryNotification",
        "unmute",
        "actOnNotification",
        "stopTurn",
        "retryTurn",
        "closeSession",
        "challengeSession",
        "confirmSession",
        "challengePasskey",
        "registerPasskey",
        "removePasskey",
        "revokeSession",
        "setPassword",
        "removePassword",
        "forwardMessage",
        "forwardTokenCount",
        "callTools",
        "openTools",
        "streamEvents",
        "settleProposal",
        "trustHost",
        "approveNode",
        "removeNode",
        "joinNode",
        "pollNode",
        "reportNode",
        "confirmQuarantined",
        "removeQuarantined",
        "proposeCatalogue",
        "approvePendingChange",
        "rejectPendingChange",
        "draftChange",
        "decideDrafts",
        "approveEdited",
        "askAgain",
        "listAttachedConversations",
        "attachConversation",
        "exportConversation",
        "deleteConversation",
        "getSpaceConversation",
        "clearToken",
    ]);
    // With one that is there, in `routes/attachments.rs`.
    asked.extend(attachments::OPERATIONS);
    // What is done with an entity is tested with one of each kind, in `routes/entities.rs`.
    let of_entities = ROUTES.iter().filter(|route| entities::is_about_one(route));
    asked.extend(of_entities.map(|route| route.operation));
    let all: BTreeSet<&str> = ROUTES.iter().map(|route| route.operation).collect();
    assert_eq!(asked, all);
    let served = app.anonymous().get("/api/openapi.json").await.ok();
    assert_eq!(served, void_server::document());
}
