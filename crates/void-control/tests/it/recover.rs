//! A crash in each state, and what the next start makes of it: nothing runs twice, and unknown is only what nobody
//! can know.

use std::time::Duration;

use serde_json::json;
use void_control::proposals::is_current;
use void_domain::limits::{APPROVAL_LAPSES_AFTER, CLAIM_LEASE};
use void_domain::proposals::{Cancellation, Proposal, State, Status};

use crate::callers::{agent, owner};
use crate::links::Network;
use crate::machines::CATALOGUE;
use crate::planes::Plane;
use crate::requests::conflict;

stories!(
    what_waited_for_a_person_waits_on,
    what_was_approved_starts_when_its_target_is_free,
    a_run_that_ended_meanwhile_is_known,
    a_run_that_goes_on_is_followed_to_its_end,
    a_run_that_was_never_sent_never_runs,
    a_run_that_nobody_can_tell_about_is_unknown,
    crash_after_crash_runs_nothing_twice,
    a_definition_that_changed_withdraws_what_waits,
    a_run_is_asked_about_although_its_definition_changed,
    without_a_catalogue_what_waits_is_kept,
    a_freeze_outlasts_a_crash,
    an_approval_lapses_while_nobody_is_there,
    what_waited_expires_while_nobody_is_there,
    a_stop_leaves_what_is_approved_for_the_next_start,
);

/// On PostgreSQL another instance might be at it until its lease is over.
fn lease_is_over(plane: &Plane) {
    plane.pass(CLAIM_LEASE);
}

/// Approved by the owner and sent.
async fn begun(plane: &Plane, action: &str) -> Proposal {
    let row = plane.queue(&agent("blue"), action).await;
    let row = plane.approve(&row).await.unwrap();
    assert_eq!(row.status(), Status::Running);
    plane.begun(action).await;
    row
}

async fn what_waited_for_a_person_waits_on(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    plane.crash_and_start().await;
    assert_eq!(plane.row(row.id).await, row);
    assert!(plane.machine.effects().is_empty());
    plane.approve(&row).await.unwrap();
    plane.ended(row.id).await;
    plane.crash_and_start().await;
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
    assert_eq!(plane.machine.effects(), ["stop-a"]);
}

async fn what_was_approved_starts_when_its_target_is_free(plane: &mut Plane) {
    plane.start().await;
    let slow = begun(plane, "slow-stop").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    let waits = plane.approve(&waits).await.unwrap();
    assert_eq!(waits.status(), Status::Approved);
    plane.crash();
    lease_is_over(plane);
    plane.start().await;
    // The machine is still at the first one.
    assert_eq!(plane.row(waits.id).await, waits);
    plane.machine.release();
    for id in [slow.id, waits.id] {
        assert_eq!(plane.ended(id).await.status(), Status::Executed);
    }
    assert_eq!(plane.machine.effects(), ["slow-stop", "stop-slow"]);
}

async fn a_run_that_ended_meanwhile_is_known(plane: &mut Plane) {
    plane.start().await;
    let row = begun(plane, "slow-stop").await;
    plane.crash();
    plane.machine.release();
    lease_is_over(plane);
    plane.start().await;
    let ended = plane.ended(row.id).await;
    let State::Executed { result, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(
        (&result["exit"], &result["stdout"]),
        (&json!(0), &json!("done: slow-stop\n"))
    );
    assert_eq!(plane.machine.effects(), ["slow-stop"]);
}

async fn a_run_that_goes_on_is_followed_to_its_end(plane: &mut Plane) {
    plane.start().await;
    let row = begun(plane, "slow-stop").await;
    plane.crash();
    lease_is_over(plane);
    plane.start().await;
    let (refusal, _) = plane.refused(&owner(), "touch-slow").await;
    assert_eq!(refusal.code().as_str(), "busy");
    assert_eq!(plane.status(row.id).await, Status::Running);
    plane.machine.release();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-stop"]);
}

async fn a_run_that_was_never_sent_never_runs(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Stuck);
    let row = plane.queue(&agent("blue"), "stop-a").await;
    let row = plane.approve(&row).await.unwrap();
    assert_eq!(row.status(), Status::Running);
    plane.crash();
    plane.link.set(Network::Up);
    lease_is_over(plane);
    plane.start().await;
    // Known not to have been done, which is not unknown; and it is not started anew.
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Failed);
    assert_eq!(ended.failure().unwrap().code, "not_started");
    assert!(plane.machine.effects().is_empty());
}

async fn a_run_that_nobody_can_tell_about_is_unknown(plane: &mut Plane) {
    plane.start().await;
    let row = begun(plane, "slow-stop").await;
    plane.crash();
    plane.machine.release();
    plane.link.set(Network::Down);
    // Its end must have come, and the machine does not answer.
    let overdue = row.subject.execution().unwrap().timeout + Duration::from_secs(30);
    plane.pass(overdue);
    plane.start().await;
    let unknown = plane.ended(row.id).await;
    assert_eq!(unknown.status(), Status::Unknown);
    assert_eq!(unknown.failure().unwrap().code, "connection_lost");
    plane.link.set(Network::Up);
    plane.crash_and_start().await;
    plane.becomes(row.id, Status::Executed).await;
    assert_eq!(plane.machine.effects(), ["slow-stop"]);
}

async fn crash_after_crash_runs_nothing_twice(plane: &mut Plane) {
    plane.start().await;
    let row = begun(plane, "slow-stop").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&waits).await.unwrap();
    for _ in 0..3 {
        plane.crash();
        // Three times this is longer than a lease and shorter than its time.
        plane.pass(CLAIM_LEASE / 2);
        plane.start().await;
        assert_eq!(plane.machine.effects(), ["slow-stop"]);
    }
    plane.machine.release();
    for id in [row.id, waits.id] {
        assert_eq!(plane.ended(id).await.status(), Status::Executed);
    }
    plane.crash_and_start().await;
    assert_eq!(plane.machine.effects(), ["slow-stop", "stop-slow"]);
}

/// The catalogue after somebody has changed what these two mean.
fn changed() -> String {
    let mut catalogue: serde_json::Value = serde_json::from_str(CATALOGUE).unwrap();
    for action in catalogue["actions"].as_array_mut().unwrap() {
        if action["id"] == "stop-a" || action["id"] == "stop-slow" || action["id"] == "slow-stop" {
            action["timeout_s"] = json!(7);
        }
    }
    catalogue.to_string()
}

async fn a_definition_that_changed_withdraws_what_waits(plane: &mut Plane) {
    plane.start().await;
    let slow = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let pending = plane.queue(&agent("blue"), "stop-a").await;
    let same = plane.queue(&agent("blue"), "stop-b").await;
    let approved = plane.queue(&agent("blue"), "stop-slow").await;
    plane.approve(&approved).await.unwrap();
    plane.crash();
    plane.machine.release();
    lease_is_over(plane);
    plane.catalogue = changed();
    plane.start().await;
    for row in [&pending, &approved] {
        let ended = plane.row(row.id).await;
        let State::Cancelled { by, why, .. } = &ended.state else {
            panic!("{ended:?}");
        };
        assert_eq!(
            (by.as_str(), *why),
            ("system", Cancellation::DefinitionChanged)
        );
        assert_eq!(
            conflict(plane.approve(row).await),
            ("already_decided", ended)
        );
    }
    assert_eq!(plane.row(same.id).await, same);
    plane.ended(slow.id).await;
    assert_eq!(plane.machine.effects(), ["slow-a"]);
    // Asked for again it is another one, and can be approved.
    let again = plane.queue(&agent("blue"), "stop-a").await;
    assert_ne!(again.subject.digest, pending.subject.digest);
}

async fn a_run_is_asked_about_although_its_definition_changed(plane: &mut Plane) {
    plane.start().await;
    let row = begun(plane, "slow-stop").await;
    plane.crash();
    lease_is_over(plane);
    plane.catalogue = changed();
    plane.start().await;
    plane.machine.release();
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Executed);
    assert_eq!(ended.subject, row.subject, "it ran as it was approved");
}

async fn without_a_catalogue_what_waits_is_kept(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    plane.crash();
    plane.catalogue = r#"{"actions": []}"#.to_owned();
    plane.start().await;
    let is_current = {
        let row = row.clone();
        plane.inside(async move |control, _| is_current(&control, &row))
    };
    assert!(!is_current.await);
    assert_eq!(
        conflict(plane.approve(&row).await),
        ("changed", row.clone())
    );
    plane.crash();
    plane.catalogue = CATALOGUE.to_owned();
    plane.start().await;
    plane.approve(&row).await.unwrap();
    assert_eq!(plane.ended(row.id).await.status(), Status::Executed);
}

async fn a_freeze_outlasts_a_crash(plane: &mut Plane) {
    plane.start().await;
    let slow = begun(plane, "slow-stop").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&waits).await.unwrap();
    plane.freeze().await;
    plane.crash();
    plane.machine.release();
    lease_is_over(plane);
    plane.start().await;
    plane.ended(slow.id).await;
    let (refusal, _) = plane.refused(&owner(), "touch-a").await;
    assert_eq!(refusal.code().as_str(), "frozen");
    plane.sweep().await;
    assert_eq!(plane.status(waits.id).await, Status::Approved);
    assert_eq!(plane.machine.effects(), ["slow-stop"]);
    plane.thaw().await;
    assert_eq!(plane.ended(waits.id).await.status(), Status::Executed);
}

async fn an_approval_lapses_while_nobody_is_there(plane: &mut Plane) {
    plane.start().await;
    let slow = begun(plane, "slow-stop").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&waits).await.unwrap();
    plane.crash();
    plane.machine.release();
    plane.pass(APPROVAL_LAPSES_AFTER);
    plane.start().await;
    let ended = plane.becomes(waits.id, Status::Expired).await;
    assert!(matches!(
        ended.state,
        State::Expired {
            lapsed: Some(_),
            ..
        }
    ));
    assert_eq!(plane.ended(slow.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-stop"]);
}

async fn what_waited_expires_while_nobody_is_there(plane: &mut Plane) {
    plane.start().await;
    let row = plane.queue(&agent("blue"), "stop-a").await;
    plane.crash();
    plane.go_to(row.expires_at);
    plane.start().await;
    // Whether the sweep was here or not.
    assert_eq!(conflict(plane.approve(&row).await).0, "expired");
    assert_eq!(plane.status(row.id).await, Status::Expired);
    assert!(plane.machine.effects().is_empty());
}

async fn a_stop_leaves_what_is_approved_for_the_next_start(plane: &mut Plane) {
    plane.start().await;
    let slow = begun(plane, "slow-stop").await;
    let waits = plane.queue(&owner(), "stop-slow").await;
    plane.approve(&waits).await.unwrap();
    let (stop, release) = (plane.ask_to_stop(), async {
        plane.is_stopping().await;
        plane.machine.release();
    });
    tokio::join!(stop, release);
    assert_eq!(plane.status(slow.id).await, Status::Executed);
    assert_eq!(plane.status(waits.id).await, Status::Approved);
    plane.crash_and_start().await;
    assert_eq!(plane.ended(waits.id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-stop", "stop-slow"]);
}
