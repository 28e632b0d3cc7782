//! Somebody edits one row of the database under a running server: what the record does not say neither runs
//! nor is approved, and what an edit hid is shown and named all the same (I41).

use serde_json::{Value, json};
use void_testkit::eventually;

use crate::apps::{App, Engine};
use crate::callers::HttpResponse;
use crate::forgeries::run;

/// An app whose rows do not fit its record at the end, because the test edited them.
pub async fn app_on(engine: &Engine) -> App {
    let mut app = App::on(engine.clone()).await;
    app.looks_back = false;
    app
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap()
}

pub async fn mismatches(app: &App) -> Vec<(String, String)> {
    let verdict = app.owner().get("/api/audit-verify").await.ok();
    assert_eq!(verdict["intact"], true, "{verdict}");
    let named = verdict["mismatches"].as_array().unwrap();
    assert_eq!(verdict["mismatches_total"], named.len());
    let pair = |row: &Value| {
        let word = |name: &str| row[name].as_str().unwrap().to_owned();
        (word("table"), word("id"))
    };
    named.iter().map(pair).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_made_to_say_approved_never_runs() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        for by in ["owner-api", "policy"] {
            let row = app.queue("stop-all").await;
            let edit = format!(
                "UPDATE proposals SET status = 'approved', approved_by = '{by}', approved_at = created_at WHERE id = '{}';",
                id(&row)
            );
            run(&app, &engine, &edit);
            let ended = eventually("it to be withdrawn", || async {
                let row = app.row(id(&row)).await;
                (row["status"] != "approved").then_some(row)
            })
            .await;
            assert_eq!(ended["status"], "cancelled", "{ended}");
            assert_eq!(ended["error"]["code"], "not_on_record", "{ended}");
        }
        assert_eq!(app.lab.effect_count(), 0);
        let said = app.audited("proposal.cancelled").await;
        assert_eq!(said.len(), 2);
        assert!(said[0].detail.contains("not_on_record"), "{:?}", said[0]);
        assert!(app.audited("proposal.approved").await.is_empty());
        // What the owner does approve runs.
        let row = app.queue("stop-a").await;
        let ran = app.owner().decide(&row, "approve").await.ok();
        assert_eq!(ran["status"], "executed", "{ran}");
    }
}

/// It was approved, and waits for its target: an edit while it waits is seen at its start.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_edited_while_it_waited_for_its_turn_never_runs() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let owner = app.owner();
        owner
            .post_nothing("/api/actions/slow-a/run?wait=0")
            .await
            .ok();
        let row = app.queue("slow-stop").await;
        let path = format!("/api/actions/pending/{}/approve?wait=0", id(&row));
        app.owner().post_nothing(&path).await.ok();
        assert_eq!(app.row(id(&row)).await["status"], "approved");
        let edit = format!(
            "UPDATE proposals SET approved_by = 'owner-cli' WHERE id = '{}';",
            id(&row)
        );
        run(&app, &engine, &edit);
        app.lab.release();
        let ended = app.ended(id(&row)).await;
        assert_eq!(ended["error"]["code"], "not_on_record", "{ended}");
        eventually("what was under way to end", || async {
            (app.lab.effect_count() == 1).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_risk_and_a_label_that_were_edited_are_still_those_of_the_definition() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let row = app.queue("stop-all").await;
        let edit = format!(
            "UPDATE proposals SET risk = 'nominal', tier = 'safe', label = 'Say hello' WHERE id = '{}';",
            id(&row)
        );
        run(&app, &engine, &edit);
        let shown = app.row(id(&row)).await;
        for member in ["risk", "tier", "label"] {
            assert_eq!(shown[member], row[member], "{member}");
        }
        assert_eq!(
            (&row["risk"], &row["tier"]),
            (&json!("critical"), &json!("risky"))
        );
        let path = format!("/api/actions/pending/{}/approve", id(&row));
        let without_digest = app.owner().post_nothing(&path).await;
        assert!(without_digest.status >= 400, "{}", without_digest.text);
        assert_eq!(app.lab.effect_count(), 0);
        app.owner().decide(&row, "approve").await.ok();
        assert_eq!(app.lab.effect_count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_cannot_be_made_to_wait_again() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        for end in ["reject", "cancel"] {
            let row = app.queue("stop-a").await;
            match end {
                "reject" => app.owner().decide(&row, "reject").await.ok(),
                _ => {
                    let path = format!("/api/proposals/{}/cancel", id(&row));
                    app.owner().post_nothing(&path).await.ok()
                }
            };
            let edit = format!(
                "UPDATE proposals SET status = 'pending', ended_by = NULL, ended_at = NULL, failure_code = NULL, \
                 failure_message = NULL, decision_reason = NULL WHERE id = '{}';",
                id(&row)
            );
            run(&app, &engine, &edit);
            assert_eq!(app.row(id(&row)).await["status"], "pending");
            let named = mismatches(&app).await;
            let heads = ("heads".to_owned(), "1".to_owned());
            assert_eq!(
                named,
                [("proposals".to_owned(), id(&row).to_owned()), heads]
            );
            let answer = app.owner().decide(&row, "approve").await;
            let error = answer.error(409, "not_on_record");
            assert_eq!(error["row"]["status"], "cancelled", "{error}");
            assert!(mismatches(&app).await.is_empty(), "the record says so now");
        }
        assert_eq!(app.lab.effect_count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_a_row_that_were_edited_are_not_approved() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        for edit in [
            "requester_name = 'somebody else'",
            "reason = 'please'",
            "reason = NULL",
            "diff = '+ nothing'",
            "expires_at = expires_at + 1000",
        ] {
            let row = app.queue("stop-a").await;
            let before = app.row(id(&row)).await;
            let sql = format!("UPDATE proposals SET {edit} WHERE id = '{}';", id(&row));
            run(&app, &engine, &sql);
            let answer = app.owner().decide(&before, "approve").await;
            assert!(answer.status >= 400, "{edit}: {}", answer.text);
            assert_eq!(app.lab.effect_count(), 0, "{edit}");
            answer.error(409, "not_on_record");
        }
    }
}

/// A yes to what the row shows now.
async fn approve_as_shown(app: &App, id: &str) -> HttpResponse {
    let shown = app.row(id).await;
    let body =
        json!({"decision": "approve", "digest": shown["digest"], "revision": shown["revision"]});
    let path = format!("/api/proposals/{id}/decide");
    app.owner().post(&path, body).await
}

/// What later requests said is on the card as well: it counts only as the record knows it.
#[tokio::test(flavor = "multi_thread")]
async fn words_that_joined_and_were_edited_are_not_approved() {
    let other = json!({"words": [{"reason": "harmless", "diff": null, "at": "2026-01-01T00:00:00.000Z"}], "left_out": 0});
    let none = json!({"words": [], "left_out": 0});
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        for (joins, edit) in [
            (true, format!("joined = '{other}'")),
            (true, format!("joined = '{none}'")),
            (true, "revision = 0".to_owned()),
            (false, format!("joined = '{other}'")),
            (false, "revision = 3".to_owned()),
        ] {
            let row = app.queue("stop-a").await;
            if joins {
                let body = json!({"reason": "the disk of alpha is wiped by it"});
                let again = app.owner().post("/api/actions/stop-a/run", body).await.ok();
                assert_eq!(again["action_row_id"], row["id"]);
            }
            let sql = format!("UPDATE proposals SET {edit} WHERE id = '{}';", id(&row));
            run(&app, &engine, &sql);
            let answer = approve_as_shown(&app, id(&row)).await;
            answer.error(409, "not_on_record");
            assert_eq!(app.lab.effect_count(), 0, "{edit}");
        }
        let row = app.queue("stop-a").await;
        let body = json!({"reason": "and it is late"});
        app.owner().post("/api/actions/stop-a/run", body).await.ok();
        approve_as_shown(&app, id(&row)).await.ok();
        assert_eq!(app.lab.effect_count(), 1, "what nobody edited");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_nobody_gave_out_are_named() {
    let session = "00000000-0000-7000-8000-000000000001";
    let passkey = "00000000-0000-7000-8000-000000000002";
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let closed = app.session().await;
        let kept = app.session().await;
        assert!(mismatches(&app).await.is_empty());
        closed.delete("/api/session").await.ok();
        assert!(mismatches(&app).await.is_empty());
        let edits = [
            "UPDATE sessions SET ended_at = NULL;".to_owned(),
            format!(
                "INSERT INTO sessions SELECT '{session}', '{}', created_at, authenticated_at, expires_at, NULL, method, device, \
                 last_seen_at FROM sessions WHERE ended_at IS NULL LIMIT 1;",
                "ab".repeat(32)
            ),
            format!(
                "INSERT INTO passkeys (id, name, relying_party, user_handle, credential_id, credential, counter, created_at) \
                 VALUES ('{passkey}', 'x', 'localhost', '{passkey}', 'x', '{{}}', 0, 0);"
            ),
            "INSERT INTO passwords (id, hash, set_at) VALUES (1, '$argon2id$x', 0);".to_owned(),
            "INSERT INTO notification_pairs (target, name, paired_at) VALUES ('telegram:666', 'x', 0);".to_owned(),
        ];
        run(&app, &engine, &edits.concat());
        let named = mismatches(&app).await;
        let tables: Vec<&str> = named.iter().map(|(table, _)| table.as_str()).collect();
        let expected = [
            "sessions",
            "sessions",
            "passkeys",
            "passwords",
            "notification_pairs",
        ];
        assert_eq!(tables, expected, "{named:?}");
        assert!(named.contains(&("sessions".to_owned(), session.to_owned())));
        assert!(named.contains(&("passkeys".to_owned(), passkey.to_owned())));
        drop(kept);
    }
}

/// Instances pass commands for nodes through the database: one that no run asks for reaches no node.
#[tokio::test(flavor = "multi_thread")]
async fn a_command_for_a_node_that_no_run_asks_for_is_not_handed_over() {
    let engine = Engine::postgres().await;
    let app = app_on(&engine).await;
    let node = app.holder("node", "n1", &[]).await;
    let poll =
        json!({"session": {"generation": 1, "nonce": "a"}, "version": "0.1.0", "wait_s": 20});
    let caller = node.caller.clone();
    let open = tokio::spawn(async move { caller.post("/api/node/poll", poll).await.ok() });
    eventually("the poll to be open", || async {
        let nodes = app.owner().get("/api/nodes").await.ok();
        (nodes["nodes"][0]["here"] == true).then_some(())
    })
    .await;
    let waiting = app.queue("stop-a").await;
    let (unknown, known) = ("01a1ebba-ad21-7823-9aac-93ae6eff0241", id(&waiting));
    let row = |id: &str, command: &str, is_run: u8, at: u32| {
        format!(
            "INSERT INTO node_errands (id, node, command, limit_ms, is_run, created_at) VALUES ('{id}', 'n1', '{command}', 60000, {is_run}, {at});"
        )
    };
    let rows = [
        row(&format!("run:{unknown}"), "scale-app v1.e30", 1, 1),
        row(&format!("run:{known}"), "stop-a v1.e30", 1, 2),
        row("anything", "stop-a v1.e30", 1, 3),
        row(&format!("void-list:{known}:1"), "stop-a v1.e30", 0, 4),
        // What only asks goes through, after all of these.
        row(&format!("void-list:{known}:2"), "void-list", 0, 5),
    ];
    run(&app, &engine, &rows.concat());
    let handed = open.await.unwrap();
    let commands: Vec<&Value> = handed["errands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|errand| &errand["command"])
        .collect();
    assert_eq!(commands, [&json!("void-list")], "{handed}");
    assert_eq!(app.audited("node.command_refused").await.len(), 4);
}

/// Two cards that wait swap the names by which the owner calls them.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_a_code_that_was_swapped_runs_nothing() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let (a, b) = (app.queue("stop-a").await, app.queue("stop-b").await);
        let code = |row: &Value| row["code"].as_str().unwrap().to_owned();
        let set = |row: &Value, code: &str| {
            format!(
                "UPDATE proposals SET code = '{code}' WHERE id = '{}';",
                id(row)
            )
        };
        let swap = [set(&a, "ZZZZ"), set(&b, &code(&a)), set(&a, &code(&b))].concat();
        run(&app, &engine, &swap);
        let named = mismatches(&app).await;
        assert_eq!(named.len(), 2, "{named:?}");
        for asked in [&a, &b] {
            let path = format!("/api/actions/pending/{}/approve", code(asked));
            app.owner()
                .post_nothing(&path)
                .await
                .error(409, "not_on_record");
        }
        assert_eq!(app.lab.effect_count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_do_not_say_what_the_record_says_are_named() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let owner = app.owner();
        let revoked = app.holder("agent", "revoked", &["act"]).await;
        let viewer = app.holder("viewer", "watcher", &[]).await;
        let raised = app.holder("agent", "raised", &["act"]).await;
        app.holder("agent", "kept", &["act"]).await;
        let moved = app.holder("agent", "moved", &[]).await;
        let lifted = app.holder("viewer", "lifted", &[]).await;
        let path = format!("/api/tokens/{}", revoked.id);
        owner.delete(&path).await.ok();
        let row = app.queue("stop-a").await;
        owner.decide(&row, "reject").await.ok();
        let ran = owner.run("touch-a").await.ok()["action_row_id"]
            .as_str()
            .unwrap()
            .to_owned();
        owner.post("/api/freeze", json!({})).await.ok();
        assert!(mismatches(&app).await.is_empty());
        let edits = [
            format!("UPDATE tokens SET revoked_at = NULL WHERE id = '{}';", revoked.id),
            format!("UPDATE tokens SET kind = 'agent' WHERE id = '{}';", viewer.id),
            // An agent is known by the id of its first token.
            format!("UPDATE agents SET capabilities = '[]' WHERE id = '{}';", raised.id),
            format!("UPDATE tokens SET capabilities = '[\"act\"]' WHERE id = '{}';", lifted.id),
            format!("UPDATE tokens SET agent_id = (SELECT id FROM agents WHERE name = 'kept') WHERE id = '{}';", moved.id),
            format!("UPDATE proposals SET status = 'expired' WHERE id = '{}';", id(&row)),
            "UPDATE proposals SET verification = 'verified', verified_at = ended_at, verification_detail = '{}' WHERE status = 'executed';".to_owned(),
            "UPDATE heads SET open_proposals = 1000000;".to_owned(),
            "UPDATE freezes SET frozen_by = NULL, frozen_at = NULL, reason = NULL, until_at = NULL;".to_owned(),
        ];
        run(&app, &engine, &edits.concat());
        let mut named = mismatches(&app).await;
        named.sort();
        let mut expected = vec![
            ("freezes".to_owned(), "1".to_owned()),
            ("heads".to_owned(), "1".to_owned()),
            ("proposals".to_owned(), id(&row).to_owned()),
            ("proposals".to_owned(), ran),
            ("tokens".to_owned(), revoked.id.clone()),
            ("tokens".to_owned(), viewer.id.clone()),
            ("agents".to_owned(), raised.id.clone()),
            ("tokens".to_owned(), lifted.id.clone()),
            // Whose token it is, and that its own agent has none any more.
            ("tokens".to_owned(), moved.id.clone()),
            ("agents".to_owned(), moved.id.clone()),
            // It is withdrawn, and its token is live again.
            ("agents".to_owned(), revoked.id.clone()),
        ];
        expected.sort();
        assert_eq!(named, expected);
        // Freezing again by hand is a remedy, and the record says the same again.
        owner.post("/api/freeze", json!({})).await.ok();
        assert!(
            !mismatches(&app)
                .await
                .iter()
                .any(|(table, _)| table == "freezes")
        );
    }
}

/// Asking and withdrawing over and over left the whole text in the record, for good.
#[tokio::test(flavor = "multi_thread")]
async fn the_record_keeps_how_long_words_begin_and_their_digest() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let (reason, diff) = ("ré".repeat(1_300), "+ d\n".repeat(4_000));
        let body = json!({"reason": reason, "diff": diff});
        let ask = async || {
            let asked = app
                .owner()
                .post("/api/actions/stop-a/run", body.clone())
                .await
                .ok();
            app.row(asked["action_row_id"].as_str().unwrap()).await
        };
        let row = ask().await;
        assert_eq!(row["reason"], json!(reason), "the row has all of it");
        let path = format!("/api/proposals/{}/cancel", id(&row));
        app.owner().post_nothing(&path).await.ok();
        let about = |entry: &&void_domain::facts::Fact| entry.subject.as_deref() == Some(id(&row));
        let entries = app.audit().await;
        let kept: usize = entries
            .iter()
            .filter(about)
            .map(|entry| entry.detail.len())
            .sum();
        assert!(
            kept < 4_096,
            "{kept} bytes of one request that was withdrawn"
        );
        let created = entries.iter().find(about).unwrap();
        let detail: Value = serde_json::from_str(&created.detail).unwrap();
        let sha256 = |text: &str| void_domain::digests::Digest::of(text.as_bytes()).to_string();
        for (name, text) in [("reason", &reason), ("diff", &diff)] {
            let begin: String = text.chars().take(200).collect();
            assert_eq!(detail[name], json!(begin));
            let cut = &detail[format!("{name}_cut")];
            assert_eq!(cut, &json!({"bytes": text.len(), "sha256": sha256(text)}));
        }
        // What is cut in the record is approved all the same, and what is short is there whole.
        let row = ask().await;
        app.owner().decide(&row, "approve").await.ok();
        let row = app.queue("stop-b").await;
        let entries = app.audit().await;
        let created = entries
            .iter()
            .find(|entry| entry.subject.as_deref() == Some(id(&row)));
        let detail: Value = serde_json::from_str(&created.unwrap().detail).unwrap();
        assert_eq!(
            (&detail["reason"], &detail["reason_cut"]),
            (&json!("a test"), &Value::Null)
        );
    }
}

/// Dated by a wrong clock or by hand, a proof of the future would be fresh until then.
#[tokio::test(flavor = "multi_thread")]
async fn a_proof_of_the_future_approves_nothing_critical() {
    for engine in Engine::both().await {
        let app = app_on(&engine).await;
        let session = app.session().await;
        let row = app.queue("stop-all").await;
        run(
            &app,
            &engine,
            "UPDATE sessions SET authenticated_at = authenticated_at + 60000;",
        );
        session
            .decide(&row, "approve")
            .await
            .error(403, "fresh_login_needed");
        session
            .post_nothing("/api/setup-links")
            .await
            .error(403, "fresh_login_needed");
        assert_eq!(app.lab.effect_count(), 0);
        let proof = json!({"token": app.owner_token()});
        session.post("/api/session/confirm", proof).await.ok();
        let ran = session.decide(&row, "approve").await.ok();
        assert_eq!(ran["status"], "executed", "{ran}");
    }
}
