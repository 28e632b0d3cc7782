//! `/api/proposals`

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use void_channels::{Channel, Evidence, Outcome};
use void_domain::executions::Execution;
use void_domain::failures::FailureCode;
use void_domain::permits::{Permit, Ticket};
use void_domain::proposals::Failure;
use void_store::BoxFuture;

use super::actions::assert_row;
use crate::apps::{App, Engine, Setup, queue};
use crate::masks::members;

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paged_and_filtered_and_an_agent_sees_its_own() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let (blue, red) = (app.agent("blue").await, app.agent("red").await);
        let viewer = app.holder("viewer", "v", &[]).await.caller;
        let mut expected: Vec<Value> = Vec::new();
        for replicas in 0..7 {
            let body = json!({"params": {"replicas": replicas, "zone": "north", "image": "a"}});
            let caller = if replicas % 2 == 0 { &blue } else { &red };
            let queued = caller.post("/api/actions/scale-a/run", body).await.ok();
            expected.push(queued["action_row_id"].clone());
        }
        owner
            .decide(&app.row(expected[3].as_str().unwrap()).await, "reject")
            .await
            .ok();
        expected.reverse();
        let ids = |page: &Value| -> Vec<Value> {
            let rows = page["proposals"].as_array().unwrap();
            rows.iter().map(|row| row["id"].clone()).collect()
        };
        for caller in [&owner, &viewer] {
            let all = caller.get("/api/proposals").await.ok();
            assert_eq!(members(&all), ["next", "proposals"]);
            assert_eq!((ids(&all), &all["next"]), (expected.clone(), &Value::Null));
            all["proposals"]
                .as_array()
                .unwrap()
                .iter()
                .for_each(assert_row);
            let (mut seen, mut path) = (Vec::new(), "/api/proposals?limit=3".to_owned());
            loop {
                let page = caller.get(&path).await.ok();
                seen.extend(ids(&page));
                let Some(next) = page["next"].as_str() else {
                    break;
                };
                path = format!("/api/proposals?limit=3&cursor={next}");
            }
            assert_eq!(seen, expected);
        }
        let pending = owner
            .get("/api/proposals?status=pending&limit=500")
            .await
            .ok();
        assert_eq!(ids(&pending).len(), 6);
        let rejected = owner.get("/api/proposals?status=rejected").await.ok();
        assert_eq!(ids(&rejected), [expected[3].clone()]);
        assert_eq!(ids(&blue.get("/api/proposals").await.ok()).len(), 4);
        let own = red.get("/api/proposals?status=pending").await.ok();
        assert_eq!(ids(&own), [expected[1].clone(), expected[5].clone()]);
        for (query, field) in [
            ("status=open", "status"),
            ("status=", "status"),
            ("cursor=x", "cursor"),
            ("limit=0", "limit"),
            ("limit=501", "limit"),
            ("limit=-1", "limit"),
            ("limit=x", "limit"),
            ("limit=1&limit=2", "query"),
            ("page=1", "query"),
            ("status=%00", "query"),
        ] {
            let answer = owner.get(&format!("/api/proposals?{query}")).await;
            let error = answer.error(422, "invalid");
            assert_eq!(members(&error["fields"]), [field], "{query}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_found_by_id_and_by_the_code_that_people_say() {
    let app = App::start().await;
    let (owner, blue, red) = (app.owner(), app.agent("blue").await, app.agent("red").await);
    let row = queue(&blue, "stop-a").await;
    let (id, code) = (row["id"].as_str().unwrap(), row["code"].as_str().unwrap());
    assert_row(&row);
    let said = code.to_lowercase().replace('0', "o").replace('1', "l");
    for key in [id, code, said.as_str()] {
        let path = format!("/api/proposals/{key}");
        assert_eq!(owner.get(&path).await.ok(), row, "{key}");
        assert_eq!(blue.get(&path).await.ok(), row, "{key}");
        // To somebody else's agent it does not exist, and the answer is the one about nothing.
        let hidden = red.get(&path).await.error(404, "not_found");
        let nothing = red
            .get("/api/proposals/ZZZZZZ")
            .await
            .error(404, "not_found");
        assert_eq!(hidden, nothing);
    }
    for key in [
        "x",
        "%00",
        "..",
        id.to_uppercase().as_str(),
        "0000000000000",
    ] {
        owner
            .get(&format!("/api/proposals/{key}"))
            .await
            .error(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_binds_the_digest_that_was_seen() {
    let app = App::start().await;
    let (owner, session) = (app.owner(), app.session().await);
    let row = app.queue("stop-a").await;
    let path = format!("/api/proposals/{}/decide", row["id"].as_str().unwrap());
    for (body, field) in [
        (json!({}), "decision"),
        (
            json!({"decision": "maybe", "digest": row["digest"]}),
            "body",
        ),
        (
            json!({"decision": "Approve", "digest": row["digest"]}),
            "body",
        ),
        (json!({"decision": "approve"}), "digest"),
        (json!({"decision": "reject"}), "digest"),
        (json!({"decision": "approve", "digest": "abc"}), "digest"),
        (
            json!({"decision": "approve", "digest": row["digest"].as_str().unwrap().to_uppercase()}),
            "digest",
        ),
        (json!({"decision": "approve", "digest": null}), "digest"),
        (
            json!({"decision": ["approve"], "digest": row["digest"]}),
            "body",
        ),
    ] {
        for caller in [&owner, &session] {
            let error = caller.post(&path, body.clone()).await.error(422, "invalid");
            assert_eq!(members(&error["fields"]), [field], "{body}");
        }
    }
    for decision in ["approve", "reject"] {
        let body = json!({"decision": decision, "digest": "0".repeat(64)});
        let error = owner.post(&path, body).await.error(409, "changed");
        assert_eq!(error["row"], row);
    }
    // The source documents' routes: without a digest only the owner's bearer, and never for critical.
    let seeds = |verb: &str| {
        format!(
            "/api/actions/pending/{}/{verb}",
            row["id"].as_str().unwrap()
        )
    };
    for verb in ["approve", "reject"] {
        let error = session
            .post_nothing(&seeds(verb))
            .await
            .error(422, "invalid");
        assert_eq!(members(&error["fields"]), ["digest"]);
        let wrong = json!({"digest": "0".repeat(64)});
        owner.post(&seeds(verb), wrong).await.error(409, "changed");
    }
    let critical = app.queue("stop-all").await;
    let by_critical = format!(
        "/api/actions/pending/{}/approve",
        critical["id"].as_str().unwrap()
    );
    owner.post_nothing(&by_critical).await.error(422, "invalid");
    assert_eq!(app.row(row["id"].as_str().unwrap()).await, row);
    assert_eq!(app.lab.effect_count(), 0);
    assert_eq!(
        owner.post_nothing(&seeds("approve")).await.ok()["status"],
        "executed"
    );
    let critical = owner
        .post(&by_critical, json!({"digest": critical["digest"]}))
        .await
        .ok();
    assert_eq!(critical["status"], "executed");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_decision_is_told_about_the_first() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, session) = (app.owner(), app.session().await);
        let row = app.queue("stop-a").await;
        let first = session.decide(&row, "approve").await.ok();
        assert_row(&first);
        let at = first["transitions"][1]["at"].as_str().unwrap();
        for decision in ["approve", "reject"] {
            let error = owner
                .decide(&row, decision)
                .await
                .error(409, "already_decided");
            assert_eq!(
                error["message"],
                format!("already approved by owner (web) at {at}")
            );
            assert_eq!(error["row"], first);
        }
        let row = app.queue("stop-b").await;
        let first = owner.decide(&row, "reject").await.ok();
        let error = session
            .decide(&row, "approve")
            .await
            .error(409, "already_decided");
        let at = first["resolved_at"].as_str().unwrap();
        assert_eq!(
            error["message"],
            format!("already rejected by owner (API) at {at}")
        );
        assert_eq!(error["row"], first);
        assert_eq!(app.audited("decision.refused").await.len(), 3);
        assert_eq!(app.lab.effects(), [("stop-a".to_owned(), 1)].into());
    }
}

/// Critical in the browser: only shortly after logging in.
#[tokio::test(flavor = "multi_thread")]
async fn a_critical_approval_in_the_browser_needs_a_fresh_login() {
    let app = App::with_clock().await;
    let old = app.session().await;
    app.pass(Duration::from_secs(5 * 60 + 1));
    let (guarded, critical) = (app.queue("stop-a").await, app.queue("stop-all").await);
    let error = old
        .decide(&critical, "approve")
        .await
        .error(403, "fresh_login_needed");
    assert_eq!(
        error["hint"],
        "confirm that it is you, then try again within 5 minutes"
    );
    assert_eq!(
        old.decide(&guarded, "approve").await.ok()["status"],
        "executed"
    );
    assert_eq!(app.lab.effect_count(), 1);
    let fresh = app.session().await;
    assert_eq!(
        fresh.decide(&critical, "approve").await.ok()["status"],
        "executed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn time_ends_what_nobody_decided() {
    let app = App::with_clock().await;
    let owner = app.owner();
    let row = app.queue("brief-stop").await;
    app.pass(Duration::from_secs(61));
    let error = owner.decide(&row, "approve").await.error(409, "expired");
    assert_row(&error["row"]);
    assert_eq!(error["row"]["status"], "expired");
    owner.decide(&row, "reject").await.error(409, "expired");
    // One that nobody touches expires by itself, and a new request does not join it.
    let row = app.queue("brief-stop").await;
    app.pass(Duration::from_secs(61));
    assert_eq!(
        app.ended(row["id"].as_str().unwrap()).await["status"],
        "expired"
    );
    let newer = app.queue("brief-stop").await;
    assert_ne!(newer["id"], row["id"]);
    assert_eq!(app.lab.effect_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_is_withdrawn_by_who_made_it_or_by_the_owner() {
    let app = App::start().await;
    let (owner, blue, red) = (app.owner(), app.agent("blue").await, app.agent("red").await);
    let cancel = |row: &Value| format!("/api/proposals/{}/cancel", row["id"].as_str().unwrap());
    let row = queue(&blue, "stop-a").await;
    red.post_nothing(&cancel(&row))
        .await
        .error(404, "not_found");
    let cancelled = blue.post_nothing(&cancel(&row)).await.ok();
    assert_row(&cancelled);
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(
        cancelled["error"],
        json!({"code": "withdrawn", "message": "withdrawn before it started"})
    );
    let again = blue
        .post_nothing(&cancel(&row))
        .await
        .error(409, "already_decided");
    assert_eq!(again["row"], cancelled);
    let error = owner
        .decide(&row, "approve")
        .await
        .error(409, "already_decided");
    assert_eq!(error["row"], cancelled);
    let row = queue(&red, "stop-a").await;
    assert_eq!(
        owner.post_nothing(&cancel(&row)).await.ok()["status"],
        "cancelled"
    );
    owner
        .post_nothing("/api/proposals/nope/cancel")
        .await
        .error(404, "not_found");
    assert_eq!(app.lab.effect_count(), 0);
}

/// A machine that never answers again.
pub struct Lost;

impl Channel for Lost {
    fn execute(&self, _: Permit) -> BoxFuture<'_, Outcome> {
        Box::pin(async {
            Outcome::Unknown(Failure::new(
                FailureCode::ConnectionLost,
                "the link broke after sending",
            ))
        })
    }

    fn settle<'a>(&'a self, _: &'a Execution, _: &'a Ticket) -> BoxFuture<'a, Evidence> {
        Box::pin(async { Evidence::None(Failure::new(FailureCode::ConnectionLost, "no answer")) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_waits_until_the_owner_has_looked() {
    let setup = Setup {
        executor: Some(Arc::new(Lost)),
        ..Setup::default()
    };
    let app = setup.start().await;
    let (owner, agent) = (app.owner(), app.agent("blue").await);
    let lost = owner.run("touch-a").await.ok();
    assert_eq!(
        (&lost["executed"], &lost["status"], &lost["error"]),
        (
            &json!(false),
            &json!("unknown"),
            &json!({"code": "connection_lost", "message": "the link broke after sending"})
        )
    );
    let row = app.row(lost["action_row_id"].as_str().unwrap()).await;
    assert_row(&row);
    let inbox = owner.get("/api/inbox").await.ok();
    assert_eq!(
        (&inbox["items"][0]["kind"], &inbox["items"][0]["id"]),
        (&json!("failure"), &row["id"])
    );
    assert_eq!(
        inbox["counts"],
        json!({"proposal": 0, "draft": 0, "failure": 1, "join": 0, "untold": 0})
    );

    let path = format!("/api/proposals/{}/settle", row["code"].as_str().unwrap());
    agent
        .post(&path, json!({"outcome": "executed"}))
        .await
        .error(403, "owner_only");
    for body in [
        json!({}),
        json!({"outcome": "unknown"}),
        json!({"outcome": null}),
    ] {
        owner.post(&path, body).await.error(422, "invalid");
    }
    let settled = owner.post(&path, json!({"outcome": "failed"})).await.ok();
    assert_row(&settled);
    assert_eq!(
        (&settled["status"], &settled["error"]["code"]),
        (&json!("failed"), &json!("settled_failed"))
    );
    let again = owner
        .post(&path, json!({"outcome": "executed"}))
        .await
        .error(409, "already_decided");
    assert_eq!(again["row"], settled);

    let lost = owner.run("touch-b").await.ok();
    let path = format!(
        "/api/proposals/{}/settle",
        lost["action_row_id"].as_str().unwrap()
    );
    let settled = owner.post(&path, json!({"outcome": "executed"})).await.ok();
    assert_eq!(
        (&settled["status"], &settled["result"]),
        (&json!("executed"), &json!({"settled_by": "owner-api"}))
    );
    let waiting = app.queue("stop-a").await;
    let path = format!("/api/proposals/{}/settle", waiting["id"].as_str().unwrap());
    let error = owner
        .post(&path, json!({"outcome": "executed"}))
        .await
        .error(409, "already_decided");
    assert_eq!(error["row"], waiting);
}
