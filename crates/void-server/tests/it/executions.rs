//! A database of the version before executions, left behind by a server that was killed while two requests ran, and
//! opened with a catalogue that has none of its actions: what became of a run is asked where its row says.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_control::Clock;
use void_domain::time::Timestamp;

use crate::apps::{App, Setup};

const DATABASE: &str = include_str!("../../../void-store/tests/it/fixtures/before_executions.sql");
/// When it was killed; the tickets of its runs are over.
const KILLED: Timestamp = Timestamp::from_ms(1_794_988_449_000);
/// Whose machine it ran on, as its data folder says.
const INSTANCE: &str = r#"{"id":"01a1eda6-19b1-76b8-adac-756aefad77a7","name":"alpha"}"#;
const LATER: Duration = Duration::from_secs(60 * 60);

async fn start(edit: &str) -> App {
    let setup = Setup {
        clock: Clock::manual(KILLED.plus(LATER)),
        ..Setup::default()
    };
    let lab = Arc::clone(&setup.lab);
    lab.set_host_time(KILLED.plus(LATER).as_ms());
    let file = rusqlite::Connection::open(lab.path().join("void.db")).unwrap();
    file.execute_batch(DATABASE).unwrap();
    file.execute_batch(edit).unwrap();
    drop(file);
    fs::write(lab.folder_of(None).join("instance.json"), INSTANCE).unwrap();
    setup.start().await
}

async fn row(app: &App, action: &str) -> Value {
    let history = app.owner().get("/api/proposals?limit=100").await.ok();
    let rows = history["proposals"].as_array().unwrap();
    let found = rows.iter().find(|row| row["action_id"] == action);
    found.unwrap().clone()
}

async fn ended(app: &App, action: &str) -> Value {
    let id = row(app, action).await["id"].as_str().unwrap().to_owned();
    app.ended(&id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_the_version_before_is_settled_by_the_machine_that_its_row_names() {
    let app = start("").await;
    // This machine has never seen the ticket, and says so.
    let web = ended(&app, "restart-web").await;
    assert_eq!(
        (&web["status"], &web["error"]["code"]),
        (&json!("failed"), &json!("not_started")),
        "{web}"
    );
    // The node is not there: nobody else is asked, and nothing is guessed.
    let shop = ended(&app, "restart-shop").await;
    assert_eq!(shop["status"], "unknown", "{shop}");
    assert_ne!(shop["error"]["code"], "no_evidence", "{shop}");
    for action in ["stop-ct107", "deploy-shop", "rollback-shop", "scale-shop"] {
        let row = ended(&app, action).await;
        assert_eq!(row["error"]["code"], "definition_changed", "{row}");
    }
    assert_eq!(app.lab.effect_count(), 0);
    let path = format!("/api/proposals/{}/settle", shop["id"].as_str().unwrap());
    let owner = app.owner();
    let settled = owner.post(&path, json!({"outcome": "failed"}));
    assert_eq!(settled.await.ok()["status"], "failed");
}

/// Its row is shown, and no machine is asked about it: not this one either, which its definition named before.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_definition_was_damaged_is_asked_about_nowhere() {
    let mut app = start(
        "UPDATE proposals SET definition = json_set(definition, '$.host.address', '-oProxyCommand=x') \
         WHERE action_id = 'restart-web';",
    )
    .await;
    app.looks_back = false;
    let web = ended(&app, "restart-web").await;
    assert_eq!(
        (&web["status"], &web["error"]["code"]),
        (&json!("unknown"), &json!("no_evidence")),
        "{web}"
    );
    let id = web["id"].as_str().unwrap();
    let card = app.owner().get(&format!("/api/proposals/{id}/card")).await;
    let card = card.ok();
    assert_eq!(
        card["consequence"], "runs an action of an unknown kind on host:local/web",
        "{card}"
    );
    assert_eq!(
        (&card["verify"], &card["evidence"]),
        (&Value::Null, &json!([]))
    );
    assert!(card["checked_by"].as_str().unwrap().starts_with("Nothing"));
    let address = json!({"name": "host.address", "value": "-oProxyCommand=x", "is_param": false});
    let bound = card["bound"].as_array().unwrap();
    assert!(bound.contains(&address), "{card}");
    assert_eq!(app.lab.effect_count(), 0);
}
