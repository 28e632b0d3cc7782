//! The journal as files: torn, damaged, foreign, on a full disk, locked.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use void_act::{Outcome, Reason};

use crate::lab::{Called, DAY_MS, HOUR_MS, Lab, command, def, now_ms, proposal, run, ticket};

pub(crate) fn start(run: u64, id: &str, ticket: &Value, wall_ms: u64) -> String {
    let at = json!({"wall_ms": wall_ms, "boot": "an earlier boot", "up_ms": 0});
    json!({"start": {"run": run, "id": id, "ticket": ticket, "at": at}}).to_string() + "\n"
}

pub(crate) fn end(run: u64, stdout: &str) -> String {
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

pub(crate) fn mark(n: u64, expires_ms: u64) -> Value {
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
    assert_eq!(
        lines[1]["end"],
        json!({"done": true, "exit": 0, "stdout": "", "stderr": ""})
    );
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(lab.ticket_file(1)), mode(lab.path("state/lock"))),
        (0o600, 0o600)
    );
    for name in [
        "journal",
        "journal/0",
        "journal/f",
        "journal/actions",
        "journal/marks",
    ] {
        assert_eq!(mode(lab.path("state").join(name)), 0o700, "{name}");
    }
}

#[test]
fn cut_at_any_byte_it_still_tells_the_truth() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("effect", &one).is(Outcome::Done, false);
    let file = lab.ticket_file(1);
    let whole = fs::read_to_string(&file).unwrap();
    let start = whole.find('\n').unwrap() + 1;
    for length in 0..=whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        // A start whose line was not finished may be of somebody who is about to act on it.
        let expected = if length < whole.len() {
            Outcome::Started
        } else {
            Outcome::Done
        };
        let every = length % 16 == 0 || length.abs_diff(start) < 3;
        for id in ["void-ticket", "void-settle", "effect"]
            .iter()
            .take(if every { 3 } else { 1 })
        {
            lab.ask(id, &one).is(expected, true);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), whole[..length]);
    }
    assert_eq!(lab.effects(), 1);
    // What one ticket's file is like is nobody else's matter.
    fs::write(&file, "").unwrap();
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 2);
}

#[test]
fn a_damaged_ticket_runs_nothing_and_answers_nothing() {
    let lab = Lab::new(&[]);
    let one = ticket(1);
    lab.ask("effect", &one).is(Outcome::Done, false);
    let file = lab.ticket_file(1);
    let whole = fs::read_to_string(&file).unwrap();
    let first = whole.lines().next().unwrap().to_owned() + "\n";
    for bad in [
        whole.replacen('{', "#", 1),
        format!("\n{whole}"),
        format!("{whole}\n"),
        format!("{whole}{first}"),
        format!("{first}{whole}"),
        format!("{whole}{{}}\n"),
        format!("{whole}\u{0}\u{0}\u{0}\n"),
        whole.replace("\"exit\":0", "\"exit\":\"0\""),
        whole.replace("\"proposal\"", "\"proposed\""),
        whole.replace(&proposal(1), &proposal(3)),
        whole[first.len()..].to_owned(),
    ] {
        fs::write(&file, &bad).unwrap();
        for id in ["effect", "void-ticket", "void-settle"] {
            lab.ask(id, &one).refused(Reason::JournalDamaged);
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
    }
    lab.call("void-list").is(Outcome::Done, false);
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 2);
}

#[test]
fn an_action_whose_starts_are_damaged_does_not_run() {
    let lab = Lab::new(&[]);
    let entry = |id: &str| json!({"id": id, "argv": [lab.text("effect")], "tier": "risky", "def": def(), "max_per_day": 9});
    lab.list(&[entry("one"), entry("two")]);
    lab.ask("one", &ticket(1)).is(Outcome::Done, false);
    let file = lab.path("state/journal/actions/one");
    let whole = fs::read_to_string(&file).unwrap();
    for bad in [
        format!("#\n{whole}"),
        format!("{whole}\n"),
        whole.replace("\"at\"", "\"on\""),
        whole.replacen('{', "{\"extra\":1,", 1),
    ] {
        fs::write(&file, bad).unwrap();
        lab.ask("one", &ticket(2)).refused(Reason::JournalDamaged);
    }
    // Torn is of somebody who died before anything was started.
    fs::write(&file, format!("{whole}{{\"at\":")).unwrap();
    lab.ask("one", &ticket(2)).is(Outcome::Done, false);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
    lab.ask("two", &ticket(3)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 3);
}

pub(crate) fn all_refused(lab: &Lab, n: u64, reason: Reason) {
    for id in ["effect", "void-ticket", "void-settle"] {
        lab.ask(id, &ticket(n)).refused(reason);
    }
}

#[test]
fn a_state_directory_that_others_reach_runs_nothing() {
    let lab = Lab::new(&[]);
    let refused = |n: u64| all_refused(&lab, n, Reason::JournalUnavailable);
    for mode in [0o720, 0o702, 0o777, 0o1777] {
        lab.set_mode("state", mode);
        refused(1);
    }
    lab.set_mode("state", 0o755);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let folder = lab.place_of(2).parent().unwrap().to_owned();
    for path in [
        lab.path("state/journal"),
        lab.path("state/journal/marks"),
        folder,
    ] {
        let name = path.strip_prefix(lab.path("")).unwrap().to_str().unwrap();
        for mode in [0o740, 0o704, 0o711, 0o777] {
            lab.set_mode(name, mode);
            refused(2);
        }
        lab.set_mode(name, 0o700);
        chown(&path, Some(65534), None).unwrap();
        refused(2);
        chown(&path, Some(0), None).unwrap();
        fs::rename(&path, lab.path("aside")).unwrap();
        symlink(lab.path("aside"), &path).unwrap();
        refused(2);
        fs::remove_file(&path).unwrap();
        make_fifo(&path);
        refused(2);
        fs::remove_file(&path).unwrap();
        if name != "state/journal" {
            // A journal without this part is not known.
            all_refused(&lab, 2, Reason::JournalDamaged);
            fs::write(&path, "").unwrap();
            refused(2);
            fs::remove_file(&path).unwrap();
        }
        fs::rename(lab.path("aside"), &path).unwrap();
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

fn make_fifo(path: &Path) {
    let mut mkfifo = command("/usr/bin/mkfifo");
    let made = run(mkfifo.args(["-m", "600"]).arg(path));
    assert!(made.status.success());
}

/// Whatever stands where a ticket's file should be keeps the ticket from running.
#[test]
fn a_hostile_file_in_a_tickets_place_runs_nothing() {
    let lab = Lab::new(&[]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let (place, good) = (lab.place_of(2), lab.ticket_file(1));
    let name = place.strip_prefix(lab.path("")).unwrap();
    let name = name.to_str().unwrap().to_owned();
    let refused = || all_refused(&lab, 2, Reason::JournalUnavailable);
    symlink(&good, &place).unwrap();
    refused();
    fs::remove_file(&place).unwrap();
    symlink("/nonexistent", &place).unwrap();
    refused();
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    refused();
    fs::remove_dir(&place).unwrap();
    make_fifo(&place);
    refused();
    fs::remove_file(&place).unwrap();
    fs::write(&place, "").unwrap();
    for mode in [0o640, 0o604, 0o666] {
        lab.set_mode(&name, mode);
        refused();
    }
    lab.set_mode(&name, 0o600);
    chown(&place, Some(65534), None).unwrap();
    refused();
    chown(&place, Some(0), None).unwrap();
    fs::write(&place, vec![b'x'; 2 << 20]).unwrap();
    refused();
    fs::remove_file(&place).unwrap();
    // Another ticket's file, by a hard link: it is about somebody else.
    fs::hard_link(&good, &place).unwrap();
    all_refused(&lab, 2, Reason::JournalDamaged);
    fs::remove_file(&place).unwrap();
    assert_eq!(lab.effects(), 1);
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
}

/// The same for the file of an action that brakes hold back.
#[test]
fn a_hostile_file_of_starts_runs_nothing() {
    let lab = Lab::new(&[]);
    lab.list(&[json!({"id": "one", "argv": [lab.text("effect")], "tier": "risky", "def": def(), "max_per_day": 9})]);
    lab.ask("one", &ticket(1)).is(Outcome::Done, false);
    let name = "state/journal/actions/one";
    let place = lab.path(name);
    let refused = || {
        lab.ask("one", &ticket(2))
            .refused(Reason::JournalUnavailable);
    };
    lab.set_mode(name, 0o644);
    refused();
    lab.set_mode(name, 0o600);
    chown(&place, Some(65534), None).unwrap();
    refused();
    chown(&place, Some(0), None).unwrap();
    fs::rename(&place, lab.path("aside")).unwrap();
    symlink(lab.path("aside"), &place).unwrap();
    refused();
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    refused();
    fs::remove_dir(&place).unwrap();
    make_fifo(&place);
    refused();
    fs::remove_file(&place).unwrap();
    fs::rename(lab.path("aside"), &place).unwrap();
    lab.ask("one", &ticket(2)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 2);
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

/// Who makes the journal holds this lock, in every version; nobody needs it afterwards.
#[test]
fn a_lock_that_is_never_released_is_busy() {
    let lab = Lab::new(&[]);
    fs::write(lab.path("state/lock"), "").unwrap();
    lab.set_mode("state/lock", 0o600);
    let lock = fs::File::open(lab.path("state/lock")).unwrap();
    lock.lock().unwrap();
    lab.ask("effect", &ticket(1)).refused(Reason::Busy);
    assert_eq!((lab.effects(), lab.journal().as_str()), (0, ""));
    drop(lock);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let lock = fs::File::open(lab.path("state/lock")).unwrap();
    lock.lock().unwrap();
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
}

#[test]
fn a_lock_of_one_action_is_nobody_elses() {
    let lab = Lab::new(&[]);
    let entry = |id: &str| json!({"id": id, "argv": [lab.text("effect")], "tier": "risky", "def": def(), "max_per_day": 9});
    lab.list(&[entry("one"), entry("two")]);
    let first = ticket(1);
    lab.ask("one", &first).is(Outcome::Done, false);
    lab.ask("two", &ticket(2)).is(Outcome::Done, false);
    let lock = fs::File::open(lab.path("state/journal/actions/one")).unwrap();
    lock.lock().unwrap();
    lab.ask("two", &ticket(3)).is(Outcome::Done, false);
    lab.ask("effect", &ticket(4)).is(Outcome::Done, false);
    // Known is known.
    lab.ask("one", &first).is(Outcome::Done, true);
    lab.ask("one", &ticket(5)).refused(Reason::Busy);
    drop(lock);
    lab.ask("one", &ticket(5)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 5);
}

/// By many processes at once, over a take-over and a pruning.
#[test]
fn caps_and_cooldowns_are_counted_right() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let mut text = String::new();
    for n in 0..3 {
        text += &start(n, "capped", &mark(500 + n, now), now - HOUR_MS / 2);
        text += &end(n, "");
    }
    text += &start(3, "cooling", &mark(503, now), now - 1000);
    text += &start(4, "rested", &mark(504, now), now - DAY_MS);
    lab.write_old_journal(&text);
    let entry = |id: &str, key: &str, value: u32| {
        let mut entry =
            json!({"id": id, "argv": [lab.text("effect")], "tier": "risky", "def": def()});
        entry[key] = value.into();
        entry
    };
    lab.list(&[
        entry("capped", "max_per_hour", 10),
        entry("cooling", "cooldown_s", 3600),
        entry("rested", "cooldown_s", 3600),
    ]);
    let at_once = |id: &str, base: u64| {
        let children: Vec<_> = (0..24)
            .map(|n| {
                let word = ticket(base + n).encode();
                let mut run = lab.command(format!("{id} {word}"));
                run.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let called = children
            .into_iter()
            .map(|child| Called::from(&child.wait_with_output().unwrap()));
        called
            .filter(|called| called.answer.outcome == Outcome::Done)
            .count()
    };
    assert_eq!(at_once("capped", 1000), 7);
    assert_eq!(at_once("cooling", 2000), 0);
    assert_eq!(at_once("rested", 3000), 1);
    for folder in 0..16 {
        lab.make_pruning_due(folder);
        lab.ask("effect", &ticket(4000 + folder))
            .is(Outcome::Done, false);
    }
    lab.wait_quiet();
    assert_eq!(at_once("capped", 5000), 0);
    lab.ask("rested", &ticket(6000))
        .refused(Reason::CoolingDown);
    assert_eq!(lab.effects(), 7 + 1 + 16);
}
