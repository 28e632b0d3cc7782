//! Every route, tool, resource, prompt and event that an agent can read, with a stranger's words planted wherever they can
//! stand: either they are not in the answer, or the token is marked (I17, I39).

use std::collections::BTreeSet;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use void_server::routes::ROUTES;

use void_control::Limits;
use void_domain::budgets::{Rate, TokenBudgets};

use crate::apps::{App, Holder, Setup};
use crate::marks::{captured, clear, taint_of};
use crate::outputs::{CANARY, Talkative, everything_heard};
use crate::routes::entities::{id, new};

/// Everything that could hold a stranger's words does.
struct Planted {
    keys: Vec<String>,
    entities: Vec<(&'static str, String)>,
}

async fn plant(app: &App) -> Planted {
    let owner = app.owner();
    let kept = captured(app).await;
    let space = kept["space_id"].as_str().unwrap().to_owned();
    let all = ["read", "act", "suggest"];
    let planter = app.holder("agent", "red", &all).await.caller;
    planter.get(&format!("/api/refs/{}", id(&kept))).await.ok();
    let mut entities = vec![("space", space.clone()), ("ref", id(&kept).to_owned())];
    let mut keys = Vec::new();
    let drafts = format!("/api/spaces/{space}/drafts");
    for kind in ["page", "task", "project"] {
        let fields = json!({"title": CANARY, "body": CANARY});
        let draft = json!({"entity": kind, "op": "create", "fields": fields, "reason": CANARY});
        let row = planter.post(&drafts, draft).await.ok();
        owner.decide(&app.row(id(&row)).await, "approve").await.ok();
        keys.push(id(&row).to_owned());
        let listed = owner
            .get(&format!("/api/spaces/{space}/{kind}s"))
            .await
            .ok();
        let made = listed[format!("{kind}s")][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        entities.push((kind, made));
    }
    // The owner's own words that name a stranger's, whose title is told with them, and the other way round.
    let links = json!({"title": "Mine", "body": format!("[it](void:ref/{})", id(&kept))});
    entities.push((
        "page",
        id(&new(&owner, &space, "pages", links).await).to_owned(),
    ));
    let names =
        json!({"title": format!("{CANARY} 2"), "url": "https://example.org/b", "body": "[[Mine]]"});
    entities.push((
        "ref",
        id(&new(&owner, &space, "refs", names).await).to_owned(),
    ));
    for action in ["touch-a", "fail-a", "stop-a"] {
        let words = json!({"reason": CANARY, "diff": CANARY});
        let path = format!("/api/actions/{action}/run");
        let row = planter.post(&path, words).await.ok();
        keys.push(row["action_row_id"].as_str().unwrap().to_owned());
    }
    for key in &keys[3..5] {
        owner.decide(&app.row(key).await, "approve").await.ok();
        app.ended(key).await;
    }
    planter
        .post("/api/freeze", json!({"reason": CANARY}))
        .await
        .ok();
    let mut codes = Vec::new();
    for key in &keys {
        codes.push(app.row(key).await["code"].as_str().unwrap().to_owned());
    }
    keys.extend(codes);
    Planted { keys, entities }
}

/// Every path of the table, with every id and code in each of its places.
fn paths(planted: &Planted) -> Vec<(Method, String)> {
    let mut paths = BTreeSet::new();
    let ids = planted.entities.iter().map(|(_, id)| id);
    let names: Vec<&str> = ids
        .chain(&planted.keys)
        .map(String::as_str)
        .chain(["touch-a", "1"])
        .collect();
    for route in ROUTES
        .iter()
        .filter(|route| route.operation != "streamEvents")
    {
        for name in &names {
            let parts = route.path.split('/');
            let parts = parts.map(|part| if part.starts_with('{') { name } else { part });
            let path = parts.collect::<Vec<&str>>().join("/");
            paths.insert((route.method, path.clone()));
            for query in ["blocks=true", "untrusted=true", "limit=500"] {
                if route.method == "GET" {
                    paths.insert((route.method, format!("{path}?{query}")));
                }
            }
        }
    }
    let method = |(method, path): (&str, String)| (method.parse().unwrap(), path);
    paths.into_iter().map(method).collect()
}

/// Calls of every tool and resource with every id and code.
fn messages(planted: &Planted) -> Vec<Value> {
    let mut calls = Vec::new();
    let mut call = |name: &str, arguments: Value| {
        calls.push(("tools/call", json!({"name": name, "arguments": arguments})));
    };
    for key in &planted.keys {
        call("read", json!({"kind": "proposal", "id": key}));
        call("proposal_status", json!({"proposal": key}));
        call(
            "proposal_status",
            json!({"proposal": key, "include_output": true}),
        );
        call("withdraw_proposal", json!({"proposal": key}));
    }
    for (kind, id) in &planted.entities {
        call("read", json!({"kind": kind, "id": id}));
        let edits = json!([{"find": "CANARI", "replace": "x"}]);
        call(
            "propose_change",
            json!({"entity": kind, "op": "update", "id": id, "edits": edits, "reason": "a test"}),
        );
        call(
            "propose_change",
            json!({"entity": kind, "op": "delete", "id": id, "reason": "a test"}),
        );
    }
    call("search", json!({"query": "canary"}));
    call("read", json!({"kind": "service", "id": "caddy"}));
    call("context", json!({}));
    call("list_actions", json!({}));
    call("service_status", json!({}));
    call("read_record", json!({}));
    let mut uris = vec![
        "void://proposals".to_owned(),
        "void://spaces".to_owned(),
        "void://search?q=canary".to_owned(),
    ];
    uris.extend(
        planted
            .keys
            .iter()
            .map(|key| format!("void://proposals/{key}")),
    );
    for (kind, id) in &planted.entities {
        uris.push(format!("void://{kind}s/{id}"));
        let lists = ["pages", "tasks", "refs", "projects"];
        uris.extend(lists.map(|list| format!("void://spaces/{id}/{list}")));
    }
    calls.extend(
        uris.into_iter()
            .map(|uri| ("resources/read", json!({"uri": uri}))),
    );
    for prompt in ["what_is_wrong", "what_changed", "draft_runbook"] {
        calls.push(("prompts/get", json!({"name": prompt})));
    }
    for list in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        calls.push((list, json!({})));
    }
    let message = |(method, params): (&str, Value)| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    calls.into_iter().map(message).collect()
}

/// Nothing of a stranger's came, or the token is marked; then it is cleared for the next one. Whether something came.
async fn is_marked_by(app: &App, token: &str, answer: &str, what: &str) -> bool {
    let taint = taint_of(app, token).await;
    let is_marked = taint != json!([]);
    let came = answer.contains(CANARY);
    assert!(
        !came || is_marked,
        "{what} gives a stranger's words and marks nobody: {answer}"
    );
    if is_marked {
        clear(app, token, &taint).await.ok();
    }
    came
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_tool_or_event_gives_foreign_text_to_a_token_that_is_not_marked() {
    let setup = Setup {
        executor: Some(Arc::new(Talkative)),
        // Every route is asked by one token.
        limits: Limits {
            token_budgets: TokenBudgets {
                requests: Rate {
                    per_minute: 100_000,
                    burst: 100_000,
                },
                ..TokenBudgets::default()
            },
            ..Setup::default().limits
        },
        ..Setup::default()
    };
    let app = setup.start().await;
    let planted = plant(&app).await;
    let all = ["read", "act", "suggest"];
    // The same agent, so the rows are its own, and another token, which has read nothing.
    let Holder { id: token, caller } = app.holder("agent", "red", &all).await;
    let mut gave = BTreeSet::new();
    for (method, path) in paths(&planted) {
        let answer = caller.send(method.clone(), &path, None).await;
        assert_ne!(answer.status, 429, "{path}");
        if is_marked_by(&app, &token, &answer.text, &format!("{method} {path}")).await {
            gave.insert(
                path.split('/')
                    .nth(2)
                    .unwrap_or_default()
                    .split('?')
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    let mut told = 0;
    for message in messages(&planted) {
        for registry in ["blue", "companion", "security"] {
            let answer = caller
                .post(&format!("/mcp?registry={registry}"), message.clone())
                .await;
            let came = is_marked_by(&app, &token, &answer.text, &message.to_string()).await;
            told += usize::from(came);
        }
    }
    // It was really asked for.
    let nouns = ["pages", "projects", "proposals", "refs", "spaces", "tasks"];
    assert!(nouns.iter().all(|noun| gave.contains(*noun)), "{gave:?}");
    assert!(told >= planted.entities.len(), "{told}");
    for heard in everything_heard(&app, &caller).await {
        assert!(!heard.data.to_string().contains(CANARY), "{heard:?}");
    }
}
