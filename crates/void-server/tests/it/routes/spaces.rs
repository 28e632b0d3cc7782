//! `/api/spaces`: a space and everything in it, who answers there, and its conversation.

use futures_util::future::join_all;
use serde_json::{Value, json};
use void_domain::limits::SPACE_ENTITIES_MAX;
use void_testkit::eventually;

use super::entities::{Kept, id, new, new_space};
use crate::apps::{App, Engine};
use crate::callers::Caller;

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
        let choose = |agent: Value, base: u64| json!({"base_revision": base, "agent": agent});
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
async fn a_talk_in_a_space_begins_anew_and_the_old_one_stays() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let path = format!("/api/spaces/{space}/conversation?agent=sentinel");
        let first = owner.get(&path).await.ok()["conversation_id"].clone();
        // Nothing was said in it yet: it is new enough.
        let same = owner.post_nothing(&path).await.ok();
        assert_eq!(same["conversation_id"], first);
        let of = |id: &Value| format!("/api/conversations/{}", id.as_str().unwrap());
        let said = of(&first) + "/messages";
        owner.post(&said, json!({"text": "marmalade?"})).await.ok();
        rests(&owner, &said).await;
        // Of many who begin anew at once, all get the same one.
        let begun = join_all((0..4).map(|_| owner.post_nothing(&path))).await;
        let begun: Vec<Value> = begun
            .into_iter()
            .map(|answer| answer.ok()["conversation_id"].clone())
            .collect();
        assert!(begun.iter().all(|one| *one == begun[0]), "{begun:?}");
        assert_ne!(begun[0], first);
        let now = owner.get(&path).await.ok();
        assert_eq!(
            (&now["conversation_id"], &now["messages"]),
            (&begun[0], &json!([]))
        );
        // What was said before is read, found, taken along and away as ever.
        let old = owner.get(&said).await.ok();
        assert_eq!(old["messages"][0]["body"], "marmalade?");
        let found = format!("/api/conversations?space={space}&q=marmalade");
        let found = owner.get(&found).await.ok();
        assert_eq!(found["conversations"][0]["conversation_id"], first);
        owner.get(&(of(&first) + "/export")).await.ok();
        owner.delete(&of(&first)).await.ok();
        assert_eq!(
            owner.get(&path).await.ok()["conversation_id"],
            now["conversation_id"],
            "the new one goes on"
        );
        // Nobody else begins one, and none begins where nothing is.
        for (kind, capabilities) in [("agent", &["read", "act", "suggest"][..]), ("viewer", &[])] {
            let other = app
                .holder(kind, &format!("other-{kind}"), capabilities)
                .await;
            other
                .caller
                .post_nothing(&path)
                .await
                .error(403, "owner_only");
        }
        let nowhere = "/api/spaces/01999999-0000-7000-8000-000000000001/conversation";
        owner.post_nothing(nowhere).await.error(404, "not_found");
        owner.delete(&format!("/api/spaces/{space}")).await.ok();
        owner.post_nothing(&path).await.error(404, "not_found");
    }
}

/// Waits until the turn that was begun is over.
async fn rests(owner: &Caller, messages: &str) {
    eventually("the turn to end", || async {
        let said = owner.get(messages).await.ok();
        let last = said["messages"].as_array().unwrap().last().cloned()?;
        (last["turn"]["status"] != "running").then_some(())
    })
    .await;
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

/// The counts of every space, as a file of SQLite has them.
fn count(app: &App, count: u64) {
    let file = rusqlite::Connection::open(app.lab.path().join("void.db")).unwrap();
    let sql = "UPDATE spaces SET page_count = ?1, ref_count = ?1";
    file.execute(sql, [i64::try_from(count).unwrap()]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_space_says_so_and_what_waits_for_it_goes_on_waiting() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let agent = app.holder("agent", "drafter", &["suggest"]).await.caller;
    let draft = json!({"entity": "page", "op": "create", "fields": {"title": "Drafted"}});
    let drafts = format!("/api/spaces/{space}/drafts");
    let row = agent.post(&drafts, draft).await.ok();
    count(&app, SPACE_ENTITIES_MAX - 1);
    let pages = format!("/api/spaces/{space}/pages");
    let last = owner.post(&pages, json!({"title": "Last"})).await.ok();
    let over = owner.post(&pages, json!({"title": "Over"})).await;
    over.error(409, "too_many");
    // A yes stores nothing and decides nothing; when there is room again the same yes does.
    let approve = format!("/api/pending-changes/{}/approve", id(&row));
    let refused = owner.post_nothing(&approve).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text);
    let waits = owner
        .get(&format!("/api/proposals/{}", id(&row)))
        .await
        .ok();
    assert_eq!(waits["status"], "pending");
    owner
        .post(
            &format!("/api/spaces/{space}/tasks"),
            json!({"title": "A task"}),
        )
        .await
        .ok();
    owner
        .delete(&format!("/api/pages/{}", id(&last)))
        .await
        .ok();
    owner.post_nothing(&approve).await.ok();
    let back = format!("/api/pages/{}/undelete", id(&last));
    owner.post_nothing(&back).await.error(409, "too_many");
}
