//! Whose list is believed. Every doubt refuses everything (I12, R-S12).

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;

use serde_json::json;
use void_act::{Outcome, Reason};

use crate::lab::{BINARY, Called, Lab, command, run, safe, ticket};

const NOBODY: u32 = 65534;

fn call_with(lab: &Lab, list: &Path, extra: &[&str]) -> Called {
    let mut command = command(BINARY);
    command.args([
        "--list".as_ref(),
        list.as_os_str(),
        "--state".as_ref(),
        lab.path("state").as_os_str(),
    ]);
    Called::from(&run(command
        .args(extra)
        .env("SSH_ORIGINAL_COMMAND", "void-list")))
}

#[track_caller]
fn unusable(called: &Called, read: bool) {
    called.refused(Reason::ListUnusable);
    assert_eq!(called.answer.list.is_some(), read, "{}", called.line);
}

#[test]
fn only_roots_own_regular_file_counts() {
    let lab = Lab::new(&[]);
    let list = lab.path("list.json");
    let call = || lab.call("void-list");
    call().is(Outcome::Done, false);
    for mode in [0o664, 0o646, 0o666, 0o777, 0o620, 0o602] {
        lab.set_mode("list.json", mode);
        unusable(&call(), false);
        unusable(&call_with(&lab, &list, &["--trust-own-list"]), false);
    }
    for mode in [0o644, 0o600, 0o400, 0o755] {
        lab.set_mode("list.json", mode);
        call().is(Outcome::Done, false);
    }
    for (uid, gid, good) in [(NOBODY, 0, false), (0, NOBODY, true)] {
        chown(&list, Some(uid), Some(gid)).unwrap();
        assert_eq!(call().answer.outcome == Outcome::Done, good);
    }
    fs::rename(&list, lab.path("real.json")).unwrap();
    unusable(&call(), false);
    symlink(lab.path("real.json"), &list).unwrap();
    unusable(&call(), false);
    fs::remove_file(&list).unwrap();
    fs::create_dir(&list).unwrap();
    unusable(&call(), false);
    fs::remove_dir(&list).unwrap();
    assert!(run(command("/usr/bin/mkfifo").arg(&list)).status.success());
    unusable(&call(), false);
    unusable(&call_with(&lab, Path::new("/dev/zero"), &[]), false);
}

#[test]
fn every_directory_above_counts() {
    let lab = Lab::new(&[]);
    fs::create_dir_all(lab.path("outer/inner")).unwrap();
    let list = lab.path("outer/inner/list.json");
    fs::copy(lab.path("list.json"), &list).unwrap();
    call_with(&lab, &list, &[]).is(Outcome::Done, false);
    for dir in ["outer", "outer/inner"] {
        for mode in [0o775, 0o757, 0o777, 0o1777] {
            lab.set_mode(dir, mode);
            unusable(&call_with(&lab, &list, &[]), false);
            // Trusting one's own list accepts a sticky directory, as /tmp, and no other that others can write.
            let own = call_with(&lab, &list, &["--trust-own-list"]);
            assert_eq!(
                own.answer.outcome == Outcome::Done,
                mode == 0o1777,
                "{mode:o} {}",
                own.line
            );
        }
        lab.set_mode(dir, 0o755);
        chown(lab.path(dir), Some(NOBODY), None).unwrap();
        unusable(&call_with(&lab, &list, &[]), false);
        unusable(&call_with(&lab, &list, &["--trust-own-list"]), false);
        chown(lab.path(dir), Some(0), None).unwrap();
    }
    symlink(lab.path("outer"), lab.path("link")).unwrap();
    unusable(
        &call_with(&lab, &lab.path("link/inner/list.json"), &[]),
        false,
    );
    unusable(
        &call_with(&lab, &lab.path("outer/inner/../inner/list.json"), &[]),
        false,
    );
    unusable(&call_with(&lab, Path::new("list.json"), &[]), false);
    call_with(&lab, &list, &[]).is(Outcome::Done, false);
}

#[test]
fn an_ordinary_user_may_trust_its_own_list_when_told_to() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    lab.install(Path::new(BINARY), "void-act");
    fs::create_dir(lab.path("home")).unwrap();
    fs::copy(lab.path("list.json"), lab.path("home/list.json")).unwrap();
    for path in ["home", "home/list.json", "state"] {
        chown(lab.path(path), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let call = |extra: &[&str], uid: u32| {
        let mut command = command(lab.path("void-act"));
        command.args(["--list".as_ref(), lab.path("home/list.json").as_os_str()]);
        command
            .args(["--state".as_ref(), lab.path("state").as_os_str()])
            .args(extra);
        Called::from(&run(command
            .env("SSH_ORIGINAL_COMMAND", "ok")
            .uid(uid)
            .gid(uid)))
    };
    call(&[], NOBODY).refused(Reason::ListUnusable);
    call(&["--trust-own-list"], 65533).refused(Reason::ListUnusable);
    call(&["--trust-own-list"], NOBODY).is(Outcome::Done, false);
}

#[test]
fn cut_anywhere_it_is_not_a_list() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    let whole = fs::read(lab.path("list.json")).unwrap();
    let one = ticket(1);
    let original = format!("effect {}", one.encode());
    for length in 0..whole.len() {
        fs::write(lab.path("list.json"), &whole[..length]).unwrap();
        unusable(&lab.call(&original), true);
    }
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
    fs::write(lab.path("list.json"), &whole).unwrap();
    lab.call(&original).is(Outcome::Done, false);
}

#[test]
fn garbage_and_near_misses_are_not_lists() {
    let lab = Lab::new(&[]);
    let good = fs::read_to_string(lab.path("list.json")).unwrap();
    let deep = "[".repeat(100_000);
    let twice = good.replace("\"version\":1", "\"version\":1,\"version\":1");
    let unknown = good.replace("\"tier\":\"risky\"", "\"tier\":\"risky\",\"shell\":true");
    for bad in [
        "",
        "null",
        "{}",
        "[]",
        "\0\0",
        "\u{feff}{}",
        &deep,
        &twice,
        &unknown,
        &format!("{good}x"),
    ] {
        assert_ne!(bad, good);
        fs::write(lab.path("list.json"), bad).unwrap();
        unusable(&lab.call("void-list"), true);
    }
    let quoted = good.replace(
        "\"version\"",
        &format!("\"{}\":0,\"version\"", "\\u0007".repeat(100_000)),
    );
    fs::write(lab.path("list.json"), quoted).unwrap();
    let called = lab.call("void-list");
    unusable(&called, true);
    assert!(
        called.line.len() < 4096,
        "the complaint does not quote the list at length"
    );
    fs::write(lab.path("list.json"), [0xff, 0xfe]).unwrap();
    unusable(&lab.call("void-list"), true);
}

#[test]
fn a_mebibyte_is_the_limit() {
    let lab = Lab::new(&[]);
    let mut text = fs::read(lab.path("list.json")).unwrap();
    text.resize(1 << 20, b' ');
    fs::write(lab.path("list.json"), &text).unwrap();
    lab.call("void-list").is(Outcome::Done, false);
    text.push(b' ');
    fs::write(lab.path("list.json"), &text).unwrap();
    unusable(&lab.call("void-list"), false);
}

#[test]
fn an_unusable_list_refuses_questions_too() {
    let lab = Lab::new(&[json!({"id": "x", "argv": ["true"], "tier": "safe"})]);
    for id in ["effect", "void-ticket", "void-settle"] {
        unusable(&lab.ask(id, &ticket(1)), true);
    }
    assert_eq!(fs::read_dir(lab.path("state")).unwrap().count(), 0);
}
