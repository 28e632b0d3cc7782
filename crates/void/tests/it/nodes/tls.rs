//! A node across a network that may be read and answered by others: it speaks to the server that it knows by its
//! certificate or by who signed it, and to nobody else.

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use void_testkit::eventually_blocking;
use void_testkit::tls::{Identity, TlsFront};

use super::stand::{Stand, nodes, run_to_end, wait_until_here};
use crate::lab::{Server, VOID, word};

/// Asks to be let in, and does not wait for it.
fn join(stand: &Stand, front: &TlsFront, token: &str, trust: &[&str]) -> Output {
    Command::new(VOID)
        .args(["node", "join", &front.url(), "--no-wait", "--state"])
        .arg(stand.state("n1"))
        .args(trust)
        .env_clear()
        .env("VOID_JOIN_TOKEN", token)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn approve(stand: &Stand, server: &Server) {
    let node = nodes(server).pop().unwrap();
    assert_eq!(word(&node, "state"), "waiting", "{node}");
    let shown = word(&node, "fingerprint");
    let approve = ["node", "approve", "n1", "--fingerprint", shown];
    stand.lab.json(&approve, 0);
}

fn works(stand: &Stand, server: &Server, times: usize) {
    wait_until_here(server, "n1");
    let row = run_to_end(server, "restart-web", &json!({}));
    assert_eq!(
        word(&row, "status"),
        "executed",
        "{row:#}\n{}",
        stand.lab.log()
    );
    assert_eq!(stand.count("restart-web"), times);
}

#[test]
fn a_node_works_over_tls_and_speaks_to_nobody_with_another_certificate() {
    for by_pin in [false, true] {
        let stand = Stand::new();
        let server = stand.lab.serve(&[]);
        let (own, other) = (Identity::new(), Identity::new());
        let front = TlsFront::start(stand.lab.address, &own);
        let authority = stand.lab.path("authority.pem");
        fs::write(&authority, &own.authority_pem).unwrap();
        let trust = if by_pin {
            ["--fingerprint", own.fingerprint.as_str()]
        } else {
            ["--ca", authority.to_str().unwrap()]
        };
        let invited = stand.lab.json(&["node", "invite", "n1"], 0);
        let asked = join(&stand, &front, word(&invited, "token"), &trust);
        assert_eq!(asked.status.code(), Some(7), "{asked:?}");
        approve(&stand, &server);
        let mut node = stand.run("n1");
        works(&stand, &server, 1);

        front.is_taken_over_by(&other);
        eventually_blocking("the node to refuse the stranger", || {
            let away = nodes(&server)[0]["here"] == json!(false);
            (away && front.refusals().len() >= 2).then_some(())
        });
        assert_eq!(front.stolen_bytes(), 0, "not even a head of a request");
        assert!(node.has_ended().is_none(), "it waits for the right one");
        front.is_given_back_to(&own);
        works(&stand, &server, 2);
    }
}

#[test]
fn a_join_token_is_not_shown_to_a_server_that_cannot_be_known() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    let (own, other) = (Identity::new(), Identity::new());
    let front = TlsFront::start(stand.lab.address, &own);
    let invited = stand.lab.json(&["node", "invite", "n1"], 0);
    let authority = stand.lab.path("authority.pem");
    fs::write(&authority, &other.authority_pem).unwrap();
    let ca = ["--ca", authority.to_str().unwrap()];
    for trust in [&ca[..], &["--fingerprint", &other.fingerprint], &[]] {
        let refused = join(&stand, &front, word(&invited, "token"), trust);
        assert_ne!(refused.status.code(), Some(0), "{trust:?}: {refused:?}");
        let node = nodes(&server).pop().unwrap();
        assert_eq!(word(&node, "state"), "invited", "{trust:?}: {node}");
    }
    // The same token still opens the right door.
    let own_pin = ["--fingerprint", own.fingerprint.as_str()];
    let asked = join(&stand, &front, word(&invited, "token"), &own_pin);
    assert_eq!(asked.status.code(), Some(7), "{asked:?}");
}
