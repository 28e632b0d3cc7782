//! A real agent process: confined, asleep, woken, and gone with its server.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use void_supervise::ProcessState;

use crate::hosts::{TOKEN, TestHost, cgroups, runs, supervisor, until};

/// Beyond the pages that it shares with the server.
const PRIVATE_KIB_MAX: u64 = 4 * 1024;

/// A server that answers each request with one status, and tells what it was asked.
fn server(status: &'static str) -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (asked, requests) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut byte = [0_u8; 1];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                request.push(byte[0]);
            }
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
            let _ = stream.write_all(answer.as_bytes());
            if asked.send(String::from_utf8(request).unwrap()).is_err() {
                return;
            }
        }
    });
    (port, requests)
}

#[tokio::test]
async fn an_agent_confines_itself_sleeps_is_woken_and_sleeps_again() {
    let (port, requests) = server("200 OK");
    let host = TestHost::new(port);
    let agents = supervisor(&host, vec!["agent", "run"], cgroups());
    agents.start("alice").await.unwrap();
    until("it sleeps", || {
        agents.status("alice").state == ProcessState::Asleep
    })
    .await;
    let pid = agents.status("alice").pid.unwrap();
    // Nobody but root looks into a process that cannot be dumped.
    if rustix::process::geteuid().is_root() {
        assert_knows_its_facts(pid, port);
    }
    let first = requests.try_recv().unwrap();
    assert!(
        first.starts_with("GET /api/agents/alice/process HTTP/1.1\r\n"),
        "{first}"
    );
    while requests.try_recv().is_ok() {}
    agents.wake("alice").await.unwrap();
    let request = tokio::task::spawn_blocking(move || requests.recv().unwrap());
    let request = request.await.unwrap();
    assert!(
        request.starts_with("POST /api/agents/alice/turn HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains(&format!("authorization: Bearer {TOKEN}\r\n")));
    until("it sleeps again", || {
        agents.status("alice").state == ProcessState::Asleep
    })
    .await;
    // A start of one that runs changes nothing.
    agents.start("alice").await.unwrap();
    assert_eq!(agents.status("alice").pid, Some(pid));
    agents.restart("alice").await.unwrap();
    assert!(!runs(pid));
    until("another one sleeps", || {
        agents.status("alice").state == ProcessState::Asleep
    })
    .await;
    let second = agents.status("alice").pid.unwrap();
    assert_ne!(second, pid);
    agents.stop("alice").await.unwrap();
    assert_eq!(agents.status("alice").state, ProcessState::Stopped);
    assert!(!runs(second));
    let told = host.told("alice");
    let up = [ProcessState::Starting, ProcessState::Running];
    assert_eq!(told, [up.clone(), up].concat());
    agents.end().await;
}

fn assert_knows_its_facts(pid: u32, port: u16) {
    let facts = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let facts = String::from_utf8(facts).unwrap();
    let mut facts: Vec<&str> = facts.trim_end_matches('\0').split('\0').collect();
    facts.sort_unstable();
    let url = format!("VOID_API_URL=http://127.0.0.1:{port}");
    let expected = [
        "HIVE_PARENT=root",
        "VOID_AGENT=alice",
        &url,
        "VOID_PARENT=root",
        "VOID_TOKEN_FD=0",
    ];
    assert_eq!(facts, expected);
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(words.ends_with(b"agent\0run\0"));
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .count();
    // Three that it was given, and its own folder.
    assert_eq!(open, 4);
}

#[tokio::test]
async fn a_server_that_ends_leaves_nobody() {
    let (port, _requests) = server("200 OK");
    let host = TestHost::new(port);
    let agents = supervisor(&host, vec!["agent", "run"], cgroups());
    let mut pids = Vec::new();
    for name in ["alice", "bob", "carol"] {
        agents.start(name).await.unwrap();
        until("it sleeps", || {
            agents.status(name).state == ProcessState::Asleep
        })
        .await;
        pids.push(agents.status(name).pid.unwrap());
    }
    assert!(pids.iter().all(|pid| runs(*pid)));
    agents.end().await;
    assert!(!pids.iter().any(|pid| runs(*pid)));
}

#[tokio::test]
async fn an_agent_that_the_server_does_not_know_or_that_reaches_none_ends() {
    let (unknown, _requests) = server("401 Unauthorized");
    for (port, said) in [
        (unknown, "the server does not know this agent"),
        (1, "the server cannot be reached: "),
    ] {
        let host = TestHost::new(port);
        let agents = supervisor(&host, vec!["agent", "run"], None);
        agents.start("alice").await.unwrap();
        let crashed = ProcessState::Crashed { failures: 1 };
        until("it is noticed", || host.told("alice").contains(&crashed)).await;
        agents.stop("alice").await.unwrap();
        let log = host.log("alice");
        assert!(log[0].text.starts_with(said), "{log:?}");
        agents.end().await;
    }
}

/// What one costs, beyond the pages that it shares, while it sleeps.
#[tokio::test]
async fn a_sleeping_agent_costs_next_to_nothing() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("nobody but root looks into a process that cannot be dumped");
        return;
    }
    let (port, _requests) = server("200 OK");
    let host = TestHost::new(port);
    let agents = supervisor(&host, vec!["agent", "run"], None);
    agents.start("alice").await.unwrap();
    until("it sleeps", || {
        agents.status("alice").state == ProcessState::Asleep
    })
    .await;
    let pid = agents.status("alice").pid.unwrap();
    let memory = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let private: u64 = memory
        .lines()
        .filter(|line| line.starts_with("Private_"))
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    eprintln!("{private} KiB");
    assert!(private < PRIVATE_KIB_MAX);
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let after = stat.rsplit_once(')').unwrap().1.to_owned();
        let words: Vec<u64> = after
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|word| word.parse().unwrap())
            .collect();
        words[0] + words[1]
    };
    let status = || std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let switches = |status: String| {
        let line = status
            .lines()
            .find(|line| line.starts_with("voluntary_ctxt"))
            .unwrap()
            .to_owned();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    // It has said that it sleeps, and is on its way into the read.
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    until("it rests", || stat().contains(") S ")).await;
    let (before, slept) = (ticks(), switches(status()));
    // Time has to pass for it to be wasted.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(ticks(), before);
    assert_eq!(switches(status()), slept, "it woke by itself");
    agents.end().await;
}
