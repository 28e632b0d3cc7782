use super::super::read;
use super::*;

const SOURCE: &str = "Look:\n- one\n- two **bold**\n  1. three\n\ntext\n---\nmore\n***\nand *this*\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\nend | x\n\n```sh\nls -l\n\n# x\n```\n> quote\nlazy\n\n1. a\n\n   b\n2. c\n\n\
    last `code` [l](https://e.example)\nx | y\n--|--x\n-";

/// A page that draws what it is told.
#[derive(Default)]
struct Page {
    blocks: Vec<Block>,
    finished: usize,
}

impl Page {
    fn apply(&mut self, change: Option<Change>) {
        let Some(change) = change else { return };
        assert!(change.from >= self.finished, "what is finished stays");
        assert!(change.finished >= self.finished);
        self.finished = change.finished;
        self.blocks.truncate(change.from);
        self.blocks.extend(change.blocks);
        if !change.more.is_empty() {
            let last = self.blocks.last_mut().and_then(last_text);
            last.expect("a text to add to").push_str(&change.more);
        }
    }
}

fn last_text(block: &mut Block) -> Option<&mut String> {
    fn of_inlines(inlines: &mut [Inline]) -> Option<&mut String> {
        match inlines.last_mut()? {
            Inline::Text { text } | Inline::Code { text } => Some(text),
            Inline::Strong { inlines }
            | Inline::Emphasis { inlines }
            | Inline::Strikethrough { inlines } => of_inlines(inlines),
            Inline::Break | Inline::Image { .. } | Inline::Link { .. } => None,
        }
    }
    match block {
        Block::Paragraph { inlines } | Block::Heading { inlines, .. } => of_inlines(inlines),
        Block::Code { text, .. } => Some(text),
        Block::Quote { blocks } => last_text(blocks.last_mut()?),
        Block::List { items, .. } => last_text(items.last_mut()?.last_mut()?),
        Block::Table { .. } | Block::Rule => None,
    }
}

/// What a page shows in the end of a text that comes in pieces of so many letters.
fn grown(source: &str, letters: usize) -> Page {
    let mut growing = GrowingText::default();
    let mut page = Page::default();
    let all: Vec<char> = source.chars().collect();
    for piece in all.chunks(letters) {
        growing.push(&piece.iter().collect::<String>());
        page.apply(growing.change());
    }
    page.apply(growing.end());
    assert_eq!(page.finished, page.blocks.len());
    page
}

#[test]
fn a_text_that_grows_letter_by_letter_ends_as_the_whole_text_does() {
    for letters in [1, 2, 3, 7, 50] {
        assert_eq!(grown(SOURCE, letters).blocks, read(SOURCE), "{letters}");
    }
}

/// Lines that mean different things after each other, in every order that a small generator finds.
#[test]
fn lines_in_any_order_end_as_the_whole_text_does() {
    const LINES: &[&str] = &[
        "text",
        "",
        "",
        "- a",
        "  - b",
        "1. c",
        "2) d",
        "> e",
        "> - f",
        "    code",
        "\tcode",
        "```",
        "~~~sh",
        "---",
        "===",
        "***",
        "# g",
        "|a|b|",
        "|-|-|",
        "a | b",
        "-|-",
        "**bold",
        "`open",
        "[x]: https://a.example",
        "[x]",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "<https://a.example>",
        "https://b.example/",
        "  ",
        "*",
        "-",
        "+ h",
        "a\\",
        "b  ",
        "\r",
        "]:",
        "&#x202e;",
        "\u{1f469}\u{200d}\u{1f680}",
        "![i](https://c.example)",
        "[l](https://d.example)",
        "10. j",
        "   k",
        "      l",
    ];
    let mut state = 7_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap()
    };
    for _ in 0..600 {
        let count = 2 + random() % 9;
        let lines: Vec<&str> = (0..count).map(|_| LINES[random() % LINES.len()]).collect();
        let source = lines.join("\n");
        let letters = 1 + random() % 4;
        assert_eq!(grown(&source, letters).blocks, read(&source), "{source:?}");
    }
}

#[test]
fn only_the_tail_is_read_again() {
    let part =
        "A paragraph of *some* words, and then a list:\n\n- one\n- two\n\n```sh\nls -l\n```\n\n";
    let source = part.repeat(60 * 1024 / part.len());
    let mut growing = GrowingText::default();
    let mut told = 0;
    let mut longest = 0;
    let all: Vec<char> = source.chars().collect();
    for piece in all.chunks(5) {
        growing.push(&piece.iter().collect::<String>());
        longest = longest.max(growing.tail.len());
        if let Some(change) = growing.change() {
            told += serde_json::to_string(&change).unwrap().len();
        }
    }
    // What is parsed each time, whatever came before: a block, and the one before it.
    assert!(longest < part.len(), "{longest}");
    assert!(told < 32 * source.len(), "{told} for {}", source.len());
}

#[test]
fn words_and_code_that_go_on_are_told_by_what_is_new() {
    for begin in [
        "so ",
        "```sh\nls ",
        "> - so ",
        "# so ",
        "1. so ",
        "**so ",
        "- `so ",
    ] {
        let mut growing = GrowingText::default();
        growing.push(begin);
        growing.push("a");
        growing.change().unwrap();
        growing.push("b c");
        let change = growing.change().unwrap();
        assert_eq!(
            (change.blocks, change.more.as_str()),
            (vec![], "b c"),
            "{begin}"
        );
        assert_eq!(change.from, 1);
        let is_open = begin.contains(['*', '`']) && !begin.contains("```");
        growing.push("\n");
        let shown = growing.change();
        assert_eq!(
            shown.is_some(),
            is_open,
            "a line break is not seen: {begin}"
        );
    }
}

#[test]
fn half_a_mark_is_not_seen() {
    for (source, shown) in [
        ("a **b", "a **b**"),
        ("a **", "a"),
        ("a `b", "a `b`"),
        ("a `", "a"),
        ("a *b", "a *b*"),
        ("see [here](https://exam", "see [here]"),
        ("2 * 3", "2 * 3"),
        ("```\na **b", "```\na **b"),
        ("- x\n\n  ```\n  a `b", "- x\n\n  ```\n  a `b"),
    ] {
        let mut growing = GrowingText::default();
        growing.push(source);
        let change = growing.change().unwrap();
        assert_eq!(change.blocks, read(shown), "{source}");
        // What is over is as it was written.
        assert_eq!(grown(source, 1).blocks, read(source), "{source}");
    }
}

#[test]
fn a_text_beyond_the_bounds_still_grows() {
    let source = "*a*\n\n".repeat(super::super::bounds::BLOCKS_MAX) + "the end";
    let mut growing = GrowingText::default();
    let mut page = Page::default();
    for piece in source.as_bytes().chunks(4096) {
        growing.push(std::str::from_utf8(piece).unwrap());
        page.apply(growing.change());
    }
    page.apply(growing.end());
    assert_eq!(page.blocks, read(&source));
}
