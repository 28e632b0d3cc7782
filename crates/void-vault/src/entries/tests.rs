//! What files become, and what they may not become.

use super::*;

fn note(path: &str, text: &str) -> Note {
    match VaultEntry::read(&VaultPath::parse(path).unwrap(), text.as_bytes()) {
        VaultEntry::Note(note) => *note,
        VaultEntry::Attachment(fault) => panic!("{fault:?}"),
    }
}

#[test]
fn a_note_is_what_its_kind_says() {
    assert_eq!(note("a.md", "- [ ] a box is text").kind, NoteKind::Page);
    assert_eq!(
        note("a.md", "---\nstatus: draft\n---\n").kind,
        NoteKind::Page
    );
    assert_eq!(note("a.md", "---\nkind: recipe\n---\n").faults, []);
    let task = note(
        "a.md",
        "---\nkind: task\nstatus: done\ndue: 2026-12-31\n---\n",
    );
    let due = "2026-12-31".parse().ok();
    let status = TaskStatus::Done;
    assert_eq!(
        (task.kind, task.is_foreign),
        (NoteKind::Task { status, due }, false)
    );
    let dropped = note("a.md", "---\nKind: Task\nStatus: Dropped\n---\n").kind;
    let (status, due) = (TaskStatus::Dropped, None);
    assert_eq!(dropped, NoteKind::Task { status, due });
    let odd = note("a.md", "---\nkind: task\nstatus: maybe\n---\n");
    assert_eq!(
        (odd.kind, &odd.faults[..]),
        (NoteKind::Page, &[EntryFault::UnknownStatus][..])
    );
}

#[test]
fn what_a_stranger_wrote_stays_foreign() {
    let captured = note(
        "a.md",
        "---\nkind: ref\nurl: https://a.example/\norigin: owner\n---\n",
    );
    assert_eq!(
        (captured.kind.entry(), captured.is_foreign),
        (EntryKind::Ref, true)
    );
    for text in [
        "---\norigin: Foreign\n---\n",
        "---\norigin: ' foreign '\n---\n",
        "---\nkind: REF\n---\n",
        "---\norigin: foreign\nnever closed",
        "---\nbroken\n\t'origin' : \"foreign\" \n---\n",
        "---\n{title: a, origin: foreign}\n---\n",
        // As Obsidian writes a property that is a list, and as YAML has it otherwise.
        "---\norigin:\n  - foreign\n---\n",
        "---\norigin: [Foreign]\n---\n",
        "---\norigin: &mark foreign\n---\n",
        "---\norigin: !!str foreign\n---\n",
    ] {
        assert!(note("a.md", text).is_foreign, "{text}");
    }
    for text in [
        "origin: foreign",
        "---\ntitle: a\n---\norigin: foreign",
        "---\nbroken\n---\n",
        "---\norigin: [git, mail]\n---\nforeign",
        "---\ntitle: the origin of foreign words\n---\n",
    ] {
        assert!(!note("a.md", text).is_foreign, "{text}");
    }
    for url in [
        "",
        "ftp://a.example",
        "javascript:alert(1)",
        "https://",
        "https:///x",
        "file:///etc/passwd",
        "\"https://a.example/\\nx\"",
        "https://a b",
    ] {
        let odd = note(
            "a.md",
            &format!("---\nkind: ref\nurl: {url}\norigin: foreign\n---\n"),
        );
        assert_eq!(odd.kind, NoteKind::Page, "{url}");
        assert!(
            odd.faults.contains(&EntryFault::NoUrl) && odd.is_foreign,
            "{url}"
        );
    }
    let url = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - 18));
    let kind = |url: String| {
        note("a.md", &format!("---\nkind: ref\nurl: {url}\n---\n"))
            .kind
            .entry()
    };
    assert_eq!(kind(url(URL_BYTES_MAX)), EntryKind::Ref);
    assert_eq!(kind(url(URL_BYTES_MAX + 1)), EntryKind::Page);
}

#[test]
fn every_note_has_a_title_that_may_be_one() {
    for (path, text, expected) in [
        ("a/Caddy.md", "", "Caddy"),
        ("a.md", "---\ntitle: \"  The\\nproxy \"\n---\n", "The proxy"),
        ("a.md", "---\ntitle: \"\\u200b\"\n---\n", "a"),
        ("a.md", "---\ntitle: \"\"\n---\n", "a"),
        ("a\u{1}b.md", "", "a b"),
        ("\u{200b}.md", "", UNTITLED),
        ("u\u{308}.md", "", "ü"),
    ] {
        assert_eq!(note(path, text).title, expected, "{path:?} {text:?}");
    }
    let long = format!("---\ntitle: {}\n---\n", "ä".repeat(TITLE_CHARS_MAX + 1));
    assert_eq!(note("a.md", &long).title, "ä".repeat(TITLE_CHARS_MAX));
}

#[test]
fn what_is_no_text_is_an_attachment_as_a_whole() {
    let path = VaultPath::parse("a.md").unwrap();
    let why = NotANote::NotUtf8 { at: 1 };
    assert_eq!(
        VaultEntry::read(&path, b"a\xff"),
        VaultEntry::Attachment(Some(EntryFault::NotANote(why)))
    );
    let path = VaultPath::parse("a.png").unwrap();
    assert_eq!(
        VaultEntry::read(&path, b"text"),
        VaultEntry::Attachment(None)
    );
}
