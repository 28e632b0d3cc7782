//! How the bridge stands, for the owner.

use std::path::PathBuf;
use std::sync::PoisonError;

use void_domain::bridge::StatusFolder;
use void_domain::text;
use void_domain::time::Timestamp;

use crate::folder::{FileContent, Folder, Name};
use crate::shared::Shared;

/// How many files of `invalid/` are named.
const INVALID_SHOWN: usize = 50;
const REASON_BYTES_MAX: usize = 1024;

#[derive(Debug, Clone)]
pub struct Report {
    pub folder: PathBuf,
    pub decisions: bool,
    /// Why nothing moves, or what could not be moved.
    pub problem: Option<String>,
    pub last_scan_at: Option<Timestamp>,
    /// Files in `running/` that belong to no proposal.
    pub foreign: usize,
    pub counts: Vec<Counts>,
    pub invalid: Vec<InvalidFile>,
}

#[derive(Debug, Clone)]
pub struct Counts {
    pub place: StatusFolder,
    pub files: usize,
}

#[derive(Debug, Clone)]
pub struct InvalidFile {
    pub file: String,
    pub reason: String,
}

pub(crate) async fn report(bridge: &Shared) -> Report {
    let state = bridge
        .state
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let mut report = Report {
        folder: bridge.config.folder.clone(),
        decisions: bridge.config.decisions,
        problem: state.problem,
        last_scan_at: state.last_scan_at,
        foreign: state.foreign,
        counts: Vec::new(),
        invalid: Vec::new(),
    };
    let path = report.folder.clone();
    let looked = tokio::task::spawn_blocking(move || {
        let folder = Folder::open_to_look(&path)?;
        Ok::<_, String>((count(&folder), invalid(&folder)))
    })
    .await;
    if let Ok(Ok((counts, invalid))) = looked {
        report.counts = counts;
        report.invalid = invalid;
    }
    report
}

fn count(folder: &Folder) -> Vec<Counts> {
    let files = |place| {
        let names = folder.names(place).unwrap_or_default();
        names.iter().filter(|name| !name.is_temporary()).count()
    };
    StatusFolder::ALL
        .into_iter()
        .map(|place| Counts {
            place,
            files: files(place),
        })
        .collect()
}

fn invalid(folder: &Folder) -> Vec<InvalidFile> {
    const REASON: &str = ".reason.txt";
    let names = folder.invalid_names().unwrap_or_default();
    let mut files: Vec<String> = names
        .iter()
        .filter_map(|name| name.raw.to_str().ok())
        .filter(|name| !name.ends_with(REASON))
        .map(str::to_owned)
        .collect();
    files.sort_unstable();
    files.truncate(INVALID_SHOWN);
    let reason = |file: &str| {
        let raw = std::ffi::CString::new(format!("{file}{REASON}")).ok()?;
        let Ok(FileContent::Bytes(bytes)) = folder.read_invalid(&Name { raw }) else {
            return None;
        };
        let said = String::from_utf8_lossy(&bytes).into_owned();
        // Its first line is the name that the file had.
        let said = said.split_once('\n').map_or("", |(_, why)| why.trim());
        Some(text::cut(&text::escaped_lines(said), REASON_BYTES_MAX).to_owned())
    };
    files
        .into_iter()
        .map(|file| InvalidFile {
            reason: reason(&file).unwrap_or_default(),
            file: text::escaped(&file),
        })
        .collect()
}
