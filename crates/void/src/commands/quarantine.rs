//! `void quarantine`

use serde_json::{Value, json};
use void_domain::text;

use super::Session;
use super::rows::word;
use crate::cli::{QuarantineArgs, QuarantineCommand};
use crate::client::Client;
use crate::exit::{Exit, Problem};

pub(super) async fn run(
    session: &Session<'_>,
    command: QuarantineCommand,
) -> Result<Exit, Problem> {
    match command {
        QuarantineCommand::Ls => list(session).await,
        QuarantineCommand::Confirm(args) => change(session, "confirm", args).await,
        QuarantineCommand::Remove(args) => change(session, "remove", args).await,
    }
}

async fn quarantined(client: &Client) -> Result<Vec<Value>, Problem> {
    let answer = client.get("/api/quarantine").await?;
    let listed = answer.get("quarantined").and_then(Value::as_array);
    Ok(listed.cloned().unwrap_or_default())
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let listed = quarantined(&session.client()?).await?;
    let output = session.output;
    if output.json {
        output.value(json!({"quarantined": listed}));
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        output.line("Nothing is in quarantine.");
        return Ok(Exit::Done);
    }
    let row = |one: &Value| {
        let cell = |name: &str| text::escaped(word(one, name));
        vec![
            cell("kind"),
            cell("id"),
            cell("name"),
            output.times.short(word(one, "made_at")),
        ]
    };
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    output.table(&["KIND", "ID", "NAME", "MADE"], &rows);
    output.note("They came back with an older copy of the database, which does not know what you revoked since.");
    output.note("  next: void quarantine confirm ID, or void quarantine remove ID");
    Ok(Exit::Done)
}

async fn change(
    session: &Session<'_>,
    verb: &'static str,
    args: QuarantineArgs,
) -> Result<Exit, Problem> {
    if args.id.is_none() && !args.all {
        let message = format!("void quarantine {verb} needs an id, or --all");
        return Err(Problem::usage(message).next("void quarantine ls"));
    }
    let client = session.client()?;
    let mut listed = quarantined(&client).await?;
    if let Some(id) = &args.id {
        listed.retain(|one| word(one, "id") == id);
        if listed.is_empty() {
            let message = format!("\"{}\" is not in quarantine", text::escaped(id));
            return Err(
                Problem::new(Exit::NotFound, "not_found", message).next("void quarantine ls")
            );
        }
    }
    for one in &listed {
        let body = json!({"kind": word(one, "kind"), "id": word(one, "id")});
        client
            .post(&format!("/api/quarantine/{verb}"), body)
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
    for one in &listed {
        let name = text::escaped(word(one, "name"));
        session
            .output
            .line(format!("{done}: {} {name}", word(one, "kind")));
    }
    Ok(Exit::Done)
}
