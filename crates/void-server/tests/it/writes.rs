//! I20: an agent writes nothing of what the owner keeps by any route, tool, resource or token, whatever it may and whatever it
//! sends; with `suggest` it drafts, and what it drafts waits.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use void_agent::tools::{REGISTRIES, TOOLS};
use void_server::routes::ROUTES;

use crate::apps::App;
use crate::callers::Caller;
use crate::routes::entities::Kept;

/// What some route or other takes from the owner.
fn bodies(digest: &Value) -> Vec<Option<Value>> {
    let decided = json!({"decision": "approve", "digest": digest});
    vec![
        None,
        Some(json!({"base_revision": 1, "title": "stolen", "body": "stolen"})),
        Some(json!({"revision": 1})),
        Some(decided),
    ]
}

async fn by_every_route(caller: &Caller, names: &[String], digest: &Value) -> usize {
    let mut paths = BTreeSet::new();
    for route in ROUTES.iter().filter(|route| route.method != "GET") {
        for name in names {
            let parts = route.path.split('/');
            let parts = parts.map(|part| if part.starts_with('{') { name } else { part });
            paths.insert((route.method, parts.collect::<Vec<&str>>().join("/")));
        }
    }
    let mut sent = 0;
    for (method, path) in paths {
        // Taking back what one has drafted is allowed, and would leave nothing to be decided.
        if path.ends_with("/cancel") {
            continue;
        }
        for body in bodies(digest) {
            let method: Method = method.parse().unwrap();
            caller.send(method, &path, body).await;
            sent += 1;
        }
    }
    sent
}

async fn by_every_tool(caller: &Caller, kept: &Kept, names: &[String]) {
    let message = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    for registry in &REGISTRIES {
        let path = format!("/mcp?registry={}", registry.name);
        for (noun, id) in &kept.ids {
            let kind = noun.trim_end_matches('s');
            let all = json!({"kind": kind, "entity": kind, "op": "delete", "id": id, "reason": "r", "query": "x",
                "proposal": names.last(), "action_id": "touch-a", "space_id": kept.space});
            for tool in TOOLS.iter().filter(|tool| tool.name != "withdraw_proposal") {
                let schema = (tool.arguments)();
                let mut arguments = all.as_object().unwrap().clone();
                arguments.retain(|name, _| !schema["properties"][name].is_null());
                let call = json!({"name": tool.name, "arguments": arguments});
                caller.post(&path, message("tools/call", call)).await;
            }
            let uri = json!({"uri": format!("void://{noun}/{id}")});
            caller.post(&path, message("resources/read", uri)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_agent_writes_what_the_owner_keeps_by_any_route_tool_or_token() {
    let app = App::start().await;
    let kept = Kept::new(&app).await;
    let before = kept.seen(&app).await;
    let drafts = format!("/api/spaces/{}/drafts", kept.space);
    let page = kept
        .ids
        .iter()
        .find(|(noun, _)| *noun == "pages")
        .unwrap()
        .1
        .clone();
    for capabilities in [
        &["read"] as &[&str],
        &["act"],
        &["suggest"],
        &["read", "act", "suggest"],
    ] {
        let name = capabilities.join("-");
        let caller = app.holder("agent", &name, capabilities).await.caller;
        let draft =
            json!({"entity": "page", "op": "update", "id": page, "fields": {"body": "stolen"}});
        let drafted = caller.post(&drafts, draft).await;
        let may_draft = capabilities.contains(&"suggest");
        assert_eq!(drafted.status == 200, may_draft, "{name}: {}", drafted.text);
        let row = if may_draft {
            drafted.json()
        } else {
            Value::Null
        };
        let mut names = vec![kept.space.clone(), page.clone()];
        for member in ["id", "code"] {
            names.extend(row[member].as_str().map(str::to_owned));
        }
        let sent = by_every_route(&caller, &names, &row["digest"]).await;
        assert!(sent > 400, "{sent}");
        by_every_tool(&caller, &kept, &names).await;
        assert_eq!(kept.seen(&app).await, before, "{name}");
        if let Some(id) = row["id"].as_str() {
            assert_eq!(app.row(id).await["status"], "pending", "{name}");
        }
        // No token makes or clears another.
        let made = json!({"kind": "agent", "name": "heir", "capabilities": ["act"]});
        caller
            .post("/api/tokens", made)
            .await
            .error(403, "owner_only");
    }
}
