//! Documents through a real child: what goes in on its standard input comes out as text.

use std::path::Path;
use std::time::Duration;

use void_capture::limits::INPUT_BYTES_MAX;
use void_capture::{
    ArchiveFault, ExportFault, ExtractError, ExtractHints, ExtractKind, Extractor, Unreadable,
};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_void-capture-confined");

/// What a child computes is counted by the kernel; the clock also counts what else this machine does.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn extractor() -> Extractor {
    Extractor {
        patience: PATIENCE,
        pdf_readers: Vec::new(),
        ..Extractor::new(PROGRAM.into(), vec!["extract".into()])
    }
}

pub(crate) fn extractor_by(pdf_reader: &str) -> Extractor {
    Extractor {
        pdf_readers: vec!["/does/not/exist".into(), pdf_reader.into()],
        ..extractor()
    }
}

#[tokio::test]
async fn a_page_comes_back_as_text() {
    let hints = ExtractHints {
        url: Some("https://example.org/".to_owned()),
        charset: Some("iso-8859-1".to_owned()),
    };
    let page =
        b"<html lang=de><title>Gr\xfc\xdfe</title><h1>Hallo</h1><p>Zur <a href=/b>B\xfchne</a>.";
    let read = extractor()
        .document(ExtractKind::Html, &hints, page)
        .await
        .unwrap();
    assert_eq!(read.title.as_deref(), Some("Grüße"));
    assert_eq!(read.language.as_deref(), Some("de"));
    assert_eq!(read.text, "# Hallo\n\nZur Bühne (https://example.org/b).");
    assert!(!read.cut);
}

#[tokio::test]
async fn text_and_exports_come_back_too() {
    let extractor = extractor();
    let hints = ExtractHints::default();
    let text = extractor
        .document(ExtractKind::Text, &hints, b"# Notes\r\n\r\nwords")
        .await
        .unwrap();
    assert_eq!(
        (text.title.as_deref(), text.text.as_str()),
        (Some("Notes"), "# Notes\n\nwords")
    );
    let export = br#"{"bookmarks":[{"createdAt":1,"title":"t","tags":["a"],"content":{"type":"link","url":"https://x.example/"},"note":null}]}"#;
    let bookmarks = extractor.karakeep(export).await.unwrap();
    assert_eq!(bookmarks.bookmarks.len(), 1);
    assert_eq!(
        bookmarks.bookmarks[0].url.as_deref(),
        Some("https://x.example/")
    );
    let empty = extractor
        .document(ExtractKind::Html, &hints, b"")
        .await
        .unwrap();
    assert_eq!(empty.text, "");
}

#[tokio::test]
async fn what_cannot_be_read_says_why() {
    let extractor = extractor();
    let hints = ExtractHints {
        charset: Some("shift_jis".to_owned()),
        ..ExtractHints::default()
    };
    let refused = extractor
        .document(ExtractKind::Html, &hints, b"\x82\xa0")
        .await;
    let Err(ExtractError::Unreadable(why)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(why, Unreadable::Charset("shift_jis".to_owned()));
    for (bytes, expected) in [
        (
            b"no json".as_slice(),
            Unreadable::NoExport(ExportFault::Json),
        ),
        (
            b"PK\x03\x04 and nothing more",
            Unreadable::Archive(ArchiveFault::Broken),
        ),
    ] {
        let refused = extractor.karakeep(bytes).await;
        let Err(ExtractError::Unreadable(why)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(why, expected);
    }
}

#[tokio::test]
async fn input_is_read_up_to_its_bound() {
    let extractor = extractor();
    let hints = ExtractHints::default();
    let mut text = vec![b'\n'; INPUT_BYTES_MAX];
    text[..5].copy_from_slice(b"words");
    let read = extractor
        .document(ExtractKind::Text, &hints, &text)
        .await
        .unwrap();
    assert_eq!(read.text, "words");
    text.push(b'\n');
    let refused = extractor.document(ExtractKind::Text, &hints, &text).await;
    assert!(
        matches!(refused, Err(ExtractError::Unreadable(Unreadable::TooLarge))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn nothing_is_left_of_a_child_that_nobody_waits_for() {
    // A name of its own: other tests have children as well.
    let folder = tempfile::tempdir().unwrap();
    let reader = folder.path().join("reader");
    std::os::unix::fs::symlink(PROGRAM, &reader).unwrap();
    let reader = reader.to_str().unwrap();
    let mut extractor = extractor_by(reader);
    extractor.patience = Duration::from_millis(300);
    let hints = ExtractHints::default();
    let pdf = b"%PDF-test computes\n";
    let late = extractor.document(ExtractKind::Pdf, &hints, pdf).await;
    assert!(matches!(late, Err(ExtractError::TimedOut)), "{late:?}");
    assert_eq!(processes_of(reader), 0);
    // The same where whoever waited goes away.
    extractor.patience = Duration::from_secs(60);
    let task = tokio::spawn(async move {
        let hints = ExtractHints::default();
        extractor.document(ExtractKind::Pdf, &hints, pdf).await
    });
    while processes_of(reader) == 0 {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    while processes_of(reader) > 0 {
        tokio::task::yield_now().await;
    }
}

/// How many processes were started as this program.
fn processes_of(program: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let is_one = |path: &Path| {
        let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).next() == Some(program.as_bytes())
    };
    processes.filter(|process| is_one(&process.path())).count()
}
