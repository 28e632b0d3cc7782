//! The started process: what it gets, what it never gets, and what it can do to void-act (I15; R-S2, R-S10, R-S11).

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use serde_json::json;
use void_act::{Outcome, Reason};

use crate::lab::{BINARY, Called, Lab, command, def, run, safe, ticket, wait_for};

const PATH: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n";

fn stdout(lab: &Lab, id: &str) -> String {
    let called = lab.call(id);
    called.is(Outcome::Done, false);
    called.answer.stdout.unwrap()
}

#[test]
fn the_environment_is_one_variable() {
    let lab = Lab::new(&[safe("env", &["/usr/bin/env"])]);
    let mut command = lab.command("env");
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "BASH_ENV",
        "ENV",
        "IFS",
        "PS4",
        "TZ",
        "LC_ALL",
        "LANG",
        "SSH_CONNECTION",
        "SSH_CLIENT",
        "SSH_AUTH_SOCK",
        "HOME",
        "USER",
        "TERM",
        "PYTHONPATH",
        "PERL5OPT",
        "PATH",
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "BASH_FUNC_ls%%",
    ] {
        command.env(name, "/run/void-act-hostile");
    }
    let called = Called::from(&run(&mut command));
    called.is(Outcome::Done, false);
    assert_eq!(called.answer.stdout.as_deref(), Some(PATH));
}

#[test]
fn nothing_else_is_inherited() {
    let status = "cat /proc/self/status; pwd; cut -d' ' -f1,5,6 /proc/$$/stat; echo $$; readlink /proc/self/fd/0";
    let lab = Lab::new(&[
        safe("fds", &["/bin/ls", "/proc/self/fd"]),
        safe("status", &["/bin/sh", "-c", status]),
    ]);
    let shell = "umask 077; trap '' HUP INT TERM USR1; exec 7</etc/passwd 9</etc/group 200</etc/hosts; exec \"$@\"";
    let call = |id: &str| {
        let mut outer = command("/bin/bash");
        outer
            .args(["-c", shell, "sh", BINARY])
            .args(lab.arguments())
            .env("SSH_ORIGINAL_COMMAND", id);
        let called = Called::from(&run(outer.current_dir("/tmp")));
        called.is(Outcome::Done, false);
        called.answer.stdout.unwrap()
    };
    // 3 is the directory that ls itself has open.
    assert_eq!(call("fds"), "0\n1\n2\n3\n");
    let status = call("status");
    for line in [
        "Umask:\t0022",
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
    ] {
        assert!(status.contains(line), "{line} in {status}");
    }
    let tail: Vec<_> = status.lines().rev().take(4).collect();
    let [stdin, pid, ids, cwd] = tail[..] else {
        panic!("{status}")
    };
    assert_eq!((stdin, cwd), ("/dev/null", "/"));
    assert_eq!(
        ids,
        format!("{pid} {pid} {pid}"),
        "process, group and session are one"
    );
}

#[test]
fn a_file_without_a_format_is_not_given_to_a_shell() {
    let lab = Lab::new(&[]);
    let text = lab.executable("plain", &format!("echo ran >> {}\n", lab.text("effects")));
    lab.list(&[safe("plain", &[&text])]);
    let called = lab.call("plain");
    called.is(Outcome::Failed, false);
    assert!(
        called
            .answer
            .stderr
            .is_some_and(|text| text.contains("Exec format error"))
    );
    assert_eq!(lab.effects(), 0);
}

#[test]
fn what_cannot_be_started_has_failed_and_is_recorded() {
    let lab = Lab::new(&[safe("gone", &["/no/such/program"]), safe("dir", &["/tmp"])]);
    for (n, id) in [(1, "gone"), (2, "dir")] {
        let one = ticket(n);
        let called = lab.ask(id, &one);
        called.is(Outcome::Failed, false);
        assert_eq!(called.answer.exit, None);
        assert!(
            called
                .answer
                .stderr
                .is_some_and(|text| text.contains("cannot be started"))
        );
        lab.ask(id, &one).is(Outcome::Failed, true);
    }
}

#[test]
fn what_cannot_be_closed_off_is_not_started() {
    let lab = Lab::new(&[]);
    for (n, call) in [(1, "close_range"), (2, "setsid")] {
        let mut strace = command("/usr/bin/strace");
        let inject = format!("inject={call}:error=ENOSYS");
        strace
            .args(["-f", "-o", "/dev/null", "-e", &inject, BINARY])
            .args(lab.arguments());
        strace.env(
            "SSH_ORIGINAL_COMMAND",
            format!("effect {}", ticket(n).encode()),
        );
        let called = Called::from(&run(&mut strace));
        called.is(Outcome::Failed, false);
        assert!(
            called
                .answer
                .stderr
                .is_some_and(|text| text.contains("cannot be started")),
            "{call}"
        );
    }
    assert_eq!(lab.effects(), 0);
}

#[test]
fn a_signal_is_a_failure_that_says_so() {
    let lab = Lab::new(&[safe(
        "kill",
        &["/bin/sh", "-c", "printf cut >&2; kill -9 $$"],
    )]);
    let called = lab.call("kill");
    called.is(Outcome::Failed, false);
    assert_eq!(called.answer.exit, None);
    assert_eq!(
        called.answer.stderr.as_deref(),
        Some("cut\nvoid-act: ended by signal 9")
    );
}

#[test]
fn output_is_kept_to_its_bound_and_drained_past_it() {
    let flood = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero | tr '\\0' '\\377' >&2; head -c 9 /dev/zero";
    let exact = "head -c 32768 /dev/zero | tr '\\0' x; head -c 32769 /dev/zero | tr '\\0' y >&2";
    let lab = Lab::new(&[
        safe("flood", &["/bin/sh", "-c", flood]),
        safe("exact", &["/bin/sh", "-c", exact]),
    ]);
    let flood = lab.call("flood");
    flood.is(Outcome::Done, false);
    assert_eq!(flood.answer.stdout.as_ref().unwrap().len(), 32 << 10);
    assert_eq!(
        flood.answer.stderr.as_ref().unwrap(),
        &"\u{fffd}".repeat(32 << 10)
    );
    assert!(
        flood.line.len() > 256 << 10,
        "the worst case is tried: {}",
        flood.line.len()
    );
    let exact = lab.call("exact");
    assert_eq!(exact.answer.stdout.unwrap(), "x".repeat(32768));
    assert_eq!(exact.answer.stderr.unwrap(), "y".repeat(32768));
}

#[test]
fn control_characters_stay_escaped() {
    let lab = Lab::new(&[safe(
        "ctl",
        &["/usr/bin/printf", "\\033[2J\\r\\n\\000\\001"],
    )]);
    let called = lab.call("ctl");
    assert_eq!(
        called.answer.stdout.as_deref(),
        Some("\u{1b}[2J\r\n\0\u{1}")
    );
    assert!(
        !called.line.trim_end().chars().any(char::is_control),
        "{:?}",
        called.line
    );
}

#[test]
fn a_command_past_its_time_is_ended_with_its_whole_group() {
    let lab = Lab::new(&[]);
    let polite = lab.script("polite", "echo before; sleep 300 & sleep 300");
    let stubborn = lab.script(
        "stubborn",
        "trap '' TERM; sleep 300 & echo before; while :; do sleep 1; done",
    );
    let entry = |id: &str, program: &str| json!({"id": id, "argv": [program], "tier": "risky", "def": def(), "timeout_s": 2});
    lab.list(&[entry("polite", &polite), entry("stubborn", &stubborn)]);
    for (n, id, signal) in [(1, "polite", 15), (2, "stubborn", 9)] {
        let began = Instant::now();
        let one = ticket(n);
        let called = lab.ask(id, &one);
        called.is(Outcome::Failed, false);
        assert_eq!(called.answer.stdout.as_deref(), Some("before\n"));
        let note = format!("void-act: it ran past its time limit of 2 s; ended by signal {signal}");
        assert!(
            called.answer.stderr.as_ref().unwrap().contains(&note),
            "{}",
            called.line
        );
        assert!(began.elapsed().as_secs() >= if signal == 9 { 7 } else { 2 });
        assert!(began.elapsed().as_secs() < 60);
        lab.ask(id, &one).is(Outcome::Failed, true);
    }
    lab.wait_quiet();
}

#[test]
fn what_cannot_be_killed_is_waited_for() {
    // As sudo does: the command becomes root's, and void-act is not root here.
    let lab = Lab::below(Path::new("/var/lib"), &[]);
    lab.install(Path::new("/usr/bin/setpriv"), "become");
    lab.set_mode("become", 0o4755);
    lab.install(Path::new(BINARY), "void-act");
    chown(lab.path("state"), Some(65534), Some(65534)).unwrap();
    let script = lab.script("slow", "trap '' TERM HUP PIPE; sleep 8; echo over");
    let argv = [&lab.text("become"), "--reuid", "0", &script];
    lab.list(&[json!({"id": "slow", "argv": argv, "tier": "risky", "def": def(), "timeout_s": 1})]);
    let one = ticket(1);
    let mut command = command(lab.path("void-act"));
    command
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", format!("slow {}", one.encode()));
    let called = Called::from(&run(command.uid(65534).gid(65534)));
    called.is(Outcome::Failed, false);
    assert_eq!(
        (called.answer.exit, called.answer.stdout.as_deref()),
        (Some(0), Some("over\n")),
        "{}",
        called.line
    );
    assert!(
        called
            .answer
            .stderr
            .is_some_and(|text| text.contains("past its time limit of 1 s"))
    );
}

#[test]
fn a_descendant_that_keeps_the_pipe_does_not_hold_up_the_answer() {
    let lab = Lab::new(&[]);
    let pid = lab.text("pid");
    let script = lab.script("daemon", &format!("sleep 300 & echo $! > {pid}; echo up"));
    lab.list(&[safe("daemon", &[&script])]);
    let began = Instant::now();
    assert_eq!(stdout(&lab, "daemon"), "up\n");
    assert!(began.elapsed().as_secs() < 60);
    let pid = fs::read_to_string(pid).unwrap();
    assert!(
        Path::new(&format!("/proc/{}", pid.trim())).exists(),
        "a daemon that it started lives on"
    );
    assert!(run(command("/bin/kill").arg(pid.trim())).status.success());
}

#[test]
fn a_hangup_in_mid_run_changes_nothing() {
    let lab = Lab::new(&[]);
    let body = format!(
        "echo >> {0}/effects; while [ -d {0} -a ! -e {0}/go ]; do sleep 0.02; done; echo over",
        lab.text("")
    );
    lab.list(&[safe("slow", &[&lab.script("slow", &body)])]);
    let one = ticket(1);
    let mut child = lab
        .command(format!("slow {}", one.encode()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The reader goes away as well, as when sshd closes the session.
    drop(child.stdout.take());
    wait_for("the command to run", || lab.effects() == 1);
    let pid = child.id().to_string();
    for signal in ["-HUP", "-HUP", "-PIPE"] {
        assert!(
            run(command("/bin/kill").args([signal, &pid]))
                .status
                .success()
        );
    }
    lab.ask("void-ticket", &one).is(Outcome::Started, true);
    fs::write(lab.path("go"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let recorded = lab.ask("void-ticket", &one);
    recorded.is(Outcome::Done, true);
    assert_eq!(recorded.answer.stdout.as_deref(), Some("over\n"));
}

#[test]
fn closed_descriptors_and_a_full_device_lose_the_answer_only() {
    let lab = Lab::new(&[]);
    for (n, redirect) in [
        (1, ">&-"),
        (2, "<&- >&- 2>&-"),
        (3, ">/dev/full"),
        (4, "2>&-"),
    ] {
        let one = ticket(n);
        let mut shell = command("/bin/sh");
        shell
            .args(["-c", &format!("exec \"$@\" {redirect}"), "sh", BINARY])
            .args(lab.arguments());
        let output = run(shell.env("SSH_ORIGINAL_COMMAND", format!("effect {}", one.encode())));
        assert_eq!(output.status.code(), Some(0), "{redirect}: {output:?}");
        lab.ask("effect", &one).is(Outcome::Done, true);
    }
    assert_eq!(lab.effects(), 4);
}

#[test]
fn standard_input_is_never_read() {
    let lab = Lab::new(&[safe("cat", &["/bin/cat"])]);
    let mut child = lab
        .command("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Ends with a broken pipe once void-act is gone; nothing else would end it.
    let flood = thread::spawn(move || {
        let mut written = 0;
        while let Ok(count) = stdin.write(&[b'x'; 65536]) {
            written += count;
        }
        written
    });
    let mut line = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut line)
        .unwrap();
    assert!(line.contains(r#""stdout":"""#), "{line}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(
        flood.join().unwrap() <= 1 << 20,
        "only what the pipe itself holds"
    );
}

#[test]
fn an_unprivileged_account_runs_with_its_own_state_and_roots_list() {
    let lab = Lab::new(&[]);
    lab.install(Path::new(BINARY), "void-act");
    lab.list(&[safe("id", &["/usr/bin/id", "-u"])]);
    let call = || {
        let mut command = command(lab.path("void-act"));
        command
            .args(lab.arguments())
            .env("SSH_ORIGINAL_COMMAND", "id");
        Called::from(&run(command.uid(65534).gid(65534)))
    };
    // Not its own directory: nothing can be recorded, so nothing runs.
    lab.set_mode("state", 0o755);
    call().refused(Reason::JournalUnavailable);
    chown(lab.path("state"), Some(65534), Some(65534)).unwrap();
    let called = call();
    called.is(Outcome::Done, false);
    assert_eq!(called.answer.stdout.as_deref(), Some("65534\n"));
}

/// The program itself, and what it runs.
#[test]
fn a_running_one_leaves_no_core_dump() {
    let lab = Lab::new(&[]);
    let body = format!(
        "echo >> {0}/effects; while [ -d {0} -a ! -e {0}/go ]; do sleep 0.02; done; cat /proc/self/limits",
        lab.text("")
    );
    lab.list(&[safe("slow", &[&lab.script("slow", &body)])]);
    let core = |limits: &str| -> Vec<String> {
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"));
        line.unwrap()
            .split_whitespace()
            .skip(4)
            .take(2)
            .map(str::to_owned)
            .collect()
    };
    // Whoever calls it may allow them.
    let mut outer = command("/bin/bash");
    outer
        .args(["-c", "ulimit -c unlimited; exec \"$@\"", "sh", BINARY])
        .args(lab.arguments())
        .env("SSH_ORIGINAL_COMMAND", "slow");
    let child = outer.stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the command to run", || lab.effects() == 1);
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    fs::write(lab.path("go"), "").unwrap();
    let called = Called::from(&child.wait_with_output().unwrap());
    assert_eq!(core(&limits), ["0", "0"], "{limits}");
    assert_eq!(core(&called.answer.stdout.unwrap()), ["0", "0"]);
}
