//! Agents as real processes of the real program: confined, asleep, started again, and gone with the server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use void_testkit::eventually_blocking;

use crate::lab::{Lab, Server, word};

/// Beyond the pages that an agent shares with the server and the other agents.
const PRIVATE_KIB_MAX: u64 = 4 * 1024;

pub fn plant(lab: &Lab, tree: &Value) {
    let meta = lab.data().join("meta");
    fs::create_dir_all(&meta).unwrap();
    fs::write(meta.join("topology.json"), tree.to_string()).unwrap();
}

pub fn make_agent(lab: &Lab, name: &str) {
    lab.json(
        &[
            "token", "new", "--kind", "agent", "--name", name, "--cap", "read",
        ],
        0,
    );
}

fn process(server: &Server, name: &str) -> Value {
    let path = format!("/api/agents/{name}/process");
    let (status, process) = server.call("GET", &path, None);
    assert_eq!(status, 200, "{process}");
    process
}

fn pid(process: &Value) -> Option<i32> {
    process["pid"]
        .as_i64()
        .and_then(|pid| i32::try_from(pid).ok())
}

/// The number of its process, once it sleeps; not that of `before`.
pub fn asleep(lab: &Lab, server: &Server, name: &str, before: Option<i32>) -> i32 {
    eventually_blocking(&format!("{name} to sleep: {}", lab.log()), || {
        let process = process(server, name);
        let pid = pid(&process).filter(|pid| Some(*pid) != before);
        pid.filter(|_| word(&process, "state") == "asleep")
    })
}

fn runs(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn an_agent_lives_as_a_confined_process_and_ends_with_the_server() {
    let lab = Lab::new();
    plant(
        &lab,
        &json!({"root": null, "alice": "root", "bob": "alice"}),
    );
    let mut server = lab.serve(&[]);
    for name in ["alice", "bob"] {
        make_agent(&lab, name);
    }
    lab.json(&["agents", "start", "alice"], 0);
    let first = asleep(&lab, &server, "alice", None);
    assert_is_confined(&lab, first);
    let log = lab.json(&["agents", "logs", "alice"], 0);
    assert_eq!(
        log["lines"][0]["text"],
        "awake: the server knows this agent"
    );
    // It ends unasked: another one takes its place, and that is on the record.
    kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    let second = asleep(&lab, &server, "alice", Some(first));
    let crashed = process(&server, "alice");
    assert_eq!(word(&crashed, "why"), "signal 9 ended it");
    // Nobody sees to its end when the server is killed.
    server.kill();
    eventually_blocking("the agent to end", || (!runs(second)).then_some(()));
    let mut server = lab.serve(&[]);
    let third = asleep(&lab, &server, "alice", Some(second));
    lab.json(&["agents", "restart", "alice"], 0);
    assert!(!runs(third));
    let fourth = asleep(&lab, &server, "alice", Some(third));
    let stopped = lab.json(&["agents", "stop", "alice"], 0);
    assert_eq!(word(&stopped, "state"), "stopped");
    assert!(!runs(fourth));
    lab.json(&["agents", "start", "bob"], 0);
    let bob = asleep(&lab, &server, "bob", None);
    assert!(server.terminate().success());
    assert!(!runs(bob));
    // What was stopped stays so, and what ran runs.
    let server = lab.serve(&[]);
    asleep(&lab, &server, "bob", Some(bob));
    assert_eq!(word(&process(&server, "alice"), "state"), "stopped");
}

fn assert_is_confined(lab: &Lab, agent: i32) {
    if !is_root() {
        eprintln!("nobody but root looks into a process that cannot be dumped");
        return;
    }
    let read = |file: &str| fs::read_to_string(format!("/proc/{agent}/{file}")).unwrap();
    let facts = read("environ");
    let facts: BTreeMap<&str, &str> = facts
        .split_terminator('\0')
        .map(|fact| fact.split_once('=').unwrap())
        .collect();
    let url = format!("http://{}", lab.address);
    let expected = BTreeMap::from([
        ("HIVE_PARENT", "root"),
        ("VOID_AGENT", "alice"),
        ("VOID_API_URL", &*url),
        ("VOID_PARENT", "root"),
        ("VOID_TOKEN_FD", "0"),
    ]);
    assert_eq!(facts, expected);
    assert!(read("cmdline").ends_with("\0agent\0run\0"));
    let status = read("status");
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for (name, value) in [
        ("NoNewPrivs:", "1"),
        ("Seccomp:", "2"),
        ("Threads:", "1"),
        ("CapEff:", "0000000000000000"),
        ("CapPrm:", "0000000000000000"),
    ] {
        assert_eq!(field(name), value, "{name}");
    }
    // One user each, and the folders of those below by their groups.
    let own = fs::metadata(lab.data().join("agents/alice/state"))
        .unwrap()
        .uid();
    let below = fs::metadata(lab.data().join("agents/bob/state"))
        .unwrap()
        .uid();
    assert_ne!(own, below);
    assert_eq!(field("Uid:"), own.to_string());
    assert!((70_000..71_000).contains(&own));
    let groups = status
        .lines()
        .find(|line| line.starts_with("Groups:"))
        .unwrap();
    assert_eq!(groups.split_whitespace().nth(1).unwrap(), below.to_string());
    let memory = read("smaps_rollup");
    let private = memory.lines().filter(|line| line.starts_with("Private_"));
    let private: u64 = private
        .map(|line| {
            line.split_whitespace()
                .nth(1)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    eprintln!("{private} KiB beyond shared pages");
    assert!(private < PRIVATE_KIB_MAX, "{private} KiB");
}

#[test]
fn an_agent_is_started_by_the_server_and_by_nobody_else() {
    let lab = Lab::new();
    for args in [
        &["agent", "run"][..],
        &["agent"],
        &["agent", "run", "--help"],
    ] {
        let ran = lab.void(args);
        assert_eq!(ran.status.code(), Some(2), "{args:?}");
    }
    let said = lab.void(&["agent", "run"]);
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("void agents start"), "{said}");
}

#[test]
fn who_may_not_be_started_is_refused_with_the_way_out() {
    let lab = Lab::new();
    plant(&lab, &json!({"root": null, "alice": "root"}));
    let _server = lab.serve(&[]);
    let refused = lab.json(&["agents", "start", "alice"], 5);
    assert!(
        word(&refused["error"], "next").contains("token new"),
        "{refused}"
    );
    lab.json(&["agents", "start", "carol"], 5);
    for resident in ["root", "little-blue", "sentinel", "companion"] {
        lab.json(&["agents", "start", resident], 4);
    }
}
