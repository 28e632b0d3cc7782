//! `/api/actions/patch` and `/api/pending-changes`: who drafts another catalogue, what comes back, and what does not.

use std::fs;

use serde_json::{Value, json};
use void_domain::diffs;
use void_domain::limits::CATALOGUE_BYTES_MAX;

use crate::apps::{App, Engine, queue};
use crate::callers::Caller;

const ADDED: &str = r#"{"id": "added", "label": "Added", "kind": "service_restart", "host": "local", "service": "added", "tier": "safe"}"#;

fn loaded(app: &App) -> String {
    fs::read_to_string(app.lab.catalogue_file()).unwrap()
}

/// The catalogue with one action more.
fn wider(app: &App) -> String {
    let mut catalogue: Value = serde_json::from_str(&loaded(app)).unwrap();
    let actions = catalogue["actions"].as_array_mut().unwrap();
    actions.push(serde_json::from_str(ADDED).unwrap());
    format!("{catalogue:#}\n")
}

async fn drafted(app: &App) -> Value {
    let body = json!({"file": wider(app), "reason": "a new service"});
    app.owner().post("/api/actions/patch", body).await.ok()
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_a_row_with_everything_that_a_yes_binds() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let row = drafted(&app).await;
        assert_eq!(
            (
                &row["subject"],
                &row["action_id"],
                &row["status"],
                &row["risk"]
            ),
            (
                &json!("change"),
                &Value::Null,
                &json!("pending"),
                &json!("critical")
            )
        );
        let change = &row["change"];
        assert_eq!(
            (&change["target"], &change["entity"], &change["op"]),
            (&json!("catalogue"), &json!("catalogue"), &json!("update"))
        );
        let patched = diffs::apply(&loaded(&app), change["diff"].as_str().unwrap());
        assert_eq!(patched.unwrap(), wider(&app));
        assert!(
            change["summary"][0]
                .as_str()
                .unwrap()
                .starts_with("new: added (safe), restarts added")
        );
        // Beside what waits of actions, in the Inbox and by its card.
        let action = app.queue("stop-a").await;
        let changes = app.owner().get("/api/pending-changes").await.ok();
        let ids: Vec<&str> = changes["pending"]
            .as_array()
            .unwrap()
            .iter()
            .map(id)
            .collect();
        assert_eq!(ids, [id(&row)]);
        let inbox = app.owner().get("/api/inbox").await.ok();
        assert_eq!(inbox["items"].as_array().unwrap().len(), 2, "{inbox}");
        let card = app
            .owner()
            .get(&format!("/api/proposals/{}/card", id(&row)))
            .await
            .ok();
        assert_eq!(card["tier_words"], "Risky, changes what is allowed");
        assert_eq!(
            (&card["allowed_by"]["id"], &card["changed"]),
            (&Value::Null, &json!(false))
        );
        yes_puts_it_beside(&app, &row, &action).await;
    }
}

async fn yes_puts_it_beside(app: &App, row: &Value, action: &Value) {
    // An action is no change, whoever asks so.
    for decision in ["approve", "reject"] {
        let path = format!("/api/pending-changes/{}/{decision}", id(action));
        app.owner()
            .post(&path, json!({}))
            .await
            .error(404, "not_found");
    }
    let path = format!("/api/pending-changes/{}/approve", id(row));
    app.owner()
        .post(&path, json!({}))
        .await
        .error(422, "invalid");
    let done = app
        .owner()
        .post(&path, json!({"digest": row["digest"]}))
        .await
        .ok();
    assert_eq!(
        (&done["status"], &done["verification"]),
        (&json!("executed"), &json!("verified"))
    );
    let beside = app.lab.path().join("actions.json.proposed");
    assert_eq!(fs::read_to_string(beside).unwrap(), wider(app));
    let known = app.owner().get("/api/actions").await.ok().to_string();
    assert!(!known.contains("\"added\""), "it is not in force");
    app.owner()
        .post("/api/actions/added/run", json!({}))
        .await
        .error(404, "unknown_action");
}

/// A draft not far from the largest that there may be.
fn much_wider(app: &App, number: usize) -> String {
    let mut catalogue: Value = serde_json::from_str(&loaded(app)).unwrap();
    let actions = catalogue["actions"].as_array_mut().unwrap();
    for n in 0..250 {
        let mut action: Value = serde_json::from_str(ADDED).unwrap();
        action["id"] = json!(format!("added-{number}-{n}"));
        actions.push(action);
    }
    format!("{catalogue:#}\n")
}

/// A page of large drafts is no multiple of them; what is left out is counted, and the row and its card have it.
#[tokio::test(flavor = "multi_thread")]
async fn lists_shorten_large_drafts_and_the_card_has_them_whole() {
    const DRAFTS: usize = 50;
    const LIST_BYTES: usize = 512 * 1024;
    let app = App::start().await;
    let owner = app.owner();
    let mut whole = 0;
    let mut row = Value::Null;
    for number in 0..DRAFTS {
        let body = json!({"file": much_wider(&app, number), "reason": "a new service"});
        row = owner.post("/api/actions/patch", body).await.ok();
        whole += row["change"]["diff"].as_str().unwrap().len();
    }
    assert!(whole > 2 * 1024 * 1024, "{whole}");
    assert_eq!(row["left_out"], Value::Null);
    for (path, rows) in [
        ("/api/inbox?limit=50", "items"),
        ("/api/proposals?limit=50", "proposals"),
        ("/api/actions/pending?limit=50", "pending"),
    ] {
        // A page also ends where the stored rows of it are two mebibytes.
        let (mut items, mut next) = (Vec::new(), path.to_owned());
        loop {
            let answer = owner.get(&next).await;
            let length = answer.text.len();
            assert!(length < LIST_BYTES, "{path}: {length}");
            let list = answer.ok();
            items.extend(list[rows].as_array().unwrap().clone());
            let Some(cursor) = list["next"].as_str() else {
                break;
            };
            next = format!("{path}&cursor={cursor}");
        }
        assert_eq!(items.len(), DRAFTS, "{path}");
        let listed = items.iter().find(|item| item["id"] == row["id"]).unwrap();
        let (diff, all) = (
            listed["change"]["diff"].as_str().unwrap(),
            row["change"]["diff"].as_str().unwrap(),
        );
        assert!(all.starts_with(diff) && diff.len() <= 1_024, "{path}");
        assert_eq!(listed["digest"], row["digest"]);
        let added = all.lines().filter(|line| line.starts_with('+')).count();
        let left_out = &listed["left_out"];
        let counted = (&left_out["added_lines"], &left_out["removed_lines"]);
        let removed = all.lines().filter(|line| line.starts_with('-')).count();
        assert_eq!(counted, (&json!(added), &json!(removed)), "{path}");
        let kept = listed["change"]["summary"].as_array().unwrap().len();
        let sentences = row["change"]["summary"].as_array().unwrap().len();
        assert_eq!(left_out["sentences"], json!(sentences - kept));
        assert!(left_out["bytes"].as_u64().unwrap() >= (all.len() - diff.len()) as u64);
    }
    let home = owner.get("/api/home").await;
    assert!(home.text.len() < 2 * LIST_BYTES, "{}", home.text.len());
    let path = format!("/api/proposals/{}", id(&row));
    let read = owner.get(&path).await.ok();
    let card = owner.get(&format!("{path}/card")).await.ok();
    for read in [&read, &card["row"]] {
        assert_eq!(read["change"], row["change"]);
        assert_eq!(read["left_out"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_is_the_same_draft_as_the_file_it_makes() {
    let app = App::start().await;
    let row = drafted(&app).await;
    let patch = diffs::unified(&loaded(&app), &wider(&app)).unwrap();
    let again = app
        .owner()
        .post("/api/actions/patch", json!({"patch": patch}))
        .await
        .ok();
    assert_eq!((id(&again), &again["count"]), (id(&row), &json!(2)));
    let path = format!("/api/pending-changes/{}/reject", id(&row));
    assert_eq!(
        app.owner().post(&path, json!({})).await.ok()["status"],
        "rejected"
    );
    let body = json!({"digest": row["digest"], "decision": "approve"});
    let late = app
        .owner()
        .post(&format!("/api/proposals/{}/decide", id(&row)), body)
        .await;
    late.error(409, "already_decided");
}

/// By the API and as a tool: a draft of one's own with `suggest`, nobody else's, and no wish for an action.
#[tokio::test(flavor = "multi_thread")]
async fn a_drafter_takes_back_its_own_draft_and_nobody_elses() {
    let app = App::start().await;
    let holder = async |name: &str, has: &[&str]| app.holder("agent", name, has).await.caller;
    let gardener = holder("gardener", &["suggest"]).await;
    let others = [
        holder("other-gardener", &["suggest"]).await,
        holder("actor", &["act"]).await,
        holder("reader", &["read"]).await,
    ];
    let wish = queue(&others[1], "stop-a").await;
    let withdraw = async |caller: &Caller, by_tool: bool, row: &Value| {
        if !by_tool {
            let path = format!("/api/proposals/{}/cancel", id(row));
            return caller.post(&path, json!({})).await;
        }
        let params = json!({"name": "withdraw_proposal", "arguments": {"proposal": row["code"]}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        caller.post("/mcp", body).await
    };
    for by_tool in [false, true] {
        let body = json!({"file": wider(&app), "reason": "a new service"});
        let draft = gardener.post("/api/actions/patch", body).await.ok();
        for other in &others {
            let refused = withdraw(other, by_tool, &draft).await;
            let is_refused =
                [403, 404].contains(&refused.status) || refused.text.contains("\"isError\":true");
            assert!(is_refused, "{}", refused.text);
        }
        let refused = withdraw(&gardener, by_tool, &wish).await;
        assert!(refused.text.contains("not_found"), "{}", refused.text);
        for row in [&draft, &wish] {
            assert_eq!(app.row(id(row)).await["status"], "pending");
        }
        let taken_back = withdraw(&gardener, by_tool, &draft).await;
        assert_eq!(taken_back.status, 200, "{}", taken_back.text);
        let row = app.row(id(&draft)).await;
        assert_eq!(
            (&row["status"], &row["error"]["code"]),
            (&json!("cancelled"), &json!("withdrawn"))
        );
    }
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_drafted_is_named_and_leaves_nothing() {
    let app = App::start().await;
    let owner = app.owner();
    let before = app.proposal_count().await;
    let huge = " ".repeat(CATALOGUE_BYTES_MAX);
    for (body, says) in [
        (json!({}), "patch or file"),
        (json!({"patch": "x", "file": "{}"}), "not both"),
        (json!({"patch": "x"}), "no unified diff"),
        (json!({"patch": "@@ -1 +1 @@\n-no\n+yes\n"}), "does not fit"),
        (
            json!({"patch": "--- a/passwd\n+++ b/passwd\n@@ -1 +1 @@\n-no\n+yes\n"}),
            "line 1 names another file: a/passwd",
        ),
        (json!({"file": loaded(&app)}), "changes nothing"),
        (json!({"file": "{\"actions\": 5}"}), "refused as a whole"),
        (
            json!({"file": format!("{}{huge}", loaded(&app))}),
            "larger than",
        ),
        (json!({"file": "{}", "reason": "x".repeat(5_000)}), "reason"),
        (json!({"file": "{}", "more": 1}), "more"),
    ] {
        let answer = owner.post("/api/actions/patch", body).await;
        assert!(
            [422, 413, 400].contains(&answer.status),
            "{says}: {}",
            answer.text
        );
        assert!(
            answer.status == 413 || answer.text.contains(says),
            "{says}: {}",
            answer.text
        );
    }
    // Every problem of a file, with its place.
    let wrong = wider(&app).replace("\"tier\": \"safe\"", "\"tier\": \"harmless\"");
    let refused = owner
        .post("/api/actions/patch", json!({"file": wrong}))
        .await;
    let fields = refused.error(422, "invalid")["fields"].clone();
    assert!(
        fields
            .as_object()
            .unwrap()
            .keys()
            .any(|name| name.contains("tier")),
        "{fields}"
    );
    // Edited since it was loaded.
    fs::write(app.lab.catalogue_file(), format!("{}\n", loaded(&app))).unwrap();
    let body = json!({"file": wider(&app)});
    owner
        .post("/api/actions/patch", body)
        .await
        .error(409, "changed");
    assert_eq!(app.proposal_count().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_act_drafts_nothing_and_who_drafts_decides_nothing() {
    let app = App::start().await;
    let body = json!({"file": wider(&app)});
    for (kind, has) in [
        ("agent", ["read", "act"].as_slice()),
        ("viewer", &[]),
        ("node", &[]),
    ] {
        let caller = app.holder(kind, &format!("some-{kind}"), has).await.caller;
        let answer = caller.post("/api/actions/patch", body.clone()).await;
        answer.error(403, "forbidden");
    }
    let gardener = app.holder("agent", "gardener", &["suggest"]).await.caller;
    let row = gardener.post("/api/actions/patch", body).await.ok();
    assert_eq!(row["requested_by"]["name"], "gardener");
    // Its own it may read.
    let seen = gardener
        .get(&format!("/api/proposals/{}", id(&row)))
        .await
        .ok();
    assert_eq!(seen["change"], row["change"]);
    let decide = json!({"digest": row["digest"], "decision": "approve"});
    let path = format!("/api/proposals/{}/decide", id(&row));
    gardener.post(&path, decide).await.error(403, "owner_only");
    gardener
        .get("/api/pending-changes")
        .await
        .error(403, "owner_only");
    gardener.run("stop-a").await.error(403, "forbidden");
    assert_eq!(app.row(id(&row)).await["status"], "pending");
}
