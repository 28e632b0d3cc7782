//! Callers that are remembered: whatever is taken from them holds for their very next request, whoever took it and
//! however.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use void_control::Clock;

use crate::apps::{App, Engine, Setup};
use crate::callers::Caller;
use crate::forgeries::run;
use crate::stands::{Stand, services};

/// Asks twice, so that a server that remembers does.
async fn is_known(caller: &Caller) {
    for _ in 0..2 {
        caller.get("/api/actions").await.ok();
    }
}

async fn is_nobody(caller: &Caller) {
    for _ in 0..2 {
        let answer = caller.get("/api/actions").await;
        answer.error(401, "unauthenticated");
    }
}

async fn revoke(app: &App, id: &str) {
    let answer = app.owner().delete(&format!("/api/tokens/{id}")).await;
    assert!(answer.status < 300, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_nobodys_in_the_very_next_request() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        for round in 0..10 {
            let holder = app.holder("viewer", &format!("tv-{round}"), &[]).await;
            let other = app.holder("viewer", &format!("pc-{round}"), &[]).await;
            is_known(&holder.caller).await;
            is_known(&other.caller).await;
            revoke(&app, &holder.id).await;
            is_nobody(&holder.caller).await;
            is_known(&other.caller).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_instance_revokes_is_nobodys_on_the_other() {
    let engine = Engine::postgres().await;
    let lab = Arc::new(crate::labs::Lab::new());
    let instance = |name| Setup {
        instance: Some(name),
        engine: engine.clone(),
        lab: Arc::clone(&lab),
        owner_token: "the-owner-of-two-instances-0123456789".to_owned(),
        ..Setup::default()
    };
    let (here, there) = (
        instance("alpha").start().await,
        instance("beta").start().await,
    );
    for round in 0..10 {
        let holder = here.holder("viewer", &format!("tv-{round}"), &[]).await;
        let on_the_other = there.caller(holder.caller.shows.clone());
        is_known(&holder.caller).await;
        is_known(&on_the_other).await;
        revoke(&here, &holder.id).await;
        is_nobody(&on_the_other).await;
        is_nobody(&holder.caller).await;
    }
}

/// Behind the server's back, where nothing tells it.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_somebody_edits_counts_at_once() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        let edits = [
            "UPDATE tokens SET revoked_at = 1 WHERE id = '{id}'",
            "DELETE FROM tokens WHERE id = '{id}'",
            "UPDATE tokens SET hash = '00ff00ff' || substr(hash, 9) WHERE id = '{id}'",
            "INSERT INTO quarantine (kind, id, since_at) VALUES ('token', '{id}', 1)",
        ];
        for (number, edit) in edits.into_iter().enumerate() {
            let holder = app.holder("viewer", &format!("tv-{number}"), &[]).await;
            is_known(&holder.caller).await;
            run(&app, &engine, &edit.replace("{id}", &holder.id));
            is_nobody(&holder.caller).await;
        }
        let holder = app.holder("agent", "red", &["read", "act"]).await;
        is_known(&holder.caller).await;
        run(
            &app,
            &engine,
            "UPDATE agents SET capabilities = '[\"act\"]' WHERE name = 'red'",
        );
        let run_it = holder.caller.get("/api/actions").await;
        assert_eq!(run_it.status, 200, "it may still act, and so look");
        run(
            &app,
            &engine,
            "UPDATE agents SET capabilities = '[]' WHERE name = 'red'",
        );
        let refused = holder.caller.get("/api/actions").await;
        refused.error(403, "forbidden");
        run(
            &app,
            &engine,
            "UPDATE agents SET capabilities = '[\"read\"]', withdrawn_at = 1 WHERE name = 'red'",
        );
        is_nobody(&holder.caller).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ended_or_is_over_is_not_remembered() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        let session = app.session().await;
        is_known(&session).await;
        run(&app, &engine, "UPDATE sessions SET ended_at = 1");
        is_nobody(&session).await;
    }
    let app = App::with_clock().await;
    let session = app.session().await;
    is_known(&session).await;
    // Nothing is committed: time alone ends it.
    app.pass(Duration::from_secs(91 * 24 * 60 * 60));
    is_nobody(&session).await;
}

/// The freeze is told as it stands, also when somebody else's hand moved it.
#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_that_somebody_writes_is_told_at_once() {
    for engine in Engine::both().await {
        let mut app = App::on(engine.clone()).await;
        app.looks_back = false;
        let owner = app.owner();
        for _ in 0..2 {
            let frozen = owner.get("/api/freeze").await.ok();
            assert_eq!(frozen["frozen"], json!(false), "{frozen}");
        }
        run(
            &app,
            &engine,
            "UPDATE freezes SET frozen_by = 'somebody', frozen_at = 1 WHERE id = 1",
        );
        let frozen = owner.get("/api/freeze").await.ok();
        assert_eq!(frozen["frozen"], json!(true), "{frozen}");
    }
}

/// What Home and the summary are made of is read once until anybody commits, and never shown longer than it is true.
#[tokio::test(flavor = "multi_thread")]
async fn home_is_told_as_the_tables_are_now() {
    for engine in Engine::both().await {
        let setup = Setup {
            engine: engine.clone(),
            services: services(&[Stand::down().service("web")]),
            ..Setup::default()
        };
        let mut app = setup.start().await;
        app.looks_back = false;
        let owner = app.owner();
        let muted = json!({"service": "web", "reason": "being rebuilt", "for_s": 3_600});
        owner.post("/api/mutes", muted).await.ok();
        let ran = owner.run("touch-a").await.ok();
        assert_eq!(ran["executed"], json!(true), "{ran}");
        for _ in 0..2 {
            let home = owner.get("/api/home").await.ok();
            assert_eq!(home["mutes"][0]["reason"], "being rebuilt");
            assert_eq!(home["recent"][0]["reason"], json!(null), "{home}");
            assert_eq!(home["status"]["quarantined"], 0);
            assert_eq!(home["setup"]["decided_once"], json!(false));
        }
        let edits = [
            (
                "UPDATE mutes SET reason = 'no reason'",
                "/mutes/0/reason",
                json!("no reason"),
            ),
            (
                "UPDATE mutes SET ended_at = 1, ended_by = 'owner-cli'",
                "/status/mutes",
                json!(0),
            ),
            (
                "UPDATE proposals SET reason = 'edited'",
                "/recent/0/reason",
                json!("edited"),
            ),
            (
                "INSERT INTO quarantine (kind, id, since_at) VALUES ('token', 'x', 1)",
                "/status/quarantined",
                json!(1),
            ),
            (
                "UPDATE freezes SET frozen_by = 'somebody', frozen_at = 1 WHERE id = 1",
                "/status/frozen",
                json!(true),
            ),
            ("DELETE FROM quarantine", "/status/quarantined", json!(0)),
        ];
        for (edit, at, expected) in edits {
            run(&app, &engine, edit);
            for _ in 0..2 {
                let home = owner.get("/api/home").await.ok();
                assert_eq!(home.pointer(at), Some(&expected), "{edit}: {home}");
            }
        }
        let status = owner.get("/api/status").await.ok();
        assert_eq!(
            (&status["mutes"], &status["frozen"]),
            (&json!(0), &json!(true))
        );
    }
}

/// That a mute ends is no commit: time alone ends it.
#[tokio::test(flavor = "multi_thread")]
async fn a_mute_that_is_over_is_not_remembered() {
    let setup = Setup {
        clock: Clock::manual(Clock::system().now()),
        services: services(&[Stand::down().service("web")]),
        ..Setup::default()
    };
    let app = setup.start().await;
    let session = app.session().await;
    let muted = json!({"service": "web", "reason": "being rebuilt", "for_s": 3_600});
    app.owner().post("/api/mutes", muted).await.ok();
    for _ in 0..2 {
        let home = session.get("/api/home").await.ok();
        assert_eq!(
            (
                &home["status"]["mutes"],
                home["mutes"].as_array().unwrap().len()
            ),
            (&json!(1), 1)
        );
    }
    app.pass(Duration::from_secs(3_601));
    let home = session.get("/api/home").await.ok();
    assert_eq!(
        (&home["status"]["mutes"], &home["mutes"]),
        (&json!(0), &json!([]))
    );
}
