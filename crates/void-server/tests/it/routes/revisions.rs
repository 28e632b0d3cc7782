//! `…/revisions`, `…/diff` and `…/restore`: nothing that was ever said is lost, and a difference hides nothing.

use serde_json::{Value, json};

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};
use crate::callers::Caller;

fn numbers(list: &Value) -> Vec<u64> {
    let all = list["revisions"].as_array().unwrap().iter();
    all.map(|one| one["revision"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_revision_is_there() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let path = page_of(&owner, &["one", "two", "three", "four"]).await;
        let first = owner.get(&format!("{path}/revisions?limit=3")).await.ok();
        assert_eq!(numbers(&first), [4, 3, 2]);
        let next = first["next"].as_str().unwrap();
        let rest = owner
            .get(&format!("{path}/revisions?cursor={next}"))
            .await
            .ok();
        assert_eq!((numbers(&rest), &rest["next"]), (vec![1], &Value::Null));
        assert_eq!(
            owner.get(&format!("{path}/revisions/2")).await.ok()["body"],
            "two"
        );
    }
}

/// A page with so many revisions, each of another text.
async fn page_of(owner: &Caller, bodies: &[&str]) -> String {
    let space = new_space(owner, "Lab").await;
    let page = new(
        owner,
        &space,
        "pages",
        json!({"title": "A", "body": bodies[0]}),
    )
    .await;
    let path = format!("/api/pages/{}", id(&page));
    for (base, body) in (1..).zip(&bodies[1..]) {
        owner
            .put(&path, json!({"base_revision": base, "body": body}))
            .await
            .ok();
    }
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_makes_a_new_revision_and_loses_none() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let path = page_of(&owner, &["one", "two", "three", "four"]).await;
        let restored = owner
            .post(&format!("{path}/restore"), json!({"revision": 2}))
            .await
            .ok();
        assert_eq!(
            (&restored["revision"], &restored["body"]),
            (&json!(5), &json!("two"))
        );
        // What it says already is not said again.
        let again = owner
            .post(&format!("{path}/restore"), json!({"revision": 2}))
            .await
            .ok();
        assert_eq!(again["revision"], 5);
        owner
            .post(&format!("{path}/restore"), json!({"revision": 99}))
            .await
            .error(404, "not_found");
        for wrong in [
            json!({}),
            json!({"revision": null}),
            json!({"revision": -1}),
            json!({"revision": 1.5}),
        ] {
            owner
                .post(&format!("{path}/restore"), wrong)
                .await
                .error(422, "invalid");
        }
        // The history of what was thrown away stays; going back needs it back first.
        owner.delete(&path).await.ok();
        assert_eq!(
            numbers(&owner.get(&format!("{path}/revisions")).await.ok()).len(),
            5
        );
        owner
            .post(&format!("{path}/restore"), json!({"revision": 1}))
            .await
            .error(404, "not_found");
        for wrong in ["cursor=x", "cursor=-1", "limit=0"] {
            owner
                .get(&format!("{path}/revisions?{wrong}"))
                .await
                .error(422, "invalid");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_is_whole_and_says_what_hides_in_it() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let old = "Restart caddy gently.\nThen wait.\n";
    let page = new(&owner, &space, "pages", json!({"title": "A", "body": old})).await;
    let path = format!("/api/pages/{}", id(&page));
    let new = "Restart c\u{430}ddy\u{202e} gently.\nThen wait.\n";
    owner
        .put(&path, json!({"base_revision": 1, "body": new}))
        .await
        .ok();
    let diff = owner.get(&format!("{path}/diff")).await.ok();
    let side = |left_out: &str| -> String {
        let spans = diff["spans"].as_array().unwrap().iter();
        let kept = spans.filter(|span| span["kind"] != left_out);
        kept.map(|span| span["text"].as_str().unwrap()).collect()
    };
    assert!(side("added").contains(old), "{diff}");
    assert!(side("removed").contains(new), "{diff}");
    assert_eq!(diff["hidden"].as_array().unwrap().len(), 2, "{diff}");
    assert!(
        diff["unified"]
            .as_str()
            .unwrap()
            .contains("-Restart caddy gently.")
    );
    assert_eq!(diff["grain"], "words");
    // Backwards, with itself, and from nothing that is there.
    let back = owner.get(&format!("{path}/diff?from=2&to=1")).await.ok();
    assert_eq!(
        (&back["from"]["revision"], &back["to"]["revision"]),
        (&json!(2), &json!(1))
    );
    let same = owner.get(&format!("{path}/diff?from=2&to=2")).await.ok();
    assert_eq!(
        (&same["words_added"], &same["hidden"]),
        (&json!(0), &json!([]))
    );
    owner
        .get(&format!("{path}/diff?from=1&to=9"))
        .await
        .error(404, "not_found");
    for wrong in ["from=0", "to=x", "from=1.5"] {
        owner
            .get(&format!("{path}/diff?{wrong}"))
            .await
            .error(422, "invalid");
    }
}
