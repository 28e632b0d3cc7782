//! The record: whether its chain holds. A running server exports its newest entries, whatever database
//! it has; without one, the file beside us is walked.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use void_api::audit::VerdictResponse;
use void_domain::failures::FailureCode;
use void_store::{StoreError, backups};
use void_verify::{Options, Report};

use super::findings::Findings;
use super::server::ServerCheck;
use crate::commands::{Session, quoted};
use crate::exit::CommandError;

/// A second or two of work; `void audit verify` walks all of it.
const ENTRIES_MAX: u64 = 100_000;
const SERVED_WITHIN: Duration = Duration::from_secs(60);
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Chunks between the network and the thread that verifies.
const CHUNKS_MAX: usize = 16;

const BROKEN_NEXT: &str =
    "void audit verify names every place; void backup ls, and compare with a copy";

pub(super) async fn check_served(server: &ServerCheck, findings: &mut Findings) {
    let total = server.status.audit_seq;
    let after = total.saturating_sub(ENTRIES_MAX);
    let head = server.status.audit_head.as_deref();
    let head = head.and_then(|head| void_verify::parse_hash(head.as_bytes()));
    // Before the first entry there is no hash to find.
    let head = head.filter(|_| total > 0);
    let verifying = tokio::time::timeout(SERVED_WITHIN, verify(server, after, head));
    let verified = verifying.await.unwrap_or_else(|_late| {
        let message = format!("it takes longer than {SERVED_WITHIN:?}");
        Err(CommandError::failed(FailureCode::Timeout, message))
    });
    let stored = tokio::time::timeout(SERVED_WITHIN, server.client.get_as("/api/audit-verify"));
    let stored: Option<VerdictResponse> = stored.await.ok().and_then(Result::ok);
    let stored = stored.as_ref();
    if let Some(problem) = stored.and_then(crate::commands::audit::stored_problem) {
        findings.wrong(
            "audit",
            format!("the record is damaged: {problem}"),
            BROKEN_NEXT,
        );
        return;
    }
    if let Some(rows @ 1..) = stored.map(|stored| stored.set_aside) {
        findings.warn(
            "audit",
            format!("{rows} rows that Void did not write were found in the record and set aside"),
            "read the table audit_strays, and find out who can write to the database",
        );
    }
    if let Some(rows) = stored.and_then(crate::commands::audit::edited) {
        findings.wrong("rows", rows, crate::commands::audit::EDITED_NEXT);
    }
    match verified {
        Err(problem) => {
            let next = problem
                .next
                .unwrap_or_else(|| "void audit verify".to_owned());
            findings.warn(
                "audit",
                format!("it could not be read: {}", problem.message),
                next,
            );
        }
        Ok(report) if !report.is_intact() => {
            findings.wrong("audit", broken(&report), BROKEN_NEXT);
        }
        Ok(report) if after > 0 => {
            let message = format!(
                "the newest {} of {total} entries are intact; void audit verify walks all of them",
                report.entries
            );
            findings.fine("audit", message);
        }
        Ok(report) => findings.fine("audit", intact(report.last_seq.unwrap_or(0))),
    }
}

fn intact(last: u64) -> String {
    format!("intact up to entry {last}")
}

fn broken(report: &Report) -> String {
    let first = report.problems.first().map(ToString::to_string);
    let more = match report.problems_total {
        0 | 1 => String::new(),
        total => format!(", and {} more", total - 1),
    };
    format!("the chain is broken: {}{more}", first.unwrap_or_default())
}

async fn verify(
    server: &ServerCheck,
    after: u64,
    head: Option<void_verify::Hash>,
) -> Result<Report, CommandError> {
    let path = format!("/api/audit-export?after={after}");
    let response = server.client.stream(&path).await?;
    let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
    let options = Options { head, threads: 1 };
    let verifying = tokio::task::spawn_blocking(move || {
        void_verify::verify(ExportReader::new(chunks), &options)
    });
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map(|bytes| bytes.to_vec()).map_err(io::Error::other);
        let is_last = chunk.is_err();
        if sender.send(chunk).await.is_err() || is_last {
            break;
        }
    }
    drop(sender);
    let report = verifying
        .await
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
    report.map_err(|error| CommandError::failed(FailureCode::Unreadable, error.to_string()))
}

/// An export as it comes in. One that breaks off is an error, not an end.
struct ExportReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    rest: io::Cursor<Vec<u8>>,
}

impl ExportReader {
    fn new(chunks: mpsc::Receiver<io::Result<Vec<u8>>>) -> Self {
        let rest = io::Cursor::default();
        Self { chunks, rest }
    }
}

impl Read for ExportReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.rest.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.chunks.blocking_recv() {
                None => return Ok(0),
                Some(chunk) => self.rest = io::Cursor::new(chunk?),
            }
        }
    }
}

/// Without a server: the file itself, if there is one. SQLite may lay its scratch files beside it.
pub(super) async fn check_file(session: &Session<'_>, findings: &mut Findings) {
    if session.settings.database_url.value.is_some() {
        return;
    }
    let path = session.settings.database_file();
    let Ok(file) = std::fs::metadata(&path) else {
        return;
    };
    let verify = format!("void backup verify {}", quoted(&path.display().to_string()));
    if file.len() > FILE_BYTES_MAX {
        let message = format!("not walked: {} MiB take a while", file.len() >> 20);
        findings.warn("audit", message, verify);
        return;
    }
    match check_copy(&path).await {
        Ok(checked) => {
            findings.fine("audit", intact(checked.audit_seq));
        }
        Err(error @ StoreError::Corrupt { .. }) => {
            let next = "void backup ls, then void backup restore FILE";
            findings.wrong("audit", error.to_string(), next);
        }
        Err(error) => {
            findings.warn("audit", format!("it could not be read: {error}"), verify);
        }
    }
}

async fn check_copy(path: &Path) -> Result<backups::Checked, StoreError> {
    let path = path.to_owned();
    let walking = tokio::task::spawn_blocking(move || backups::check(&path));
    walking
        .await
        .map_err(|error| StoreError::Internal(error.to_string()))?
}
