//! The extractor: this program once more, as a child that confines itself, reads foreign bytes from standard
//! input and answers with one JSON object on standard output.
//!
//! The invariant: no byte is read before the fences stand. Reading is pure from there on (bytes in, report
//! out); a PDF is handed to the system's reader by becoming it, because a new process is not to be had.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::confinement::{Isolation, Role, confine};
use crate::limits::{INPUT_BYTES_MAX, REQUEST_BYTES_MAX};
use crate::reports::{ExtractHints, ExtractKind, NotConfined, Report, Unreadable};
use crate::{html, karakeep, plain_text};

/// Ends with this when its standard output is a report, and with the program's own code when it became one.
pub(crate) const REPORTED: u8 = 90;
/// Called with words that the server does not use.
const MISUSED: u8 = 2;

/// What a hidden subcommand runs, before there is a second thread: the words after the subcommand's name,
/// standard input and standard output.
pub fn run_extractor(
    words: impl IntoIterator<Item = OsString>,
    stdin: impl Read,
    stdout: impl Write,
) -> ExitCode {
    let Some(order) = Order::parse(words) else {
        return ExitCode::from(MISUSED);
    };
    let report = match &order.program {
        Some(program) => become_program(program, order.isolation),
        None => match confine(order.isolation, Role::Reader) {
            Ok(()) => read_and_extract(order.kind, stdin),
            Err(why) => Report::NotConfined(why),
        },
    };
    match write_report(stdout, &report) {
        Ok(()) => ExitCode::from(REPORTED),
        Err(_) => ExitCode::FAILURE,
    }
}

struct Order {
    kind: ExtractKind,
    isolation: Isolation,
    /// Of PDFs, and of nothing else.
    program: Option<PathBuf>,
}

impl Order {
    fn parse(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        let kind = ExtractKind::parse(words.next()?.to_str()?)?;
        let isolation = Isolation::parse(words.next()?.to_str()?)?;
        let program = words.next().map(PathBuf::from);
        let is_complete = program.is_some() == (kind == ExtractKind::Pdf) && words.next().is_none();
        is_complete.then_some(Self {
            kind,
            isolation,
            program,
        })
    }
}

/// Returns only if it could not.
fn become_program(program: &Path, isolation: Isolation) -> Report {
    if !program.is_absolute() || !program.is_file() {
        return Report::Unreadable(Unreadable::PdfReaderMissing);
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the process becomes the reader of PDFs, inside its fences"
    )]
    let mut command = std::process::Command::new(program);
    // Quietly, in UTF-8, from standard input to standard output, lines as they are on the page.
    command
        .args(["-q", "-enc", "UTF-8", "-eol", "unix", "-", "-"])
        .env_clear();
    if let Err(why) = confine(isolation, Role::Program(program)) {
        return Report::NotConfined(why);
    }
    let error = command.exec();
    match error.kind() {
        io::ErrorKind::NotFound => Report::Unreadable(Unreadable::PdfReaderMissing),
        _ => Report::NotConfined(NotConfined::Filter),
    }
}

fn read_and_extract(kind: ExtractKind, stdin: impl Read) -> Report {
    let mut input = Vec::new();
    let most = REQUEST_BYTES_MAX + 1 + INPUT_BYTES_MAX;
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let read = stdin.take(most.saturating_add(1)).read_to_end(&mut input);
    let request = input.iter().position(|byte| *byte == b'\n');
    let (Ok(_), Some(end)) = (read, request) else {
        return Report::Unreadable(Unreadable::TooLarge);
    };
    let (request, bytes) = input.split_at(end);
    let bytes = bytes.get(1..).unwrap_or_default();
    if bytes.len() > INPUT_BYTES_MAX || request.len() > REQUEST_BYTES_MAX {
        return Report::Unreadable(Unreadable::TooLarge);
    }
    let hints: ExtractHints = serde_json::from_slice(request).unwrap_or_default();
    extract(kind, &hints, bytes)
}

fn extract(kind: ExtractKind, hints: &ExtractHints, bytes: &[u8]) -> Report {
    let document = match kind {
        ExtractKind::Html => html::extract(bytes, hints),
        ExtractKind::Text => plain_text::extract(bytes, hints),
        // What has a program of its own never comes here.
        ExtractKind::Pdf => Err(Unreadable::PdfReaderMissing),
        ExtractKind::Karakeep => {
            return match karakeep::read(bytes) {
                Ok(bookmarks) => Report::Bookmarks(bookmarks),
                Err(why) => Report::Unreadable(why),
            };
        }
    };
    match document {
        Ok(extracted) => Report::Document(extracted),
        Err(why) => Report::Unreadable(why),
    }
}

fn write_report(mut stdout: impl Write, report: &Report) -> io::Result<()> {
    let text = serde_json::to_vec(report).map_err(io::Error::other)?;
    stdout.write_all(&text)?;
    stdout.flush()
}
