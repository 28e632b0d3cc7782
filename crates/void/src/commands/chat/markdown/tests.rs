use super::*;

fn drawn(text: &str) -> Vec<Run> {
    let mut drawing = Drawing::new();
    let mut runs = drawing.push(text);
    runs.extend(drawing.end());
    joined(runs)
}

/// However the pieces fell, neighbours that look alike are one run.
fn joined(runs: Vec<Run>) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for (style, text) in runs {
        match all.last_mut() {
            Some((last, words)) if *last == style => words.push_str(&text),
            _ => all.push((style, text)),
        }
    }
    all
}

fn words(text: &str) -> String {
    drawn(text).into_iter().map(|(_, text)| text).collect()
}

fn styled(text: &str) -> Vec<(Style, String)> {
    let runs = drawn(text).into_iter();
    runs.filter(|(style, _)| *style != Style::Plain).collect()
}

#[test]
fn marks_become_looks() {
    let one = |style, text: &str| vec![(style, text.to_owned())];
    assert_eq!(styled("It is **down** now"), one(Style::Bold, "down"));
    assert_eq!(styled("*maybe* so"), one(Style::Italic, "maybe"));
    assert_eq!(styled("run `void thaw`."), one(Style::Code, "void thaw"));
    assert_eq!(
        styled("## What is wrong\nx"),
        one(Style::Heading, "What is wrong")
    );
    assert_eq!(words("**a** and **b c**"), "a and b c");
    assert_eq!(
        words("- one\n* two\n  + three\n1. four"),
        "• one\n• two\n  • three\n1. four"
    );
    assert_eq!(words("- **caddy**: up"), "• caddy: up");
    assert_eq!(
        drawn("so:\n```sh\nls *.rs **\n# no heading\n```\ndone"),
        [
            (Style::Plain, "so:\n  ".to_owned()),
            (Style::Block, "ls *.rs **".to_owned()),
            (Style::Plain, "\n  ".to_owned()),
            (Style::Block, "# no heading".to_owned()),
            (Style::Plain, "\ndone".to_owned()),
        ]
    );
}

#[test]
fn what_is_no_mark_stays_as_it_was_written() {
    for text in [
        "2*3*4 = 24",
        "ls *.rs *.toml",
        "**never closed",
        "a `tick",
        "a * b * c",
        "** spaced **",
        "snake_case_name and __init__",
        "#hashtag",
        "-5 degrees",
        "*",
        "**",
        "``",
        "#",
        "-",
        "x\n\n\ny",
        "over **two\nlines** here",
    ] {
        assert_eq!(words(text), text);
        assert_eq!(styled(text), [], "{text}");
    }
    // A glob before a bold word takes nothing from it.
    assert_eq!(words("*.json and **bold**"), "*.json and bold");
    assert_eq!(
        styled("*.json and **bold**"),
        [(Style::Bold, "bold".to_owned())]
    );
}

#[test]
fn it_does_not_matter_where_the_stream_is_cut() {
    let text = "# Title\n\n- **a** `b` *c*\n```\nx * y\n```\n*.rs **open\nend `t` 1*2";
    let whole = drawn(text);
    for size in 1..text.len() {
        let mut drawing = Drawing::new();
        let letters: Vec<char> = text.chars().collect();
        let mut runs = Vec::new();
        for piece in letters.chunks(size) {
            runs.extend(drawing.push(&piece.iter().collect::<String>()));
        }
        runs.extend(drawing.end());
        assert_eq!(joined(runs), whole, "pieces of {size}");
    }
}

#[test]
fn what_is_held_back_is_bounded() {
    let mut drawing = Drawing::new();
    let mut shown = 0;
    for _ in 0..50 {
        let runs = drawing.push(&format!("**{}", "x".repeat(100)));
        shown += runs.iter().map(|(_, text)| text.len()).sum::<usize>();
        assert!(drawing.held.len() <= HELD_CHARS_MAX);
    }
    assert!(shown > 50 * 100 - 2 * HELD_CHARS_MAX);
}
