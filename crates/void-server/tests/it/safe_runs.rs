//! What runs without asking is braked by default: a safe action once a minute for agents, and so many
//! of them in an hour. The owner is not bound by either.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use void_control::{Clock, Limits};
use void_domain::limits::SAFE_RUNS_PER_AGENT_HOUR;

use crate::apps::{App, Engine, Setup};
use crate::labs::Lab;

const ACTIONS: usize = 70;
const WISHES: usize = 489;

fn lab() -> Lab {
    let mut actions: Vec<_> = (0..ACTIONS)
        .map(|n| {
            json!({"id": format!("touch-{n}"), "kind": "service_restart", "host": "local",
                "service": format!("s{n}"), "tier": "safe"})
        })
        .collect();
    actions.push(
        json!({"id": "touch-zero", "kind": "service_restart", "host": "local", "service": "z",
        "tier": "safe", "cooldown_s": 0}),
    );
    Lab::of(&json!({"actions": actions}).to_string())
}

async fn app(setup: Setup) -> App {
    let setup = Setup {
        lab: Arc::new(lab()),
        clock: Clock::manual(Clock::system().now()),
        limits: Limits::default(),
        ..setup
    };
    setup.start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_requests_of_one_agent_are_one_run_of_each_action_within_its_hour() {
    for engine in Engine::both().await {
        let app = app(Setup {
            engine,
            ..Setup::default()
        })
        .await;
        let red = app.agent("red").await;
        let red = &red;
        let answers: Vec<_> = stream::iter(0..WISHES)
            .map(|n| async move { red.run(&format!("touch-{}", n % ACTIONS)).await })
            .buffered(8)
            .collect()
            .await;
        let budget = u64::from(SAFE_RUNS_PER_AGENT_HOUR);
        assert_eq!(app.lab.effect_count(), budget);
        assert!(app.lab.effects().values().all(|runs| *runs == 1));
        let ran = answers.iter().filter(|answer| answer.status == 200).count() as u64;
        assert_eq!(ran, budget);
        let others = answers.iter().filter(|answer| answer.status != 200);
        for answer in others {
            let known = ["cooling_down", "cap_reached", "rate_limited"];
            assert!(known.contains(&answer.code().as_str()), "{}", answer.text);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_holds_back_agents_for_a_minute_and_never_the_owner() {
    let app = app(Setup::default()).await;
    let (owner, red, blue) = (app.owner(), app.agent("red").await, app.agent("blue").await);
    assert_eq!(red.run("touch-1").await.ok()["executed"], true);
    // Whoever ran it: it is the action that has just run.
    let error = blue.run("touch-1").await.error(409, "cooling_down");
    assert_eq!(error["row"]["status"], "refused");
    for _ in 0..3 {
        assert_eq!(owner.run("touch-1").await.ok()["executed"], true);
    }
    app.pass(Duration::from_millis(59_999));
    red.run("touch-1").await.error(409, "cooling_down");
    app.pass(Duration::from_millis(1));
    assert_eq!(red.run("touch-1").await.ok()["executed"], true);
    // By name, a 0 lifts it.
    for _ in 0..3 {
        assert_eq!(red.run("touch-zero").await.ok()["executed"], true);
    }
    let listed = owner.get("/api/actions").await.ok();
    let shown = |id: &str| {
        let found = listed["actions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|action| action["id"] == id)
            .unwrap();
        (
            found["cooldown_s"].clone(),
            found["agent_cooldown_s"].clone(),
        )
    };
    assert_eq!(shown("touch-1"), (json!(null), json!(60)));
    assert_eq!(shown("touch-zero"), (json!(0), json!(null)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_one_agents_and_comes_back_after_an_hour() {
    let limits = Limits {
        safe_runs_per_agent_hour: 3,
        ..Limits::default()
    };
    let setup = Setup {
        lab: Arc::new(lab()),
        clock: Clock::manual(Clock::system().now()),
        limits,
        ..Setup::default()
    };
    let app = setup.start().await;
    let (owner, red, blue) = (app.owner(), app.agent("red").await, app.agent("blue").await);
    for _ in 0..3 {
        assert_eq!(red.run("touch-zero").await.ok()["executed"], true);
    }
    let error = red.run("touch-2").await.error(409, "cap_reached");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("3 safe actions in the last hour"),
        "{message}"
    );
    assert_eq!(blue.run("touch-2").await.ok()["executed"], true);
    for _ in 0..4 {
        assert_eq!(owner.run("touch-zero").await.ok()["executed"], true);
    }
    app.pass(Duration::from_secs(3_600) - Duration::from_millis(1));
    red.run("touch-3").await.error(409, "cap_reached");
    app.pass(Duration::from_millis(1));
    assert_eq!(red.run("touch-3").await.ok()["executed"], true);
}

/// What nobody was asked about is read afterwards: the record has what its requester said, and nobody else hears it.
#[tokio::test(flavor = "multi_thread")]
async fn the_words_of_what_ran_or_was_refused_are_on_the_record_and_told_to_nobody() {
    for engine in Engine::both().await {
        let app = app(Setup {
            engine,
            ..Setup::default()
        })
        .await;
        let red = app.agent("red").await;
        let auditor = app.holder("agent", "auditor", &["audit.read"]).await.caller;
        let reason = format!("because of {}", "ré".repeat(200));
        let body = json!({"reason": reason, "diff": "+ a line"});
        for status in [200, 409] {
            let path = "/api/actions/touch-1/run?wait=20";
            let answer = red.post(path, body.clone()).await;
            assert_eq!(answer.status, status, "{}", answer.text);
        }
        let of_requests = ["proposal.created", "proposal.refused"];
        let told: Vec<_> = (app.audit().await.into_iter())
            .filter(|entry| entry.verb.starts_with("proposal."))
            .collect();
        let mut verbs = Vec::new();
        for entry in &told {
            let detail: serde_json::Value = serde_json::from_str(&entry.detail).unwrap();
            if !of_requests.contains(&entry.verb.as_str()) {
                assert!(
                    !entry.detail.contains("because"),
                    "once is enough: {entry:?}"
                );
                continue;
            }
            verbs.push(entry.verb.as_str());
            let begins: String = reason.chars().take(200).collect();
            assert_eq!(detail["reason"], json!(begins), "{}", entry.verb);
            assert_eq!(detail["reason_cut"]["bytes"], reason.len());
            assert_eq!(detail["diff"], "+ a line");
            let event = void_domain::told::told(entry).unwrap().unwrap();
            let heard = event.payload.to_json();
            assert!(
                !heard.contains("because") && !heard.contains("a line"),
                "{heard}"
            );
        }
        assert_eq!(verbs, of_requests);
        let seen = auditor.get("/api/audit").await.text;
        assert!(
            !seen.contains("because") && !seen.contains("a line"),
            "{seen}"
        );
    }
}
