//! Whoever answers in Proxmox' place learns nothing and leads nowhere: no redirect is followed, the
//! token goes to one server and into no text, and no answer is endless.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use void_channels::{Channels, Outcome, Patience, Trust};
use void_rehearsal::proxmox::Fault;

use super::{PATIENT, Pve, SECRET, TOKEN, config};
use crate::lab::{failed, unknown};
use crate::sockets::{Canned, Does, Identity, says};

const RUNNING: &str = r#"{"data":{"status":"running","vmid":107}}"#;
const DATE: &str = "Date: Sun, 15 Nov 2026 20:55:00 GMT\r\n";

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{DATE}{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Says that the guest runs, and this to everything else.
fn to_the_rest(rest: Vec<u8>) -> Does {
    Does::Says(Arc::new(move |head: &str| {
        if head.contains("/status/current") {
            answer("200 OK", "", RUNNING)
        } else {
            rest.clone()
        }
    }))
}

fn channels(pve: &Pve, port: u16, identity: &Identity) -> Channels {
    let patience = Patience {
        call: Duration::from_secs(3),
        settle: Duration::from_millis(150),
        ..PATIENT
    };
    let url = format!("https://127.0.0.1:{port}");
    let trust = Trust::Pinned(identity.fingerprint);
    pve.channels_with(config(&url, TOKEN, &trust).with_patience(patience))
}

async fn stop(pve: &Pve, server: &Canned, identity: &Identity) -> Outcome {
    let channels = channels(pve, server.port, identity);
    pve.execute(&channels, &pve.running("stop-107")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_followed_nowhere_and_the_token_goes_nowhere_else() {
    let (pve, identity) = (Pve::new(), Identity::new(&["127.0.0.1"]));
    let elsewhere = Canned::secure(says("HTTP/1.1 200 OK\r\n\r\n"), &identity).await;
    let plain = Canned::plain(says("HTTP/1.1 200 OK\r\n\r\n")).await;
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        for target in [
            format!("https://127.0.0.1:{}/", elsewhere.port),
            format!("http://127.0.0.1:{}/", plain.port),
        ] {
            let redirect = answer(status, &format!("Location: {target}\r\n"), "");
            let always = Does::Says(Arc::new({
                let redirect = redirect.clone();
                move |_| redirect.clone()
            }));
            let server = Canned::secure(always, &identity).await;
            failed(stop(&pve, &server, &identity).await, "redirected");
            assert_eq!(server.received().len(), 1);
            // A redirect in answer to the request itself proves nothing.
            let server = Canned::secure(to_the_rest(redirect), &identity).await;
            let failure = unknown(stop(&pve, &server, &identity).await);
            assert_eq!(failure.code, "redirected");
            let posts = server.received();
            let posts = posts.iter().filter(|head| head.starts_with("POST "));
            assert_eq!(posts.count(), 1);
        }
    }
    assert!(elsewhere.received().is_empty() && plain.received().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_the_token_is_repeated_nowhere() {
    let (pve, identity) = (Pve::new(), Identity::new(&["127.0.0.1"]));
    for echo in [
        answer(&format!("500 you sent {SECRET}"), "", ""),
        answer(
            "500 no",
            "",
            &format!(r#"{{"message":"you sent PVEAPIToken={TOKEN}"}}"#),
        ),
        answer("200 OK", "", &format!(r#"{{"data":"{SECRET}"}}"#)),
    ] {
        let server = Canned::secure(to_the_rest(echo), &identity).await;
        let failure = unknown(stop(&pve, &server, &identity).await);
        assert_eq!(failure.code, "bad_answer");
        assert!(!failure.message.contains(SECRET), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_accepted_without_a_task_of_ours_is_not_done() {
    let (pve, identity) = (Pve::new(), Identity::new(&["127.0.0.1"]));
    for data in [
        "null",
        "\"\"",
        "\"UPID:../x:1:2:3:vzstop:107:void@pve!actions:\"",
        "\"UPID:z:0001A2B3:0034F5C7:66A1B2C3:vzstop:108:void@pve!actions:\"",
        "\"UPID:z:0001A2B3:0034F5C7:66A1B2C3:vzstart:107:void@pve!actions:\"",
        "[]",
    ] {
        let body = format!("{{\"data\":{data}}}");
        let server = Canned::secure(to_the_rest(answer("200 OK", "", &body)), &identity).await;
        let failure = unknown(stop(&pve, &server, &identity).await);
        assert_eq!(failure.code, "bad_answer", "{data}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_read_without_a_bound() {
    let (pve, identity) = (Pve::new(), Identity::new(&["127.0.0.1"]));
    let long = |head: &str, filler: &str| {
        let mut text = head.as_bytes().to_vec();
        text.extend(filler.repeat(9 * 1024 * 1024 / filler.len()).into_bytes());
        Does::Says(Arc::new(move |_| text.clone()))
    };
    for does in [
        long(
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n{\"data\":\"",
            "x",
        ),
        long("HTTP/1.1 200 ", "x"),
        long("HTTP/1.1 200 OK\r\n", "X-Filler: 1\r\n"),
    ] {
        let server = Canned::secure(does, &identity).await;
        failed(stop(&pve, &server, &identity).await, "connection_lost");
    }
    let server = Canned::secure(Does::Nothing, &identity).await;
    failed(stop(&pve, &server, &identity).await, "timeout");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// On one thread, so that the log sees everything.
#[tokio::test]
async fn the_token_is_in_no_log_and_no_text() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    // Where there is one subscriber alone, whoever comes to a line first decides for everybody whether it is
    // ever written, and that may be another test's thread, which has none.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(subscriber);
    let pve = Pve::new();
    let path = "/nodes/z/lxc/107/status/stop";
    pve.server.faults().once(Fault::DropAfter, path);
    let mut said = format!("{:?} {:?}", pve.config(TOKEN), pve.run("stop-107").await);
    said += &format!("{:?}", pve.run("stop-107").await);
    said += &format!("{:?}", pve.channels.probe().lab().await);
    said += &String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(said.contains("an answer was lost"), "{said}");
    assert!(said.contains("void@pve!actions"));
    assert!(!said.contains(SECRET));
}
