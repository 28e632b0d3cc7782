//! `/api/home`

use std::sync::Arc;

use serde_json::{Value, json};
use void_domain::services::Services;

use crate::apps::{App, Setup};
use crate::labs::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn one_answer_is_what_the_single_ones_say() {
    let app = App::start().await;
    let session = app.session().await;
    let home = session.get("/api/home").await.ok();
    assert_eq!(home["setup"]["decided_once"], false);
    assert_eq!(home["setup"]["actions_loaded"], true);
    let row = app.queue("stop-a").await;
    session.decide(&row, "reject").await.ok();
    app.queue("stop-b").await;
    let home = session.get("/api/home").await.ok();
    assert_eq!(home["who"], session.get("/api/session").await.ok());
    assert_eq!(home["inbox"], session.get("/api/inbox").await.ok());
    assert_eq!(home["cards"].as_array().unwrap().len(), 1);
    let waiting = home["inbox"]["items"][0]["id"].as_str().unwrap();
    let card = session
        .get(&format!("/api/proposals/{waiting}/card"))
        .await
        .ok();
    assert_eq!(home["cards"][0], card);
    assert!(home["event"].as_str().unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(home["freeze"], session.get("/api/freeze").await.ok());
    assert_eq!(home["status"]["waiting"], 1);
    let recent = session.get("/api/actions/recent?limit=12").await.ok();
    assert_eq!(home["recent"], recent["recent"]);
    assert_eq!(home["recent"][0]["status"], "rejected");
    assert_eq!(home["setup"]["decided_once"], true);
    // Only the newest are shown; that something was decided once stays so.
    for _ in 0..home["recent"].as_array().unwrap().len().max(12) {
        app.owner().run("touch-a").await.ok();
    }
    let home = session.get("/api/home").await.ok();
    let shown = home["recent"].as_array().unwrap();
    assert!(shown.iter().all(|row| row["status"] != "rejected"));
    assert_eq!(home["setup"]["decided_once"], true);
    session
        .post("/api/freeze", json!({"reason": "x"}))
        .await
        .ok();
    let home = session.get("/api/home").await.ok();
    assert_eq!(
        (&home["freeze"]["frozen"], &home["status"]["frozen"]),
        (&json!(true), &json!(true))
    );
    app.agent("ann")
        .await
        .get("/api/home")
        .await
        .error(403, "owner_only");
}

/// The files that say nothing are named with an example and the way to take them over, and no other.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_void_says_which_files_to_write() {
    let watched =
        json!({"services": [{"id": "web", "check": {"kind": "tcp", "address": "127.0.0.1:1"}}]});
    let services = || Services::parse(&watched.to_string()).unwrap();
    let nothing = json!({"hosts": {}, "actions": []});
    for (actions, is_watching, empty) in [
        (Some(&nothing), false, vec!["actions", "services"]),
        (Some(&nothing), true, vec!["actions"]),
        (None, false, vec!["services"]),
        (None, true, vec![]),
    ] {
        let mut setup = Setup::default();
        if let Some(actions) = actions {
            setup.lab = Arc::new(Lab::of(&actions.to_string()));
        }
        if is_watching {
            setup.services = services();
        }
        let app = setup.start().await;
        let home = app.owner().get("/api/home").await.ok();
        let files = home["setup"]["empty_files"].as_array().unwrap();
        let found: Vec<&str> = files
            .iter()
            .map(|file| file["what"].as_str().unwrap())
            .collect();
        assert_eq!(found, empty, "{home}");
        for file in files {
            let what = file["what"].as_str().unwrap();
            assert_eq!(file["path"], format!("/data/{what}.json"));
            assert_eq!(file["example"], format!("{{\"{what}\":[]}}"));
        }
        let commands = home["setup"]["commands"].as_array().unwrap();
        assert_eq!(commands.is_empty(), empty.is_empty(), "{home}");
    }
}

/// A lab is called connected only where something of the catalogue has a way to its machine; services that are watched
/// make none, and neither does a machine that was never set up.
#[tokio::test(flavor = "multi_thread")]
async fn a_lab_is_connected_when_something_can_run() {
    let watched =
        json!({"services": [{"id": "web", "check": {"kind": "tcp", "address": "127.0.0.1:1"}}]});
    let action = |id: &str, more: Value| {
        let mut action = json!({"id": id, "label": id, "tier": "risky"});
        for (name, value) in more.as_object().unwrap() {
            action[name] = value.clone();
        }
        action
    };
    let here = action(
        "here",
        json!({"kind": "service_restart", "host": "local", "service": "a"}),
    );
    let far = action(
        "far",
        json!({"kind": "service_restart", "host": "far", "service": "a"}),
    );
    let guest = action(
        "guest",
        json!({"kind": "guest_power", "node": "z", "vmid": 109, "op": "start"}),
    );
    for (actions, is_set_up, is_connected) in [
        (vec![], true, false),
        (vec![&here], true, true),
        (vec![&here], false, false),
        (vec![&far], true, false),
        (vec![&guest], true, false),
        (vec![&guest, &here], false, false),
    ] {
        let far = json!({"far": {"address": "127.0.0.1", "port": 9, "user": "voidact"}});
        let catalogue = json!({"hosts": far, "actions": actions});
        let setup = Setup {
            lab: Arc::new(Lab::of(&catalogue.to_string())),
            services: Services::parse(&watched.to_string()).unwrap(),
            ..Setup::default()
        };
        if !is_set_up {
            std::fs::remove_file(setup.lab.path().join("list.json")).unwrap();
        }
        let home = setup.start().await.owner().get("/api/home").await.ok();
        let setup = &home["setup"];
        assert_eq!(setup["lab_connected"], is_connected, "{setup}");
        assert_eq!(setup["provision"].is_string(), !is_set_up, "{setup}");
    }
}
