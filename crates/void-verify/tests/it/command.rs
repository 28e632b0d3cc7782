//! The binary: what it says, how it exits; and the shell recipe of the crate's documentation.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::logs::{Random, canonical, export, log, text};

#[expect(clippy::disallowed_methods, reason = "the test runs the built binary")]
pub(crate) fn verifier() -> Command {
    Command::new(env!("CARGO_BIN_EXE_void-verify"))
}

fn run(args: &[&str], stdin: &[u8]) -> (Option<i32>, String, String) {
    let mut command = verifier();
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A refused command line is not read for: the pipe may be closed.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

#[test]
fn an_intact_export_is_one_paragraph_and_exit_0() {
    let entries = log(&mut Random(40), 1234);
    let bytes = export(&entries);
    let head = text(&entries[1233]["hash"]);
    let (code, out, err) = run(&["-"], &bytes);
    let no_head =
        "No head given: a cut tail would not be noticed; compare this head with one you noted.";
    assert_eq!(
        out,
        format!("1,234 entries, 1 to 1234, chain intact. Head {head}. {no_head}\n")
    );
    assert_eq!((code, err.as_str()), (Some(0), ""));

    let (code, out, _) = run(&["-", "--head", &head], &bytes);
    assert!(
        out.ends_with("The given head is the last entry: the tail is complete.\n"),
        "{out}"
    );
    assert_eq!(code, Some(0));

    let (code, out, _) = run(&["--head", &text(&entries[1231]["hash"]), "-"], &bytes);
    let said =
        "The given head is entry 1232; 2 entries follow, where a cut would not be noticed.\n";
    assert!(out.ends_with(said), "{out}");
    assert_eq!(code, Some(0));
}

#[test]
fn problems_are_lines_and_exit_1() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut entries = log(&mut Random(41), 9);
    let head = text(&entries[8]["hash"]);
    entries[3]["actor"] = json!("nobody");
    entries.remove(6);
    entries.pop();
    fs::write(&path, export(&entries)).unwrap();
    let file = path.to_str().unwrap();
    let (code, out, _) = run(&[file, "--head", &head], b"");
    let lines: Vec<_> = out.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "line 4, seq 4: edited: the hash does not match the content",
            "line 7, seq 8: removed: entry 7 is missing before this one",
            "line 7, seq 8: cut_tail: no entry has the given head; cut behind here, or rewritten",
        ]
    );
    assert!(
        out.starts_with("7 entries, 1 to 8, chain BROKEN: 3 problems."),
        "{out}"
    );
    assert_eq!(code, Some(1));

    let (code, out, _) = run(&[file, "--json"], b"");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(1));
    assert_eq!(
        (&report["intact"], &report["entries"]),
        (&json!(false), &json!(7))
    );
    assert_eq!(
        (&report["first_seq"], &report["last_seq"]),
        (&json!(1), &json!(8))
    );
    assert_eq!(report["head"], entries[6]["hash"]);
    assert_eq!(report["tail"], json!({"state": "not_proven"}));
    assert_eq!(report["problems_total"], 2);
    assert_eq!(report["problems"][1]["kind"], "removed");
    assert_eq!(report["problems"][1]["line"], 7);
    assert_eq!(report["problems"][1]["seq"], 8);
}

/// Whoever cut the beginning off, or everything, does not get the exit code of a whole record.
#[test]
fn an_export_without_its_beginning_exits_3_unless_a_part_is_meant() {
    let entries = log(&mut Random(44), 9);
    let (whole, part) = (export(&entries), export(&entries[4..]));
    let head = text(&entries[8]["hash"]);
    for (args, bytes, code) in [
        (&["-"][..], &whole, 0),
        (&["-", "--from", "1"], &whole, 0),
        (&["-"], &part, 3),
        (&["-", "--head", &head], &part, 3),
        (&["-", "--json"], &part, 3),
        (&["-", "--from", "5"], &part, 0),
        (&["-", "--from", "5", "--head", &head], &part, 0),
        (&["-", "--from", "4"], &part, 3),
        (&["-", "--from", "6"], &part, 3),
        (&["-", "--from", "5"], &whole, 3),
        (&["-"], &Vec::new(), 1),
        (&["-", "--from", "1"], &Vec::new(), 1),
    ] {
        let (exit, out, err) = run(args, bytes);
        assert_eq!(exit, Some(code), "{args:?}: {out}{err}");
        assert_eq!(err.is_empty(), code != 3, "{args:?}: {err}");
    }
    let (_, _, err) = run(&["-"], &part);
    assert!(err.contains("--from 5"), "{err}");
    // Damage comes first: it is never taken for a mere part.
    let mut damaged = entries[4..].to_vec();
    damaged[2]["actor"] = json!("nobody");
    assert_eq!(run(&["-"], &export(&damaged)).0, Some(1));
    assert_eq!(run(&["-", "--from", "5"], &export(&damaged)).0, Some(1));
}

#[test]
fn usage_and_unreadable_files_exit_2() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("none\u{1b}[31m");
    for args in [
        &["--what"][..],
        &[],
        &[missing.to_str().unwrap()],
        &[directory.path().to_str().unwrap()],
    ] {
        let (code, out, err) = run(args, b"");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{args:?}");
        assert!(
            err.starts_with("void-verify: ") && !err.contains('\u{1b}'),
            "{err}"
        );
    }
    let (code, out, _) = run(&["--help"], b"");
    assert!(
        code == Some(0) && out.starts_with("usage: void-verify FILE|-"),
        "{out}"
    );
}

#[test]
fn a_hostile_file_cannot_speak_to_the_terminal() {
    let mut entries = log(&mut Random(42), 3);
    entries[1]["actor"] = json!("\u{1b}]0;owned\u{7}\u{202e}");
    let mut bytes = export(&entries);
    bytes.extend(b"\x1b[2J{\"\x1b[31m\":1}\n");
    bytes.extend(b"{\"\\u001b[31m\":1,\"\\u001b[31m\":2}\n{\"\xc2\x9b31m\":1}\n");
    for args in [&["-"][..], &["-", "--json"]] {
        let (code, out, err) = run(args, &bytes);
        assert_eq!(code, Some(1));
        assert!(
            (out.trim_end_matches('\n').replace('\n', " ") + &err)
                .chars()
                .all(|c| matches!(c, ' '..='~')),
            "{out:?}"
        );
    }
}

/// The documentation says how to check a line without us; it is true.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test runs the documented shell commands"
)]
fn coreutils_agree() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let source = fs::read_to_string(source).unwrap();
    let recipe = source
        .split("//! ```")
        .nth(1)
        .unwrap()
        .strip_prefix("sh\n")
        .unwrap();
    let recipe = recipe.replace("//! ", "");
    let directory = tempfile::tempdir().unwrap();
    for trial in 0..20 {
        let mut entries = log(&mut Random(43 + trial), 5);
        // Members of the same names deeper down must not mislead it.
        let (hash, prev) = ("1".repeat(64), "2".repeat(64));
        entries[4]["detail"] = json!({"a": 1, "hash": hash, "prev": prev, "request_id": "x"});
        crate::logs::seal_from(&mut entries, 4);
        fs::write(directory.path().join("audit.jsonl"), export(&entries)).unwrap();
        let shell = Command::new("sh")
            .args(["-euc", &recipe])
            .current_dir(directory.path())
            .output();
        let said = String::from_utf8(shell.unwrap().stdout).unwrap();
        assert_eq!(
            said,
            format!("{}  -\n", text(&entries[4]["hash"])),
            "{}",
            canonical(&entries[4])
        );
    }
}
