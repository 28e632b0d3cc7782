//! `void audit`. Checking a file needs no server: it is the same code as the separate `void-verify`.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use void_domain::text;
use void_verify::{Options, Report};

use super::Session;
use super::rows::word;
use crate::cli::AuditCommand;
use crate::exit::{Exit, Problem};
use crate::output::Tone;

pub(super) async fn run(session: &Session<'_>, command: AuditCommand) -> Result<Exit, Problem> {
    match command {
        AuditCommand::Ls { subject, limit } => list(session, subject, limit).await,
        AuditCommand::Show { seq } => {
            let entry = session.client()?.get(&format!("/api/audit/{seq}")).await?;
            show(session, entry);
            Ok(Exit::Done)
        }
        AuditCommand::Verify { file, head } => verify(session, file, head).await,
        AuditCommand::Export { file } => export(session, file).await,
    }
}

async fn list(session: &Session<'_>, subject: Option<String>, limit: u32) -> Result<Exit, Problem> {
    let client = session.client()?;
    let mut path = format!("/api/audit?limit={limit}");
    if let Some(subject) = subject {
        // A code is what people know; the record knows the id.
        let row = client
            .get(&format!("/api/proposals/{}", super::run::segment(&subject)))
            .await?;
        path = format!("{path}&subject={}", word(&row, "id"));
    }
    let answer = client.get(&path).await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let entries = answer
        .get("entries")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let row = |entry: &Value| {
        let about = entry
            .pointer("/detail/action_id")
            .or_else(|| entry.get("subject"))
            .and_then(Value::as_str);
        vec![
            entry.get("seq").map(Value::to_string).unwrap_or_default(),
            word(entry, "at").to_owned(),
            word(entry, "actor").to_owned(),
            word(entry, "verb").to_owned(),
            about.unwrap_or("-").to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    session
        .output
        .table(&["SEQ", "AT", "WHO", "WHAT", "ABOUT"], &rows);
    let head = answer
        .pointer("/head/hash")
        .and_then(Value::as_str)
        .unwrap_or("-");
    session.output.note(format!("head {head}"));
    Ok(Exit::Done)
}

fn show(session: &Session<'_>, entry: Value) {
    if session.output.json {
        session.output.value(entry);
        return;
    }
    for (name, value) in entry.as_object().into_iter().flatten() {
        let shown = match value {
            Value::String(text) => text::escaped(text),
            other => text::escaped(&other.to_string()),
        };
        session.output.line(format!("{name:12} {shown}"));
    }
}

async fn verify(
    session: &Session<'_>,
    file: Option<PathBuf>,
    head: Option<String>,
) -> Result<Exit, Problem> {
    let head =
        match head {
            None => None,
            Some(text) => {
                let parsed = void_verify::parse_hash(text.as_bytes());
                Some(parsed.ok_or_else(|| {
                    Problem::usage("--head is 64 lower-case hexadecimal characters")
                })?)
            }
        };
    let options = Options {
        head,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let report = match file {
        Some(path) => {
            let file = File::open(&path).map_err(|error| unreadable(&path, &error))?;
            check(file, options).await?
        }
        None => {
            let folder = tempfile_path(session);
            export_to(session, &folder).await?;
            let report = match File::open(&folder) {
                Ok(file) => check(file, options).await,
                Err(error) => Err(unreadable(&folder, &error)),
            };
            let _ = std::fs::remove_file(&folder);
            report?
        }
    };
    Ok(print(session, &report))
}

fn tempfile_path(session: &Session<'_>) -> PathBuf {
    session
        .settings
        .data
        .value
        .join(format!("audit-export.{}.partial", std::process::id()))
}

async fn check(file: impl Read + Send + 'static, options: Options) -> Result<Report, Problem> {
    let task = tokio::task::spawn_blocking(move || void_verify::verify(file, &options));
    let report = task
        .await
        .map_err(|error| Problem::failed("internal", error.to_string()))?;
    report.map_err(|error| Problem::failed("unreadable", error.to_string()))
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

async fn export(session: &Session<'_>, file: Option<PathBuf>) -> Result<Exit, Problem> {
    match file {
        Some(path) => {
            let bytes = export_to(session, &path).await?;
            if session.output.json {
                session
                    .output
                    .value(json!({"file": path.display().to_string(), "bytes": bytes}));
            } else {
                session
                    .output
                    .note(format!("wrote {} ({bytes} bytes)", path.display()));
                session
                    .output
                    .note(format!("  next: void audit verify {}", path.display()));
            }
        }
        None => {
            pour(session, &mut std::io::stdout().lock()).await?;
        }
    }
    Ok(Exit::Done)
}

async fn export_to(session: &Session<'_>, path: &Path) -> Result<u64, Problem> {
    let file = File::create(path).map_err(|error| unreadable(path, &error))?;
    let mut writer = BufWriter::new(file);
    let bytes = pour(session, &mut writer).await?;
    writer.flush().map_err(|error| unreadable(path, &error))?;
    Ok(bytes)
}

async fn pour(session: &Session<'_>, writer: &mut impl Write) -> Result<u64, Problem> {
    let response = session.client()?.stream("/api/audit-export").await?;
    let mut chunks = response.bytes_stream();
    let mut bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk
            .map_err(|_| Problem::new(Exit::Unreachable, "unreachable", "the export broke off"))?;
        writer
            .write_all(&chunk)
            .map_err(|error| Problem::failed("unwritable", error.to_string()))?;
        bytes += chunk.len() as u64;
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(
        Exit::NotFound,
        "unreadable",
        format!("{}: {error}", path.display()),
    )
}
