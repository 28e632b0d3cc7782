//! A machine that is at something else until the ticket ends: a person's yes is put back and tried again for as long as it
//! lasts, nothing runs twice, and nobody's yes lasts longer by it.

use std::time::Duration;

use void_domain::ids::ProposalId;
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_testkit::eventually;

use crate::callers::{agent, owner};
use crate::links::Network;
use crate::planes::Plane;

stories!(
    a_yes_is_not_used_up_by_a_busy_machine,
    it_lapses_when_it_would_have_without_a_try,
    a_restart_tries_it_again_once,
    a_freeze_holds_it_back_until_it_is_lifted,
    the_owner_takes_it_back_between_two_tries,
    it_does_not_last_longer_by_an_edited_time,
    what_was_edited_in_a_try_is_not_put_back,
    what_policy_let_through_is_over,
);

/// Approved by the owner, tried once, and put back.
async fn put_back(plane: &mut Plane) -> Proposal {
    plane.limits.busy_lasts = Duration::ZERO;
    plane.start().await;
    plane.link.set(Network::Busy);
    let row = plane.queue(&agent("blue"), "stop-a").await;
    let approved = plane.approve(&row).await.unwrap();
    let waiting = plane.becomes(row.id, Status::Approved).await;
    assert_eq!(
        waiting.approval(),
        approved.approval(),
        "it is the same yes"
    );
    assert_eq!(waiting.run(), None);
    waiting
}

async fn mismatches(plane: &Plane) -> usize {
    let walk = plane
        .inside(async |control, _| void_control::audit::verify(&control).await)
        .await;
    walk.unwrap().mismatches.named.len()
}

async fn is_cancelled_because(plane: &Plane, id: ProposalId, expected: Cancellation) {
    let ended = plane.becomes(id, Status::Cancelled).await;
    assert!(
        matches!(ended.state, State::Cancelled { why, .. } if why == expected),
        "{:?}",
        ended.state
    );
}

async fn a_yes_is_not_used_up_by_a_busy_machine(plane: &mut Plane) {
    let row = put_back(plane).await;
    assert_eq!(mismatches(plane).await, 0);
    assert!(plane.machine.effects().is_empty());
    plane.link.set(Network::Up);
    plane.sweep().await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["stop-a"]);
    assert_eq!(mismatches(plane).await, 0);
    let steps = plane.steps(row.id).await;
    let states: Vec<Status> = steps.iter().map(|(status, _)| *status).collect();
    let expected = [
        Status::Pending,
        Status::Approved,
        Status::Running,
        Status::Approved,
    ];
    assert_eq!(states[..4], expected);
    assert_eq!(steps[3].1, "system");
    assert_eq!(states.last(), Some(&Status::Executed));
}

async fn it_lapses_when_it_would_have_without_a_try(plane: &mut Plane) {
    let row = put_back(plane).await;
    plane.pass(APPROVAL_LAPSES_AFTER);
    let ended = plane.becomes(row.id, Status::Expired).await;
    assert!(matches!(
        ended.state,
        State::Expired {
            lapsed: Some(_),
            ..
        }
    ));
    plane.link.set(Network::Up);
    plane.sweep().await;
    assert!(plane.machine.effects().is_empty());
}

async fn a_restart_tries_it_again_once(plane: &mut Plane) {
    let row = put_back(plane).await;
    // Of a try that a crash cut off the machine says that it was not started, and bars it.
    plane.freeze().await;
    plane.becomes(row.id, Status::Approved).await;
    plane.link.set(Network::Up);
    plane.crash_and_start().await;
    plane.thaw().await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    plane.sweep().await;
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn a_freeze_holds_it_back_until_it_is_lifted(plane: &mut Plane) {
    let row = put_back(plane).await;
    plane.freeze().await;
    plane.link.set(Network::Up);
    plane.sweep().await;
    assert_eq!(plane.status(row.id).await, Status::Approved);
    assert!(plane.machine.effects().is_empty());
    plane.thaw().await;
    plane.sweep().await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn the_owner_takes_it_back_between_two_tries(plane: &mut Plane) {
    let row = put_back(plane).await;
    // What is being tried right now cannot be taken back.
    eventually("it to be between two tries", || async {
        plane.cancel(&owner(), row.id).await.ok()
    })
    .await;
    is_cancelled_because(plane, row.id, Cancellation::Withdrawn).await;
    plane.link.set(Network::Up);
    plane.sweep().await;
    assert!(plane.machine.effects().is_empty());
}

const TEN_MINUTES_MS: i64 = 10 * 60 * 1_000;

fn edit_the_yes(plane: &Plane, id: ProposalId, by_ms: i64) {
    plane.edit(&format!(
        "UPDATE proposals SET approved_at = approved_at + {by_ms} WHERE id = '{id}'"
    ));
}

async fn it_does_not_last_longer_by_an_edited_time(plane: &mut Plane) {
    let row = put_back(plane).await;
    // Nothing is tried while it is edited.
    plane.freeze().await;
    plane.becomes(row.id, Status::Approved).await;
    edit_the_yes(plane, row.id, TEN_MINUTES_MS);
    plane.thaw().await;
    is_cancelled_because(plane, row.id, Cancellation::NotOnRecord).await;
    plane.link.set(Network::Up);
    plane.sweep().await;
    assert!(plane.machine.effects().is_empty());
}

async fn what_was_edited_in_a_try_is_not_put_back(plane: &mut Plane) {
    plane.limits.busy_lasts = Duration::ZERO;
    plane.start().await;
    plane.link.set(Network::Stuck);
    let row = plane.queue(&agent("blue"), "stop-a").await;
    plane.approve(&row).await.unwrap();
    edit_the_yes(plane, row.id, TEN_MINUTES_MS);
    plane.link.set(Network::Busy);
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Failed);
    assert_eq!(ended.failure().unwrap().code, "busy");
    edit_the_yes(plane, row.id, -TEN_MINUTES_MS);
}

async fn what_policy_let_through_is_over(plane: &mut Plane) {
    plane.limits.busy_lasts = Duration::ZERO;
    plane.start().await;
    plane.link.set(Network::Busy);
    let row = plane.run(&agent("blue"), "touch-a").await;
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Failed);
    assert_eq!(ended.failure().unwrap().code, "busy");
}
