//! `void actions`

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use void_api::actions::{ActionResponse, ActionsResponse, PatchRequest};
use void_api::proposals::RowResponse;
use void_api::runbooks::RunbookResponse;
use void_domain::catalogue::{Catalogue, JSON_SCHEMA, Severity, Tier};
use void_domain::failures::FailureCode;
use void_domain::limits;
use void_domain::starters::Starter;
use void_domain::text;

use super::rows::{self, tier};
use super::run::segment;
use super::{Session, counted, quoted};
use crate::catalogue;
use crate::cli::ActionsCommand;
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Tone;

pub(super) async fn run(
    session: &Session<'_>,
    command: ActionsCommand,
) -> Result<Exit, CommandError> {
    match command {
        ActionsCommand::Ls => list(session).await,
        ActionsCommand::Show { id } => show(session, &id).await,
        ActionsCommand::Lint { file } => lint(session, file),
        ActionsCommand::Propose { file, reason } => propose(session, &file, reason).await,
        ActionsCommand::Schema => {
            session.output.line(JSON_SCHEMA.trim_end());
            Ok(Exit::Done)
        }
        ActionsCommand::Example { service } => {
            let text = starter(&service)?.catalogue();
            session.output.line(text.trim_end());
            Ok(Exit::Done)
        }
    }
}

/// The files to begin with for a service of this machine.
pub(super) fn starter(service: &str) -> Result<Starter, CommandError> {
    Starter::for_service(service).ok_or_else(|| {
        let message = format!(
            "\"{}\" is no name of a systemd service",
            text::escaped(service)
        );
        CommandError::usage(message)
            .next("systemctl list-units --type service shows those of this machine")
    })
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let answer = session.client()?.get("/api/actions").await?;
    if session.output.json {
        session.output.value(answer);
        return Ok(Exit::Done);
    }
    let ActionsResponse { actions, .. } = read(answer)?;
    if actions.is_empty() {
        session
            .output
            .line("The catalogue is empty: nothing may run.");
        let file = quoted(&session.settings.actions.value.display().to_string());
        let write = session.again(&format!("actions example SERVICE > {file}"));
        session
            .output
            .note(format!("  next: {write}, then {}", session.again("reload")));
        return Ok(Exit::Done);
    }
    let row = |action: &ActionResponse| {
        vec![
            action.id.clone(),
            tier(&action.tier, &action.risk).to_owned(),
            action.target.clone(),
            action.label.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = actions.iter().map(row).collect();
    session
        .output
        .table(&["ID", "TIER", "TARGET", "LABEL"], &rows);
    Ok(Exit::Done)
}

async fn show(session: &Session<'_>, id: &str) -> Result<Exit, CommandError> {
    let sent = session.client()?.get("/api/actions").await?;
    let ActionsResponse { actions, .. } = read(sent.clone())?;
    let found = actions.iter().enumerate().find(|(_, one)| one.id == id);
    let Some((index, action)) = found else {
        let near = text::nearest(id, actions.iter().map(|action| action.id.as_str()));
        let problem = CommandError::exiting(
            Exit::NotFound,
            FailureCode::UnknownAction,
            format!(
                "there is no action \"{}\" in the catalogue",
                text::escaped(id)
            ),
        );
        return Err(match near {
            Some(near) => problem.next(format!("did you mean {near}?")),
            None => problem.next("void actions ls"),
        });
    };
    // All that was sent of it, also what this program does not know.
    let whole = sent.pointer(&format!("/actions/{index}"));
    let mut whole = whole.cloned().unwrap_or_default();
    let path = format!("/api/actions/{}", segment(id));
    let one = session.client()?.get(&path).await?;
    let told = one.get("runbooks").cloned().unwrap_or_default();
    if session.output.json {
        if let Value::Object(members) = &mut whole {
            members.insert("runbooks".to_owned(), told);
        }
        session.output.value(whole);
        return Ok(Exit::Done);
    }
    let runbooks: Vec<RunbookResponse> = read(told)?;
    session.output.line(format!(
        "{}   {}",
        text::escaped(&action.label),
        tier(&action.tier, &action.risk)
    ));
    for (name, value) in whole.as_object().into_iter().flatten() {
        let shown = match value {
            Value::Null => continue,
            Value::String(text) => text::escaped(text),
            Value::Object(members) if members.is_empty() => continue,
            other => text::escaped(&other.to_string()),
        };
        session.output.line(format!("  {name:12} {shown}"));
    }
    for runbook in &runbooks {
        session
            .output
            .foreign_field("runbook", 12, &rows::runbook(runbook));
    }
    Ok(Exit::Done)
}

/// A file whose first line is one of a diff is a diff; a catalogue begins with a brace.
fn is_diff(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| {
        ["--- ", "@@ ", "diff --git "]
            .iter()
            .any(|start| line.starts_with(start))
    })
}

/// Drafts another catalogue: it is checked by the server, and waits.
async fn propose(
    session: &Session<'_>,
    file: &Path,
    reason: Option<String>,
) -> Result<Exit, CommandError> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        let limit = u64::try_from(limits::CATALOGUE_BYTES_MAX + 1).unwrap_or(u64::MAX);
        std::io::stdin()
            .take(limit)
            .read_to_string(&mut text)
            .map_err(|error| CommandError::usage(format!("standard input: {error}")))?;
        text
    } else {
        catalogue::read(file)?
    };
    let (patch, file) = match is_diff(&text) {
        true => (Some(text), None),
        false => (None, Some(text)),
    };
    let request = PatchRequest {
        patch,
        file,
        reason,
    };
    let sent = session
        .client()?
        .post("/api/actions/patch", &request)
        .await?;
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Queued);
    }
    let row: RowResponse = read(sent)?;
    rows::show(session.output, &row);
    let next = session.again(&format!("inbox approve {}", row.code));
    session.output.note(format!("  next: {next}"));
    Ok(Exit::Queued)
}

/// What holds agents back where the catalogue does not say it, and where it says that nothing shall.
fn brake_notes(catalogue: &Catalogue) -> BTreeMap<String, String> {
    let default = limits::SAFE_COOLDOWN.as_secs();
    let safe = catalogue
        .actions()
        .filter(|action| action.tier == Tier::Safe);
    safe.filter_map(|action| {
        let note = match action.cooldown {
            None => format!("{default} s between runs for agents; \"cooldown_s\" makes it everybody's and the host's, 0 lifts it"),
            Some(Duration::ZERO) => format!("\"cooldown_s\": 0 lifts the {default} s between runs for agents; only their budget per hour is left"),
            Some(_) => return None,
        };
        Some((action.id.to_string(), note))
    })
    .collect()
}

/// Needs no server: the file is checked as a start would check it.
fn lint(session: &Session<'_>, file: Option<PathBuf>) -> Result<Exit, CommandError> {
    let path = file.unwrap_or_else(|| session.settings.actions.value.clone());
    let text = catalogue::read(&path)?;
    let (findings, loaded) = match Catalogue::parse(&text, &session.settings.lockout) {
        Ok(catalogue) => (catalogue.warnings().to_vec(), Some(catalogue)),
        Err(findings) => (findings, None),
    };
    let exit = if loaded.is_some() {
        Exit::Done
    } else {
        Exit::Config
    };
    if session.output.json {
        session.output.value(json!({
            "file": path.display().to_string(),
            "valid": loaded.is_some(),
            "digest": loaded.as_ref().map(Catalogue::digest),
            "actions": loaded.as_ref().map(|catalogue| catalogue.actions().len()),
            "problems": findings,
            "notes": loaded.as_ref().map(brake_notes),
        }));
        return Ok(exit);
    }
    for finding in &findings {
        let (tone, word) = match finding.severity {
            Severity::Error => (Tone::Bad, "error"),
            Severity::Warning => (Tone::Waiting, "warning"),
        };
        session.output.line(format!(
            "{} {}",
            session.output.tone(tone, word),
            catalogue::describe(&path, finding).trim()
        ));
    }
    match loaded {
        Some(catalogue) => {
            let raised = catalogue
                .actions()
                .filter_map(|action| Some((action, action.raised.as_ref()?)));
            for (action, why) in raised {
                session
                    .output
                    .line(format!("note {} is critical: {why}", action.id));
            }
            for (id, note) in brake_notes(&catalogue) {
                session.output.line(format!("note {id}: {note}"));
            }
            session.output.line(format!(
                "{}: {}, digest {}",
                path.display(),
                counted(catalogue.actions().len(), "action"),
                catalogue.digest()
            ));
        }
        None => session.output.note(format!(
            "{}: refused as a whole until every error is gone",
            path.display()
        )),
    }
    Ok(exit)
}
