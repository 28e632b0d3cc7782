//! Verifies an export of Void's audit log without Void: no server, no database, no network, no clock.
//!
//! An export is one JSON object per line. `hash` is SHA-256 over the 32 bytes of `prev` followed by the
//! RFC 8785 form of the object without `prev` and `hash`; `prev` is the `hash` of the line before, and
//! 64 zeros for seq 1. Any line that Void wrote can be checked in a shell, here line 5:
//!
//! ```sh
//! line=$(sed -n 5p audit.jsonl)
//! prev=$(printf %s "$line" | sed 's/.*"prev":"\([0-9a-f]\{64\}\)",.*/\1/')
//! rest=$(printf %s "$line" | sed 's/\(.*\),"hash":"[0-9a-f]\{64\}","prev":"[0-9a-f]\{64\}"/\1/')
//! { printf %s "$prev" | tr a-f A-F | basenc --base16 -d; printf %s "$rest"; } | sha256sum
//! ```
//!
//! Reading order: `entries` (one line), `canonical` (a line that is spelled otherwise), `chains` (how
//! lines must follow each other, and the names of what is wrong), `blocks` (bounded reading, threads),
//! `stretches` (finding bytes), `reports` (what is said).

mod blocks;
mod canonical;
mod chains;
mod entries;
mod hashes;
mod reports;
mod stretches;

use std::fmt;
use std::io::{self, Read};

pub use chains::PROBLEMS_MAX;
pub use entries::{DEPTH_MAX, INTEGER_MAX, LINE_BYTES_MAX};
pub use hashes::{Hash, entry_hash, parse_hash, write_hash};
pub use reports::{Finding, ProblemKind, Report, TailProof};

/// How to verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// A hash that was noted earlier, somewhere the log's keeper cannot reach.
    pub head: Option<Hash>,
    /// Threads that read lines; 0 counts as 1. The report does not depend on it.
    pub threads: usize,
}

/// The export could not be read to its end. There is no report then: half a verdict is none.
#[derive(Debug)]
pub struct VerifyError(pub io::Error);

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the export cannot be read: {}", self.0)
    }
}

impl std::error::Error for VerifyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Reads the whole export, in bounded memory, and says what is proven and what is wrong.
pub fn verify(reader: impl Read, options: &Options) -> Result<Report, VerifyError> {
    let mut blocks = blocks::Blocks::new(reader);
    let mut chain = chains::Chain::new(options.head);
    while let Some(block) = blocks.next_block().map_err(VerifyError)? {
        let pieces = blocks::read_lines(block, options.threads).map_err(VerifyError)?;
        for line in pieces.into_iter().flatten() {
            chain.push(line);
        }
    }
    Ok(chain.finish())
}
