//! The journal as a file: torn, damaged, foreign, full, compacted.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use void_act::{Outcome, Reason};

use crate::lab::{DAY_MS, HOUR_MS, Lab, command, now_ms, proposal, run, safe, ticket, ticket_with};

fn start(run: u64, id: &str, ticket: &Value, wall_ms: u64) -> String {
    let at = json!({"wall_ms": wall_ms, "boot": "an earlier boot", "up_ms": 0});
    json!({"start": {"run": run, "id": id, "ticket": ticket, "at": at}}).to_string() + "\n"
}

fn end(run: u64, stdout: &str) -> String {
    let ending = json!({"done": true, "exit": 0, "stdout": stdout, "stderr": ""});
    json!({"end": {"run": run, "ending": ending}}).to_string() + "\n"
}

/// A file system of 64 KiB, for as long as it lives.
struct Mounted(PathBuf);

impl Mounted {
    fn small(at: PathBuf) -> Self {
        let mut mount = command("/bin/mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs"])
            .arg(&at);
        assert!(
            run(&mut mount).status.success(),
            "mounting needs a root that may mount"
        );
        Self(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run(command("/bin/umount").arg(&self.0));
    }
}

fn mark(n: u64, expires_ms: u64) -> Value {
    json!({"proposal": proposal(n), "fingerprint": "0".repeat(64), "expires_ms": expires_ms})
}

#[test]
fn a_start_and_an_end_say_what_they_must() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("effect", &one).is(Outcome::Done, false);
    let journal = lab.journal();
    let lines: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let start = &lines[0]["start"];
    assert_eq!(
        (&start["id"], &start["ticket"]["proposal"]),
        (&json!("effect"), &json!(proposal(1)))
    );
    assert_eq!(start["ticket"]["expires_ms"], json!(one.expires_ms()));
    assert_eq!(start["ticket"]["fingerprint"].as_str().unwrap().len(), 64);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(start["at"]["boot"], json!(boot.trim()));
    assert!(start["at"]["wall_ms"].as_u64().unwrap().abs_diff(now_ms()) < 3600 * 1000);
    assert!(start["at"]["up_ms"].as_u64().unwrap() > 0);
    let end = &lines[1]["end"];
    assert_eq!(end["run"], start["run"]);
    assert_eq!(
        end["ending"],
        json!({"done": true, "exit": 0, "stdout": "", "stderr": ""})
    );
    for name in ["journal", "lock"] {
        let metadata = fs::metadata(lab.path("state").join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn cut_at_any_byte_it_still_tells_the_truth() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("effect", &one).is(Outcome::Done, false);
    let whole = lab.journal();
    let start = whole.find('\n').unwrap() + 1;
    for length in 0..=whole.len() {
        lab.write_journal(&whole[..length]);
        let asked = lab.ask("void-ticket", &one);
        match length {
            // A start whose line was not finished was never acted on.
            _ if length < start => asked.is(Outcome::Unseen, false),
            _ if length < whole.len() => asked.is(Outcome::Started, true),
            _ => asked.is(Outcome::Done, true),
        }
        assert_eq!(lab.journal(), whole[..length]);
    }
    // The torn end is cut off when the next record is written.
    lab.write_journal(&whole[..whole.len() - 5]);
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
    assert!(lab.journal().starts_with(&whole[..start]));
    assert_eq!(lab.journal().lines().count(), 3);
    lab.ask("effect", &one).is(Outcome::Started, true);
    assert_eq!(lab.effects(), 2);
}

#[test]
fn damage_anywhere_else_runs_nothing() {
    let lab = Lab::new(&[safe("ok", &["/bin/true"])]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let whole = lab.journal();
    let first = whole.lines().next().unwrap().to_owned() + "\n";
    for bad in [
        whole.replacen('{', "#", 1),
        format!("\n{whole}"),
        format!("{whole}\n"),
        format!("{whole}{first}"),
        format!("{whole}{{}}\n"),
        format!("{whole}\u{0}\u{0}\u{0}\n"),
        whole.replace("\"exit\":0", "\"exit\":\"0\""),
        whole.replace("\"run\"", "\"ran\""),
        whole[first.len()..].to_owned(),
    ] {
        lab.write_journal(&bad);
        for id in ["effect", "void-ticket", "void-settle"] {
            lab.ask(id, &ticket(2)).refused(Reason::JournalDamaged);
        }
        lab.call("ok").refused(Reason::JournalDamaged);
        assert_eq!(lab.journal(), bad);
    }
    lab.call("void-list").is(Outcome::Done, false);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn a_state_directory_that_others_reach_runs_nothing() {
    let lab = Lab::new(&[]);
    let refused = |n: u64| {
        for id in ["effect", "void-ticket", "void-settle"] {
            lab.ask(id, &ticket(n)).refused(Reason::JournalUnavailable);
        }
    };
    for mode in [0o720, 0o702, 0o777, 0o1777] {
        lab.set_mode("state", mode);
        refused(1);
    }
    lab.set_mode("state", 0o755);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    for name in ["state/journal", "state/lock"] {
        for mode in [0o640, 0o604, 0o666] {
            lab.set_mode(name, mode);
            refused(2);
        }
        lab.set_mode(name, 0o600);
        chown(lab.path(name), Some(65534), None).unwrap();
        refused(2);
        chown(lab.path(name), Some(0), None).unwrap();
        fs::rename(lab.path(name), lab.path("aside")).unwrap();
        symlink(lab.path("aside"), lab.path(name)).unwrap();
        refused(2);
        fs::remove_file(lab.path(name)).unwrap();
        assert!(
            run(command("/usr/bin/mkfifo")
                .args(["-m", "600"])
                .arg(lab.path(name)))
            .status
            .success()
        );
        refused(2);
        fs::remove_file(lab.path(name)).unwrap();
        fs::rename(lab.path("aside"), lab.path(name)).unwrap();
    }
    chown(lab.path("state"), Some(65534), None).unwrap();
    refused(2);
    chown(lab.path("state"), Some(0), None).unwrap();
    fs::rename(lab.path("state"), lab.path("moved")).unwrap();
    refused(2);
    symlink(lab.path("moved"), lab.path("state")).unwrap();
    refused(2);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn a_full_disk_starts_nothing_and_still_answers() {
    let lab = Lab::new(&[]);
    let _small = Mounted::small(lab.path("state"));
    let known = ticket(1);
    lab.ask("effect", &known).is(Outcome::Done, false);
    let filler = lab.path("state/filler");
    let mut size = 64 << 10;
    while fs::write(&filler, vec![0; size]).is_err() && size > 0 {
        size -= 1024;
    }
    // What is left of the last page takes a few more records, and then no whole one.
    let mut ran = 1;
    let refused = loop {
        let called = lab.ask("effect", &ticket(1 + ran));
        if called.answer.outcome == Outcome::Refused {
            break called;
        }
        ran += 1;
        assert!(ran < 100);
    };
    refused.refused(Reason::JournalUnavailable);
    assert_eq!(lab.effects() as u64, ran);
    lab.ask("effect", &known).is(Outcome::Done, true);
    lab.ask("void-ticket", &known).is(Outcome::Done, true);
    fs::remove_file(filler).unwrap();
    lab.ask("effect", &ticket(1000)).is(Outcome::Done, false);
}

#[test]
fn past_a_mebibyte_old_tickets_are_forgotten_but_never_run() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let old = now - 40 * DAY_MS;
    let mut text = String::new();
    for n in 0..40 {
        text += &start(n, "effect", &mark(100 + n, old + n), old);
        text += &end(n, &"x".repeat(30_000));
    }
    let alive = ticket_with(1, &json!({}), now + HOUR_MS);
    lab.write_journal(&text);
    assert!(text.len() > 1 << 20);
    let inode = fs::metadata(lab.path("state/journal")).unwrap().ino();
    lab.ask("effect", &alive).is(Outcome::Done, false);
    let journal = lab.journal();
    assert!(journal.len() < 4096, "{}", journal.len());
    assert_ne!(
        fs::metadata(lab.path("state/journal")).unwrap().ino(),
        inode
    );
    assert_eq!(
        fs::metadata(lab.path("state/journal"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
    assert!(!lab.path("state/journal.new").exists());
    // The last start of the action stays, for its cooldown; all others are remembered by their latest expiry.
    assert!(journal.starts_with(&format!(
        "{{\"head\":{{\"forgotten_ms\":{},\"next_run\":40}}}}\n",
        old + 38
    )));
    for id in ["effect", "void-ticket", "void-settle"] {
        lab.ask(id, &ticket_with(100, &json!({}), old))
            .refused(Reason::Forgotten);
        lab.ask(id, &ticket_with(999, &json!({}), old + 38))
            .refused(Reason::Forgotten);
    }
    lab.ask("effect", &ticket_with(999, &json!({}), old + 39))
        .refused(Reason::Expired);
    lab.ask("effect", &alive).is(Outcome::Done, true);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn what_is_still_needed_is_not_compacted_away() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let mut text = String::new();
    for n in 0..40 {
        text += &start(n, "effect", &mark(100 + n, now), now - DAY_MS);
        text += &end(n, &"x".repeat(30_000));
    }
    lab.write_journal(&text);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    assert!(lab.journal().starts_with(&text));
}

#[test]
fn too_many_tickets_that_may_still_come_are_full() {
    let lab = Lab::new(&[]);
    let at = json!({"wall_ms": 0, "boot": "b", "up_ms": 0});
    let mut text = String::new();
    for n in 0..50_000 {
        writeln!(
            text,
            "{}",
            json!({"void": {"ticket": mark(100 + n, u64::MAX), "at": at}})
        )
        .unwrap();
    }
    lab.write_journal(&text);
    for id in ["effect", "void-settle"] {
        lab.ask(id, &ticket(1)).refused(Reason::JournalFull);
    }
    lab.ask("void-ticket", &ticket(1))
        .is(Outcome::Unseen, false);
    let one_less = text.split_once('\n').unwrap().1;
    lab.write_journal(one_less);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 1);
}

#[test]
fn a_lock_that_is_never_released_is_busy() {
    let lab = Lab::new(&[]);
    lab.ask("void-ticket", &ticket(1))
        .is(Outcome::Unseen, false);
    let lock = fs::File::open(lab.path("state/lock")).unwrap();
    lock.lock().unwrap();
    lab.ask("effect", &ticket(1)).refused(Reason::Busy);
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
    drop(lock);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
}
