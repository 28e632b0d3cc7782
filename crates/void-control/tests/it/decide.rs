//! The owner says yes or no, once, to what the owner saw.

use std::time::Duration;

use void_control::proposals::{
    DecideError, DecideRequest, Decision, ProposalKey, ProposeRequest, cancel,
};
use void_domain::actors::Surface;
use void_domain::digests::Digest;
use void_domain::ids::ProposalId;
use void_domain::limits;
use void_domain::proposals::{Cancellation, State, Status};

use crate::callers::{agent, others, owner, owner_on};
use crate::planes::Plane;
use crate::requests::{at_once, conflict, request, seen};

stories!(
    a_yes_runs_it_once,
    a_no_ends_it,
    nobody_else_decides,
    the_second_decision_is_told_about_the_first,
    of_many_yeses_at_once_one_starts_it,
    yes_and_no_at_once_are_one_decision,
    a_yes_binds_the_digest_that_was_seen,
    a_yes_binds_the_revision_that_was_seen,
    what_has_run_out_of_time_is_not_decided,
    a_freeze_holds_a_yes_back,
    a_cooldown_holds_a_yes_back,
    a_cap_holds_a_yes_back,
    what_is_critical_needs_more_than_a_tap,
    one_is_decided_by_its_code_and_nothing_by_a_wrong_key,
    what_was_withdrawn_is_not_decided,
    a_reason_is_bounded,
);

const MILLISECOND: Duration = Duration::from_millis(1);

async fn a_yes_runs_it_once(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    plane.pass(Duration::from_secs(1));
    let running = plane.approve(&row).await.unwrap();
    assert_eq!(running.status(), Status::Running);
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Executed);
    let approval = ended.approval().unwrap();
    assert_eq!(
        (approval.by.as_str(), approval.at),
        ("owner-cli", plane.clock.now())
    );
    let steps = plane.steps(row.id).await;
    let by = |status, by: &str| (status, by.to_owned());
    let expected = [
        by(Status::Pending, "agent-blue"),
        by(Status::Approved, "owner-cli"),
        by(Status::Running, "system"),
        by(Status::Executed, "system"),
    ];
    assert_eq!(steps, expected);
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn a_no_ends_it(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    let no = DecideRequest {
        reason: Some("not today".to_owned()),
        ..seen(Decision::Reject, &row)
    };
    let rejected = plane.decide(&owner(), row.id, no).await.unwrap();
    let State::Rejected { by, reason, .. } = &rejected.state else {
        panic!("{rejected:?}");
    };
    assert_eq!(
        (by.as_str(), reason.as_deref()),
        ("owner-cli", Some("not today"))
    );
    assert_eq!(plane.row(row.id).await, rejected);
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
    assert!(plane.machine.effects().is_empty());
    // A no ends one request; the next one waits anew.
    assert_ne!(plane.queue(&agent("blue"), "stop-a").await.id, row.id);
}

async fn nobody_else_decides(plane: &mut Plane) {
    plane.start().await;
    // The agent that asked is among them.
    let row = plane.queue(&agent("blue"), "stop-a").await;
    for ctx in others() {
        for decision in [Decision::Approve, Decision::Reject] {
            let refused = plane.decide(&ctx, row.id, seen(decision, &row)).await;
            assert!(matches!(refused, Err(DecideError::OwnerOnly)), "{ctx:?}");
        }
    }
    assert_eq!(plane.row(row.id).await, row);
    let refused = plane.audited("decision.refused").await;
    assert_eq!(refused.len(), 8);
    assert!(refused.iter().all(|entry| entry["code"] == "owner_only"));
    assert!(plane.machine.effects().is_empty());
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn the_second_decision_is_told_about_the_first(plane: &mut Plane) {
    plane.start().await;
    let yes = plane.queue(&owner(), "stop-a").await;
    plane.approve(&yes).await.unwrap();
    plane.ended(yes.id).await;
    let no = plane.queue(&owner(), "stop-b").await;
    plane.reject(&no).await.unwrap();
    for (row, said) in [(&yes, "already approved"), (&no, "already rejected")] {
        let before = plane.row(row.id).await;
        for decision in [Decision::Approve, Decision::Reject] {
            let again = plane.decide(&owner(), row.id, seen(decision, row)).await;
            let message = again.as_ref().unwrap_err().to_string();
            assert!(message.starts_with(said), "{message}");
            assert!(message.contains("owner (command line)"), "{message}");
            assert_eq!(conflict(again), ("already_decided", before.clone()));
        }
        assert_eq!(plane.row(row.id).await, before);
    }
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn of_many_yeses_at_once_one_starts_it(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    let answers = at_once(32, |_| plane.approve(&row)).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 31));
    for answer in lost {
        assert_eq!(conflict(answer).0, "already_decided");
    }
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert_eq!(plane.audited("proposal.started").await.len(), 1);
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn yes_and_no_at_once_are_one_decision(plane: &mut Plane) {
    plane.start().await;
    let mut yeses = 0;
    for _ in 0..4 {
        let row = plane.queue(&agent("blue"), "stop-a").await;
        let answers = at_once(32, async |number| match number % 2 {
            0 => plane.approve(&row).await,
            _ => plane.reject(&row).await,
        });
        let won = answers.await.iter().flatten().count();
        assert_eq!(won, 1);
        yeses += match plane.ended(row.id).await.status() {
            Status::Executed => 1,
            Status::Rejected => 0,
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(plane.machine.effects().len(), yeses);
}

async fn a_yes_binds_the_digest_that_was_seen(plane: &mut Plane) {
    plane.start().await;
    let (row, other) = (
        plane.queue(&owner(), "stop-a").await,
        plane.queue(&owner(), "stop-b").await,
    );
    for decision in [Decision::Approve, Decision::Reject] {
        for digest in [
            other.subject.digest,
            row.subject.action().unwrap().exec_digest,
            Digest::ZERO,
        ] {
            let stale = DecideRequest {
                digest: Some(digest),
                ..seen(decision, &row)
            };
            let answer = conflict(plane.decide(&owner(), row.id, stale).await);
            assert_eq!(answer, ("changed", row.clone()));
        }
    }
    assert_eq!(plane.status(row.id).await, Status::Pending);
    assert!(plane.machine.effects().is_empty());
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn a_yes_binds_the_revision_that_was_seen(plane: &mut Plane) {
    plane.start().await;
    let more = ProposeRequest {
        reason: Some("something else".to_owned()),
        ..request("stop-a")
    };
    let first = plane.queue(&agent("blue"), "stop-a").await;
    let joined = plane.queue_as(&agent("blue"), more.clone()).await;
    assert_eq!(joined.revision, 1);
    // Whoever does not say which one has seen the first.
    for revision in [None, Some(0), Some(2), Some(u64::MAX)] {
        let stale = DecideRequest {
            revision,
            ..seen(Decision::Approve, &joined)
        };
        let answer = conflict(plane.decide(&owner(), first.id, stale).await);
        assert_eq!(answer, ("changed", joined.clone()), "{revision:?}");
    }
    assert!(plane.machine.effects().is_empty());
    plane.approve(&joined).await.unwrap();
    assert_eq!(plane.ended(first.id).await.status(), Status::Executed);
    // A no needs no second look.
    let first = plane.queue(&agent("red"), "stop-a").await;
    plane.queue_as(&agent("red"), more).await;
    assert_eq!(
        plane.reject(&first).await.unwrap().status(),
        Status::Rejected
    );
}

async fn what_has_run_out_of_time_is_not_decided(plane: &mut Plane) {
    plane.start().await;
    for (decision, action) in [(Decision::Approve, "stop-a"), (Decision::Reject, "stop-b")] {
        let row = plane.queue(&owner(), action).await;
        // In the second before the sweep sees it.
        plane.go_to(row.expires_at);
        let late = plane.decide(&owner(), row.id, seen(decision, &row)).await;
        let (code, ended) = conflict(late);
        assert_eq!((code, ended.status()), ("expired", Status::Expired));
        assert_eq!(plane.steps(row.id).await[1].1, "system");
        let again = plane.decide(&owner(), row.id, seen(decision, &row)).await;
        assert_eq!(conflict(again).0, "expired");
    }
    assert!(plane.machine.effects().is_empty());
    let row = plane.queue(&owner(), "stop-a").await;
    plane.go_to(row.expires_at.minus(MILLISECOND));
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn a_freeze_holds_a_yes_back(plane: &mut Plane) {
    plane.start().await;
    let (row, other) = (
        plane.queue(&owner(), "stop-a").await,
        plane.queue(&owner(), "stop-b").await,
    );
    plane.freeze().await;
    for _ in 0..2 {
        let answer = conflict(plane.approve(&row).await);
        assert_eq!(answer, ("frozen", row.clone()));
    }
    // Saying no starts nothing.
    plane.reject(&other).await.unwrap();
    plane.thaw().await;
    assert!(
        plane.machine.effects().is_empty(),
        "a yes is not remembered"
    );
    assert_eq!(plane.status(row.id).await, Status::Pending);
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn a_cooldown_holds_a_yes_back(plane: &mut Plane) {
    plane.start().await;
    let first = plane.queue(&owner(), "cool-stop").await;
    let second = plane.queue(&agent("blue"), "cool-stop").await;
    plane.approve(&first).await.unwrap();
    plane.ended(first.id).await;
    let until = plane.clock.now().plus(Duration::from_secs(60));
    for _ in 0..2 {
        let answer = conflict(plane.approve(&second).await);
        assert_eq!(answer, ("cooling_down", second.clone()));
        plane.go_to(until.minus(MILLISECOND));
    }
    plane.go_to(until);
    plane.approve(&second).await.unwrap();
    assert_eq!(plane.ended(second.id).await.status(), Status::Executed);
}

async fn a_cap_holds_a_yes_back(plane: &mut Plane) {
    plane.start().await;
    let first = plane.queue(&owner(), "cap-stop").await;
    let second = plane.queue(&agent("blue"), "cap-stop").await;
    plane.approve(&first).await.unwrap();
    plane.ended(first.id).await;
    let answer = conflict(plane.approve(&second).await);
    assert_eq!(answer, ("cap_reached", second.clone()));
    assert_eq!(plane.machine.effects(), ["cap-stop"]);
    plane.pass(Duration::from_secs(60 * 60 + 1));
    plane.approve(&second).await.unwrap();
    assert_eq!(plane.ended(second.id).await.status(), Status::Executed);
}

async fn what_is_critical_needs_more_than_a_tap(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&owner(), "stop-all").await;
    let yes = seen(Decision::Approve, &row);
    let blind = DecideRequest {
        digest: None,
        ..yes.clone()
    };
    let (fresh, old) = (Some(Duration::ZERO), Some(Duration::from_secs(301)));
    let telegram = Surface::Telegram {
        user: 7,
        may_approve: true,
    };
    for (surface, ago, request, code) in [
        (Surface::Cli, None, &blind, "invalid"),
        (Surface::Api, None, &blind, "invalid"),
        (Surface::Web, fresh, &blind, "invalid"),
        (Surface::Web, old, &yes, "fresh_login_needed"),
        (Surface::Web, None, &yes, "fresh_login_needed"),
        (telegram, fresh, &yes, "other_surface_needed"),
        (Surface::File, fresh, &yes, "other_surface_needed"),
    ] {
        let ctx = owner_on(surface, ago);
        let refused = plane.decide(&ctx, row.id, request.clone()).await;
        assert!(refused.is_err(), "{surface:?}");
        let recorded = plane.audited("decision.refused").await;
        assert_eq!(recorded.last().unwrap()["code"], code, "{surface:?}");
    }
    assert_eq!(plane.row(row.id).await, row);
    let web = owner_on(Surface::Web, fresh);
    plane.decide(&web, row.id, yes).await.unwrap();
    assert_eq!(
        plane.ended(row.id).await.approval().unwrap().by,
        "owner-web"
    );
}

async fn one_is_decided_by_its_code_and_nothing_by_a_wrong_key(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&owner(), "stop-a").await;
    let nobody = ProposalId::new(plane.clock.now(), [7; 10]);
    let missing = plane
        .decide(&owner(), nobody, seen(Decision::Approve, &row))
        .await;
    assert!(matches!(missing, Err(DecideError::NotFound)));
    assert_eq!(plane.row(row.id).await, row);
    let key = ProposalKey::parse(&row.code.to_string().to_lowercase()).unwrap();
    assert_eq!(key, ProposalKey::Code(row.code.clone()));
    let approved = plane
        .decide_by(&owner(), key, seen(Decision::Approve, &row))
        .await;
    assert_eq!(approved.unwrap().id, row.id);
    plane.ended(row.id).await;
}

async fn what_was_withdrawn_is_not_decided(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    let withdraw = async |ctx| {
        let id = row.id;
        plane
            .inside(async move |control, _| cancel(&control, &ctx, id).await)
            .await
    };
    assert!(withdraw(agent("red")).await.is_err());
    assert_eq!(plane.status(row.id).await, Status::Pending);
    let withdrawn = withdraw(agent("blue")).await.unwrap();
    assert!(matches!(
        withdrawn.state,
        State::Cancelled {
            why: Cancellation::Withdrawn,
            ..
        }
    ));
    assert_eq!(
        conflict(plane.approve(&row).await),
        ("already_decided", withdrawn)
    );
    assert!(withdraw(agent("blue")).await.is_err(), "once");
    assert!(plane.machine.effects().is_empty());
}

async fn a_reason_is_bounded(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&owner(), "stop-a").await;
    let no = |length: usize| DecideRequest {
        reason: Some("n".repeat(length)),
        ..seen(Decision::Reject, &row)
    };
    let bound = limits::REASON_BYTES_MAX;
    let long = plane.decide(&owner(), row.id, no(bound + 1)).await;
    assert!(matches!(long, Err(DecideError::ReasonTooLong)));
    assert_eq!(plane.status(row.id).await, Status::Pending);
    plane.decide(&owner(), row.id, no(bound)).await.unwrap();
}
