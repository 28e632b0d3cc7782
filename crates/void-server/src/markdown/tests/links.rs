//! Where links may lead.

use serde_json::json;

use super::super::bounds::LINK_BYTES_MAX;
use super::super::links::is_harmless;
use super::{inlines, links, text, tree, words};

#[test]
fn links_that_are_harmless() {
    for to in [
        "https://example.org/a_(b)?c=d&e#f",
        "HTTP://example.org",
        "mailto:a@example.org",
        "#/inbox/7F3K",
    ] {
        let shown = json!([{"type": "link", "to": to, "inlines": [text("x")]}]);
        assert_eq!(inlines(&format!("[x]({to})")), shown);
    }
    let titled = r#"[a](<https://example.org/b> "title") [c](https://example.org/d 'e')"#;
    assert_eq!(
        links(&inlines(titled)),
        ["https://example.org/b", "https://example.org/d"]
    );
    assert_eq!(
        inlines("[**a** b](https://c.example)"),
        json!([{"type": "link", "to": "https://c.example", "inlines": [
            {"type": "strong", "inlines": [text("a")]},
            text(" b"),
        ]}])
    );
}

const BAD: &[&str] = &[
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    " javascript:alert(1)",
    "\u{1}javascript:alert(1)",
    "javascript&#58;alert(1)",
    "javascript&#x3A;alert(1)",
    "&#106;avascript:alert(1)",
    "javascript\\:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https:\\\\evil.example",
    "blob:https://a",
    "intent://a",
    "ftp://a",
    "#",
    "#javascript:x",
    "?x",
    "/api/freeze",
    "https://a\u{200b}b.example",
    "view-source:https://a",
    "https:example.org",
    "http:/example.org",
    "x:https://a",
];

#[test]
fn links_that_are_not_in_many_spellings() {
    for to in BAD {
        let mut sources = vec![format!("[x]({to})"), format!("[x](<{to}>)")];
        // An address of the web that stands in the text is a link by itself, whatever is before it.
        if !to.contains("https://") {
            let coded = to
                .replace(' ', "%20")
                .replace('\t', "%09")
                .replace('\n', "%0A");
            sources.extend([format!("<{to}>"), format!("[x]({coded})")]);
        }
        for source in sources {
            assert_eq!(links(&tree(&source)), [""; 0], "{source:?}");
        }
        assert!(!is_harmless(to), "{to}");
    }
    assert_eq!(
        links(&tree("[x](https://a.example/&#x202e;gpj.exe)")),
        [""; 0]
    );
}

#[test]
fn the_words_of_a_link_that_leads_nowhere_stay() {
    assert_eq!(
        words(&inlines("[press *here*](javascript:alert(1)) now")),
        "press here now"
    );
}

#[test]
fn no_link_within_a_link() {
    let nested = inlines("[a [b](https://b.example) c](mailto:c@example.org)");
    assert_eq!(links(&nested), ["https://b.example"]);
    assert_eq!(words(&nested), "[a b c](mailto:c@example.org)");
    assert_eq!(
        inlines("[see https://a.example now](https://b.example)"),
        json!([{"type": "link", "to": "https://b.example", "inlines": [text("see https://a.example now")]}])
    );
    for said in [
        "<https://a.example>",
        "https://a.example",
        "**https://a.example**",
    ] {
        let source = format!("[{said}](https://b.example)");
        assert_eq!(links(&inlines(&source)), ["https://b.example"], "{source}");
    }
}

#[test]
fn addresses_in_the_text() {
    let several = "see https://example.org/a, (https://example.org/b_(c)) and <a@example.org>.";
    assert_eq!(
        links(&inlines(several)),
        [
            "https://example.org/a",
            "https://example.org/b_(c)",
            "mailto:a@example.org"
        ]
    );
    assert_eq!(words(&inlines(several)), several.replace(['<', '>'], ""));
    let none = "xhttps://example.org `https://code.example` www.example.org http://";
    assert_eq!(links(&inlines(none)), [""; 0]);
    let last = "go to https://example.org.";
    assert_eq!(words(&inlines(last)), last);
    assert_eq!(links(&inlines(last)), ["https://example.org"]);
    // Letters that are written as entities are the same address.
    assert_eq!(
        links(&inlines("https://a.example/?b&amp;c")),
        ["https://a.example/?b&c"]
    );
}

#[test]
fn an_address_is_a_link_up_to_its_longest() {
    let start = "https://a.example/";
    let longest = format!("{start}{}", "a".repeat(LINK_BYTES_MAX - start.len()));
    for source in [
        longest.clone(),
        format!("<{longest}>"),
        format!("[x]({longest})"),
    ] {
        assert_eq!(links(&inlines(&source)), [longest.as_str()]);
    }
    let longer = format!("{longest}a");
    for source in [
        longer.clone(),
        format!("<{longer}>"),
        format!("[x]({longer})"),
    ] {
        assert_eq!(links(&inlines(&source)), [""; 0]);
    }
}

#[test]
fn images_are_words() {
    assert_eq!(
        inlines("![a *b*](https://track.example/x.png)"),
        json!([{"type": "image", "alt": "a b"}])
    );
    assert_eq!(
        links(&inlines("![a](https://track.example/x.png)")),
        [""; 0]
    );
    assert_eq!(
        inlines("[![a](https://i.example)](https://l.example)"),
        json!([{"type": "link", "to": "https://l.example", "inlines": [{"type": "image", "alt": "a"}]}])
    );
}
