//! Markdown as models write it every day.

use serde_json::{Value, json};

use super::{inlines, text, tree, words};

#[test]
fn everyday_markdown_looks_as_meant() {
    for (source, shown) in [
        (
            "**caddy** is *down*",
            json!([
                {"type": "strong", "inlines": [text("caddy")]},
                text(" is "),
                {"type": "emphasis", "inlines": [text("down")]},
            ]),
        ),
        (
            "`restart-caddy`",
            json!([{"type": "code", "text": "restart-caddy"}]),
        ),
        (
            "[docs](https://a.example/?a=1&b=2)",
            json!([{"type": "link", "to": "https://a.example/?a=1&b=2", "inlines": [text("docs")]}]),
        ),
        (
            "<https://a.example>",
            json!([{"type": "link", "to": "https://a.example", "inlines": [text("https://a.example")]}]),
        ),
        (
            "<me@a.example>",
            json!([{"type": "link", "to": "mailto:me@a.example", "inlines": [text("me@a.example")]}]),
        ),
    ] {
        assert_eq!(inlines(source), shown, "{source}");
    }
    let item = |words: &str| json!([{"type": "paragraph", "inlines": [text(words)]}]);
    assert_eq!(
        tree("- a\n- b"),
        json!([{"type": "list", "start": null, "tight": true, "items": [item("a"), item("b")]}])
    );
    assert_eq!(
        tree("```sh\nvoid run x\n```"),
        json!([{"type": "code", "language": "sh", "text": "void run x"}])
    );
}

#[test]
fn paragraphs_headings_and_rules() {
    assert_eq!(
        tree("# One #\n\ntwo\nthree\n\n---\n\n####### seven"),
        json!([
            {"type": "heading", "level": 1, "inlines": [text("One")]},
            {"type": "paragraph", "inlines": [text("two\nthree")]},
            {"type": "rule"},
            {"type": "paragraph", "inlines": [text("####### seven")]},
        ])
    );
}

#[test]
fn bold_italic_struck_and_code_within_each_other() {
    assert_eq!(
        inlines("***a** b* ~~c~~ `*d*` 2 * 3 * 4 snake_case_name"),
        json!([
            {"type": "emphasis", "inlines": [{"type": "strong", "inlines": [text("a")]}, text(" b")]},
            text(" "),
            {"type": "strikethrough", "inlines": [text("c")]},
            text(" "),
            {"type": "code", "text": "*d*"},
            text(" 2 * 3 * 4 snake_case_name"),
        ])
    );
    for (source, shown) in [
        ("**not closed", json!([text("**not closed")])),
        (
            "``a ` b`` and `open",
            json!([{"type": "code", "text": "a ` b"}, text(" and `open")]),
        ),
        (
            "\\*plain\\* a\\\nb",
            json!([text("*plain* a"), {"type": "break"}, text("b")]),
        ),
        ("a  \nb", json!([text("a"), {"type": "break"}, text("b")])),
        // A single tilde is itself.
        ("3~4 and 5~6", json!([text("3~4 and 5~6")])),
    ] {
        assert_eq!(inlines(source), shown, "{source}");
    }
}

#[test]
fn nested_lists() {
    let tree = tree("- a\n  - b\n    1. c\n    2. d\n  - e\n- f");
    let list = &tree[0];
    assert_eq!(
        (&list["type"], &list["tight"]),
        (&json!("list"), &json!(true))
    );
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    let inner = &list["items"][0][1];
    assert_eq!(inner["items"].as_array().unwrap().len(), 2);
    let numbered = &inner["items"][0][1];
    assert_eq!(numbered["start"], 1);
    let items = numbered["items"].as_array().unwrap().iter();
    assert_eq!(items.map(words).collect::<Vec<_>>(), ["c", "d"]);
}

#[test]
fn lists_begin_where_they_say_part_by_blank_lines_and_hold_code() {
    let tree = tree("3. a\n\n   ```sh\n   ls\n\n   - not a list\n   ```\n4. b");
    let list = &tree[0];
    assert_eq!((&list["start"], &list["tight"]), (&json!(3), &json!(false)));
    assert_eq!(
        list["items"][0][1],
        json!({"type": "code", "language": "sh", "text": "ls\n\n- not a list"})
    );
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
}

#[test]
fn what_only_looks_like_a_list() {
    for source in ["It was\n1986. A good year", "-no\n*no*"] {
        inlines(source);
    }
}

#[test]
fn a_fence_that_is_not_closed_yet_is_code_to_the_end() {
    assert_eq!(
        tree("```js\nlet a = 1;\n\n# no heading\n- no list"),
        json!([{"type": "code", "language": "js", "text": "let a = 1;\n\n# no heading\n- no list"}])
    );
    assert_eq!(tree("````\n```\n````")[0]["text"], "```");
    assert_eq!(tree("~~~\na\n~~~\nb").as_array().unwrap().len(), 2);
}

#[test]
fn quotes_with_and_without_a_mark_on_each_line() {
    let tree = tree("> a\nb\n> - c\n\nd");
    let quoted = tree[0]["blocks"].as_array().unwrap();
    assert_eq!(quoted.len(), 2);
    assert_eq!(words(&quoted[0]), "a\nb");
    assert_eq!(tree[1]["type"], "paragraph");
}

#[test]
fn tables() {
    let tree = tree("Here:\n| a | b \\| c |\n|---|:-:|\n| 1 | **2** | 3 |\n| 4 |\n\nend");
    assert_eq!(tree[0]["type"], "paragraph");
    let cells = |row: &Value| -> Vec<String> {
        let cells = row.as_array().unwrap().iter();
        cells.map(words).collect()
    };
    assert_eq!(cells(&tree[1]["head"]), ["a", "b | c"]);
    let rows = tree[1]["rows"].as_array().unwrap().iter();
    assert_eq!(rows.map(cells).collect::<Vec<_>>(), [["1", "2"], ["4", ""]]);
}
