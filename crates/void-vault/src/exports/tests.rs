//! Files of what Void made, and of what was imported and then edited, or not.

use super::*;
use crate::entries::{Note, VaultEntry};
use crate::note_files::TextEncoding;

fn path(text: &str) -> VaultPath {
    VaultPath::parse(text).unwrap()
}

fn read(at: &str, bytes: &[u8]) -> Note {
    match VaultEntry::read(&path(at), bytes) {
        VaultEntry::Note(note) => *note,
        VaultEntry::Attachment(fault) => panic!("{fault:?}"),
    }
}

fn fields(note: &Note) -> NoteFields<'_> {
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

fn made(body: &str) -> NoteFile {
    NoteFile {
        encoding: TextEncoding::PLAIN,
        front_matter: String::new(),
        body: body.to_owned(),
    }
}

fn text(at: &str, note: &NoteFile, fields: &NoteFields<'_>) -> String {
    String::from_utf8(write_note(&path(at), note, fields, &NoteMarks::default())).unwrap()
}

#[test]
fn what_was_not_edited_comes_out_as_it_came_in() {
    for (at, bytes) in [
        ("a.md", &b""[..]),
        (
            "a.md",
            b"\xef\xbb\xbf---\r\ntitle:   'Other'\r\nx: [y]\r\n---\r\nbody",
        ),
        ("a\x01b.md", b"a title that had to be cleaned"),
        ("a.md", b"---\ntitle: \"\\u200b\"\n---\n"),
        ("a.md", b"---\nKIND: task\ndue: tomorrow\n---\n"),
        ("a.md", b"---\nkind: task\nstatus: nonsense\n---\n"),
        (
            "a.md",
            b"---\nkind: 'ref'\nurl: https://a.example/\n---\nno origin, no time",
        ),
        (
            "a.md",
            b"---\nkind: ref\nurl: https://a.example/\ncaptured_at: some day\norigin: foreign\n---",
        ),
        ("a.md", b"---\nkind: ref\n---\n"),
        ("a.md", b"---\nbroken\n---\n"),
    ] {
        let note = read(at, bytes);
        let written = write_note(&path(at), &note.file, &fields(&note), &NoteMarks::default());
        assert_eq!(written, bytes, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn an_edit_of_one_field_is_one_line() {
    let note = read(
        "a.md",
        b"---\r\nx: y\r\nkind: task\r\nstatus: open # soon\r\n---\r\nbody\r\n",
    );
    let done = NoteFields::Task {
        title: "a",
        status: TaskStatus::Done,
        due: "2026-12-31".parse().ok(),
    };
    assert_eq!(
        text("a.md", &note.file, &done),
        "---\r\nx: y\r\nkind: task\r\nstatus: done\r\ndue: 2026-12-31\r\n---\r\nbody\r\n"
    );
    let renamed = NoteFields::Task {
        title: "B: b",
        status: TaskStatus::Open,
        due: None,
    };
    assert_eq!(
        text("a.md", &note.file, &renamed),
        "---\r\nx: y\r\nkind: task\r\nstatus: open # soon\r\ntitle: \"B: b\"\r\n---\r\nbody\r\n"
    );
}

#[test]
fn what_void_made_has_the_least_that_reads_back() {
    let page = NoteFields::Page { title: "Caddy" };
    assert_eq!(
        text("Caddy.md", &made("It *serves*."), &page),
        "It *serves*."
    );
    let page = NoteFields::Page { title: "What/if?" };
    assert_eq!(
        text("What-if.md", &made("body\n"), &page),
        "---\ntitle: \"What/if?\"\naliases:\n  - \"What/if?\"\n---\nbody\n"
    );
    let task = NoteFields::Task {
        title: "Renew",
        status: TaskStatus::Open,
        due: None,
    };
    assert_eq!(
        text("Renew.md", &made(""), &task),
        "---\nkind: task\nstatus: open\n---\n"
    );
    let captured = NoteFields::Ref {
        title: "Page",
        url: "https://a.example/x?y=1",
        captured_at: Some("2026-11-19T04:00:00Z"),
    };
    assert_eq!(
        text("Page.md", &made("words"), &captured),
        "---\nkind: ref\nurl: https://a.example/x?y=1\ncaptured_at: \"2026-11-19T04:00:00Z\"\n\
         origin: foreign\n---\nwords"
    );
}

#[test]
fn whatever_a_stranger_wrote_a_ref_reads_back_as_that_ref() {
    let hostile = [
        "---\norigin: owner\nkind: page\n---\n",
        "---",
        "",
        "\u{feff}---\nkind: page\n---\n",
        "\r\n---\r\n",
        "...\n",
        "title: \"x\"\n---\norigin: owner\n",
        "[[Secrets]] - [ ] delete everything",
    ];
    for words in hostile {
        let title: &str = match words.trim() {
            "" => "Nothing",
            words => words.lines().next().unwrap().trim(),
        };
        let captured = NoteFields::Ref {
            title,
            url: "https://a.example/",
            captured_at: None,
        };
        let bytes = write_note(
            &path("x.md"),
            &made(words),
            &captured,
            &NoteMarks::default(),
        );
        let back = read("x.md", &bytes);
        assert!(back.is_foreign, "{words:?}");
        assert_eq!(back.file.text().as_bytes(), bytes);
        assert_eq!(
            (fields(&back), back.file.body.as_str()),
            (captured, words),
            "{words:?}"
        );
    }
}

#[test]
fn a_title_that_looks_like_fields_is_a_title() {
    for title in [
        "a\u{202e}b",
        "x\nkind: ref",
        "---",
        "true",
        "[a]",
        "\"",
        "a #b",
        "- a",
    ] {
        let clean = title.replace('\n', " ");
        let page = NoteFields::Page { title: &clean };
        let bytes = write_note(&path("x.md"), &made("body"), &page, &NoteMarks::default());
        let back = read("x.md", &bytes);
        assert_eq!(
            (fields(&back), back.file.body.as_str()),
            (page, "body"),
            "{title:?}"
        );
    }
}

#[test]
fn a_file_says_what_void_knows_of_any_note() {
    let marks = |tags, is_foreign| NoteMarks { tags, is_foreign };
    let page = NoteFields::Page { title: "x" };
    let write = |text: &str, marks: NoteMarks<'_>| {
        let (note, _) = NoteFile::read(text.as_bytes()).unwrap();
        String::from_utf8(write_note(&path("x.md"), &note, &page, &marks)).unwrap()
    };
    let tags = ["a".to_owned(), "b/c".to_owned()];
    let written = write("words", marks(Some(&tags), true));
    let said = "---\ntags:\n  - a\n  - b/c\norigin: foreign\n---\nwords";
    assert_eq!(written, said);
    // Said already, also where the front matter is broken: every byte stays.
    for foreign in [said, "---\norigin: foreign\nbroken\n---\nwords"] {
        assert_eq!(write(foreign, marks(None, true)), foreign);
    }
    assert_eq!(
        write(said, marks(Some(&[]), false)),
        "---\norigin: foreign\n---\nwords"
    );
}

#[test]
fn no_head_of_a_strangers_own_hides_that_it_is_a_strangers() {
    let tasks = NoteFields::Task {
        title: "x",
        status: TaskStatus::Open,
        due: None,
    };
    for head in [
        "kind: ref\nurl: https://a.example/",
        "Kind: REF\nurl: https://a.example/",
        "kind: 'ref' # seen\nurl: https://a.example/",
        "kind: ref",
        "kind: ref\norigin: import",
        "kind: task\nstatus: done",
        "origin: owner",
        "origin: [owner]",
        "origin: &a owner",
        "origin: >-\n  owner",
        "{origin: owner}",
        "a:\n  origin: foreign",
        "origin: owner\norigin: owner",
        "broken",
    ] {
        for fields in [NoteFields::Page { title: "x" }, tasks] {
            let text = format!("---\n{head}\n---\nwords");
            let (note, _) = NoteFile::read(text.as_bytes()).unwrap();
            let marks = NoteMarks {
                tags: None,
                is_foreign: true,
            };
            let written = write_note(&path("x.md"), &note, &fields, &marks);
            let back = read("x.md", &written);
            let shown = String::from_utf8_lossy(&written);
            assert!(back.is_foreign, "{shown}");
            assert!(back.file.body.ends_with("words"), "{shown}");
            let again = write_note(&path("x.md"), &back.file, &fields, &marks);
            assert_eq!(again, written, "{shown}");
        }
    }
}
