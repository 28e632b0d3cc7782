//! What is a link, what only looks like one, and what much of it costs.

use super::*;

/// The links of a text, each as `form target#heading|words`.
fn read(text: &str) -> Vec<String> {
    let links = Links::of(text);
    assert!(!links.are_cut);
    let shown = |link: &Link| {
        let mut shown = format!("{:?} {}", link.form, link.target);
        if let Some(heading) = &link.heading {
            shown.push('#');
            shown.push_str(heading);
        }
        if let Some(words) = &link.words {
            shown.push('|');
            shown.push_str(words);
        }
        shown
    };
    links.found.iter().map(shown).collect()
}

#[test]
fn every_spelling_of_a_link_is_read() {
    for (text, expected) in [
        ("[[A]]", "Wiki A"),
        ("[[ A b ]]", "Wiki A b"),
        ("[[A|words here]]", "Wiki A|words here"),
        ("| [[A\\|b]] |", "Wiki A|b"),
        ("[[A#Some heading]]", "Wiki A#Some heading"),
        ("[[A#^block|b]]", "Wiki A#^block|b"),
        ("[[#here]]", "Wiki #here"),
        ("[[a/b/C.md]]", "Wiki a/b/C.md"),
        ("![[img.png|300]]", "WikiEmbed img.png|300"),
        ("[[[A]]", "Wiki A"),
        ("[[Grüße 日本]]", "Wiki Grüße 日本"),
        ("[a](b.md)", "Inline b.md|a"),
        ("[a](<b c.md>)", "Inline b c.md|a"),
        ("[a](b%20c.md#d%20e)", "Inline b c.md#d e|a"),
        ("[a](../b/c.md \"title\")", "Inline ../b/c.md|a"),
        ("[a]( b.md 'it' )", "Inline b.md|a"),
        ("[a](b.md (it))", "Inline b.md|a"),
        ("[a](b.md \"it\\\"s\")", "Inline b.md|a"),
        ("[a](b(1).md)", "Inline b(1).md|a"),
        ("[a](b\\(1.md)", "Inline b(1.md|a"),
        ("[two\nlines](b.md)", "Inline b.md|two\nlines"),
        ("[](b.md)", "Inline b.md"),
        ("[a](#here)", "Inline #here|a"),
        ("[a](100%.md)", "Inline 100%.md|a"),
        ("![alt](img.png)", "InlineImage img.png|alt"),
        ("\\\\[a](b.md)", "Inline b.md|a"),
        ("> - [a](b.md)", "Inline b.md|a"),
        ("`a` [[A]] `b`", "Wiki A"),
        ("`` ` [[A]]", "Wiki A"),
        ("``` [[A]]", ""),
        ("a ` b\n\n[[A]] `", "Wiki A"),
        ("~~~\n[[no]]\n~~~\n[[A]]", "Wiki A"),
        ("````\n```\n[[no]]\n````\n[[A]]", "Wiki A"),
        ("> ```\n> [[no]]\n> ```\n[[A]]", "Wiki A"),
    ] {
        let expected: Vec<&str> = [expected]
            .into_iter()
            .filter(|link| !link.is_empty())
            .collect();
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn what_only_looks_like_a_link_is_text() {
    for text in [
        "",
        "[[",
        "[[]]",
        "[[ ]]",
        "[[|a]]",
        "[[A]",
        "[[A\n]]",
        "[A]]",
        "\\[[A]]",
        "[\\[A]]",
        "![[#h]]",
        "`[[A]]`",
        "``a ` [[A]]``",
        "```\n[[A]]\n```",
        "```\n[[A]]",
        "~~~\n[[A]]\n```\n",
        "[a]",
        "[a] (b.md)",
        "[a](b.md",
        "[a](<b.md)",
        "[a](b c.md)",
        "\\[a](b.md)",
        "[a\\](b.md)",
        "[a\n\nb](c.md)",
        "[a]()",
        "[a](<>)",
        "[a](https://a.example/b.md)",
        "[a](mailto:a@b.example)",
        "[a](void:page/1)",
        "[a](//host/b.md)",
        "[a](javascript:alert(1))",
        "[a](b%ff.md)",
        "[a](b%00.md)",
        "![a](data:image/png;base64,xx)",
        "[a](b.md \"open)",
        "[a](b(c \"d\"))",
        "[a](b.md (c (d)))",
        "[[a[b]c]]x",
        "<https://a.example>",
    ] {
        assert_eq!(read(text), [""; 0], "{text:?}");
    }
}

#[test]
fn links_in_links_are_each_read_once() {
    assert_eq!(
        read("[![a](b.png)](c.md) [[A]][[B]]"),
        [
            "InlineImage b.png|a",
            "Inline c.md|![a](b.png)",
            "Wiki A",
            "Wiki B"
        ]
    );
    assert_eq!(read("[a [b](c.md) d](e.md)"), ["Inline c.md|b"]);
    assert_eq!(read("[[A [[B]]"), ["Wiki B"]);
}

#[test]
fn a_span_is_the_whole_link() {
    let text = "ü ![[a.png]] and ![b](c.png) \\![d](e.md) ![[f]";
    let links = Links::of(text).found;
    let spans: Vec<&str> = links.iter().map(|link| &text[link.span.clone()]).collect();
    assert_eq!(spans, ["![[a.png]]", "![b](c.png)", "[d](e.md)"]);
}

#[test]
fn a_link_is_as_long_as_its_limit_and_no_longer() {
    let wiki = |bytes: usize| format!("[[{}]]", "a".repeat(bytes - 4));
    assert_eq!(read(&wiki(LINK_BYTES_MAX)).len(), 1);
    assert_eq!(read(&wiki(LINK_BYTES_MAX + 1)).len(), 0);
    let inline = |bytes: usize| format!("[a]({})", "b".repeat(bytes - 5));
    assert_eq!(read(&inline(LINK_BYTES_MAX)).len(), 1);
    assert_eq!(read(&inline(LINK_BYTES_MAX + 1)).len(), 0);
}

#[test]
fn parentheses_nest_as_deep_as_their_limit() {
    let nested = |depth: usize| format!("[a]({}b{})", "(".repeat(depth), ")".repeat(depth));
    let deepest = destinations::NESTED_MAX;
    assert_eq!(read(&nested(deepest)).len(), 1);
    assert_eq!(read(&nested(deepest + 1)).len(), 0);
}

#[test]
fn links_are_read_up_to_their_number() {
    let links = Links::of(&"[[a]]".repeat(LINKS_MAX));
    assert_eq!((links.found.len(), links.are_cut), (LINKS_MAX, false));
    let links = Links::of(&"[[a]]".repeat(1_000_000));
    assert_eq!((links.found.len(), links.are_cut), (LINKS_MAX, true));
}

/// Each of these takes many minutes when a look ahead is repeated for every mark.
#[test]
fn much_of_anything_is_read_in_one_pass() {
    const TEXT_BYTES: usize = 128 * 1024;
    let units = [
        "[", "[[", "[[a", "]", "](", "[](", "[](<", "[]((", "![", "\\", "`", "`a``", "```\n",
        "~~~\n", "[[a|", "[a](b ", "[a](b \"", "[a](b '", "> ", "\n\n", "%%", "[[a[b", "(", "[`",
        "[a]\n(", "!", "[a](%",
    ];
    let started = std::time::Instant::now();
    for unit in units {
        let _ = Links::of(&unit.repeat(TEXT_BYTES / unit.len()));
    }
    // Runs of growing length, none of which closes another.
    let runs: Vec<String> = (1..700).map(|length| "`".repeat(length)).collect();
    assert_eq!(Links::of(&runs.join("a")).found, []);
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}
