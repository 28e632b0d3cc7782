//! `void inbox`

use serde_json::{Value, json};
use void_domain::text;

use super::rows::{self, given, word};
use super::run::segment;
use super::{Session, patiently};
use crate::cli::{InboxCommand, InboxListArgs, SettleOutcome};
use crate::client::{Client, Events};
use crate::digest_words;
use crate::exit::{Exit, Problem};
use crate::output;

/// A page, unless another size is asked for.
const ROWS_SHOWN: u32 = 50;

pub(super) async fn run(session: &Session<'_>, command: InboxCommand) -> Result<Exit, Problem> {
    match command {
        InboxCommand::Ls(args) if args.all => history(session, &args).await,
        InboxCommand::Ls(args) => list(session, &args).await,
        InboxCommand::Show { id } => {
            let client = session.client()?;
            if session.output.json {
                session.output.value(find(&client, &id).await?);
            } else {
                rows::show_card(session.output, &card(&client, &id).await?);
            }
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

/// The row with everything that a yes binds and what Void makes of it.
async fn card(client: &Client, id: &str) -> Result<Value, Problem> {
    client
        .get(&format!("/api/proposals/{}/card", segment(id)))
        .await
}

fn print(session: &Session<'_>, row: Value) {
    if session.output.json {
        session.output.value(row);
    } else {
        rows::show(session.output, &row);
    }
}

/// The page that was asked for.
fn page(args: &InboxListArgs) -> String {
    let limit = args.limit.unwrap_or(ROWS_SHOWN);
    let cursor = args.cursor.as_deref().map(segment);
    let cursor = cursor.map(|cursor| format!("&cursor={cursor}"));
    format!("limit={limit}{}", cursor.unwrap_or_default())
}

/// How the next page is asked for.
fn more(session: &Session<'_>, args: &InboxListArgs, next: &str) -> String {
    let all = if args.all { " --all" } else { "" };
    let limit = args.limit.map(|limit| format!(" --limit {limit}"));
    let limit = limit.unwrap_or_default();
    let command = format!("inbox ls{all}{limit} --cursor {next}");
    format!("there is more: {}", session.again(&command))
}

/// Everything that was ever asked for and is still kept, newest first.
async fn history(session: &Session<'_>, args: &InboxListArgs) -> Result<Exit, Problem> {
    let path = format!("/api/proposals?{}", page(args));
    let answer = session.client()?.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(answer);
        return Ok(Exit::Done);
    }
    let proposals = answer.get("proposals").and_then(Value::as_array);
    let rows: Vec<Vec<String>> = proposals
        .into_iter()
        .flatten()
        .map(|row| {
            vec![
                word(row, "code").to_owned(),
                output.times.short(word(row, "created_at")),
                rows::state(row).0.to_owned(),
                word(row, "label").to_owned(),
                asked_by(row).to_owned(),
                given(row, "resolved_by").unwrap_or("-").to_owned(),
            ]
        })
        .collect();
    if rows.is_empty() {
        output.line("Nothing was asked for yet.");
        return Ok(Exit::Done);
    }
    let header = ["CODE", "ASKED", "STATE", "WHAT", "ASKED BY", "DECIDED BY"];
    output.table(&header, &rows);
    if let Some(next) = given(&answer, "next") {
        output.note(more(session, args, next));
    }
    Ok(Exit::Done)
}

fn asked_by(row: &Value) -> &str {
    let name = row.pointer("/requested_by/name").and_then(Value::as_str);
    name.unwrap_or("-")
}

async fn list(session: &Session<'_>, args: &InboxListArgs) -> Result<Exit, Problem> {
    let path = format!("/api/inbox?{}", page(args));
    let inbox = session.client()?.get(&path).await?;
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
        vec![
            word(item, "code").to_owned(),
            rows::state(item).0.to_owned(),
            rows::tier(item).to_owned(),
            word(item, "label").to_owned(),
            asked_by(item).to_owned(),
            session.output.times.short(word(item, "expires_at")),
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
    if let Some(next) = given(&inbox, "next") {
        session.output.note(more(session, args, next));
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
    let card = card(&client, id).await?;
    let row = card.get("row").cloned().unwrap_or_default();
    let digest = match digest {
        Some(typed) => typed_digest(typed, &row)?,
        None if word(&row, "status") != "pending" => word(&row, "digest").to_owned(),
        None if word(&row, "risk") == "critical" => ask_for_words(session, &card, &row)?,
        None if yes => word(&row, "digest").to_owned(),
        None if !output::is_interactive() => {
            return Err(Problem::usage("there is nobody to ask here")
                .next("add --yes, or --digest with the one you saw"));
        }
        None => {
            rows::show_card(session.output, &card);
            if !output::confirm("Run it now?") {
                session.output.note("Nothing was approved.");
                return Ok(Exit::Interrupted);
            }
            word(&row, "digest").to_owned()
        }
    };
    let body = json!({
        "decision": "approve",
        "digest": digest,
        "revision": row.get("revision"),
        "reason": reason,
    });
    let path = format!("/api/proposals/{}/decide?wait={wait}", word(&row, "id"));
    let row = patiently(session, "running", client.post(&path, body)).await?;
    let exit = rows::exit(&row);
    print(session, row.clone());
    if !session.output.json {
        rows::show_next(session.output, &row);
    }
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

/// The digest that was typed, or whose words were: the server gets the whole of it.
fn typed_digest(typed: String, row: &Value) -> Result<String, Problem> {
    if !digest_words::are_meant(&typed) {
        return Ok(typed);
    }
    if digest_words::are_typed(&typed, word(row, "digest")) {
        return Ok(word(row, "digest").to_owned());
    }
    let message = "those are not the words of what waits there; nothing was approved";
    let next = format!("void inbox show {}", word(row, "code"));
    Err(Problem::new(Exit::Refused, "changed", message).next(next))
}

/// Shows what may cut the owner off, and has the words of its digest typed.
fn ask_for_words(session: &Session<'_>, card: &Value, row: &Value) -> Result<String, Problem> {
    let (output, code) = (session.output, word(row, "code"));
    if !output.json {
        rows::show_card(output, card);
    }
    let (digest, words) = (word(row, "digest"), rows::words_to_type(row));
    let asked = words.as_ref().filter(|_| output::is_interactive());
    let Some(words) = asked else {
        // Programs have no use for words.
        let typed = words.filter(|_| !output.json);
        let typed = typed.map_or_else(|| digest.to_owned(), |words| words.replace(' ', "-"));
        let next = format!("void inbox approve {code} --digest {typed}");
        let message = "this may cut you off: approve it with the digest that you see, or its words";
        return Err(Problem::usage(message).next(next));
    };
    output.note("This may cut you off. Type these four words to say yes:");
    let typed = output::ask(&format!("  {words}\n>")).unwrap_or_default();
    if digest_words::are_typed(&typed, digest) {
        return Ok(digest.to_owned());
    }
    let message = "those are not the words; nothing was approved";
    Err(Problem::new(Exit::Interrupted, "not_typed", message)
        .next(format!("void inbox approve {code}")))
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
                session.output.times.clock(word(&data, "at")),
                word(&data, "code"),
                text::escaped(word(&data, "label"))
            ));
        }
        if session.output.is_closed() {
            return Ok(Exit::Done);
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
