//! The n-th system call dies or fails, for every n, until a run is left alone (I1, I13; SECURITY 7.4).
//!
//! After each fault the ticket is repeated and settled, in either order. Whatever happened, the effect is there at
//! most once, `done` is said only when it is there, and `unseen` only when it is not and never will be.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use serde_json::json;
use void_act::{Answer, Outcome, Reason, Ticket};

use crate::lab::{BINARY, Called, Lab, command, now_ms, proposal, run, ticket, wait_for};

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
    faulted_with(lab, one, &[inject], follow)
}

fn faulted_with(lab: &Lab, one: &Ticket, injects: &[&str], follow: bool) -> Faulted {
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace.args(follow.then_some("-f")).arg("-o").arg(&log);
    for inject in injects.iter().filter(|inject| !inject.is_empty()) {
        strace.args(["-e", inject]);
    }
    strace.arg(BINARY).args(lab.arguments());
    let output = run(strace.env("SSH_ORIGINAL_COMMAND", format!("effect {}", one.encode())));
    lab.wait_quiet();
    let log = fs::read_to_string(&log).unwrap();
    Faulted {
        hit: injects.len() == 1 && log.contains("INJECTED") || log.contains("killed by SIGKILL"),
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
        lab.write_old_journal(before);
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
        "mkdir",
        "rename",
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

/// What an earlier version left: two runs, one of them without an end, and one ticket that must never run.
fn old_journal() -> String {
    let at = json!({"wall_ms": now_ms() - 1000, "boot": "an earlier boot", "up_ms": 0});
    let mark = |n: u64, expires_ms: u64| json!({"proposal": proposal(n), "fingerprint": "0".repeat(64), "expires_ms": expires_ms});
    let ending = json!({"done": true, "exit": 0, "stdout": "", "stderr": ""});
    let begun = |run: u64| {
        let ticket = mark(0xfff_0000 + run, now_ms());
        json!({"start": {"run": run, "id": "old", "ticket": ticket, "at": at}})
    };
    let lines = [
        json!({"head": {"forgotten_ms": 5, "next_run": 1}}),
        begun(1),
        json!({"end": {"run": 1, "ending": ending}}),
        begun(2),
        json!({"void": {"ticket": mark(ALIVE, u64::MAX), "at": at}}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

/// What of the old journal has to be there, however often taking it over was interrupted.
fn is_taken_over(lab: &Lab, context: &str) {
    let journal = lab.journal();
    for n in [ALIVE, 0xfff_0001, 0xfff_0002] {
        assert!(journal.contains(&proposal(n)), "{context}: {journal}");
    }
    let ended = |n: u64| {
        fs::read_to_string(lab.ticket_file(n))
            .unwrap()
            .contains("\"end\"")
    };
    assert!(ended(0xfff_0001) && !ended(0xfff_0002), "{context}");
    let marks = lab.marks();
    assert!(marks.contains(&"forgotten_5".to_owned()), "{marks:?}");
    let action = fs::read_to_string(lab.path("state/journal/actions/old")).unwrap();
    assert_eq!(action.lines().count(), 2, "{context}: {action}");
}

/// At every kind of call, with and without a file system that can swap two names.
#[test]
fn killed_at_every_call_of_taking_over_an_old_journal() {
    let lab = Lab::new(&[]);
    let (mut tickets, mut old, mut new) = (0, 0, 0);
    for (call, also) in [
        ("openat", ""),
        ("mkdir", ""),
        ("write", ""),
        ("fsync", ""),
        ("renameat2", ""),
        ("rename", ""),
        ("rename", "inject=renameat2:error=EINVAL"),
        ("fsync", "inject=renameat2:error=EINVAL"),
        ("clone3", ""),
    ] {
        for n in 1..MORE_THAN_ALL {
            reset(&lab, &old_journal());
            tickets += 1;
            let one = ticket(tickets);
            let inject = format!("inject={call}:signal=SIGKILL:when={n}");
            let fault = faulted_with(&lab, &one, &[&inject, also], false);
            let context = format!("killed at {call} {n} {also}");
            if lab.path("state/journal").is_dir() {
                new += 1;
            } else {
                old += 1;
            }
            check(&lab, &one, Then::SettleAndRepeat, &context);
            is_taken_over(&lab, &context);
            if !fault.hit {
                break;
            }
        }
    }
    assert!(old > 40 && new > 10, "{old} {new}");
}

const FALLIBLE: [&str; 17] = [
    "write",
    "fsync",
    "fdatasync",
    "openat",
    "ftruncate",
    "mkdir",
    "rename",
    "flock",
    "getdents64",
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
    durable_steps_of(lab, "effect", one)
}

fn durable_steps_of(lab: &Lab, id: &str, one: &Ticket) -> Vec<String> {
    let (called, steps) = traced_steps(lab, &format!("{id} {}", one.encode()));
    called.is(Outcome::Done, false);
    steps
}

fn traced_steps(lab: &Lab, words: &str) -> (Called, Vec<String>) {
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace
        .args([
            "-y",
            "-e",
            "trace=write,fsync,fdatasync,ftruncate,rename,renameat2,clone,clone3,fork,vfork",
            "-o",
        ])
        .arg(&log);
    let output = run(strace
        .arg(BINARY)
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", words));
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
            "rename" | "renameat2" => call.to_owned(),
            _ if rest.starts_with("1<") => "answer".to_owned(),
            _ => format!("{call} {}", file(rest)?),
        })
    };
    let trace = fs::read_to_string(&log).unwrap();
    let steps = trace.lines().filter_map(step).collect();
    (Called::from(&output), steps)
}

#[test]
fn nothing_is_started_or_answered_before_it_is_on_disk() {
    let lab = Lab::new(&[]);
    let steps = |n: u64| durable_steps(&lab, &ticket(n));
    let folder = |n: u64| {
        let place = lab.place_of(n);
        let folder = place.parent().unwrap().file_name().unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let run = |n: u64| {
        [
            format!("write {}", proposal(n)),
            format!("fdatasync {}", proposal(n)),
            format!("fsync {}", folder(n)),
            "start the command".to_owned(),
            format!("write {}", proposal(n)),
            format!("fdatasync {}", proposal(n)),
            "answer".to_owned(),
        ]
    };
    // The first one makes the journal, each part of it synced before it has its name, and then that name.
    let first = steps(1);
    let made = first.iter().position(|step| step == "rename").unwrap();
    assert_eq!(made, 19, "{first:?}");
    assert!(
        first[..made].iter().all(|step| step.starts_with("fsync ")),
        "{first:?}"
    );
    assert_eq!(first[made - 1], "fsync journal.new");
    assert_eq!(first[made + 1], "fsync state");
    assert_eq!(first[made + 2..], run(1));
    assert_eq!(steps(2), run(2));
    // Where a cap counts, the count is there before the start; and the lock of one action is nobody else's.
    let capped = json!({"id": "effect2", "argv": [lab.text("effect")], "tier": "risky", "def": crate::lab::def(), "max_per_day": 9});
    lab.list(&[capped]);
    let counted = [
        "fsync actions".to_owned(),
        "write effect2".to_owned(),
        "fdatasync effect2".to_owned(),
    ];
    let steps = durable_steps_of(&lab, "effect2", &ticket(3));
    assert_eq!(steps, [&counted[..], &run(3)].concat());
    let steps = durable_steps_of(&lab, "effect2", &ticket(4));
    assert_eq!(steps, [&counted[1..], &run(4)].concat());
    // An old journal is taken over before anything is started, and is not in the way of anything later.
    lab.write_old_journal(old_journal());
    let first = durable_steps(&lab, &ticket(5));
    let made = first.iter().position(|step| step == "renameat2").unwrap();
    let moved: Vec<_> = first[..made]
        .iter()
        .map(|step| step.split(' ').next().unwrap())
        .collect();
    assert_eq!(moved, [&["write"; 4][..], &["fsync"; 23]].concat());
    assert_eq!(first[made + 1..made + 3], ["rename", "fsync state"]);
    assert_eq!(first[made + 3..], run(5));
}

/// Whoever wrote a tombstone may have died before it was on disk; what is said of it has to hold after a power cut.
#[test]
fn no_answer_comes_from_a_tombstone_that_is_not_on_disk() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("void-settle", &one).is(Outcome::Unseen, false);
    let name = proposal(1);
    let folder = lab.place_of(1).parent().unwrap().to_owned();
    let folder = folder.file_name().unwrap().to_str().unwrap();
    let synced = [format!("fsync {name}"), format!("fsync {folder}")];
    for (id, outcome) in [
        ("void-settle", Outcome::Unseen),
        ("void-ticket", Outcome::Unseen),
        ("effect", Outcome::Refused),
    ] {
        let words = format!("{id} {}", one.encode());
        let (called, steps) = traced_steps(&lab, &words);
        called.is(outcome, false);
        let asked = steps.iter().position(|step| step == "answer").unwrap();
        assert_eq!(steps[..asked], synced, "{id}");
        for n in 1..=2 {
            let output = injected(&lab, &words, &format!("fsync:error=EIO:when={n}"));
            Called::from(&output).refused(Reason::JournalUnavailable);
        }
    }
    assert_eq!(lab.effects(), 0);
}

/// Somebody may have read it, and answered from it, by the time that its writer finds out.
#[test]
fn a_tombstone_that_may_have_been_seen_is_not_taken_back() {
    let lab = Lab::new(&[]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    for (n, call) in [(2, "fdatasync"), (3, "fsync")] {
        let one = ticket(n);
        let words = format!("void-settle {}", one.encode());
        let output = injected(&lab, &words, &format!("{call}:error=EIO:when=1"));
        Called::from(&output).refused(Reason::JournalUnavailable);
        lab.ask("effect", &one).refused(Reason::Settled);
        lab.ask("void-settle", &one).is(Outcome::Unseen, false);
    }
    // Half of one nobody can take for one, and it would keep the ticket in doubt for good.
    let one = ticket(4);
    let words = format!("void-settle {}", one.encode());
    let output = injected(&lab, &words, "write:error=ENOSPC:when=1");
    Called::from(&output).refused(Reason::JournalUnavailable);
    lab.ask("effect", &one).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 2);
}

fn injected(lab: &Lab, words: &str, inject: &str) -> Output {
    let mut strace = command("/usr/bin/strace");
    strace.arg("-o").arg(lab.path("strace.log"));
    strace.args(["-e", &format!("inject={inject}")]);
    strace.arg(BINARY).args(lab.arguments());
    run(strace.env("SSH_ORIGINAL_COMMAND", words))
}

/// A file's name is on disk before its first line, whichever that is: a later line that has to last may not be the one
/// that finds it new.
#[test]
fn the_file_of_an_actions_starts_lasts_before_its_first_line() {
    let entry = json!({"id": "look", "argv": ["/bin/true"], "tier": "safe", "bare_cooldown_s": 1, "def": crate::lab::def()});
    let lab = Lab::new(&[entry]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let writes = |steps: Vec<String>| -> Vec<String> {
        let begin = steps.iter().position(|step| step == "start the command");
        let of_starts = |step: &String| step.ends_with(" look") || step.ends_with(" actions");
        steps[..begin.unwrap()]
            .iter()
            .filter(|step| of_starts(step))
            .cloned()
            .collect()
    };
    // By ticket the line need not outlast a power cut, and nobody waits for that.
    let first = writes(durable_steps_of(&lab, "look", &ticket(2)));
    assert_eq!(first, ["fsync actions", "write look"]);
    let second = writes(durable_steps_of(&lab, "look", &ticket(3)));
    assert_eq!(second, ["write look"]);
    let mut bare = None;
    wait_for("the cooldown", || {
        let (called, steps) = traced_steps(&lab, "look");
        bare = (called.answer.outcome == Outcome::Done).then_some(steps);
        bare.is_some()
    });
    assert_eq!(writes(bare.unwrap()), ["write look", "fdatasync look"]);
}
