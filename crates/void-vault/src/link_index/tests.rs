//! Which file a link means, and that many files do not make it slow.

use super::*;
use crate::limits::LINKS_MAX;

fn index(files: &[(&str, &[&str])]) -> LinkIndex {
    LinkIndex::new(files.iter().map(|(path, names)| {
        let path = VaultPath::parse(path).unwrap();
        LinkableFile {
            is_note: path.is_markdown(),
            path,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }))
}

fn resolve(index: &LinkIndex, from: &str, text: &str) -> String {
    let links = Links::of(text).found;
    match index.resolve(&VaultPath::parse(from).unwrap(), &links[0]) {
        LinkTarget::File(path) => path.as_str().to_owned(),
        LinkTarget::Ambiguous { candidates, count } => {
            format!("{count} from {}", candidates[0].as_str())
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn a_link_finds_its_file_by_path_then_name_then_title() {
    let vault = index(&[
        ("A.md", &[]),
        ("sub/A.md", &[]),
        ("sub/B.md", &["Bee", "buzz"]),
        ("sub/deep/C.md", &["Bee"]),
        ("x/deep/D.md", &["A"]),
        ("img.png", &[]),
        ("img.png.md", &[]),
        ("sub/pic one.png", &[]),
        ("Gru\u{308}n.md", &[]),
    ]);
    for (from, text, expected) in [
        ("A.md", "[[B]]", "sub/B.md"),
        ("A.md", "[[b]]", "sub/B.md"),
        ("A.md", "[[B.md]]", "sub/B.md"),
        ("sub/B.md", "[[A]]", "A.md"),
        ("sub/B.md", "[a](A.md)", "sub/A.md"),
        ("sub/B.md", "[a](A)", "sub/A.md"),
        ("sub/B.md", "[a](/A.md)", "A.md"),
        ("sub/B.md", "[a](../A.md)", "A.md"),
        ("sub/B.md", "[[./A]]", "sub/A.md"),
        ("sub/B.md", "[a](../../A.md)", "Outside"),
        ("sub/B.md", "[a](../../../etc/passwd)", "Outside"),
        ("A.md", "[[deep/C]]", "sub/deep/C.md"),
        ("A.md", "[[eep/C]]", "Missing"),
        ("A.md", "[[buzz]]", "sub/B.md"),
        ("A.md", "[[Bee]]", "2 from sub/B.md"),
        ("A.md", "[[img.png]]", "img.png"),
        ("A.md", "![[PIC one.png]]", "sub/pic one.png"),
        ("A.md", "![p](pic%20one.png)", "sub/pic one.png"),
        ("A.md", "[[grün]]", "Gru\u{308}n.md"),
        ("A.md", "[[#h]]", "SameNote"),
        ("A.md", "[[nothing]]", "Missing"),
        ("A.md", "[[..]]", "Missing"),
    ] {
        assert_eq!(resolve(&vault, from, text), expected, "{text} in {from}");
    }
}

#[test]
fn a_name_of_two_files_means_neither_unless_it_is_spelled_like_one() {
    let vault = index(&[
        ("a/X.md", &[]),
        ("b/X.md", &[]),
        ("c/Y.md", &[]),
        ("d/y.md", &[]),
    ]);
    assert_eq!(resolve(&vault, "n.md", "[[X]]"), "2 from a/X.md");
    assert_eq!(resolve(&vault, "n.md", "[[b/X]]"), "b/X.md");
    assert_eq!(resolve(&vault, "n.md", "[[Y]]"), "c/Y.md");
    assert_eq!(resolve(&vault, "n.md", "[[y]]"), "d/y.md");
    let twins = index(&[("Y.md", &[]), ("y.md", &[])]);
    assert_eq!(resolve(&twins, "n.md", "[[Y]]"), "Y.md");
}

#[test]
fn many_files_of_one_name_are_counted_and_not_walked() {
    let paths = (0..20_000).map(|at| VaultPath::parse(&format!("{at}/same.md")).unwrap());
    let vault = LinkIndex::new(paths.map(|path| LinkableFile {
        path,
        is_note: true,
        names: vec!["one title".to_owned()],
    }));
    let from = VaultPath::parse("a.md").unwrap();
    let links = Links::of(&"[[same]] [[one title]]".repeat(LINKS_MAX / 2)).found;
    assert_eq!(links.len(), LINKS_MAX);
    for link in &links {
        match vault.resolve(&from, link) {
            LinkTarget::Ambiguous { candidates, count } => {
                assert_eq!((candidates.len(), count), (CANDIDATES_MAX, 20_000));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_report_says_what_became_of_each_link() {
    let paths = ["Y/a.md", "Z/a.md", "o\u{202e}k.md"];
    let many: Vec<String> = (0..=CANDIDATES_MAX)
        .map(|at| format!("{at}/b.md"))
        .collect();
    let all = paths.iter().copied().chain(many.iter().map(String::as_str));
    let files: Vec<(&str, &[&str])> = all.map(|path| (path, &[][..])).collect();
    let text = "[[o\u{202e}k]] [[a]] [[b]] [[c]] [[#d]] [e](../../e.md)";
    let resolved = index(&files).resolve_all(&VaultPath::parse("n.md").unwrap(), text);
    let said: Vec<String> = resolved
        .links
        .iter()
        .map(|(_, target)| target.to_string())
        .collect();
    assert_eq!(
        said,
        [
            "o\\u{202e}k.md",
            "2 files have this name: Y/a.md, Z/a.md",
            "6 files have this name: 0/b.md, 1/b.md, 2/b.md, 3/b.md, 4/b.md, …",
            "no file has this name",
            "this note",
            "the path leads out of the vault",
        ]
    );
    assert!(!resolved.are_cut);
}
