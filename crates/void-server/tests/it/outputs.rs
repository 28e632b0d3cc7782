//! What a machine printed reaches people and never a token that could act on it: over every route, in
//! every error and every event (T1, T9).

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use void_channels::{Channel, Evidence, Outcome};
use void_domain::executions::Execution;
use void_domain::failures::FailureCode;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;
use void_server::routes::ROUTES;
use void_store::BoxFuture;

use crate::apps::{App, Setup};
use crate::callers::Caller;
use crate::sse::{Heard, Listener};

/// Stands in everything that a machine could have said.
pub const CANARY: &str = "CANARY-do-what-this-says";

/// A machine that says it in every place it has.
pub struct Talkative;

fn said() -> Value {
    json!({
        "host": "local", "exit": null, "replayed": false, "stdout": CANARY, "stderr": CANARY, "list": CANARY,
        "progress": [CANARY], "upid": CANARY, "exitstatus": CANARY, "note": CANARY, "result": {CANARY: CANARY},
    })
}

fn failure(code: FailureCode) -> Failure {
    Failure {
        result: Some(said()),
        ..Failure::new(code, format!("local refused: {CANARY}"))
    }
}

impl Channel for Talkative {
    fn execute(&self, permit: Permit) -> BoxFuture<'_, Outcome> {
        let id = permit.action().id.to_string();
        Box::pin(async move {
            match id.as_str() {
                "fail-a" => Outcome::Failed(failure(FailureCode::CommandFailed)),
                "touch-b" => Outcome::Unknown(failure(FailureCode::NoEnd)),
                _ => Outcome::Done { result: said() },
            }
        })
    }

    fn settle<'a>(&'a self, _: &'a Execution, _: &'a Ticket) -> BoxFuture<'a, Evidence> {
        Box::pin(async { Evidence::None(failure(FailureCode::NoAnswer)) })
    }
}

/// Runs of every outcome, asked for by this agent; their ids and codes.
async fn runs(app: &App, agent: &Caller) -> Vec<String> {
    let mut keys = Vec::new();
    for action in ["touch-a", "fail-a", "touch-b"] {
        let answer = agent.run(action).await;
        assert!(!answer.text.contains(CANARY), "{action}: {}", answer.text);
        keys.push(answer.ok()["action_row_id"].as_str().unwrap().to_owned());
    }
    let row = crate::apps::queue(agent, "stop-a").await;
    app.owner().decide(&row, "approve").await.ok();
    keys.push(row["id"].as_str().unwrap().to_owned());
    let mut codes = Vec::new();
    for id in &keys {
        let row = app.ended(id).await;
        assert!(row.to_string().contains(CANARY), "the owner sees it: {row}");
        codes.push(row["code"].as_str().unwrap().to_owned());
    }
    keys.extend(codes);
    keys
}

/// Every path of the table, with every key in each of its places.
fn paths(keys: &[String]) -> Vec<(Method, String)> {
    let mut paths = BTreeSet::new();
    for route in ROUTES {
        // A stream has no end; it is listened to apart.
        if route.operation == "streamEvents" {
            continue;
        }
        for key in keys.iter().map(String::as_str).chain(["touch-a", "1"]) {
            let parts = route.path.split('/');
            let path: Vec<&str> = parts
                .map(|part| if part.starts_with('{') { key } else { part })
                .collect();
            paths.insert((route.method.to_owned(), path.join("/")));
        }
    }
    let method = |(method, path): (String, String)| (method.parse().unwrap(), path);
    paths.into_iter().map(method).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_and_no_event_hands_a_machines_words_to_an_agent() {
    let setup = Setup {
        executor: Some(Arc::new(Talkative)),
        ..Setup::default()
    };
    let app = setup.start().await;
    let everything = [
        "act",
        "read",
        "suggest",
        "audit.read",
        "spawn",
        "meta.read",
        "meta.update",
    ];
    let holder = app.holder("agent", "blue", &everything).await;
    let (token, agent) = (holder.id, holder.caller);
    let keys = runs(&app, &agent).await;
    for (method, path) in paths(&keys) {
        let answer = agent.send(method.clone(), &path, None).await;
        assert!(
            !answer.text.contains(CANARY),
            "{method} {path}: {}",
            answer.text
        );
    }
    for path in ["/api/proposals?limit=500", "/api/proposals?status=failed"] {
        let listed = agent.get(path).await;
        assert!(!listed.ok()["proposals"].as_array().unwrap().is_empty());
        assert!(!listed.text.contains(CANARY), "{}", listed.text);
    }
    for key in &keys {
        let params = json!({"name": "proposal_status", "arguments": {"proposal": key}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = agent.post("/mcp", call).await;
        assert!(!answer.text.contains(CANARY), "{}", answer.text);
    }
    assert_eq!(
        marks(&app, &token).await,
        json!([]),
        "looking how it went marks nobody"
    );
    let heard = everything_heard(&app, &agent).await;
    assert!(heard.iter().any(|heard| heard.event == "proposal.failed"));
    assert!(heard.iter().any(|heard| heard.event == "proposal.unknown"));
    for heard in heard {
        assert!(!heard.data.to_string().contains(CANARY), "{heard:?}");
    }
}

async fn marks(app: &App, token: &str) -> Value {
    let listed = app.owner().get("/api/tokens").await.ok();
    let tokens = listed["tokens"].as_array().unwrap().clone();
    let found = tokens.into_iter().find(|one| one["id"] == token);
    found.unwrap()["taint"].clone()
}

/// Whoever asks for them gets them with the mark, by either way.
#[tokio::test(flavor = "multi_thread")]
async fn a_machines_words_that_are_asked_for_mark_the_token() {
    let setup = Setup {
        executor: Some(Arc::new(Talkative)),
        ..Setup::default()
    };
    let app = setup.start().await;
    for (number, action) in ["touch-a", "fail-a"].into_iter().enumerate() {
        for over_mcp in [true, false] {
            let name = format!("blue-{number}-{over_mcp}");
            let holder = app.holder("agent", &name, &["read", "act"]).await;
            let ran = holder.caller.run(action).await.ok();
            let id = ran["action_row_id"].as_str().unwrap();
            let path = format!("/api/proposals/{id}");
            let clean = holder.caller.get(&format!("{path}?untrusted=false")).await;
            assert!(!clean.text.contains(CANARY), "{}", clean.text);
            assert_eq!(marks(&app, &holder.id).await, json!([]));
            let arguments = json!({"proposal": id, "include_output": true});
            let params = json!({"name": "proposal_status", "arguments": arguments});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let answer = match over_mcp {
                true => holder.caller.post("/mcp", call).await,
                false => holder.caller.get(&format!("{path}?untrusted=true")).await,
            };
            assert!(answer.text.contains(CANARY), "{}", answer.text);
            let code = app.row(id).await["code"].as_str().unwrap().to_owned();
            assert_eq!(
                marks(&app, &holder.id).await,
                json!([format!("output of {code}")])
            );
            let next = holder.caller.run("touch-b").await.ok();
            assert_eq!(next["queued"], true, "{next}");
        }
    }
    // There is nothing to be asked for of what only waits, and nobody is marked by it.
    let holder = app.holder("agent", "red", &["read", "act"]).await;
    let row = crate::apps::queue(&holder.caller, "stop-a").await;
    let path = format!(
        "/api/proposals/{}?untrusted=true",
        row["id"].as_str().unwrap()
    );
    holder.caller.get(&path).await.ok();
    assert_eq!(marks(&app, &holder.id).await, json!([]));
}

/// All that this caller hears of what has happened so far; a freeze at the end is heard by everybody.
pub async fn everything_heard(app: &App, caller: &Caller) -> Vec<Heard> {
    let before = app.control.hub().last();
    app.owner().delete("/api/freeze").await;
    let freeze = json!({"reason": "the end"});
    app.owner().post("/api/freeze", freeze).await.ok();
    let mut listener = Listener::after(caller, 0).await;
    let mut heard: Vec<Heard> = Vec::new();
    let is_end = |heard: &Heard| heard.event == "freeze.changed" && heard.seq > before;
    while !heard.last().is_some_and(is_end) {
        heard.push(listener.next().await.unwrap());
    }
    heard
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_stays_and_people_see_everything() {
    let app = App::start().await;
    let agent = app.agent("blue").await;
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    let ran = agent.run("touch-a").await.ok();
    assert_eq!(
        ran["result"],
        json!({"host": "local", "exit": 0, "replayed": false, "withheld": true})
    );
    let failed = agent.run("fail-a").await.ok();
    assert_eq!(failed["error"]["code"], "command_failed");
    let path = format!(
        "/api/proposals/{}",
        failed["action_row_id"].as_str().unwrap()
    );
    let seen = agent.get(&path).await.ok();
    assert_eq!(
        seen["result"],
        json!({"host": "local", "exit": 3, "replayed": false, "withheld": true})
    );
    for person in [&viewer, &app.owner()] {
        let row = person.get(&path).await.ok();
        assert_eq!(row["result"]["stderr"], "no such unit\n");
        assert_eq!(row["error"]["message"], "the command on local ended with 3");
    }
    // Void's own refusals stay whole: they say what to do next.
    let risky = agent.run("nothing-such").await;
    risky.error(404, "unknown_action");
    app.owner().post("/api/freeze", json!({})).await.ok();
    let frozen = agent.run("touch-a").await.error(409, "frozen");
    let said = frozen["row"]["error"]["message"].as_str().unwrap();
    assert!(said.contains("frozen"), "{said}");
}
