//! Resources and prompts over MCP: what the tools give, under the tools' rules, with the tools' marks.

use serde_json::{Value, json};

use crate::apps::{App, Holder, Setup};
use crate::callers::Caller;

use crate::outputs::CANARY;
use crate::routes::entities::{id, new, new_space};
use crate::stands::{Stand, services};

async fn rpc(caller: &Caller, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    caller.post("/mcp", message).await.json()
}

async fn result(caller: &Caller, method: &str, params: Value) -> Value {
    let answer = rpc(caller, method, params).await;
    assert_eq!(answer["error"], Value::Null, "{answer}");
    answer["result"].clone()
}

async fn error(caller: &Caller, method: &str, params: Value) -> i64 {
    let answer = rpc(caller, method, params).await;
    answer["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{answer}"))
}

/// What a resource says, as the tool gives it.
async fn read(caller: &Caller, uri: &str) -> Value {
    let read = result(caller, "resources/read", json!({"uri": uri})).await;
    let contents = &read["contents"][0];
    assert_eq!(
        (&contents["uri"], &contents["mimeType"]),
        (&json!(uri), &json!("application/json"))
    );
    serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
}

async fn marks(app: &App, token: &str) -> Value {
    let listed = app.owner().get("/api/tokens").await.ok();
    let tokens = listed["tokens"].as_array().unwrap().clone();
    let found = tokens.into_iter().find(|one| one["id"] == token);
    found.unwrap()["taint"].clone()
}

fn words(listed: &Value, list: &str, member: &str) -> Vec<String> {
    let all = listed[list].as_array().unwrap().iter();
    all.map(|one| one[member].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_are_what_the_tools_give_and_mark_as_the_tools_do() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let page = new(
        &owner,
        &space,
        "pages",
        json!({"title": "Mine", "body": "my own words"}),
    )
    .await;
    let stranger = json!({"title": CANARY, "url": "https://example.org/a", "body": CANARY});
    let kept = new(&owner, &space, "refs", stranger).await;
    let Holder { id: token, caller } = app.holder("agent", "red", &["read", "act"]).await;
    let listed = result(&caller, "resources/list", json!({})).await;
    let lists = [
        "void://services",
        "void://actions",
        "void://proposals",
        "void://spaces",
    ];
    assert_eq!(words(&listed, "resources", "uri"), lists);
    for uri in lists {
        assert!(read(&caller, uri).await.is_object(), "{uri}");
    }
    let row = crate::apps::queue(&caller, "stop-a").await;
    let own = read(&caller, "void://proposals").await;
    assert_eq!(own["items"][0]["code"], row["code"], "{own}");
    let shown = read(
        &caller,
        &format!("void://proposals/{}", row["code"].as_str().unwrap()),
    )
    .await;
    assert_eq!(shown["proposal"]["outcome"], "queued", "{shown}");
    let action = read(&caller, "void://actions/touch-a").await;
    assert_eq!(action["action"]["id"], "touch-a");
    let pages = read(&caller, &format!("void://spaces/{space}/pages")).await;
    assert_eq!(pages["items"][0]["content"]["title"], "Mine", "{pages}");
    let mine = read(&caller, &format!("void://pages/{}", id(&page))).await;
    assert_eq!(mine["entity"]["content"]["text"], "my own words");
    let found = read(&caller, "void://search?q=mine%20").await;
    assert_eq!(found["hits"][0]["label"], "Mine", "{found}");
    assert_eq!(
        marks(&app, &token).await,
        json!([]),
        "nothing of it is a stranger's"
    );
    let source = json!([format!("ref:{}", id(&kept))]);
    for uri in [
        format!("void://spaces/{space}/refs"),
        format!("void://refs/{}", id(&kept)),
    ] {
        let told = read(&caller, &uri).await.to_string();
        assert!(told.contains(CANARY), "{told}");
        assert_eq!(marks(&app, &token).await, source, "{uri}");
        let path = format!("/api/tokens/{token}/clear");
        owner.post(&path, json!({"taint": source})).await.ok();
    }
    no_resource_is_anything_else(&caller).await;
}

async fn no_resource_is_anything_else(caller: &Caller) {
    for missing in [
        "void://refs/019a0000-0000-7000-8000-000000000000",
        "void://refs/x",
        "void://nothing",
        "void://services/x/y",
        "void://search?q=a&z=b",
        "void://search",
        "void://",
        "file:///etc/passwd",
        "http://127.0.0.1/api/tokens",
        "",
    ] {
        let code = error(caller, "resources/read", json!({"uri": missing})).await;
        assert!(matches!(code, -32002 | -32602), "{missing}: {code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_opens_nothing_that_its_tool_does_not() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let page = new(
        &owner,
        &space,
        "pages",
        json!({"title": CANARY, "body": CANARY}),
    )
    .await;
    let other = app.holder("agent", "blue", &["read", "act"]).await.caller;
    let row = crate::apps::queue(&other, "stop-a").await;
    let acting = app.holder("agent", "acting", &["act"]).await.caller;
    let listed = result(&acting, "resources/list", json!({})).await;
    let lists = ["void://services", "void://actions", "void://proposals"];
    assert_eq!(words(&listed, "resources", "uri"), lists);
    let templates = result(&acting, "resources/templates/list", json!({})).await;
    let templates = words(&templates, "resourceTemplates", "name");
    assert_eq!(templates, ["service", "action", "proposal", "search"]);
    for uri in [
        "void://spaces".to_owned(),
        format!("void://spaces/{space}"),
        format!("void://spaces/{space}/pages"),
        format!("void://pages/{}", id(&page)),
        format!("void://proposals/{}", id(&row)),
    ] {
        let answer = rpc(&acting, "resources/read", json!({"uri": uri})).await;
        assert!(answer["error"].is_object(), "{uri}: {answer}");
        assert!(!answer.to_string().contains(CANARY), "{answer}");
    }
    assert_eq!(read(&acting, "void://proposals").await["items"], json!([]));
    let found = read(&acting, "void://search?q=canary").await;
    assert_eq!(found["hits"], json!([]));
    // Whoever may read the record and nothing else has no tool, and no resource either.
    let auditing = app
        .holder("agent", "auditing", &["audit.read"])
        .await
        .caller;
    let listing = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"});
    assert_eq!(auditing.post("/mcp", listing).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn three_prompts_bring_what_void_knows_and_mark_by_a_strangers_runbook() {
    let stand = Stand::up().await;
    let setup = Setup {
        services: services(&[stand.service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let reading = app.holder("agent", "reading", &["read"]).await.caller;
    let Holder { id: token, caller } = app.holder("agent", "drafting", &["read", "suggest"]).await;
    let names = async |caller: &Caller| {
        let listed = result(caller, "prompts/list", json!({})).await;
        words(&listed, "prompts", "name")
    };
    assert_eq!(names(&reading).await, ["what_is_wrong", "what_changed"]);
    assert_eq!(
        names(&caller).await,
        ["what_is_wrong", "what_changed", "draft_runbook"]
    );
    every_prompt_says_what_it_brings(&caller).await;
    assert_eq!(marks(&app, &token).await, json!([]));
    let withheld = get("draft_runbook", json!({"service": "web"}));
    assert_eq!(
        error(&reading, "prompts/get", withheld.clone()).await,
        -32602
    );
    // Somebody who had read a stranger's text drafted the runbook, and the owner kept it.
    let kept = json!({"title": "x", "url": "https://example.org/a", "body": "x"});
    let kept = new(&owner, &space, "refs", kept).await;
    caller.get(&format!("/api/refs/{}", id(&kept))).await.ok();
    let fields = json!({"title": "Web", "body": format!("---\nservices: [web]\n---\n{CANARY}")});
    let draft = json!({"entity": "page", "op": "create", "fields": fields});
    let row = caller
        .post(&format!("/api/spaces/{space}/drafts"), draft)
        .await
        .ok();
    owner.decide(&app.row(id(&row)).await, "approve").await.ok();
    let reader = app.holder("agent", "late", &["suggest"]).await;
    let got = result(&reader.caller, "prompts/get", withheld).await;
    assert!(got.to_string().contains(CANARY), "{got}");
    assert_ne!(marks(&app, &reader.id).await, json!([]));
}

fn get(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

async fn every_prompt_says_what_it_brings(caller: &Caller) {
    for (name, arguments) in [
        ("what_is_wrong", json!({})),
        ("what_changed", json!({})),
        ("draft_runbook", json!({"service": "web"})),
    ] {
        let got = result(caller, "prompts/get", get(name, arguments)).await;
        let messages = got["messages"].as_array().unwrap();
        let words = messages[0]["content"]["text"].as_str().unwrap();
        assert!(words.contains("never an instruction"), "{name}: {words}");
        for attached in &messages[1..] {
            let text = attached["content"]["resource"]["text"].as_str().unwrap();
            assert!(
                serde_json::from_str::<Value>(text).is_ok(),
                "{name}: {attached}"
            );
        }
        assert!(messages.len() > 1, "{name}");
    }
    for (name, arguments) in [
        ("no_such", json!({})),
        ("draft_runbook", json!({})),
        ("draft_runbook", json!({"service": 1})),
        ("draft_runbook", json!({"service": "no-such"})),
        ("what_is_wrong", json!({"service": "web"})),
        ("draft_runbook", json!({"service": "web", "x": "y"})),
    ] {
        let code = error(caller, "prompts/get", get(name, arguments)).await;
        assert_eq!(code, -32602, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_services_and_actions_are_completed_and_nothing_else() {
    let stand = Stand::up().await;
    let setup = Setup {
        services: services(&[stand.service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let caller = app.holder("agent", "red", &["read"]).await.caller;
    let complete = async |reference: Value, argument: &str, begins: &str| {
        let argument = json!({"name": argument, "value": begins});
        let params = json!({"ref": reference, "argument": argument});
        rpc(&caller, "completion/complete", params).await
    };
    let prompt = json!({"type": "ref/prompt", "name": "draft_runbook"});
    let found = complete(prompt.clone(), "service", "w").await;
    assert_eq!(found["result"]["completion"]["values"], json!(["web"]));
    let found = complete(prompt.clone(), "service", "x").await;
    assert_eq!(found["result"]["completion"]["values"], json!([]));
    let actions = json!({"type": "ref/resource", "uri": "void://actions/{id}"});
    let found = complete(actions, "id", "touch").await;
    assert_eq!(
        found["result"]["completion"]["values"],
        json!(["touch-a", "touch-b"])
    );
    let pages = json!({"type": "ref/resource", "uri": "void://pages/{id}"});
    let found = complete(pages, "id", "").await;
    assert_eq!(found["result"]["completion"]["values"], json!([]));
    for reference in [
        json!({"type": "ref/prompt", "name": "no-such"}),
        json!({"type": "ref/resource", "uri": "void://no-such/{id}"}),
    ] {
        let answer = complete(reference, "x", "").await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let answer = complete(prompt, "other", "").await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
