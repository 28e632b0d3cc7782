//! Whose task is it? Settling takes nobody else's work for ours, and says not done only when nothing
//! speaks for it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use void_channels::{Channel as _, Channels, Evidence, ProxmoxConfig, Trust};
use void_domain::digests::Digest;
use void_domain::freezes::FreezeSwitch;
use void_domain::proposals::Proposal;
use void_domain::secrets::Secret;
use void_domain::time::Timestamp;
use void_rehearsal::proxmox::{Fault, GuestStatus};

use super::{OTHER, PATIENT, Pve, TOKEN, claimed, long_over};
use crate::lab::{done, failed, no_evidence, now, permit, wait_until};

/// Channels that remember nothing, as after a restart.
fn fresh(pve: &Pve) -> Channels {
    pve.channels_with(pve.config(TOKEN))
}

async fn code(pve: &Pve, channels: &Channels, running: &Proposal) -> String {
    no_evidence(pve.settle(channels, running).await)
        .code
        .to_string()
}

#[track_caller]
fn not_started(evidence: Evidence) {
    let Evidence::Failed(failure) = evidence else {
        panic!("{evidence:?}")
    };
    assert_eq!(failure.code, "not_started");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_left_no_task_is_not_done_only_when_it_can_no_longer_arrive() {
    let pve = Pve::new();
    let running = pve.running("stop-107");
    assert_eq!(code(&pve, &pve.channels, &running).await, "no_task");
    not_started(pve.settle(&pve.channels, &long_over(running.clone())).await);
    let ago = |days: u64| now().minus(Duration::from_secs(days * 24 * 60 * 60));
    let old = claimed(running.clone(), ago(3), ago(2));
    assert_eq!(code(&pve, &pve.channels, &old).await, "forgotten");
    // A list that cannot be read says nothing.
    pve.server
        .faults()
        .once(Fault::DropBefore, "/nodes/z/tasks");
    assert_eq!(
        code(&pve, &pve.channels, &long_over(running)).await,
        "connection_lost"
    );
    assert_eq!(pve.posts(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_token_is_not_ours() {
    let pve = Pve::new();
    let ours = long_over(pve.running("stop-107"));
    let other = pve.channels_with(pve.config(OTHER));
    done(pve.execute(&other, &pve.running("stop-107")).await);
    // Somebody stopped it. It was not us, as far as the list says; the guest leaves doubt.
    assert_eq!(code(&pve, &fresh(&pve), &ours).await, "ambiguous");
    pve.server.set_status(107, GuestStatus::Running);
    not_started(pve.settle(&fresh(&pve), &ours).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_operation_or_guest_is_not_ours() {
    let pve = Pve::new();
    let (stop, shutdown) = (pve.running("stop-107"), pve.running("shutdown-107"));
    let neighbour = pve.running("stop-104");
    done(pve.execute(&pve.channels, &shutdown).await);
    pve.server.set_status(107, GuestStatus::Running);
    not_started(pve.settle(&fresh(&pve), &long_over(stop)).await);
    not_started(pve.settle(&fresh(&pve), &long_over(neighbour)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_from_before_the_claim_is_not_ours() {
    let pve = Pve::new();
    done(pve.run("stop-107").await);
    pve.server.set_status(107, GuestStatus::Running);
    let later = |seconds| now().plus(Duration::from_secs(seconds));
    // Far from the claim it is somebody's old one; near it the clocks cannot tell.
    for (seconds, expected) in [(100, "no_task"), (30, "ambiguous")] {
        let running = claimed(pve.running("stop-107"), later(seconds), later(seconds + 60));
        assert_eq!(
            code(&pve, &fresh(&pve), &running).await,
            expected,
            "{seconds}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_known_to_be_another_proposals_is_not_ours() {
    let pve = Pve::new();
    let lost = pve.running("stop-107");
    let second = pve.running("stop-107");
    done(pve.execute(&pve.channels, &second).await);
    pve.server.set_status(107, GuestStatus::Running);
    not_started(pve.settle(&pve.channels, &long_over(lost)).await);
    assert!(matches!(
        pve.settle(&pve.channels, &second).await,
        Evidence::Done { .. }
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_that_could_be_ours_are_doubt() {
    let pve = Pve::new();
    let lost = pve.running("stop-107");
    for _ in 0..2 {
        pve.server.set_status(107, GuestStatus::Running);
        done(pve.run("stop-107").await);
    }
    assert_eq!(code(&pve, &fresh(&pve), &lost).await, "ambiguous");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_is_started_and_its_failure_is_told() {
    let pve = Pve::new();
    let path = "/nodes/z/lxc/107/status/stop";
    pve.server.faults().once(Fault::TaskHangs, path);
    let running = pve.running("stop-107");
    let task = {
        let action = pve
            .catalogue
            .get(running.subject.action_id().unwrap())
            .unwrap();
        let permit = permit(action, &running, FreezeSwitch::default());
        let channels = Arc::clone(&pve.channels);
        tokio::spawn(async move { channels.execute(permit).await })
    };
    wait_until("the task", || pve.server.running_tasks() == 1).await;
    task.abort();
    assert_eq!(pve.settle(&fresh(&pve), &running).await, Evidence::Started);
    pve.server.faults().once(
        Fault::storage_offline("nas"),
        "/nodes/z/qemu/104/status/stop",
    );
    pve.server
        .faults()
        .once(Fault::DropAfter, "/nodes/z/qemu/104/status/stop");
    let failure = failed(pve.run("stop-104").await, "task_failed");
    assert!(failure.message.contains("storage 'nas' is not online"));
}

/// Our clock is wrong by an hour, either way: the task is found all the same.
#[tokio::test(flavor = "multi_thread")]
async fn clocks_that_differ_hide_no_task_and_invent_none() {
    for ahead_ms in [-3_600_000_i64, 3_600_000] {
        let pve = Pve::new();
        let clock = move || Timestamp::from_ms(now().as_ms() + ahead_ms);
        let pinned = Digest::parse_fingerprint(&pve.server.fingerprint()).unwrap();
        let config = || {
            let token = Secret::new(TOKEN);
            let trust = Trust::Pinned(pinned);
            let config = ProxmoxConfig::new(&pve.server.url(), &token, &trust, Arc::new(clock));
            config.unwrap().with_patience(PATIENT)
        };
        let at = |seconds: u64| clock().plus(Duration::from_secs(seconds));
        let running = claimed(pve.running("stop-107"), clock(), at(60));
        let path = "/nodes/z/lxc/107/status/stop";
        pve.server.faults().once(Fault::DropAfter, path);
        let outcome = pve.execute(&pve.channels_with(config()), &running).await;
        assert_eq!(done(outcome)["changed"], json!(true));
        let later = pve.settle(&pve.channels_with(config()), &running).await;
        assert!(matches!(later, Evidence::Done { .. }), "{later:?}");
        // A claim long after it is another one.
        let next = claimed(pve.running("stop-107"), at(200), at(260));
        assert_eq!(
            code(&pve, &pve.channels_with(config()), &next).await,
            "no_task"
        );
        let skew = pve
            .channels_with(config())
            .probe()
            .proxmox_server()
            .await
            .unwrap();
        assert!((skew.clock_ahead_ms + ahead_ms).abs() < 60_000, "{skew:?}");
    }
}
