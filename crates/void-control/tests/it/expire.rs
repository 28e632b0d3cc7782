//! Time passes: what nobody decided expires, what was approved and could not start lapses, and neither runs.

use std::time::Duration;

use serde_json::json;
use void_control::proposals::ProposeRequest;
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::proposals::{State, Status};

use crate::callers::{agent, owner};
use crate::planes::Plane;
use crate::requests::{at_once, conflict, request};

stories!(
    what_nobody_decided_expires_once,
    nothing_expires_a_moment_early,
    what_was_approved_and_could_not_start_lapses,
    what_has_lapsed_does_not_start_before_the_sweep_sees_it,
    what_has_just_expired_is_not_joined,
    more_than_one_batch_expires_together,
    what_has_ended_does_not_expire,
    a_frozen_plane_lets_things_expire,
);

const MILLISECOND: Duration = Duration::from_millis(1);

async fn what_nobody_decided_expires_once(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "brief-stop").await;
    assert_eq!(row.expires_at, row.created_at.plus(Duration::from_secs(60)));
    plane.go_to(row.expires_at);
    let ended = plane.becomes(row.id, Status::Expired).await;
    assert!(matches!(ended.state, State::Expired { lapsed: None, .. }));
    let by = |status, by: &str| (status, by.to_owned());
    let expected = [
        by(Status::Pending, "agent-blue"),
        by(Status::Expired, "system"),
    ];
    assert_eq!(plane.steps(row.id).await, expected);
    assert_eq!(conflict(plane.approve(&row).await).0, "expired");
    assert!(plane.machine.effects().is_empty());
}

async fn nothing_expires_a_moment_early(plane: &mut Plane) {
    plane.start().await;
    let mut rows = Vec::new();
    for name in ["first", "second", "third"] {
        rows.push(plane.queue(&agent(name), "brief-stop").await);
        plane.pass(MILLISECOND);
    }
    // When the second has expired, a whole sweep has passed the third by.
    for row in &rows[..2] {
        plane.go_to(row.expires_at);
        plane.becomes(row.id, Status::Expired).await;
    }
    assert_eq!(plane.clock.now(), rows[2].expires_at.minus(MILLISECOND));
    assert_eq!(plane.status(rows[2].id).await, Status::Pending);
    plane.approve(&rows[2]).await.unwrap();
    assert_eq!(plane.ended(rows[2].id).await.status(), Status::Executed);
}

async fn what_was_approved_and_could_not_start_lapses(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let row = plane.queue(&agent("blue"), "stop-slow").await;
    let approved = plane.approve(&row).await.unwrap();
    assert_eq!(approved.status(), Status::Approved);
    plane.pass(APPROVAL_LAPSES_AFTER);
    let ended = plane.becomes(row.id, Status::Expired).await;
    let State::Expired { lapsed, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(lapsed.as_ref(), approved.approval());
    // Its target is free too late.
    plane.machine.release();
    plane.ended(slow.id).await;
    assert_eq!(plane.row(row.id).await, ended);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}

async fn what_has_lapsed_does_not_start_before_the_sweep_sees_it(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let row = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&row).await.unwrap();
    plane.pass(APPROVAL_LAPSES_AFTER);
    plane.machine.release();
    plane.ended(slow.id).await;
    plane.becomes(row.id, Status::Expired).await;
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}

async fn what_has_just_expired_is_not_joined(plane: &mut Plane) {
    plane.start().await;
    let mut ids = Vec::new();
    // The sweep comes once a second and sees few of them first.
    for _ in 0..10 {
        let row = plane.queue(&agent("blue"), "brief-stop").await;
        assert_eq!(row.count, 1);
        ids.push(row.id);
        plane.go_to(row.expires_at);
    }
    plane.becomes(ids[9], Status::Expired).await;
    for id in ids {
        let steps = plane.steps(id).await;
        assert_eq!(steps[1..], [(Status::Expired, "system".to_owned())]);
    }
    let entries = plane.audit().await;
    let mut expired = entries
        .iter()
        .filter(|entry| entry.verb == "proposal.expired");
    assert!(expired.all(|entry| entry.actor == "system"));
}

async fn more_than_one_batch_expires_together(plane: &mut Plane) {
    const COUNT: usize = 120;
    plane.start().await;
    let owner = owner();
    let rows = at_once(COUNT, |number| {
        let params = json!({"replicas": number, "zone": "north", "image": "web"});
        let request = ProposeRequest {
            params,
            ..request("scale-a")
        };
        plane.queue_as(&owner, request)
    })
    .await;
    plane.go_to(rows[0].expires_at);
    plane.becomes(rows[COUNT - 1].id, Status::Expired).await;
    void_testkit::eventually("all to expire", || async {
        (plane.count(Status::Expired).await == 120).then_some(())
    })
    .await;
    assert_eq!(plane.audited("proposal.expired").await.len(), COUNT);
}

async fn what_has_ended_does_not_expire(plane: &mut Plane) {
    plane.start().await;
    let mut ended = Vec::new();
    for action in ["touch-a", "fail-a"] {
        let row = plane.run(&owner(), action).await;
        ended.push(plane.ended(row.id).await);
    }
    let row = plane.queue(&owner(), "stop-a").await;
    ended.push(plane.reject(&row).await.unwrap());
    let row = plane.queue(&owner(), "stop-b").await;
    plane.approve(&row).await.unwrap();
    ended.push(plane.ended(row.id).await);
    plane.go_to(row.expires_at);
    plane.sweep().await;
    for row in ended {
        assert_eq!(plane.row(row.id).await, row);
    }
}

async fn a_frozen_plane_lets_things_expire(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&waits).await.unwrap();
    let row = plane.queue(&owner(), "brief-stop").await;
    plane.freeze().await;
    plane.machine.release();
    plane.ended(slow.id).await;
    // A freeze prolongs no yes.
    plane.pass(APPROVAL_LAPSES_AFTER);
    for id in [row.id, waits.id] {
        plane.becomes(id, Status::Expired).await;
    }
    plane.thaw().await;
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}
