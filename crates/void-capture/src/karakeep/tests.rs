//! Exports of today and of yesterday, and what is none.

use super::*;

#[test]
fn an_export_is_read_with_what_is_known_and_without_the_rest() {
    let export = r#"{"bookmarks":[
        {"createdAt":1718000000,"title":" A\u202e page ","tags":["home lab",""," x "],"lists":["l"],
         "content":{"type":"link","url":"https://example.org/a","favicon":"f"},"note":null,"archived":true},
        {"createdAt":1718000000.5,"title":null,"tags":[],"content":{"type":"text","text":"a\r\nb\u0000"},"note":"n"},
        {"createdAt":1718000000,"title":"photo","tags":[],"content":{"type":"asset","assetId":"x"},"note":null},
        {"createdAt":-1,"title":"x","tags":[],"content":null,"note":"only a note"},
        {"createdAt":1e300,"title":null,"tags":[],"content":{"type":"link","url":"javascript:evil()"},"note":null}
    ],"lists":[]}"#;
    let read = read(export.as_bytes()).unwrap();
    assert_eq!(
        (read.bookmarks.len(), read.left_out, read.cut),
        (3, 2, false)
    );
    let [link, text, note] = read.bookmarks.as_slice() else {
        panic!("{read:?}");
    };
    assert_eq!(link.url.as_deref(), Some("https://example.org/a"));
    assert_eq!(link.title.as_deref(), Some("A page"));
    assert_eq!(link.tags, ["home lab", "x"]);
    assert_eq!(link.created_at_ms, Some(1_718_000_000_000));
    assert!(link.archived);
    assert_eq!(text.text.as_deref(), Some("a\nb"));
    assert_eq!(text.note.as_deref(), Some("n"));
    assert_eq!(text.created_at_ms, Some(1_718_000_000_500));
    assert_eq!(
        (note.note.as_deref(), note.created_at_ms),
        (Some("only a note"), None)
    );
}

#[test]
fn what_is_no_export_is_refused() {
    for bytes in [
        "",
        "{}",
        "[]",
        "null",
        "{\"bookmarks\":{}}",
        "{\"bookmarks\":[{\"title\":7}]}",
        "{\"bookmarks\":[",
        "<!doctype html>",
        "\u{0}",
    ] {
        let refused = read(bytes.as_bytes());
        assert_eq!(
            refused,
            Err(Unreadable::NoExport(ExportFault::Json)),
            "{bytes}"
        );
    }
    let deep = format!("{{\"bookmarks\":{}", "[".repeat(1_000_000));
    assert_eq!(
        read(deep.as_bytes()),
        Err(Unreadable::NoExport(ExportFault::Json))
    );
}

#[test]
fn an_export_is_taken_whole_or_not_at_all() {
    let bookmark = r#"{"content":{"type":"text","text":"t"}}"#;
    let export = |count: usize| {
        let all = vec![bookmark; count].join(",");
        read(format!("{{\"bookmarks\":[{all}]}}").as_bytes())
    };
    assert_eq!(
        export(BOOKMARKS_MAX).unwrap().bookmarks.len(),
        BOOKMARKS_MAX
    );
    let refused = Err(Unreadable::NoExport(ExportFault::TooMuch));
    assert_eq!(export(BOOKMARKS_MAX + 1), refused);
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    let one = format!("{{\"bookmarks\":[{{\"note\":\"{long}\"}}]}}");
    let cut = read(one.as_bytes()).unwrap();
    assert!(cut.cut);
    assert_eq!(
        cut.bookmarks[0].note.as_ref().unwrap().len(),
        TEXT_BYTES_MAX
    );
    let many =
        vec![format!("{{\"note\":\"{long}\"}}"); BOOKMARKS_TEXT_BYTES_MAX / TEXT_BYTES_MAX + 1];
    let many = format!("{{\"bookmarks\":[{}]}}", many.join(","));
    assert_eq!(read(many.as_bytes()), refused);
    let tags = vec!["\"tag\""; TAGS_MAX + 5].join(",");
    let tagged = format!("{{\"bookmarks\":[{{\"note\":\"n\",\"tags\":[{tags}]}}]}}");
    assert_eq!(
        read(tagged.as_bytes()).unwrap().bookmarks[0].tags.len(),
        TAGS_MAX
    );
}
