//! Every way in which it does not work has its own code and says in words what is wrong. What is
//! called failed had no effect, or its task says so.

use std::time::Duration;

use void_channels::{Patience, Trust};
use void_domain::digests::Digest;
use void_domain::proposals::Failure;
use void_rehearsal::proxmox::{Access, Acl, Fault, Guest, Reach, Token, User};

use super::{PATIENT, Pve, SECRET, TOKEN, config};
use crate::lab::{failed, unknown, wait_until};

fn says(failure: &Failure, words: &[&str]) {
    for word in words {
        assert!(failure.message.contains(word), "{word}: {failure:?}");
    }
}

fn with_rights(acl: Vec<Acl>) -> Access {
    let tokens = vec![Token::separated("actions", SECRET, acl.clone())];
    Access {
        users: vec![User::new("void@pve", acl, tokens)],
        pools: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_guest_is_not_touched() {
    let pve = Pve::new();
    pve.server.set_lock(107, Some("backup"));
    let failure = failed(pve.run("stop-107").await, "locked");
    says(
        &failure,
        &["CT 107 on z", "locked (backup)", "nothing was changed"],
    );
    assert_eq!(pve.posts(), 0);
    // Locked after we looked: the task finds out.
    let slow = Fault::Slow(Duration::from_millis(200));
    pve.server
        .faults()
        .once(slow, "/nodes/z/qemu/104/status/stop");
    let (outcome, ()) = tokio::join!(pve.run("stop-104"), async {
        wait_until("the request", || pve.posts() == 1).await;
        pve.server.set_lock(104, Some("migrate"));
    });
    says(&failed(outcome, "locked"), &["VM is locked (migrate)"]);
    assert!(pve.server.effects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_away_is_named_so() {
    let pve = Pve::new();
    for reach in [Reach::Offline, Reach::NoApi] {
        pve.server.set_reach("y", reach);
        let failure = failed(pve.run("stop-109").await, "node_offline");
        says(
            &failure,
            &["cannot reach the node of CT 109 on y", "nothing was sent"],
        );
    }
    pve.server.set_reach("y", Reach::Online);
    // It went away after we looked.
    let path = "/nodes/y/lxc/109/status/stop";
    pve.server.faults().once(Fault::Unreachable, path);
    let failure = failed(pve.run("stop-109").await, "node_offline");
    says(&failure, &["nothing was changed"]);
    assert!(pve.server.effects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_rights_are_told_apart_from_missing_guests() {
    let pve = Pve::new();
    pve.server.remove_guest(108);
    let failure = failed(pve.run("start-108").await, "no_such_guest");
    says(&failure, &["CT 108 on z", "does not exist"]);
    pve.server
        .set_access(with_rights(vec![Acl::new("/vms/107", &["VM.Audit"])]));
    let failure = failed(pve.run("stop-107").await, "no_privilege");
    says(
        &failure,
        &["CT 107 on z", "VM.PowerMgmt", "nothing was changed"],
    );
    let failure = failed(pve.run("stop-104").await, "no_privilege");
    says(&failure, &["VM 104 on z", "VM.Audit", "nothing was sent"]);
    pve.server.set_access(with_rights(Vec::new()));
    failed(pve.run("stop-107").await, "no_privilege");
    assert!(pve.server.effects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_accepted_is_named_and_never_shown() {
    let pve = Pve::new();
    for token in [
        "void@pve!actions=00000000-0000-0000-0000-000000000000",
        "void@pve!gone=00000000-0000-0000-0000-000000000000",
        "nobody@pve!actions=00000000-0000-0000-0000-000000000000",
    ] {
        let channels = pve.channels_with(pve.config(token));
        let outcome = pve.execute(&channels, &pve.running("stop-107")).await;
        let failure = failed(outcome, "auth_refused");
        says(&failure, &["does not accept the token", "nothing was sent"]);
        assert!(!failure.message.contains("0000-0000"), "{failure:?}");
    }
    assert_eq!(pve.posts(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_fails_says_why() {
    let pve = Pve::new();
    let path = "/nodes/z/lxc/107/status/stop";
    pve.server
        .faults()
        .once(Fault::storage_offline("nas"), path);
    let failure = failed(pve.run("stop-107").await, "task_failed");
    says(
        &failure,
        &[
            "the task for CT 107 on z failed",
            "storage 'nas' is not online",
        ],
    );
    assert!(
        failure.result.unwrap()["upid"]
            .as_str()
            .unwrap()
            .starts_with("UPID:z:")
    );
    assert!(pve.server.effects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_outlives_its_action_is_unknown() {
    let guests = vec![
        Guest::lxc(107, "z", "stubborn")
            .running()
            .ignoring_shutdown(),
    ];
    let pve = Pve::of(guests, PATIENT, 1);
    // Proxmox waits a minute; the action's own limit is over before.
    let failure = unknown(pve.run("shutdown-107").await);
    assert_eq!(failure.code, "task_running");
    says(&failure, &["UPID:z:", "still runs"]);
    assert_eq!(pve.posts(), 1);
    assert!(pve.server.effects().is_empty());
}

/// An error that Proxmox gives after a worker began looks the same as one before. Nothing is called
/// not done while it may have been.
#[tokio::test(flavor = "multi_thread")]
async fn an_unfamiliar_error_is_doubt_and_the_task_list_decides() {
    let patience = Patience {
        settle: Duration::from_millis(300),
        ..PATIENT
    };
    let pve = Pve::of(vec![Guest::lxc(107, "z", "it").running()], patience, 60);
    let path = "/nodes/z/lxc/107/status/";
    let error = || Fault::ServerError("can't lock file '.active.lock' - got timeout".to_owned());
    pve.server.faults().once(error(), &format!("{path}stop"));
    let failure = unknown(pve.run("stop-107").await);
    assert_eq!(failure.code, "proxmox_error");
    says(
        &failure,
        &["Proxmox said 500 about CT 107 on z", "got timeout"],
    );
    // While only looking there is no doubt.
    pve.server.faults().once(error(), &format!("{path}current"));
    let failure = failed(pve.run("stop-107").await, "proxmox_error");
    says(&failure, &["nothing was sent"]);
    assert!(pve.server.effects().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_does_not_answer_is_unreachable_or_late() {
    let pve = Pve::new();
    let patience = Patience {
        call: Duration::from_millis(300),
        ..PATIENT
    };
    let hasty = pve.channels_with(pve.config(TOKEN).with_patience(patience));
    for fault in [Fault::Slow(Duration::from_secs(5)), Fault::EndlessBody] {
        pve.server
            .faults()
            .once(fault, "/nodes/z/lxc/107/status/current");
        let outcome = pve.execute(&hasty, &pve.running("stop-107")).await;
        says(
            &failed(outcome, "timeout"),
            &["did not answer within", "nothing was sent"],
        );
    }
    for (fault, code) in [
        (Fault::DropBefore, "connection_lost"),
        (Fault::HalfAnswer, "connection_lost"),
        (Fault::Garbage, "bad_answer"),
        (Fault::ProxyLost, "node_lost"),
    ] {
        pve.server
            .faults()
            .once(fault, "/nodes/z/lxc/107/status/current");
        says(
            &failed(pve.run("stop-107").await, code),
            &["nothing was sent"],
        );
    }
    let nobody = format!("https://127.0.0.1:{}", void_testkit::free_port());
    let trust = Trust::Pinned(Digest::ZERO);
    let channels = pve.channels_with(config(&nobody, TOKEN, &trust));
    let outcome = pve.execute(&channels, &pve.running("stop-107")).await;
    says(
        &failed(outcome, "unreachable"),
        &["cannot be reached", "nothing was sent"],
    );
    assert_eq!(pve.posts(), 0);
}
