//! `void inbox`

mod drafts;

use serde_json::{Value, json};
use void_api::cards::CardResponse;
use void_api::events::EventSummary;
use void_api::inbox::{InboxResponse, ItemResponse};
use void_api::proposals::{
    DecideRequest, DecisionWord, OutcomeWord, ProposalsResponse, RowResponse, SettleRequest,
};
use void_domain::actors::person;
use void_domain::failures::FailureCode;
use void_domain::text;

use super::holds;
use super::rows::{self, DifferenceForm, is_open, or_dash};
use super::run::segment;
use super::{Session, patiently, questions};
use crate::cli::{InboxCommand, InboxListArgs, SettleOutcome};
use crate::client::{Client, Events, read};
use crate::digest_words;
use crate::exit::{CommandError, Exit};
use crate::output;

/// A page, unless another size is asked for.
const ROWS_SHOWN: u32 = 50;

pub(super) async fn run(
    session: &Session<'_>,
    command: InboxCommand,
) -> Result<Exit, CommandError> {
    match command {
        InboxCommand::Ls(args) if args.all => history(session, &args).await,
        InboxCommand::Ls(args) => list(session, &args).await,
        InboxCommand::Show { id, unified } => show(session, &id, unified).await,
        InboxCommand::Approve {
            ids,
            digest,
            yes,
            reason,
            wait,
        } => match &ids[..] {
            [id] => approve(session, id, digest, yes, reason, wait).await,
            _ if digest.is_some() => Err(CommandError::usage(
                "a digest is of one; approve the others by themselves",
            )),
            ids => drafts::decide(session, ids, DecisionWord::Approve, yes, reason).await,
        },
        InboxCommand::Edit(args) => drafts::edit(session, args).await,
        InboxCommand::Reject { ids, reason } => match &ids[..] {
            [id] => reject(session, id, reason).await,
            ids => drafts::decide(session, ids, DecisionWord::Reject, true, reason).await,
        },
        InboxCommand::Answer(args) => questions::answer(session, args).await,
        InboxCommand::Cancel { id } if questions::is_question(&id) => {
            questions::cancel(session, &id).await
        }
        InboxCommand::Cancel { id } => cancel(session, &id).await,
        InboxCommand::Hold(args) => holds::add(session, "hold", &args.id, args.reason).await,
        InboxCommand::Veto(args) => holds::add(session, "veto", &args.id, args.reason).await,
        InboxCommand::Annotate(args) => {
            holds::add(session, "annotate", &args.id, args.reason).await
        }
        InboxCommand::Lift { id } => holds::lift(session, &id).await,
        InboxCommand::Again { id } => {
            let client = session.client()?;
            let path = format!("{}/again", path(&id));
            print(session, client.post(&path, &json!({})).await?)?;
            Ok(Exit::Queued)
        }
        InboxCommand::Settle { id, outcome } => settle(session, &id, outcome).await,
        InboxCommand::Watch { id } => watch(session, id).await,
    }
}

fn path(id: &str) -> String {
    format!("/api/proposals/{}", segment(id))
}

async fn find(client: &Client, id: &str) -> Result<RowResponse, CommandError> {
    client.get_as(&path(id)).await
}

/// The row with everything that a yes binds and what Void makes of it.
async fn card(client: &Client, id: &str) -> Result<CardResponse, CommandError> {
    client.get_as(&format!("{}/card", path(id))).await
}

/// Shows the row that came back; its exit code says the same.
fn print(session: &Session<'_>, sent: Value) -> Result<RowResponse, CommandError> {
    let row: RowResponse = read(sent.clone())?;
    if session.output.json {
        session.output.value(sent);
    } else {
        rows::show(session.output, &row);
    }
    Ok(row)
}

/// Why a yes takes more than a key.
fn why_words(row: &RowResponse) -> &'static str {
    match row.change {
        Some(_) => "this changes what is allowed",
        None => "this may cut you off",
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
async fn history(session: &Session<'_>, args: &InboxListArgs) -> Result<Exit, CommandError> {
    let path = format!("/api/proposals?{}", page(args));
    let answer = session.client()?.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(answer);
        return Ok(Exit::Done);
    }
    let answer: ProposalsResponse = read(answer)?;
    let row = |row: &RowResponse| {
        vec![
            row.code.clone(),
            output.times.short(&row.created_at),
            rows::state(row).0,
            rows::title(row),
            row.requested_by.name.clone(),
            row.resolved_by
                .as_deref()
                .map_or_else(|| "-".to_owned(), person),
        ]
    };
    let rows: Vec<Vec<String>> = answer.proposals.iter().map(row).collect();
    if rows.is_empty() {
        output.line("Nothing was asked for yet.");
        return Ok(Exit::Done);
    }
    let header = ["CODE", "ASKED", "STATE", "WHAT", "ASKED BY", "DECIDED BY"];
    output.table(&header, &rows);
    if let Some(next) = &answer.next {
        output.note(more(session, args, next));
    }
    Ok(Exit::Done)
}

async fn list(session: &Session<'_>, args: &InboxListArgs) -> Result<Exit, CommandError> {
    let path = format!("/api/inbox?{}", page(args));
    let inbox = session.client()?.get(&path).await?;
    if session.output.json {
        session.output.value(inbox);
        return Ok(Exit::Done);
    }
    let inbox: InboxResponse = read(inbox)?;
    if inbox.items.is_empty() {
        session.output.line("Nothing waits for you.");
        return Ok(Exit::Done);
    }
    let row = |item: &ItemResponse| match item {
        ItemResponse::Join(join) => {
            let look = session.output.typed("void node ls");
            let what = format!("{} asks to be a node: {look}", join.name);
            let dash = || "-".to_owned();
            let from = join.from.clone();
            vec![dash(), "join".to_owned(), dash(), what, from, dash()]
        }
        ItemResponse::Question(item) => questions::row(session.output, &item.question),
        ItemResponse::Row(item) => vec![
            item.row.code.clone(),
            rows::state(&item.row).0,
            rows::tier_in_list(&item.row).to_owned(),
            rows::title(&item.row),
            item.row.requested_by.name.clone(),
            session.output.times.short(&item.row.expires_at),
        ],
    };
    let rows: Vec<Vec<String>> = inbox.items.iter().map(row).collect();
    session.output.table(
        &["CODE", "STATE", "TIER", "WHAT", "ASKED BY", "EXPIRES"],
        &rows,
    );
    questions::show_all(session.output, &inbox);
    let untold = inbox.counts.untold;
    if untold > 0 {
        let why = session.output.typed("void notify ls says why");
        session.output.note(format!(
            "nobody could be told about {untold} of them; {why}"
        ));
    }
    if let Some(next) = &inbox.next {
        session.output.note(more(session, args, next));
    }
    Ok(Exit::Done)
}

async fn show(session: &Session<'_>, id: &str, unified: bool) -> Result<Exit, CommandError> {
    let client = session.client()?;
    if session.output.json {
        session.output.value(client.get(&path(id)).await?);
    } else {
        let form = match unified {
            true => DifferenceForm::Unified,
            false => DifferenceForm::Words,
        };
        rows::show_card_as(session.output, &card(&client, id).await?, form);
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
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let card = card(&client, id).await?;
    let row = &card.row;
    let digest = match digest {
        Some(typed) => typed_digest(typed, row)?,
        None if row.status != "pending" => row.digest.clone(),
        None if row.risk == "critical" => ask_for_words(session, &card)?,
        None if yes => row.digest.clone(),
        None if !output::is_interactive() => {
            return Err(CommandError::usage("there is nobody to ask here")
                .next("add --yes, or --digest with the one you saw"));
        }
        None => {
            rows::show_card(session.output, &card);
            let question = match rows::is_knowledge(row) {
                true => "Store it now?",
                false => "Run it now?",
            };
            if !output::confirm(question) {
                session.output.note("Nothing was approved.");
                return Ok(Exit::Interrupted);
            }
            row.digest.clone()
        }
    };
    let body = DecideRequest {
        decision: Some(DecisionWord::Approve),
        digest: Some(digest),
        revision: Some(row.revision),
        reason,
    };
    let path = format!("{}/decide?wait={wait}", path(&row.id));
    let sent = patiently(session, "running", client.post(&path, &body)).await?;
    let row = print(session, sent)?;
    if !session.output.json {
        rows::show_next(session.output, &row);
    }
    Ok(rows::exit(&row))
}

async fn reject(
    session: &Session<'_>,
    id: &str,
    reason: Option<String>,
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let row = find(&client, id).await?;
    let body = DecideRequest {
        decision: Some(DecisionWord::Reject),
        digest: Some(row.digest),
        revision: None,
        reason,
    };
    let path = format!("{}/decide", path(&row.id));
    print(session, client.post(&path, &body).await?)?;
    Ok(Exit::Done)
}

async fn cancel(session: &Session<'_>, id: &str) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let row = find(&client, id).await?;
    let path = format!("{}/cancel", path(&row.id));
    print(session, client.post(&path, &json!({})).await?)?;
    Ok(Exit::Done)
}

async fn settle(
    session: &Session<'_>,
    id: &str,
    outcome: SettleOutcome,
) -> Result<Exit, CommandError> {
    let outcome = Some(match outcome {
        SettleOutcome::Executed => OutcomeWord::Executed,
        SettleOutcome::Failed => OutcomeWord::Failed,
    });
    let path = format!("{}/settle", path(id));
    let client = session.client()?;
    let settled = client.post(&path, &SettleRequest { outcome }).await?;
    print(session, settled)?;
    Ok(Exit::Done)
}

/// The digest that was typed, or whose words were: the server gets the whole of it.
fn typed_digest(typed: String, row: &RowResponse) -> Result<String, CommandError> {
    if !digest_words::are_meant(&typed) {
        return Ok(typed);
    }
    if digest_words::are_typed(&typed, &row.digest) {
        return Ok(row.digest.clone());
    }
    let message = "those are not the words of what waits there; nothing was approved";
    let next = format!("void inbox show {}", row.code);
    Err(CommandError::new(FailureCode::Changed, message).next(next))
}

/// Shows what may cut the owner off, and has the words of its digest typed.
fn ask_for_words(session: &Session<'_>, card: &CardResponse) -> Result<String, CommandError> {
    let (output, row) = (session.output, &card.row);
    let code = &row.code;
    if !output.json {
        rows::show_card(output, card);
    }
    let (digest, words) = (&row.digest, rows::words_to_type(row));
    let asked = words.as_ref().filter(|_| output::is_interactive());
    let Some(words) = asked else {
        // Programs have no use for words.
        let typed = words.filter(|_| !output.json);
        let typed = typed.map_or_else(|| digest.clone(), |words| words.replace(' ', "-"));
        let next = format!("void inbox approve {code} --digest {typed}");
        let message = format!(
            "{}: approve it with the digest that you see, or its words",
            why_words(row)
        );
        return Err(CommandError::usage(message).next(next));
    };
    output.note(format!(
        "This {}. Type these four words to say yes:",
        why_words(row).trim_start_matches("this ")
    ));
    let typed = output::ask(&format!("  {words}\n>")).unwrap_or_default();
    if digest_words::are_typed(&typed, digest) {
        return Ok(digest.clone());
    }
    let message = "those are not the words; nothing was approved";
    Err(CommandError::new(FailureCode::NotTyped, message)
        .next(format!("void inbox approve {code}")))
}

/// Follows the events; with an id, until that proposal has ended.
async fn watch(session: &Session<'_>, id: Option<String>) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let stream = client.events("/api/events", None).await?;
    let followed = match &id {
        None => None,
        Some(id) => {
            let sent = client.get(&path(id)).await?;
            let row: RowResponse = read(sent.clone())?;
            if !is_open(&row.status) {
                print(session, sent)?;
                return Ok(rows::exit(&row));
            }
            session
                .output
                .note(format!("watching {}; Ctrl-C to stop", text::escaped(id)));
            Some(row.id)
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
) -> Result<Exit, CommandError> {
    while let Some(event) = stream.next().await? {
        let (kind, data) = (event.name, event.data);
        // What a newer server tells otherwise is shown by its name alone.
        let about: EventSummary = serde_json::from_value(data.clone()).unwrap_or_default();
        if followed.is_some_and(|id| about.id.as_deref() != Some(id)) {
            continue;
        }
        if session.output.json {
            session.output.value(json!({"event": kind, "data": data}));
        } else {
            session.output.line(format!(
                "{}  {kind:20}  {}  {}",
                session.output.times.clock(or_dash(&about.at)),
                or_dash(&about.code),
                text::escaped(or_dash(&about.label))
            ));
        }
        if session.output.is_closed() {
            return Ok(Exit::Done);
        }
        let has_ended = !is_open(or_dash(&about.status));
        if let Some(id) = followed.filter(|_| has_ended) {
            let row = print(session, client.get(&path(id)).await?)?;
            return Ok(rows::exit(&row));
        }
    }
    let problem = CommandError::new(FailureCode::Unreachable, "the stream of events ended");
    Err(problem.next("void inbox watch"))
}
