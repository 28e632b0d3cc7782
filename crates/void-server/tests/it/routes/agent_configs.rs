//! `/api/agents/{name}/config` and `POST /api/agents`: what the owner asks for waits for the owner's yes, and the card says
//! all of it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::apps::{App, Engine};

const CONFIG: &str = "brain = \"builtin\"\ncapabilities = [\"read\"]\n";

fn git(folder: &PathBuf, args: &[&str]) -> String {
    let said = Command::new("git")
        .args(["-c", "safe.directory=*", "-c", "user.name=somebody"])
        .args(["-c", "user.email=a@b.c", "-C"])
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(said.status.success(), "{args:?} {said:?}");
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

async fn asked(app: &App, name: &str) -> Value {
    let body = json!({"name": name, "config": CONFIG, "reason": "a test"});
    app.owner().post("/api/agents", body).await.ok()
}

/// An agent that was made, and another commit of its config.
async fn made(app: &App) -> String {
    super::tree::open(app).await;
    let row = asked(app, "nightly").await;
    let done = app.owner().decide(&row, "approve").await.ok();
    assert_eq!(done["status"], "executed", "{done}");
    let folder = app.lab.path().join("agents/nightly/config");
    let more = CONFIG.replace("\"read\"", "\"read\", \"spawn\"");
    fs::write(folder.join("agent.toml"), more).unwrap();
    git(&folder, &["commit", "--quiet", "--all", "-m", "more"]);
    git(&folder, &["rev-parse", "HEAD"])
}

/// A good call of each operation, in order.
pub async fn calls(app: &App) -> Vec<(&'static str, String, Option<Value>)> {
    let commit = made(app).await;
    let new = json!({"name": "carol", "config": CONFIG});
    let apply = "/api/agents/nightly/config/apply".to_owned();
    vec![
        ("POST", "/api/agents".to_owned(), Some(new)),
        ("POST", apply, Some(json!({"commit": commit}))),
        ("GET", "/api/agents/nightly/config".to_owned(), None),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_is_asked_for_shown_and_applied() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let commit = made(&app).await;
        let owner = app.owner();
        let body = json!({"commit": commit, "reason": "a test"});
        let row = owner.post("/api/agents/nightly/config/apply", body).await;
        let row = row.ok();
        assert_eq!(row["status"], "pending");
        assert_eq!(row["risk"], "critical");
        let said = row["change"]["summary"].to_string();
        assert!(said.contains("gains the capability spawn"), "{said}");
        let shown = owner.get("/api/agents/nightly/config").await.ok();
        assert_eq!(shown["waiting"][0]["proposal_id"], row["id"]);
        assert_eq!(shown["waiting"][0]["commit"], json!(commit));
        assert_ne!(shown["applied"], json!(commit));
        assert_eq!(shown["files"][0]["text"], CONFIG);
        assert_eq!(shown["history"].as_array().unwrap().len(), 2);
        // On the card all of it can be read.
        let id = row["id"].as_str().unwrap();
        let card = owner.get(&format!("/api/proposals/{id}/card")).await.ok();
        assert_eq!(card["change"]["diff"], row["change"]["diff"]);
        let bound = card["bound"].to_string();
        assert!(bound.contains("change.deploy.commit") && bound.contains(&commit));
        let done = owner.decide(&row, "approve").await.ok();
        assert_eq!(done["status"], "executed", "{done}");
        let shown = owner.get("/api/agents/nightly/config").await.ok();
        assert_eq!(shown["applied"], json!(commit));
        assert_eq!(shown["waiting"], json!([]));
        let again = json!({"commit": commit});
        let again = owner.post("/api/agents/nightly/config/apply", again).await;
        again.error(409, "not_needed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_and_waits_for_nobody() {
    let app = App::start().await;
    made(&app).await;
    let owner = app.owner();
    for (body, code, status) in [
        (json!({"name": "Nightly", "config": CONFIG}), "invalid", 422),
        (
            json!({"name": "n1ghtly", "config": CONFIG}),
            "name_taken",
            409,
        ),
        (
            json!({"name": "bob", "config": "brain = 1\n"}),
            "invalid",
            422,
        ),
        (
            json!({"name": "bob", "config": CONFIG, "parent": "nobody-here"}),
            "not_found",
            404,
        ),
    ] {
        let refused = owner.post("/api/agents", body.clone()).await;
        refused.error(status, code);
    }
    let apply = "/api/agents/nightly/config/apply";
    for commit in ["main", "HEAD", "--upload-pack=touch", ""] {
        let refused = owner.post(apply, json!({"commit": commit})).await;
        refused.error(422, "invalid");
    }
    let missing = json!({"commit": "a".repeat(40)});
    owner
        .post(apply, missing.clone())
        .await
        .error(404, "not_found");
    let resident = "/api/agents/sentinel/config/apply";
    owner.post(resident, missing).await.error(403, "forbidden");
    owner
        .get("/api/agents/nobody-here/config")
        .await
        .error(404, "not_found");
}
