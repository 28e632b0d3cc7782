use super::*;

const AT: i64 = 1_800_000_000_000;
const TOKEN: &str = "void_agent_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

struct Kept {
    folder: tempfile::TempDir,
}

impl Kept {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn open(&self) -> Log {
        Log::open(&self.path(), TOKEN).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        let lines = read_log(&self.path(), LOG_BYTES_MAX).unwrap();
        lines.into_iter().map(|line| line.text).collect()
    }
}

#[test]
fn lines_are_kept_wherever_they_are_cut() {
    let kept = Kept::new();
    let text = "one\ntwo\n\nthree";
    let mut log = kept.open();
    for byte in text.bytes() {
        log.push(AT, &[byte]).unwrap();
    }
    log.close(AT).unwrap();
    log.close(AT).unwrap();
    kept.open().push(AT, text.as_bytes()).unwrap();
    assert_eq!(kept.texts(), ["one", "two", "", "three", "one", "two", ""]);
}

#[test]
fn a_token_is_kept_nowhere_wherever_it_stands() {
    let kept = Kept::new();
    let mut log = kept.open();
    let other = "void_viewer_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    for before in [
        0,
        1,
        10,
        LINE_BYTES_MAX - 10,
        LINE_BYTES_MAX - 1,
        LINE_BYTES_MAX,
        LINE_BYTES_MAX + 3,
    ] {
        let line = format!("{}{TOKEN}{other}.\n", "-".repeat(before));
        for piece in line.as_bytes().chunks(7) {
            log.push(AT, piece).unwrap();
        }
    }
    log.push(AT, b"void_ and void_agent are words\n").unwrap();
    let texts = kept.texts();
    assert_eq!(texts.len(), 8);
    for text in &texts {
        assert!(!text.contains("AAAA") && !text.contains("BBBB"), "{text}");
        assert!(text.len() <= LINE_BYTES_MAX);
    }
    assert_eq!(texts[7], "void_ and void_agent are words");
    for file in fs::read_dir(kept.folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(4).any(|four| four == b"AAAA"));
    }
}

#[test]
fn a_flood_stays_within_its_bound_and_the_newest_is_there() {
    let kept = Kept::new();
    let mut log = kept.open();
    let line = format!("{}\n", "x".repeat(1000));
    for _ in 0..2000 {
        log.push(AT, line.as_bytes()).unwrap();
    }
    log.push(AT + 1, b"the last words\n").unwrap();
    let files = fs::read_dir(kept.folder.path()).unwrap();
    let bytes: u64 = files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes <= LOG_BYTES_MAX, "{bytes}");
    let lines = read_log(&kept.path(), LOG_BYTES_MAX).unwrap();
    assert!(lines.len() > 200, "{}", lines.len());
    assert_eq!(lines.last().unwrap().text, "the last words");
    assert_eq!(lines.last().unwrap().at_ms, AT + 1);
    // Fewer bytes, whole lines.
    let few = read_log(&kept.path(), 2500).unwrap();
    assert_eq!(few.len(), 3);
    assert!(few[0].text.starts_with("xxx"));
}

#[test]
fn a_process_cannot_forge_a_line_of_another_time_or_a_sequence_of_a_terminal() {
    let kept = Kept::new();
    let mut log = kept.open();
    log.push(
        AT,
        b"\x1b[2J\r1700000000000 nothing happened\x07\n\xff\xfe\n",
    )
    .unwrap();
    let lines = read_log(&kept.path(), LOG_BYTES_MAX).unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].at_ms, AT);
    assert_eq!(lines[0].text, " [2J 1700000000000 nothing happened ");
    assert_eq!(lines[1].text, "\u{fffd}\u{fffd}");
}

#[test]
fn no_log_is_an_empty_one_and_a_link_is_none() {
    let kept = Kept::new();
    assert!(kept.texts().is_empty());
    std::os::unix::fs::symlink("/etc/passwd", kept.path()).unwrap();
    assert!(read_log(&kept.path(), 100).is_err());
    assert!(Log::open(&kept.path(), TOKEN).is_err());
}
