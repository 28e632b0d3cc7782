//! `/api/agents`.

use serde_json::{Value, json};
use void_testkit::models::{Format, ModelServer, Script};

use crate::apps::{Engine, Setup};
use crate::talks::{Turn, agents};

fn agent(listed: &Value, slug: &str) -> Value {
    let mut agents = listed["agents"].as_array().unwrap().iter();
    agents.find(|agent| agent["slug"] == slug).unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_listed_with_brain_rights_and_budget() {
    let scripts = [Script::says("hi").usage(900, 100), Script::says("never")];
    let model = ModelServer::start(Format::Anthropic, scripts);
    let mut all = agents(&model);
    for agent in &mut all {
        agent.daily_tokens = Some(1_000);
        agent.prices.output = 15_000_000;
    }
    let setup = Setup {
        agents: all,
        ..Setup::default()
    };
    let app = setup.start().await;
    let owner = app.owner();
    let listed = owner.get("/api/agents").await.ok();
    let names: Vec<&str> = listed["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| agent["slug"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["companion", "little-blue", "sentinel"]);
    let blue = &agent(&listed, "little-blue");
    assert_eq!(
        (&blue["brain"], &blue["model"]),
        (&json!("anthropic"), &json!("scripted-1"))
    );
    assert_eq!(
        (&blue["daily_tokens"], &blue["used_tokens"]),
        (&json!(1_000), &json!(0))
    );
    assert_eq!(blue["capabilities"], json!(["read", "act"]));
    assert_eq!(
        agent(&listed, "sentinel")["capabilities"],
        json!(["read", "audit.read"])
    );
    assert_eq!(
        owner.get("/api/tokens").await.ok()["tokens"],
        json!([]),
        "looking makes nobody"
    );
    Turn::say(&owner, "hello").await.rest().await;
    let blue = agent(&owner.get("/api/agents").await.ok(), "little-blue");
    assert_eq!(
        (&blue["used_tokens"], &blue["used_cost_micros"]),
        (&json!(1_000), &json!(1_500))
    );
    let refused = owner
        .post("/api/little-blue/turn", json!({"text": "more"}))
        .await;
    assert!(
        refused.error(409, "cap_reached")["message"]
            .as_str()
            .unwrap()
            .contains("1000 tokens")
    );
    assert_eq!(model.requests().len(), 1, "the model was not asked");
    // Withdrawn, she no longer answers, and that is said.
    let tokens = owner.get("/api/tokens").await.ok();
    let id = tokens["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(tokens["tokens"][0]["name"], "little-blue");
    owner.delete(&format!("/api/tokens/{id}")).await.ok();
    let listed = owner.get("/api/agents").await.ok();
    assert_eq!(agent(&listed, "little-blue")["withdrawn"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_in_which_something_was_said_are_found_again() {
    for engine in Engine::both().await {
        let scripts = ["one", "two", "three"].map(Script::says);
        let model = ModelServer::start(Format::Anthropic, scripts);
        let setup = Setup {
            agents: agents(&model),
            engine,
            ..Setup::default()
        };
        let app = setup.start().await;
        let owner = app.owner();
        let path = "/api/agents/little-blue/conversations";
        assert_eq!(
            owner.get(path).await.ok(),
            json!({"conversations": [], "next": null})
        );
        for words in ["first", "second", "third"] {
            owner
                .post_nothing("/api/agents/little-blue/conversation")
                .await
                .ok();
            Turn::say(&owner, words).await.rest().await;
        }
        // One that nobody has said anything in is not worth coming back to.
        owner
            .post_nothing("/api/agents/little-blue/conversation")
            .await
            .ok();
        let listed = owner.get(path).await.ok();
        let words: Vec<&str> = listed["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["words"].as_str().unwrap())
            .collect();
        assert_eq!(words, ["third", "second", "first"]);
        assert_eq!(listed["conversations"][0]["messages"], 2);
        let first = owner.get(&format!("{path}?limit=2")).await.ok();
        let next = first["next"].as_str().unwrap();
        let rest = owner
            .get(&format!("{path}?limit=2&cursor={next}"))
            .await
            .ok();
        assert_eq!(rest["conversations"], json!([listed["conversations"][2]]));
        assert_eq!(rest["next"], json!(null));
        let empty = owner.get("/api/agents/sentinel/conversations").await.ok();
        assert_eq!(empty["conversations"], json!([]));
    }
}

/// Clients of the source documents match it with the `agent_id` of rows.
#[tokio::test(flavor = "multi_thread")]
async fn an_agents_id_is_the_one_of_the_rows_it_asks_for() {
    for engine in Engine::both().await {
        let scripts = [
            Script::calls(
                "propose_action",
                &json!({"action_id": "stop-a", "reason": "it hangs"}),
            ),
            Script::says("asked"),
        ];
        let model = ModelServer::start(Format::Anthropic, scripts);
        let setup = Setup {
            engine,
            agents: agents(&model),
            ..Setup::default()
        };
        let app = setup.start().await;
        let owner = app.owner();
        let listed = owner.get("/api/agents").await.ok();
        assert_eq!(
            agent(&listed, "little-blue")["id"],
            json!(null),
            "she has not been spoken to"
        );
        let open = owner.get("/api/little-blue").await.ok();
        let id = open["agent"]["id"].as_str().unwrap().to_owned();
        assert_eq!(open["agent"]["slug"], "little-blue");
        assert_eq!(
            owner.get("/api/little-blue").await.ok()["agent"]["id"],
            id.as_str()
        );
        Turn::say(&owner, "stop a").await.rest().await;
        let rows = owner.get("/api/proposals").await.ok();
        assert_eq!(rows["proposals"][0]["agent_id"], id.as_str(), "{rows}");
        let listed = owner.get("/api/agents").await.ok();
        for slug in ["companion", "little-blue", "sentinel"] {
            let is_hers = agent(&listed, slug)["id"] == id.as_str();
            assert_eq!(is_hers, slug == "little-blue");
        }
    }
}
