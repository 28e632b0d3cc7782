//! What is a path, what is one name, and what of it is shown.

use super::*;

#[test]
fn no_path_leads_out_or_to_what_is_hidden() {
    for (text, why) in [
        ("", PathError::EmptyName),
        ("/a.md", PathError::EmptyName),
        ("a//b.md", PathError::EmptyName),
        ("a/", PathError::EmptyName),
        ("../a.md", PathError::Hidden),
        ("a/../b.md", PathError::Hidden),
        ("a/./b.md", PathError::Hidden),
        (".git/config", PathError::Hidden),
        ("a/.obsidian/app.json", PathError::Hidden),
        ("a\0.md", PathError::Nul),
    ] {
        assert_eq!(VaultPath::parse(text), Err(why), "{text:?}");
    }
}

#[test]
fn a_path_holds_up_to_its_limits_and_no_more() {
    let longest = "n".repeat(NAME_BYTES_MAX);
    assert!(VaultPath::parse(&longest).is_ok());
    let longer = format!("{longest}n");
    assert_eq!(VaultPath::parse(&longer), Err(PathError::NameTooLong));
    let deepest = vec!["a"; DEPTH_MAX].join("/");
    assert!(VaultPath::parse(&deepest).is_ok());
    let deeper = format!("{deepest}/a");
    assert_eq!(VaultPath::parse(&deeper), Err(PathError::TooDeep));
    let name = "n".repeat(PATH_BYTES_MAX / 8 - 1);
    let path = [name.as_str(); 8].join("/");
    assert_eq!(path.len(), PATH_BYTES_MAX - 1);
    assert!(VaultPath::parse(&format!("{path}n")).is_ok());
    let longer = format!("{path}nn");
    assert_eq!(VaultPath::parse(&longer), Err(PathError::TooLong));
}

#[test]
fn names_are_taken_apart() {
    let path = VaultPath::parse("Lab/Caddy notes.MD").unwrap();
    assert_eq!(
        (path.name(), path.stem()),
        ("Caddy notes.MD", "Caddy notes")
    );
    assert_eq!(path.folder(), Some("Lab"));
    assert!(path.is_markdown());
    let image = VaultPath::parse("a.md.png").unwrap();
    assert_eq!((image.stem(), image.is_markdown()), ("a.md.png", false));
}

#[test]
fn twins_fold_to_one_and_others_do_not() {
    assert_eq!(folded("Gru\u{308}\u{df}e"), folded("GRÜßE"));
    assert_eq!(folded("README"), folded("readme"));
    assert_ne!(folded("a"), folded("а"));
}

#[test]
fn what_deceives_is_shown_as_an_escape() {
    for (text, expected) in [
        ("Grüße 日本.md", "Grüße 日本.md"),
        ("u\u{308}ber", "u\u{308}ber"),
        ("it's \"x\"", "it's \"x\""),
        ("a\u{202e}dm.exe", "a\\u{202e}dm.exe"),
        ("a\nb\u{1b}[31m", "a\\u{a}b\\u{1b}[31m"),
        (
            "a\u{200b}\u{2800}\u{fe0f}b",
            "a\\u{200b}\\u{2800}\\u{fe0f}b",
        ),
    ] {
        assert_eq!(shown(text), expected);
    }
}
