//! The way between node and server, cut at every message: before it arrives, and after it arrived but before the
//! answer came back. A proxy cuts one message and is well from then on, or stays dead for a while.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::json;
use void_testkit::eventually_blocking;

use super::stand::{Stand, check_truth, rows_at_rest, wait_until_here};
use crate::lab::word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The request never arrives.
    Request,
    /// It arrives, and its answer is lost.
    Answer,
    /// The answer breaks off in the middle.
    HalfAnswer,
}

struct Plan {
    server: SocketAddr,
    /// The number of the message that is cut, counted from 1 once armed.
    message: usize,
    cut: Cut,
    armed: AtomicBool,
    seen: AtomicUsize,
    reached: AtomicBool,
    /// Nothing passes at all.
    dead: AtomicBool,
    /// What did not pass while it was dead.
    lost: AtomicUsize,
}

struct Proxy {
    address: SocketAddr,
    plan: Arc<Plan>,
}

impl Proxy {
    fn start(server: SocketAddr, message: usize, cut: Cut) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let plan = Arc::new(Plan {
            server,
            message,
            cut,
            armed: AtomicBool::new(false),
            seen: AtomicUsize::new(0),
            reached: AtomicBool::new(false),
            dead: AtomicBool::new(false),
            lost: AtomicUsize::new(0),
        });
        let of_thread = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let plan = Arc::clone(&of_thread);
                thread::spawn(move || _ = pass(&client, &plan));
            }
        });
        Self { address, plan }
    }
}

/// Passes messages until the other side ends or the plan says so. Ends with both connections closed.
fn pass(client: &TcpStream, plan: &Plan) -> Option<()> {
    let server = TcpStream::connect(plan.server).ok()?;
    loop {
        let request = message(client)?;
        if plan.dead.load(Ordering::SeqCst) {
            plan.lost.fetch_add(1, Ordering::SeqCst);
            return None;
        }
        let cut = plan.armed.load(Ordering::SeqCst)
            && plan.seen.fetch_add(1, Ordering::SeqCst) + 1 == plan.message;
        if cut {
            plan.reached.store(true, Ordering::SeqCst);
            if plan.cut == Cut::Request {
                return None;
            }
        }
        (&server).write_all(&request).ok()?;
        let answer = message(&server)?;
        if plan.dead.load(Ordering::SeqCst) {
            return None;
        }
        match plan.cut {
            Cut::Answer if cut => return None,
            Cut::HalfAnswer if cut => {
                let _ = (&mut &*client).write_all(&answer[..answer.len() / 2]);
                return None;
            }
            Cut::Request | Cut::Answer | Cut::HalfAnswer => {}
        }
        (&mut &*client).write_all(&answer).ok()?;
    }
}

/// One HTTP message with a length.
fn message(mut from: &TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length
            .and_then(|length| length.trim().parse().ok())
            .unwrap_or(0);
        if bytes.len() >= head.len() + 4 + length {
            return Some(bytes);
        }
    }
}

/// Whether the message was reached; the checks have passed if this returns.
fn cut_at(message: usize, cut: Cut) -> bool {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    let proxy = Proxy::start(stand.lab.address, message, cut);
    stand.admit(&server, "n1", proxy.address);
    let _node = stand.run("n1");
    wait_until_here(&server, "n1");
    proxy.plan.armed.store(true, Ordering::SeqCst);
    // The poll that is open now counts as a message of its own: its answer is the next to pass.
    for action in ["restart-web", "slow-web"] {
        stand.let_go();
        server.call("POST", &format!("/api/actions/{action}/run?wait=60"), None);
    }
    let context = format!("{cut:?} of message {message}");
    check_truth(&stand, &rows_at_rest(&server), &context);
    let reached = proxy.plan.reached.load(Ordering::SeqCst);
    if !reached {
        assert_eq!(stand.effects().len(), 2, "{context}");
    }
    reached
}

fn every_message(cut: Cut) {
    let reached = (1..=12).take_while(|message| cut_at(*message, cut)).count();
    assert!(reached >= 4, "{cut:?}: only {reached} messages");
}

#[test]
fn requests_cut_at_every_message_run_nothing_twice() {
    every_message(Cut::Request);
}

#[test]
fn answers_cut_at_every_message_run_nothing_twice() {
    every_message(Cut::Answer);
}

#[test]
fn answers_broken_off_at_every_message_run_nothing_twice() {
    every_message(Cut::HalfAnswer);
}

/// A partition in the middle of a run, longer than several retries: the end is told when it is over.
#[test]
fn a_partition_during_a_run_is_waited_out() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    let proxy = Proxy::start(stand.lab.address, 0, Cut::Request);
    stand.admit(&server, "n1", proxy.address);
    let _node = stand.run("n1");
    wait_until_here(&server, "n1");
    let (_, run) = server.call("POST", "/api/actions/slow-web/run?wait=0", None);
    let id = word(&run, "action_row_id").to_owned();
    let row = || super::stand::row(&server, &id);
    eventually_blocking("it to say something", || {
        row()["result"]["progress"].is_array().then_some(())
    });
    proxy.plan.dead.store(true, Ordering::SeqCst);
    stand.let_go();
    eventually_blocking("the effect", || {
        (stand.count("slow-web") == 1).then_some(())
    });
    let lost = || proxy.plan.lost.load(Ordering::SeqCst);
    let already = lost();
    eventually_blocking("several tries", || (lost() >= already + 3).then_some(()));
    assert_eq!(word(&row(), "status"), "running", "nobody could know");
    proxy.plan.dead.store(false, Ordering::SeqCst);
    let rows = rows_at_rest(&server);
    check_truth(&stand, &rows, "after the partition");
    assert_eq!(rows[0]["status"], json!("executed"));
}

/// A node that stands still past its ticket's time does not do old work when it goes on.
#[test]
fn several_nodes_work_beside_each_other_while_one_stands_still() {
    let stand = Stand::new();
    let server = stand.lab.serve(&[]);
    for node in ["n1", "n2"] {
        stand.admit(&server, node, stand.lab.address);
    }
    let (still, _other) = (stand.run("n1"), stand.run("n2"));
    wait_until_here(&server, "n1");
    wait_until_here(&server, "n2");
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill")
            .args([name, &still.pid().to_string()])
            .status();
        assert!(sent.unwrap().success());
    };
    signal("-STOP");
    let (_, held) = server.call("POST", "/api/actions/restart-web/run?wait=0", None);
    let (_, done) = server.call("POST", "/api/actions/restart-other/run?wait=60", None);
    assert_eq!(done["executed"], json!(true), "{done}");
    assert_eq!(
        word(
            &super::stand::row(&server, word(&held, "action_row_id")),
            "status"
        ),
        "running"
    );
    signal("-CONT");
    let rows = rows_at_rest(&server);
    check_truth(&stand, &rows, "after it went on");
}
