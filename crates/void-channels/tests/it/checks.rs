//! Health checks against real sockets: each way in which a service can be wrong has its own word.

use std::time::Duration;

use serde_json::{Value, json};
use void_channels::{Checker, Trust};
use void_domain::services::{CheckResult, Services};
use void_testkit::free_port;

use crate::sockets::{Canned, Does, Identity, says};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

async fn look(checker: &Checker, check: Value) -> CheckResult {
    let file = json!({"services": [{"id": "it", "label": "it", "check": check, "timeout_s": 1}]});
    let services = Services::parse(&file.to_string()).unwrap();
    let service = services.get("it").unwrap();
    let looked = tokio::time::timeout(Duration::from_secs(10), checker.check(service)).await;
    looked.expect("a check keeps to its time").unwrap()
}

async fn reason(check: Value) -> Option<&'static str> {
    look(&Checker::new(None), check).await.reason()
}

fn http(port: u16) -> Value {
    json!({"kind": "http", "url": format!("http://127.0.0.1:{port}/health?deep=1")})
}

fn https(host: &str, port: u16) -> Value {
    json!({"kind": "http", "url": format!("https://{host}:{port}/")})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_answers_is_good() {
    let server = Canned::plain(says(OK)).await;
    let tcp = json!({"kind": "tcp", "address": format!("127.0.0.1:{}", server.port)});
    let checker = Checker::new(None);
    let answer = look(&checker, tcp).await;
    assert!(matches!(answer, CheckResult::Good { code: None, .. }));
    assert!(server.received().is_empty());
    let answer = look(&checker, http(server.port)).await;
    assert!(matches!(
        answer,
        CheckResult::Good {
            code: Some(200),
            ..
        }
    ));
    let head = &server.received()[0];
    assert!(
        head.starts_with("GET /health?deep=1 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains(&format!("\r\nHost: 127.0.0.1:{}\r\n", server.port)));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_trouble_has_its_own_word() {
    let nobody = free_port();
    let tcp = json!({"kind": "tcp", "address": format!("127.0.0.1:{nobody}")});
    assert_eq!(reason(tcp).await, Some("refused"));
    assert_eq!(reason(http(nobody)).await, Some("refused"));
    for (does, word) in [
        (Does::Nothing, "timed_out"),
        (Does::Resets, "reset"),
        (says(""), "reset"),
        (says("SSH-2.0-OpenSSH_9.2\r\n"), "not_http"),
        (says("HTTP/1.1 2000 OK\r\n\r\n"), "not_http"),
        (says(&"x".repeat(100_000)), "not_http"),
        (
            says("HTTP/1.1 503 Service Unavailable\r\n\r\n"),
            "wrong_status",
        ),
        (says("HTTP/1.0 404\r\n\r\n"), "wrong_status"),
    ] {
        let server = Canned::plain(does).await;
        assert_eq!(reason(http(server.port)).await, Some(word));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_without_an_address_says_nothing_about_the_service() {
    let unknown = json!({"kind": "tcp", "address": "no-such-name.invalid:80"});
    let answer = look(&Checker::new(None), unknown).await;
    // A resolver that does not answer at all takes the whole time.
    let word = answer.reason().unwrap();
    assert!(["unknown_name", "timed_out"].contains(&word), "{word}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wanted_status_is_the_only_good_one() {
    let server = Canned::plain(says("HTTP/1.1 401 Unauthorized\r\n\r\n")).await;
    let mut check = http(server.port);
    check["status"] = json!(401);
    let answer = look(&Checker::new(None), check.clone()).await;
    assert!(matches!(
        answer,
        CheckResult::Good {
            code: Some(401),
            ..
        }
    ));
    check["status"] = json!(200);
    assert_eq!(reason(check).await, Some("wrong_status"));
    let server = Canned::plain(says(OK)).await;
    let mut check = http(server.port);
    check["status"] = json!(204);
    assert_eq!(reason(check).await, Some("wrong_status"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_the_pinned_one_or_signed_or_not_trusted() {
    let identity = Identity::new(&["127.0.0.1"]);
    let server = Canned::secure(says(OK), &identity).await;
    let pinned = |fingerprint: String| {
        let mut check = https("127.0.0.1", server.port);
        check["certificate"] = json!(fingerprint);
        check
    };
    assert_eq!(
        reason(pinned(identity.fingerprint.to_fingerprint())).await,
        None
    );
    let other = Identity::new(&["127.0.0.1"]).fingerprint.to_fingerprint();
    assert_eq!(reason(pinned(other)).await, Some("certificate"));
    // Nobody is trusted unless somebody was named.
    let signed = https("127.0.0.1", server.port);
    assert_eq!(reason(signed.clone()).await, Some("certificate"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, &identity.pem).unwrap();
    let trusting = Checker::new(Some(&Trust::from_bundle(&file).unwrap()));
    let answer = look(&trusting, signed).await;
    assert_eq!(answer.reason(), None);
    let answer = look(&trusting, https("localhost", server.port)).await;
    assert_eq!(answer.reason(), Some("certificate"));
    // Requests went out only where the certificate was trusted.
    assert_eq!(server.received().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_port_is_no_secure_one() {
    let server = Canned::plain(Does::Greets(b"220 mail ready\r\n")).await;
    let mut check = https("127.0.0.1", server.port);
    check["certificate"] = json!("0".repeat(64));
    assert_eq!(reason(check).await, Some("not_http"));
    assert_eq!(reason(http(server.port)).await, Some("not_http"));
}
