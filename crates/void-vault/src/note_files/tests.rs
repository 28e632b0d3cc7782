//! Whatever bytes a file has: taken apart and put together they are the same, or the file is no note.

use super::*;

const FILES: &[&[u8]] = &[
    b"",
    b"\n",
    b"no newline at the end",
    b"one\ntwo\n",
    b"one\r\ntwo\r\n",
    b"one\r\ntwo",
    b"mixed\r\nand\n",
    b"old mac\rlines\r",
    b"\r\n\r\r\n",
    b"\n\r\n\r",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf\xef\xbb\xbftwo marks",
    b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nbody\r\n",
    b"---\ntitle: A\n---",
    b"---\ntitle: A\n---\n",
    b"---\n---\n",
    b"---\r\ntitle: A\n---\r\nmixed",
    b"---\ntitle: [unclosed\n---\nbody",
    b"---\nnever closed\n",
    b"--- \ntitle: A\n--- \nblanks after the marks\n",
    b"---\ntitle: A\n...\nbody\n",
    b"\n---\ntitle: not at the beginning\n---\n",
    "---\ntitle: Gr\u{fc}\u{df}e\n---\n\u{2028}\u{85}\u{b}\u{c}\n".as_bytes(),
];

#[test]
fn every_note_is_written_as_it_was_read() {
    for bytes in FILES {
        let (note, _) = NoteFile::read(bytes).unwrap();
        let said = String::from_utf8_lossy(bytes);
        assert_eq!(note.write(), *bytes, "{said:?}");
        // What a person edits, and leaves as it was, is the same file too.
        let (again, _) = NoteFile::of_text(note.encoding, note.text());
        assert_eq!(again, note, "{said:?}");
        let stored: TextEncoding = note.encoding.to_string().parse().unwrap();
        assert_eq!(stored, note.encoding);
    }
}

#[test]
fn one_rule_for_all_lines_is_taken_out_and_put_back() {
    let (note, fields) = NoteFile::read(b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nx\r\ny").unwrap();
    assert_eq!(note.encoding.to_string(), "bom+crlf");
    assert_eq!(note.front_matter, "---\ntitle: A\n---\n");
    assert_eq!((note.body.as_str(), fields.title()), ("x\ny", Some("A")));
    let edited = NoteFile {
        body: "x\r\nz\n".to_owned(),
        ..note
    };
    assert_eq!(
        edited.write(),
        b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nx\r\nz\r\n"
    );
}

#[test]
fn a_body_that_comes_after_the_last_mark_gets_its_own_line() {
    let (mut note, _) = NoteFile::read(b"---\r\ntitle: A\r\n---").unwrap();
    note.body = "later".to_owned();
    let bytes = note.write();
    assert_eq!(bytes, b"---\r\ntitle: A\r\n---\r\nlater");
    let (again, fields) = NoteFile::read(&bytes).unwrap();
    assert_eq!((again.body.as_str(), fields.title()), ("later", Some("A")));
}

#[test]
fn what_is_no_text_is_no_note() {
    let read = |bytes: &[u8]| NoteFile::read(bytes).unwrap_err();
    assert_eq!(read(b"ab\xff"), NotANote::NotUtf8 { at: 2 });
    assert_eq!(read(b"\xff\xfea\0"), NotANote::NotUtf8 { at: 0 });
    assert_eq!(read(b"ab\xc3"), NotANote::NotUtf8 { at: 2 });
    assert_eq!(read(b"a\0b"), NotANote::Nul { at: 1 });
    assert_eq!("utf-16".parse::<TextEncoding>(), Err(UnknownEncoding));
}

#[test]
fn a_note_is_as_long_as_a_page_and_no_longer() {
    let longest = "a".repeat(NOTE_BYTES_MAX);
    assert!(NoteFile::read(longest.as_bytes()).is_ok());
    let longer = NOTE_BYTES_MAX + 1;
    let refused = NoteFile::read("a".repeat(longer).as_bytes());
    assert_eq!(refused.unwrap_err(), NotANote::TooLong { bytes: longer });
    // Carriage returns do not count: they are no part of the page.
    let lines = "\r\n".repeat(NOTE_BYTES_MAX);
    assert!(NoteFile::read(lines.as_bytes()).is_ok());
    let lines = "\r\n".repeat(NOTE_BYTES_MAX + 2);
    assert!(NoteFile::read(lines.as_bytes()).is_err());
}
