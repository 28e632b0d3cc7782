//! `/api/pending-changes/decide`, `/api/proposals/{id}/approve-edited` and `…/again`: the owner's ways with drafts, over HTTP.

use reqwest::Method;
use serde_json::{Value, json};
use void_domain::limits::DRAFTS_AT_ONCE_MAX;

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};
use crate::callers::{Caller, HttpResponse};

const BODY: &str = "Restart it with care.\n\nThen wait.\n\nThen look.\n";

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
        let page = json!({"title": "Caddy", "body": BODY});
        let page = new(&app.owner(), &space, "pages", page).await;
        let agent = app.holder("agent", "companion", &["suggest"]).await.caller;
        Self {
            app,
            space,
            page,
            agent,
        }
    }

    async fn edit(&self, find: &str, replace: &str) -> Value {
        let edits = json!([{"find": find, "replace": replace}]);
        let body = json!({"entity": "page", "op": "update", "id": id(&self.page), "edits": edits});
        let path = format!("/api/spaces/{}/drafts", self.space);
        self.agent.post(&path, body).await.ok()
    }

    async fn owners(&self, base: u64, body: &str) {
        let path = format!("/api/pages/{}", id(&self.page));
        let body = json!({"base_revision": base, "body": body});
        self.app.owner().put(&path, body).await.ok();
    }

    async fn body_now(&self) -> String {
        let path = format!("/api/pages/{}", id(&self.page));
        let page = self.app.owner().get(&path).await.ok();
        page["body"].as_str().unwrap().to_owned()
    }

    async fn card(&self, row: &Value) -> Value {
        let path = format!("/api/proposals/{}/card", id(row));
        self.app.owner().get(&path).await.ok()
    }

    async fn about(&self, row: &Value, verb: &str, body: Value) -> HttpResponse {
        let path = format!("/api/proposals/{}/{verb}", id(row));
        self.app.owner().post(&path, body).await
    }

    async fn approve(&self, row: &Value) -> HttpResponse {
        let body = json!({"decision": "approve", "digest": row["digest"]});
        self.about(row, "decide", body).await
    }
}

/// A page, which is no route of the API.
async fn html(caller: &Caller, path: &str) -> String {
    let response = caller.request(Method::GET, path).send().await.unwrap();
    response.text().await.unwrap()
}

fn spans(difference: &Value) -> Vec<(&str, &str)> {
    let parts = difference["parts"].as_array().unwrap().iter();
    let spans = parts.flat_map(|part| part["spans"].as_array().unwrap());
    spans
        .map(|span| {
            (
                span["kind"].as_str().unwrap(),
                span["text"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_shows_a_draft_word_by_word() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let row = desk.edit("with care", "wi\u{200b}th great care").await;
    let card = desk.card(&row).await;
    let difference = &card["difference"];
    assert_eq!(
        card["row"]["change"]["diff"], row["change"]["diff"],
        "unified on demand"
    );
    let spans = spans(difference);
    let added: String = (spans.iter().filter(|(kind, _)| *kind == "added"))
        .map(|(_, text)| *text)
        .collect();
    assert!(
        added.contains("\\u{200b}") && added.contains("great"),
        "{difference}"
    );
    assert!(
        spans
            .iter()
            .any(|(kind, text)| *kind == "same" && text.contains("Restart it "))
    );
    assert!(!card["difference"].to_string().contains('\u{200b}'));
    let hidden = difference["hidden"].as_array().unwrap();
    assert!(
        hidden.contains(&json!("has characters that cannot be seen")),
        "{difference}"
    );
    assert_eq!(
        (&card["moved"], &difference["parts"][0]["line"]),
        (&Value::Null, &json!(3))
    );
    // An action has none of it.
    let action = desk.app.queue("stop-a").await;
    let card = desk.card(&action).await;
    assert_eq!(
        (&card["difference"], &card["moved"]),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_moved_base_is_told_with_what_is_there_and_asked_again() {
    for engine in Engine::both().await {
        let desk = CompanionRig::on(engine).await;
        let row = desk.edit("with care", "gently").await;
        let mine = BODY.replace("Then look.", "Then look at the log.");
        desk.owners(1, &mine).await;
        let card = desk.card(&row).await;
        assert_eq!(
            (
                &card["moved"]["gone"],
                &card["moved"]["revision"],
                &card["moved"]["body"]
            ),
            (&json!(false), &json!(2), &json!(mine))
        );
        let meanwhile = spans(&card["moved"]["difference"]);
        assert!(meanwhile.contains(&("added", " at the log")), "{card}");
        let error = desk.approve(&row).await.error(409, "base_moved");
        assert_eq!(error["moved"]["body"], json!(mine));
        assert_eq!(error["row"]["status"], "cancelled");
        assert_eq!(desk.body_now().await, mine, "nothing was applied");
        // The agent is told that it moved, and not what the owner wrote.
        let seen = desk
            .agent
            .get(&format!("/api/proposals/{}/card", id(&row)))
            .await
            .ok();
        assert_eq!(seen["moved"], Value::Null);
        let path = format!("/api/proposals/{}/again", id(&row));
        desk.agent
            .post(&path, json!({}))
            .await
            .error(403, "owner_only");
        let again = desk.about(&row, "again", json!({})).await.ok();
        assert_eq!(
            (
                &again["status"],
                &again["again_of"],
                &again["requested_by"]["name"]
            ),
            (&json!("pending"), &row["id"], &json!("companion"))
        );
        desk.approve(&again).await.ok();
        assert_eq!(desk.body_now().await, mine.replace("with care", "gently"));
        let error = desk
            .about(&again, "again", json!({}))
            .await
            .error(409, "not_needed");
        assert_eq!(error["row"]["id"], again["id"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_both_changed_is_told_place_by_place() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let row = desk.edit("with care", "gently").await;
    desk.owners(1, &BODY.replace("with care", "at night")).await;
    let error = desk
        .about(&row, "again", json!({}))
        .await
        .error(409, "base_moved");
    let conflict = json!({"line": 6, "base": "Restart it with care.\n", "draft": "Restart it gently.\n",
        "now": "Restart it at night.\n"});
    assert_eq!(error["conflicts"], json!([conflict]));
    assert_eq!(error["moved"]["revision"], 2);
    let path = format!("/api/pages/{}", id(&desk.page));
    desk.app.owner().delete(&path).await.ok();
    desk.about(&row, "again", json!({}))
        .await
        .error(409, "base_moved");
    assert_eq!(desk.card(&row).await["moved"]["gone"], true);
    let action = desk.app.queue("stop-a").await;
    desk.about(&action, "again", json!({}))
        .await
        .error(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_edited_and_approved_in_one_go() {
    for engine in Engine::both().await {
        let desk = CompanionRig::on(engine).await;
        let row = desk.edit("with care", "gently").await;
        let digest = &row["digest"];
        for (body, status, code) in [
            (json!({"fields": {"body": "x"}}), 422, "invalid"),
            (json!({"digest": digest}), 422, "invalid"),
            (json!({"digest": digest, "fields": {}}), 422, "invalid"),
            (
                json!({"digest": digest, "fields": {"state": "done"}}),
                422,
                "invalid",
            ),
            (
                json!({"digest": digest, "fields": {"body": BODY}}),
                422,
                "invalid",
            ),
            (
                json!({"digest": "0".repeat(64), "fields": {"body": "x"}}),
                409,
                "changed",
            ),
        ] {
            desk.about(&row, "approve-edited", body)
                .await
                .error(status, code);
        }
        assert_eq!(desk.body_now().await, BODY);
        let body = json!({"digest": digest, "fields": {"body": "My own words.\n"}});
        let done = desk.about(&row, "approve-edited", body.clone()).await.ok();
        assert_eq!(
            (&done["status"], &done["result"]["edited"]),
            (&json!("executed"), &json!(true))
        );
        assert_eq!(desk.body_now().await, "My own words.\n");
        desk.about(&row, "approve-edited", body)
            .await
            .error(409, "already_decided");
        let action = desk.app.queue("stop-a").await;
        let body = json!({"digest": action["digest"], "fields": {"body": "x"}});
        desk.about(&action, "approve-edited", body)
            .await
            .error(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_are_decided_at_once_and_each_says_what_became_of_it() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let rows = [
        desk.edit("with care", "gently").await,
        desk.edit("Then wait", "Then sleep").await,
    ];
    let action = desk.app.queue("stop-a").await;
    let seen = |row: &Value| json!({"id": row["id"], "digest": row["digest"]});
    let all: Vec<Value> = [&rows[0], &rows[1], &action]
        .into_iter()
        .map(seen)
        .collect();
    let path = "/api/pending-changes/decide";
    let owner = desk.app.owner();
    for (body, field) in [
        (json!({"drafts": all}), "decision"),
        (json!({"decision": "approve", "drafts": []}), "drafts"),
        (
            json!({"decision": "approve", "drafts": vec![seen(&rows[0]); DRAFTS_AT_ONCE_MAX + 1]}),
            "drafts",
        ),
        (
            json!({"decision": "approve", "drafts": [{"id": "x y", "digest": rows[0]["digest"]}]}),
            "drafts",
        ),
        (
            json!({"decision": "approve", "drafts": [{"id": rows[0]["id"], "digest": "no"}]}),
            "digest",
        ),
    ] {
        let error = owner.post(path, body).await.error(422, "invalid");
        assert!(error["fields"][field].is_string(), "{error}");
    }
    let body = json!({"decision": "approve", "drafts": all});
    desk.agent
        .post(path, body.clone())
        .await
        .error(403, "owner_only");
    let answer = owner.post(path, body).await.ok();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    assert_eq!(
        (&results[0]["row"]["status"], &results[0]["error"]),
        (&json!("executed"), &Value::Null)
    );
    // Both were drafted of one revision: the second is not applied to another, and says what is there.
    assert_eq!(
        (
            &results[1]["row"],
            &results[1]["error"]["code"],
            &results[1]["error"]["moved"]["revision"]
        ),
        (&Value::Null, &json!("base_moved"), &json!(2))
    );
    assert_eq!(results[2]["error"]["code"], "forbidden");
    assert_eq!(desk.app.row(id(&action)).await["status"], "pending");
    assert_eq!(desk.body_now().await, BODY.replace("with care", "gently"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_calls_a_change_a_draft_and_counts_it() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let owner = desk.app.owner();
    let mut drafts = Vec::new();
    for number in 0..3 {
        desk.app
            .queue(["stop-a", "stop-b", "stop-all"][number])
            .await;
        drafts.push(desk.edit("with care", &format!("with care {number}")).await);
    }
    let inbox = owner.get("/api/inbox").await.ok();
    let kinds: Vec<&str> = (inbox["items"].as_array().unwrap().iter())
        .map(|item| item["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "proposal", "draft", "proposal", "draft", "proposal", "draft"
        ]
    );
    assert_eq!(
        (&inbox["counts"]["proposal"], &inbox["counts"]["draft"]),
        (&json!(6), &json!(3))
    );
    // Every page of the changes is full until the last.
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = owner
            .get(&format!("/api/pending-changes?limit=1{cursor}"))
            .await
            .ok();
        let rows = page["pending"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{page}");
        seen.push(rows[0]["id"].clone());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let ids: Vec<Value> = drafts.iter().map(|row| row["id"].clone()).collect();
    assert_eq!(seen, ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_link_page_shows_words_and_no_yes_where_the_base_moved() {
    let desk = CompanionRig::on(Engine::Sqlite).await;
    let session = desk.app.session().await;
    let row = desk.edit("with care", "<b>gently</b>").await;
    let path = format!("/inbox/{}", row["code"].as_str().unwrap());
    let page = html(&session, &path).await;
    assert!(page.contains("<del>with care</del>"), "{page}");
    assert!(
        page.contains("&lt;b&gt;gently") && !page.contains("<b>gently"),
        "{page}"
    );
    let (before_folds, _) = page.split_once("<details").unwrap();
    assert!(before_folds.contains("<del>with care</del>"), "{page}");
    assert!(
        page.contains("name=\"decision\" value=\"approve\""),
        "{page}"
    );
    desk.owners(1, "other\n").await;
    let page = html(&session, &path).await;
    assert!(!page.contains("value=\"approve\""), "{page}");
    assert!(
        page.contains("It was changed since this was drafted"),
        "{page}"
    );
    assert!(page.contains("<ins>other</ins>"), "{page}");
}
