//! Connections: kept, counted, idle, broken, and too many.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use void_rehearsal::proxmox::{CONNECTIONS_MAX, ProxmoxServer, REQUESTS_PER_CONNECTION_MAX};

use crate::lab::{self, ACTIONS};

#[test]
fn a_connection_serves_many_requests_until_one_fails() {
    let server = lab::server();
    let mut connection = lab::client(&server, ACTIONS).connect().unwrap();
    for _ in 0..3 {
        assert_eq!(connection.send("GET", "/version", "").unwrap().status, 200);
    }
    let failed = connection.send("GET", "/nothing", "").unwrap();
    assert_eq!(failed.header("connection").as_deref(), Some("close"));
    assert!(connection.send("GET", "/version", "").is_err());
}

#[test]
fn a_connection_serves_a_hundred_requests() {
    let server = lab::server();
    let mut connection = lab::client(&server, ACTIONS).connect().unwrap();
    for count in 1..=REQUESTS_PER_CONNECTION_MAX {
        let answer = connection.send("GET", "/version", "").unwrap();
        let is_last = count == REQUESTS_PER_CONNECTION_MAX;
        let expected = if is_last { "close" } else { "Keep-Alive" };
        assert_eq!(answer.header("connection").as_deref(), Some(expected));
    }
    assert!(connection.send("GET", "/version", "").is_err());
}

#[test]
fn an_idle_connection_is_closed() {
    let mut config = lab::config();
    let usual = config.idle_time_max;
    config.idle_time_max = Duration::from_millis(500);
    let server = ProxmoxServer::start(config).unwrap();
    let mut connection = lab::client(&server, ACTIONS).connect().unwrap();
    let begun = Instant::now();
    assert_eq!(connection.send("GET", "/version", "").unwrap().status, 200);
    assert!(connection.read_answer().is_err());
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_millis(500) && took < usual,
        "{took:?}"
    );
}

#[test]
fn plain_http_and_nonsense_get_no_answer() {
    let server = lab::server();
    for text in [
        "GET /api2/json/version HTTP/1.1\r\nHost: x\r\n\r\n",
        "\x16\x03\x01\x00\x05hello",
    ] {
        let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        socket.write_all(text.as_bytes()).unwrap();
        let mut read = Vec::new();
        let _ = socket.read_to_end(&mut read);
        assert!(!read.starts_with(b"HTTP"));
    }
    assert_eq!(server.request_count(), 0);
}

#[test]
fn connections_past_the_bound_wait_for_their_turn() {
    let server = lab::server();
    let client = lab::client(&server, ACTIONS);
    let idle: Vec<_> = (0..CONNECTIONS_MAX)
        .map(|_| TcpStream::connect(("127.0.0.1", server.port())).unwrap())
        .collect();
    let (sender, receiver) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || sender.send(client.get("/version").status));
    assert!(receiver.recv_timeout(Duration::from_millis(200)).is_err());
    drop(idle);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(5)).unwrap(), 200);
    waiting.join().unwrap().unwrap();
}

#[test]
fn requests_run_side_by_side() {
    let server = lab::server();
    let workers: Vec<_> = (0..16)
        .map(|_| {
            let client = lab::client(&server, ACTIONS);
            std::thread::spawn(move || {
                let mut connection = client.connect().unwrap();
                for _ in 0..50 {
                    assert_eq!(
                        connection.send("GET", "/nodes/z/lxc", "").unwrap().status,
                        200
                    );
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(server.request_count(), 800);
}
