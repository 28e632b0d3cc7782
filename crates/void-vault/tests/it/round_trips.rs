//! What goes in comes out: byte for byte, and a second time nothing is left to do.

use std::collections::BTreeMap;
use std::fs;

use void_vault::{
    ContentHash, EntryKind, ExportConflict, Field, FieldValue, FrontMatter, Note, NoteFields,
    NoteKind, NoteMarks, TaskStatus, VaultEntry, with_field, write_note,
};

use crate::vaults::{Disk, Kept, Memory, Random, path};

const TREES: u64 = 60;
const FILES_MAX: usize = 24;

type Tree = BTreeMap<String, Vec<u8>>;

/// A file of pieces that trip readers: marks, line ends, quotes, links, halves of characters.
fn bytes(random: &mut Random) -> Vec<u8> {
    let pieces: &[&[u8]] = &[
        b"---",
        b"---\n",
        b"---\r\n",
        b"...\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\xef\xbb\xbf",
        b"title: A\n",
        b"title: 'it''s' # x\r\n",
        b"tags: [a, \"b\"]\n",
        b"tags:\n- a\n  - b\n",
        b"kind: task\n",
        b"status: done\n",
        b"status: odd\n",
        b"due: 2026-02-30\n",
        b"due: 2026-12-31\n",
        b"kind: ref\n",
        b"url: https://a.example/\n",
        b"origin: foreign\n",
        b"captured_at: 2026-11-19T04:00:00Z\n",
        b"\tx: y\n",
        b"x: |\n  --- \n",
        b"no field\n",
        b"[[A|b]]",
        b"![[img.png]]",
        b"[a](b%20c.md)",
        b"```\n",
        b"- [ ] task\n",
        b"\\",
        b"\xc3\xbc",
        b"\xe6\x97\xa5",
        b"u\xcc\x88",
        b" ",
        b"\t",
        b"word ",
        b"\xe2\x80\xae",
    ];
    let broken: &[&[u8]] = &[b"\xff", b"\0", b"\xc3", b"\xed\xa0\x80"];
    let mut bytes = Vec::new();
    if random.below(3) == 0 {
        bytes.extend_from_slice(random.pick(&[&b"---\n"[..], b"---\r\n", b"\xef\xbb\xbf---\n"]));
    }
    for _ in 0..random.below(14) {
        bytes.extend_from_slice(random.pick(pieces));
    }
    if random.below(12) == 0 {
        bytes.extend_from_slice(random.pick(broken));
    }
    bytes
}

fn tree(random: &mut Random) -> Tree {
    let folders = ["", "", "Lab/", "Lab/deep/", "Grüße/", "a b/", "x.md/"];
    let names = [
        "A",
        "B",
        "Caddy notes",
        "日本",
        "u\u{308}",
        "-dash",
        "a'b\"c",
        "new\nline",
        "con",
        "x",
        "y",
        "z",
        "CAPS",
    ];
    let extensions = [".md", ".md", ".md", ".MD", ".png", "", ".canvas"];
    let mut tree = Tree::new();
    for _ in 0..random.below(FILES_MAX) {
        let folder = random.pick(&folders);
        let (name, extension) = (random.pick(&names), random.pick(&extensions));
        tree.insert(format!("{folder}{name}{extension}"), bytes(random));
    }
    // A file cannot be where a folder is.
    let all: Vec<String> = tree.keys().cloned().collect();
    tree.retain(|at, _| !all.iter().any(|other| other.starts_with(&format!("{at}/"))));
    tree
}

fn write(disk: &Disk, tree: &Tree) {
    for (at, bytes) in tree {
        disk.put(at, bytes);
    }
}

/// What is on the disk, by its paths.
fn read(disk: &Disk) -> Tree {
    let folder = disk.open();
    let files = disk.scan().files;
    let read = files.iter().map(|file| {
        let bytes = folder.read(&file.path).unwrap();
        (file.path.as_str().to_owned(), bytes)
    });
    read.collect()
}

#[test]
fn random_trees_come_out_as_they_came_in() {
    let (mut notes, mut attachments) = (0, 0);
    for seed in 0..TREES {
        let mut random = Random(seed);
        let tree = tree(&mut random);
        let (there, back) = (Disk::new(), Disk::new());
        write(&there, &tree);
        let mut void = Memory::default();
        let plan = void.import(&there);
        assert_eq!(plan.create.len(), tree.len(), "seed {seed}");
        for (_, _, kept) in void.entries.values() {
            match kept {
                Kept::Note { .. } => notes += 1,
                Kept::Attachment(_) => attachments += 1,
            }
        }
        assert!(void.plan(&there).is_empty(), "seed {seed}");
        let written = void.export(&back);
        assert_eq!(written.write.len(), tree.len(), "seed {seed}");
        assert_eq!(read(&back), tree, "seed {seed}");
        // Both folders are what Void has: nothing to write, nothing to read.
        assert_eq!(void.export(&back).write.len(), 0, "seed {seed}");
        assert!(void.plan(&there).is_empty(), "seed {seed}");
    }
    assert!(notes > 200 && attachments > 100, "{notes} {attachments}");
}

#[test]
fn one_edited_file_of_many_is_one_update() {
    for seed in 0..TREES {
        let mut random = Random(1_000 + seed);
        let mut tree = tree(&mut random);
        tree.insert("always.md".to_owned(), b"always one".to_vec());
        let disk = Disk::new();
        write(&disk, &tree);
        let mut void = Memory::default();
        void.import(&disk);
        let entries = void.entries.clone();
        // The edit keeps the kind: words at the end, as people write them.
        let notes: Vec<&str> = void
            .entries
            .values()
            .filter(|(_, _, kept)| matches!(kept, Kept::Note { .. }))
            .map(|(at, _, _)| at.as_str())
            .collect();
        let chosen = random.pick(&notes).to_owned();
        let mut bytes = tree[&chosen].clone();
        bytes.extend_from_slice(b"\nedited in the folder");
        disk.put(&chosen, &bytes);
        let plan = void.import(&disk);
        let said = plan.to_string();
        // A block that was never closed may become one of another kind, which is another thing.
        let is_other = plan.create.len() == 1 && plan.gone.len() == 1;
        assert!(plan.update.len() == 1 || is_other, "seed {seed}: {said}");
        let steps = plan.update.len() + plan.create.len() + plan.gone.len();
        let others = plan.rename.len() + plan.conflicts.len();
        assert_eq!((steps <= 2, others), (true, 0), "seed {seed}: {said}");
        let untouched = entries
            .iter()
            .filter(|(_, entry)| entry.0.as_str() != chosen);
        for (key, entry) in untouched {
            assert_eq!(void.entries.get(key), Some(entry), "seed {seed}");
        }
        assert!(void.plan(&disk).is_empty(), "seed {seed}");
    }
}

#[test]
fn a_renamed_folder_is_renames_and_nothing_else() {
    for seed in 0..20 {
        let mut random = Random(2_000 + seed);
        let mut tree = tree(&mut random);
        tree.insert("Lab/always.md".to_owned(), b"always one".to_vec());
        // Each file says which one it is, so that a rename is no guess.
        for (at, bytes) in &mut tree {
            bytes.extend_from_slice(at.as_bytes());
        }
        let disk = Disk::new();
        write(&disk, &tree);
        let mut void = Memory::default();
        void.import(&disk);
        let inside = tree.keys().filter(|at| at.starts_with("Lab/")).count();
        fs::rename(disk.at("Lab"), disk.at("Homelab")).unwrap();
        let plan = void.import(&disk);
        assert_eq!(plan.rename.len(), inside, "seed {seed}: {plan}");
        assert!(plan.create.is_empty() && plan.gone.is_empty() && plan.update.is_empty());
        assert!(void.plan(&disk).is_empty());
        assert!(void.export(&disk).write.is_empty());
    }
}

fn edit(void: &mut Memory, at: &str, words: &str) {
    let entry = void
        .entries
        .values_mut()
        .find(|(path, _, _)| path.as_str() == at);
    match &mut entry.unwrap().2 {
        Kept::Note { body, .. } => *body = words.to_owned(),
        Kept::Attachment(_) => panic!("{at} is an attachment"),
    }
}

#[test]
fn an_edit_in_void_keeps_all_that_is_around_the_words() {
    let disk = Disk::new();
    disk.put(
        "a.md",
        b"\xef\xbb\xbf---\r\nx: {y: [z]}\r\n---\r\nold\r\nwords",
    );
    let mut void = Memory::default();
    void.import(&disk);
    edit(&mut void, "a.md", "new\nwords\n");
    assert!(void.plan(&disk).is_empty(), "the folder did not change");
    let plan = void.export(&disk);
    assert_eq!(plan.write.len(), 1);
    let expected = b"\xef\xbb\xbf---\r\nx: {y: [z]}\r\n---\r\nnew\r\nwords\r\n";
    assert_eq!(fs::read(disk.at("a.md")).unwrap(), expected);
    assert!(void.plan(&disk).is_empty());
}

#[test]
fn what_both_sides_edited_is_overwritten_on_neither() {
    let disk = Disk::new();
    disk.put("a.md", "one");
    disk.put("b.md", "one too");
    let mut void = Memory::default();
    void.import(&disk);
    edit(&mut void, "a.md", "from Void");
    disk.put("a.md", "from the folder");
    let before = void.entries.clone();
    let plan = void.import(&disk);
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(void.entries, before);
    let plan = void.export(&disk);
    assert_eq!(
        plan.conflicts,
        [(path("a.md"), ExportConflict::ChangedInFolder)]
    );
    assert_eq!(fs::read(disk.at("a.md")).unwrap(), b"from the folder");
    // Asked again, it is still said.
    assert_eq!(void.import(&disk).conflicts.len(), 1);
    // The owner settles it by making both the same.
    edit(&mut void, "a.md", "from the folder");
    let plan = void.import(&disk);
    assert!(plan.is_empty() && plan.unchanged[0].new_base.is_some());
    assert!(void.import(&disk).unchanged[0].new_base.is_none());
}

#[test]
fn an_export_that_was_cut_short_goes_on() {
    let (disk, back) = (Disk::new(), Disk::new());
    for at in 0..20 {
        disk.put(&format!("{at}.md"), format!("note {at}"));
    }
    let mut void = Memory::default();
    void.import(&disk);
    // Ten were written, and nobody noted it; one was in the middle of being written.
    for at in 0..10 {
        back.put(&format!("{at}.md"), format!("note {at}"));
    }
    let hash = ContentHash::of(b"11.md");
    back.put(&format!(".void-export-{hash}"), "note 1");
    let plan = void.export(&back);
    assert_eq!((plan.unchanged.len(), plan.write.len()), (10, 10));
    assert_eq!(read(&back), read(&disk));
    assert_eq!(back.scan().hidden, 0, "nothing of the first try is left");
}

#[test]
fn a_task_that_is_done_in_the_folder_is_done_in_void() {
    let disk = Disk::new();
    let text = "---\nkind: task\nstatus: open\ndue: 2026-12-31\n---\nRenew it.\n";
    disk.put("Renew.md", text);
    let mut void = Memory::default();
    void.import(&disk);
    assert_eq!(
        void.entries[&0].2,
        Kept::of(&path("Renew.md"), text.as_bytes())
    );
    disk.put("Renew.md", text.replace("open", "done"));
    let plan = void.import(&disk);
    assert_eq!(plan.update.len(), 1);
    let stored = void.stored();
    assert_eq!(stored[0].kind, EntryKind::Task);
    assert!(matches!(
        &void.entries[&0].2,
        Kept::Note {
            kind: NoteKind::Task {
                status: TaskStatus::Done,
                ..
            },
            ..
        }
    ));
}

fn fields_of(note: &Note) -> NoteFields<'_> {
    let title = &note.title;
    match &note.kind {
        NoteKind::Page => NoteFields::Page { title },
        NoteKind::Task { status, due } => NoteFields::Task {
            title,
            status: *status,
            due: *due,
        },
        NoteKind::Ref { url, captured_at } => NoteFields::Ref {
            title,
            url,
            captured_at: captured_at.as_deref(),
        },
    }
}

fn note_of(bytes: &[u8]) -> Option<Note> {
    match VaultEntry::read(&path("note.md"), bytes) {
        VaultEntry::Note(note) => Some(*note),
        VaultEntry::Attachment(_) => None,
    }
}

/// A stranger's file, and anything that Void may have to say about it.
#[test]
fn whatever_the_file_was_what_void_says_is_what_is_read_back() {
    let titles = [
        "A",
        "note",
        "Grüße: 日本",
        "x # y",
        "'",
        "true",
        "[[A]]",
        "---",
        "kind: ref",
        "a\u{202e}b",
    ];
    let urls = [
        "https://a.example/",
        "http://b.example/x?y=1#z",
        "https://[::1]:8080/~",
    ];
    let (mut notes, mut with_fields) = (0, 0);
    for seed in 0..4_000 {
        let mut random = Random(3_000 + seed);
        let Some(was) = note_of(&bytes(&mut random)) else {
            continue;
        };
        notes += 1;
        with_fields += usize::from(!was.file.front_matter.is_empty());
        let title = random.pick(&titles);
        let due = [None, "2026-12-31".parse().ok()][random.below(2)];
        let status = [TaskStatus::Open, TaskStatus::Done, TaskStatus::Dropped][random.below(3)];
        let url = random.pick(&urls);
        let captured_at = [None, Some("2026-11-19T04:00:00Z")][random.below(2)];
        let wanted = match random.below(3) {
            0 => NoteFields::Page { title },
            1 => NoteFields::Task { title, status, due },
            _ => NoteFields::Ref {
                title,
                url,
                captured_at,
            },
        };
        let written = write_note(&path("note.md"), &was.file, &wanted, &NoteMarks::default());
        let said = String::from_utf8_lossy(&written);
        let back = note_of(&written).unwrap();
        assert_eq!(fields_of(&back), wanted, "seed {seed}: {said}");
        assert_eq!(back.fields.tags(), was.fields.tags(), "seed {seed}: {said}");
        let again = write_note(&path("note.md"), &back.file, &wanted, &NoteMarks::default());
        assert_eq!(again, written, "seed {seed}: {said}");
        if matches!(wanted, NoteFields::Ref { .. }) {
            assert!(back.is_foreign, "seed {seed}: {said}");
        }
    }
    assert!(notes > 3_000 && with_fields > 100, "{notes} {with_fields}");
}

/// Whether a line of this front matter is the field's.
fn fields_have(raw: &str, field: Field) -> bool {
    with_field(raw, field, None) != raw
}

/// One field written anew: the others say what they said, and a field that was not there takes no line away.
#[test]
fn an_edit_of_random_front_matter_touches_one_field() {
    let mut edited = 0;
    for seed in 0..8_000 {
        let mut random = Random(20_000 + seed);
        let Some(note) =
            note_of(&bytes(&mut random)).filter(|note| !note.file.front_matter.is_empty())
        else {
            continue;
        };
        edited += 1;
        let raw = &note.file.front_matter;
        for field in Field::ALL {
            let value = match field.is_list() {
                true => FieldValue::List(vec!["a b".to_owned(), "c: d".to_owned()]),
                false => FieldValue::Words("2026-01-02".to_owned()),
            };
            for value in [Some(&value), None] {
                let written = with_field(raw, field, value);
                let (at, fields) = FrontMatter::split(&written);
                assert_eq!(at, written.len(), "seed {seed}: {written}");
                assert_eq!(fields.value(field), value, "seed {seed}: {written}");
                for other in Field::ALL.into_iter().filter(|other| *other != field) {
                    assert_eq!(
                        fields.value(other),
                        note.fields.value(other),
                        "seed {seed}: {written}"
                    );
                }
                // Every line that is not the field's is still there, in its order.
                let mut left = written.split_inclusive('\n');
                let is_kept = |line: &&str| left.any(|other| other == *line);
                let kept = raw.split_inclusive('\n').filter(is_kept).count();
                let lines = raw.split_inclusive('\n').count();
                let is_there = fields_have(raw, field);
                assert!(kept == lines || is_there, "seed {seed}: {written}");
            }
        }
    }
    assert!(edited > 200, "{edited}");
}
