//! The server's side of an extractor: starts it, feeds it, bounds it, ends it, and believes only a whole
//! report.
//!
//! The child is a process group of its own with an empty environment. It cannot start another process; the
//! group is ended as one all the same. Whoever stops waiting ends it too.

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::children::REPORTED;
use crate::confinement::Isolation;
use crate::limits::{EXTRACT_TIMEOUT, INPUT_BYTES_MAX, REPORT_BYTES_MAX};
use crate::plain_text;
use crate::reports::{
    Bookmarks, ExtractHints, ExtractKind, Extracted, NotConfined, Report, Unreadable,
};

/// Where `poppler-utils` puts it. The environment is not asked: a PATH is no reason to run something.
const PDF_READERS: [&str; 2] = ["/usr/bin/pdftotext", "/usr/local/bin/pdftotext"];

/// How to start this program as an extractor.
#[derive(Debug, Clone)]
pub struct Extractor {
    pub program: PathBuf,
    /// The words that lead to `run_extractor`.
    pub argv: Vec<OsString>,
    pub isolation: Isolation,
    pub patience: Duration,
    /// The system's reader of PDFs; the first that exists.
    pub pdf_readers: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error(transparent)]
    NotConfined(#[from] NotConfined),
    #[error("the program that reads foreign bytes could not be started")]
    NotStarted(#[source] std::io::Error),
    #[error("reading it took too long")]
    TimedOut,
    #[error("reading it took more memory or time than it may ({})", ending_words(.0))]
    Died(ExitStatus),
    #[error("the program that reads foreign bytes answered with nothing that makes sense")]
    Garbled,
}

fn ending_words(status: &ExitStatus) -> String {
    status.to_string()
}

/// How a child ended and what it wrote.
struct Ended {
    status: ExitStatus,
    stdout: Vec<u8>,
}

impl Extractor {
    #[must_use]
    pub fn new(program: PathBuf, argv: Vec<OsString>) -> Self {
        Self {
            program,
            argv,
            isolation: Isolation::Full,
            patience: EXTRACT_TIMEOUT,
            pdf_readers: PDF_READERS.iter().map(PathBuf::from).collect(),
        }
    }

    /// The text of one document.
    pub async fn document(
        &self,
        kind: ExtractKind,
        hints: &ExtractHints,
        bytes: &[u8],
    ) -> Result<Extracted, ExtractError> {
        if kind == ExtractKind::Pdf {
            return self.pdf(bytes).await;
        }
        match self.report(kind, hints, bytes).await? {
            Report::Document(extracted) => Ok(extracted),
            Report::Bookmarks(_) => Err(ExtractError::Garbled),
            Report::Unreadable(why) => Err(why.into()),
            Report::NotConfined(why) => Err(why.into()),
        }
    }

    /// What an export of Karakeep holds: its JSON, or a zip archive with it.
    pub async fn karakeep(&self, bytes: &[u8]) -> Result<Bookmarks, ExtractError> {
        let hints = ExtractHints::default();
        let kind = ExtractKind::Karakeep;
        match self.report(kind, &hints, bytes).await? {
            Report::Bookmarks(bookmarks) => Ok(bookmarks),
            Report::Document(_) => Err(ExtractError::Garbled),
            Report::Unreadable(why) => Err(why.into()),
            Report::NotConfined(why) => Err(why.into()),
        }
    }

    async fn report(
        &self,
        kind: ExtractKind,
        hints: &ExtractHints,
        bytes: &[u8],
    ) -> Result<Report, ExtractError> {
        let mut input = serde_json::to_vec(hints).map_err(|_| ExtractError::Garbled)?;
        input.push(b'\n');
        let words = [kind.word().into(), self.isolation.word().into()];
        let ended = self.run(&words, [&input, bytes]).await?;
        parse_report(&ended)
    }

    /// The system's reader writes plain text, which is then read like any other plain text: by a child.
    async fn pdf(&self, bytes: &[u8]) -> Result<Extracted, ExtractError> {
        let mut readers = self.pdf_readers.iter();
        let Some(reader) = readers.find(|reader| reader.is_file()) else {
            return Err(Unreadable::PdfReaderMissing.into());
        };
        let words = [
            ExtractKind::Pdf.word().into(),
            self.isolation.word().into(),
            reader.clone().into_os_string(),
        ];
        let ended = self.run(&words, [&[], bytes]).await?;
        match ended.status.code() {
            Some(0) => {}
            Some(code) if code == i32::from(REPORTED) => {
                return match parse_report(&ended)? {
                    Report::NotConfined(why) => Err(why.into()),
                    Report::Unreadable(why) => Err(why.into()),
                    Report::Document(_) | Report::Bookmarks(_) => Err(ExtractError::Garbled),
                };
            }
            // The numbers are those of poppler: 3 is a document that does not permit it.
            Some(3) => return Err(Unreadable::PdfLocked.into()),
            Some(_) => return Err(Unreadable::PdfBroken.into()),
            None => return Err(ExtractError::Died(ended.status)),
        }
        let mut text = ended.stdout;
        let cut = text.len() > INPUT_BYTES_MAX;
        text.truncate(INPUT_BYTES_MAX);
        let hints = ExtractHints::default();
        let report = self.report(ExtractKind::Text, &hints, &text);
        match Box::pin(report).await? {
            Report::Document(extracted) if plain_text::says_nothing(&extracted.text) => {
                Err(Unreadable::PdfWithoutText.into())
            }
            Report::Document(extracted) => Ok(Extracted {
                cut: cut || extracted.cut,
                ..extracted
            }),
            Report::Bookmarks(_) => Err(ExtractError::Garbled),
            Report::Unreadable(why) => Err(why.into()),
            Report::NotConfined(why) => Err(why.into()),
        }
    }

    async fn run(&self, words: &[OsString], input: [&[u8]; 2]) -> Result<Ended, ExtractError> {
        if input.iter().any(|part| part.len() > INPUT_BYTES_MAX) {
            return Err(Unreadable::TooLarge.into());
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that starts extractors"
        )]
        let mut command = Command::new(&self.program);
        command
            .args(&self.argv)
            .args(words)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        let child = command.spawn().map_err(ExtractError::NotStarted)?;
        let mut running = Running::new(child);
        let ended = tokio::time::timeout(self.patience, running.talk(input)).await;
        running.end().await;
        ended.unwrap_or(Err(ExtractError::TimedOut))
    }
}

fn parse_report(ended: &Ended) -> Result<Report, ExtractError> {
    match ended.status.code() {
        Some(code) if code == i32::from(REPORTED) => {
            serde_json::from_slice(&ended.stdout).map_err(|_| ExtractError::Garbled)
        }
        // A signal, or 101: a panic, or memory that was not to be had.
        _ => Err(ExtractError::Died(ended.status)),
    }
}

/// A child and the group that it leads. Its number means this group until it was waited for.
struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Running {
    fn new(child: Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let group = id.and_then(Pid::from_raw);
        Self { child, group }
    }

    async fn talk(&mut self, input: [&[u8]; 2]) -> Result<Ended, ExtractError> {
        let (stdin, stdout) = (self.child.stdin.take(), self.child.stdout.take());
        let mut stdout_bytes = Vec::new();
        let complete = {
            let mut telling = pin!(tell(stdin, input));
            let mut hearing = pin!(hear(stdout, &mut stdout_bytes));
            let mut told = false;
            loop {
                tokio::select! {
                    // A reader may answer, or fall, before it has heard everything.
                    () = &mut telling, if !told => told = true,
                    complete = &mut hearing => break complete,
                }
            }
        };
        if !complete {
            return Err(ExtractError::Garbled);
        }
        let status = self.child.wait().await;
        self.group = None;
        let status = status.map_err(|_| ExtractError::Garbled)?;
        Ok(Ended {
            status,
            stdout: stdout_bytes,
        })
    }

    /// Nothing of it is left afterwards.
    async fn end(&mut self) {
        if self.kill() {
            let _ = self.child.wait().await;
            self.group = None;
        }
    }

    fn kill(&self) -> bool {
        if let Some(group) = self.group {
            // Nobody there any more is what it is for.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.group.is_some()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn tell(stdin: Option<ChildStdin>, input: [&[u8]; 2]) {
    if let Some(mut stdin) = stdin {
        for part in input {
            // Who does not read it will say why, or end.
            if stdin.write_all(part).await.is_err() {
                return;
            }
        }
        let _ = stdin.shutdown().await;
    }
}

/// Whether it is everything. More than a report may have is not read.
async fn hear(stdout: Option<ChildStdout>, kept: &mut Vec<u8>) -> bool {
    let Some(stdout) = stdout else { return false };
    let most = u64::try_from(REPORT_BYTES_MAX).unwrap_or(u64::MAX);
    let read = stdout.take(most.saturating_add(1)).read_to_end(kept).await;
    read.is_ok() && kept.len() <= REPORT_BYTES_MAX
}
