//! How a run ended is recorded once, as the machine said it, and never as more than it said.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use void_control::proposals::{ProposeError, wait_for_end};
use void_domain::ids::ProposalId;
use void_domain::proposals::{State, Status};

use crate::callers::{agent, owner};
use crate::links::Network;
use crate::planes::Plane;
use crate::requests::{at_once, request};

stories!(
    what_was_done_is_recorded_with_what_the_machine_said,
    what_failed_is_recorded_with_what_the_machine_said,
    a_lost_answer_is_unknown_and_neither_done_nor_failed,
    a_machine_that_is_stopped_is_not_sent_anything,
    a_list_that_differs_holds_what_is_risky,
    who_waits_is_told_and_who_is_impatient_is_not,
    a_run_that_outlasts_its_lease_stays_its_own,
    a_stop_waits_for_what_runs,
);

async fn what_was_done_is_recorded_with_what_the_machine_said(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&agent("blue"), "touch-a").await;
    let ended = plane.ended(row.id).await;
    let State::Executed { result, at, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(*at, plane.clock.now());
    let said = (&result["exit"], &result["stdout"], &result["host"]);
    assert_eq!(
        said,
        (&0.into(), &"done: touch-a\n".into(), &"local".into())
    );
    assert_eq!(
        plane.audited("proposal.executed").await[0]["result"],
        *result
    );
}

async fn what_failed_is_recorded_with_what_the_machine_said(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&agent("blue"), "fail-a").await;
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Failed);
    let failure = ended.failure().unwrap();
    assert_eq!(failure.code, "command_failed");
    let said = failure.result.as_ref().unwrap();
    assert_eq!(
        (&said["exit"], &said["stderr"]),
        (&3.into(), &"no such unit\n".into())
    );
    // It is not tried again, and it is not in the way.
    let again = plane.run(&agent("blue"), "fail-a").await;
    assert_eq!(plane.ended(again.id).await.status(), Status::Failed);
    assert_eq!(plane.machine.effects(), ["fail-a", "fail-a"]);
}

async fn a_lost_answer_is_unknown_and_neither_done_nor_failed(plane: &mut Plane) {
    plane.start().await;
    plane.link.set(Network::Deaf);
    for action in ["touch-a", "fail-a"] {
        let row = plane.run(&owner(), action).await;
        let ended = plane.ended(row.id).await;
        assert_eq!(ended.status(), Status::Unknown);
        let failure = ended.failure().unwrap();
        assert_eq!(failure.code, "connection_lost");
        assert_eq!(failure.result, None);
    }
    assert_eq!(
        plane.machine.effects(),
        ["touch-a", "fail-a"],
        "it had its effect"
    );
    // What never arrived cannot be told from it.
    plane.link.set(Network::Down);
    let row = plane.run(&owner(), "touch-b").await;
    assert_eq!(plane.ended(row.id).await.status(), Status::Unknown);
    plane.sweep().await;
    assert_eq!(plane.count(Status::Unknown).await, 3);
    assert_eq!(plane.machine.effects().len(), 2, "and nothing has it twice");
}

async fn a_machine_that_is_stopped_is_not_sent_anything(plane: &mut Plane) {
    plane.start().await;
    plane.machine.write("stop", "");
    for action in ["touch-a", "stop-a"] {
        let id = started(plane, action).await;
        let ended = plane.ended(id).await;
        assert_eq!(ended.status(), Status::Failed);
        assert_eq!(ended.failure().unwrap().code, "stopped_on_host");
    }
    assert!(plane.machine.effects().is_empty());
    plane.machine.remove("stop");
    let id = started(plane, "touch-a").await;
    assert_eq!(plane.ended(id).await.status(), Status::Executed);
}

async fn a_list_that_differs_holds_what_is_risky(plane: &mut Plane) {
    plane.start().await;
    let list = plane.machine.path().join("list.json");
    let mut edited: Value = serde_json::from_slice(&fs::read(&list).unwrap()).unwrap();
    let entries = edited["entries"].as_array_mut().unwrap();
    let entry = entries.iter_mut().find(|entry| entry["id"] == "stop-b");
    entry.unwrap()["def"] = "0".repeat(64).into();
    fs::write(&list, edited.to_string()).unwrap();
    // Also for an action whose own entry is right.
    for action in ["stop-a", "stop-b"] {
        let id = started(plane, action).await;
        let ended = plane.ended(id).await;
        assert_eq!(ended.failure().unwrap().code, "drift", "{ended:?}");
        assert_eq!(ended.status(), Status::Failed);
    }
    let id = started(plane, "touch-a").await;
    assert_eq!(plane.ended(id).await.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["touch-a"]);
}

/// Asked for by the owner, and approved if it has to be.
async fn started(plane: &Plane, action: &str) -> ProposalId {
    if action.starts_with("touch-") {
        return plane.run(&owner(), action).await.id;
    }
    let row = plane.queue(&owner(), action).await;
    plane.approve(&row).await.unwrap().id
}

async fn who_waits_is_told_and_who_is_impatient_is_not(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&owner(), "slow-a").await;
    let impatient = plane
        .inside(async move |control, _| {
            wait_for_end(&control, row.id, Duration::from_millis(50)).await
        })
        .await;
    assert_eq!(impatient.unwrap().status(), Status::Running);
    let (waiting, release) = (at_once(8, |_| plane.ended(row.id)), async {
        plane.machine.release();
    });
    let (told, ()) = tokio::join!(waiting, release);
    assert!(told.iter().all(|row| row.status() == Status::Executed));
}

async fn a_run_that_outlasts_its_lease_stays_its_own(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&owner(), "slow-a").await;
    plane.begun("slow-a").await;
    let lease = row.run().unwrap().lease_until;
    plane.sweep().await;
    assert!(plane.clock.now() > lease);
    assert_eq!(plane.status(row.id).await, Status::Running);
    plane.machine.release();
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
}

async fn a_stop_waits_for_what_runs(plane: &mut Plane) {
    plane.start().await;
    let row = plane.run(&owner(), "slow-a").await;
    let (stop, meanwhile) = (plane.ask_to_stop(), async {
        plane.is_stopping().await;
        let refused = plane.propose(&owner(), request("touch-a")).await;
        assert!(
            matches!(refused, Err(ProposeError::Store(_))),
            "nothing new begins: {refused:?}"
        );
        plane.machine.release();
    });
    tokio::join!(stop, meanwhile);
    assert_eq!(plane.status(row.id).await, Status::Executed);
    assert_eq!(plane.machine.effects(), ["slow-a"]);
    plane.crash();
    plane.start().await;
}
