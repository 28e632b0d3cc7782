//! `/api/agents/{name}/loose-ends`: what is open for an agent and everybody below it.

use serde_json::{Value, json};

use super::tree;
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_is_shown_with_what_is_open_below_and_of_nobody_beside() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        tree::open(&app).await;
        let owner = app.owner();
        let question = json!({"to": "sentinel", "text": "all well?"});
        let asked = owner.post("/api/questions", question).await.ok();
        let of = async |name: &str| -> Vec<Value> {
            let path = format!("/api/agents/{name}/loose-ends");
            let found = owner.get(&path).await.ok();
            let agents = found["agents"].as_array().unwrap().clone();
            let open = agents.iter().filter_map(|one| one["to_answer"].as_array());
            open.flatten().map(|one| one["id"].clone()).collect()
        };
        assert_eq!(of("sentinel").await, [asked["id"].clone()]);
        assert_eq!(of("root").await, [asked["id"].clone()]);
        assert_eq!(of("companion").await, [] as [Value; 0]);
        let nobody = owner.get("/api/agents/nobody/loose-ends").await;
        nobody.error(404, "not_found");
    }
}
