//! What one token may use up, each bound at its limit (I36): rows, requests, long answers. What a flood of
//! all of it does to the owner is in `floods`.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use void_control::{Clock, Limits};
use void_domain::budgets::{LIST_BYTES_MAX, ROW_BYTES, Rate, TokenBudgets};
use void_domain::failures::FailureCode;
use void_domain::proposals::{Failure, Proposal, State};
use void_store::{StoreError, proposals};
use void_testkit::eventually;
use void_testkit::proposals::{NOW, pending};

use crate::apps::{App, Engine, Setup};
use crate::routes::entities::new_space;
use crate::routes::health::metric;

fn with(budgets: TokenBudgets) -> Setup {
    Setup {
        limits: Limits {
            token_budgets: budgets,
            ..Setup::default().limits
        },
        ..Setup::default()
    }
}

/// So many rows, and hardly one more while a test runs.
fn rows(burst: u32) -> Setup {
    with(TokenBudgets {
        rows: Rate {
            per_minute: 1,
            burst,
        },
        ..TokenBudgets::default()
    })
}

fn requests(burst: u32) -> Setup {
    with(TokenBudgets {
        requests: Rate {
            per_minute: 1,
            burst,
        },
        ..TokenBudgets::default()
    })
}

/// Refused rows of 20 KB each, as many as fill more than one list.
async fn fill(app: &mut App, count: u32) {
    app.looks_back = false;
    for n in 0..count {
        let failure = Failure::new(FailureCode::Locked, "y");
        let created = Proposal {
            reason: Some("r".repeat(4_000)),
            diff: Some("d".repeat(16_000)),
            state: State::Refused { at: NOW, failure },
            ..pending(n).proposal
        }
        .created("owner-cli");
        let written: Result<(), StoreError> = app
            .store
            .write(move |tx| Box::pin(async move { proposals::insert(tx, 1, &created).await }))
            .await;
        written.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_equal_refusals_is_one_row_and_one_count() {
    const BURST: usize = 100;
    for engine in Engine::both().await {
        let clock = Clock::manual(Clock::system().now());
        let setup = Setup {
            engine,
            clock: clock.clone(),
            ..Setup::default()
        };
        let app = setup.start().await;
        let mallory = app.agent("mallory").await;
        for window in 1..=2 {
            let asking = (0..BURST).map(|n| {
                let body = json!({"reason": format!("{n}"), "diff": "d".repeat(16_000)});
                mallory.post("/api/actions/only-blue/run", body)
            });
            for answer in join_all(asking).await {
                assert!((400..500).contains(&answer.status), "{}", answer.text);
            }
            assert_eq!(app.audited("proposal.refused").await.len(), window);
            let refused = app.owner().get("/api/proposals?status=refused").await.ok();
            assert_eq!(refused["proposals"].as_array().unwrap().len(), window);
            clock.set(clock.now().plus(Duration::from_secs(61)));
            let counted = eventually("the count to be recorded", || async {
                let counted = app.audited("refusals.counted").await;
                (counted.len() == window).then_some(counted)
            })
            .await;
            let detail = &counted[window - 1].detail;
            let expected = format!("\"count\":{}", BURST - 1);
            assert!(detail.contains(&expected), "{detail}");
        }
        assert_eq!(app.control.held_back().0, 2 * (BURST as u64 - 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_says_something_new_with_every_poll_is_held_back() {
    let app = rows(5).start().await;
    let node = app.holder("node", "n1", &[]).await.caller;
    let poll = |generation: u64| {
        let session = json!({"generation": generation, "nonce": "a"});
        json!({"session": session, "version": "0.1.0", "wait_s": 0})
    };
    for generation in 1..=5 {
        node.post("/api/node/poll", poll(generation)).await.ok();
    }
    for generation in 6..=30 {
        let answer = node.post("/api/node/poll", poll(generation)).await;
        answer.error(429, "rate_limited");
        assert!(answer.headers.contains_key("retry-after"));
    }
    assert_eq!(app.audited("node.changed").await.len(), 5);
    // Whoever says nothing new writes nothing, and goes on working.
    node.post("/api/node/poll", poll(5)).await.ok();
    let line = "void_held_back_total{what=\"rows\"}";
    assert_eq!(metric(&app.owner(), line).await, Some(25.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heavy_draft_costs_as_much_as_many_light_ones() {
    let app = rows(20).start().await;
    let space = new_space(&app.owner(), "Lab").await;
    let drafts = format!("/api/spaces/{space}/drafts");
    let page = |n: usize, bytes: usize| {
        let fields = json!({"title": format!("Page {n}"), "body": "x".repeat(bytes)});
        json!({"entity": "page", "op": "create", "fields": fields})
    };
    let heavy = app.holder("agent", "heavy", &["suggest"]).await.caller;
    let light = app.holder("agent", "light", &["suggest"]).await.caller;
    for n in 0..2 {
        heavy.post(&drafts, page(n, 9 * ROW_BYTES)).await.ok();
    }
    let answer = heavy.post(&drafts, page(2, 1)).await;
    answer.error(429, "rate_limited");
    for n in 0..20 {
        light.post(&drafts, page(n, 1)).await.ok();
    }
    let answer = light.post(&drafts, page(20, 1)).await;
    answer.error(429, "rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_heavy_request_of_an_action_costs_as_much_as_many_light_ones() {
    let app = rows(20).start().await;
    let run = "/api/actions/scale-a/run";
    let body = |n: usize, bytes: usize| {
        let params = json!({"replicas": n, "zone": "north", "image": "a"});
        json!({"params": params, "reason": "because", "diff": "d".repeat(bytes)})
    };
    let heavy = app.agent("heavy").await;
    let light = app.agent("light").await;
    // One for the row and four for what it weighs; the same request again weighs as much.
    for n in [0, 1, 2, 2] {
        heavy.post(run, body(n, 4 * ROW_BYTES)).await.ok();
    }
    let answer = heavy.post(run, body(3, 1)).await;
    answer.error(429, "rate_limited");
    for n in 0..20 {
        light.post(run, body(n, 1)).await.ok();
    }
    let answer = light.post(run, body(20, 1)).await;
    answer.error(429, "rate_limited");
    // The owner is never held back.
    for n in 0..8 {
        app.owner().post(run, body(n, 4 * ROW_BYTES)).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn withdrawing_and_freezing_make_no_rows_without_end() {
    let app = rows(5).start().await;
    let agent = app.agent("mallory").await;
    let mut last = String::new();
    for n in 0..8 {
        let asked = agent.post("/api/actions/stop-a/run", json!({})).await;
        if n >= 5 {
            asked.error(429, "rate_limited");
            continue;
        }
        last = asked.ok()["action_row_id"].as_str().unwrap().to_owned();
        let path = format!("/api/proposals/{last}/cancel");
        agent.post_nothing(&path).await.ok();
    }
    for _ in 0..20 {
        let path = format!("/api/proposals/{last}/cancel");
        assert_eq!(agent.post_nothing(&path).await.status, 409);
        // A brake is never held back, and pulling it again is nothing new.
        agent.post("/api/freeze", json!({})).await.ok();
    }
    assert_eq!(app.audited("proposal.cancelled").await.len(), 5);
    assert_eq!(app.audited("freeze.set").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_were_held_back_are_in_the_metrics() {
    let app = requests(10).start().await;
    let agent = app.agent("mallory").await;
    let line = "void_held_back_total{what=\"requests\"}";
    let mut held_back = 0.0;
    for _ in 0..30 {
        let answer = agent.get("/api/freeze").await;
        if answer.status == 429 {
            held_back += 1.0;
        }
    }
    // The first one is not counted, because nobody knows the token yet.
    assert!((19.0..=20.0).contains(&held_back), "{held_back}");
    assert_eq!(metric(&app.owner(), line).await, Some(held_back));
    // And as streams, connections and calls of tools.
    agent.get("/api/events").await.error(429, "rate_limited");
    assert_eq!(metric(&app.owner(), line).await, Some(held_back + 1.0));
    app.owner().get("/api/freeze").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_ends_at_its_bytes_and_goes_on_without_a_gap_or_a_double() {
    const ROWS: u32 = 240;
    for engine in Engine::both().await {
        let mut app = App::on(engine).await;
        fill(&mut app, ROWS).await;
        let viewer = app.holder("viewer", "mallory", &[]).await.caller;
        for (caller, limit) in [(&app.owner(), 500), (&viewer, 500), (&viewer, 100)] {
            let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, String::new());
            loop {
                let page = format!("/api/proposals?status=refused&limit={limit}{cursor}");
                let answer = caller.get(&page).await;
                // What a row takes in a list is a little more than what is stored.
                assert!(
                    answer.text.len() < 2 * LIST_BYTES_MAX,
                    "{}",
                    answer.text.len()
                );
                let page = answer.ok();
                let items = page["proposals"].as_array().unwrap();
                assert!(!items.is_empty(), "a page that leads nowhere");
                seen.extend(
                    items
                        .iter()
                        .map(|row| row["id"].as_str().unwrap().to_owned()),
                );
                pages += 1;
                match page["next"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            assert_eq!(seen.len(), ROWS as usize);
            let different: BTreeSet<&String> = seen.iter().collect();
            assert_eq!(different.len(), seen.len(), "none twice");
            assert!(pages > 2, "{pages}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_answers_cost_more_than_short_ones() {
    let mut app = requests(60).start().await;
    fill(&mut app, 120).await;
    let (long, short) = (
        app.holder("viewer", "long", &[]).await.caller,
        app.holder("viewer", "short", &[]).await.caller,
    );
    let mut lists = 0;
    while long.get("/api/proposals?limit=500").await.status == 200 {
        lists += 1;
    }
    // Long texts are shortened in a list; what is left of these rows is half a mebibyte, as much as eight requests.
    assert!((6..=8).contains(&lists), "{lists}");
    for _ in 0..50 {
        short.get("/api/freeze").await.ok();
    }
    app.owner().get("/api/proposals?limit=500").await.ok();
}
