//! Somebody names an action: safe ones run, risky ones wait, everything else is refused and on the record.

use std::time::Duration;

use serde_json::json;
use void_control::proposals::{ProposeError, ProposeRequest, Proposed};
use void_domain::capabilities::Capability;
use void_domain::limits;
use void_domain::policy::Refusal;
use void_domain::proposals::{Approval, Status};
use void_domain::taint::Taint;

use crate::callers::{agent, agent_with, others, owner};
use crate::planes::Plane;
use crate::requests::request;

stories!(
    a_safe_request_runs_at_once,
    a_risky_request_waits,
    an_unknown_action_is_refused_and_recorded,
    parameters_that_do_not_fit_are_refused,
    words_are_bounded,
    who_may_not_ask_is_refused,
    a_freeze_refuses_what_is_safe_and_lets_the_rest_wait,
    a_cooldown_is_waited_for,
    a_cap_holds_for_an_hour,
    an_agents_budget_is_its_own,
    a_busy_target_refuses,
    taint_makes_what_is_safe_wait,
    a_request_that_joins_keeps_the_strictest,
    a_requester_that_goes_on_talking_does_not_keep_its_row_from_a_yes,
    what_waits_is_bounded,
    equal_requests_at_once_are_one_row,
    equal_runs_at_once_are_one_run,
    a_refusal_over_and_over_is_one_row,
);

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn a_safe_request_runs_at_once(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&agent("blue"), "touch-a").await;
    assert_eq!(row.status(), Status::Running);
    let row = plane.ended(row.id).await;
    assert_eq!(row.status(), Status::Executed);
    assert_eq!(row.approval().unwrap().by, Approval::POLICY);
    assert_eq!(row.requested_by.name, "blue");
    let by_policy = (Status::Approved, Approval::POLICY.to_owned());
    assert_eq!(plane.steps(row.id).await[0], by_policy);
    assert_eq!(plane.machine.effects(), ["touch-a"]);
}

async fn a_risky_request_waits(plane: &mut Plane) {
    plane.start().await;
    for ctx in [owner(), agent("blue")] {
        let row = plane.queue(&ctx, "stop-a").await;
        assert_eq!(row.status(), Status::Pending);
        let day = limits::PROPOSAL_EXPIRES_AFTER;
        assert_eq!(row.expires_at, plane.clock.now().plus(day));
        let first = (Status::Pending, ctx.actor.to_string());
        assert_eq!(plane.steps(row.id).await, [first]);
    }
    assert!(plane.machine.effects().is_empty());
}

async fn an_unknown_action_is_refused_and_recorded(plane: &mut Plane) {
    plane.start().await;
    let long = "a".repeat(10_000);
    let ids = [
        "stop-aa",
        "",
        "../stop-a",
        "STOP-A",
        "stop-a\n",
        "stop-a touch-a",
        &long,
    ];
    for id in ids {
        let answer = plane.propose(&agent("blue"), request(id)).await;
        let Err(ProposeError::UnknownAction { id: shown, nearest }) = answer else {
            panic!("{id}: {answer:?}");
        };
        assert!(shown.len() <= 80 && !shown.contains('\n'), "{shown}");
        assert!(id != "stop-aa" || nearest.as_deref() == Some("stop-a"));
    }
    let recorded = plane.audited("proposal.invalid").await;
    assert_eq!(recorded.len(), ids.len());
    assert!(
        recorded
            .iter()
            .all(|entry| entry["code"] == "unknown_action")
    );
    assert_eq!(plane.audited("proposal.created").await.len(), 0);
}

async fn parameters_that_do_not_fit_are_refused(plane: &mut Plane) {
    plane.start().await;
    let good = json!({"replicas": 3, "zone": "north", "image": "web:1.2"});
    let asked = |params| ProposeRequest {
        params,
        ..request("scale-a")
    };
    let mut bad = vec![json!({}), json!([]), json!("replicas"), json!(null)];
    for (name, value) in [
        ("replicas", json!(-1)),
        ("replicas", json!(1_001)),
        ("replicas", json!(1.5)),
        ("replicas", json!("3")),
        ("zone", json!("west")),
        ("zone", json!(["north"])),
        ("image", json!("web;reboot")),
        ("image", json!("a".repeat(65))),
        ("extra", json!(1)),
    ] {
        let mut params = good.clone();
        params[name] = value;
        bad.push(params);
    }
    for params in &bad {
        let answer = plane.propose(&owner(), asked(params.clone())).await;
        let is_refused = matches!(answer, Err(ProposeError::InvalidParams(_)));
        assert!(is_refused, "{params}: {answer:?}");
    }
    assert_eq!(plane.audited("proposal.invalid").await.len(), bad.len());
    let row = plane.queue_as(&owner(), asked(good.clone())).await;
    assert_eq!(*row.subject.params(), good);
    assert_eq!(plane.audited("proposal.created").await.len(), 1);
}

async fn words_are_bounded(plane: &mut Plane) {
    plane.start().await;
    let words = |reason: usize, diff: usize| ProposeRequest {
        reason: Some("r".repeat(reason)),
        diff: Some("d".repeat(diff)),
        ..request("stop-a")
    };
    let (reason, diff) = (limits::REASON_BYTES_MAX, limits::DIFF_BYTES_MAX);
    let long_reason = plane.propose(&owner(), words(reason + 1, 1)).await;
    assert!(matches!(long_reason, Err(ProposeError::ReasonTooLong)));
    let long_diff = plane.propose(&owner(), words(1, diff + 1)).await;
    assert!(matches!(long_diff, Err(ProposeError::DiffTooLong)));
    let row = plane.queue_as(&owner(), words(reason, diff)).await;
    let kept = (row.reason.unwrap().len(), row.diff.unwrap().len());
    assert_eq!(kept, (reason, diff));
}

async fn who_may_not_ask_is_refused(plane: &mut Plane) {
    plane.start().await;
    let [_, viewer, node, system] = others();
    let reader = agent_with("reader", &[Capability::Read, Capability::Suggest]);
    for action in ["touch-a", "stop-a"] {
        for ctx in [&viewer, &node, &system] {
            let (refusal, row) = plane.refused(ctx, action).await;
            assert_eq!(refusal, Refusal::WrongActor, "{ctx:?}");
            assert_eq!(row.status(), Status::Refused);
        }
        let (refusal, _) = plane.refused(&reader, action).await;
        assert_eq!(refusal, Refusal::NoCapability);
    }
    let (refusal, row) = plane.refused(&agent("red"), "only-blue").await;
    assert_eq!(refusal, Refusal::NotNamed);
    assert_eq!(row.failure().unwrap().code, "forbidden");
    assert!(plane.machine.effects().is_empty());
    let named = plane.run(&agent("blue"), "only-blue").await;
    assert_eq!(plane.ended(named.id).await.status(), Status::Executed);
}

async fn a_freeze_refuses_what_is_safe_and_lets_the_rest_wait(plane: &mut Plane) {
    plane.start().await;
    plane.freeze().await;
    for ctx in [owner(), agent("blue")] {
        let (refusal, _) = plane.refused(&ctx, "touch-a").await;
        assert_eq!(refusal, Refusal::Frozen);
        plane.queue(&ctx, "stop-a").await;
    }
    assert!(plane.machine.effects().is_empty());
    plane.thaw().await;
    let row = plane.run(&agent("blue"), "touch-a").await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn a_cooldown_is_waited_for(plane: &mut Plane) {
    plane.start().await;
    let (owner, blue) = (owner(), agent("blue"));
    let first = plane.run(&blue, "cool-a").await;
    plane.ended(first.id).await;
    // What is written binds everybody, to the last moment.
    let until = first.created_at.plus(Duration::from_secs(60));
    for _ in 0..2 {
        for ctx in [&owner, &blue] {
            let (refusal, _) = plane.refused(ctx, "cool-a").await;
            assert_eq!(refusal, Refusal::CoolingDown { until });
        }
        plane.go_to(until.minus(Duration::from_millis(1)));
    }
    plane.go_to(until);
    let again = plane.run(&blue, "cool-a").await;
    plane.ended(again.id).await;
    // Where nothing is written, agents wait and the owner does not.
    let first = plane.run(&blue, "touch-default").await;
    plane.ended(first.id).await;
    let (refusal, _) = plane.refused(&blue, "touch-default").await;
    assert_eq!(refusal.code().as_str(), "cooling_down");
    let owners = plane.run(&owner, "touch-default").await;
    plane.ended(owners.id).await;
}

async fn a_cap_holds_for_an_hour(plane: &mut Plane) {
    plane.start().await;
    for ctx in [owner(), agent("blue")] {
        let row = plane.run(&ctx, "cap-a").await;
        plane.ended(row.id).await;
    }
    for _ in 0..2 {
        let (refusal, _) = plane.refused(&owner(), "cap-a").await;
        assert_eq!(refusal, Refusal::CapReached { per_hour: 2 });
        plane.pass(HOUR / 2 - SECOND);
    }
    plane.pass(3 * SECOND);
    let row = plane.run(&owner(), "cap-a").await;
    plane.ended(row.id).await;
    assert_eq!(plane.machine.effect_counts()["cap-a"], 3);
}

async fn an_agents_budget_is_its_own(plane: &mut Plane) {
    plane.limits.safe_runs_per_agent_hour = 2;
    plane.start().await;
    let run = async |name: &str, action| {
        let row = plane.run(&agent(name), action).await;
        plane.ended(row.id).await;
    };
    run("blue", "touch-a").await;
    run("blue", "touch-b").await;
    let (refusal, _) = plane.refused(&agent("blue"), "touch-a").await;
    assert_eq!(refusal, Refusal::BudgetSpent { per_hour: 2 });
    run("red", "touch-a").await;
    for _ in 0..3 {
        let row = plane.run(&owner(), "touch-a").await;
        plane.ended(row.id).await;
    }
    // What waits costs nothing.
    plane.queue(&agent("blue"), "stop-a").await;
    plane.pass(HOUR + SECOND);
    run("blue", "touch-a").await;
}

async fn a_busy_target_refuses(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    for ctx in [owner(), agent("blue")] {
        let (refusal, row) = plane.refused(&ctx, "touch-slow").await;
        assert_eq!(refusal, Refusal::Busy);
        assert_eq!(row.failure().unwrap().code, "busy");
    }
    let elsewhere = plane.run(&owner(), "touch-a").await;
    plane.ended(elsewhere.id).await;
    plane.machine.release();
    plane.ended(slow.id).await;
    let row = plane.run(&owner(), "touch-slow").await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn taint_makes_what_is_safe_wait(plane: &mut Plane) {
    plane.start().await;
    let tainted = ProposeRequest {
        taint: Taint::from_sources(vec!["a web page".to_owned()]),
        ..request("touch-a")
    };
    for ctx in [owner(), agent("blue")] {
        let row = plane.queue_as(&ctx, tainted.clone()).await;
        assert_eq!(row.taint, tainted.taint);
        assert!(plane.machine.effects().is_empty());
    }
    // Who has read nothing of it is not held up, and wakes nothing.
    let clean = plane.run(&agent("blue"), "touch-a").await;
    plane.ended(clean.id).await;
    assert_eq!(plane.count(Status::Pending).await, 2);
    assert_eq!(plane.machine.effects(), ["touch-a"]);
}

async fn a_request_that_joins_keeps_the_strictest(plane: &mut Plane) {
    plane.start().await;
    let asked = |reason: &str, sources: &[&str]| ProposeRequest {
        reason: Some(reason.to_owned()),
        taint: Taint::from_sources(sources.iter().map(|&source| source.to_owned()).collect()),
        ..request("stop-a")
    };
    let blue = agent("blue");
    let first = plane.queue_as(&blue, asked("one", &["a"])).await;
    plane.pass(SECOND);
    // The same again says nothing new; a clean request washes nothing off.
    for sources in [&["a"][..], &[]] {
        let joined = plane.queue_as(&blue, asked("one", sources)).await;
        assert_eq!((joined.id, joined.revision), (first.id, 0));
        assert_eq!(joined.taint.sources(), ["a"]);
        assert_eq!(joined.expires_at, first.expires_at, "it waits no longer");
    }
    let joined = plane.queue_as(&blue, asked("one", &["b"])).await;
    assert_eq!((joined.revision, joined.count), (1, 4));
    assert_eq!(joined.taint.sources(), ["a", "b"]);
    let joined = plane.queue_as(&blue, asked("two", &[])).await;
    assert_eq!((joined.revision, joined.count), (2, 5));
    assert_eq!(joined.reasons().collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!(plane.row(first.id).await, joined);
    assert_eq!(plane.audited("proposal.joined").await.len(), 4);
    // Somebody else's request is another one.
    let other = plane.queue_as(&agent("red"), asked("one", &[])).await;
    assert!(other.id != first.id && other.taint.is_clean());
}

/// Other words make a yes for the ones before void, so they come no faster than they are read. What is refused is on the
/// record; what makes it stricter is never refused.
async fn a_requester_that_goes_on_talking_does_not_keep_its_row_from_a_yes(plane: &mut Plane) {
    plane.start().await;
    let blue = agent("blue");
    let saying = |reason: &str| ProposeRequest {
        reason: Some(reason.to_owned()),
        ..request("stop-a")
    };
    let first = plane.queue_as(&blue, saying("w")).await;
    for n in 0..limits::JOINED_WORDS_AT_ONCE {
        plane.queue_as(&blue, saying(&format!("w{n}"))).await;
    }
    let read = plane.row(first.id).await;
    assert_eq!(read.revision, limits::JOINED_WORDS_AT_ONCE as u64);
    for n in 0..20 {
        let proposed = plane.propose(&blue, saying(&format!("more {n}"))).await;
        match proposed.unwrap() {
            Proposed::Refused(refusal @ Refusal::WordsTooSoon { .. }, refused) => {
                assert_eq!(refusal.code().as_str(), "rate_limited");
                assert_eq!(refused.status(), Status::Refused);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(plane.row(first.id).await, read);
    assert!(!plane.audited("proposal.refused").await.is_empty());
    // What was foreign counts at once, with its words.
    let tainted = ProposeRequest {
        taint: Taint::from_sources(vec!["log:web".to_owned()]),
        ..saying("read a log")
    };
    let stricter = plane.queue_as(&blue, tainted).await;
    assert_eq!(stricter.revision, read.revision + 1);
    assert!(stricter.reasons().any(|reason| reason == "read a log"));
    plane.pass(limits::JOINED_WORDS_APART);
    let read = plane.queue_as(&blue, saying("a minute later")).await;
    assert_eq!(read.revision, stricter.revision + 1);
    assert!(plane.propose(&blue, saying("at once")).await.is_ok());
    let approved = plane.approve(&read).await.unwrap();
    plane.ended(approved.id).await;
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn what_waits_is_bounded(plane: &mut Plane) {
    plane.limits.open_proposals_per_agent = 2;
    plane.limits.open_proposals = 4;
    plane.start().await;
    let (owner, blue) = (owner(), agent("blue"));
    plane.queue(&blue, "stop-a").await;
    plane.queue(&blue, "stop-b").await;
    let (refusal, _) = plane.refused(&blue, "stop-all").await;
    assert_eq!(refusal, Refusal::TooManyOpen { limit: 2 });
    for action in ["stop-a", "stop-b"] {
        plane.queue(&owner, action).await;
    }
    let (refusal, _) = plane.refused(&owner, "stop-all").await;
    assert_eq!(refusal, Refusal::TooManyOpen { limit: 4 });
    // What joins is no further one, and what runs is not stopped by what waits.
    assert_eq!(plane.queue(&blue, "stop-a").await.count, 2);
    let row = plane.run(&blue, "touch-a").await;
    plane.ended(row.id).await;
    let row = plane.queue(&blue, "stop-a").await;
    plane.reject(&row).await.unwrap();
    plane.queue(&blue, "stop-all").await;
}

async fn equal_requests_at_once_are_one_row(plane: &mut Plane) {
    plane.start().await;
    let blue = agent("blue");
    let rows = crate::requests::at_once(32, |_| plane.queue(&blue, "stop-a")).await;
    assert!(rows.iter().all(|row| row.id == rows[0].id));
    let row = plane.row(rows[0].id).await;
    assert_eq!((row.count, row.revision), (32, 0));
    assert_eq!(plane.count(Status::Pending).await, 1);
}

async fn equal_runs_at_once_are_one_run(plane: &mut Plane) {
    plane.start().await;
    let owner = owner();
    let answers = crate::requests::at_once(32, |_| plane.propose(&owner, request("slow-a"))).await;
    let mut started = Vec::new();
    for answer in answers {
        match answer.unwrap() {
            Proposed::Started(row) => started.push(row.id),
            Proposed::Refused(refusal, _) => assert_eq!(refusal, Refusal::Busy),
            Proposed::Queued(row) => panic!("{row:?}"),
        }
    }
    assert_eq!(started.len(), 1);
    plane.machine.release();
    assert_eq!(plane.ended(started[0]).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}

async fn a_refusal_over_and_over_is_one_row(plane: &mut Plane) {
    plane.start().await;
    let mut blue = agent_with("blue", &[]);
    blue.is_from_outside = true;
    let (_, first) = plane.refused(&blue, "touch-a").await;
    for _ in 0..10 {
        let (refusal, row) = plane.refused(&blue, "touch-a").await;
        assert_eq!((refusal, row.id), (Refusal::NoCapability, first.id));
        let unknown = plane.propose(&blue, request("no-such")).await;
        assert!(matches!(unknown, Err(ProposeError::UnknownAction { .. })));
    }
    assert_eq!(plane.audited("proposal.refused").await.len(), 1);
    assert_eq!(plane.audited("proposal.invalid").await.len(), 1);
    plane.stop().await;
    plane.start().await;
    let counted = plane.audited("refusals.counted").await;
    let count = |code: &str| {
        let entry = counted.iter().find(|entry| entry["code"] == code);
        entry.unwrap()["count"].clone()
    };
    assert_eq!(
        (count("forbidden"), count("unknown_action")),
        (json!(10), json!(9))
    );
}
