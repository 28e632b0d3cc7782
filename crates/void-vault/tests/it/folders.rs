//! Folders that somebody made to hurt: links out of them, pipes, names, sizes, depths, and things that change
//! while they are looked at.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode};
use void_vault::limits::{ATTACHMENT_BYTES_MAX, DEPTH_MAX, NOTE_BYTES_MAX};
use void_vault::{
    ContentHash, EntryFault, EntryKind, FolderError, LinkIndex, LinkTarget, NotANote, Scanned,
    SkipReason, VaultFolder,
};

use crate::vaults::{Disk, Memory, path};

fn files(scanned: &Scanned) -> Vec<&str> {
    scanned
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect()
}

fn skipped(scanned: &Scanned) -> Vec<String> {
    scanned.skipped.iter().map(ToString::to_string).collect()
}

#[test]
fn no_link_is_followed_and_no_pipe_waited_for() {
    let (disk, outside) = (Disk::new(), Disk::new());
    outside.put("secret.md", "secret");
    disk.put("a.md", "a");
    symlink(outside.at("secret.md"), disk.at("file.md")).unwrap();
    symlink(outside.at("."), disk.at("folder")).unwrap();
    symlink(disk.at("."), disk.at("itself")).unwrap();
    symlink("nowhere", disk.at("dangling.md")).unwrap();
    rustix::fs::mknodat(CWD, disk.at("pipe.md"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _listener = UnixListener::bind(disk.at("socket.md")).unwrap();
    let scanned = disk.scan();
    assert_eq!(files(&scanned), ["a.md"]);
    assert_eq!(
        skipped(&scanned),
        [
            "dangling.md: it is a symbolic link",
            "file.md: it is a symbolic link",
            "folder: it is a symbolic link",
            "itself: it is a symbolic link",
            "pipe.md: it is neither a file nor a folder",
            "socket.md: it is neither a file nor a folder",
        ]
    );
    let folder = disk.open();
    for at in ["file.md", "pipe.md", "socket.md", "dangling.md"] {
        let error = folder.read(&path(at)).unwrap_err();
        assert!(matches!(error, FolderError::NotAFile(_)), "{at}: {error}");
    }
    let error = folder.read(&path("folder/secret.md")).unwrap_err();
    assert!(matches!(error, FolderError::Io { .. }), "{error}");
}

#[test]
fn nothing_is_written_through_a_link_or_over_what_is_not_known() {
    let (disk, outside) = (Disk::new(), Disk::new());
    outside.put("there.md", "theirs");
    symlink(outside.at("."), disk.at("folder")).unwrap();
    symlink(outside.at("there.md"), disk.at("link.md")).unwrap();
    symlink(outside.at("new.md"), disk.at("dangling.md")).unwrap();
    disk.put("known.md", "known");
    disk.put("file", "a file");
    let folder = disk.open();
    let known = Some(ContentHash::of(b"known"));
    for (at, replaces) in [
        ("folder/there.md", None),
        ("folder/new.md", None),
        ("link.md", None),
        ("link.md", Some(ContentHash::of(b"theirs"))),
        ("dangling.md", None),
        ("known.md", None),
        ("known.md", Some(ContentHash::of(b"other"))),
        ("gone.md", known),
        ("file/below.md", None),
    ] {
        let error = folder.write(&path(at), b"ours", replaces).unwrap_err();
        assert!(!matches!(error, FolderError::Stopped), "{at}");
    }
    assert_eq!(fs::read(outside.at("there.md")).unwrap(), b"theirs");
    assert_eq!(fs::read(disk.at("known.md")).unwrap(), b"known");
    assert!(!outside.at("new.md").exists() && !disk.at("gone.md").exists());
    // Nothing half is left of what failed.
    assert_eq!((disk.scan().hidden, outside.scan().hidden), (0, 0));
    folder.write(&path("known.md"), b"ours", known).unwrap();
    assert_eq!(fs::read(disk.at("known.md")).unwrap(), b"ours");
    folder.write(&path("new/deep/x.md"), b"new", None).unwrap();
    assert_eq!(fs::read(disk.at("new/deep/x.md")).unwrap(), b"new");
}

#[test]
fn who_may_read_a_file_stays_as_it_was() {
    let disk = Disk::new();
    disk.put("a.md", "one");
    fs::set_permissions(disk.at("a.md"), fs::Permissions::from_mode(0o600)).unwrap();
    let replaces = Some(ContentHash::of(b"one"));
    disk.open().write(&path("a.md"), b"two", replaces).unwrap();
    let mode = fs::metadata(disk.at("a.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_part_that_somebody_laid_out_as_a_trap_is_not_written_through() {
    let (disk, outside) = (Disk::new(), Disk::new());
    outside.put("there.md", "theirs");
    let part = format!(".void-export-{}", ContentHash::of(b"a.md"));
    symlink(outside.at("there.md"), disk.at(&part)).unwrap();
    disk.open().write(&path("a.md"), b"ours", None).unwrap();
    assert_eq!(fs::read(outside.at("there.md")).unwrap(), b"theirs");
    assert_eq!(fs::read(disk.at("a.md")).unwrap(), b"ours");
}

#[test]
fn hidden_names_are_counted_and_left_alone() {
    let disk = Disk::new();
    for at in [
        ".obsidian/app.json",
        ".trash/old.md",
        ".git/config",
        ".DS_Store",
        "sub/.hidden/a.md",
    ] {
        disk.put(at, "x");
    }
    disk.put("sub/a.md", "a");
    let scanned = disk.scan();
    assert_eq!((files(&scanned), scanned.hidden), (vec!["sub/a.md"], 5));
    assert_eq!(scanned.skipped, []);
}

#[test]
fn names_that_void_cannot_keep_are_said_and_the_rest_is_read() {
    let disk = Disk::new();
    disk.put("good.md", "a");
    fs::write(disk.at("").join(OsStr::from_bytes(b"bad\xff.md")), "b").unwrap();
    fs::create_dir(disk.at("").join(OsStr::from_bytes(b"dir\xff"))).unwrap();
    fs::write(disk.at("").join(OsStr::from_bytes(b"dir\xff/in.md")), "c").unwrap();
    disk.put("odd\u{202e}\nname.md", "d");
    let scanned = disk.scan();
    assert_eq!(files(&scanned), ["good.md", "odd\u{202e}\nname.md"]);
    assert_eq!(
        skipped(&scanned),
        [
            "bad\u{fffd}.md: its name is no UTF-8",
            "dir\u{fffd}: its name is no UTF-8"
        ]
    );
}

#[test]
fn twins_are_both_read_and_said() {
    let disk = Disk::new();
    disk.put("Gr\u{fc}n.md", "nfc");
    disk.put("Gru\u{308}n.md", "nfd");
    disk.put("README.md", "upper");
    disk.put("readme.md", "lower");
    let scanned = disk.scan();
    let twins: Vec<(&str, &str)> = scanned
        .twins
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    assert_eq!(
        twins,
        [
            ("Gru\u{308}n.md", "Gr\u{fc}n.md"),
            ("README.md", "readme.md")
        ]
    );
    assert_eq!(scanned.files.len(), 4);
    let mut void = Memory::default();
    void.import(&disk);
    assert!(void.plan(&disk).is_empty());
}

#[test]
fn a_folder_is_read_as_deep_as_its_limit() {
    let disk = Disk::new();
    let deepest = vec!["d"; DEPTH_MAX - 1].join("/");
    disk.put(&format!("{deepest}/a.md"), "a");
    disk.put(&format!("{deepest}/e/b.md"), "b");
    let scanned = disk.scan();
    assert_eq!(files(&scanned), [format!("{deepest}/a.md")]);
    assert_eq!(scanned.skipped[0].path, format!("{deepest}/e/b.md"));
    assert!(matches!(scanned.skipped[0].reason, SkipReason::Path(_)));
}

#[test]
fn a_file_that_is_no_note_is_whole_or_not_at_all() {
    let disk = Disk::new();
    let long = NOTE_BYTES_MAX + 1;
    disk.put("long.md", "a".repeat(long));
    disk.put("latin.md", b"Gr\xfc\xdfe");
    disk.put("utf16.md", b"\xff\xfea\0");
    disk.put("nul.md", b"a\0b");
    disk.put("most.bin", "");
    disk.put("huge.bin", "");
    disk.put("huge.md", "");
    let grow = |at: &str, bytes: usize| {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(disk.at(at))
            .unwrap();
        file.set_len(bytes as u64).unwrap();
    };
    grow("most.bin", ATTACHMENT_BYTES_MAX);
    grow("huge.bin", ATTACHMENT_BYTES_MAX + 1);
    grow("huge.md", 100 * 1024 * 1024);
    let scanned = disk.scan();
    let found = |at: &str| {
        scanned
            .files
            .iter()
            .find(|file| file.path.as_str() == at)
            .unwrap()
    };
    for (at, why) in [
        ("long.md", NotANote::TooLong { bytes: long }),
        ("latin.md", NotANote::NotUtf8 { at: 2 }),
        ("utf16.md", NotANote::NotUtf8 { at: 0 }),
        ("nul.md", NotANote::Nul { at: 1 }),
    ] {
        assert_eq!(found(at).kind, EntryKind::Attachment);
        assert_eq!(found(at).faults, [EntryFault::NotANote(why)], "{at}");
    }
    assert_eq!(found("most.bin").bytes, ATTACHMENT_BYTES_MAX);
    assert_eq!(
        skipped(&scanned),
        [
            "huge.bin: it is too large for an attachment",
            "huge.md: it is too large for an attachment"
        ]
    );
}

#[test]
fn what_can_no_longer_be_read_is_a_conflict_and_not_gone() {
    let (disk, outside) = (Disk::new(), Disk::new());
    disk.put("a.md", "a");
    disk.put("sub/b.md", "b");
    let mut void = Memory::default();
    void.import(&disk);
    outside.put("b.md", "b");
    fs::remove_dir_all(disk.at("sub")).unwrap();
    symlink(outside.at("."), disk.at("sub")).unwrap();
    fs::remove_file(disk.at("a.md")).unwrap();
    symlink(outside.at("b.md"), disk.at("a.md")).unwrap();
    let plan = void.import(&disk);
    assert_eq!((plan.gone.len(), plan.conflicts.len()), (0, 2), "{plan}");
    assert_eq!(void.entries.len(), 2);
}

#[test]
fn a_file_that_changed_after_the_plan_is_not_imported() {
    let disk = Disk::new();
    disk.put("a.md", "one");
    let plan = Memory::default().plan(&disk);
    disk.put("a.md", "two");
    let file = &plan.create[0].file;
    let error = disk.open().read_planned(&file.path, file.hash).unwrap_err();
    assert!(matches!(error, FolderError::Changed(_)), "{error}");
}

#[test]
fn a_scan_says_how_far_it_is_and_stops_when_asked() {
    let disk = Disk::new();
    for at in 0..3 {
        disk.put(&format!("{at}.md"), "12");
    }
    let mut heard = Vec::new();
    let scanned = disk.open().scan(&mut |progress| {
        heard.push((progress.files, progress.files_in_all, progress.bytes));
        true
    });
    assert_eq!(heard, [(1, 3, 2), (2, 3, 4), (3, 3, 6)]);
    assert_eq!(scanned.unwrap().files.len(), 3);
    let stopped = disk.open().scan(&mut |progress| progress.files < 2);
    assert!(matches!(stopped, Err(FolderError::Stopped)));
}

#[test]
fn a_folder_holds_as_much_as_its_limit_and_no_more() {
    let disk = Disk::new();
    for at in ["a.md", "sub/b.md", ".hidden"] {
        disk.put(at, "x");
    }
    symlink("nowhere", disk.at("link")).unwrap();
    let scan = |entries_max| disk.open().scan_at_most(entries_max, &mut |_| true);
    assert_eq!(scan(5).unwrap().files.len(), 2);
    assert!(matches!(scan(4), Err(FolderError::TooManyEntries)));
    assert!(matches!(scan(0), Err(FolderError::TooManyEntries)));
}

#[test]
fn a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere() {
    let (disk, outside) = (Disk::new(), Disk::new());
    disk.put("a.md", "a");
    disk.put("sub/b.md", "b");
    outside.put("b.md", "secret");
    let scanned = disk.open().scan(&mut |progress| {
        if progress.files == 1 {
            fs::remove_dir_all(disk.at("sub")).unwrap();
            symlink(outside.at("."), disk.at("sub")).unwrap();
        }
        true
    });
    let scanned = scanned.unwrap();
    assert_eq!(files(&scanned), ["a.md"]);
    assert!(matches!(
        scanned.skipped[0].reason,
        SkipReason::Unreadable(_)
    ));
}

#[test]
fn a_folder_that_is_none_is_an_error_and_an_empty_one_is_empty() {
    let disk = Disk::new();
    disk.put("file", "x");
    for at in ["nowhere", "file"] {
        let error = VaultFolder::open(&disk.at(at)).unwrap_err();
        assert!(matches!(error, FolderError::Root(_)), "{at}");
    }
    assert_eq!(Disk::new().scan(), Scanned::default());
}

#[test]
fn the_links_of_a_vault_lead_where_they_say_and_circles_are_links() {
    let disk = Disk::new();
    disk.put(
        "A.md",
        "[[B]] [[Bee]] ![[pic.png]] [up](sub/C.md) [[Twice]] [[Nowhere]]",
    );
    disk.put("B.md", "---\naliases: [Bee]\n---\n[[A]] [[B]]");
    disk.put("sub/C.md", "[back](../A.md) [out](../../x.md)");
    disk.put("sub/Twice.md", "");
    disk.put("Other/Twice.md", "");
    disk.put("img/pic.png", "");
    let scanned = disk.scan();
    let index = LinkIndex::new(scanned.linkable());
    let folder = disk.open();
    let targets = |at: &str| -> Vec<String> {
        let text = String::from_utf8(folder.read(&path(at)).unwrap()).unwrap();
        let links = index.resolve_all(&path(at), &text).links;
        let said = links.into_iter().map(|(_, target)| match target {
            LinkTarget::File(file) => file.as_str().to_owned(),
            LinkTarget::Ambiguous { count, .. } => format!("{count} files"),
            other => format!("{other:?}"),
        });
        said.collect()
    };
    assert_eq!(
        targets("A.md"),
        [
            "B.md",
            "B.md",
            "img/pic.png",
            "sub/C.md",
            "2 files",
            "Missing"
        ]
    );
    assert_eq!(targets("B.md"), ["A.md", "B.md"]);
    assert_eq!(targets("sub/C.md"), ["A.md", "Outside"]);
}
