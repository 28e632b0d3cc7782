//! `/api/agents/topology`, `…/can` and `…/move`: what is told of the tree, who moves somebody, and that what is told is
//! what is decided.

use std::fs;

use serde_json::{Value, json};
use void_agent::agents::builtin;
use void_control::tree::{self, TreePlaces};

use crate::apps::{App, Engine};
use crate::callers::Caller;

/// As the binary opens it at every start.
pub async fn open(app: &App) {
    let residents = builtin().unwrap().into_iter();
    let residents =
        residents.map(|one| (one.persona.slug.clone(), one.persona.capabilities.clone()));
    let places = TreePlaces::of_data(app.lab.path());
    let opened = tree::open(&app.control, places, residents.collect()).await;
    opened.unwrap();
}

async fn with_tree(engine: Engine) -> App {
    let app = App::on(engine).await;
    open(&app).await;
    app
}

async fn placed(app: &App) -> Vec<String> {
    let tree = app.owner().get("/api/agents/topology").await.ok();
    let agents = tree["agents"].as_array().unwrap().iter();
    let told = agents.map(|one| {
        let parent = one["parent"].as_str().unwrap_or("-");
        format!(
            "{} {} {parent} {}",
            one["name"].as_str().unwrap(),
            one["kind"].as_str().unwrap(),
            one["depth"]
        )
    });
    told.collect()
}

fn to(parent: &str) -> Value {
    json!({"parent": parent})
}

async fn moved(caller: &Caller, name: &str, body: Value) -> Value {
    caller
        .post(&format!("/api/agents/{name}/move"), body)
        .await
        .ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_is_told_and_moved_with_the_difference_first() {
    for engine in Engine::both().await {
        let app = with_tree(engine).await;
        let flat = [
            "root resident - 0",
            "companion resident root 1",
            "little-blue resident root 1",
            "sentinel resident root 1",
        ];
        assert_eq!(placed(&app).await, flat);
        let before = app.owner().get("/api/agents/topology").await.ok();
        assert_eq!(before["problems"], json!([]));
        let looked = moved(
            &app.owner(),
            "sentinel",
            json!({"parent": "little-blue", "dry_run": true}),
        )
        .await;
        assert_eq!(
            (&looked["moved"], &looked["commit"]),
            (&json!(false), &Value::Null)
        );
        assert_eq!(looked["before"], before["commit"]);
        let gains: Vec<&Value> = looked["changes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["who"] == json!(["little-blue"]))
            .flat_map(|one| one["gains"].as_array().unwrap())
            .collect();
        assert!(gains.contains(&&json!({"operation": "veto", "from": "never", "to": "alone"})));
        assert!(gains.contains(&&json!({"operation": "act", "from": "never", "to": "with_nod"})));
        let words = looked["words"].to_string();
        assert!(
            words.contains("little-blue may from then on, to sentinel: "),
            "{words}"
        );
        assert_eq!(placed(&app).await, flat);
        // A page that is signed in does the same, with what it was shown.
        let body = json!({"parent": "little-blue", "commit": looked["before"]});
        let done = moved(&app.session().await, "sentinel", body.clone()).await;
        assert_eq!(done["changes"], looked["changes"]);
        assert_ne!(done["commit"], done["before"]);
        assert_eq!(placed(&app).await[3], "sentinel resident little-blue 2");
        app.owner()
            .post("/api/agents/sentinel/move", body)
            .await
            .error(409, "changed");
        let entries = app.audited("topology.changed").await;
        let detail: Value = serde_json::from_str(&entries.last().unwrap().detail).unwrap();
        assert_eq!((entries.len(), entries[1].actor.as_str()), (2, "owner-web"));
        assert_eq!(detail["commit"], done["commit"]);
        assert!(detail["rights"].to_string().contains("\"veto\""));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_moved_is_refused_with_its_reason() {
    for engine in Engine::both().await {
        let app = with_tree(engine).await;
        let owner = app.owner();
        moved(&owner, "sentinel", to("little-blue")).await;
        let before = placed(&app).await;
        for (name, body, status, code) in [
            ("little-blue", to("sentinel"), 422, "invalid"),
            ("sentinel", to("sentinel"), 422, "invalid"),
            ("root", to("sentinel"), 422, "invalid"),
            ("sentinel", to("little-blue"), 409, "not_needed"),
            ("sentinel", to("nobody"), 422, "invalid"),
            ("nobody", to("root"), 404, "not_found"),
            ("sentinel", to("Root"), 422, "invalid"),
            ("sentinel", to("-root"), 422, "invalid"),
            ("sentinel", to(""), 422, "invalid"),
            ("sentinel", json!({}), 422, "invalid"),
            ("sentinel", json!({"parent": null}), 422, "invalid"),
            (
                "sentinel",
                json!({"parent": "root", "yes": true}),
                422,
                "invalid",
            ),
            (
                "sentinel",
                json!({"parent": "root", "commit": "HEAD"}),
                409,
                "changed",
            ),
            (
                "sentinel",
                json!({"parent": "root", "commit": "0".repeat(40)}),
                409,
                "changed",
            ),
        ] {
            let path = format!("/api/agents/{name}/move");
            let said = body.to_string();
            for dry_run in [false, true] {
                let mut body = body.clone();
                body["dry_run"] = json!(dry_run);
                let refused = owner.post(&path, body).await;
                assert_eq!(refused.status, status, "{name} {said}: {}", refused.text);
                refused.error(status, code);
            }
        }
        let words = owner
            .post("/api/agents/little-blue/move", to("sentinel"))
            .await;
        assert!(
            words.text.contains("that would be a circle"),
            "{}",
            words.text
        );
        assert_eq!(placed(&app).await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_looks_at_the_tree_and_moves() {
    let app = with_tree(Engine::Sqlite).await;
    let all = ["read", "act", "suggest", "audit.read"];
    let agent = app.holder("agent", "blue", &all).await.caller;
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    // A token of a resident's own, held outside.
    let resident = app.holder("agent", "little-blue", &all).await.caller;
    for caller in [&agent, &viewer, &resident] {
        for path in ["/api/agents/topology", "/api/agents/sentinel/can"] {
            caller.get(path).await.error(403, "owner_only");
        }
        let refused = caller
            .post("/api/agents/sentinel/move", to("little-blue"))
            .await;
        refused.error(403, "owner_only");
    }
    app.anonymous()
        .get("/api/agents/topology")
        .await
        .error(401, "unauthenticated");
    assert_eq!(placed(&app).await[3], "sentinel resident root 1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_tree_is_told_and_nobody_is_moved() {
    let app = with_tree(Engine::Sqlite).await;
    let file = app.lab.path().join("meta/topology.json");
    fs::write(
        &file,
        r#"{"root": null, "sentinel": "companion", "companion": "sentinel"}"#,
    )
    .unwrap();
    open(&app).await;
    let tree = app.owner().get("/api/agents/topology").await.ok();
    let problems = tree["problems"].to_string();
    assert!(
        problems.contains("sentinel stands, over others, under itself"),
        "{problems}"
    );
    let agents = tree["agents"].as_array().unwrap();
    assert!(agents.len() == 4 && agents.iter().all(|one| one["depth"].is_null()));
    let refused = app
        .owner()
        .post("/api/agents/sentinel/move", to("root"))
        .await;
    refused.error(409, "tree_broken");
    let rights = app.owner().get("/api/agents/root/can").await.ok();
    for over in rights["over"].as_array().unwrap() {
        assert_eq!(
            (&over["relation"], &over["alone"], &over["with_nod"]),
            (&json!("stranger"), &json!([]), &json!([]))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rights_are_told_page_by_page_and_every_operation_is_in_one_list() {
    let app = with_tree(Engine::Sqlite).await;
    let owner = app.owner();
    moved(&owner, "sentinel", to("little-blue")).await;
    let whole = owner.get("/api/agents/little-blue/can").await.ok();
    assert_eq!(
        (&whole["withdrawn"], &whole["next"]),
        (&json!(false), &Value::Null)
    );
    let operations: Vec<&Value> = whole["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["operation"])
        .collect();
    let relations: Vec<(&str, &str)> = whole["over"]
        .as_array()
        .unwrap()
        .iter()
        .map(|over| {
            (
                over["agent"]["name"].as_str().unwrap(),
                over["relation"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("root", "descendant"),
        ("companion", "sibling"),
        ("little-blue", "self"),
        ("sentinel", "ancestor"),
    ];
    assert_eq!(relations, expected);
    for over in whole["over"].as_array().unwrap() {
        let lists = ["alone", "with_nod", "never"].map(|list| over[list].as_array().unwrap());
        let mut all: Vec<&Value> = lists.into_iter().flatten().collect();
        assert_eq!(all.len(), operations.len());
        all.retain(|one| !operations.contains(one));
        assert!(all.is_empty(), "{all:?}");
    }
    let (mut pages, mut path) = (Vec::new(), "/api/agents/little-blue/can?limit=3".to_owned());
    loop {
        let page = owner.get(&path).await.ok();
        pages.extend(page["over"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => path = format!("/api/agents/little-blue/can?limit=3&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(json!(pages), whole["over"]);
    for (path, status) in [
        ("/api/agents/nobody/can", 404),
        ("/api/agents/Root/can", 404),
        ("/api/agents/root/can?cursor=nobody", 422),
        ("/api/agents/root/can?limit=0", 422),
        ("/api/agents/root/can?limit=501", 422),
        ("/api/agents/root/can?agent=root", 422),
    ] {
        assert_eq!(owner.get(path).await.status, status, "{path}");
    }
}
