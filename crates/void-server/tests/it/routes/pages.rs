//! `/api/spaces/{id}/pages` and `/api/pages`: what a page says, what it names, and what a list shows of it.

use serde_json::{Value, json};
use void_domain::limits::{PAGE_BYTES_MAX, TAGS_MAX, TITLE_CHARS_MAX};

use super::entities::{id, new, new_space};
use crate::apps::{App, Engine};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_says_what_it_names_and_what_names_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let project = new(&owner, &space, "projects", json!({"title": "Move"})).await;
        let project = id(&project);
        let text = "---\ntags: net\n---\nSee [[caddy]], [[Nowhere]], [the move](void:project/PROJECT) and `[[code]]`.\n";
        let body = json!({
            "title": " Runbook ", "body": text.replace("PROJECT", project), "project_id": project,
            "tags": ["#Ops"], "path": "notes/Runbook.md",
        });
        let page = new(&owner, &space, "pages", body).await;
        assert_eq!(page["title"], "Runbook");
        assert_eq!(page["tags"], json!(["net", "ops"]));
        assert_eq!(
            (&page["origin"], &page["foreign"], &page["updated_by"]),
            (&json!("owner"), &json!(false), &json!("owner-api"))
        );
        let found = |page: &Value| -> Vec<(Value, Value)> {
            let links = page["links"].as_array().unwrap().iter();
            links
                .map(|link| (link["found"].clone(), link["title"].clone()))
                .collect()
        };
        let none = |title: &str| (json!("none"), json!(title));
        assert_eq!(
            found(&page),
            [
                none("caddy"),
                none("Nowhere"),
                (json!("one"), json!("Move"))
            ]
        );
        // A page that is made later is found at once, whatever its capitals.
        let caddy = new(&owner, &space, "pages", json!({"title": "Caddy"})).await;
        let path = format!("/api/pages/{}", id(&page));
        let page = owner.get(&path).await.ok();
        assert_eq!(found(&page)[0], (json!("one"), json!("Caddy")));
        let caddy = owner.get(&format!("/api/pages/{}", id(&caddy))).await.ok();
        assert_eq!(
            caddy["backlinks"],
            json!([{"kind": "page", "id": page["id"], "title": "Runbook"}])
        );
        let moved = owner.get(&format!("/api/projects/{project}")).await.ok();
        assert_eq!(moved["backlinks"][0]["title"], "Runbook");
        // Two of one title are none in particular.
        let twin = new(&owner, &space, "pages", json!({"title": "CADDY"})).await;
        let link = owner.get(&path).await.ok()["links"][0].clone();
        assert_eq!(link["found"], "several");
        let candidates = link["candidates"].as_array().unwrap();
        assert!(
            candidates.contains(&twin["id"]) && candidates.len() == 2,
            "{link}"
        );
        // The tree leaves the head of the page out.
        assert!(page.get("blocks").is_none());
        let blocks = owner.get(&format!("{path}?blocks=true")).await.ok()["blocks"].clone();
        assert!(!blocks.to_string().contains("tags"), "{blocks}");
        assert_eq!(blocks[0]["type"], "paragraph");
        let moved = format!("#/knowledge/projects/{project}");
        assert!(blocks.to_string().contains(&moved), "{blocks}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_stays_and_null_takes_away() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let project = new(&owner, &space, "projects", json!({"title": "Move"})).await;
    let body = json!({"title": "A", "body": "text", "project_id": project["id"], "tags": ["x"], "path": "a.md"});
    let page = new(&owner, &space, "pages", body).await;
    let path = format!("/api/pages/{}", id(&page));
    let put = async |body: Value| owner.put(&path, body).await.ok();
    let renamed = put(json!({"base_revision": 1, "title": "B"})).await;
    for member in ["body", "project_id", "tags", "path"] {
        assert_eq!(renamed[member], page[member], "{member}");
    }
    let bare = put(json!({"base_revision": 2, "project_id": null, "path": null, "tags": []})).await;
    assert_eq!(
        (&bare["project_id"], &bare["path"], &bare["tags"]),
        (&Value::Null, &Value::Null, &json!([]))
    );
    assert_eq!(
        (&bare["title"], &bare["body"]),
        (&json!("B"), &json!("text"))
    );
    // A title and a text are never taken away by null.
    let same = put(json!({"base_revision": 3, "title": null, "body": null})).await;
    assert_eq!(
        (&same["title"], &same["revision"]),
        (&json!("B"), &json!(3))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_of_every_member_at_once() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let pages = format!("/api/spaces/{space}/pages");
    let many: Vec<String> = (0..=TAGS_MAX).map(|n| format!("t{n}")).collect();
    let body = json!({"title": "a\nb", "tags": many, "path": "../etc/passwd", "project_id": "x"});
    let error = owner.post(&pages, body).await.error(422, "invalid");
    let wrong: Vec<&String> = error["fields"].as_object().unwrap().keys().collect();
    assert_eq!(wrong, ["path", "project_id", "tags", "title"]);
    let elsewhere = new_space(&owner, "Elsewhere").await;
    let foreign = new(&owner, &elsewhere, "projects", json!({"title": "Other"})).await;
    for (body, field) in [
        (json!({}), "title"),
        (json!({"title": "  "}), "title"),
        (json!({"title": "x".repeat(TITLE_CHARS_MAX + 1)}), "title"),
        (
            json!({"title": "A", "project_id": foreign["id"]}),
            "project_id",
        ),
        (json!({"title": "A", "reason": "x".repeat(4_097)}), "reason"),
        (json!({"title": "A", "body": "a\u{0}b"}), "body"),
        (json!({"title": "A", "state": "done"}), "body"),
        (json!({"title": "A", "url": "https://example.org"}), "body"),
        (json!({"title": "A", "revision": 7}), "body"),
        (json!({"title": ["A"]}), "body"),
    ] {
        let error = owner.post(&pages, body.clone()).await.error(422, "invalid");
        assert!(
            error["fields"][field].is_string(),
            "{field}: {error} {body}"
        );
    }
    let at_the_limit = json!({"title": "ß".repeat(TITLE_CHARS_MAX)});
    owner.post(&pages, at_the_limit).await.ok();
    assert_eq!(
        owner.get(&pages).await.ok()["pages"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// The bound is one of the text, not of how JSON writes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_512_kib_of_text_however_they_are_written() {
    let app = App::start().await;
    let owner = app.owner();
    let space = new_space(&owner, "Lab").await;
    let pages = format!("/api/spaces/{space}/pages");
    for letter in ["x", "\n", "\u{1}", "😀"] {
        let full = letter.repeat(PAGE_BYTES_MAX / letter.len());
        let made = owner
            .post(&pages, json!({"title": "Full", "body": full}))
            .await
            .ok();
        assert_eq!(made["body"].as_str().unwrap().len(), PAGE_BYTES_MAX);
        let over = json!({"title": "Over", "body": format!("{full}x")});
        let error = owner.post(&pages, over.clone()).await.error(422, "invalid");
        let problem = error["fields"]["body"].as_str().unwrap();
        assert!(problem.contains("512 KiB"), "{problem}");
        let path = format!("/api/pages/{}", id(&made));
        let change = json!({"base_revision": 1, "body": over["body"]});
        owner.put(&path, change).await.error(422, "invalid");
        assert_eq!(owner.get(&path).await.ok()["revision"], 1);
    }
    // What no text could need is not read.
    let huge = json!({"title": "Huge", "body": "\u{1}".repeat(PAGE_BYTES_MAX + 64 * 1024)});
    owner.post(&pages, huge).await.error(413, "too_large");
    assert_eq!(
        owner.get(&pages).await.ok()["pages"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_no_texts_and_goes_on_where_it_ended() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let space = new_space(&owner, "Lab").await;
        let pages = format!("/api/spaces/{space}/pages");
        let mut made = Vec::new();
        for n in 0..7 {
            let body = json!({"title": format!("{n}"), "body": "text"});
            made.push(id(&owner.post(&pages, body).await.ok()).to_owned());
        }
        made.reverse();
        let (mut seen, mut cursor, mut answers) = (Vec::new(), String::new(), 0);
        loop {
            let page = owner.get(&format!("{pages}?limit=3{cursor}")).await.ok();
            let rows = page["pages"].as_array().unwrap();
            assert!(rows.iter().all(|row| row.get("body").is_none()));
            seen.extend(rows.iter().map(|row| id(row).to_owned()));
            answers += 1;
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, made);
        assert_eq!(answers, 3);
        let short = owner.get(&format!("{pages}?limit=2")).await.ok();
        assert_eq!(short["pages"].as_array().unwrap().len(), 2);
        // What was changed last comes first, and what was thrown away is in a list of its own.
        let last = &made[6];
        owner
            .put(
                &format!("/api/pages/{last}"),
                json!({"base_revision": 1, "tags": ["x"]}),
            )
            .await
            .ok();
        assert_eq!(
            owner.get(&format!("{pages}?limit=1")).await.ok()["pages"][0]["id"],
            last.as_str()
        );
        owner.delete(&format!("/api/pages/{last}")).await.ok();
        let gone = owner.get(&format!("{pages}?deleted=true")).await.ok();
        assert_eq!(gone["pages"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&gone["pages"][0]["id"], &gone["pages"][0]["deleted_by"]),
            (&json!(last), &json!("owner-api"))
        );
        let reader = app.holder("agent", "reader", &["read"]).await.caller;
        reader
            .get(&format!("{pages}?deleted=true"))
            .await
            .error(403, "owner_only");
        for wrong in [
            "limit=0",
            "limit=501",
            "deleted=maybe",
            "project=x",
            "state=open",
            "order=due",
            "nonsense=1",
        ] {
            let answer = owner.get(&format!("{pages}?{wrong}")).await;
            answer.error(422, "invalid");
        }
    }
}
