//! Every switch: what the client sees, and what happened all the same.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use serde_json::json;
use void_rehearsal::proxmox::{FAULTS_MAX, Fault, GuestStatus, ProxmoxServer, Scope, Times};

use crate::client::Client;
use crate::lab::{self, ACTIONS, eventually};

const STOP: &str = "/nodes/z/lxc/107/status/stop";

fn with(fault: Fault) -> (ProxmoxServer, Client) {
    let server = lab::server();
    server.faults().once(fault, STOP);
    let client = lab::client(&server, ACTIONS);
    (server, client)
}

fn took_effect(server: &ProxmoxServer) {
    eventually("the effect", || (server.effects().len() == 1).then_some(()));
    assert_eq!(server.guest(107).unwrap().status, GuestStatus::Stopped);
}

fn took_no_effect(server: &ProxmoxServer) {
    assert_eq!(server.running_tasks(), 0);
    assert!(server.effects().is_empty());
}

#[test]
fn slow() {
    let (server, client) = with(Fault::Slow(Duration::from_millis(250)));
    let begun = Instant::now();
    assert_eq!(client.post(STOP, "").status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(250));
    took_effect(&server);
}

#[test]
fn slow_and_the_client_gone_meanwhile() {
    let (server, client) = with(Fault::Slow(Duration::from_millis(200)));
    let mut connection = client.connect().unwrap();
    let login = format!("Authorization: PVEAPIToken={ACTIONS}={}", lab::SECRET);
    let request = format!("POST /api2/json{STOP} HTTP/1.1\r\nHost: x\r\n{login}\r\n\r\n");
    connection.send_raw(&request).unwrap();
    eventually("the request", || {
        (server.request_count() == 1).then_some(())
    });
    drop(connection);
    took_effect(&server);
}

#[test]
fn dropped_before_it_is_processed() {
    let (server, client) = with(Fault::DropBefore);
    assert!(client.send("POST", STOP, "").is_err());
    assert_eq!(server.request_count(), 1);
    took_no_effect(&server);
}

#[test]
fn dropped_after_it_took_effect() {
    let (server, client) = with(Fault::DropAfter);
    let error = client.send("POST", STOP, "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    // The task list knows.
    let tasks = client
        .get("/nodes/z/tasks?source=all&vmid=107&typefilter=vzstop")
        .data();
    assert_eq!(tasks.as_array().unwrap().len(), 1);
    took_effect(&server);
    assert_eq!(server.effects()[0].upid, tasks[0]["upid"].as_str().unwrap());
}

#[test]
fn server_error() {
    let (server, client) = with(Fault::ServerError("got no worker upid".to_owned()));
    let answer = client.post(STOP, "");
    assert_eq!(answer.line(), "500 got no worker upid");
    assert_eq!(
        answer.json(),
        json!({"data": null, "message": "got no worker upid\n"})
    );
    took_no_effect(&server);
}

#[test]
fn node_unreachable() {
    let (server, client) = with(Fault::Unreachable);
    let answer = client.post(STOP, "");
    assert_eq!(answer.line(), "595 No route to host");
    assert_eq!(answer.body, b"");
    took_no_effect(&server);
}

#[test]
fn proxy_lost_the_answer() {
    let (server, client) = with(Fault::ProxyLost);
    assert_eq!(client.post(STOP, "").line(), "596 Connection timed out");
    took_effect(&server);
}

#[test]
fn half_an_answer() {
    let (server, client) = with(Fault::HalfAnswer);
    let error = client.send("POST", STOP, "").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    took_effect(&server);
}

#[test]
fn half_an_answer_arrives_as_a_half() {
    let server = lab::server();
    server.faults().once(Fault::HalfAnswer, "/nodes");
    let mut connection = lab::client(&server, ACTIONS).connect().unwrap();
    let login = format!("Authorization: PVEAPIToken={ACTIONS}={}", lab::SECRET);
    let request = format!("GET /api2/json/nodes HTTP/1.1\r\nHost: x\r\n{login}\r\n\r\n");
    connection.send_raw(&request).unwrap();
    let read = connection.read_until_end();
    let (head, body) = read.split_once("\r\n\r\n").unwrap();
    let length = head.to_lowercase();
    let length = length.split("content-length: ").nth(1).unwrap();
    let length: usize = length.lines().next().unwrap().parse().unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(body.len(), length / 2);
}

#[test]
fn garbage() {
    let (server, client) = with(Fault::Garbage);
    let answer = client.post(STOP, "");
    assert_eq!(answer.line(), "200 OK");
    assert!(serde_json::from_slice::<serde_json::Value>(&answer.body).is_err());
    took_effect(&server);
}

#[test]
fn endless_body() {
    let (server, client) = with(Fault::EndlessBody);
    let mut connection = client.connect().unwrap();
    let login = format!("Authorization: PVEAPIToken={ACTIONS}={}", lab::SECRET);
    let request = format!("POST /api2/json{STOP} HTTP/1.1\r\nHost: x\r\n{login}\r\n\r\n");
    connection.send_raw(&request).unwrap();
    let begun = Instant::now();
    let read = connection.read_for(Duration::from_millis(450));
    assert!(begun.elapsed() >= Duration::from_millis(450));
    assert!(read.contains("transfer-encoding: chunked") && read.contains("{\"data\":["));
    took_effect(&server);
}

#[test]
fn task_fails() {
    let (server, client) = with(Fault::storage_offline("nas"));
    assert_eq!(lab::power(&client, STOP, ""), "storage 'nas' is not online");
    took_no_effect(&server);
}

#[test]
fn scope_and_times() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let faults = server.faults();
    faults.always(Fault::Unreachable, "/nodes/z/lxc");
    assert!(faults.set(Fault::Unreachable, Scope::under("/version"), Times::Once));
    assert_eq!(faults.count(), 2);
    for _ in 0..2 {
        assert_eq!(client.get("/nodes/z/lxc").status, 595);
        assert_eq!(client.get("/nodes/z/lxc/107/status/current").status, 595);
        assert_eq!(client.get("/nodes/z/qemu").status, 200);
    }
    assert_eq!(
        (client.get("/version").status, client.get("/version").status),
        (595, 200)
    );
    assert_eq!(faults.count(), 1);
    faults.clear();
    assert_eq!(client.get("/nodes/z/lxc").status, 200);
    assert!(faults.set(Fault::Unreachable, Scope::Everywhere, Times::Once));
    assert_eq!(
        (client.get("/nodes").status, client.get("/nodes").status),
        (595, 200)
    );
    // The first ones stay: none is pushed out unseen.
    faults.once(Fault::Unreachable, "/version");
    for number in 1..FAULTS_MAX + 5 {
        let fits = faults.set(Fault::DropBefore, Scope::under("/never"), Times::Once);
        assert_eq!(fits, number < FAULTS_MAX);
    }
    assert_eq!(faults.count(), FAULTS_MAX);
    assert_eq!(client.get("/version").status, 595);
}

#[test]
fn two_at_once() {
    let server = lab::server();
    server
        .faults()
        .once(Fault::Slow(Duration::from_millis(150)), STOP);
    server.faults().once(Fault::DropAfter, STOP);
    let begun = Instant::now();
    assert!(
        lab::client(&server, ACTIONS)
            .send("POST", STOP, "")
            .is_err()
    );
    assert!(begun.elapsed() >= Duration::from_millis(150));
    took_effect(&server);
}
