//! Whatever the text is, its tree and the time that it takes are bounded.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::bounds::{BLOCKS_MAX, COLUMNS_MAX, DEPTH_MAX, INLINES_MAX, LANGUAGE_BYTES_MAX};
use super::super::read;
use super::{assert_harmless, tree, walk, words};

/// How much time of a processor a text of this size may take, with room for a slow one.
const BOUND: Duration = Duration::from_millis(1500);
const SIZE: usize = 200 * 1024;

#[test]
fn a_page_that_nests_without_end_is_cut_and_quick() {
    for mark in ["> ", "- ", "* ", "**", "[", "![", "<b>", "`", "1. "] {
        let source = mark.repeat(16 * 1024 / mark.len());
        let page = tree(&source);
        assert_harmless(&page, mark);
        assert!(count(&page, &["quote"]) <= DEPTH_MAX, "{mark}");
        let bytes = page.to_string().len();
        assert!(bytes < 40 * source.len(), "{mark}: {bytes}");
    }
}

#[test]
fn deep_nesting_is_cut_not_followed() {
    let marks = "*a **b ".repeat(5000) + &"** *".repeat(5000);
    let spans = "*a **b ".repeat(50) + &"** *".repeat(50);
    let quotes = format!("{}x", "> ".repeat(5000));
    let items = |depth: usize| format!("{}- x", "  ".repeat(depth));
    let items: Vec<String> = (0..500).map(items).collect();
    let run = "*".repeat(50_000) + "a" + &"*".repeat(50_000);
    let mixed = format!("{}{spans}", "> - ".repeat(500));
    for source in [marks, spans, quotes, items.join("\n"), run, mixed] {
        let page = tree(&source);
        assert!(words(&page).contains(['a', 'x']));
        // As deep as a common reader of JSON reads, with room for what is around it.
        let around = json!({"messages": [{"blocks": page}]}).to_string();
        serde_json::from_str::<Value>(&around).unwrap();
    }
}

#[test]
fn what_is_beyond_the_bounds_is_words() {
    for (source, kinds, most) in [
        (
            "a\n\n".repeat(BLOCKS_MAX + 10),
            &["paragraph"][..],
            BLOCKS_MAX + 1,
        ),
        (
            "- a\n".repeat(BLOCKS_MAX),
            &["paragraph", "list"],
            BLOCKS_MAX + 1,
        ),
        (
            "*a* ".repeat(INLINES_MAX),
            &["text", "emphasis"],
            INLINES_MAX + 8,
        ),
        (
            "http://a.b ".repeat(INLINES_MAX),
            &["text", "link"],
            INLINES_MAX + 8,
        ),
    ] {
        let page = tree(&source);
        assert_harmless(&page, "too much");
        assert!(count(&page, kinds) <= most, "{}", count(&page, kinds));
        let letters = |text: &str| text.matches('a').count();
        assert_eq!(letters(&words(&page)), letters(&source), "no word is lost");
    }
    // As many as fit are what they are.
    let page = tree(&"a\n\n".repeat(BLOCKS_MAX - 1));
    assert_eq!(count(&page, &["paragraph"]), BLOCKS_MAX - 1);
}

#[test]
fn a_table_and_the_name_of_a_language_have_their_widths() {
    let row = "a|".repeat(COLUMNS_MAX + 1);
    let page = tree(&format!("{row}\n{}\n{row}\n", "-|".repeat(COLUMNS_MAX + 1)));
    assert_eq!(page[0]["head"].as_array().unwrap().len(), COLUMNS_MAX);
    assert_eq!(page[0]["rows"][0].as_array().unwrap().len(), COLUMNS_MAX);
    // A few letters make many empty cells.
    let source = format!(
        "{}\n{}\n{}",
        "a|".repeat(30),
        "-|".repeat(30),
        "x|\n".repeat(20_000)
    );
    assert!(tree(&source).to_string().len() < 40 * source.len());
    let page = tree(&format!(
        "```{}\nx\n```",
        "a".repeat(LANGUAGE_BYTES_MAX + 1)
    ));
    assert_eq!(
        page[0]["language"].as_str().unwrap().len(),
        LANGUAGE_BYTES_MAX
    );
}

#[test]
fn much_of_anything_is_read_in_bounded_time() {
    let pieces = [
        "a",
        "a ",
        "*",
        "*a ",
        "*a**b_c~~",
        "_a*",
        "`",
        "` ``  ",
        "[",
        "![",
        "[](",
        "[a](b",
        "[a](<",
        "![a](",
        "]",
        "](x)",
        "[a](https://b.c) ",
        "![[a](https://b.c)",
        "<",
        "<a@",
        "&",
        "&#",
        "\\",
        "> ",
        "- ",
        "- a\n",
        "1. a\n\n",
        "  - a\n",
        "#",
        "# ",
        "# #",
        "|",
        "a|b\n",
        "|-",
        "| - ",
        "-\t",
        "- -\n",
        "```\n",
        "~~~ ",
        "http://",
        "http://!",
        "https://a.example/( ",
        "h",
        " ",
        "\t",
        "\n",
        "a  \n",
        "*`a` ",
        "**a** b\n",
        "    x\n",
        "a@b.c ",
        "\u{202e}",
        "((((",
        "![a](b) ",
        "'\"",
        "😀*",
        "[a]: b\n",
        "<b>",
        "<!--",
        "http://a\u{200b} ",
    ];
    for piece in pieces {
        let whole = piece.repeat(SIZE / piece.len());
        let some = piece.repeat(SIZE / 4 / piece.len());
        for source in [
            whole,
            format!("# x{some}x"),
            format!("a|b\n-|-\n{some}"),
            format!("- {some}"),
        ] {
            let start = processor_time();
            read(&source);
            let took = processor_time() - start;
            assert!(took < BOUND, "{piece:?} took {took:?}");
        }
    }
}

/// Of this thread: others may have the processor meanwhile.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

fn count(tree: &Value, kinds: &[&str]) -> usize {
    let mut found = 0;
    walk(tree, &mut |node| {
        found += usize::from(kinds.iter().any(|kind| node["type"] == *kind));
    });
    found
}
