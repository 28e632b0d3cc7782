//! Whether foreign bytes can be read here: a reader is started, confines itself and reads a few words.

use std::path::PathBuf;

use void_capture::{ExtractError, ExtractHints, ExtractKind, Isolation, NotConfined};
use void_control::agent_processes::refused_calls;

use super::findings::Findings;
use super::process::UNIT_NEXT;
use crate::commands::Session;
use crate::compose;

pub(super) const CHECK: &str = "captures";
pub(super) const PDFS: &str = "pdfs";

pub(super) async fn check(session: &Session<'_>, findings: &mut Findings) {
    let extractor = match compose::extractor(&session.settings) {
        Ok(extractor) => extractor,
        Err(problem) => {
            findings.wrong(CHECK, problem.message, "void --version");
            return;
        }
    };
    let hints = ExtractHints::default();
    let read = extractor.document(ExtractKind::Text, &hints, b"words");
    match read.await {
        Ok(_) => match extractor.isolation {
            Isolation::Full => findings.fine(CHECK, "foreign bytes are read by a confined child"),
            Isolation::WithoutLandlock => findings.warn(
                CHECK,
                "foreign bytes are read without Landlock: a reader that is fooled may open the files of this account",
                "on Linux 5.13 or newer take captures.isolation out of void.toml",
            ),
        },
        // The kernel may have what somebody else's filter refuses.
        Err(ExtractError::NotConfined(NotConfined::Landlock | NotConfined::Filter))
            if !refused_calls().is_empty() =>
        {
            let refused = refused_calls().join(", ");
            findings.warn(
                CHECK,
                format!("no page is captured and no PDF is read: a filter of system calls around Void refuses {refused}"),
                UNIT_NEXT,
            );
        }
        Err(ExtractError::NotConfined(NotConfined::Landlock)) => findings.warn(
            CHECK,
            "this kernel has no Landlock, so no page is captured and no PDF is read",
            "use Linux 5.13 or newer with Landlock; or captures.isolation = \"without-landlock\" in void.toml",
        ),
        Err(error) => findings.wrong(CHECK, error.to_string(), "void config show"),
    }
    let is_there = |reader: &&PathBuf| reader.is_file();
    match extractor.pdf_readers.iter().find(is_there) {
        Some(reader) => findings.fine(PDFS, format!("{} reads them", reader.display())),
        None => findings.warn(
            PDFS,
            "PDFs are not read here: pdftotext is missing",
            "apt install poppler-utils",
        ),
    }
}
