//! `/api/bridge`, and the life of an offer while time passes, on both engines.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_bridge::BridgeConfig;
use void_control::Clock;
use void_domain::limits::{ACTION_TIMEOUT, APPROVAL_LAPSES_AFTER};
use void_testkit::eventually;

use crate::apps::{App, Engine, Setup, queue};
use crate::labs::Lab;

const CATALOGUE: &str = r#"{"hosts": {}, "actions": [
  {"id": "deploy-db", "kind": "deploy_service", "node": "n1", "service": "db", "tier": "risky", "via": "file"},
  {"id": "stop-a", "kind": "service_restart", "host": "local", "service": "r1", "tier": "risky"}
]}"#;

struct Folder(PathBuf);

impl Folder {
    fn path(&self, place: &str, id: &str) -> PathBuf {
        self.0.join(place).join(format!("{id}.json"))
    }

    async fn comes(&self, place: &str, id: &str) -> Value {
        eventually(&format!("{place}/{id}"), || async {
            serde_json::from_slice(&fs::read(self.path(place, id)).ok()?).ok()
        })
        .await
    }

    fn mv(&self, from: &str, to: &str, id: &str) {
        fs::rename(self.path(from, id), self.path(to, id)).unwrap();
    }
}

async fn start(engine: Engine) -> (App, Folder) {
    let lab = Arc::new(Lab::of(CATALOGUE));
    let folder = Folder(lab.path().join("bridge"));
    let setup = Setup {
        engine,
        clock: Clock::manual(Clock::system().now()),
        lab,
        bridge: Some(BridgeConfig {
            folder: folder.0.clone(),
            decisions: false,
        }),
        ..Setup::default()
    };
    (setup.start().await, folder)
}

/// Queued, approved and offered; its id.
async fn offered(app: &App, folder: &Folder) -> String {
    let row = queue(&app.owner(), "deploy-db").await;
    let id = row["id"].as_str().unwrap().to_owned();
    let path = format!("/api/actions/pending/{id}/approve?wait=0");
    let row = app.owner().post(&path, json!({})).await.ok();
    assert_eq!(row["status"], "approved");
    folder.comes("approved", &id).await;
    id
}

async fn status(app: &App, id: &str, wanted: &str) -> Value {
    eventually(&format!("{id} to be {wanted}"), || async {
        let row = app.owner().get(&format!("/api/proposals/{id}")).await.ok();
        (row["status"] == wanted).then_some(row)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_nobody_takes_lapses_and_one_that_was_taken_does_not() {
    for engine in Engine::both().await {
        let (app, folder) = start(engine).await;
        let later =
            |app: &App, by: Duration| app.control.clock().set(app.control.clock().now().plus(by));

        let id = offered(&app, &folder).await;
        later(&app, APPROVAL_LAPSES_AFTER);
        let file = folder.comes("rejected", &id).await;
        assert_eq!(file["outcome"]["status"], "expired");
        status(&app, &id, "expired").await;
        assert!(!folder.path("approved", &id).exists());

        // Taken at the last moment: the rename is the claim, whatever the clock says afterwards.
        let id = offered(&app, &folder).await;
        folder.mv("approved", "running", &id);
        later(&app, APPROVAL_LAPSES_AFTER);
        status(&app, &id, "running").await;
        folder.mv("running", "completed", &id);
        let row = status(&app, &id, "executed").await;
        assert_eq!(row["verification"], "unverified");

        // No report in its time: unknown, until a late report settles it.
        let id = offered(&app, &folder).await;
        folder.mv("approved", "running", &id);
        status(&app, &id, "running").await;
        later(&app, ACTION_TIMEOUT + Duration::from_secs(31));
        let row = status(&app, &id, "unknown").await;
        assert_eq!(row["error"]["code"], "no_end");
        folder.mv("running", "failed", &id);
        status(&app, &id, "failed").await;
        folder.comes("failed", &id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_sees_how_the_bridge_stands() {
    let off = App::start().await;
    let shown = off.owner().get("/api/bridge").await.ok();
    assert_eq!(
        (&shown["enabled"], &shown["folder"]),
        (&json!(false), &Value::Null)
    );
    let moves = off.owner().get("/api/bridge/moves?wait=0").await.ok();
    assert_eq!(moves["enabled"], false);
    drop(off);

    let (app, folder) = start(Engine::Sqlite).await;
    let owner = app.owner();
    let first = owner.get("/api/bridge/moves?wait=0").await.ok();
    let row = queue(&owner, "stop-a").await;
    let path = format!("/api/bridge/moves?wait=30&after={}", first["last"]);
    let moves = owner.get(&path).await.ok();
    assert_eq!(moves["moves"][0]["file"], row["id"]);
    assert_eq!(moves["moves"][0]["to"], "pending");
    folder.comes("pending", row["id"].as_str().unwrap()).await;
    let shown = eventually("a look", || async {
        let shown = owner.get("/api/bridge").await.ok();
        shown["last_scan_at"].is_string().then_some(shown)
    })
    .await;
    assert_eq!(shown["counts"]["pending"], 1);
    assert_eq!(shown["problem"], Value::Null);
    for wrong in ["wait=301", "wait=-1", "after=x", "more=1"] {
        owner
            .get(&format!("/api/bridge/moves?{wrong}"))
            .await
            .error(422, "invalid");
    }
    // A second Void keeps its hands off the folder, and says so.
    let setup = Setup {
        bridge: Some(BridgeConfig {
            folder: folder.0.clone(),
            decisions: false,
        }),
        ..Setup::default()
    };
    let second = setup.start().await;
    let shown = eventually("the problem", || async {
        let shown = second.owner().get("/api/bridge").await.ok();
        shown["problem"].as_str().map(str::to_owned)
    })
    .await;
    assert!(shown.contains("another Void"), "{shown}");
}
