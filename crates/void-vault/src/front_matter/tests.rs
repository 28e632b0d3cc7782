//! What people and programs write into front matter, and what is wrong with it.

use super::*;

fn read(text: &str) -> FrontMatter {
    FrontMatter::split(text).1
}

/// The value of `title:` or `tags:` in front matter of this one field.
fn value_of(field: Field, lines: &str) -> Result<Option<FieldValue>, FaultKind> {
    let text = format!(
        "---\nother: x\n{}:{lines}\nlast: y\n---\nbody\n",
        field.key()
    );
    let (at, read) = FrontMatter::split(&text);
    assert!(
        text[at..].starts_with("body"),
        "{lines:?}: {:?}",
        read.faults
    );
    match read.faults.first() {
        Some(fault) => Err(fault.kind),
        None => Ok(read.value(field).cloned()),
    }
}

#[test]
fn words_are_read_as_yaml_reads_them() {
    for (written, expected) in [
        (" Plain words", Some("Plain words")),
        ("   blanks around\t", Some("blanks around")),
        (" a # comment", Some("a")),
        (" a#no comment", Some("a#no comment")),
        (" it's # so", Some("it's")),
        (" a \"b # c\" d", Some("a \"b")),
        (" \"quoted: # yes\" # comment", Some("quoted: # yes")),
        (" \"a\\\\\" # comment", Some("a\\")),
        (" \"\\x41\\u00fc\\U0001f600\\n\\\"\"", Some("Aü😀\n\"")),
        (" 'it''s \\n'", Some("it's \\n")),
        (" http://host:80/a", Some("http://host:80/a")),
        (" 2026-11-19", Some("2026-11-19")),
        ("\n  on the next line", Some("on the next line")),
        (" over\n  two lines", Some("over two lines")),
        (" |\n  block\n\n  # kept\n# comment", Some("block # kept")),
        (" >-\n  folded\n  words", Some("folded words")),
        (" >-\n  # kept\n    too\n # comment\n", Some("# kept too")),
        (" >-\n# comment", None),
        ("", None),
        (" # nothing", None),
        (" ~", None),
        (" null", None),
        (" \"\"", Some("")),
    ] {
        let expected = expected.map(|words| FieldValue::Words(words.to_owned()));
        assert_eq!(value_of(Field::Title, written), Ok(expected), "{written:?}");
    }
}

#[test]
fn what_yaml_refuses_or_void_does_not_read_is_a_fault_of_one_field() {
    for (written, fault) in [
        (" a: b", FaultKind::ColonInside),
        (" a:", FaultKind::ColonInside),
        (" [a]", FaultKind::Unsupported),
        (" {a: b}", FaultKind::Unsupported),
        (" &anchor a", FaultKind::Unsupported),
        (" *alias", FaultKind::Unsupported),
        (" !!binary aGk=", FaultKind::Unsupported),
        (" @at", FaultKind::Unsupported),
        ("\n  - a", FaultKind::Unsupported),
        ("\n- a", FaultKind::Unsupported),
        ("\n  a: b", FaultKind::ColonInside),
        ("\n  a\n- b", FaultKind::Unsupported),
        (" a # comment\n  b", FaultKind::Unsupported),
        (" a\n  # comment\n  b", FaultKind::Unsupported),
        (" \"a\"\n  b", FaultKind::Unsupported),
        (" \"a\"# no comment", FaultKind::Quote),
        (" \"a\n  b\"", FaultKind::Unsupported),
        (" ?", FaultKind::Unsupported),
        (" >- words", FaultKind::Unsupported),
        (" >-\n  a\n b", FaultKind::Unsupported),
        (" |123", FaultKind::Unsupported),
        (" \"open", FaultKind::Quote),
        (" 'open", FaultKind::Quote),
        (" \"a\" b", FaultKind::Quote),
        (" \"\\q\"", FaultKind::Escape),
        (" \"\\ud800\"", FaultKind::Escape),
        (" \"\\0\"", FaultKind::Escape),
        (" \"\\x00\"", FaultKind::Escape),
        (" \"\\U00110000\"", FaultKind::Escape),
        (" \"\\u12", FaultKind::Escape),
    ] {
        assert_eq!(value_of(Field::Title, written), Err(fault), "{written:?}");
    }
}

#[test]
fn lists_are_read_in_every_spelling() {
    let expected = ["a", "b c", "ü"].map(str::to_owned).to_vec();
    for written in [
        " [a, \"b c\", ü]",
        " [ a , 'b c', ü, ] # comment",
        " [a,\n  b c,\n\n  ü]",
        " [\n  a, # one\n  b c,\n  ü\n]",
        "\n  - a\n  - b c\n  - ü",
        "\n- a\n\n# comment\n- 'b c'\n- ü",
        "\n    - a\n    -   b c # comment\n    -\n    - ü",
        " a, b c, ü, a",
    ] {
        let expected = Some(FieldValue::List(expected.clone()));
        assert_eq!(
            value_of(Field::Aliases, written),
            Ok(expected),
            "{written:?}"
        );
    }
    for written in ["", " []", " [,]", "\n  -", " ~"] {
        assert_eq!(value_of(Field::Aliases, written), Ok(None), "{written:?}");
    }
    for (written, fault) in [
        (" [a", FaultKind::Unsupported),
        (" [a]# no comment", FaultKind::Unsupported),
        (" [#a]", FaultKind::Unsupported),
        ("\n- a\n  - b", FaultKind::Unsupported),
        ("\n  - a\n- b", FaultKind::Unsupported),
        (" [a] b", FaultKind::Unsupported),
        (" [[a]]", FaultKind::Unsupported),
        (" [{a: b}]", FaultKind::Unsupported),
        (" [\"a]", FaultKind::Quote),
        (" [\"a\" \"b\"]", FaultKind::Unsupported),
        ("\n  - a: b", FaultKind::ColonInside),
        ("\n  - - a", FaultKind::Unsupported),
        ("\n  - a\n  b", FaultKind::Unsupported),
    ] {
        assert_eq!(value_of(Field::Aliases, written), Err(fault), "{written:?}");
    }
}

#[test]
fn tags_lose_their_mark_and_may_stand_behind_each_other() {
    let read = read("---\ntag: '#lab one/two, #lab'\n---\n");
    assert_eq!(read.tags(), ["lab", "one/two"]);
}

#[test]
fn a_runbook_names_its_services_and_actions() {
    let read = read(
        "---\nTitle: Caddy\nservices: [caddy]\nactions:\n- restart-caddy\ndue: 2026-12-31\nstatus: open\n---\n",
    );
    assert_eq!(
        (read.title(), read.services()),
        (Some("Caddy"), &["caddy".to_owned()][..])
    );
    assert_eq!(read.actions(), ["restart-caddy"]);
    assert_eq!(read.due().unwrap().to_string(), "2026-12-31");
    assert_eq!((read.status(), read.faults()), (Some("open"), &[][..]));
}

#[test]
fn a_fault_names_its_line_and_leaves_the_other_fields() {
    let read = read("---\ntitle: A\ndue: tomorrow\ntags: {a: b}\n---\n");
    let said: Vec<String> = read.faults().iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "line 3: a day is written as 2026-12-31",
            "line 4: Void does not read such a value here"
        ]
    );
    assert_eq!(
        (read.title(), read.due(), read.tags()),
        (Some("A"), None, &[][..])
    );
}

#[test]
fn a_block_that_is_none_is_text() {
    for (text, line, kind) in [
        ("---\n", 1, FaultKind::NeverClosed),
        ("---\ntitle: A\n", 1, FaultKind::NeverClosed),
        ("---\ntitle: A\n----\n", 3, FaultKind::NotAField),
        ("---\n\nA sentence.\n\n---\n", 3, FaultKind::NotAField),
        ("---\n- a\n---\n", 2, FaultKind::NotAField),
        ("---\n  title: A\n---\n", 2, FaultKind::NotAField),
        ("---\n{{title}}: A\n---\n", 2, FaultKind::NotAField),
        ("---\ntitle:A\n---\n", 2, FaultKind::NotAField),
        ("---\n: A\n---\n", 2, FaultKind::NotAField),
        ("---\n--- title: A\n---\n", 2, FaultKind::NotAField),
        ("---\n\"title: A\n---\n", 2, FaultKind::NotAField),
        ("---\na: b\n\tc: d\n---\n", 3, FaultKind::Tab),
        ("---\ntitle: A\ntitle: B\n---\n", 3, FaultKind::Twice),
        ("---\ntags: a\nTag: b\n---\n", 3, FaultKind::Twice),
        ("---\nother: a\nother: b\n---\n", 3, FaultKind::Twice),
    ] {
        let (at, read) = FrontMatter::split(text);
        assert_eq!(at, 0, "{text:?}");
        assert_eq!(read.faults(), [FrontMatterFault { line, kind }], "{text:?}");
        assert_eq!(
            Field::ALL.map(|field| read.value(field).cloned()),
            [const { None }; 11]
        );
    }
    for text in ["", "a\n---\n", " ---\na: b\n---\n", "----\n", "--- a\n"] {
        assert_eq!(
            FrontMatter::split(text),
            (0, FrontMatter::default()),
            "{text:?}"
        );
    }
}

#[test]
fn keys_that_void_does_not_know_are_stepped_over() {
    let text = "---\ncssclasses: {a: [b, c]}\nrelated: [[A]]\nscript: |\n  title: no\n  - x\n\
                nested:\n  title: no\n  more:\n    - {x: y}\n\"a: b\": c\nbase: &x\n  k: v\nuse: *x\ntitle: yes it is\n---\n";
    let read = read(text);
    assert_eq!((read.title(), read.faults()), (Some("yes it is"), &[][..]));
}

#[test]
fn front_matter_ends_at_its_limits() {
    let fill = |bytes: usize| {
        format!(
            "---\na: {}\n---\n",
            "x".repeat(bytes - "---\na: \n---\n".len())
        )
    };
    assert_ne!(FrontMatter::split(&fill(FRONT_MATTER_BYTES_MAX)).0, 0);
    let (at, read) = FrontMatter::split(&fill(FRONT_MATTER_BYTES_MAX + 1));
    let (line, kind) = (1, FaultKind::TooLong);
    assert_eq!(
        (at, read.faults()),
        (0, &[FrontMatterFault { line, kind }][..])
    );
    let list = |items: usize| {
        let items: Vec<String> = (0..items).map(|item| item.to_string()).collect();
        value_of(Field::Tags, &format!(" [{}]", items.join(",")))
    };
    assert!(list(FRONT_MATTER_ITEMS_MAX).is_ok());
    assert_eq!(
        list(FRONT_MATTER_ITEMS_MAX + 1),
        Err(FaultKind::TooManyItems)
    );
}

#[test]
fn an_edit_changes_one_field_and_no_other_byte() {
    let raw = "---\r\n# mine\r\ntitle: \"Old\" # why\r\ntags:\r\n- a\r\n\r\nx: y\r\n---\r\n";
    let words = |words: &str| FieldValue::Words(words.to_owned());
    assert_eq!(
        with_field(raw, Field::Title, Some(&words("New: name"))),
        raw.replace("title: \"Old\" # why", "title: \"New: name\"")
    );
    assert_eq!(
        with_field(raw, Field::Tags, None),
        raw.replace("tags:\r\n- a\r\n", "")
    );
    assert_eq!(
        with_field(raw, Field::Status, Some(&words("done"))),
        raw.replace("x: y\r\n", "x: y\r\nstatus: done\r\n")
    );
    assert_eq!(with_field(raw, Field::Due, None), raw);
    assert_eq!(with_field("", Field::Due, None), "");
    assert_eq!(
        with_field("", Field::Url, Some(&words("https://a.example/x?y=1"))),
        "---\nurl: https://a.example/x?y=1\n---\n"
    );
    assert_eq!(
        with_field("---\na: b\n---", Field::Title, Some(&words("true"))),
        "---\na: b\ntitle: \"true\"\n---"
    );
    let broken = "---\nbroken\n---\n";
    assert_eq!(
        with_field(broken, Field::Title, Some(&words("A"))),
        format!("---\ntitle: A\n---\n{broken}")
    );
}

const HOSTILE: &[&str] = &[
    "",
    " ",
    "~",
    "null",
    "yes",
    "No",
    "1",
    "1e3",
    "0x1f",
    "-",
    "- a",
    "---",
    "...",
    "a: b",
    "a:",
    ": a",
    "a #b",
    "#a",
    "'",
    "\"",
    "\\",
    "\\n",
    "a\nb",
    "a\r\nb",
    "---\nstatus: done\n---",
    "\t",
    "[a]",
    "{a}",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a`",
    "?",
    "? a",
    "a\u{202e}b",
    "\u{feff}",
    "\u{85}\u{2028}",
    "Grüße",
    "u\u{308}",
    "日本",
    "😀",
    "\u{3164}",
    "it's",
    "a, b",
    "http://x",
    "https://x/#a",
    "http://a b",
    "2026-01-01",
    "tags: x",
    "trailing ",
    " leading",
    "a  b",
];

#[test]
fn whatever_is_written_is_read_back() {
    for words in HOSTILE {
        let value = FieldValue::Words((*words).to_owned());
        let raw = with_field("---\nx: y\n---\n", Field::Title, Some(&value));
        let title = read(&raw);
        assert_eq!(
            (title.title(), title.faults()),
            (Some(*words), &[][..]),
            "{raw}"
        );
        let items = vec!["first".to_owned(), (*words).to_owned()];
        let raw = with_field(&raw, Field::Services, Some(&FieldValue::List(items)));
        let list = read(&raw);
        let mut expected = vec!["first", words.trim()];
        expected.retain(|item| !item.is_empty());
        assert_eq!(list.services(), expected, "{raw}");
        assert_eq!(list.faults(), []);
    }
}
