//! What a peer that holds the key can send, and what then reaches `execve` (I15, R-S1, R-S2).
//!
//! One driver process sends every case to the real binary under one strace. Each `execve` that strace saw is
//! void-act itself or an argv of the list, byte for byte, with exactly the clean environment; and there are as many
//! of them as answers that claim a run.

mod cases;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use regex_lite::Regex;
use serde_json::{Value, json};
use void_act::{Answer, Outcome, Reason, parse_command};

use crate::lab::{BINARY, Called, Lab, command, def, now_ms, run, run_within};
use cases::{Case, Expect, cases};

/// Two thousand processes under a trace; on a busy machine that takes minutes.
const TRACE_PATIENCE: Duration = Duration::from_secs(300);

const DIR: &str = "VOID_ACT_HOSTILE_DIR";
/// The file that tells both processes when good tickets end.
const EXPIRES: &str = "expires";
const CLEAN: &str = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const FIXED: &str = "fixed; $(id) `id` | cat";
const GRAMMAR: &str = r"^[a-z0-9][a-z0-9-]{0,63}( v1\.[A-Za-z0-9_-]{1,4096})?$";

fn lab() -> Lab {
    let lab = Lab::new(&[]);
    let params = json!({
        "image": {"type": "pattern", "pattern": "^[a-z0-9./:-]+$", "max_len": 64},
        "n": {"type": "integer", "min": 0, "max": 5},
        "mode": {"type": "enum", "values": ["a", "b c"]},
    });
    let argv = json!(["/bin/echo", "--", {"param": "image"}, {"param": "n"}, {"param": "mode"}]);
    lab.list(&[
        json!({"id": "ok", "argv": ["/bin/echo", FIXED], "tier": "safe", "cooldown_s": 1, "def": def()}),
        json!({"id": "param", "argv": argv, "tier": "risky", "def": def(), "params": params}),
    ]);
    lab
}

fn listed(lab: &Lab, argv: &[String]) -> bool {
    let image = |text: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "./:-".contains(c);
        (1..=64).contains(&text.len()) && text.chars().all(plain) && !text.starts_with('-')
    };
    let argv: Vec<_> = argv.iter().map(String::as_str).collect();
    match argv[..] {
        [program, "one", "t w o"] => program == lab.text("effect"),
        ["/bin/echo", FIXED] => true,
        ["/bin/echo", "--", text, n, mode] => {
            image(text)
                && ["0", "1", "2", "3", "4", "5"].contains(&n)
                && ["a", "b c"].contains(&mode)
        }
        _ => false,
    }
}

/// Sends the cases; started by the test below under strace, with the lab's directory in the environment.
#[test]
#[ignore = "the driver of the next test"]
#[expect(
    clippy::disallowed_methods,
    reason = "how a re-executed test binary learns its task"
)]
fn driver() {
    let dir = std::env::var_os(DIR).unwrap();
    let dir = Path::new(&dir);
    let mut results = String::new();
    let expires = fs::read_to_string(dir.join(EXPIRES)).unwrap();
    for case in cases(expires.parse().unwrap()) {
        let mut act = command(BINARY);
        act.arg("--list")
            .arg(dir.join("list.json"))
            .arg("--state")
            .arg(dir.join("state"));
        for name in [
            "LD_PRELOAD",
            "BASH_ENV",
            "ENV",
            "LC_ALL",
            "TZ",
            "SSH_CONNECTION",
            "PATH",
            "IFS",
            "PS4",
        ] {
            act.env(name, "/run/void-act-hostile");
        }
        let output = run(act.env("SSH_ORIGINAL_COMMAND", OsStr::from_bytes(&case.sent)));
        let stdout = String::from_utf8_lossy(&output.stdout);
        results += &(json!({"code": output.status.code(), "stdout": stdout}).to_string() + "\n");
    }
    fs::write(dir.join("results"), results).unwrap();
}

fn drive(lab: &Lab) -> (Vec<Value>, String) {
    let log = lab.path("strace.log");
    let mut strace = command("/usr/bin/strace");
    strace
        .args([
            "-f",
            "--seccomp-bpf",
            "-v",
            "-xx",
            "-s",
            "200000",
            "-e",
            "trace=execve,execveat",
            "-o",
        ])
        .arg(&log);
    strace
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::driver", "--ignored"]);
    let output = run_within(TRACE_PATIENCE, strace.env(DIR, lab.path("")));
    assert!(output.status.success(), "{output:?}");
    let results = fs::read_to_string(lab.path("results")).unwrap();
    let results = results
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (results, fs::read_to_string(log).unwrap())
}

#[test]
fn nothing_but_the_list_reaches_execve() {
    let lab = lab();
    let expires_ms = now_ms() + 50 * 60 * 1_000;
    fs::write(lab.path(EXPIRES), expires_ms.to_string()).unwrap();
    let cases = cases(expires_ms);
    assert!(cases.len() >= 2000, "{}", cases.len());
    let (results, log) = drive(&lab);
    assert_eq!(results.len(), cases.len());
    let grammar = Regex::new(GRAMMAR).unwrap();
    let claimed = cases
        .iter()
        .zip(&results)
        .filter(|(case, result)| check_answer(case, result, &grammar))
        .count();

    let (mut acts, mut runs) = (0, 0);
    // Arguments are shown when a call is entered; where another process came between, its return has a line too.
    let entered = |line: &&str| line.contains("execve") && !line.contains(" resumed>");
    for line in log.lines().filter(entered) {
        let (program, argv, env) = parse_execve(line);
        if program == BINARY {
            acts += 1;
        } else if argv.first().is_some_and(|name| name.contains("/deps/it-")) {
            assert_eq!(acts, 0, "only the driver itself");
        } else {
            runs += 1;
            assert!(listed(&lab, &argv) && program == argv[0], "{line}");
            assert_eq!(env, [CLEAN], "{line}");
        }
    }
    assert_eq!((acts, runs), (cases.len(), claimed));
    assert!(
        runs >= 20,
        "the suite also shows that good tickets run: {runs}"
    );
    println!("{acts} cases, {runs} runs");
}

/// Whether this answer claims to have run something.
fn check_answer(case: &Case, result: &Value, grammar: &Regex) -> bool {
    let sent = String::from_utf8_lossy(&case.sent);
    let shown: String = sent.escape_debug().take(200).collect();
    let line = result["stdout"].as_str().unwrap();
    assert_eq!(line.matches('\n').count(), 1, "{shown}: {line}");
    let answer: Answer = serde_json::from_str(line).unwrap();
    assert_eq!(result["code"], json!(answer.outcome.exit_code()), "{shown}");
    let refused = answer.outcome == Outcome::Refused;
    if refused {
        assert!(answer.id.is_ascii() && answer.id.len() <= 64, "{line}");
        assert!(
            line.trim_end()
                .bytes()
                .all(|byte| (0x20..0x7f).contains(&byte)),
            "{line:?}"
        );
    }
    let of_grammar = std::str::from_utf8(&case.sent).is_ok_and(|text| grammar.is_match(text));
    assert_eq!(
        answer.reason == Some(Reason::BadCommand),
        !of_grammar,
        "{shown}: {line}"
    );
    assert_eq!(
        parse_command(OsStr::from_bytes(&case.sent)).is_ok(),
        of_grammar,
        "{shown}"
    );
    match case.expect {
        Expect::Refused => assert!(refused, "{shown}: {line}"),
        Expect::Runs => assert_eq!(answer.outcome, Outcome::Done, "{shown}: {line}"),
        Expect::Either => {}
    }
    matches!(answer.outcome, Outcome::Done | Outcome::Failed)
        && !answer.replayed
        && !answer.id.starts_with("void-")
}

/// Program, argv and environment of one line of strace; with `-xx` strings hold neither quotes nor brackets.
fn parse_execve(line: &str) -> (String, Vec<String>, Vec<String>) {
    let (_, call) = line.split_once("execve(").unwrap();
    let (program, rest) = call.split_once(", [").unwrap();
    let (argv, rest) = rest.split_once("], [").unwrap();
    let (env, _) = rest.split_once(']').unwrap();
    let strings = |text: &str| {
        text.split(", ")
            .filter(|text| !text.is_empty())
            .map(unhex)
            .collect()
    };
    (unhex(program), strings(argv), strings(env))
}

/// One character per byte, so that nothing is lost.
fn unhex(quoted: &str) -> String {
    let hex = quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .expect(quoted);
    let byte = |byte| u8::from_str_radix(byte, 16).unwrap();
    hex.split("\\x")
        .skip(1)
        .map(|text| char::from(byte(text)))
        .collect()
}

#[test]
fn what_cannot_be_sent_is_refused_by_the_parser_too() {
    let long = vec![b'a'; 1 << 20];
    for raw in [&b"ok\0"[..], b"\0", b"ok\0id", &long] {
        assert!(parse_command(OsStr::from_bytes(raw)).is_err());
    }
    let lab = lab();
    // The longest variable that the kernel passes on.
    let longest = vec![b'a'; 130_000];
    Called::from(&run(&mut lab.command(OsStr::from_bytes(&longest)))).refused(Reason::BadCommand);
}
