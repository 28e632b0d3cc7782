//! From the yes to the machine: one at a time on a target, nothing during a freeze, and each once.

use std::time::Duration;

use void_control::proposals::{self, CancelError, Proposed};
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_testkit::eventually;

use crate::callers::{agent, owner};
use crate::links::Network;
use crate::planes::Plane;
use crate::requests::request;

stories!(
    what_is_approved_waits_for_its_target_and_goes_in_turn,
    many_that_wait_run_once_each,
    a_freeze_holds_what_is_approved,
    the_owner_takes_back_what_has_not_started,
    a_yes_does_not_last_longer_by_an_edited_time,
    a_freeze_stops_what_is_on_its_way,
    a_freeze_that_is_over_has_stopped_it_too,
    a_cooldown_holds_what_is_approved,
    a_caller_that_goes_away_changes_nothing,
    a_lost_run_keeps_its_target_busy,
);

/// Approved while something slow is on its target, and later than any before.
async fn waiting(plane: &Plane, name: &str, action: &str) -> Proposal {
    plane.pass(Duration::from_millis(1));
    let row = plane.queue(&agent(name), action).await;
    let approved = plane.approve(&row).await.unwrap();
    assert_eq!(approved.status(), Status::Approved, "its target is busy");
    approved
}

async fn what_is_approved_waits_for_its_target_and_goes_in_turn(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    let first = waiting(plane, "blue", "stop-slow").await;
    let second = waiting(plane, "blue", "cool-slow").await;
    // What has another target does not wait.
    let other = plane.queue(&owner(), "stop-a").await;
    plane.approve(&other).await.unwrap();
    plane.ended(other.id).await;
    assert_eq!(plane.count(Status::Approved).await, 2);
    plane.machine.release();
    for row in [slow, first, second] {
        assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    }
    let mut effects = plane.machine.effects();
    effects.retain(|id| id != "stop-a");
    assert_eq!(effects, ["slow-a", "stop-slow", "cool-slow"]);
}

async fn many_that_wait_run_once_each(plane: &mut Plane) {
    plane.start().await;
    plane.run(&owner(), "slow-a").await;
    let mut ids = Vec::new();
    for number in 0..8 {
        let name = format!("agent{number}");
        ids.push(waiting(plane, &name, "stop-slow").await.id);
    }
    plane.machine.release();
    for id in ids {
        assert_eq!(plane.ended(id).await.status(), Status::Executed);
        let started = plane.steps(id).await;
        let runs = started.iter().filter(|(to, _)| *to == Status::Running);
        assert_eq!(runs.count(), 1);
    }
    assert_eq!(plane.machine.effect_counts()["stop-slow"], 8);
}

async fn a_freeze_holds_what_is_approved(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let row = waiting(plane, "blue", "stop-slow").await;
    plane.freeze().await;
    plane.machine.release();
    plane.ended(slow.id).await;
    plane.sweep().await;
    assert_eq!(plane.status(row.id).await, Status::Approved);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
    plane.thaw().await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn the_owner_takes_back_what_has_not_started(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let row = waiting(plane, "blue", "stop-slow").await;
    // The yes was the owner's, and so is taking it back.
    let by_agent = plane.cancel(&agent("blue"), row.id).await;
    assert!(
        matches!(by_agent, Err(CancelError::NotPending(_))),
        "{by_agent:?}"
    );
    let cancelled = plane.cancel(&owner(), row.id).await.unwrap();
    assert!(matches!(
        cancelled.state,
        State::Cancelled {
            why: Cancellation::Withdrawn,
            ..
        }
    ));
    let again = plane.cancel(&owner(), row.id).await;
    assert!(
        matches!(again, Err(CancelError::NotPending(_))),
        "{again:?}"
    );
    let running = plane.cancel(&owner(), slow.id).await;
    assert!(
        matches!(running, Err(CancelError::NotPending(_))),
        "{running:?}"
    );
    plane.machine.release();
    plane.ended(slow.id).await;
    plane.sweep().await;
    assert_eq!(plane.row(row.id).await, cancelled);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}

async fn a_yes_does_not_last_longer_by_an_edited_time(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let row = waiting(plane, "blue", "stop-slow").await;
    let ten_minutes = 10 * 60 * 1_000;
    let edit = |id, by: i64| {
        let sql =
            format!("UPDATE proposals SET approved_at = approved_at + {by} WHERE id = '{id}'");
        plane.edit(&sql);
    };
    edit(row.id, ten_minutes);
    plane.pass(APPROVAL_LAPSES_AFTER);
    plane.machine.release();
    plane.ended(slow.id).await;
    let ended = plane.becomes(row.id, Status::Cancelled).await;
    assert!(matches!(
        ended.state,
        State::Cancelled {
            why: Cancellation::NotOnRecord,
            ..
        }
    ));
    assert_eq!(plane.machine.effects(), ["slow-a"]);
    // Of what has ended it is named.
    for by in [1, -1] {
        edit(slow.id, by);
        let walk = plane
            .inside(async |control, _| void_control::audit::verify(&control).await)
            .await
            .unwrap();
        let named = format!("{:?}", walk.mismatches);
        assert_eq!(walk.mismatches.total, u64::from(by > 0), "{named}");
        assert_eq!(named.contains("time of the approval"), by > 0, "{named}");
    }
}

async fn a_freeze_stops_what_is_on_its_way(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Stuck);
    let safe = plane.run(&agent("blue"), "touch-a").await;
    let risky = plane.queue(&agent("blue"), "stop-a").await;
    let risky = plane.approve(&risky).await.unwrap();
    assert_eq!(risky.status(), Status::Running);
    plane.freeze().await;
    plane.link.set(Network::Up);
    for row in [safe, risky] {
        let ended = plane.ended(row.id).await;
        assert_eq!(ended.status(), Status::Failed);
        assert_eq!(ended.failure().unwrap().code, "frozen");
    }
    assert!(plane.machine.effects().is_empty());
}

async fn a_freeze_that_is_over_has_stopped_it_too(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Stuck);
    let before = plane.run(&owner(), "touch-a").await;
    plane.freeze().await;
    plane.thaw().await;
    // Only what was claimed after the thaw goes out.
    let after = plane.run(&owner(), "touch-b").await;
    plane.link.set(Network::Up);
    assert_eq!(
        plane.ended(before.id).await.failure().unwrap().code,
        "frozen"
    );
    assert_eq!(plane.ended(after.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["touch-b"]);
}

async fn a_cooldown_holds_what_is_approved(plane: &mut Plane) {
    plane.start().await;
    // They expire a moment before the cooldown is over, and show that the sweep was there.
    let mut markers = Vec::new();
    for name in ["first", "second"] {
        markers.push(plane.queue(&agent(name), "brief-stop").await);
        plane.pass(Duration::from_millis(100));
    }
    plane.run(&owner(), "slow-a").await;
    let first = waiting(plane, "blue", "cool-slow").await;
    let second = waiting(plane, "red", "cool-slow").await;
    plane.machine.release();
    let started = plane.ended(first.id).await.run().unwrap().started_at;
    for marker in markers {
        plane.go_to(marker.expires_at);
        plane.becomes(marker.id, Status::Expired).await;
    }
    assert_eq!(plane.status(second.id).await, Status::Approved);
    assert_eq!(plane.machine.effect_counts()["cool-slow"], 1);
    let over = started.plus(Duration::from_secs(60));
    plane.go_to(over);
    let second = plane.ended(second.id).await;
    assert_eq!(second.status(), Status::Executed);
    assert_eq!(second.run().unwrap().started_at, over);
}

async fn a_caller_that_goes_away_changes_nothing(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&owner(), "stop-a").await;
    let (yes, id) = (
        crate::requests::seen(proposals::Decision::Approve, &row),
        row.id,
    );
    // Each is dropped right after it was begun.
    plane
        .inside(async move |control, _| {
            let key = proposals::ProposalKey::Id(id);
            let owner = owner();
            let decided = proposals::decide(&control, &owner, key, yes);
            let _ = tokio::time::timeout(Duration::ZERO, decided).await;
            let asked = proposals::propose(&control, &owner, request("touch-a"));
            let _ = tokio::time::timeout(Duration::ZERO, asked).await;
        })
        .await;
    plane.becomes(row.id, Status::Executed).await;
    eventually("the safe one to end", || async {
        (plane.count(Status::Executed).await == 2).then_some(())
    })
    .await;
    assert_eq!(plane.machine.effects().len(), 2);
}

async fn a_lost_run_keeps_its_target_busy(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    let lost = plane.run(&owner(), "touch-slow").await;
    assert_eq!(plane.ended(lost.id).await.status(), Status::Unknown);
    let refused = plane
        .propose(&owner(), request("touch-slow"))
        .await
        .unwrap();
    assert!(matches!(refused, Proposed::Refused(refusal, _) if refusal.code().as_str() == "busy"));
    let row = waiting(plane, "blue", "stop-slow").await;
    plane.sweep().await;
    assert_eq!(plane.status(row.id).await, Status::Approved);
    // Evidence sets it free.
    plane.link.set(Network::Up);
    plane.crash_and_start().await;
    plane.becomes(lost.id, Status::Executed).await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["touch-slow", "stop-slow"]);
}
