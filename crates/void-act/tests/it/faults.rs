//! The n-th system call dies or fails, for every n, until a run is left alone (I1, I13; SECURITY 7.4).
//!
//! After each fault the ticket is repeated and settled, in either order. Whatever happened, the effect is there at
//! most once, `done` is said only when it is there, and `unseen` only when it is not and never will be.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use serde_json::json;
use void_act::{Answer, Outcome, Reason, Ticket};

use crate::lab::{BINARY, Called, DAY_MS, Lab, command, now_ms, proposal, run, ticket};

const MORE_THAN_ALL: usize = 1000;
const ALIVE: u64 = 0xffff_ffff;

#[derive(Clone, Copy)]
enum Then {
    RepeatAndSettle,
    SettleAndRepeat,
}

struct Faulted {
    hit: bool,
    /// What the faulted run itself managed to say.
    answer: Option<Answer>,
    output: Output,
}

fn faulted(lab: &Lab, one: &Ticket, inject: &str, follow: bool) -> Faulted {
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace
        .args(follow.then_some("-f"))
        .arg("-o")
        .arg(&log)
        .args(["-e", inject, BINARY])
        .args(lab.arguments());
    let output = run(strace.env("SSH_ORIGINAL_COMMAND", format!("effect {}", one.encode())));
    lab.wait_quiet();
    let log = fs::read_to_string(&log).unwrap();
    Faulted {
        hit: log.contains("INJECTED") || log.contains("killed by SIGKILL"),
        answer: serde_json::from_slice(&output.stdout).ok(),
        output,
    }
}

/// Empties the state, then fills the journal with `before`.
fn reset(lab: &Lab, before: &str) {
    fs::remove_dir_all(lab.path("state")).unwrap();
    fs::create_dir(lab.path("state")).unwrap();
    lab.set_mode("state", 0o700);
    if !before.is_empty() {
        lab.write_journal(before);
    }
    let _ = fs::remove_file(lab.path("effects"));
}

fn truthful(answer: &Answer, lab: &Lab, context: &str) {
    match answer.outcome {
        Outcome::Done => assert_eq!(lab.effects(), 1, "{context}: {answer:?}"),
        Outcome::Unseen | Outcome::Refused => assert_eq!(lab.effects(), 0, "{context}: {answer:?}"),
        Outcome::Started | Outcome::Failed => assert!(lab.effects() <= 1, "{context}: {answer:?}"),
    }
}

fn check(lab: &Lab, one: &Ticket, then: Then, context: &str) {
    let (repeated, settled) = match then {
        Then::RepeatAndSettle => {
            let repeated = lab.ask("effect", one);
            truthful(&repeated.answer, lab, context);
            (repeated, lab.ask("void-settle", one))
        }
        Then::SettleAndRepeat => {
            let settled = lab.ask("void-settle", one);
            truthful(&settled.answer, lab, context);
            (lab.ask("effect", one), settled)
        }
    };
    let agree = |called: &Called| called.answer.outcome;
    match agree(&settled) {
        Outcome::Unseen => repeated.refused(Reason::Settled),
        outcome => assert_eq!(agree(&repeated), outcome, "{context}"),
    }
    lab.wait_quiet();
    truthful(&settled.answer, lab, context);
    assert!(lab.effects() <= 1, "{context}");
}

/// Every call of each kind in turn, until a run is left alone; strace counts the calls of each kind separately.
/// Returns how many faults were tried.
fn each_call(kind: &str, calls: &[&str], then: Then, follow: bool) -> usize {
    let lab = Lab::new(&[]);
    let mut tickets = 0;
    let mut faults = 0;
    for call in calls {
        for n in 1..MORE_THAN_ALL {
            reset(&lab, "");
            tickets += 1;
            let one = ticket(tickets);
            let fault = faulted(
                &lab,
                &one,
                &format!("inject={call}:{kind}:when={n}"),
                follow,
            );
            let context = format!("{kind} at {call} {n}: {:?}", fault.output);
            if let Some(answer) = &fault.answer {
                truthful(answer, &lab, &context);
            }
            check(&lab, &one, then, &context);
            if !fault.hit {
                let answer = fault.answer.expect("an untouched run answers");
                assert_eq!((answer.outcome, lab.effects()), (Outcome::Done, 1));
                break;
            }
            faults += 1;
        }
    }
    println!("{kind}: {faults} faults");
    faults
}

/// The kinds of system calls that one clean run makes, its child's included.
fn calls_of_one_run() -> Vec<String> {
    let lab = Lab::new(&[]);
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace
        .args(["-f", "-o"])
        .arg(&log)
        .arg(BINARY)
        .args(lab.arguments());
    run(strace.env(
        "SSH_ORIGINAL_COMMAND",
        format!("effect {}", ticket(1).encode()),
    ));
    let log = fs::read_to_string(&log).unwrap();
    let name = |line: &str| {
        Some(
            line.split_whitespace()
                .nth(1)?
                .split_once('(')?
                .0
                .to_owned(),
        )
    };
    let calls: BTreeSet<_> = log
        .lines()
        .filter_map(name)
        .filter(|name| !name.starts_with(['<', '+']))
        .collect();
    for call in [
        "execve",
        "openat",
        "write",
        "fdatasync",
        "fsync",
        "flock",
        "exit_group",
    ] {
        assert!(calls.contains(call), "{call} in {calls:?}");
    }
    calls.into_iter().collect()
}

fn each_kill(then: Then, follow: bool) {
    let calls = calls_of_one_run();
    let calls: Vec<_> = calls.iter().map(String::as_str).collect();
    assert!(each_call("signal=SIGKILL", &calls, then, follow) >= 120);
}

#[test]
fn killed_at_every_call_then_repeated() {
    each_kill(Then::RepeatAndSettle, false);
}

#[test]
fn killed_at_every_call_then_settled() {
    each_kill(Then::SettleAndRepeat, false);
}

#[test]
fn child_or_parent_killed_at_every_call() {
    each_kill(Then::SettleAndRepeat, true);
}

/// More than a mebibyte of forgettable runs, and one ticket that must survive every crash of the compaction.
fn large_journal() -> String {
    let old = now_ms() - 40 * DAY_MS;
    let at = json!({"wall_ms": old, "boot": "an earlier boot", "up_ms": 0});
    let mut text = String::new();
    for run in 0..40 {
        let mark = json!({"proposal": proposal(0xfff_0000 + run), "fingerprint": "0".repeat(64), "expires_ms": old});
        let ending = json!({"done": true, "exit": 0, "stdout": "x".repeat(30_000), "stderr": ""});
        text += &(json!({"start": {"run": run, "id": "old", "ticket": mark, "at": at}})
            .to_string()
            + "\n");
        text += &(json!({"end": {"run": run, "ending": ending}}).to_string() + "\n");
    }
    let alive =
        json!({"proposal": proposal(ALIVE), "fingerprint": "0".repeat(64), "expires_ms": u64::MAX});
    text + &json!({"void": {"ticket": alive, "at": at}}).to_string() + "\n"
}

#[test]
fn killed_at_every_call_of_a_compaction() {
    let lab = Lab::new(&[]);
    let before = large_journal();
    let (mut tickets, mut old, mut new) = (0, 0, 0);
    for call in [
        "openat",
        "write",
        "fsync",
        "fdatasync",
        "rename",
        "close",
        "clone3",
    ] {
        for n in 1..MORE_THAN_ALL {
            reset(&lab, &before);
            tickets += 1;
            let one = ticket(tickets);
            let fault = faulted(
                &lab,
                &one,
                &format!("inject={call}:signal=SIGKILL:when={n}"),
                false,
            );
            let journal = lab.journal();
            let context = format!("killed at {call} {n}");
            if journal.starts_with(&before) {
                old += 1;
            } else {
                assert!(
                    journal.starts_with("{\"head\"") && journal.len() < 1 << 16,
                    "{context}"
                );
                new += 1;
            }
            assert!(journal.contains(&proposal(ALIVE)), "{context}");
            check(&lab, &one, Then::SettleAndRepeat, &context);
            if !fault.hit {
                break;
            }
        }
    }
    assert!(old > 10 && new > 10, "{old} {new}");
}

const FALLIBLE: [&str; 15] = [
    "write",
    "fsync",
    "fdatasync",
    "openat",
    "ftruncate",
    "flock",
    "rename",
    "statx",
    "clone",
    "clone3",
    "pipe2",
    "pidfd_open",
    "poll",
    "wait4",
    "recvfrom",
];

#[test]
fn every_call_fails_with_eio() {
    for then in [Then::RepeatAndSettle, Then::SettleAndRepeat] {
        assert!(each_call("error=EIO", &FALLIBLE, then, false) >= 40);
    }
}

#[test]
fn every_write_finds_the_disk_full() {
    for then in [Then::RepeatAndSettle, Then::SettleAndRepeat] {
        assert!(each_call("error=ENOSPC", &FALLIBLE[..7], then, false) >= 20);
    }
}

/// The calls of one run that make something last, in their order, as `call file`.
fn durable_steps(lab: &Lab, one: &Ticket) -> Vec<String> {
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace
        .args([
            "-y",
            "-e",
            "trace=write,fsync,fdatasync,ftruncate,rename,clone,clone3,fork,vfork",
            "-o",
        ])
        .arg(&log);
    let output = run(strace
        .arg(BINARY)
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", format!("effect {}", one.encode())));
    Called::from(&output).is(Outcome::Done, false);
    let step = |line: &str| {
        let (call, rest) = line.split_once('(')?;
        let file = |rest: &str| {
            Some(
                rest.split_once('<')?
                    .1
                    .split_once('>')?
                    .0
                    .rsplit('/')
                    .next()?
                    .to_owned(),
            )
        };
        Some(match call {
            "clone" | "clone3" | "fork" | "vfork" => "start the command".to_owned(),
            "rename" => "rename".to_owned(),
            _ if rest.starts_with("1<") => "answer".to_owned(),
            _ => format!("{call} {}", file(rest)?),
        })
    };
    fs::read_to_string(&log)
        .unwrap()
        .lines()
        .filter_map(step)
        .collect()
}

#[test]
fn nothing_is_started_or_answered_before_it_is_on_disk() {
    let lab = Lab::new(&[]);
    let run = [
        "write journal",
        "fdatasync journal",
        "start the command",
        "write journal",
        "fdatasync journal",
        "answer",
    ];
    let first = durable_steps(&lab, &ticket(1));
    assert_eq!(first, [&run[..2], &["fsync state"], &run[2..]].concat());
    assert_eq!(durable_steps(&lab, &ticket(2)), run);
    lab.write_journal(lab.journal() + "{\"torn");
    assert_eq!(
        durable_steps(&lab, &ticket(3)),
        [&["ftruncate journal"], &run[..]].concat()
    );
    reset(&lab, &large_journal());
    let compaction = [
        "write journal.new",
        "fsync journal.new",
        "rename",
        "fsync state",
    ];
    assert_eq!(
        durable_steps(&lab, &ticket(4)),
        [&compaction[..], &run].concat()
    );
}
