//! Many hands at once: one decision, one effect, and everybody is told the truth (I11, I30, R-A1,
//! R-A8).

use std::collections::BTreeSet;

use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::apps::{App, Engine};
use crate::callers::Caller;
use crate::routes::actions::assert_row;

async fn approve_many(callers: &[Caller], row: &Value) -> (Vec<Value>, usize) {
    let id = row["id"].as_str().unwrap();
    let calls = callers.iter().enumerate().map(|(n, caller)| async move {
        let path = match n % 3 {
            0 => format!("/api/actions/pending/{id}/approve?wait=60"),
            1 => format!("/api/proposals/{id}/decide?wait=60"),
            _ => format!(
                "/api/proposals/{}/decide?wait=60",
                row["code"].as_str().unwrap()
            ),
        };
        let mut body = json!({"digest": row["digest"]});
        if n % 3 > 0 {
            body["decision"] = json!("approve");
        }
        caller.post(&path, body).await
    });
    let (mut won, mut lost) = (Vec::new(), 0);
    for answer in join_all(calls).await {
        if answer.status == 200 {
            won.push(answer.ok());
            continue;
        }
        let error = answer.error(409, "already_decided");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("already approved by owner ("),
            "{message}"
        );
        assert_eq!(error["row"]["id"], row["id"]);
        assert_row(&error["row"]);
        lost += 1;
    }
    (won, lost)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sixty_four_approvals_one_runs_and_the_others_hear_of_it() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, session) = (app.owner(), app.session().await);
        let callers: Vec<Caller> = (0..64)
            .map(|n| {
                if n % 2 == 0 {
                    owner.clone()
                } else {
                    session.clone()
                }
            })
            .collect();
        for round in 1..=3 {
            let row = app.queue("stop-a").await;
            let (won, lost) = approve_many(&callers, &row).await;
            assert_eq!((won.len(), lost), (1, 63));
            assert_eq!(won[0]["status"], "executed");
            assert_eq!(app.lab.effect_count(), round);
        }
        // R-A1: once more and again, in a row, changes nothing either.
        let row = app.queue("stop-b").await;
        let first = owner.decide(&row, "approve").await.ok();
        for n in 0..100 {
            let decision = if n % 2 == 0 { "approve" } else { "reject" };
            let error = owner
                .decide(&row, decision)
                .await
                .error(409, "already_decided");
            assert_eq!(error["row"], first);
        }
        assert_eq!(app.lab.effect_count(), 4);
    }
}

/// The same for hours of a busy owner (I11).
#[tokio::test(flavor = "multi_thread")]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
async fn of_many_times_sixty_four_approvals_one_runs_each_time() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let callers = vec![app.owner(); 64];
        for round in 1..=500 {
            let row = app.queue("stop-a").await;
            let (won, lost) = approve_many(&callers, &row).await;
            assert_eq!((won.len(), lost, app.lab.effect_count()), (1, 63, round));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn yes_and_no_at_the_same_moment_are_one_decision() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let (owner, session) = (app.owner(), app.session().await);
        let (mut approved, mut rejected) = (0, 0);
        for n in 0..25 {
            let row = app.queue("stop-a").await;
            // Each is first in half of the rounds.
            let (yes, no) = if n % 2 == 0 {
                tokio::join!(
                    owner.decide(&row, "approve"),
                    session.decide(&row, "reject")
                )
            } else {
                let (no, yes) = tokio::join!(
                    session.decide(&row, "reject"),
                    owner.decide(&row, "approve")
                );
                (yes, no)
            };
            let stored = app.row(row["id"].as_str().unwrap()).await;
            assert_row(&stored);
            if yes.status == 200 {
                assert_eq!(yes.ok(), stored);
                let error = no.error(409, "already_decided");
                let message = error["message"].as_str().unwrap();
                assert!(
                    message.starts_with("already approved by owner (API) at "),
                    "{message}"
                );
                approved += 1;
            } else {
                assert_eq!(no.ok(), stored);
                let error = yes.error(409, "already_decided");
                let message = error["message"].as_str().unwrap();
                assert!(
                    message.starts_with("already rejected by owner (web) at "),
                    "{message}"
                );
                assert_eq!(error["row"], stored);
                rejected += 1;
            }
        }
        assert_eq!(
            (approved + rejected, app.lab.effect_count()),
            (25, approved)
        );
    }
}

/// R-A8: as many as may be open at all, asked for at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_at_once_stay_a_thousand() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let wishes = (0..1_000).map(|n| {
            let owner = owner.clone();
            async move {
                let body = json!({"params": {"replicas": n, "zone": "north", "image": "a"}});
                let queued = owner.post("/api/actions/scale-a/run", body).await.ok();
                (n, queued["action_row_id"].as_str().unwrap().to_owned())
            }
        });
        let asked: Vec<(u64, String)> = stream::iter(wishes).buffer_unordered(64).collect().await;
        let ids: BTreeSet<&str> = asked.iter().map(|(_, id)| id.as_str()).collect();
        assert_eq!(ids.len(), 1_000);
        let (mut codes, mut digests, mut path) = (
            BTreeSet::new(),
            BTreeSet::new(),
            "/api/inbox?limit=500".to_owned(),
        );
        let mut rows = Vec::new();
        loop {
            let page = owner.get(&path).await.ok();
            rows.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else {
                break;
            };
            path = format!("/api/inbox?limit=500&cursor={next}");
        }
        for row in &rows {
            codes.insert(row["code"].as_str().unwrap().to_owned());
            digests.insert(row["digest"].as_str().unwrap().to_owned());
            let asked = asked.iter().find(|(_, id)| row["id"] == *id).unwrap();
            assert_eq!(
                row["params"]["replicas"], asked.0,
                "each is what was asked for"
            );
        }
        assert_eq!(
            (rows.len(), codes.len(), digests.len()),
            (1_000, 1_000, 1_000)
        );
        // One more is one too many; deciding one decides that one.
        let body = json!({"params": {"replicas": 1_000, "zone": "north", "image": "a"}});
        owner
            .post("/api/actions/scale-a/run", body)
            .await
            .error(429, "rate_limited");
        assert_eq!(
            owner.decide(&rows[500], "approve").await.ok()["status"],
            "executed"
        );
        assert_eq!(
            app.row(rows[499]["id"].as_str().unwrap()).await["status"],
            "pending"
        );
        assert_eq!(owner.get("/api/status").await.ok()["waiting"], 999);
        assert_eq!(app.lab.effect_count(), 1);
    }
}

/// I30: the switch is thrown while a hundred things are on their way.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_after_the_switch() {
    for engine in Engine::both().await {
        let app = App::on(engine).await;
        let owner = app.owner();
        let rows: Vec<Value> = join_all((0..50).map(|n| {
            let owner = owner.clone();
            async move {
                let body = json!({"params": {"replicas": n, "zone": "north", "image": "a"}});
                let queued = owner.post("/api/actions/scale-a/run", body).await.ok();
                let id = queued["action_row_id"].as_str().unwrap().to_owned();
                owner.get(&format!("/api/proposals/{id}")).await.ok()
            }
        }))
        .await;
        let approvals = join_all(rows.iter().map(|row| async {
            let path = format!(
                "/api/proposals/{}/decide?wait=0",
                row["id"].as_str().unwrap()
            );
            let body = json!({"decision": "approve", "digest": row["digest"]});
            owner.post(&path, body).await
        }));
        let safe = join_all((0..50).map(|n| {
            let action = if n % 2 == 0 { "touch-a" } else { "touch-b" };
            let path = format!("/api/actions/{action}/run?wait=0");
            let owner = owner.clone();
            async move { owner.post_nothing(&path).await }
        }));
        let switch = async {
            void_testkit::eventually("the first effect", || async {
                (app.lab.effect_count() > 0).then_some(())
            })
            .await;
            app.agent("blue")
                .await
                .post("/api/freeze", json!({}))
                .await
                .ok()
        };
        let (approvals, safe, _) = tokio::join!(approvals, safe, switch);
        for answer in approvals.iter().chain(&safe) {
            let fits = matches!(answer.status, 200 | 409);
            assert!(fits, "{}", answer.text);
        }
        let entries = app.audit().await;
        let switched = entries
            .iter()
            .position(|entry| entry.verb == "freeze.set")
            .unwrap();
        let late = entries[switched..]
            .iter()
            .filter(|entry| entry.verb == "proposal.started");
        assert_eq!(
            late.count(),
            0,
            "after the switch is on the record nothing starts"
        );
        owner.run("touch-a").await.error(409, "frozen");
    }
}

/// A caller that hangs up in the middle leaves nothing behind that another one would stumble over:
/// what is written is what the next one reads.
async fn hanging_up_hurts_nobody(engine: Engine) {
    let app = App::on(engine).await;
    let owner = app.owner();
    for n in 0..150_u64 {
        let paths = [
            "/api/audit?limit=500",
            "/api/proposals?limit=500",
            "/api/inbox",
        ];
        let calls = paths
            .iter()
            .map(|path| owner.request(reqwest::Method::GET, path).send());
        let patience = std::time::Duration::from_micros(n * 40);
        // Dropped with whatever it was doing.
        let _ = tokio::time::timeout(patience, join_all(calls)).await;
        let body = json!({"params": {"replicas": n, "zone": "north", "image": "a"}});
        let queued = owner.post("/api/actions/scale-a/run", body).await.ok();
        let path = format!(
            "/api/proposals/{}",
            queued["action_row_id"].as_str().unwrap()
        );
        let rows = join_all((0..4).map(|_| owner.get(&path))).await;
        for row in rows {
            assert_eq!(row.ok()["params"]["replicas"], n);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_hurts_nobody_on_sqlite() {
    hanging_up_hurts_nobody(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_up_hurts_nobody_on_postgres() {
    hanging_up_hurts_nobody(Engine::postgres().await).await;
}
