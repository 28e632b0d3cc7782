//! `/api/spaces/{id}/drafts`: an agent drafts, the owner reads the difference, and only a yes stores it.

use serde_json::{Value, json};

use super::entities::{id, least, new, new_space};
use crate::apps::{App, Engine};
use crate::callers::{Caller, HttpResponse};

struct CompanionRig {
    app: App,
    space: String,
    page: Value,
    agent: Caller,
}

impl CompanionRig {
    async fn on(engine: Engine) -> Self {
        let app = App::on(engine).await;
        let space = new_space(&app.owner(), "Lab").await;
        let body = json!({"title": "Caddy", "body": "Restart it with care.\nThen wait.\n"});
        let page = new(&app.owner(), &space, "pages", body).await;
        let agent = app.holder("agent", "companion", &["suggest"]).await.caller;
        Self {
            app,
            space,
            page,
            agent,
        }
    }

    async fn draft(&self, body: Value) -> HttpResponse {
        let path = format!("/api/spaces/{}/drafts", self.space);
        self.agent.post(&path, body).await
    }

    async fn edit(&self, find: &str, replace: &str) -> HttpResponse {
        let edits = json!([{"find": find, "replace": replace}]);
        let body = json!({"entity": "page", "op": "update", "id": id(&self.page), "base_revision": 1, "edits": edits, "reason": "you asked"});
        self.draft(body).await
    }

    async fn page_now(&self) -> Value {
        let path = format!("/api/pages/{}", id(&self.page));
        self.app.owner().get(&path).await.ok()
    }

    /// By the routes that the seeds name.
    async fn decide(&self, row: &Value, verb: &str) -> HttpResponse {
        let path = format!("/api/pending-changes/{}/{verb}", id(row));
        let body = json!({"digest": row["digest"]});
        self.app.owner().post(&path, body).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_waits_with_the_whole_difference_and_a_yes_stores_it() {
    for engine in Engine::both().await {
        let desk = CompanionRig::on(engine).await;
        let row = desk.edit("with care", "gently").await.ok();
        assert_eq!(
            (&row["subject"], &row["status"], &row["risk"]),
            (&json!("change"), &json!("pending"), &json!("guarded"))
        );
        let change = &row["change"];
        assert_eq!(
            (&change["target"], &change["entity"], &change["op"]),
            (&json!("knowledge"), &json!("page"), &json!("update"))
        );
        assert_eq!(
            (&change["entity_id"], &change["base_revision"]),
            (&desk.page["id"], &json!("1"))
        );
        let diff = change["diff"].as_str().unwrap();
        assert!(
            diff.contains("-Restart it with care.") && diff.contains("+Restart it gently."),
            "{diff}"
        );
        assert_eq!(
            (&change["about"]["title"], &change["about"]["space"]),
            (&json!("Caddy"), &json!("Lab"))
        );
        assert_eq!(
            desk.page_now().await,
            desk.page,
            "nothing is written before a yes"
        );
        let pending = desk.app.owner().get("/api/pending-changes").await.ok();
        assert_eq!(pending["pending"][0]["id"], row["id"]);
        let decided = desk.decide(&row, "approve").await.ok();
        assert_eq!(decided["status"], "executed");
        let page = desk.page_now().await;
        assert_eq!(
            (&page["body"], &page["revision"]),
            (&json!("Restart it gently.\nThen wait.\n"), &json!(2))
        );
        assert_eq!(
            (&page["origin"], &page["draft"]["agent"]),
            (&json!("draft"), &json!("companion"))
        );
        assert_eq!(page["draft"]["proposal_id"], row["id"]);
        desk.decide(&row, "approve")
            .await
            .error(409, "already_decided");
        assert_eq!(desk.page_now().await, page);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_base_applies_nothing_and_a_no_neither() {
    for engine in Engine::both().await {
        let desk = CompanionRig::on(engine).await;
        let row = desk.edit("with care", "gently").await.ok();
        let path = format!("/api/pages/{}", id(&desk.page));
        let owners = json!({"base_revision": 1, "body": "The owner's own words."});
        desk.app.owner().put(&path, owners).await.ok();
        desk.decide(&row, "approve").await.error(409, "base_moved");
        assert_eq!(desk.page_now().await["body"], "The owner's own words.");
        // Who drafts against what they read is told what is there now.
        let error = desk.edit("words", "text").await.error(409, "changed");
        assert_eq!(
            (&error["row"]["revision"], &error["row"]["body"]),
            (&json!(2), &json!("The owner's own words."))
        );
        let fresh =
            json!({"entity": "page", "op": "delete", "id": id(&desk.page), "base_revision": 2});
        let row = desk.draft(fresh).await.ok();
        let rejected = desk.decide(&row, "reject").await.ok();
        assert_eq!(rejected["status"], "rejected");
        assert_eq!(desk.page_now().await["revision"], 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_in_a_space_is_drafted_made_and_thrown_away() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    for noun in ["pages", "tasks", "refs", "projects"] {
        let kind = &noun[..noun.len() - 1];
        let row = desk
            .draft(json!({"entity": kind, "op": "create", "fields": least(noun)}))
            .await
            .ok();
        assert_eq!(
            desk.decide(&row, "approve").await.ok()["status"],
            "executed",
            "{noun}"
        );
        let list = format!("/api/spaces/{}/{noun}?limit=1", desk.space);
        let made = desk.app.owner().get(&list).await.ok()[noun][0].clone();
        assert_eq!(made["origin"], "draft");
        let row = desk
            .draft(json!({"entity": kind, "op": "delete", "id": made["id"]}))
            .await
            .ok();
        assert_eq!(
            desk.decide(&row, "approve").await.ok()["status"],
            "executed",
            "{noun}"
        );
        let path = format!("/api/{noun}/{}", id(&made));
        desk.app.owner().get(&path).await.error(404, "not_found");
    }
    let rename =
        json!({"entity": "space", "op": "update", "id": desk.space, "fields": {"title": "House"}});
    let row = desk.draft(rename).await.ok();
    desk.decide(&row, "approve").await.ok();
    let space = desk
        .app
        .owner()
        .get(&format!("/api/spaces/{}", desk.space))
        .await
        .ok();
    assert_eq!(space["title"], "House");
}

/// What is no draft, and the member that says so.
fn unclear(page: &str) -> Vec<(Value, &'static str)> {
    let of_page = |op: &str, more: Value| {
        let mut body = json!({"entity": "page", "op": op});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        body
    };
    let update = |mut more: Value| {
        more["id"] = json!(page);
        of_page("update", more)
    };
    let edit = |find: &str| update(json!({"edits": [{"find": find, "replace": "x"}]}));
    let title = json!({"title": "A"});
    vec![
        (json!({}), "entity"),
        (json!({"entity": "book", "op": "create"}), "entity"),
        (json!({"entity": "page"}), "op"),
        (of_page("drop", json!({})), "op"),
        (of_page("update", json!({})), "id"),
        (of_page("create", json!({"fields": {}})), "title"),
        (
            of_page("create", json!({"id": page, "fields": title})),
            "id",
        ),
        (
            of_page("create", json!({"base_revision": 1, "fields": title})),
            "base_revision",
        ),
        (
            of_page(
                "create",
                json!({"fields": title, "edits": [{"find": "a", "replace": "b"}]}),
            ),
            "edits",
        ),
        (
            of_page("create", json!({"fields": {"title": "A", "state": "done"}})),
            "state",
        ),
        (
            json!({"entity": "space", "op": "create", "fields": title}),
            "entity",
        ),
        (
            of_page("delete", json!({"id": page, "fields": title})),
            "fields",
        ),
        (update(json!({})), "fields"),
        (update(json!({"fields": {"title": "Caddy"}})), "fields"),
        (edit("e"), "edits"),
        (edit(""), "edits"),
        (update(json!({"fields": title, "approve": true})), "body"),
        (
            update(json!({"fields": title, "reason": "x".repeat(4_097)})),
            "reason",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_says_nothing_clear_is_refused_with_what_is_wrong() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let page = id(&desk.page);
    let near = desk
        .edit("restart it with  care", "x")
        .await
        .error(422, "invalid");
    let words = near["fields"]["edits"].as_str().unwrap();
    assert!(words.contains("line 1 is near"), "{words}");
    for (body, field) in unclear(page) {
        let error = desk.draft(body.clone()).await.error(422, "invalid");
        assert!(
            error["fields"][field].is_string(),
            "{field}: {error} {body}"
        );
    }
    // What is in another space is not in this one.
    let other = new_space(&desk.app.owner(), "Other").await;
    let elsewhere = new(&desk.app.owner(), &other, "pages", json!({"title": "Else"})).await;
    let body = json!({"entity": "page", "op": "delete", "id": elsewhere["id"]});
    desk.draft(body).await.error(404, "not_found");
    assert_eq!(desk.app.proposal_count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_read_drafts_nothing_and_nobody_decides_their_own() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let body = json!({"entity": "page", "op": "delete", "id": id(&desk.page)});
    let path = format!("/api/spaces/{}/drafts", desk.space);
    for (name, capabilities) in [
        ("reader", &["read"][..]),
        ("doer", &["act"]),
        ("nobody-much", &[]),
    ] {
        let caller = desk.app.holder("agent", name, capabilities).await.caller;
        caller
            .post(&path, body.clone())
            .await
            .error(403, "forbidden");
    }
    assert_eq!(desk.app.proposal_count().await, 0);
    let row = desk.draft(body).await.ok();
    for verb in ["approve", "reject"] {
        let path = format!("/api/pending-changes/{}/{verb}", id(&row));
        desk.agent
            .post(&path, json!({"digest": row["digest"]}))
            .await
            .error(403, "owner_only");
    }
    // The owner's own draft waits like everybody's.
    let own = json!({"entity": "page", "op": "update", "id": id(&desk.page), "fields": {"title": "Owner's"}});
    let own = desk.app.owner().post(&path, own).await.ok();
    assert_eq!(own["status"], "pending");
    assert_eq!(desk.page_now().await, desk.page);
}
