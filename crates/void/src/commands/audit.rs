//! `void audit`. Checking a file needs no server: it is the same code as the separate `void-verify`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use void_api::audit::{AuditResponse, EntryResponse, VerdictResponse};
use void_api::proposals::RowResponse;
use void_domain::actors::person;
use void_domain::failures::FailureCode;
use void_domain::text;
use void_verify::{Options, Report};

use super::Session;
use super::rows::or_dash;
use crate::cli::AuditCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

const EXPORT: &str = "/api/audit-export";
/// Pieces of it that have arrived and were not read yet.
const PIECES_MAX: usize = 16;

/// How many edited rows a sentence names; `GET /api/audit-verify` names a hundred.
const EDITED_SHOWN_MAX: usize = 10;

pub(super) async fn run(
    session: &Session<'_>,
    command: AuditCommand,
) -> Result<Exit, CommandError> {
    match command {
        AuditCommand::Ls { subject, limit } => list(session, subject, limit).await,
        AuditCommand::Show { seq } => {
            let entry = session.client()?.get(&format!("/api/audit/{seq}")).await?;
            show(session, entry);
            Ok(Exit::Done)
        }
        AuditCommand::Verify { file, head, from } => verify(session, file, head, from).await,
        AuditCommand::Export { file, force } => export(session, file, force).await,
    }
}

async fn list(
    session: &Session<'_>,
    subject: Option<String>,
    limit: u32,
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let mut path = format!("/api/audit?limit={limit}");
    if let Some(subject) = subject {
        // A code is what people know; the record knows the id.
        let row: RowResponse = client
            .get_as(&format!("/api/proposals/{}", super::run::segment(&subject)))
            .await?;
        path = format!("{path}&subject={}", row.id);
    }
    let answer = client.get(&path).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let answer: AuditResponse = read(answer)?;
    let row = |entry: &EntryResponse| {
        let action = entry.detail.get("action_id");
        let about = match action {
            Some(action) => action.as_str().unwrap_or("-"),
            None => or_dash(&entry.subject),
        };
        vec![
            entry.seq.to_string(),
            session.output.times.short(&entry.at),
            person(&entry.actor),
            entry.verb.clone(),
            about.to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = answer.entries.iter().map(row).collect();
    session
        .output
        .table(&["SEQ", "AT", "WHO", "WHAT", "ABOUT"], &rows);
    if let Some(head) = answer.head {
        session.output.note(format!("head {}", head.hash));
    }
    Ok(Exit::Done)
}

fn show(session: &Session<'_>, entry: Value) {
    if session.output.json {
        session.output.value(entry);
        return;
    }
    for (name, value) in entry.as_object().into_iter().flatten() {
        let shown = match value {
            Value::String(at) if name == "at" => session.output.times.exact(at),
            Value::String(text) => text::escaped(text),
            other => text::escaped(&other.to_string()),
        };
        session.output.hanging(&format!("{name:12} "), &shown);
    }
}

async fn verify(
    session: &Session<'_>,
    file: Option<PathBuf>,
    head: Option<String>,
    from: Option<u64>,
) -> Result<Exit, CommandError> {
    let head = match head {
        None => None,
        Some(text) => {
            let parsed = void_verify::parse_hash(text.as_bytes());
            Some(parsed.ok_or_else(|| {
                CommandError::usage("--head is 64 lower-case hexadecimal characters")
            })?)
        }
    };
    let options = Options {
        head,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let (report, stored) = match file {
        Some(path) => {
            let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
            (check(file, options).await?, None)
        }
        None => {
            // Two looks at once: the server's own, and ours at what it hands out, while it does.
            let stored = check_stored(session);
            let (report, stored) = tokio::join!(check_export(session, options), stored);
            (report?, Some(stored))
        }
    };
    let exit = print(session, &report);
    if exit != Exit::Done {
        return Ok(exit);
    }
    let from = from.unwrap_or(1);
    if !report.begins_with(from) {
        let message = report.missing_beginning(from);
        return Err(CommandError::new(FailureCode::Partial, message));
    }
    stored.transpose()?;
    Ok(exit)
}

/// Reads the server's export while it comes; nothing of it is kept.
async fn check_export(session: &Session<'_>, options: Options) -> Result<Report, CommandError> {
    let response = session.client()?.stream(EXPORT).await?;
    let (pieces, arrived) = mpsc::channel(PIECES_MAX);
    let passing_on = async move {
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let piece = chunk.map_err(|_| broke_off())?;
            if pieces.send(piece).await.is_err() {
                // Whoever reads has stopped, and says why.
                break;
            }
        }
        Ok::<_, CommandError>(())
    };
    let arrived = ArrivedBytes {
        arrived,
        piece: None,
        read: 0,
    };
    let (passed_on, report) = tokio::join!(passing_on, check(arrived, options));
    // What broke off is no record, whatever could be said of its beginning.
    passed_on?;
    report
}

/// The pieces as one text, for a reader in a thread of its own.
struct ArrivedBytes<B> {
    arrived: mpsc::Receiver<B>,
    piece: Option<B>,
    /// How much of the piece was read.
    read: usize,
}

impl<B: AsRef<[u8]>> Read for ArrivedBytes<B> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let piece = self.piece.as_ref().map_or(&[][..], AsRef::as_ref);
            let mut rest = piece.get(self.read..).unwrap_or_default();
            if !rest.is_empty() || room.is_empty() {
                let some = rest.read(room)?;
                self.read += some;
                return Ok(some);
            }
            match self.arrived.blocking_recv() {
                Some(next) => (self.piece, self.read) = (Some(next), 0),
                None => return Ok(0),
            }
        }
    }
}

fn broke_off() -> CommandError {
    CommandError::new(FailureCode::Unreachable, "the export broke off")
}

/// An export ends at the head; what stands beyond it in the database is named by the server.
async fn check_stored(session: &Session<'_>) -> Result<(), CommandError> {
    let verdict: VerdictResponse = session.client()?.get_as("/api/audit-verify").await?;
    match stored_problem(&verdict) {
        Some(problem) => Err(CommandError::failed(FailureCode::Damaged, problem).next(
            "void doctor; the server sets rows that it did not write aside at its next start",
        )),
        None => match edited(&verdict) {
            Some(rows) => Err(CommandError::failed(FailureCode::Edited, rows).next(EDITED_NEXT)),
            None => Ok(()),
        },
    }
}

pub(super) const EDITED_NEXT: &str =
    "find out who can write to the database; revoke, reject or freeze again what was edited";

/// Rows that do not say what the record says.
pub(super) fn edited(verdict: &VerdictResponse) -> Option<String> {
    let total = verdict.mismatches_total;
    let shown: Vec<String> = (verdict.mismatches.iter())
        .take(EDITED_SHOWN_MAX)
        .map(|row| {
            let message = text::escaped(&row.message);
            format!("{} {}: {message}", row.table, row.id)
        })
        .collect();
    let more = total.saturating_sub(shown.len() as u64);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    (total > 0).then(|| {
        format!(
            "{total} rows of the database do not say what the record says: {}{more}",
            shown.join("; ")
        )
    })
}

/// What the server's own walk found wrong.
pub(super) fn stored_problem(verdict: &VerdictResponse) -> Option<String> {
    let problem = verdict.problem.as_ref()?;
    Some(format!("entry {}: {}", problem.seq, problem.message))
}

async fn check(file: impl Read + Send + 'static, options: Options) -> Result<Report, CommandError> {
    let task = tokio::task::spawn_blocking(move || void_verify::verify(file, &options));
    let report = task
        .await
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
    report.map_err(|error| CommandError::failed(FailureCode::Unreadable, error.to_string()))
}

fn print(session: &Session<'_>, report: &Report) -> Exit {
    let exit = if report.is_intact() {
        Exit::Done
    } else {
        Exit::Failed
    };
    if session.output.json {
        session.output.line(report.to_json());
    } else {
        let tone = if report.is_intact() {
            Tone::Good
        } else {
            Tone::Bad
        };
        for line in report.to_string().lines() {
            session.output.line(session.output.tone(tone, line));
        }
    }
    exit
}

async fn export(
    session: &Session<'_>,
    file: Option<PathBuf>,
    force: bool,
) -> Result<Exit, CommandError> {
    match file {
        Some(path) => {
            let bytes = export_to(session, &path, force).await?;
            if session.output.json {
                session
                    .output
                    .value(json!({"file": path.display().to_string(), "bytes": bytes}));
            } else {
                session
                    .output
                    .note(format!("wrote {} ({bytes} bytes)", path.display()));
                let next = format!("  next: void audit verify {}", path.display());
                session.output.note(session.output.typed(&next));
            }
        }
        None => match pour(session, &mut io::stdout().lock()).await {
            // Whoever read it had enough.
            Err(Poured::Closed) => {}
            poured => {
                poured.map_err(Poured::into_problem)?;
            }
        },
    }
    Ok(Exit::Done)
}

async fn export_to(session: &Session<'_>, path: &Path, force: bool) -> Result<u64, CommandError> {
    let file = private_file(path, force)?;
    let mut writer = BufWriter::new(file);
    let bytes = pour(session, &mut writer)
        .await
        .map_err(Poured::into_problem)?;
    writer.flush().map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

/// Why a record was not written to its end.
enum Poured {
    /// Nobody reads any more.
    Closed,
    Broken(CommandError),
}

impl Poured {
    fn into_problem(self) -> CommandError {
        match self {
            Self::Closed => CommandError::failed(FailureCode::Unwritable, "nobody reads any more"),
            Self::Broken(problem) => problem,
        }
    }
}

impl From<CommandError> for Poured {
    fn from(problem: CommandError) -> Self {
        Self::Broken(problem)
    }
}

/// The record names machines and people: a file with it is for whoever asked. What is not a plain file, such
/// as a pipe, is written into.
fn private_file(path: &Path, force: bool) -> Result<File, CommandError> {
    let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    if force || is_special {
        options.create(true).truncate(!is_special);
    } else {
        options.create_new(true);
    }
    let file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::usage(format!("{} is there already", path.display()))
                .next("choose another name, or add --force to replace it")
        }
        _ => unreadable(path, &error),
    })?;
    if !is_special {
        file.set_permissions(fs::Permissions::from_mode(0o600))
            .map_err(|error| unreadable(path, &error))?;
    }
    Ok(file)
}

async fn pour(session: &Session<'_>, writer: &mut impl Write) -> Result<u64, Poured> {
    let response = session.client()?.stream(EXPORT).await?;
    let mut chunks = response.bytes_stream();
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| broke_off())?;
        writer
            .write_all(&chunk)
            .map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe => Poured::Closed,
                _ => CommandError::failed(FailureCode::Unwritable, error.to_string()).into(),
            })?;
        bytes += chunk.len() as u64;
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::exiting(
        Exit::NotFound,
        FailureCode::Unreadable,
        format!("{}: {error}", path.display()),
    )
}
