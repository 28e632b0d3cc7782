//! `void inbox`

use serde_json::{Value, json};
use void_domain::text;

use super::rows::{self, word};
use super::run::segment;
use super::{Session, patiently};
use crate::cli::{InboxCommand, SettleOutcome};
use crate::client::{Client, Events};
use crate::exit::{Exit, Problem};
use crate::output;

pub(super) async fn run(session: &Session<'_>, command: InboxCommand) -> Result<Exit, Problem> {
    match command {
        InboxCommand::Ls => list(session).await,
        InboxCommand::Show { id } => {
            let row = find(&session.client()?, &id).await?;
            print(session, row);
            Ok(Exit::Done)
        }
        InboxCommand::Approve {
            id,
            digest,
            yes,
            reason,
            wait,
        } => approve(session, &id, digest, yes, reason, wait).await,
        InboxCommand::Reject { id, reason } => reject(session, &id, reason).await,
        InboxCommand::Cancel { id } => {
            let client = session.client()?;
            let row = find(&client, &id).await?;
            let row = client
                .post(
                    &format!("/api/proposals/{}/cancel", word(&row, "id")),
                    json!({}),
                )
                .await?;
            print(session, row);
            Ok(Exit::Done)
        }
        InboxCommand::Settle { id, outcome } => {
            let outcome = match outcome {
                SettleOutcome::Executed => "executed",
                SettleOutcome::Failed => "failed",
            };
            let path = format!("/api/proposals/{}/settle", segment(&id));
            let row = session
                .client()?
                .post(&path, json!({"outcome": outcome}))
                .await?;
            print(session, row);
            Ok(Exit::Done)
        }
        InboxCommand::Watch { id } => watch(session, id).await,
    }
}

async fn find(client: &Client, id: &str) -> Result<Value, Problem> {
    client.get(&format!("/api/proposals/{}", segment(id))).await
}

fn print(session: &Session<'_>, row: Value) {
    if session.output.json {
        session.output.value(row);
    } else {
        rows::show(session.output, &row);
    }
}

async fn list(session: &Session<'_>) -> Result<Exit, Problem> {
    let inbox = session.client()?.get("/api/inbox").await?;
    if session.output.json {
        session.output.value(inbox);
        return Ok(Exit::Done);
    }
    let items = inbox
        .get("items")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    if items.is_empty() {
        session.output.line("Nothing waits for you.");
        return Ok(Exit::Done);
    }
    let row = |item: &Value| {
        if word(item, "kind") == "join" {
            let what = format!("{} asks to be a node: void node ls", word(item, "name"));
            let from = word(item, "from").to_owned();
            let dash = || "-".to_owned();
            return vec![dash(), "join".to_owned(), dash(), what, from, dash()];
        }
        let asked = item
            .pointer("/requested_by/name")
            .and_then(Value::as_str)
            .unwrap_or("-");
        vec![
            word(item, "code").to_owned(),
            rows::state(item).0.to_owned(),
            rows::tier(item).to_owned(),
            word(item, "label").to_owned(),
            asked.to_owned(),
            word(item, "expires_at").to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    session.output.table(
        &["CODE", "STATE", "TIER", "WHAT", "ASKED BY", "EXPIRES"],
        &rows,
    );
    let untold = inbox
        .pointer("/counts/untold")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    if untold > 0 {
        session.output.note(format!(
            "nobody could be told about {untold} of them; void notify ls says why"
        ));
    }
    if inbox.get("next").is_some_and(Value::is_string) {
        session
            .output
            .note("there is more; void inbox ls --json has the cursor");
    }
    Ok(Exit::Done)
}

async fn approve(
    session: &Session<'_>,
    id: &str,
    digest: Option<String>,
    yes: bool,
    reason: Option<String>,
    wait: u64,
) -> Result<Exit, Problem> {
    let client = session.client()?;
    let row = find(&client, id).await?;
    let critical = word(&row, "risk") == "critical";
    let digest = match digest {
        Some(digest) => digest,
        None if word(&row, "status") != "pending" => word(&row, "digest").to_owned(),
        None if critical => {
            if !session.output.json {
                rows::show(session.output, &row);
            }
            let next = format!(
                "void inbox approve {} --digest {}",
                word(&row, "code"),
                word(&row, "digest")
            );
            return Err(Problem::usage(
                "this may cut you off: approve it with the digest that you see",
            )
            .next(next));
        }
        None if yes => word(&row, "digest").to_owned(),
        None if !output::is_interactive() => {
            return Err(Problem::usage("there is nobody to ask here")
                .next("add --yes, or --digest with the one you saw"));
        }
        None => {
            rows::show(session.output, &row);
            if !output::confirm("Run it now?") {
                session.output.note("Nothing was approved.");
                return Ok(Exit::Interrupted);
            }
            word(&row, "digest").to_owned()
        }
    };
    let body = json!({"decision": "approve", "digest": digest, "reason": reason});
    let path = format!("/api/proposals/{}/decide?wait={wait}", word(&row, "id"));
    let row = patiently(session, "running", client.post(&path, body)).await?;
    let exit = rows::exit(&row);
    print(session, row);
    Ok(exit)
}

async fn reject(session: &Session<'_>, id: &str, reason: Option<String>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let row = find(&client, id).await?;
    let body = json!({"decision": "reject", "digest": word(&row, "digest"), "reason": reason});
    let row = client
        .post(&format!("/api/proposals/{}/decide", word(&row, "id")), body)
        .await?;
    print(session, row);
    Ok(Exit::Done)
}

/// Follows the events; with an id, until that proposal has ended.
async fn watch(session: &Session<'_>, id: Option<String>) -> Result<Exit, Problem> {
    let client = session.client()?;
    let stream = client.events("/api/events", None).await?;
    let followed = match &id {
        None => None,
        Some(id) => {
            let row = find(&client, id).await?;
            let ended = !matches!(word(&row, "status"), "pending" | "approved" | "running");
            let (exit, row_id) = (rows::exit(&row), word(&row, "id").to_owned());
            if ended {
                print(session, row);
                return Ok(exit);
            }
            session
                .output
                .note(format!("watching {}; Ctrl-C to stop", text::escaped(id)));
            Some(row_id)
        }
    };
    let following = follow(session, &client, stream, followed.as_deref());
    tokio::select! {
        exit = following => exit,
        _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
    }
}

async fn follow(
    session: &Session<'_>,
    client: &Client,
    mut stream: Events,
    followed: Option<&str>,
) -> Result<Exit, Problem> {
    while let Some(event) = stream.next().await? {
        let (kind, data) = (event.name, event.data);
        if followed.is_some_and(|id| word(&data, "id") != id) {
            continue;
        }
        if session.output.json {
            session.output.value(json!({"event": kind, "data": data}));
        } else {
            session.output.line(format!(
                "{}  {kind:20}  {}  {}",
                word(&data, "at"),
                word(&data, "code"),
                text::escaped(word(&data, "label"))
            ));
        }
        let ended = !matches!(word(&data, "status"), "pending" | "approved" | "running");
        if let Some(id) = followed.filter(|_| ended) {
            let row = find(client, id).await?;
            let exit = rows::exit(&row);
            print(session, row);
            return Ok(exit);
        }
    }
    let problem = Problem::new(
        Exit::Unreachable,
        "unreachable",
        "the stream of events ended",
    );
    Err(problem.next("void inbox watch"))
}
