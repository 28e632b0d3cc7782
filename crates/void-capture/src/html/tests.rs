//! Pages as they are, and pages as nobody should write them.

use super::*;

fn read(page: &str) -> Extracted {
    let hints = ExtractHints {
        url: Some("https://example.org/a/page.html".to_owned()),
        charset: None,
    };
    extract(page.as_bytes(), &hints).unwrap()
}

fn text(page: &str) -> String {
    read(page).text
}

#[test]
fn a_page_becomes_its_text() {
    let page = r#"<!doctype html><html lang="de-AT"><head><title> Backups
        at home </title><meta property="og:title" content="Other"></head><body>
        <h1>Backups</h1><p>First, <b>stop</b>   the <a href="../db">database</a>.<br>Then copy.
        <ul><li>one<li>two <ol><li>a</li><li>b</li></ol></ul>
        <blockquote><p>Said <code>rm -rf</code> nobody.</p><p>Ever.</blockquote>
        <pre class="language-sh">cp -r /a  /b
  # [[not]] a link</pre>
        <table><tr><th>Host<th>Size</tr><tr><td>nas|1<td>2 TB</table>
        <dl><dt>Term<dd>Meaning</dl><hr><p>End &amp; out &copy; &#x1F600;</body></html>"#;
    let read = read(page);
    assert_eq!(read.title.as_deref(), Some("Backups at home"));
    assert_eq!(read.language.as_deref(), Some("de-AT"));
    assert!(!read.cut);
    let expected = r"# Backups

First, stop the database (https://example.org/db).
Then copy.

- one
- two
  1. a
  2. b

> Said `rm -rf` nobody.
>
> Ever.

```sh
cp -r /a  /b
  # [[not]] a link
```

| Host | Size |
| --- | --- |
| nas\|1 | 2 TB |

Term
  Meaning

---

End & out © 😀";
    assert_eq!(read.text, expected);
}

#[test]
fn what_a_page_does_not_show_is_not_read() {
    for hidden in [
        "<script>evil()</script>",
        "<script><!-- <script> evil </script> --></script>",
        "<style>evil{}</style>",
        "<noscript>evil</noscript>",
        "<template>evil</template>",
        "<nav><ul><li>evil</ul></nav>",
        "<div hidden>evil</div>",
        "<div style='DISPLAY : none !important'>evil</div>",
        "<div style=\"color:red;visibility:hidden\">evil</div>",
        "<span style='font-size:0px'>evil</span>",
        "<span style='opacity:0.0'>evil</span>",
        "<div aria-hidden=TRUE>evil</div>",
        "<div class='a sr-only'>evil</div>",
        "<div role=dialog>evil</div>",
        "<svg><title>evil</title><text>evil</text></svg>",
        "<svg/><iframe>evil</iframe>",
        "<textarea>evil</textarea>",
        "<select><option>evil<option>evil</select>",
        "<button>evil</button>",
        "<!-- evil -->",
        "<div hidden><p>evil<div>evil</div></div>",
        "<input value=evil>",
        "<img alt='' title=evil src=evil>",
        "<a href='evil'></a>",
    ] {
        let page = format!("<body><p>before</p>{hidden}<p>after</p></body>");
        assert_eq!(text(&page), "before\n\nafter", "{hidden}");
    }
}

#[test]
fn nothing_of_a_page_is_a_link_or_html() {
    for (page, expected) in [
        (
            "<a href='https://x.example/y'>go</a>",
            "go (https://x.example/y)",
        ),
        ("<a href='javascript:evil()'>go</a>", "go"),
        ("<a href='data:text/html,x'>go</a>", "go"),
        ("<a href='file:///etc/passwd'>go</a>", "go"),
        ("<a href='#top'>go</a>", "go"),
        (
            "<a href='mailto:a@b.example'>write</a>",
            "write (mailto:a@b.example)",
        ),
        (
            "<a href='https://x.example/'>https://x.example/</a>",
            "https://x.example/",
        ),
        (
            "<a href='https://x.example/[[a]]`'>go</a>",
            "go (https://x.example/%5B%5Ba%5D%5D%60)",
        ),
        (
            "<p>[go](https://x.example)</p>",
            r"[go]\(https://x.example)",
        ),
        ("<p>[<b>go</b>](<i>https://x</i>)</p>", r"[go]\(https://x)"),
        ("<p>[<span></span>[Home]]</p>", r"[\[Home]]"),
        ("<p>![x](https://x)</p>", r"![x]\(https://x)"),
        (
            "<p>&lt;script&gt;evil&lt;/script&gt;</p>",
            r"\<script>evil\</script>",
        ),
        ("<p># not a heading</p>", r"\# not a heading"),
        (
            "<p>- no item<br>1. no item<br>| no table<br>---",
            "\\- no item\n1\\. no item\n\\| no table\n\\---",
        ),
        ("<p>```<p>text", "\\```\n\ntext"),
        ("<pre>```\nx</pre>y", "````\n```\nx\n````\n\ny"),
        ("<code>a`b</code>", "``a`b``"),
        ("<code>`</code>", "`` ` ``"),
        ("<p>a\u{202e}b\u{200b}c\u{e0041}</p>", "abc"),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn broken_pages_are_read_as_far_as_they_go() {
    for (page, expected) in [
        ("", ""),
        ("plain words", "plain words"),
        ("<p>one<p>two<div>three", "one\n\ntwo\n\nthree"),
        ("</p></div></table>words", "words"),
        ("<b><p>one</b>two</p>three", "onetwo\n\nthree"),
        ("<td>cell</td><tr><li>item", "cell\n- item"),
        ("<table><td>a<td>b<tr><td>c</table>", "a\nb\n| c |\n| --- |"),
        ("<p>one</i></b>two<", "onetwo<"),
        ("<p>one<p two", "one"),
        (
            "<a href=x>one<a href=y>two",
            "one (https://example.org/a/x)two (https://example.org/a/y)",
        ),
        (
            "<p>&bogus; &#0; &#x110000; &#xD800; &lt",
            "&bogus; \u{fffd} \u{fffd} \u{fffd} <",
        ),
        ("<ul>loose<li></ul>", "loose"),
        ("<h1></h1><h2>two</h2>", "## two"),
        ("<title>a<b>c</title>d", "d"),
        ("<nav>menu", ""),
        ("<div><nav>menu</div>words", "words"),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn the_article_is_chosen_where_it_is_the_page() {
    let prose = "<p>Some words that are said at length, as articles do it. </p>".repeat(20);
    let beside = "<div class=sidebar><p>Buy this now!</p></div>";
    for page in [
        format!(
            "<header>Menu</header><main><article>{prose}</article></main>{beside}<footer>Imprint</footer>"
        ),
        format!("{beside}<div id=content class='post-body text'>{prose}</div>"),
        format!("{beside}<div><div>{prose}</div></div>"),
        format!("<table><tr><td>{beside}<td>{prose}</table>"),
    ] {
        let text = text(&page);
        assert_eq!(text.matches("at length").count(), 20, "{page}");
        assert!(!text.contains("Buy"), "{text}");
        assert!(
            !text.contains("Imprint") && !text.contains("Menu"),
            "{text}"
        );
    }
    // Two halves: neither is the page.
    let halves = format!("<article>{prose}</article><div><div>{prose}</div></div><p>Between</p>");
    assert!(text(&halves).contains("at length"));
    let teasers = format!("<article>A</article><article>B</article><section>{prose}</section>");
    assert!(text(&teasers).contains("at length"));
    // Only margins: then they are what it says.
    assert_eq!(
        text("<header>Closed on Mondays</header>"),
        "Closed on Mondays"
    );
}

#[test]
fn a_title_comes_from_where_there_is_one() {
    let title = |page: &str| read(page).title;
    assert_eq!(
        title("<title>  </title><meta property='og:title' content='Shared'>"),
        Some("Shared".to_owned())
    );
    assert_eq!(
        title("<h2>Of the <i>page</i></h2><h1>Later</h1>"),
        Some("Of the page".to_owned())
    );
    assert_eq!(title("<p>none"), None);
    assert_eq!(title("<svg><title>drawn</title></svg><p>x"), None);
    let long = format!("<title>{}</title>", "x".repeat(10_000));
    assert_eq!(title(&long).unwrap().len(), crate::limits::TITLE_CHARS_MAX);
    assert_eq!(
        title("<title>a\u{202e}b\n&lt;c</title>"),
        Some("ab <c".to_owned())
    );
}

#[test]
fn a_language_is_a_tag_or_nothing() {
    let of = |lang: &str| read(&format!("<html lang='{lang}'>x")).language;
    assert_eq!(of("en"), Some("en".to_owned()));
    assert_eq!(of("zh-Hant-TW"), Some("zh-Hant-TW".to_owned()));
    for bad in [
        "",
        "e",
        "english",
        "en_US",
        "en-",
        "en-toolongpart",
        "12",
        "de <b>",
    ] {
        assert_eq!(of(bad), None, "{bad}");
    }
}

#[test]
fn links_begin_where_the_page_says_but_stay_on_the_web() {
    let page = |base: &str| text(&format!("<base href='{base}'><a href='x'>go</a>"));
    assert_eq!(
        page("https://cdn.example/z/"),
        "go (https://cdn.example/z/x)"
    );
    assert_eq!(page("/other/"), "go (https://example.org/other/x)");
    assert_eq!(page("javascript:evil()//"), "go (https://example.org/a/x)");
    let without = extract(b"<a href='/x'>go</a>", &ExtractHints::default()).unwrap();
    assert_eq!(without.text, "go");
}

#[test]
fn bounds_hold_at_the_limit_and_say_so() {
    use crate::limits::{HTML_DEPTH_MAX, INDENTS_MAX, LINKS_MAX, TEXT_BYTES_MAX};
    let nested = |depth: usize| format!("{}deep", "<div>".repeat(depth));
    assert_eq!(text(&nested(HTML_DEPTH_MAX)), "deep");
    let deeper = read(&format!("above{}", nested(HTML_DEPTH_MAX + 1)));
    assert_eq!((deeper.text.as_str(), deeper.cut), ("above", true));
    let closed = format!(
        "{}{}after",
        nested(HTML_DEPTH_MAX + 9),
        "</div>".repeat(HTML_DEPTH_MAX + 9)
    );
    assert!(text(&closed).contains("after"));
    let long = read(&"<p>words and words</p>".repeat(100_000));
    assert!(long.cut && long.text.len() <= TEXT_BYTES_MAX);
    let endless = read(&"word".repeat(TEXT_BYTES_MAX));
    assert_eq!(
        (endless.cut, endless.text.len() <= TEXT_BYTES_MAX),
        (true, true),
        "{}",
        endless.text.len()
    );
    let code = read(&format!("<pre>{}</pre>", "code\n".repeat(TEXT_BYTES_MAX)));
    assert!(code.cut && code.text.len() <= TEXT_BYTES_MAX && code.text.ends_with("```"));
    assert!(code.text.len() > TEXT_BYTES_MAX / 2);
    let ticks = text(&format!("<pre>{}</pre>", "`".repeat(TEXT_BYTES_MAX / 2)));
    assert!(ticks.starts_with("```\n''") && ticks.ends_with("''\n```"));
    let quotes = text(&format!("{}said", "<blockquote>".repeat(100)));
    assert_eq!(quotes, format!("{}said", "> ".repeat(INDENTS_MAX)));
    let links = text(&"<a href=x>a</a> ".repeat(LINKS_MAX + 10));
    assert_eq!(links.matches("(https://").count(), LINKS_MAX);
}
