//! What a power operation does, and when there is nothing to do.

use std::time::Duration;

use serde_json::json;
use void_channels::{Channel as _, Evidence};
use void_domain::freezes::FreezeSwitch;
use void_domain::permits::Ticket;
use void_rehearsal::proxmox::{Fault, GuestStatus, Operation};

use super::{Pve, channels, claimed};
use crate::lab::{done, failed, no_evidence, now, wait_until};

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_is_followed_to_its_end_and_done_once() {
    let pve = Pve::new();
    for (id, vmid, operation) in [
        ("stop-107", 107, Operation::Stop),
        ("start-107", 107, Operation::Start),
        ("reboot-107", 107, Operation::Reboot),
        ("shutdown-104", 104, Operation::Shutdown),
        ("start-104", 104, Operation::Start),
        ("stop-109", 109, Operation::Stop),
    ] {
        let before = pve.server.effects().len();
        let running = pve.running(id);
        let result = done(pve.execute(&pve.channels, &running).await);
        assert_eq!(result["changed"], json!(true), "{id}");
        assert_eq!(result["exitstatus"], json!("OK"), "{id}");
        let effects = pve.server.effects();
        assert_eq!(effects.len(), before + 1, "{id}");
        let effect = effects.last().unwrap();
        assert_eq!((effect.vmid, effect.operation), (vmid, operation));
        assert_eq!(result["upid"], json!(effect.upid));
        // Asked later, the task list says the same.
        let Evidence::Done { result: later } = pve.settle(&pve.channels, &running).await else {
            panic!("{id}")
        };
        assert_eq!(later, result, "{id}");
        assert_eq!(pve.server.effects().len(), before + 1, "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_in_the_wanted_state_is_left_alone() {
    let pve = Pve::new();
    for (id, status) in [
        ("start-107", "running"),
        ("start-104", "running"),
        ("stop-108", "stopped"),
        ("shutdown-108", "stopped"),
    ] {
        let result = done(pve.run(id).await);
        assert_eq!(result["changed"], json!(false), "{id}");
        assert_eq!(result["status"], json!(status), "{id}");
    }
    // Somebody's lock does not matter where nothing is to be done.
    pve.server.set_lock(107, Some("backup"));
    assert_eq!(done(pve.run("start-107").await)["changed"], json!(false));
    let failure = failed(pve.run("reboot-108").await, "not_running");
    assert!(failure.message.contains("CT 108 on z does not run"));
    assert_eq!(pve.posts(), 0);
}

/// Between our look and our request somebody else was faster; a container says so at once, a machine
/// in its task.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_got_there_meanwhile_is_done_without_a_change() {
    for (id, vmid, to) in [
        ("start-108", 108, GuestStatus::Running),
        ("stop-107", 107, GuestStatus::Stopped),
        ("start-104", 104, GuestStatus::Running),
    ] {
        let pve = Pve::new();
        if vmid == 104 {
            pve.server.set_status(104, GuestStatus::Stopped);
        }
        let slow = Fault::Slow(Duration::from_millis(300));
        let kind = if vmid == 104 { "qemu" } else { "lxc" };
        let op = id.split('-').next().unwrap();
        let path = format!("/nodes/z/{kind}/{vmid}/status/{op}");
        pve.server.faults().once(slow, &path);
        let (outcome, ()) = tokio::join!(pve.run(id), async {
            wait_until("the request", || pve.posts() == 1).await;
            pve.server.set_status(vmid, to);
        });
        assert_eq!(done(outcome)["changed"], json!(false), "{id}");
        assert_eq!(pve.effects_on(vmid), 0, "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_when_frozen_or_too_late_or_not_configured() {
    let pve = Pve::new();
    let freeze_switch = FreezeSwitch::default();
    freeze_switch.pull();
    let running = pve.running("stop-107");
    let frozen = pve
        .execute_unless(&pve.channels, &running, freeze_switch)
        .await;
    assert!(
        failed(frozen, "frozen")
            .message
            .ends_with("nothing was sent")
    );
    let late = claimed(pve.running("stop-107"), now(), now());
    failed(pve.execute(&pve.channels, &late).await, "expired");
    let none = channels(&pve.catalogue, &tempfile::tempdir().unwrap(), None);
    failed(pve.execute(&none, &running).await, "not_configured");
    let ticket = Ticket::of(&running).unwrap();
    let asked = none
        .settle(running.subject.execution().unwrap(), &ticket)
        .await;
    assert_eq!(no_evidence(asked).code, "not_configured");
    assert_eq!(pve.posts(), 0);
    assert!(pve.server.effects().is_empty());
}

/// The freeze switch is looked at after connecting, however long that took.
#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_while_looking_stops_the_request() {
    let pve = Pve::new();
    let slow = Fault::Slow(Duration::from_millis(300));
    pve.server
        .faults()
        .once(slow, "/nodes/z/lxc/107/status/current");
    let freeze_switch = FreezeSwitch::default();
    let running = pve.running("stop-107");
    let execute = pve.execute_unless(&pve.channels, &running, freeze_switch.clone());
    let (outcome, ()) = tokio::join!(execute, async {
        wait_until("the look", || pve.server.request_count() == 1).await;
        freeze_switch.pull();
    });
    failed(outcome, "frozen");
    assert_eq!(pve.posts(), 0);
}
