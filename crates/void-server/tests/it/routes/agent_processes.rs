//! `/api/agents/{name}/start` and its like. The process of these tests is `tee`, which keeps what it is told and does
//! nothing else; real agents are started by the tests of the binary.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Control;
use void_control::agent_processes::{
    AgentProcesses, AgentProcessesConfig, Patience, ProcessDriver, Restarts, SandboxLimits,
    SandboxMode,
};
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup};
use crate::callers::{Caller, Shows};
use crate::sse::Listener;

const TEE: &str = "/usr/bin/tee";
/// What the process of an agent was told, in the folder of the lab.
const TOLD: &str = "told";

pub fn processes(control: &Control, data: &Path, api: SocketAddr) -> AgentProcesses {
    let told = data.join(TOLD).display().to_string();
    let config = AgentProcessesConfig {
        data: data.canonicalize().unwrap(),
        api,
        driver: Arc::new(ProcessDriver {
            program: TEE.into(),
            words: vec![Box::leak(told.into_boxed_str())],
        }),
        cgroups: None,
        users: None,
        limits: SandboxLimits {
            memory_bytes: 1 << 30,
            file_bytes: 1 << 20,
        },
        mode: SandboxMode::Full,
        restarts: Restarts::default(),
        // It never says that it is ready.
        patience: Patience {
            ready_within: Duration::from_secs(3600),
            up_within: Duration::from_secs(3600),
        },
    };
    AgentProcesses::new(control, config).unwrap()
}

/// A tree with these names right below the root, as it is at the next start.
pub async fn plant(app: &App, names: &[&str]) {
    let mut tree = json!({"root": null});
    for name in names {
        tree[*name] = json!("root");
    }
    let meta = app.lab.path().join("meta");
    fs::create_dir_all(&meta).unwrap();
    fs::write(meta.join("topology.json"), tree.to_string()).unwrap();
    super::tree::open(app).await;
}

/// A good call of each operation, in order, with an agent to do it to.
pub async fn calls(app: &App) -> Vec<(&'static str, String, Option<Value>)> {
    plant(app, &["alice"]).await;
    app.agent("alice").await;
    [
        ("POST", "start"),
        ("GET", "process"),
        ("GET", "logs"),
        ("POST", "restart"),
        ("POST", "stop"),
    ]
    .map(|(method, what)| (method, format!("/api/agents/alice/{what}"), None))
    .into()
}

async fn told(app: &App) -> String {
    let file = app.lab.path().join(TOLD);
    eventually("the process to be told", || async {
        let text = fs::read_to_string(&file).ok()?;
        (text.lines().count() >= 2).then_some(text)
    })
    .await
}

/// As the process of the agent, which knows its token from its first line.
async fn as_process(app: &App) -> Caller {
    let told = told(app).await;
    let token = told.lines().next().unwrap();
    app.secrets.add(token);
    let shown = vec![("authorization", format!("Bearer {token}"))];
    app.caller(Shows::Headers(shown))
}

async fn change(app: &App, name: &str, what: &str) -> Value {
    let path = format!("/api/agents/{name}/{what}");
    app.owner().post_nothing(&path).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_starts_and_stops_an_agent_that_stands_in_the_tree() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        plant(&app, &["alice"]).await;
        app.agent("alice").await;
        let owner = app.owner();
        let mut listener = Listener::open(&owner).await;
        let never = owner.get("/api/agents/alice/process").await.ok();
        assert_eq!(
            (&never["state"], &never["wanted"]),
            (&json!("stopped"), &Value::Null)
        );
        let started = change(&app, "alice", "start").await;
        assert_eq!(
            (&started["name"], &started["wanted"]),
            (&json!("alice"), &json!("running"))
        );
        let told = told(&app).await;
        let plan: Value = serde_json::from_str(told.lines().nth(1).unwrap()).unwrap();
        let state = app
            .lab
            .path()
            .canonicalize()
            .unwrap()
            .join("agents/alice/state");
        assert_eq!(
            plan["folders"],
            json!([{"path": state, "access": "read_write"}])
        );
        assert_eq!(plan["server_port"], app.address.port());
        // Twice is once.
        change(&app, "alice", "start").await;
        assert_eq!(app.audited("agent.started").await.len(), 1);
        change(&app, "alice", "restart").await;
        assert_eq!(app.audited("agent.restarted").await.len(), 1);
        let stopped = change(&app, "alice", "stop").await;
        assert_eq!(
            (&stopped["state"], &stopped["wanted"]),
            (&json!("stopped"), &json!("stopped"))
        );
        change(&app, "alice", "stop").await;
        assert_eq!(app.audited("agent.stopped").await.len(), 1);
        for verb in ["agent.started", "agent.restarted", "agent.stopped"] {
            let heard = loop {
                let heard = listener.next().await.unwrap();
                if heard.event == "agent.changed" {
                    break heard;
                }
            };
            assert_eq!(
                (&heard.data["name"], &heard.data["what"]),
                (&json!("alice"), &json!(verb))
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_started_who_has_no_place_no_process_or_no_name_here() {
    let app = App::start().await;
    let owner = app.owner();
    for name in ["alice", "nobody-here"] {
        owner
            .post_nothing(&format!("/api/agents/{name}/start"))
            .await
            .error(404, "not_found");
    }
    plant(&app, &["alice", "bob"]).await;
    let refused = owner.post_nothing("/api/agents/root/start").await;
    let refused = refused.error(403, "forbidden");
    assert!(
        refused["message"]
            .to_string()
            .contains("lives in the server"),
        "{refused}"
    );
    // In the tree, but nobody yet.
    let refused = owner.post_nothing("/api/agents/alice/start").await;
    let refused = refused.error(404, "not_found");
    assert!(
        refused["hint"].to_string().contains("void token new"),
        "{refused}"
    );
    let alice = app.holder("agent", "alice", &["read"]).await;
    owner
        .delete(&format!("/api/tokens/{}", alice.id))
        .await
        .ok();
    owner
        .post_nothing("/api/agents/alice/start")
        .await
        .error(404, "not_found");
    // What is wrong in the tree gives nobody a place.
    app.agent("bob").await;
    fs::write(
        app.lab.path().join("meta/topology.json"),
        "{\"root\": null, \"bob\": \"bob\"}",
    )
    .unwrap();
    super::tree::open(&app).await;
    owner
        .post_nothing("/api/agents/bob/start")
        .await
        .error(404, "not_found");
    fs::write(app.lab.path().join("meta/topology.json"), "not json").unwrap();
    super::tree::open(&app).await;
    owner
        .post_nothing("/api/agents/bob/start")
        .await
        .error(404, "not_found");
    for name in ["..", "a%2Fb", "A", "-"] {
        owner
            .post_nothing(&format!("/api/agents/{name}/start"))
            .await;
    }
    assert!(app.audited("agent.started").await.is_empty());
    assert!(!app.lab.path().join("agents").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_opens_what_is_about_itself_as_long_as_it_runs() {
    let app = App::start().await;
    plant(&app, &["alice", "bob"]).await;
    let alice = app
        .holder("agent", "alice", &["read", "act", "suggest", "audit.read"])
        .await;
    app.agent("bob").await;
    change(&app, "alice", "start").await;
    let process = as_process(&app).await;
    let own = process.get("/api/agents/alice/process").await.ok();
    assert_eq!(own["name"], "alice");
    process
        .get("/api/agents/bob/process")
        .await
        .error(404, "not_found");
    // What it read in no turn would be remembered by nobody: it reads nothing.
    for path in [
        "/api/status",
        "/api/actions",
        "/api/inbox",
        "/api/audit",
        "/api/events",
        "/api/search?q=x",
    ] {
        assert_eq!(process.get(path).await.status, 403, "{path}");
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    process.post("/mcp", ping).await.error(403, "forbidden");
    process.run("touch-a").await.error(403, "forbidden");
    for what in ["start", "stop", "restart"] {
        let path = format!("/api/agents/alice/{what}");
        process.post_nothing(&path).await.error(403, "owner_only");
    }
    process
        .get("/api/agents/alice/logs")
        .await
        .error(403, "owner_only");
    // Nobody else asks about a process.
    alice
        .caller
        .get("/api/agents/alice/process")
        .await
        .error(403, "forbidden");
    change(&app, "alice", "stop").await;
    process
        .get("/api/agents/alice/process")
        .await
        .error(401, "unauthenticated");
    let _ = fs::remove_file(app.lab.path().join(TOLD));
    change(&app, "alice", "start").await;
    let process = as_process(&app).await;
    process.get("/api/agents/alice/process").await.ok();
    // Withdrawn, it is nobody, whatever runs.
    app.owner()
        .delete(&format!("/api/tokens/{}", alice.id))
        .await
        .ok();
    process
        .get("/api/agents/alice/process")
        .await
        .error(401, "unauthenticated");
    change(&app, "alice", "stop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_process_writes_is_the_owners_to_read_and_has_no_token() {
    let app = App::start().await;
    plant(&app, &["alice"]).await;
    app.agent("alice").await;
    let owner = app.owner();
    assert_eq!(
        owner.get("/api/agents/alice/logs").await.ok()["lines"],
        json!([])
    );
    change(&app, "alice", "start").await;
    as_process(&app).await;
    let lines = eventually("the log", || async {
        let log = owner.get("/api/agents/alice/logs").await.ok();
        let lines = log["lines"].as_array().unwrap().clone();
        (lines.len() == 2).then_some(lines)
    })
    .await;
    assert_eq!(lines[0]["text"], "[secret]");
    assert!(
        lines[1]["text"]
            .as_str()
            .unwrap()
            .starts_with("{\"folders\"")
    );
    let last = owner.get("/api/agents/alice/logs?limit=1").await.ok();
    assert_eq!(last["lines"].as_array().unwrap().len(), 1);
    owner
        .get("/api/agents/alice/logs?limit=501")
        .await
        .error(422, "invalid");
    owner
        .get("/api/agents/no-such/logs")
        .await
        .error(404, "not_found");
    change(&app, "alice", "stop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_another_instance_runs_is_left_to_it() {
    let engine = Engine::postgres().await;
    let one = Setup {
        engine: engine.clone(),
        instance: Some("one"),
        ..Setup::default()
    };
    let one = one.start().await;
    let two = Setup {
        engine,
        instance: Some("two"),
        ..Setup::default()
    };
    let two = two.start().await;
    for app in [&one, &two] {
        plant(app, &["alice"]).await;
    }
    one.agent("alice").await;
    change(&one, "alice", "start").await;
    let refused = two.owner().post_nothing("/api/agents/alice/start").await;
    let refused = refused.error(409, "busy");
    assert!(refused["message"].to_string().contains("one"), "{refused}");
    two.owner()
        .post_nothing("/api/agents/alice/stop")
        .await
        .error(409, "busy");
    change(&one, "alice", "stop").await;
    change(&two, "alice", "start").await;
    change(&two, "alice", "stop").await;
}
