//! `/api/spaces/{id}/projects` and `/api/projects`: what belongs to a project is listed by it, and outlives it.

use serde_json::json;

use super::entities::{id, least, new, new_space};
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_a_project_is_found_by_it_and_outlives_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let project = new(
            &owner,
            &space,
            "projects",
            json!({"title": "Move", "body": "To the new rack."}),
        )
        .await;
        for noun in ["pages", "tasks", "refs"] {
            let mut body = least(noun);
            body["project_id"] = project["id"].clone();
            let inside = new(&owner, &space, noun, body).await;
            new(&owner, &space, noun, least(noun)).await;
            let list = format!("/api/spaces/{space}/{noun}?project={}", id(&project));
            let listed = owner.get(&list).await.ok();
            assert_eq!(listed[noun].as_array().unwrap().len(), 1);
            assert_eq!(listed[noun][0]["id"], inside["id"]);
        }
        owner
            .delete(&format!("/api/projects/{}", id(&project)))
            .await
            .ok();
        let pages = owner.get(&format!("/api/spaces/{space}/pages")).await.ok();
        assert_eq!(pages["pages"].as_array().unwrap().len(), 2);
        // To a project that is gone nothing new comes.
        let late = json!({"title": "Late", "project_id": project["id"]});
        let late = owner
            .post(&format!("/api/spaces/{space}/pages"), late)
            .await;
        let error = late.error(422, "invalid");
        assert!(error["fields"]["project_id"].is_string());
        // A project is in no project.
        let inside = json!({"title": "Inside", "project_id": project["id"]});
        let refused = owner
            .post(&format!("/api/spaces/{space}/projects"), inside)
            .await;
        refused.error(422, "invalid");
        let query = format!("/api/spaces/{space}/projects?project={}", id(&project));
        owner.get(&query).await.error(422, "invalid");
    }
}
