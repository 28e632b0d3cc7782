//! What an agent process writes, kept for whoever may read it: two files that replace each other, so that the log has
//! a bound, without the token and anything that looks like one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Of both files together.
pub const LOG_BYTES_MAX: u64 = 512 * 1024;
/// The rest of a longer line is not kept.
pub const LINE_BYTES_MAX: usize = 4 * 1024;
/// How every token of ours begins, and how long what follows at least is.
const TOKEN_BEGINS: &str = "void_";
const TOKEN_CHARS_MIN: usize = 24;
const SECRET: &str = "[secret]";

/// One line, with the time at which it was heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub at_ms: i64,
    pub text: String,
}

/// Open for as long as a process writes.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    bytes: u64,
    secret: String,
    /// Of the line that has not ended.
    begun: Vec<u8>,
}

impl Log {
    pub(crate) fn open(path: &Path, secret: &str) -> io::Result<Self> {
        let file = append(path)?;
        Ok(Self {
            bytes: file.metadata()?.len(),
            path: path.to_owned(),
            file,
            secret: secret.to_owned(),
            begun: Vec::new(),
        })
    }

    /// What the process wrote, wherever it is cut.
    pub(crate) fn push(&mut self, at_ms: i64, piece: &[u8]) -> io::Result<()> {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.keep(line);
            self.end_line(at_ms)?;
            rest = after.get(1..).unwrap_or_default();
        }
        self.keep(rest);
        Ok(())
    }

    /// A last line that nothing ended.
    pub(crate) fn close(&mut self, at_ms: i64) -> io::Result<()> {
        match self.begun.is_empty() {
            true => Ok(()),
            false => self.end_line(at_ms),
        }
    }

    /// A little more than is kept, so that a token at the cut is seen whole.
    fn keep(&mut self, piece: &[u8]) {
        let most = LINE_BYTES_MAX + self.secret.len().max(256);
        let room = most.saturating_sub(self.begun.len());
        self.begun
            .extend_from_slice(piece.get(..room).unwrap_or(piece));
    }

    fn end_line(&mut self, at_ms: i64) -> io::Result<()> {
        let text = String::from_utf8_lossy(&self.begun).into_owned();
        self.begun.clear();
        let text = redact(&text, &self.secret);
        let text: String = text
            .chars()
            .map(|one| if one.is_control() { ' ' } else { one })
            .collect();
        let end = text.floor_char_boundary(LINE_BYTES_MAX);
        let line = format!("{at_ms} {}\n", text.get(..end).unwrap_or_default());
        let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.bytes.saturating_add(bytes) > LOG_BYTES_MAX / 2 {
            fs::rename(&self.path, before(&self.path))?;
            self.file = append(&self.path)?;
            self.bytes = 0;
        }
        self.file.write_all(line.as_bytes())?;
        self.bytes += bytes;
        Ok(())
    }
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(libc::O_NOFOLLOW).open(path)
}

fn before(path: &Path) -> PathBuf {
    path.with_extension("before")
}

fn redact(text: &str, secret: &str) -> String {
    let text = match secret.is_empty() {
        true => text.to_owned(),
        false => text.replace(secret, SECRET),
    };
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(TOKEN_BEGINS) {
        let (head, token) = rest.split_at(at);
        kept.push_str(head);
        let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_' || one == '-';
        let end = token.find(|one| !is_part(one)).unwrap_or(token.len());
        let (token, after) = token.split_at(end);
        kept.push_str(if token.len() >= TOKEN_BEGINS.len() + TOKEN_CHARS_MIN {
            SECRET
        } else {
            token
        });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The newest lines, oldest first, of no more than so many bytes.
pub fn read_log(path: &Path, bytes_max: u64) -> io::Result<Vec<LogLine>> {
    let mut text = tail(&before(path), bytes_max)?;
    text.extend(tail(path, bytes_max)?);
    let most = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let cut = text.len().saturating_sub(most);
    let text = String::from_utf8_lossy(text.get(cut..).unwrap_or_default()).into_owned();
    Ok(text.lines().filter_map(line).collect())
}

/// `None` for the end of a line that was cut.
fn line(line: &str) -> Option<LogLine> {
    let (at, text) = line.split_once(' ')?;
    // Thirteen digits of milliseconds, this century.
    let at_ms = (at.len() >= 13).then(|| at.parse().ok()).flatten()?;
    let text = text.to_owned();
    Some(LogLine { at_ms, text })
}

fn tail(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).custom_flags(libc::O_NOFOLLOW).open(path);
    let mut file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let from = file.metadata()?.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
