//! `void clock`: what to do when the record was written by a clock that was wrong.

use serde_json::json;
use void_control::accept_file;
use void_domain::failures::FailureCode;

use super::Session;
use crate::cli::ClockCommand;
use crate::exit::{CommandError, Exit};

pub(super) fn run(session: &Session<'_>, command: &ClockCommand) -> Result<Exit, CommandError> {
    match command {
        ClockCommand::Accept => accept(session),
    }
}

/// Leaves the owner's word beside the database, where only who runs Void can write; the next start reads it.
fn accept(session: &Session<'_>) -> Result<Exit, CommandError> {
    let file = accept_file(&session.settings.witness_file());
    std::fs::write(&file, b"").map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        CommandError::failed(FailureCode::Unwritable, &message)
    })?;
    if session.output.json {
        session
            .output
            .value(json!({"accepted": true, "file": file}));
        return Ok(Exit::Done);
    }
    session.output.line(
        "At its next start Void takes this machine's clock for right, if it is in doubt then. What waits is void \
         then, sessions are over, links, codes and invitations that were not used are void, and the record says so. Restart it \
         now: a later start that finds no doubt drops your word.",
    );
    Ok(Exit::Done)
}
