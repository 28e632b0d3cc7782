//! `/api/spaces`: a space and everything in it, who answers there, and its conversation.

use serde_json::json;

use super::entities::{Kept, id, new, new_space};
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_space_that_is_thrown_away_takes_everything_along_and_brings_it_back() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, kept) = (app.owner(), Kept::new(&app).await);
        let one = format!("/api/spaces/{}", kept.space);
        let before = owner.get(&one).await.ok();
        let counts = ["project_count", "page_count", "task_count", "ref_count"];
        assert!(counts.iter().all(|count| before[count] == 1), "{before}");
        owner.delete(&one).await.ok();
        for (noun, id) in &kept.ids {
            owner
                .get(&format!("/api/{noun}/{id}"))
                .await
                .error(404, "not_found");
        }
        for noun in ["pages", "tasks", "refs", "projects"] {
            owner
                .get(&format!("{one}/{noun}"))
                .await
                .error(404, "not_found");
            let late = owner
                .post(&format!("{one}/{noun}"), super::entities::least(noun))
                .await;
            late.error(404, "not_found");
        }
        owner
            .get(&format!("{one}/conversation"))
            .await
            .error(404, "not_found");
        assert_eq!(owner.get("/api/spaces").await.ok()["spaces"], json!([]));
        let gone = owner.get("/api/spaces?deleted=true").await.ok();
        assert_eq!(gone["spaces"][0]["id"], kept.space.as_str());
        assert_eq!(
            owner.post_nothing(&format!("{one}/undelete")).await.ok(),
            before
        );
        kept.seen(&app).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_space_has_one_conversation_with_each_agent() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let path = format!("/api/spaces/{space}/conversation");
        let first = owner.get(&path).await.ok();
        assert_eq!(first["space_id"], space.as_str());
        assert_eq!(
            owner.get(&path).await.ok()["conversation_id"],
            first["conversation_id"]
        );
        let sentinel = owner.get(&format!("{path}?agent=sentinel")).await.ok();
        assert_eq!(sentinel["agent"]["slug"], "sentinel");
        assert_ne!(sentinel["conversation_id"], first["conversation_id"]);
        owner
            .get(&format!("{path}?agent=nobody"))
            .await
            .error(404, "not_found");
        // Whom the owner chose answers.
        let one = format!("/api/spaces/{space}");
        let choose =
            |agent: serde_json::Value, base: u64| json!({"base_revision": base, "agent": agent});
        let patch = async |body| owner.send("PATCH".parse().unwrap(), &one, Some(body)).await;
        assert_eq!(
            patch(choose(json!("sentinel"), 1)).await.ok()["agent"],
            "sentinel"
        );
        assert_eq!(
            owner.get(&path).await.ok()["conversation_id"],
            sentinel["conversation_id"]
        );
        assert_eq!(
            patch(choose(json!(null), 2)).await.ok()["agent"],
            json!(null)
        );
        assert_eq!(
            owner.get(&path).await.ok()["conversation_id"],
            first["conversation_id"]
        );
        patch(choose(json!("No Such"), 3))
            .await
            .error(422, "invalid");
        // It is not the one that goes on with an agent elsewhere, and another space has its own.
        let slug = first["agent"]["slug"].as_str().unwrap();
        let elsewhere = owner
            .get(&format!("/api/agents/{slug}/conversation"))
            .await
            .ok();
        assert_ne!(elsewhere["conversation_id"], first["conversation_id"]);
        let other = new_space(&owner, "Other").await;
        let other = owner
            .get(&format!("/api/spaces/{other}/conversation"))
            .await
            .ok();
        assert_ne!(other["conversation_id"], first["conversation_id"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_read_as_far_as_they_were_granted_it() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let page = new(
        &owner,
        &space,
        "pages",
        json!({"title": "A", "body": "text"}),
    )
    .await;
    let path = format!("/api/pages/{}", id(&page));
    for (name, capabilities, may_read) in [
        ("reading", &["read"][..], true),
        ("suggesting", &["suggest"], true),
        ("acting", &["act"], false),
        ("auditing", &["audit.read"], false),
    ] {
        let caller = app.holder("agent", name, capabilities).await.caller;
        let answer = caller.get(&path).await;
        match may_read {
            true => assert_eq!(answer.ok(), page),
            false => _ = answer.error(403, "forbidden"),
        }
        // What was said before may have been taken back for a reason.
        caller
            .get(&format!("{path}/revisions"))
            .await
            .error(403, "owner_only");
    }
    let viewer = app.holder("viewer", "eve", &[]).await.caller;
    viewer.get(&path).await.error(403, "forbidden");
    viewer.get("/api/spaces").await.error(403, "forbidden");
}
