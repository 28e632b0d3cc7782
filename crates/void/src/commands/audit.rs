//! `void audit`. Checking a file needs no server: it is the same code as the separate `void-verify`.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use void_api::audit::{AuditResponse, EntryResponse, VerdictResponse};
use void_api::proposals::RowResponse;
use void_domain::failures::FailureCode;
use void_domain::text;
use void_verify::{Options, Report};

use super::Session;
use super::rows::or_dash;
use crate::cli::AuditCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

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
            entry.actor.clone(),
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
    let is_served = file.is_none();
    let report = match file {
        Some(path) => {
            let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
            check(file, options).await?
        }
        None => {
            let folder = tempfile_path(session);
            export_to(session, &folder, true).await?;
            let report = match File::open(&folder) {
                Ok(file) => check(file, options).await,
                Err(error) => Err(unreadable(&folder, &error)),
            };
            let _ = fs::remove_file(&folder);
            report?
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
    if is_served {
        check_stored(session).await?;
    }
    Ok(exit)
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

fn tempfile_path(session: &Session<'_>) -> PathBuf {
    session
        .settings
        .data
        .value
        .join(format!("audit-export.{}.partial", std::process::id()))
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
        None => match pour(session, &mut std::io::stdout().lock()).await {
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
    let response = session.client()?.stream("/api/audit-export").await?;
    let mut chunks = response.bytes_stream();
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk
            .map_err(|_| CommandError::new(FailureCode::Unreachable, "the export broke off"))?;
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

fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::exiting(
        Exit::NotFound,
        FailureCode::Unreadable,
        format!("{}: {error}", path.display()),
    )
}
