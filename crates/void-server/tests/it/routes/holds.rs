//! `/api/proposals/{id}/hold|veto|annotate|lift`: what the owner puts on a request stands on its row and its card, a yes
//! does not count while it is held, and nobody outside does any of it.

use serde_json::{Value, json};

use crate::apps::{App, Engine};

fn why(reason: &str) -> Value {
    json!({"reason": reason})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_held_is_shown_and_takes_no_yes_until_it_is_lifted() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, row) = (app.owner(), app.queue("stop-a").await);
        let path = |what: &str| format!("/api/proposals/{}/{what}", row["id"].as_str().unwrap());
        assert_eq!(row["holds"], json!([]));
        let said = "<b>not</b> before noon";
        let held = owner.post(&path("hold"), why(said)).await.ok();
        assert_eq!(held["display_state"], "held_from_above");
        let hold = &held["holds"][0];
        assert_eq!(
            (
                &hold["by"],
                &hold["words"],
                &hold["sentence"],
                &hold["lifted_at"]
            ),
            (
                &json!("owner"),
                &json!(said),
                &json!("held by the owner"),
                &Value::Null
            )
        );
        let card = owner.get(&path("card")).await.ok();
        assert_eq!(card["row"]["holds"], held["holds"]);
        let page = app
            .session()
            .await
            .get(&format!("/inbox/{}", row["id"].as_str().unwrap()))
            .await;
        assert!(
            page.text.contains("&lt;b&gt;not&lt;/b&gt; before noon"),
            "{}",
            page.text
        );
        assert!(!page.text.contains("<b>not</b>"));
        let decide = json!({"decision": "approve", "digest": row["digest"]});
        let refused = owner.post(&path("decide"), decide.clone()).await;
        let refused = refused.error(409, "held");
        assert!(
            refused["message"].to_string().contains("held by the owner"),
            "{refused}"
        );
        owner
            .post(&path("hold"), why("again"))
            .await
            .error(409, "not_needed");
        let lifted = owner.post_nothing(&path("lift")).await.ok();
        assert_eq!(lifted["display_state"], "waiting");
        assert!(lifted["holds"][0]["lifted_at"].is_string());
        owner
            .post_nothing(&path("lift"))
            .await
            .error(409, "not_needed");
        owner.post(&path("decide?wait=60"), decide).await.ok();
        owner
            .post(&path("veto"), why("late"))
            .await
            .error(409, "already_decided");
        for verb in ["proposal.held", "proposal.hold_lifted"] {
            assert_eq!(app.audited(verb).await.len(), 1, "{verb}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_veto_ends_it_and_says_why() {
    let app = App::start().await;
    let (owner, row) = (app.owner(), app.queue("stop-a").await);
    let path = |what: &str| format!("/api/proposals/{}/{what}", row["id"].as_str().unwrap());
    owner.post(&path("annotate"), why("look twice")).await.ok();
    let vetoed = owner.post(&path("veto"), why("never")).await.ok();
    assert_eq!(
        (&vetoed["status"], &vetoed["error"]["code"]),
        (&json!("cancelled"), &json!("vetoed"))
    );
    let words: Vec<&Value> = vetoed["holds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["words"])
        .collect();
    assert_eq!(words, [&json!("look twice"), &json!("never")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_outside_holds_anything_and_words_are_bounded() {
    let app = App::start().await;
    let blue = app.agent("blue").await;
    let row = crate::apps::queue(&blue, "stop-a").await;
    let id = row["id"].as_str().unwrap();
    let eve = app.agent("eve").await;
    let viewer = app.holder("viewer", "vera", &[]).await.caller;
    for what in ["hold", "veto", "annotate"] {
        let path = format!("/api/proposals/{id}/{what}");
        // Whose request it is, somebody else, and whoever only looks.
        for caller in [&blue, &eve, &viewer] {
            caller.post(&path, why("x")).await.error(403, "owner_only");
        }
        for reason in ["", " ", &"x".repeat(501)] {
            app.owner()
                .post(&path, why(reason))
                .await
                .error(422, "invalid");
        }
        app.owner()
            .post(&path, json!({}))
            .await
            .error(422, "invalid");
    }
    blue.post_nothing(&format!("/api/proposals/{id}/lift"))
        .await
        .error(403, "owner_only");
    assert_eq!(app.row(id).await["holds"], json!([]));
}
