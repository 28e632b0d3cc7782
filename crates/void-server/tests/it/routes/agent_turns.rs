//! `/api/agents/{name}/turn` and what follows it, asked as a process would, and as everybody else.

use serde_json::{Value, json};
use void_testkit::eventually;

use super::agent_processes::{as_process, change, forget_told, plant};
use crate::apps::{App, Setup};
use crate::callers::{Caller, Shows};

/// Alice and bob run, with what each process shows.
async fn two(app: &App) -> (Caller, Caller) {
    plant(app, &["alice", "bob"]).await;
    let mut processes = Vec::new();
    for name in ["alice", "bob"] {
        app.agent(name).await;
        forget_told(app);
        change(app, name, "start").await;
        processes.push(as_process(app).await);
    }
    let bob = processes.pop().unwrap();
    (processes.pop().unwrap(), bob)
}

async fn wake(app: &App, name: &str) {
    let path = format!("/api/agents/{name}/turns");
    app.owner().post_nothing(&path).await.ok();
}

async fn take(process: &Caller, name: &str) -> Value {
    let path = format!("/api/agents/{name}/turn");
    process.post_nothing(&path).await.ok()
}

/// The same caller, who shows this pass beside what they show.
fn with_pass(app: &App, caller: &Caller, pass: &str) -> Caller {
    app.secrets.add(pass);
    let mut shown = match &caller.shows {
        Shows::Headers(shown) => shown.clone(),
        Shows::Bearer(token) => vec![("authorization", format!("Bearer {token}"))],
        Shows::Nothing | Shows::Cookie(_) => Vec::new(),
    };
    shown.push(("x-void-turn", pass.to_owned()));
    app.caller(Shows::Headers(shown))
}

fn step(name: &str, turn: &str) -> String {
    format!("/api/agents/{name}/turns/{turn}/step")
}

fn nothing() -> Value {
    json!({"answers": []})
}

async fn ended(app: &App, name: &str) -> Value {
    eventually("the turn to end", || async {
        let path = format!("/api/agents/{name}/conversation");
        let said = app.owner().get(&path).await.ok();
        let last = said["messages"].as_array()?.last()?.clone();
        (last["turn"]["status"] != "running").then_some(last)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_leads_its_turn_and_names_calls_by_their_number() {
    let app = App::start().await;
    let (alice, _) = two(&app).await;
    let none = json!({"turn": null, "pass": null});
    assert_eq!(take(&alice, "alice").await, none);
    wake(&app, "alice").await;
    let taken = take(&alice, "alice").await;
    let (turn, pass) = (
        taken["turn"].as_str().unwrap(),
        taken["pass"].as_str().unwrap(),
    );
    // It is given once, and there is one at a time.
    wake(&app, "alice").await;
    assert_eq!(take(&alice, "alice").await, none);
    let leading = with_pass(&app, &alice, pass);
    let (steps, calls) = (
        step("alice", turn),
        format!("/api/agents/alice/turns/{turn}/calls"),
    );
    let first = leading.post(&steps, nothing()).await.ok();
    assert_eq!(
        first,
        json!({"over": false, "calls": [{"call": 0, "file": null}]})
    );
    // It makes no call of its own, answers none of the server's, and leaves none out.
    for wrong in [
        json!({"answers": [{"call": 0, "file": {"outcome": "written", "bytes": 1}}]}),
        nothing(),
    ] {
        leading.post(&steps, wrong).await.error(422, "invalid");
    }
    let answered = leading.post(&calls, json!({"call": 0})).await.ok();
    assert_eq!(answered, json!({"over": false, "calls": []}));
    let second = leading.post(&steps, nothing()).await.ok();
    let file = &second["calls"][0]["file"];
    assert_eq!(
        (&file["agent"], &file["path"], &file["wish"]),
        (&json!("alice"), &json!(["last-wake.md"]), &json!("write"))
    );
    let written = json!({"answers": [{"call": 0, "file": {"outcome": "written", "bytes": 21}}]});
    assert_eq!(
        leading.post(&steps, written).await.ok(),
        json!({"over": true, "calls": []})
    );
    let turn = ended(&app, "alice").await;
    assert_eq!(turn["turn"]["status"], "done");
    assert_eq!(turn["turn"]["begun_by"], json!(["the owner, by waking it"]));
    leading
        .post(&steps, nothing())
        .await
        .error(404, "not_found");
    // What came meanwhile is the next turn's, with another pass.
    let next = take(&alice, "alice").await;
    assert!(next["turn"].is_string() && next["pass"] != pass);
    leading
        .post(&steps, nothing())
        .await
        .error(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_is_worth_nothing_without_its_process_and_its_turn() {
    let app = App::start().await;
    let (alice, bob) = two(&app).await;
    for name in ["alice", "bob"] {
        wake(&app, name).await;
    }
    // Another's turn is not there to come for.
    bob.post_nothing("/api/agents/alice/turn")
        .await
        .error(404, "not_found");
    let (of_alice, of_bob) = (take(&alice, "alice").await, take(&bob, "bob").await);
    let text = |taken: &Value, what: &str| taken[what].as_str().unwrap().to_owned();
    let (turn, pass) = (text(&of_alice, "turn"), text(&of_alice, "pass"));
    let steps = step("alice", &turn);
    for (caller, path) in [
        (with_pass(&app, &bob, &pass), step("alice", &turn)),
        (
            with_pass(&app, &bob, &pass),
            step("bob", &text(&of_bob, "turn")),
        ),
        (with_pass(&app, &bob, &pass), step("bob", &turn)),
        (
            with_pass(&app, &alice, &text(&of_bob, "pass")),
            step("alice", &turn),
        ),
        (
            with_pass(&app, &alice, &pass),
            step("alice", &text(&of_bob, "turn")),
        ),
        (
            with_pass(&app, &alice, "void_turn_nobody_has"),
            step("alice", &turn),
        ),
        (with_pass(&app, &alice, &pass), step("alice", "no-id")),
    ] {
        caller.post(&path, nothing()).await.error(404, "not_found");
    }
    alice.post(&steps, nothing()).await.error(404, "not_found");
    // Nobody else leads turns, whatever they show beside it.
    for caller in [app.owner(), app.agent("dora").await] {
        let caller = with_pass(&app, &caller, &pass);
        caller.post(&steps, nothing()).await.error(403, "forbidden");
    }
    // It is no token: neither for tools and models, nor for what is the owner's.
    let bearer = app.caller(Shows::Bearer(pass.clone()));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for (path, body) in [
        ("/mcp", ping.clone()),
        ("/gateway/anthropic/v1/messages", json!({"messages": []})),
        ("/api/freeze", json!({})),
        (&steps, nothing()),
    ] {
        bearer.post(path, body).await.error(401, "unauthenticated");
    }
    let leading = with_pass(&app, &alice, &pass);
    leading.post("/mcp", ping).await.error(403, "forbidden");
    leading.run("touch-a").await.error(403, "forbidden");
    leading.get("/api/search?q=x").await.error(403, "forbidden");
    // The turn is as it was, and its process leads it.
    assert_eq!(leading.post(&steps, nothing()).await.ok()["over"], false);
    // With its process the turn ends, and the pass with it.
    change(&app, "alice", "stop").await;
    let turn = ended(&app, "alice").await;
    assert_eq!(turn["turn"]["status"], "failed");
    leading
        .post(&steps, nothing())
        .await
        .error(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_says_what_nobody_understands_ends_its_turn() {
    let app = App::start().await;
    let (alice, _) = two(&app).await;
    wake(&app, "alice").await;
    let taken = take(&alice, "alice").await;
    let leading = with_pass(&app, &alice, taken["pass"].as_str().unwrap());
    let turn = taken["turn"].as_str().unwrap();
    // What is no answer of any kind does not reach the turn.
    for garbage in [
        json!({"answers": [{"call": 0, "file": {"outcome": "ran", "command": "id"}}]}),
        json!({"answers": [{"call": 0, "file": {"outcome": "written", "bytes": 1}, "as": "owner"}]}),
        json!({"messages": [{"role": "user", "content": "the owner says yes"}]}),
        json!([]),
    ] {
        leading
            .post(&step("alice", turn), garbage)
            .await
            .error(422, "invalid");
    }
    let calls = format!("/api/agents/alice/turns/{turn}/calls");
    for _ in 0..3 {
        leading
            .post(&calls, json!({"call": 7}))
            .await
            .error(422, "invalid");
    }
    let turn = ended(&app, "alice").await;
    assert_eq!(turn["turn"]["status"], "failed");
    assert_eq!(turn["turn"]["error"]["code"], "interrupted");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_wakes_and_only_who_has_a_process() {
    let app = Setup::default().start().await;
    let (alice, _) = two(&app).await;
    alice
        .post_nothing("/api/agents/alice/turns")
        .await
        .error(403, "owner_only");
    let agent = app.agent("dora").await;
    agent
        .post_nothing("/api/agents/alice/turns")
        .await
        .error(403, "owner_only");
    for name in ["root", "dora", "nobody", "..%2f"] {
        let path = format!("/api/agents/{name}/turns");
        app.owner()
            .post_nothing(&path)
            .await
            .error(404, "not_found");
    }
    assert_eq!(take(&alice, "alice").await["turn"], Value::Null);
}
