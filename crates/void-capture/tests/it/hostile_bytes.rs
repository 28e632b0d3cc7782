//! Bytes that were made to break a reader. Each is read by a real child within its limits of memory and time,
//! and ends in text or in a reason. A child that dies, or answers nonsense, fails the test.

use void_capture::limits::TEXT_BYTES_MAX;
use void_capture::{ExtractError, ExtractHints, ExtractKind, Extracted, Unreadable};

use crate::reading::extractor;

const MILLION: usize = 1_000_000;
/// Nearly what a capture may have.
const LARGE: usize = 8 * 1024 * 1024;
/// Nearly what an attachment may have.
const LARGEST: usize = 19 * 1024 * 1024;

/// Numbers that look random and are the same every time.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..bytes).map(|_| next()).collect()
}

fn repeat(piece: &str, count: usize) -> Vec<u8> {
    piece.repeat(count).into_bytes()
}

fn around(begin: &str, middle: &str, count: usize, end: &str) -> Vec<u8> {
    format!("{begin}{}{end}", middle.repeat(count)).into_bytes()
}

type Page = (&'static str, Vec<u8>);

fn pages() -> Vec<Page> {
    [nested_pages(), long_pages(), strange_pages()].concat()
}

fn nested_pages() -> Vec<Page> {
    let names: String = (0..MILLION / 10).map(|at| format!("<x{at}>")).collect();
    let closed = [repeat("<div>", MILLION), repeat("</div>", MILLION)].concat();
    let misnested = "<b><p><i><div></b></p></i><table><a><td></a>";
    vec![
        ("a million open elements", repeat("<div>", MILLION)),
        ("a million open and closed", closed),
        ("a million quotes", repeat("<blockquote>x", MILLION)),
        ("a million lists", repeat("<ul><li>", MILLION)),
        ("a million tables", repeat("<table><tr><td>", MILLION)),
        ("a million links", repeat("<a href=x>y", MILLION)),
        ("a million codes", repeat("<pre><code>`", MILLION)),
        ("a million ends", repeat("</p></div></td></table>", MILLION)),
        ("misnested", repeat(misnested, MILLION / 20)),
        ("many names", names.into_bytes()),
    ]
}

fn long_pages() -> Vec<Page> {
    let attributes: String = (0..MILLION / 2).map(|at| format!(" a{at}=b")).collect();
    let words = "'>words";
    vec![
        (
            "one long attribute",
            around("<p title='", "a", LARGEST, words),
        ),
        (
            "one long style",
            around("<p style='", "a:b;", MILLION, words),
        ),
        (
            "one long class",
            around("<p class='", "menu ", MILLION, words),
        ),
        ("one long address", around("<a href='/", "a", LARGE, words)),
        ("one long name", around("<", "a", LARGE, ">words")),
        ("one long comment", around("<!--", "-", LARGE, "words")),
        ("one long script", around("<script>", "<", LARGE, "words")),
        ("one long title", around("<title>", "a", LARGE, "</title>x")),
        (
            "one long doctype",
            around("<!doctype ", "a", LARGE, ">words"),
        ),
        ("one long word", repeat("a", LARGE)),
        ("one long code", around("<pre>", "`", LARGE, "</pre>")),
        ("one long tag", around("<p ", "a ", LARGE / 2, "")),
        ("one long entity", around("&", "a", LARGE, ";words")),
        (
            "half a million attributes",
            around("<p", &attributes, 1, ">x"),
        ),
    ]
}

fn strange_pages() -> Vec<Page> {
    let entities = "&amp;&#x41;&notin;&bogus;&#999999999999;";
    let mut mixed = noise(MILLION);
    for at in (0..mixed.len()).step_by(7) {
        mixed[at] = b'<';
    }
    vec![
        ("entities", repeat(entities, MILLION / 4)),
        ("nothing but open brackets", repeat("<", LARGE)),
        ("nothing but ampersands", repeat("&", LARGE)),
        ("nothing but zero bytes", vec![0; LARGE]),
        ("nothing but broken UTF-8", vec![0xff; LARGE]),
        (
            "half of UTF-16",
            [vec![0xff, 0xfe], vec![0xd8; LARGE]].concat(),
        ),
        ("white space", repeat(" \n\t\u{a0}", LARGE / 5)),
        ("what cannot be seen", repeat("\u{200b}\u{202e}", LARGE / 6)),
        ("noise", noise(LARGE / 4)),
        ("noise with brackets", mixed),
    ]
}

#[tokio::test]
async fn hostile_pages_end_in_text_or_in_a_reason() {
    let extractor = extractor();
    let hints = ExtractHints {
        url: Some("https://example.org/".to_owned()),
        charset: None,
    };
    let pages = pages();
    assert!(pages.len() >= 34, "{}", pages.len());
    for (name, page) in &pages {
        let read = extractor.document(ExtractKind::Html, &hints, page).await;
        assert_bounded(name, read);
    }
    for (name, page) in pages.iter().filter(|(name, _)| is_of_any_text(name)) {
        let read = extractor.document(ExtractKind::Text, &hints, page).await;
        assert_bounded(name, read);
    }
}

fn assert_bounded(name: &str, read: Result<Extracted, ExtractError>) {
    match read {
        Ok(read) => assert!(read.text.len() <= TEXT_BYTES_MAX, "{name}"),
        Err(ExtractError::Unreadable(_)) => {}
        Err(other) => panic!("{name}: {other:?}"),
    }
}

/// What is as strange without any tags.
fn is_of_any_text(name: &str) -> bool {
    let words = [
        "word",
        "nothing but",
        "half of",
        "white space",
        "seen",
        "noise",
    ];
    words.iter().any(|word| name.contains(word))
}

#[tokio::test]
async fn what_is_beyond_the_bound_is_not_even_handed_over() {
    let page = [
        b"<p title='".to_vec(),
        vec![b'a'; 100 * MILLION],
        b"'>words".to_vec(),
    ]
    .concat();
    let refused = extractor()
        .document(ExtractKind::Html, &ExtractHints::default(), &page)
        .await;
    assert!(
        matches!(refused, Err(ExtractError::Unreadable(Unreadable::TooLarge))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn hostile_exports_end_in_bookmarks_or_in_a_reason() {
    let extractor = extractor();
    let deep = format!("{{\"bookmarks\":{}", "[".repeat(MILLION));
    let ignored = format!(
        "{{\"x\":{}{},\"bookmarks\":[]}}",
        "[".repeat(MILLION),
        "]".repeat(MILLION)
    );
    let long = format!(
        "{{\"bookmarks\":[{{\"note\":\"{}\"}}]}}",
        "\\u0000".repeat(MILLION)
    );
    let many = format!("{{\"bookmarks\":[{}{{}}]}}", "{},".repeat(MILLION));
    let numbers = format!(
        "{{\"bookmarks\":[{{\"createdAt\":{}}}]}}",
        "9".repeat(MILLION)
    );
    for (name, export) in [
        ("deep", deep.into_bytes()),
        ("deep and ignored", ignored.into_bytes()),
        ("long", long.into_bytes()),
        ("many", many.into_bytes()),
        ("numbers", numbers.into_bytes()),
        ("noise", noise(MILLION)),
        (
            "an archive of noise",
            [b"PK\x03\x04".to_vec(), noise(MILLION)].concat(),
        ),
        (
            "many ends of archives",
            b"PK\x03\x04PK\x05\x06".repeat(MILLION),
        ),
    ] {
        match extractor.karakeep(&export).await {
            Ok(_) | Err(ExtractError::Unreadable(_)) => {}
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
}
