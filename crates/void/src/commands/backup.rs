//! `void backup`

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use void_api::backups::BackupResponse;
use void_control::backups::Restored;
use void_control::{Clock, backups};
use void_domain::failures::FailureCode;
use void_store::{StoreError, backups as copies};

use super::{Session, patiently};
use crate::cli::BackupCommand;
use crate::client::read;
use crate::compose::store_problem;
use crate::exit::{CommandError, Exit};
use crate::output;

/// What the server says too, to whoever asks it for one.
const SWITCH_ON: &str =
    "switch them on: set enabled = true under [backups] in void.toml, then start the server again";

const STOP_FIRST: &str = "stop the server first";

pub(super) async fn run(
    session: &Session<'_>,
    command: BackupCommand,
) -> Result<Exit, CommandError> {
    match command {
        BackupCommand::Create => create(session).await,
        BackupCommand::Ls => list(session),
        BackupCommand::Verify { file } => verify(session, &found(session, file)).await,
        BackupCommand::Restore { file, yes } => restore(session, found(session, file), yes).await,
    }
}

async fn create(session: &Session<'_>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let made = patiently(session, "copying", client.post("/api/backups", &json!({}))).await?;
    if session.output.json {
        session.output.value(made);
    } else {
        let made: BackupResponse = read(made)?;
        session
            .output
            .line(format!("Made and checked {}", made.copy.file));
        session.output.line(format!(
            "  {} audit entries, head {}",
            made.audit_seq, made.audit_hash
        ));
    }
    Ok(Exit::Done)
}

/// Reads the folder: it works without a server, when it is needed most.
fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let found = backups::list_in(&session.settings.backups_folder.value);
    if session.output.json {
        let found: Vec<Value> = found
            .iter()
            .map(|copy| json!({"file": copy.path.display().to_string(), "made_at": copy.made_at, "bytes": copy.bytes}))
            .collect();
        session.output.value(json!({"backups": found}));
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        session.output.line(format!(
            "There is no backup in {}.",
            session.settings.backups_folder.value.display()
        ));
        let next = if session.settings.backups.value {
            "void backup create"
        } else {
            SWITCH_ON
        };
        let next = session.output.typed(next);
        session.output.note(format!("  next: {next}"));
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|copy| {
            vec![
                session.output.times.short(&copy.made_at.to_string()),
                copy.bytes.to_string(),
                copy.path.display().to_string(),
            ]
        })
        .collect();
    session.output.table(&["MADE", "BYTES", "FILE"], &rows);
    Ok(Exit::Done)
}

async fn verify(session: &Session<'_>, file: &Path) -> Result<Exit, CommandError> {
    must_exist(file)?;
    let path = file.to_owned();
    let task = tokio::task::spawn_blocking(move || copies::check(&path));
    let checked = session
        .output
        .waiting("checking", task)
        .await
        .map_err(|error| CommandError::failed(FailureCode::Internal, error.to_string()))?;
    let checked = checked.map_err(|error| not_whole(file, error))?;
    if session.output.json {
        session.output.value(json!({"file": file.display().to_string(), "valid": true, "audit_seq": checked.audit_seq, "audit_hash": checked.audit_hash}));
    } else {
        session.output.line(format!(
            "{} is whole: {} audit entries, head {}",
            file.display(),
            checked.audit_seq,
            checked.audit_hash
        ));
    }
    Ok(Exit::Done)
}

async fn restore(session: &Session<'_>, file: PathBuf, yes: bool) -> Result<Exit, CommandError> {
    must_exist(&file)?;
    must_be_free(session)?;
    if !yes && !confirm_restore(session, &file)? {
        return Ok(Exit::Interrupted);
    }
    let (database, witness_file) = (
        session.settings.database_file(),
        session.settings.witness_file(),
    );
    let restored = backups::restore(&file, &database, &witness_file, &Clock::system())
        .await
        .map_err(|error| {
            let problem = store_problem(error);
            if problem.code == FailureCode::InUse {
                problem.next(STOP_FIRST)
            } else {
                problem
            }
        })?;
    let folders = restore_folders(session, &file)?;
    tell_restored(session, &restored, folders.as_deref());
    Ok(Exit::Done)
}

/// Only a database in a file that no process works on can be replaced.
fn must_be_free(session: &Session<'_>) -> Result<(), CommandError> {
    if session.settings.database_url.value.is_some() {
        return Err(CommandError::config(
            "this Void uses PostgreSQL; restore it with its own tools",
        )
        .next("pg_restore"));
    }
    // Said before anybody decides anything.
    if let Some(process) = copies::held_by(&session.settings.database_file()) {
        let folder = session.settings.data.value.display();
        let message = format!("process {process} works on {folder}");
        return Err(CommandError::failed(FailureCode::InUse, message).next(STOP_FIRST));
    }
    Ok(())
}

fn confirm_restore(session: &Session<'_>, file: &Path) -> Result<bool, CommandError> {
    if !output::is_interactive() {
        return Err(CommandError::usage("there is nobody to ask here").next("add --yes"));
    }
    session.output.note(format!(
        "This replaces {} with {}.",
        session.settings.database_file().display(),
        file.display()
    ));
    session
        .output
        .note("What waited in the copy will be void, sessions end, credentials have to be confirmed, and it starts frozen; what was replaced is kept beside it.");
    Ok(output::confirm("Restore?"))
}

fn tell_restored(session: &Session<'_>, restored: &Restored, folders: Option<&[PathBuf]>) {
    if session.output.json {
        session.output.value(json!({
            "restored": true, "folders_restored": folders.is_some(), "audit_seq": restored.audit_seq, "voided": restored.shut_down.voided,
            "quarantined": restored.shut_down.quarantined, "sessions_ended": restored.shut_down.sessions_ended,
            "replaced": restored.replaced.as_ref().map(|path| path.display().to_string()),
        }));
        return;
    }
    session.output.line(format!(
        "Restored {} audit entries; {} open proposals of the copy are void.",
        restored.audit_seq, restored.shut_down.voided
    ));
    if let Some(replaced) = &restored.replaced {
        session
            .output
            .line(format!("  what it replaced is at {}", replaced.display()));
    }
    tell_folders(session, folders);
    session.output.line(format!(
        "  {} sessions ended; {} credentials of the copy open nothing until you confirm each; it starts frozen",
        restored.shut_down.sessions_ended, restored.shut_down.quarantined
    ));
    session
        .output
        .next("void serve, then void quarantine ls, then void thaw");
}

/// What the folders of the copy replaced; `None`: it has none.
fn restore_folders(
    session: &Session<'_>,
    file: &Path,
) -> Result<Option<Vec<PathBuf>>, CommandError> {
    let data = &session.settings.data.value;
    let folders = backups::restore_folders(file, data, Clock::system().now());
    folders.map_err(|error| {
        let message = format!("the database is restored, the folders of agents are not: {error}");
        CommandError::failed(FailureCode::Unwritable, message)
            .next("make room or rights, and restore the same copy again")
    })
}

fn tell_folders(session: &Session<'_>, replaced: Option<&[PathBuf]>) {
    let Some(replaced) = replaced else {
        let said = "  the copy has no folders of agents: meta, agents and applied are as they were";
        return session.output.line(said);
    };
    for folder in replaced {
        session
            .output
            .line(format!("  what it replaced is at {}", folder.display()));
    }
}

/// A bare name is one of the backups' folder, unless there is such a file here.
fn found(session: &Session<'_>, file: PathBuf) -> PathBuf {
    let is_bare = file.file_name() == Some(file.as_os_str());
    let kept = session.settings.backups_folder.value.join(&file);
    if is_bare && !file.exists() && kept.is_file() {
        kept
    } else {
        file
    }
}

/// What is wrong with a copy is no reason to restore anything.
fn not_whole(file: &Path, error: StoreError) -> CommandError {
    match error {
        StoreError::Corrupt { .. } | StoreError::Constraint(_) | StoreError::Internal(_) => {
            let message = format!("{} is damaged: {error}", file.display());
            CommandError::failed(FailureCode::Corrupt, message)
                .next("void backup ls, and check another copy")
        }
        error => store_problem(error),
    }
}

fn must_exist(file: &Path) -> Result<(), CommandError> {
    if file.is_file() {
        if copies::is_database(file) {
            return Ok(());
        }
        let message = format!("{} is not a backup of Void", file.display());
        return Err(CommandError::failed(FailureCode::NotABackup, message).next("void backup ls"));
    }
    Err(CommandError::new(
        FailureCode::NotFound,
        format!("{} is not there", file.display()),
    )
    .next("void backup ls"))
}
