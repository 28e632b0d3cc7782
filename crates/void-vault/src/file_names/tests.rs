//! Names that every file system takes, and that nothing else has.

use super::*;

#[test]
fn every_title_has_a_name_that_every_file_system_takes() {
    for (title, expected) in [
        ("Caddy", "Caddy.md"),
        ("Grüße 日本", "Grüße 日本.md"),
        ("u\u{308}ber", "über.md"),
        ("a/b\\c:d*e?f\"g<h>i|j", "a-b-c-d-e-f-g-h-i-j.md"),
        ("C# [draft] ^1", "C- -draft- -1.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        (".git", "git.md"),
        ("-rf ~", "rf ~.md"),
        ("ends with dots...", "ends with dots.md"),
        ("  two \n\t lines ", "two lines.md"),
        ("a\u{202e}b\u{200b}\u{1b}\u{0}", "ab.md"),
        ("", "Untitled.md"),
        ("...", "Untitled.md"),
        ("???", "Untitled.md"),
        ("\u{200b}", "Untitled.md"),
        ("con", "_con.md"),
        ("NUL.txt", "_NUL.txt.md"),
        ("Com¹", "_Com¹.md"),
        ("lpt0", "_lpt0.md"),
        ("conin$", "_conin$.md"),
        ("COM10", "COM10.md"),
        ("console", "console.md"),
    ] {
        let path = FileNames::default().note(None, title).unwrap();
        assert_eq!(path.as_str(), expected, "{title:?}");
    }
}

#[test]
fn no_two_things_share_a_name() {
    let there = VaultPath::parse("Lab/Caddy.md").unwrap();
    let mut names = FileNames::new([&there]);
    let mut note = |folder: Option<&VaultPath>, title| names.note(folder, title).unwrap();
    let lab = VaultPath::parse("Lab").unwrap();
    let chosen = [
        note(Some(&lab), "caddy"),
        note(Some(&lab), "Caddy"),
        note(None, "Caddy"),
        note(Some(&lab), "Caddy 3"),
        note(None, "u\u{308}"),
        note(None, "Ü"),
    ];
    let chosen: Vec<&str> = chosen.iter().map(VaultPath::as_str).collect();
    assert_eq!(
        chosen,
        [
            "Lab/caddy 2.md",
            "Lab/Caddy 3.md",
            "Caddy.md",
            "Lab/Caddy 3 2.md",
            "ü.md",
            "Ü 2.md"
        ]
    );
    assert_eq!(names.folder(None, "LAB").unwrap().as_str(), "LAB 2");
    assert_eq!(names.attachment(None, "lab").unwrap().as_str(), "lab 3");
}

#[test]
fn attachments_keep_their_extension() {
    let mut names = FileNames::default();
    for (name, expected) in [
        ("a.PNG", "a.PNG"),
        ("A.png", "A 2.png"),
        ("archive.tar.gz", "archive.tar.gz"),
        ("no extension", "no extension"),
        ("../../x.sh", "x.sh"),
        (".htaccess", "Untitled.htaccess"),
        ("con.png", "_con.png"),
        ("a.b c", "a.b c"),
        ("x.png ", "x.png"),
        ("a.png:stream", "a.png-stream"),
    ] {
        assert_eq!(names.attachment(None, name).unwrap().as_str(), expected);
    }
}

#[test]
fn a_name_is_cut_at_its_limit_and_at_a_character() {
    let name = |title: String| FileNames::default().note(None, &title).unwrap();
    let stem = |path: &VaultPath| path.stem().len();
    assert_eq!(stem(&name("a".repeat(STEM_BYTES_MAX))), STEM_BYTES_MAX);
    assert_eq!(stem(&name("a".repeat(STEM_BYTES_MAX + 1))), STEM_BYTES_MAX);
    assert_eq!(stem(&name("a日".repeat(100))), STEM_BYTES_MAX);
    assert_eq!(stem(&name("日".repeat(100) + "a")), STEM_BYTES_MAX);
    assert_eq!(
        stem(&name(format!("a{}", "é".repeat(100)))),
        STEM_BYTES_MAX - 1
    );
}

#[test]
fn many_of_one_title_are_numbered_in_one_pass() {
    let mut names = FileNames::default();
    let last = (0..100_000)
        .map(|_| names.note(None, "Same").unwrap())
        .last();
    assert_eq!(last.unwrap().as_str(), "Same 100000.md");
}

#[test]
fn an_extension_is_as_long_as_its_limit_and_no_longer() {
    let stem = "a".repeat(STEM_BYTES_MAX);
    let name = |extension: usize| {
        let name = format!("{stem}.{}", "x".repeat(extension));
        FileNames::default()
            .attachment(None, &name)
            .unwrap()
            .name()
            .len()
    };
    assert_eq!(
        name(EXTENSION_BYTES_MAX),
        STEM_BYTES_MAX + 1 + EXTENSION_BYTES_MAX
    );
    // What is longer is words like any other, and cut with them.
    assert_eq!(name(EXTENSION_BYTES_MAX + 1), STEM_BYTES_MAX);
}
