//! Server and node disagree about the time (libfaketime): tickets are judged by the server's time, so what is wanted
//! runs, once, and what is over stays over.

use serde_json::json;

use super::stand::{Stand, run_to_end, wait_until_here};
use crate::lab::word;

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
const MONTH: &str = "2592000";

/// A program's clock, so many seconds off.
fn off_by(seconds: &str) -> [(&str, &str); 3] {
    [
        ("LD_PRELOAD", LIBRARY),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ("FAKETIME", seconds),
    ]
}

/// What a node starts has no environment of ours and so the machine's clock: the server is moved, and the node's own
/// program, in either direction.
#[test]
fn a_node_whose_clock_is_off_does_what_is_wanted_once() {
    let (ahead, back) = (format!("+{MONTH}"), format!("-{MONTH}"));
    for (server_clock, node_clock) in [
        (&*ahead, "+0"),
        (&*back, "+0"),
        ("+0", &*ahead),
        ("+0", &*back),
        (&*ahead, &*back),
    ] {
        let context = format!("server {server_clock} s, node {node_clock} s");
        let stand = Stand::new();
        let mut server = stand.lab.serve(&off_by(server_clock));
        stand.admit(&server, "n1", stand.lab.address);
        let mut node = stand.run_with("n1", &off_by(node_clock));
        wait_until_here(&server, "n1");
        let row = run_to_end(&server, "restart-web", &json!({}));
        assert_eq!(word(&row, "status"), "executed", "{context}: {row:#}");
        let scaled = run_to_end(&server, "scale-web", &json!({"replicas": 2}));
        assert_eq!(word(&scaled, "status"), "executed", "{context}: {scaled:#}");
        // Both start again: what each wrote down with its own clock still counts.
        node.kill();
        server.kill();
        let server = stand.lab.serve(&off_by(server_clock));
        let _node = stand.run_with("n1", &off_by(node_clock));
        wait_until_here(&server, "n1");
        let again = run_to_end(&server, "restart-web", &json!({}));
        assert_eq!(word(&again, "status"), "executed", "{context}: {again:#}");
        let counts = ["restart-web", "scale-web"].map(|id| stand.count(id));
        assert_eq!(counts, [2, 1], "{context}");
    }
}
