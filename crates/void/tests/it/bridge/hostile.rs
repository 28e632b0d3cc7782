//! Files that try to be something else. Each has a clear outcome, and nothing outside the folder moves.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use serde_json::json;
use void_testkit::eventually_blocking;

use super::folder::Bridge;
use crate::lab::word;

#[test]
fn hostile_files_are_set_aside_and_nothing_outside_is_touched() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let pending = bridge.dir().join("pending");
    let outside = bridge.lab.path("outside.json");
    let wish = |id: &str| Bridge::wish(id, "restart_service", "local", "safe-one");
    fs::write(&outside, wish("link").to_string()).unwrap();
    let before = fs::metadata(&outside).unwrap();

    symlink(&outside, pending.join("link.json")).unwrap();
    symlink("/etc/passwd", pending.join("passwd.json")).unwrap();
    fs::hard_link(&outside, pending.join("hard.json")).unwrap();
    fs::create_dir(pending.join("directory.json")).unwrap();
    fs::write(pending.join("directory.json/inner.json"), "{}").unwrap();
    let made = Command::new("mkfifo")
        .arg(pending.join("pipe.json"))
        .status()
        .unwrap();
    assert!(made.success());
    let huge = fs::File::create(pending.join("huge.json")).unwrap();
    huge.set_len(1024 * 1024 * 1024).unwrap();
    fs::write(pending.join("half.json"), &wish("half").to_string()[..40]).unwrap();
    fs::write(pending.join("empty.json"), "").unwrap();
    fs::write(pending.join("other-name.json"), wish("name").to_string()).unwrap();
    fs::write(pending.join("path.json"), wish("../../outside").to_string()).unwrap();
    fs::write(pending.join("no-suffix"), wish("no-suffix").to_string()).unwrap();
    fs::write(pending.join("-rf.json"), wish("-rf").to_string()).unwrap();
    fs::write(pending.join("sp ace.json"), wish("sp ace").to_string()).unwrap();
    fs::write(pending.join("e\u{301}.json"), wish("e").to_string()).unwrap();
    let mut unknown = wish("unknown");
    unknown["service"] = json!("nothing");
    bridge.drop_file(&unknown);
    let mut approved = wish("self-approved");
    approved["status"] = json!("approved");
    bridge.drop_file(&approved);
    // A deploy that has no such parameter; of a restart it would be only a word.
    let mut image = Bridge::wish("image", "deploy_service", "n1", "db");
    image["details"]["image"] = json!("evil:1");
    bridge.drop_file(&image);
    bridge.write("approved", "smuggled", &wish("smuggled"));
    fs::write(pending.join("writable.json"), wish("writable").to_string()).unwrap();
    fs::set_permissions(
        pending.join("writable.json"),
        fs::Permissions::from_mode(0o666),
    )
    .unwrap();
    // Not finished, and nobody's business yet.
    fs::write(pending.join(".writing.json"), "{").unwrap();
    fs::write(pending.join("writing.json.tmp"), "{").unwrap();

    for (file, why) in [
        ("link.json", "symbolic link"),
        ("passwd.json", "symbolic link"),
        ("hard.json", "hard link"),
        ("directory.json", "directory"),
        ("pipe.json", "pipe"),
        ("huge.json", "larger than"),
        ("half.json", "not valid JSON"),
        ("empty.json", "not valid JSON"),
        ("other-name.json", "not what the file is called"),
        ("path.json", "not what the file is called"),
        ("no-suffix", "called by its action_id"),
        ("unknown.json", "no action of the catalogue"),
        ("self-approved.json", "status"),
        ("image.json", "image"),
        ("smuggled.json", "nobody proposed this"),
        ("writable.json", "may write to it"),
    ] {
        let reason = bridge.wait_for_invalid(file);
        assert!(reason.contains(why), "{file}: {reason}");
    }
    for unnamed in ["unnamed", "unnamed.1", "unnamed.2"] {
        bridge.wait_for_invalid(unnamed);
    }
    assert!(pending.join(".writing.json").exists() && pending.join("writing.json.tmp").exists());
    assert!(server.proposals().is_empty(), "{:?}", server.proposals());
    let after = fs::metadata(&outside).unwrap();
    assert_eq!(
        (before.len(), before.modified().unwrap()),
        (after.len(), after.modified().unwrap())
    );
    assert!(bridge.lab.effects().is_empty());
    let entries = server
        .call("GET", "/api/audit?limit=100", None)
        .1
        .to_string();
    assert!(entries.contains("bridge.invalid"), "{entries}");
}

/// Three thousand of them were three thousand entries, for good.
#[test]
fn a_flood_of_garbage_is_one_entry_and_a_count() {
    const FILES: usize = 150;
    let bridge = Bridge::new();
    let mut server = bridge.serve();
    for n in 0..FILES {
        fs::write(bridge.dir().join(format!("pending/g{n}.json")), "garbage").unwrap();
    }
    for n in 0..FILES {
        bridge.wait_for_invalid(&format!("g{n}.json"));
    }
    assert!(server.terminate().success());
    let server = bridge.serve();
    let entries = server.call("GET", "/api/audit?limit=500", None).1;
    let of = |verb: &str| {
        let entries = entries["entries"].as_array().unwrap().clone();
        let found = entries
            .into_iter()
            .filter(|entry| word(entry, "verb") == verb);
        found.collect::<Vec<_>>()
    };
    let first = of("bridge.invalid").len();
    assert!(
        (1..=10).contains(&first),
        "{first} entries for {FILES} files"
    );
    let counted: u64 = of("refusals.counted")
        .iter()
        .map(|entry| entry["detail"]["count"].as_u64().unwrap())
        .sum();
    // The last one may be under way when it is told to stop.
    let told = counted + first as u64;
    let all = FILES as u64;
    assert!(
        told == all || told + 1 == all,
        "{told} of {all}: none is lost"
    );
}

#[test]
fn a_file_in_two_states_counts_only_where_the_record_says() {
    let bridge = Bridge::with_decisions();
    let server = bridge.serve();
    let id = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &id);
    for other in ["approved", "rejected", "completed"] {
        fs::copy(bridge.path("pending", &id), bridge.path(other, &id)).unwrap();
    }
    let reason = bridge.wait_for_invalid(&format!("{id}.json"));
    assert!(reason.contains("several states"), "{reason}");
    eventually_blocking("the copies to be gone", || {
        let gone = ["approved", "rejected", "completed"]
            .iter()
            .all(|place| !bridge.path(place, &id).exists());
        gone.then_some(())
    });
    bridge.assert_only_in("pending", &id);
    assert_eq!(word(&server.proposals()[0], "status"), "pending");
    assert!(bridge.lab.effects().is_empty());
}

/// A slow writer that does not write beside and rename: its file is read when it is whole.
#[test]
fn a_file_is_never_read_half_written() {
    use std::io::Write as _;
    let bridge = Bridge::new();
    let server = bridge.serve();
    let text = Bridge::wish("slow", "restart_service", "local", "risky-one").to_string();
    let mut file = fs::File::create(bridge.path("pending", "slow")).unwrap();
    for part in text.as_bytes().chunks(40) {
        file.write_all(part).unwrap();
        file.flush().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    drop(file);
    bridge.wait_for_row(&server, "risky-one");
    bridge.assert_only_in("pending", "slow");
    assert_eq!(
        fs::read_dir(bridge.dir().join("invalid")).unwrap().count(),
        0
    );
}

#[test]
fn a_folder_that_others_could_have_prepared_is_refused() {
    let world = Bridge::new();
    fs::set_permissions(world.dir(), fs::Permissions::from_mode(0o777)).unwrap();
    let server = world.lab.serve(&[]);
    let status = eventually_blocking("the problem", || {
        let status = server.call("GET", "/api/bridge", None).1;
        status["problem"].is_string().then_some(status)
    });
    assert!(word(&status, "problem").contains("everybody"), "{status}");
    assert_eq!(world.lab.json(&["bridge", "status"], 1)["enabled"], true);
    assert!(!world.dir().join("pending").exists());
    drop(server);

    let linked = Bridge::new();
    let elsewhere = linked.lab.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, linked.dir().join("approved")).unwrap();
    let server = linked.lab.serve(&[]);
    let status = eventually_blocking("the problem", || {
        let status = server.call("GET", "/api/bridge", None).1;
        status["problem"].is_string().then_some(status)
    });
    assert!(word(&status, "problem").contains("approved"), "{status}");
    linked.queue(&server, "risky-one");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

/// A file system of its own, gone with the test.
struct SmallDisk(std::path::PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_loses_nothing_and_heals() {
    let bridge = Bridge::with_decisions();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k,mode=0750", "tmpfs"])
        .arg(bridge.dir())
        .status()
        .unwrap();
    assert!(
        mounted.success(),
        "mounting needs root, as scripts/test has"
    );
    let disk = SmallDisk(bridge.dir());
    let server = bridge.serve();
    let waiting = bridge.queue(&server, "risky-one");
    bridge.wait_for("pending", &waiting);
    let _ = Command::new("dd")
        .args(["if=/dev/zero", "bs=4k"])
        .arg(format!("of={}", disk.0.join("filler").display()))
        .output();
    // What is decided elsewhere goes on; the folder says so when it can again.
    let late = bridge.queue(&server, "critical-one");
    let path = format!("/api/actions/pending/{waiting}/approve");
    assert_eq!(server.call("POST", &path, None).0, 200);
    let status = eventually_blocking("the problem", || {
        let status = server.call("GET", "/api/bridge", None).1;
        status["problem"].is_string().then_some(status)
    });
    assert!(word(&status, "problem").contains("No space"), "{status}");
    bridge.assert_only_in("pending", &waiting);
    fs::remove_file(disk.0.join("filler")).unwrap();
    bridge.wait_for("completed", &waiting);
    bridge.wait_for("pending", &late);
    assert_eq!(bridge.lab.effects(), ["risky-one"]);
    bridge.settle(&server);
    assert!(server.call("GET", "/api/bridge", None).1["problem"].is_null());
}
