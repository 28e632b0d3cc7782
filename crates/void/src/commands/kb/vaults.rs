//! A folder of Markdown on this machine, as `void kb import` and `void kb export` see it. This program reads and writes it; the
//! server hears what is there and never opens it.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use void_api::vault_files::{
    VAULT_STEPS_MAX, VaultConflict, VaultFileLine, VaultFolderRequest, VaultImportResponse,
    VaultOutcome, VaultStep,
};
use void_domain::failures::FailureCode;
use void_domain::text;
use void_vault::{FolderError, Scanned, VaultFolder};

use super::super::run::segment;
use crate::client::{Client, read};
use crate::exit::CommandError;
use crate::output::Output;

/// What is read of a folder before it is sent, beside one large file.
const PIECE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A text longer than this goes as base64, which grows by a third whatever is in it.
const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How often somebody who is one too many asks again.
const TRIES_MAX: u32 = 30;
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// Files between two signs of progress.
const PROGRESS_EVERY: usize = 64;
/// Lines of one kind that people are shown; programs are told all.
const SHOWN_MAX: usize = 50;

pub(super) fn folder_error(folder: &Path, error: &FolderError) -> CommandError {
    let shown = text::escaped(&folder.display().to_string());
    CommandError::failed(FailureCode::Unreadable, format!("{shown}: {error}"))
}

pub(super) fn scan(
    output: &Output,
    path: &Path,
    folder: &VaultFolder,
) -> Result<Scanned, CommandError> {
    let scanned = folder.scan(&mut |progress| {
        let is_end = progress.files == progress.files_in_all;
        if is_end || progress.files.is_multiple_of(PROGRESS_EVERY) {
            output.progress("read", progress.files, progress.files_in_all);
        }
        true
    });
    scanned.map_err(|error| folder_error(path, &error))
}

pub(super) fn request(scanned: &Scanned) -> VaultFolderRequest {
    let line = |file: &void_vault::ScannedFile| {
        let line = VaultFileLine {
            sha256: &file.hash.to_string(),
            kind: file.kind.as_str(),
            path: file.path.as_str(),
        };
        line.to_string()
    };
    VaultFolderRequest {
        files: Some(scanned.files.iter().map(line).collect()),
        unread: scanned
            .skipped
            .iter()
            .map(|skipped| skipped.path.replace('\0', "\u{fffd}"))
            .collect(),
    }
}

/// What was not read, and what is odd about what was: a line each.
pub(super) fn remarks(scanned: &Scanned) -> Vec<String> {
    let skipped = scanned.skipped.iter().map(|one| format!("skipped  {one}"));
    let twins = scanned.twins.iter().map(|(one, other)| {
        format!("twins    {one} and {other} are one file where case is not told apart")
    });
    let odd = scanned.files.iter().flat_map(|file| {
        let faults = file.faults.iter();
        faults.map(move |fault| format!("look at  {}: {fault}", file.path))
    });
    skipped.chain(twins).chain(odd).collect()
}

/// Lines for people, and how many there are more.
pub(super) fn show(output: &Output, lines: &[String]) {
    for line in lines.iter().take(SHOWN_MAX) {
        output.foreign("", line);
    }
    if let Some(more) = lines.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
        output.line(format!("and {more} more; --json names them all"));
    }
}

pub(super) fn conflict_lines(conflicts: &[VaultConflict]) -> Vec<String> {
    let line = |one: &VaultConflict| {
        let words = format!("conflict  {}: {}", one.path, one.message);
        text::escaped(&words)
    };
    conflicts.iter().map(line).collect()
}

/// What is in a file, as a step or an answer has it.
pub(super) fn text_or_content(bytes: Vec<u8>) -> (Option<String>, Option<String>) {
    let is_short = bytes.len() <= TEXT_BYTES_MAX;
    match String::from_utf8(bytes) {
        Ok(text) if is_short && !text.contains('\0') => (Some(text), None),
        Ok(text) => (None, Some(STANDARD.encode(text))),
        Err(bytes) => (None, Some(STANDARD.encode(bytes.as_bytes()))),
    }
}

pub(super) fn bytes_of(text: Option<String>, content: Option<String>) -> Option<Vec<u8>> {
    match (text, content) {
        (Some(text), _) => Some(text.into_bytes()),
        (None, Some(content)) => STANDARD.decode(content).ok(),
        (None, None) => None,
    }
}

/// One space of the server's.
pub(super) struct Vault<'a> {
    client: &'a Client,
    space: String,
}

impl<'a> Vault<'a> {
    pub(super) fn new(client: &'a Client, space: &str) -> Self {
        let space = segment(space);
        Self { client, space }
    }

    /// Asks until there is room for a large request.
    pub(super) async fn ask(
        &self,
        what: &str,
        body: &impl Serialize,
    ) -> Result<Value, CommandError> {
        let path = format!("/api/spaces/{}/vault/{what}", self.space);
        let mut tries = 1;
        loop {
            match self.client.post(&path, body).await {
                Err(error)
                    if error.code.known() == Some(FailureCode::RateLimited)
                        && tries < TRIES_MAX =>
                {
                    tries += 1;
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                answer => return answer,
            }
        }
    }

    pub(super) async fn take(
        &self,
        steps: Vec<VaultStep>,
    ) -> Result<Vec<VaultOutcome>, CommandError> {
        let sent = self.ask("import", &json!({"steps": steps})).await?;
        let answer: VaultImportResponse = read(sent)?;
        Ok(answer.outcomes)
    }
}

/// Steps that wait until there are enough of them.
#[derive(Default)]
pub(super) struct Piece {
    steps: Vec<VaultStep>,
    bytes: usize,
}

impl Piece {
    /// Whether a step of this size has to wait for the next piece.
    pub(super) fn is_full_for(&self, bytes: usize) -> bool {
        let is_many = self.steps.len() >= VAULT_STEPS_MAX;
        is_many || !self.steps.is_empty() && self.bytes.saturating_add(bytes) > PIECE_BYTES_MAX
    }

    pub(super) fn push(&mut self, step: VaultStep, bytes: usize) {
        self.steps.push(step);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(super) fn take(&mut self) -> Vec<VaultStep> {
        self.bytes = 0;
        std::mem::take(&mut self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_as_it_was_sent() {
        let files = [
            b"".to_vec(),
            b"words\r\n".to_vec(),
            b"\xef\xbb\xbf\xff".to_vec(),
            b"a\0b".to_vec(),
            vec![b'x'; TEXT_BYTES_MAX + 1],
        ];
        for bytes in files {
            let (text, content) = text_or_content(bytes.clone());
            assert_ne!(text.is_some(), content.is_some());
            assert_eq!(bytes_of(text, content), Some(bytes));
        }
        assert_eq!(bytes_of(None, Some("?".to_owned())), None);
    }

    #[test]
    fn a_piece_has_so_many_steps_and_so_many_bytes() {
        let mut piece = Piece::default();
        assert!(!piece.is_full_for(PIECE_BYTES_MAX * 9), "one always fits");
        piece.push(VaultStep::default(), PIECE_BYTES_MAX - 1);
        assert!(!piece.is_full_for(1) && piece.is_full_for(2));
        assert_eq!(piece.take().len(), 1);
        for _ in 0..VAULT_STEPS_MAX {
            assert!(!piece.is_full_for(0));
            piece.push(VaultStep::default(), 0);
        }
        assert!(piece.is_full_for(0));
    }
}
