//! `void quarantine`

use serde_json::json;
use void_api::quarantine::{QuarantineRequest, QuarantineResponse, QuarantinedResponse};
use void_domain::failures::FailureCode;
use void_domain::text;

use super::Session;
use crate::cli::{QuarantineArgs, QuarantineCommand};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

/// How much of what was typed is said again.
const GIVEN_BYTES_SHOWN: usize = 128;

pub(super) async fn run(
    session: &Session<'_>,
    command: QuarantineCommand,
) -> Result<Exit, CommandError> {
    match command {
        QuarantineCommand::Ls => list(session).await,
        QuarantineCommand::Confirm(args) => change(session, "confirm", args).await,
        QuarantineCommand::Remove(args) => change(session, "remove", args).await,
    }
}

async fn quarantined(client: &Client) -> Result<Vec<QuarantinedResponse>, CommandError> {
    let answer: QuarantineResponse = client.get_as("/api/quarantine").await?;
    Ok(answer.quarantined)
}

async fn list(session: &Session<'_>) -> Result<Exit, CommandError> {
    let output = session.output;
    let answer = session.client()?.get("/api/quarantine").await?;
    if output.json {
        output.value(answer);
        return Ok(Exit::Done);
    }
    let QuarantineResponse {
        quarantined: listed,
    } = read(answer)?;
    if listed.is_empty() {
        output.line("Nothing is in quarantine.");
        return Ok(Exit::Done);
    }
    let row = |one: &QuarantinedResponse| {
        vec![
            text::escaped(&one.kind),
            text::escaped(&one.id),
            text::escaped(&one.name),
            output.times.short(&one.made_at),
        ]
    };
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    output.table(&["KIND", "ID", "NAME", "MADE"], &rows);
    output.note("They came back with an older copy of the database, which does not know what you revoked since.");
    output.note(output.typed("  next: void quarantine confirm ID, or void quarantine remove ID"));
    Ok(Exit::Done)
}

async fn change(
    session: &Session<'_>,
    verb: &'static str,
    args: QuarantineArgs,
) -> Result<Exit, CommandError> {
    if args.id.is_none() && !args.all {
        let message = format!("void quarantine {verb} needs an id, or --all");
        return Err(CommandError::usage(message).next("void quarantine ls"));
    }
    let client = session.client()?;
    let mut listed = quarantined(&client).await?;
    if let Some(given) = &args.id {
        listed = vec![meant(listed, given, verb)?];
    }
    for one in &listed {
        let body = QuarantineRequest {
            kind: one.kind.clone().into_owned(),
            id: one.id.clone(),
        };
        client
            .post(&format!("/api/quarantine/{verb}"), &body)
            .await?;
    }
    let done = if verb == "confirm" {
        "confirmed"
    } else {
        "removed"
    };
    if session.output.json {
        session.output.value(json!({ done: listed }));
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        session.output.line("Nothing is in quarantine.");
    }
    for one in &listed {
        let name = text::escaped(&one.name);
        session.output.line(format!("{done}: {} {name}", one.kind));
    }
    Ok(Exit::Done)
}

/// Which one is meant: by its id, or by a name that is only one's, as the list says it or without its kind.
fn meant(
    listed: Vec<QuarantinedResponse>,
    given: &str,
    verb: &str,
) -> Result<QuarantinedResponse, CommandError> {
    let is_named = |one: &QuarantinedResponse| {
        // A token is listed as `agent claude`.
        let bare = match one.kind.as_ref() {
            "token" => one.name.split_once(' ').map(|(_, name)| name),
            _ => None,
        };
        one.name == given || bare == Some(given)
    };
    let by_id = listed.iter().any(|one| one.id == given);
    let mut fitting = (listed.into_iter()).filter(|one| {
        if by_id {
            one.id == given
        } else {
            is_named(one)
        }
    });
    let shown = text::escaped(text::cut(given, GIVEN_BYTES_SHOWN));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => {
            let message = format!("\"{shown}\" is not in quarantine");
            Err(CommandError::new(FailureCode::NotFound, message).next("void quarantine ls"))
        }
        (Some(_), Some(_)) => {
            let message = format!("\"{shown}\" is the name of several; say which by its id");
            Err(CommandError::usage(message).next(format!(
                "void quarantine ls, then void quarantine {verb} ID"
            )))
        }
    }
}
