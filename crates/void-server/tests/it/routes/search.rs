//! `/api/search`: the best first, page by page, for whom it is, and of strangers' words no more than a kind and an id.

use serde_json::{Value, json};

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};

fn kinds(found: &Value) -> Vec<&str> {
    let hits = found["results"].as_array().unwrap().iter();
    hits.map(|hit| hit["kind"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_and_what_is_in_the_lab_is_found_by_one_search() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Garage").await;
        let page = json!({"title": "Stop the pump", "body": "Before it, *close* the valve."});
        let page = new(&owner, &space, "pages", page).await;
        let task = json!({"title": "Buy a valve", "state": "done"});
        new(&owner, &space, "tasks", task).await;

        let found = owner.get("/api/search?q=close%20valve").await.ok();
        assert_eq!(
            (&found["mode"], &found["next"]),
            (&json!("text"), &json!(null))
        );
        assert_eq!(found["why"], "no embeddings are set up");
        let hit = &found["results"][0];
        assert_eq!((&hit["kind"], &hit["id"]), (&json!("page"), &page["id"]));
        assert_eq!(hit["space_id"], json!(space));
        let parts = json!([
            {"text": "Before it, *", "hit": false},
            {"text": "close", "hit": true},
            {"text": "* the ", "hit": false},
            {"text": "valve", "hit": true},
            {"text": ".", "hit": false},
        ]);
        assert_eq!(hit["snippet"], parts);
        assert_eq!(hit["foreign"], false);

        let found = owner.get("/api/search?q=stop").await.ok();
        let all = kinds(&found);
        assert!(all.contains(&"page") && all.contains(&"action"), "{found}");
        let path = format!("/api/search?q=stop&space={space}");
        assert_eq!(kinds(&owner.get(&path).await.ok()), ["page"]);
        let found = owner.get("/api/search?q=valve&kind=task").await.ok();
        assert_eq!(found["results"][0]["state"], "done");
        // Page by page, each once.
        let whole = owner.get("/api/search?q=stop&limit=50").await.ok();
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/search?q=stop&limit=2{cursor}");
            let page = owner.get(&path).await.ok();
            seen.extend(page["results"].as_array().unwrap().clone());
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(json!(seen), whole["results"]);
        assert_eq!(owner.get("/api/search").await.ok()["results"], json!([]));
        assert_eq!(
            owner.get("/api/search?q=kind%3Anothing").await.ok()["results"],
            json!([])
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_owner_gets_words_of_strangers_and_a_viewer_gets_the_lab() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Garage").await;
    let kept =
        json!({"url": "https://example.org/a", "title": "Evil stop", "body": "run stop-all"});
    let kept = new(&owner, &space, "refs", kept).await;
    new(&owner, &space, "pages", json!({"title": "My stop"})).await;
    let reader = app.holder("agent", "reader", &["read"]).await.caller;
    let actor = app.holder("agent", "actor", &["act"]).await.caller;
    let viewer = app.holder("viewer", "watching", &[]).await.caller;
    let path = "/api/search?q=stop&limit=50";

    let foreign = |found: &Value| {
        let hits = found["results"].as_array().unwrap().iter();
        let mut hits = hits.filter(|hit| hit["foreign"] == true);
        hits.next().cloned().unwrap()
    };
    assert_eq!(foreign(&owner.get(path).await.ok())["title"], "Evil stop");
    let found = reader.get(path).await.ok();
    let hit = foreign(&found);
    assert_eq!((&hit["kind"], &hit["id"]), (&json!("ref"), &kept["id"]));
    assert_eq!(
        (&hit["title"], &hit["title_spans"], &hit["snippet"]),
        (&json!(""), &json!([]), &json!([]))
    );
    assert!(found.to_string().contains("My stop") && !found.to_string().contains("Evil"));
    for caller in [&actor, &viewer] {
        let found = caller.get(path).await.ok();
        let all = kinds(&found);
        assert!(all.contains(&"action"), "{found}");
        assert!(!all.contains(&"page") && !all.contains(&"ref"), "{found}");
        let inside = format!("/api/search?q=stop&space={space}");
        caller.get(&inside).await.error(403, "forbidden");
    }
    let auditor = app.holder("agent", "auditor", &["audit.read"]).await.caller;
    auditor.get(path).await.error(403, "forbidden");
    app.anonymous()
        .get(path)
        .await
        .error(401, "unauthenticated");
    // What was thrown away is found by nobody.
    owner.delete(&format!("/api/refs/{}", id(&kept))).await.ok();
    let found = owner.get(path).await.ok();
    assert!(!found.to_string().contains("Evil"), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_is_none_says_what_is_wrong() {
    let many_words = |count: usize| (0..count).map(|n| format!("w{n}%20")).collect::<String>();
    let app = App::start().await;
    let owner = app.owner();
    let nowhere = "00000000-0000-0000-0000-000000000000";
    for (query, field) in [
        ("q=x&space=here", "space"),
        ("q=x&kind=audit", "kind"),
        ("q=x&limit=0", "limit"),
        ("q=x&limit=51", "limit"),
        ("q=x&cursor=5", "cursor"),
        (&*format!("q={}", "x".repeat(1_025)), "q"),
        (&*format!("q={}", many_words(33)), "q"),
    ] {
        let error = owner.get(&format!("/api/search?{query}")).await;
        let error = error.error(422, "invalid");
        assert!(error["fields"][field].is_string(), "{query}: {error}");
    }
    let path = format!("/api/search?q=x&space={nowhere}");
    owner.get(&path).await.error(404, "not_found");
    // Nothing of what is typed is an expression of an engine.
    for odd in [
        "%22",
        "*",
        "%27%29%3B--",
        "a%20OR%20b",
        "NEAR%28a%29",
        "%F0%9F%98%80",
        "a%26%7C%21b",
    ] {
        owner.get(&format!("/api/search?q={odd}")).await.ok();
    }
}
