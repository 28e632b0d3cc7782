//! Forgetting what is old, away from the runs, and what is never forgotten.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;
use void_act::{Outcome, Reason};

use crate::journals::mark;
use crate::lab::{
    Called, DAY_MS, HOUR_MS, Lab, command, now_ms, run, ticket, ticket_with, wait_for,
};

/// Prunes the folder of this ticket after a run of another one, and waits for it.
fn prune_folder_of(lab: &Lab, n: u64, by: u64) {
    let place = lab.place_of(n);
    let digit = place.parent().unwrap().file_name().unwrap();
    let folder = u64::from_str_radix(digit.to_str().unwrap(), 16).unwrap();
    lab.make_pruning_due(folder);
    lab.ask("effect", &ticket(by)).is(Outcome::Done, false);
    lab.wait_quiet();
    let pruned = format!("pruned_{folder}_");
    assert!(lab.marks().iter().any(|name| name.starts_with(&pruned)));
}

/// As if it had been written that long ago.
fn age(lab: &Lab, n: u64, days: u64) {
    let ago = format!("{days} days ago");
    let mut touch = command("/usr/bin/touch");
    let aged = run(touch.args(["-d", &ago]).arg(lab.place_of(n)));
    assert!(aged.status.success());
}

fn write_ticket(lab: &Lab, n: u64, expires_ms: u64, wall_ms: u64, stdout: Option<&str>) {
    let at = json!({"wall_ms": wall_ms, "boot": "an earlier boot", "up_ms": 0});
    let start = json!({"start": {"id": "effect", "ticket": mark(n, expires_ms), "at": at}});
    let end = json!({"end": {"done": true, "exit": 0, "stdout": stdout, "stderr": ""}});
    let end = stdout.map_or_else(String::new, |_| format!("{end}\n"));
    fs::write(lab.place_of(n), format!("{start}\n{end}")).unwrap();
    fs::set_permissions(lab.place_of(n), fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn what_is_pruned_is_forgotten_and_never_runs() {
    let (lab, one) = (Lab::new(&[]), ticket(1));
    lab.ask("effect", &one).is(Outcome::Done, false);
    let old = now_ms() - 40 * DAY_MS;
    write_ticket(&lab, 100, old, old, Some("out"));
    age(&lab, 100, 40);
    prune_folder_of(&lab, 100, 2);
    assert!(!lab.place_of(100).exists());
    assert!(lab.marks().contains(&format!("forgotten_{old}")));
    for id in ["effect", "void-ticket", "void-settle"] {
        for n in [100, 999] {
            lab.ask(id, &ticket_with(n, &json!({}), old))
                .refused(Reason::Forgotten);
        }
    }
    lab.ask("effect", &ticket_with(999, &json!({}), old + 1))
        .refused(Reason::Expired);
    lab.ask("effect", &one).is(Outcome::Done, true);
    assert_eq!(lab.effects(), 2);
}

/// Expiry and a margin, by the ticket's own word; what cannot be read is never forgotten.
#[test]
fn what_may_still_come_is_not_pruned() {
    let lab = Lab::new(&[]);
    let now = now_ms();
    let old = now - 40 * DAY_MS;
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    // All in one folder.
    let folder = lab.place_of(1).parent().unwrap().to_owned();
    let mut fellows = (100..).filter(|n| lab.place_of(*n).parent() == Some(&folder));
    let mut next = || fellows.next().unwrap();
    let (gone, late, recent, torn, broken, large, stone) =
        (next(), next(), next(), next(), next(), next(), next());
    write_ticket(&lab, gone, now - 30 * DAY_MS, old, Some(""));
    write_ticket(&lab, late, now - 30 * DAY_MS + HOUR_MS, old, Some(""));
    write_ticket(&lab, recent, old, old, Some(""));
    write_ticket(&lab, torn, old, old, None);
    fs::write(lab.place_of(torn), "{\"start\":").unwrap();
    write_ticket(&lab, broken, old, old, None);
    fs::write(lab.place_of(broken), "?\n").unwrap();
    let output = "x".repeat(30_000);
    write_ticket(
        &lab,
        large,
        now - 3 * DAY_MS,
        now - 3 * DAY_MS,
        Some(&output),
    );
    let settled = ticket(stone);
    lab.ask("void-settle", &settled).is(Outcome::Unseen, false);
    for n in [gone, late, torn, broken, stone] {
        age(&lab, n, 40);
    }
    age(&lab, large, 3);
    prune_folder_of(&lab, 1, 2);
    assert!(!lab.place_of(gone).exists());
    for n in [late, recent, torn, broken, large, stone] {
        assert!(lab.place_of(n).exists(), "{n}");
    }
    // Its end stays, its output does not.
    let text = fs::read_to_string(lab.place_of(large)).unwrap();
    assert!(text.contains("\"exit\":0") && text.len() < 600, "{text}");
    lab.ask("effect", &ticket(torn)).is(Outcome::Started, true);
    lab.ask("effect", &settled).refused(Reason::Settled);
    assert_eq!(lab.effects(), 2);
}

/// One folder's turn is taken by one process, whoever else comes at that moment.
#[test]
fn pruning_while_runs_go_on_forgets_nothing_that_is_needed() {
    let (lab, one) = (Lab::new(&[]), ticket(1));
    lab.ask("effect", &one).is(Outcome::Done, false);
    let old = now_ms() - 40 * DAY_MS;
    for n in 1000..1064 {
        write_ticket(&lab, n, old, old, Some("out"));
        age(&lab, n, 40);
    }
    let mut runs = 1;
    for folder in 0..16 {
        lab.make_pruning_due(folder);
        let children: Vec<_> = (0..8)
            .map(|n| {
                let word = ticket(10 + folder * 8 + n).encode();
                let mut run = lab.command(format!("effect {word}"));
                run.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        for child in children {
            Called::from(&child.wait_with_output().unwrap()).is(Outcome::Done, false);
            runs += 1;
        }
        let of_folders = |name: &String| name.starts_with("pruned_");
        wait_for("the mark", || {
            lab.marks().iter().filter(|name| of_folders(name)).count() == 1
        });
    }
    lab.wait_quiet();
    assert_eq!(lab.effects(), runs);
    for n in 1000..1064 {
        assert!(!lab.place_of(n).exists());
        lab.ask("effect", &ticket_with(n, &json!({}), old))
            .refused(Reason::Forgotten);
    }
    lab.ask("effect", &one).is(Outcome::Done, true);
    assert_eq!(lab.ticket_files().len(), runs);
    assert_eq!(lab.effects(), runs);
}

/// A whole run of three days ago with this much output, in a file of that age.
fn write_large(lab: &Lab, n: u64) {
    let then = now_ms() - 3 * DAY_MS;
    write_ticket(lab, n, then, then, Some(&"x".repeat(30_000)));
    age(lab, n, 3);
}

fn has_output(lab: &Lab, n: u64) -> bool {
    let text = fs::read_to_string(lab.place_of(n)).unwrap();
    assert!(text.contains("\"exit\":0"), "{text}");
    text.len() > 30_000
}

fn draft_of(lab: &Lab, n: u64) -> PathBuf {
    let place = lab.place_of(n);
    let name = format!(".{}", place.file_name().unwrap().to_str().unwrap());
    place.with_file_name(name)
}

/// What one file of a folder has against it, and what somebody left who died over it, is in no other file's way.
#[test]
fn what_cannot_be_pruned_holds_up_nothing_else() {
    let lab = Lab::new(&[]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let folder = lab.place_of(1).parent().unwrap().to_owned();
    let mut fellows = (100..).filter(|n| lab.place_of(*n).parent() == Some(&folder));
    let mut next = || fellows.next().unwrap();
    let (gone, blocked, held, left_over, large) = (next(), next(), next(), next(), next());
    let old = now_ms() - 40 * DAY_MS;
    write_ticket(&lab, gone, old, old, Some(""));
    age(&lab, gone, 40);
    for n in [blocked, held, left_over, large] {
        write_large(&lab, n);
    }
    // No file can be made there, and an old one of that name cannot be removed as one.
    fs::create_dir(draft_of(&lab, blocked)).unwrap();
    let ago = ["-d", "40 days ago"];
    let aged = run(command("/usr/bin/touch")
        .args(ago)
        .arg(draft_of(&lab, blocked)));
    assert!(aged.status.success());
    // One is being written by somebody who lives, the other one by nobody any more.
    for n in [held, left_over] {
        fs::write(draft_of(&lab, n), "{\"start\":").unwrap();
        fs::set_permissions(draft_of(&lab, n), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let writer = fs::File::open(draft_of(&lab, held)).unwrap();
    writer.lock().unwrap();
    prune_folder_of(&lab, 1, 2);
    assert!(!lab.place_of(gone).exists());
    for (n, kept) in [
        (blocked, true),
        (held, true),
        (left_over, false),
        (large, false),
    ] {
        assert_eq!(has_output(&lab, n), kept, "{n}");
    }
    let text = fs::read_to_string(draft_of(&lab, held)).unwrap();
    assert_eq!(text, "{\"start\":");
    assert!(!draft_of(&lab, left_over).exists());
    drop(writer);
    prune_folder_of(&lab, 1, 3);
    assert!(!has_output(&lab, held) && !draft_of(&lab, held).exists());
    assert!(has_output(&lab, blocked));
}

/// A file system of its own with few places for files, for as long as it lives.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(lab: &Lab) -> Self {
        let (image, at) = (lab.path("disk.img"), lab.path("state"));
        fs::File::create(&image).unwrap().set_len(4 << 20).unwrap();
        let made = run(command("/usr/sbin/mkfs.ext4")
            .args(["-q", "-N", "96"])
            .arg(&image));
        assert!(made.status.success(), "{made:?}");
        let mounted = run(command("/bin/mount")
            .args(["-o", "loop"])
            .arg(&image)
            .arg(&at));
        assert!(mounted.status.success(), "{mounted:?}");
        lab.set_mode("state", 0o700);
        Self(at)
    }

    /// Until there is room for neither one more file nor one more byte.
    fn fill(&self) {
        let filler = |n: usize| self.0.join(format!("filler-{n}"));
        let mut first = fs::File::create(filler(0)).unwrap();
        while first.write_all(&[0; 1024]).is_ok() {}
        let full = (1..1000).find_map(|n| fs::File::create(filler(n)).err());
        assert_eq!(full.unwrap().kind(), std::io::ErrorKind::StorageFull);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run(command("/bin/umount").arg("-l").arg(&self.0));
    }
}

/// A disk that is full of what could be forgotten makes room by itself: nothing that makes room needs some first.
#[test]
fn a_full_disk_is_pruned() {
    for was_pruned_before in [false, true] {
        let lab = Lab::new(&[]);
        let disk = SmallDisk::mount(&lab);
        lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
        lab.wait_quiet();
        let folder = lab.place_of(1).parent().unwrap().to_owned();
        let mut fellows = (100..).filter(|n| lab.place_of(*n).parent() == Some(&folder));
        let mut next = || fellows.next().unwrap();
        let (gone, also_gone, large) = (next(), next(), next());
        let old = now_ms() - 40 * DAY_MS;
        for n in [gone, also_gone] {
            write_ticket(&lab, n, old, old, Some(""));
            age(&lab, n, 40);
        }
        write_large(&lab, large);
        if was_pruned_before {
            fs::write(lab.path("state/journal/marks/forgotten_7"), "").unwrap();
        }
        disk.fill();
        let digit = folder.file_name().unwrap().to_str().unwrap();
        lab.make_pruning_due(u64::from_str_radix(digit, 16).unwrap());
        lab.ask("effect", &ticket(2))
            .refused(Reason::JournalUnavailable);
        lab.wait_quiet();
        let marks = lab.marks();
        let forgotten = |name: &&String| name.starts_with("forgotten_");
        let forgotten: Vec<&String> = marks.iter().filter(forgotten).collect();
        assert_eq!(forgotten, [&format!("forgotten_{old}")]);
        for n in [gone, also_gone] {
            assert!(!lab.place_of(n).exists());
            lab.ask("effect", &ticket_with(n, &json!({}), old))
                .refused(Reason::Forgotten);
        }
        assert!(!has_output(&lab, large));
        lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
        assert_eq!(lab.effects(), 2);
    }
}

/// The bound itself is a number (`FOLDER_TICKETS_MAX`); the mark is what a run goes by.
#[test]
fn a_folder_that_is_full_takes_no_more() {
    let lab = Lab::new(&[]);
    lab.ask("effect", &ticket(1)).is(Outcome::Done, false);
    let place = lab.place_of(2);
    let digit = place.parent().unwrap().file_name().unwrap();
    let folder = u64::from_str_radix(digit.to_str().unwrap(), 16).unwrap();
    let mark = lab.path(&format!("state/journal/marks/full_{folder}"));
    fs::write(&mark, "").unwrap();
    for id in ["effect", "void-settle"] {
        lab.ask(id, &ticket(2)).refused(Reason::JournalFull);
    }
    lab.ask("void-ticket", &ticket(2))
        .is(Outcome::Unseen, false);
    let elsewhere = (3..).find(|n| lab.place_of(*n).parent() != place.parent());
    lab.ask("effect", &ticket(elsewhere.unwrap()))
        .is(Outcome::Done, false);
    // It is counted again when its turn comes.
    let by = (1000..).find(|n| lab.place_of(*n).parent() != place.parent());
    prune_folder_of(&lab, 2, by.unwrap());
    assert!(!mark.exists());
    lab.ask("effect", &ticket(2)).is(Outcome::Done, false);
    assert_eq!(lab.effects(), 4);
}
