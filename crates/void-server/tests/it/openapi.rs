//! The OpenAPI document: complete, resolvable, and true of every answer that any test gets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};
use void_server::routes::{Content, ROUTES, Route};

use crate::apps::Setup;
use crate::callers::Answer;
use crate::stands::{Stand, services};

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
pub fn assert_described(method: &Method, path: &str, answer: &Answer) {
    if method == Method::HEAD {
        return;
    }
    let kind = answer.headers.get("content-type");
    let kind = kind.map_or("", |kind| kind.to_str().unwrap());
    let context = format!("{method} {path}: {} {kind} {}", answer.status, answer.text);
    let route = route_of(method, path);
    let schema = match (route, answer.status) {
        (Some(route), 200) => match route.response {
            Content::Json(_) => route.operation,
            Content::Text(media) => {
                assert!(kind.starts_with(media), "{context}");
                return;
            }
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
        ("GET", "/api/notifications".into(), None),
        ("POST", "/api/notifications/test".into(), None),
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
    for (method, path, body) in calls {
        let method: Method = method.parse().unwrap();
        let answer = owner.send(method.clone(), &path, body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
        asked.insert(route_of(&method, &path).unwrap().operation);
    }
    assert_eq!(session.delete("/api/session").await.status, 200);
    // Tested with what they need: a stream, a run that was lost, a host that shows a key, a slow model,
    // a program in a turn, a phone, a node, a browser.
    asked.extend([
        "pairChannel",
        "unpairChannel",
        "retryNotification",
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
    ]);
    let all: BTreeSet<&str> = ROUTES.iter().map(|route| route.operation).collect();
    assert_eq!(asked, all);
    let served = app.anonymous().get("/api/openapi.json").await.ok();
    assert_eq!(served, void_server::document());
}
