//! What the child may not do is tried by a child, from the inside, after it confined itself.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use void_capture::limits::{
    CAPTURE_TIMEOUT, CONNECT_TIMEOUT, EXTRACT_CPU_SECONDS_MAX, EXTRACT_FILES_MAX,
    EXTRACT_MEMORY_BYTES_MAX, EXTRACT_TIMEOUT, PDF_FILES_MAX,
};
use void_capture::{
    ExtractError, ExtractHints, ExtractKind, Extractor, FetchPatience, Isolation, NotConfined,
    Unreadable,
};

use crate::reading::{PROGRAM, extractor, extractor_by};

/// A file to be read and a place to write to, a port that listens, and a process that could be signalled.
struct Outside {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(folder.path().join("secret"), open).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { folder, listener }
    }

    fn words(&self) -> [String; 4] {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let port = self.listener.local_addr().unwrap().port();
        [
            path("secret"),
            path("written"),
            port.to_string(),
            std::process::id().to_string(),
        ]
    }

    fn assert_untouched(&self) {
        let secret = self.folder.path().join("secret");
        assert_eq!(fs::read(&secret).unwrap(), b"secret");
        assert_eq!(
            secret.metadata().unwrap().permissions().mode() & 0o777,
            0o644
        );
        assert!(!Path::new(&self.folder.path().join("written")).exists());
        assert!(self.listener.accept().is_err(), "somebody connected");
    }
}

/// The tries that a process outside of any fence succeeds with, or the test would prove nothing.
const POSSIBLE_OUTSIDE: [&str; 13] = [
    "read a file",
    "read the accounts",
    "read its memory map",
    "list a folder",
    "connect",
    "listen",
    "send a datagram",
    "open a Unix socket",
    "pair Unix sockets",
    "start a program",
    "start a thread",
    "signal another process",
    "limit another process",
];

fn assert_all_denied(tries: &str) {
    assert!(tries.lines().count() >= 24, "{tries}");
    let done: Vec<&str> = tries
        .lines()
        .filter(|line| !line.ends_with(": denied"))
        .collect();
    assert!(done.is_empty(), "{done:#?}");
}

#[test]
fn a_reader_can_do_nothing_but_read_and_answer() {
    let outside = Outside::new();
    let ran = Command::new(PROGRAM)
        .arg("escape")
        .args(outside.words())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_all_denied(&String::from_utf8(ran.stdout).unwrap());
    outside.assert_untouched();
}

#[tokio::test]
async fn a_program_for_pdfs_can_read_its_libraries_and_nothing_else() {
    let outside = Outside::new();
    let pdf = format!("%PDF-test escapes {}\n", outside.words().join(" "));
    let extractor = extractor_by(PROGRAM);
    let hints = ExtractHints::default();
    let read = extractor.document(ExtractKind::Pdf, &hints, pdf.as_bytes());
    assert_all_denied(&read.await.unwrap().text);
    outside.assert_untouched();
}

/// The same tries without fences: most of them are possible here, so what was denied above was denied by them.
#[test]
fn without_fences_the_same_tries_succeed() {
    let outside = Outside::new();
    let mut child = Command::new(PROGRAM)
        .arg("-q")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pdf = format!("%PDF-test escapes {}\n", outside.words().join(" "));
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), pdf.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let tries = String::from_utf8(ran.stdout).unwrap();
    for name in POSSIBLE_OUTSIDE {
        assert!(
            tries.contains(&format!("{name}: done\n")),
            "{name}: {tries}"
        );
    }
}

#[tokio::test]
async fn a_kernel_without_landlock_is_said_and_nothing_is_read() {
    let mut extractor = extractor();
    extractor.argv = vec!["extract-without-kernel".into()];
    let hints = ExtractHints::default();
    for kind in [ExtractKind::Html, ExtractKind::Text] {
        let refused = extractor
            .document(kind, &hints, b"<p>words")
            .await
            .unwrap_err();
        let ExtractError::NotConfined(why) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(why, NotConfined::Landlock);
        assert!(why.to_string().contains(Isolation::WithoutLandlock.word()));
    }
    extractor.pdf_readers = vec![PROGRAM.into()];
    let refused = extractor
        .document(
            ExtractKind::Pdf,
            &hints,
            b"%PDF-test says\nwords that are said",
        )
        .await;
    assert!(
        matches!(
            refused,
            Err(ExtractError::NotConfined(NotConfined::Landlock))
        ),
        "{refused:?}"
    );
    // Switched off by its name, the other fences stand.
    extractor.isolation = Isolation::WithoutLandlock;
    let read = extractor
        .document(ExtractKind::Html, &hints, b"<p>words")
        .await
        .unwrap();
    assert_eq!(read.text, "words");
    let outside = Outside::new();
    let pdf = format!("%PDF-test escapes {}\n", outside.words().join(" "));
    let read = extractor
        .document(ExtractKind::Pdf, &hints, pdf.as_bytes())
        .await
        .unwrap();
    let done = read.text.lines().filter(|line| !line.ends_with(": denied"));
    let may_read = [
        "read a file: done",
        "read the accounts: done",
        "read its memory map: done",
        "read another's environment: done",
        "list a folder: done",
        "look up a name: done",
    ];
    let others: Vec<&str> = done.filter(|line| !may_read.contains(line)).collect();
    assert!(others.is_empty(), "{others:#?}");
    outside.assert_untouched();
}

#[tokio::test]
async fn a_process_with_two_threads_is_not_confined_and_reads_nothing() {
    let mut extractor = extractor();
    extractor.argv = vec!["extract-with-threads".into()];
    let hints = ExtractHints::default();
    let refused = extractor
        .document(ExtractKind::Html, &hints, b"<p>words")
        .await;
    assert!(
        matches!(
            refused,
            Err(ExtractError::NotConfined(NotConfined::Threads))
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn an_extractor_reads_nothing_without_its_words() {
    let hints = ExtractHints::default();
    let mut extractor = extractor();
    extractor.argv = vec!["extract".into(), "html".into()];
    let refused = extractor
        .document(ExtractKind::Html, &hints, b"<p>words")
        .await;
    assert!(matches!(refused, Err(ExtractError::Died(_))), "{refused:?}");
    extractor.program = "/does/not/exist".into();
    let refused = extractor
        .document(ExtractKind::Html, &hints, b"<p>words")
        .await;
    assert!(
        matches!(refused, Err(ExtractError::NotStarted(_))),
        "{refused:?}"
    );
    extractor.program = "/bin/true".into();
    let refused = extractor
        .document(ExtractKind::Html, &hints, b"<p>words")
        .await;
    assert!(matches!(refused, Err(ExtractError::Died(_))), "{refused:?}");
    let missing = extractor
        .document(ExtractKind::Pdf, &hints, b"%PDF-1.7")
        .await;
    let is_missing = matches!(
        missing,
        Err(ExtractError::Unreadable(Unreadable::PdfReaderMissing))
    );
    assert!(
        is_missing || Path::new("/usr/bin/pdftotext").exists(),
        "{missing:?}"
    );
}

/// What the kernel holds a confined child to, by the name that it has in `/proc`.
fn limits_of(words: &[&str]) -> BTreeMap<String, (String, String)> {
    let mut child = Command::new(PROGRAM)
        .arg("rest")
        .args(words)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let said = child.stdout.as_mut().unwrap();
    BufReader::new(said).read_line(&mut line).unwrap();
    assert_eq!(line, "confined\n");
    let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    let limits = limits.lines().skip(1).map(|line| {
        let (name, rest) = line.split_at(26);
        let mut rest = rest.split_whitespace().map(str::to_owned);
        let both = (rest.next().unwrap(), rest.next().unwrap());
        (name.trim().to_owned(), both)
    });
    limits.collect()
}

#[test]
fn a_child_is_held_to_the_bounds_that_have_names() {
    for (words, files) in [(&[][..], EXTRACT_FILES_MAX), (&[PROGRAM], PDF_FILES_MAX)] {
        let limits = limits_of(words);
        for (name, bound) in [
            ("Max address space", EXTRACT_MEMORY_BYTES_MAX),
            ("Max cpu time", EXTRACT_CPU_SECONDS_MAX),
            ("Max open files", files),
            ("Max processes", 0),
            ("Max file size", 0),
            ("Max core file size", 0),
        ] {
            let bound = bound.to_string();
            // It cannot raise what it is held to either.
            let both = (bound.clone(), bound);
            assert_eq!(limits.get(name), Some(&both), "{words:?}: {name}");
        }
    }
}

#[test]
fn what_is_fetched_and_read_in_the_ordinary_way_has_so_much_time() {
    let patience = FetchPatience::default();
    assert_eq!(patience.whole, CAPTURE_TIMEOUT);
    assert_eq!(CAPTURE_TIMEOUT, Duration::from_secs(20));
    assert_eq!(patience.connect, CONNECT_TIMEOUT);
    assert!(CONNECT_TIMEOUT < CAPTURE_TIMEOUT);
    let extractor = Extractor::new(PROGRAM.into(), vec!["extract".into()]);
    assert_eq!(extractor.patience, EXTRACT_TIMEOUT);
    // The kernel ends what computes before the clock ends what waits.
    assert!(Duration::from_secs(EXTRACT_CPU_SECONDS_MAX) < EXTRACT_TIMEOUT);
}
