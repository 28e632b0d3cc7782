//! After a run: did it do what it was for? *Executed* is not *done*; what was not seen is not called verified.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use void_control::proposals::{ProposeRequest, Settled};
use void_domain::proposals::{Proposal, Status, Verification, VerificationOutcome};

use crate::callers::{agent, owner};
use crate::links::Network;
use crate::planes::Plane;
use crate::requests::request;

stories!(
    a_service_that_answers_verifies_the_run,
    a_service_that_stays_down_fails_the_check,
    a_service_that_cannot_be_read_leaves_it_unverified,
    without_a_check_it_is_unverified_at_once,
    copies_are_counted_by_the_machine,
    what_did_not_run_is_not_checked,
    a_crash_before_the_check_is_no_verdict,
);

/// By the time of the test's machine, not the manual clock's.
const SHORT: Duration = Duration::from_millis(300);

/// Watches `web` at this place.
fn watch(plane: &mut Plane, host: &str, port: u16) {
    let service = json!({"id": "web", "label": "Web", "check": {"kind": "tcp", "address": format!("{host}:{port}")}});
    plane.services = json!({"services": [service]}).to_string();
}

/// A service that answers as long as this is kept.
async fn put_up(plane: &mut Plane) -> TcpListener {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    watch(plane, "127.0.0.1", listener.local_addr().unwrap().port());
    listener
}

/// One whose port is taken as long as this is kept, and at which nobody listens.
fn take_down(plane: &mut Plane) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    watch(plane, "127.0.0.1", socket.local_addr().unwrap().port());
    socket
}

async fn ran(plane: &Plane, action: &str) -> Proposal {
    let row = plane.run(&agent("blue"), action).await;
    plane.ended(row.id).await
}

fn check(row: &Proposal) -> &Verification {
    assert_eq!(row.status(), Status::Executed, "{row:?}");
    row.verification().unwrap()
}

async fn a_service_that_answers_verifies_the_run(plane: &mut Plane) {
    let _up = put_up(plane).await;
    plane.start().await;
    let row = ran(plane, "touch-web").await;
    let seen = check(&row);
    assert_eq!(seen.outcome, VerificationOutcome::Verified);
    let detail = (&seen.detail["service"], &seen.detail["status"]);
    assert_eq!(detail, (&json!("web"), &json!("up")));
    // The run and its check are two entries, and the first one says nothing about the second.
    let executed = plane.audited("proposal.executed").await;
    assert_eq!(executed[0]["verification"], json!(null));
    let verified = plane.audited("proposal.verified").await;
    assert_eq!(verified.len(), 1);
    assert_eq!(verified[0]["verification"], "verified");
}

async fn a_service_that_stays_down_fails_the_check(plane: &mut Plane) {
    let _down = take_down(plane);
    plane.limits.verify_within = SHORT;
    plane.start().await;
    let row = ran(plane, "touch-web").await;
    let seen = check(&row);
    assert_eq!(seen.outcome, VerificationOutcome::Failed);
    assert_eq!(seen.detail["status"], "down");
    assert_eq!(plane.audited("proposal.verified").await.len(), 1);
    assert_eq!(
        plane.machine.effects(),
        ["touch-web"],
        "it is not tried again"
    );
}

async fn a_service_that_cannot_be_read_leaves_it_unverified(plane: &mut Plane) {
    watch(plane, "no-such-name.invalid", 80);
    plane.limits.verify_within = SHORT;
    plane.start().await;
    let row = ran(plane, "touch-web").await;
    let seen = check(&row);
    assert_eq!(seen.outcome, VerificationOutcome::Unverified);
    assert_eq!(seen.detail["status"], "unknown");
}

async fn without_a_check_it_is_unverified_at_once(plane: &mut Plane) {
    plane.start().await;
    // Also where the catalogue names a service that nobody watches.
    for action in ["touch-a", "touch-lost"] {
        let row = ran(plane, action).await;
        let seen = check(&row);
        assert_eq!(seen.outcome, VerificationOutcome::Unverified);
        assert_eq!(seen.detail, json!({"reason": "no_check"}));
    }
    assert!(plane.audited("proposal.verified").await.is_empty());
    let executed = plane.audited("proposal.executed").await;
    assert!(
        executed
            .iter()
            .all(|entry| entry["verification"] == "unverified")
    );
}

async fn scaled(plane: &Plane, action: &str, params: Value) -> Proposal {
    let request = ProposeRequest {
        params,
        ..request(action)
    };
    let row = plane.queue_as(&owner(), request).await;
    plane.approve(&row).await.unwrap();
    plane.ended(row.id).await
}

async fn copies_are_counted_by_the_machine(plane: &mut Plane) {
    plane.start().await;
    for (running, outcome) in [
        ("3", VerificationOutcome::Verified),
        ("2", VerificationOutcome::Failed),
    ] {
        plane.machine.write("running", running);
        let row = scaled(plane, "counted-a", json!({"copies": 3})).await;
        let seen = check(&row);
        assert_eq!(seen.outcome, outcome);
        let running: i64 = running.parse().unwrap();
        let replicas = json!({"wanted": 3, "running": running});
        assert_eq!(seen.detail["replicas"], replicas);
    }
    // Nobody counted: that it ended well says nothing.
    let params = json!({"replicas": 3, "zone": "north", "image": "web"});
    let row = scaled(plane, "scale-a", params).await;
    assert_eq!(check(&row).outcome, VerificationOutcome::Unverified);
}

async fn what_did_not_run_is_not_checked(plane: &mut Plane) {
    let _up = put_up(plane).await;
    plane.start().await;
    let failed = ran(plane, "fail-web").await;
    assert_eq!(failed.status(), Status::Failed);
    plane.link.set(Network::Deaf);
    let unknown = ran(plane, "touch-web").await;
    assert_eq!(unknown.status(), Status::Unknown);
    // The owner's word is no check either, though the service answers.
    let settled = plane.settle(&owner(), unknown.id, Settled::Executed).await;
    let settled = settled.unwrap();
    assert_eq!(check(&settled).outcome, VerificationOutcome::Unverified);
    plane.sweep().await;
    assert_eq!(plane.row(settled.id).await, settled);
    assert!(plane.audited("proposal.verified").await.is_empty());
}

async fn a_crash_before_the_check_is_no_verdict(plane: &mut Plane) {
    let _down = take_down(plane);
    plane.start().await;
    let id = plane.run(&owner(), "touch-web").await.id;
    let executed = plane.becomes(id, Status::Executed).await;
    assert!(executed.is_unchecked(), "its service is still down");
    plane.crash();
    // Long after its time: nobody looked, so nobody knows.
    plane.pass(plane.limits.verify_within + plane.limits.lease + Duration::from_secs(1));
    plane.start().await;
    let row = plane.ended(id).await;
    let seen = check(&row);
    assert_eq!(seen.outcome, VerificationOutcome::Unverified);
    assert_eq!(seen.detail["detail"]["reason"], "interrupted");
    assert_eq!(plane.audited("proposal.verified").await.len(), 1);
    assert_eq!(plane.machine.effects(), ["touch-web"]);
}
