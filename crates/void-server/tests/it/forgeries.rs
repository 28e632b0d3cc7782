//! Rows that somebody put into the database behind Void's back: they are named, they are nobody's
//! entries, and they stop nothing. And a database that hangs is not called ready.

use serde_json::{Value, json};
use void_domain::events::Audience;
use void_domain::facts::{Fact, NewFact};
use void_domain::time::Timestamp;
use void_store::{StoreError, facts};
use void_testkit::{eventually, postgres_run};

use crate::apps::{App, Engine};
use crate::sse::Listener;

/// Runs SQL behind the server's back.
pub fn run(app: &App, engine: &Engine, sql: &str) {
    match engine {
        Engine::Sqlite => {
            let file = rusqlite::Connection::open(app.lab.path().join("void.db")).unwrap();
            file.execute_batch(sql).unwrap();
        }
        Engine::Postgres(url) => {
            let (url, sql) = (url.clone(), sql.to_owned());
            tokio::task::block_in_place(|| postgres_run(&url, &sql));
        }
    }
}

/// A row at `seq`, as a good entry after `prev` or with a hash of its own.
fn forged(seq: u64, prev: &str, is_sealed: bool) -> String {
    let draft = NewFact {
        request_id: None,
        actor: "owner-cli".into(),
        verb: "proposal.approved",
        subject: None,
        detail: json!({}),
        catalogue: None,
        audience: None,
    };
    let prev = prev.parse().unwrap();
    let entry = Fact::seal(draft, seq, Timestamp::from_ms(0), prev).unwrap();
    let hash = if is_sealed {
        entry.hash.to_string()
    } else {
        "ab".repeat(32)
    };
    format!(
        "INSERT INTO facts (seq, at, actor, verb, detail, prev, hash) VALUES ({seq}, 0, 'owner-cli', 'proposal.approved', '{{}}', '{}', '{hash}');",
        entry.prev
    )
}

async fn verdict(app: &App) -> Value {
    app.owner().get("/api/audit-verify").await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_beyond_the_head_is_damage_no_entry_and_stops_nothing() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let owner = app.owner();
        let mut aside = 0;
        for (ahead, is_sealed) in [1, 1, 1, 2, 2, 5, 5]
            .into_iter()
            .zip([true, false].into_iter().cycle())
        {
            let (seq, hash) = app.audit_head().await;
            run(&app, &engine, &forged(seq + ahead, &hash, is_sealed));
            let found = verdict(&app).await;
            assert_eq!(found["intact"], false, "{found}");
            assert_eq!(found["problem"]["seq"], seq + ahead);
            assert!(
                found["problem"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("beyond the head")
            );
            let newest = owner.get("/api/audit?limit=1").await.ok();
            assert_eq!(newest["entries"][0]["seq"], seq, "it is in no list");
            owner
                .get(&format!("/api/audit/{}", seq + ahead))
                .await
                .error(404, "not_found");
            let export = owner.get("/api/audit-export").await.text;
            assert_eq!(export.lines().count() as u64, seq);
            // The record goes on through its place, and so does the freeze.
            for _ in 0..=ahead {
                owner.post("/api/freeze", json!({})).await.ok();
                owner.delete("/api/freeze").await.ok();
            }
            aside += 1;
            let mended = verdict(&app).await;
            assert_eq!(
                (&mended["intact"], &mended["set_aside"]),
                (&json!(true), &json!(aside))
            );
            let noted = app.audited("audit.strays_set_aside").await;
            assert_eq!(noted.len(), aside);
            let detail: Value = serde_json::from_str(&noted[aside - 1].detail).unwrap();
            assert_eq!(
                detail,
                json!({"rows": 1, "first": seq + ahead, "last": seq + ahead})
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_is_named_and_the_freeze_works() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let owner = app.owner();
        for _ in 0..5 {
            owner.post("/api/freeze", json!({})).await.ok();
            owner.delete("/api/freeze").await.ok();
        }
        let no_hash = "z".repeat(64);
        let unreadable = format!("UPDATE facts SET hash = '{no_hash}' WHERE seq = 3;");
        for (damage, mend, at) in [
            (
                "UPDATE facts SET actor = actor || 'x' WHERE seq = 4;",
                "UPDATE facts SET actor = substr(actor, 1, length(actor) - 1) WHERE seq = 4;",
                4,
            ),
            (
                unreadable.as_str(),
                "UPDATE facts SET hash = (SELECT next.prev FROM facts AS next WHERE next.seq = 4) WHERE seq = 3;",
                3,
            ),
            (
                "CREATE TABLE kept AS SELECT * FROM facts WHERE seq = 5; DELETE FROM facts WHERE seq = 5;",
                "INSERT INTO facts SELECT * FROM kept; DROP TABLE kept;",
                5,
            ),
        ] {
            run(&app, &engine, damage);
            let found = verdict(&app).await;
            let named = (&found["intact"], &found["problem"]["seq"]);
            assert_eq!(named, (&json!(false), &json!(at)), "{damage}: {found}");
            owner.get("/api/audit?limit=100").await.ok();
            owner.post("/api/freeze", json!({})).await.ok();
            owner.run("touch-a").await.error(409, "frozen");
            owner.delete("/api/freeze").await.ok();
            run(&app, &engine, mend);
            assert_eq!(verdict(&app).await["intact"], true, "{mend}");
        }
    }
}

/// The head alone is moved back: what is beyond it is kept aside, and the record goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_was_moved_back_is_a_rollback_and_the_freeze_holds() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let owner = app.owner();
        for _ in 0..3 {
            owner.post("/api/freeze", json!({})).await.ok();
            owner.delete("/api/freeze").await.ok();
        }
        let back = app.audit_head().await.0 - 3;
        run(
            &app,
            &engine,
            &format!(
                "UPDATE heads SET audit_seq = {back}, audit_hash = (SELECT hash FROM facts WHERE seq = {back});"
            ),
        );
        // The first write may be the one that notices it.
        let noticed = owner.post("/api/freeze", json!({})).await.status;
        assert!([200, 409].contains(&noticed), "{noticed}");
        eventually("everything to be frozen", || async {
            let freeze = owner.get("/api/freeze").await.ok();
            (freeze["frozen"] == true).then_some(())
        })
        .await;
        owner.run("touch-a").await.error(409, "frozen");
        let after = verdict(&app).await;
        let found = (&after["intact"], &after["set_aside"]);
        assert_eq!(found, (&json!(true), &json!(3)));
    }
}

/// A newer instance beside this one writes kinds and audiences that this one does not know.
/// A correct entry that somebody else wrote says yes for the owner. One process has a file, and knows what it wrote.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_was_appended_under_a_running_server_decides_nothing() {
    let engine = Engine::Sqlite;
    let mut app = App::on(engine.clone()).await;
    app.looks_back = false;
    let row = app.queue("stop-a").await;
    let head = app
        .audit()
        .await
        .into_iter()
        .max_by_key(|entry| entry.seq)
        .unwrap();
    let created: Value = serde_json::from_str(&head.detail).unwrap();
    let mut detail = created.clone();
    for gone in ["reason", "taint", "expires_at"] {
        detail.as_object_mut().unwrap().remove(gone);
    }
    detail["status"] = json!("approved");
    detail["approved_by"] = json!("owner-cli");
    let mut forged = Fact {
        seq: head.seq + 1,
        actor: "owner-cli".to_owned(),
        verb: "proposal.approved".to_owned(),
        detail: void_domain::canonical::to_canonical(&detail).unwrap(),
        prev: head.hash,
        ..head
    };
    forged.hash = forged.computed_hash();
    let quoted = |text: &str| text.replace('\'', "''");
    let sql = format!(
        "BEGIN IMMEDIATE; INSERT INTO facts (seq, at, request_id, actor, verb, subject, detail, catalogue, prev, hash) \
         SELECT seq + 1, at, request_id, 'owner-cli', 'proposal.approved', subject, '{}', catalogue, hash, '{}' FROM facts \
         WHERE seq = {}; UPDATE heads SET audit_seq = {}, audit_hash = '{}'; \
         UPDATE proposals SET status = 'approved', approved_by = 'owner-cli', approved_at = created_at WHERE id = '{}'; COMMIT;",
        quoted(&forged.detail),
        forged.hash,
        forged.seq - 1,
        forged.seq,
        forged.hash,
        row["id"].as_str().unwrap()
    );
    run(&app, &engine, &sql);
    eventually("it to be answered", || async {
        let freeze = app.owner().get("/api/freeze").await.ok();
        let why = freeze["reason"].as_str().unwrap_or_default().to_owned();
        why.contains("changed by somebody else").then_some(())
    })
    .await;
    eventually("it to be void", || async {
        let row = app.row(row["id"].as_str().unwrap()).await;
        (row["status"] == "cancelled").then_some(())
    })
    .await;
    assert_eq!(app.lab.effect_count(), 0);
}

/// It refuses the freeze, or undoes it; nothing starts all the same, and it is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_that_refuses_or_undoes_the_freeze_starts_nothing() {
    for undoes in [false, true] {
        for engine in Engine::both().await {
            let mut app = App::on(engine.clone()).await;
            app.looks_back = false;
            let create = match (&engine, undoes) {
                (Engine::Sqlite, false) => {
                    "CREATE TRIGGER odd BEFORE UPDATE ON freezes BEGIN SELECT RAISE(ABORT, 'no'); END;"
                }
                (Engine::Sqlite, true) => {
                    "CREATE TRIGGER odd AFTER UPDATE ON freezes WHEN new.frozen_by IS NOT NULL BEGIN \
                     UPDATE freezes SET frozen_by = NULL, frozen_at = NULL, reason = NULL, until_at = NULL; END;"
                }
                (Engine::Postgres(_), false) => {
                    "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; \
                     CREATE TRIGGER odd BEFORE UPDATE ON freezes EXECUTE FUNCTION odd();"
                }
                (Engine::Postgres(_), true) => {
                    "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.frozen_by := NULL; \
                     NEW.frozen_at := NULL; NEW.reason := NULL; NEW.until_at := NULL; RETURN NEW; END $$; \
                     CREATE TRIGGER odd BEFORE UPDATE ON freezes FOR EACH ROW EXECUTE FUNCTION odd();"
                }
            };
            let waits = app.owner().run("stop-a").await.json();
            run(&app, &engine, create);
            let refused = app
                .owner()
                .post("/api/freeze", json!({"reason": "a test"}))
                .await;
            assert!(refused.status >= 500, "{}", refused.text);
            assert!(
                refused.text.contains("nothing new starts here"),
                "{}",
                refused.text
            );
            let ran = app.owner().run("touch-a").await;
            assert!(!ran.text.contains("\"executed\":true"), "{}", ran.text);
            assert_eq!(app.lab.effect_count(), 0);
            an_unrecorded_freeze_is_shown_and_refuses_a_yes(&app, &waits).await;
            let verdict = verdict(&app).await;
            assert_eq!(verdict["mismatches"][0]["table"], "schema", "{verdict}");
            assert_eq!(verdict["mismatches"][0]["id"], "odd", "{verdict}");
            let drop = match &engine {
                Engine::Sqlite => "DROP TRIGGER odd;",
                Engine::Postgres(_) => "DROP TRIGGER odd ON freezes; DROP FUNCTION odd();",
            };
            run(&app, &engine, drop);
            app.owner().post("/api/freeze", json!({})).await.ok();
            app.owner().delete("/api/freeze").await.ok();
            eventually("it to go on", || async {
                let answer = app.owner().run("touch-a").await.json();
                (answer["executed"] == true).then_some(())
            })
            .await;
        }
    }
}

/// What holds is what everybody is shown, on the record or not, and a yes is refused before it counts.
async fn an_unrecorded_freeze_is_shown_and_refuses_a_yes(app: &App, waits: &Value) {
    let id = waits["action_row_id"].as_str().unwrap();
    for (path, prefix) in [("/api/freeze", ""), ("/api/status", "frozen_")] {
        let shown = app.owner().get(path).await.ok();
        assert_eq!(shown["frozen"], true, "{shown}");
        assert_eq!(shown[format!("{prefix}by")], "owner-api", "{shown}");
        let why = shown[format!("{prefix}reason")]
            .as_str()
            .unwrap_or_default();
        assert!(
            why.contains("could not be recorded") && why.contains("a test"),
            "{shown}"
        );
    }
    let row = app.row(id).await;
    let yes = json!({"decision": "approve", "digest": row["digest"]});
    let told = app
        .owner()
        .post(&format!("/api/proposals/{id}/decide"), yes)
        .await;
    assert_eq!(told.status, 409, "{}", told.text);
    assert_eq!(told.json()["error"]["code"], "frozen", "{}", told.text);
    assert_eq!(app.row(id).await["status"], "pending");
}

/// More than one page of entries whose verb or audience is none of ours.
async fn write_newer(app: &App, engine: &Engine) {
    let at = app.control.clock().now();
    let written: Result<(), StoreError> = app
        .store
        .write(move |tx| {
            Box::pin(async move {
                for n in 0..450 {
                    let entry = NewFact {
                        request_id: None,
                        actor: "system".to_owned(),
                        verb: if n % 2 == 0 {
                            "page.changed"
                        } else {
                            "proposal.created"
                        },
                        subject: None,
                        detail: json!({}),
                        catalogue: None,
                        audience: (n % 2 == 0).then_some(Audience::Everyone),
                    };
                    facts::append(tx, at, entry).await?;
                }
                Ok(())
            })
        })
        .await;
    written.unwrap();
    let committee = "UPDATE facts SET audience = 'committee' WHERE verb = 'proposal.created' AND subject IS NULL;";
    run(app, engine, committee);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_a_newer_version_is_passed_over_and_the_stream_goes_on() {
    for engine in Engine::both().await {
        let app = App::on(engine.clone()).await;
        let mut listener = Listener::open(&app.owner()).await;
        let first = app.queue("stop-a").await;
        let before = listener.next().await.unwrap().seq;
        write_newer(&app, &engine).await;
        // Whoever waits for the end of a run is woken by what comes behind them.
        let ran = app.owner().decide(&first, "approve").await.ok();
        assert_eq!(ran["status"], "executed");
        let heard = listener.next().await.unwrap();
        assert_eq!(
            (heard.event.as_str(), heard.seq),
            ("proposal.approved", before + 451)
        );
        // Also for whoever comes later and reads from the table.
        let mut late = Listener::after(&app.owner(), before).await;
        assert_eq!(late.next().await.unwrap().seq, before + 451);
        // A row beyond the head is nobody's event, and stops no write.
        let last = app.audit_head().await.0;
        let zeros = "0".repeat(64);
        run(
            &app,
            &engine,
            &format!(
                "INSERT INTO facts (seq, at, actor, verb, detail, prev, hash, audience) \
                 VALUES ({}, 0, 'owner-cli', 'freeze.lifted', '{{\"frozen\":false}}', '{zeros}', '{zeros}', 'everyone');",
                last + 1
            ),
        );
        app.queue("stop-b").await;
        let created = listener.wait_for("proposal.created").await;
        assert_eq!(
            created.seq,
            last + 2,
            "after the note of what was set aside"
        );
        assert_eq!(app.audited("audit.strays_set_aside").await.len(), 1);
        // The harness asks for an event of every entry with an audience, and these are of another version.
        run(
            &app,
            &engine,
            "UPDATE facts SET audience = NULL WHERE subject IS NULL;",
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_write_is_not_ready() {
    let engine = Engine::postgres().await;
    let app = App::on(engine.clone()).await;
    app.anonymous().get("/readyz").await.ok();
    let Engine::Postgres(url) = &engine else {
        unreachable!()
    };
    let url = url.clone();
    let holding = std::thread::spawn(move || {
        postgres_run(
            &url,
            "BEGIN; SELECT 1 FROM heads FOR UPDATE; SELECT pg_sleep(12)",
        )
    });
    eventually("it to be seen", || async {
        let begun = std::time::Instant::now();
        let answer = app.anonymous().get("/readyz").await;
        assert!(begun.elapsed() < void_control::readiness::READY_WITHIN * 2);
        (answer.status == 503).then_some(())
    })
    .await;
    assert_eq!(app.anonymous().get("/healthz").await.status, 200);
    tokio::task::spawn_blocking(move || holding.join().unwrap())
        .await
        .unwrap();
    eventually("it to be over", || async {
        (app.anonymous().get("/readyz").await.status == 200).then_some(())
    })
    .await;
}
