//! `void kb`: what the owner knows, in the terminal. A text is shown behind a bar, as an answer in `void chat` is, so that
//! nothing that stands in it passes for a line of ours; what a stranger could have written is said to be that.

mod attachments;
mod capture;
pub(super) mod editor;
mod export;
mod finding;
mod import;
mod karakeep;
mod lists;
mod search;
mod vaults;
mod writing;

use serde_json::{Value, json};
use void_api::entities::{BacklinkResponse, EntityDeletedResponse, EntityHeadResponse};
use void_api::entities::{EntityLinksResponse, LinkResponse};
use void_api::entity_responses::EntityResponse;
use void_api::revisions::{
    RestoreRequest, RevisionDiffResponse, RevisionHeadResponse, RevisionsResponse,
};
use void_domain::actors::person;
use void_domain::failures::FailureCode;
use void_domain::text;

use self::finding::Found;
pub(super) use self::finding::{all_spaces, of_space};
use super::run::segment;
use super::{Session, chat, diffs, quoted};
use crate::cli::{KbCommand, KbNamedArgs};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone};

/// How far the names of fields reach.
const NAME_COLUMNS: usize = 9;

pub(super) async fn run(session: &Session<'_>, command: KbCommand) -> Result<Exit, CommandError> {
    let client = session.client()?;
    match command {
        KbCommand::Ls(args) => lists::list(session, &client, &args).await,
        KbCommand::Search(args) => search::search(session, &client, &args).await,
        KbCommand::Show { named, raw } => show(session, &client, &named, raw).await,
        KbCommand::New(args) => writing::new(session, &client, args).await,
        KbCommand::Edit(args) => writing::edit(session, &client, args).await,
        KbCommand::Rm { named } => remove(session, &client, &named).await,
        KbCommand::Undo { named } => undo(session, &client, &named).await,
        KbCommand::History {
            named,
            limit,
            cursor,
        } => history(session, &client, &named, (limit, cursor)).await,
        KbCommand::Diff { named, from, to } => diff(session, &client, &named, (from, to)).await,
        KbCommand::Runbook(args) => writing::runbook(session, &client, args).await,
        KbCommand::Restore { named, revision } => restore(session, &client, &named, revision).await,
        KbCommand::Import(args) if args.karakeep => karakeep::import(session, &client, &args).await,
        KbCommand::Import(args) => import::run(session, &client, args).await,
        KbCommand::Export(args) => export::run(session, &client, args).await,
        KbCommand::Capture(args) => capture::capture(session, &client, &args).await,
        KbCommand::Attach(args) => attachments::attach(session, &client, &args).await,
        KbCommand::Attachments(args) => attachments::list(session, &client, &args).await,
        KbCommand::Get(args) => attachments::get(session, &client, &args).await,
        KbCommand::Vouch { named, revision } => vouch(session, &client, &named, revision).await,
    }
}

async fn show(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
    is_raw: bool,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, named).await?;
    let sent = client.get(&found.path()).await?;
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    let entity: EntityResponse = read(sent)?;
    let (_, body, _) = parts(&entity);
    match is_raw {
        true => session.output.put(body),
        false => show_entity(session.output, &entity),
    }
    Ok(Exit::Done)
}

/// What all five have.
fn parts(entity: &EntityResponse) -> (&EntityHeadResponse, &str, &EntityLinksResponse) {
    match entity {
        EntityResponse::Space(one) => (&one.head.entity, &one.body, &one.links),
        EntityResponse::Task(one) => (&one.head.entity, &one.body, &one.links),
        EntityResponse::Ref(one) => (&one.head.entity, &one.body, &one.links),
        EntityResponse::Page(one) => (&one.head.entity, &one.body, &one.links),
        EntityResponse::Project(one) => (&one.head.entity, &one.body, &one.links),
    }
}

fn show_entity(output: &Output, entity: &EntityResponse) {
    let (head, body, links) = parts(entity);
    output.foreign("", &text::escaped(&head.title));
    show_own(output, entity);
    let field = |name: &str, value: &str| output.field(name, NAME_COLUMNS, value);
    field("kind", &head.kind);
    field(
        "revision",
        &format!(
            "{}, {} by {}{}",
            head.revision,
            output.times.short(&head.updated_at),
            person(&head.updated_by),
            origin(head)
        ),
    );
    field("id", &head.id);
    if head.foreign {
        let words = "a stranger could have written this; nothing in it is an order";
        output.line(format!("  {}", output.tone(Tone::Waiting, words)));
    }
    if !body.is_empty() {
        output.line("");
        chat::draw(output, body);
    }
    show_links(output, links);
}

/// Where its text came from, if it was not written here.
fn origin(head: &EntityHeadResponse) -> String {
    match (&head.draft, head.origin.as_ref()) {
        (Some(draft), _) => format!(", drafted by {}", text::escaped(&draft.agent)),
        (None, "import") => ", imported".to_owned(),
        (None, "capture") => ", captured".to_owned(),
        (None, _) => String::new(),
    }
}

/// What only its kind has.
fn show_own(output: &Output, entity: &EntityResponse) {
    let field = |name: &str, value: &str| output.foreign_field(name, NAME_COLUMNS, value);
    let tags = |tags: &[String]| {
        if !tags.is_empty() {
            field("tags", &text::escaped(&tags.join(", ")));
        }
    };
    match entity {
        EntityResponse::Space(space) => {
            field("holds", &lists::counts(space));
            if let Some(agent) = &space.head.agent {
                field("agent", &text::escaped(agent));
            }
        }
        EntityResponse::Project(_) => {}
        EntityResponse::Page(page) => {
            tags(&page.head.tags);
            if let Some(path) = &page.head.path {
                field("path", &text::escaped(path));
            }
        }
        EntityResponse::Task(task) => {
            field("state", &text::escaped(&task.head.state));
            if let Some(due) = &task.head.due {
                field("due", &text::escaped(due));
            }
            tags(&task.head.tags);
        }
        EntityResponse::Ref(kept) => {
            field("address", &text::escaped(&lists::address(&kept.head.url)));
            tags(&kept.head.tags);
        }
    }
}

fn show_links(output: &Output, links: &EntityLinksResponse) {
    if !links.links.is_empty() || !links.backlinks.is_empty() {
        output.line("");
    }
    for link in &links.links {
        output.foreign("  → ", &link_words(link));
    }
    for BacklinkResponse { kind, title, .. } in &links.backlinks {
        output.foreign("  ← ", &text::escaped(&format!("{title}   {kind}")));
    }
    if links.links_cut {
        output.line("  there are more than these");
    }
}

fn link_words(link: &LinkResponse) -> String {
    let title = link.title.as_deref().or(link.id.as_deref());
    let title = text::escaped(title.unwrap_or_default());
    match link.found.as_ref() {
        "one" => format!(
            "{title}   {}",
            text::escaped(super::rows::or_dash(&link.kind))
        ),
        "several" => format!("{title}   {} pages of this title", link.candidates.len()),
        _ => format!("{title}   not there"),
    }
}

async fn remove(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, named).await?;
    let sent = client.delete(&found.path()).await?;
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    let gone: EntityDeletedResponse = read(sent)?;
    let output = session.output;
    let words = format!("Threw away the {} {}", gone.kind, gone.title);
    output.foreign("", &text::escaped(&words));
    output.next(&format!("void kb undo {}", gone.id));
    Ok(Exit::Done)
}

async fn undo(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
) -> Result<Exit, CommandError> {
    let found = finding::find_deleted(client, named).await?;
    let path = format!("{}/undelete", found.path());
    let sent = client.post(&path, &json!({})).await?;
    written(session, sent, "Took back")
}

/// Says what was done to which one.
fn written(session: &Session<'_>, sent: Value, did: &str) -> Result<Exit, CommandError> {
    if session.output.json {
        session.output.value(sent);
        return Ok(Exit::Done);
    }
    let entity: EntityResponse = read(sent)?;
    let (head, ..) = parts(&entity);
    let words = format!(
        "{did} the {} {}   revision {}",
        head.kind, head.title, head.revision
    );
    session.output.foreign("", &text::escaped(&words));
    session
        .output
        .line(format!("  id: {}", text::escaped(&head.id)));
    Ok(Exit::Done)
}

async fn history(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
    (limit, cursor): (Option<u32>, Option<String>),
) -> Result<Exit, CommandError> {
    let found = finding::find_even_deleted(client, named).await?;
    let mut path = format!("{}/revisions?limit={}", found.path(), limit.unwrap_or(50));
    if let Some(cursor) = &cursor {
        path.push_str(&format!("&cursor={}", segment(cursor)));
    }
    let sent = client.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let listed: RevisionsResponse = read(sent)?;
    let rows: Vec<Vec<String>> = listed
        .revisions
        .iter()
        .map(|one| revision_row(output, one))
        .collect();
    output.table(&["REVISION", "AT", "BY", "FROM", "REASON"], &rows);
    if let Some(next) = &listed.next {
        let command = format!("kb history {} --cursor {next}", found.id);
        output.note(format!("there is more: {}", session.again(&command)));
    }
    Ok(Exit::Done)
}

fn revision_row(output: &Output, one: &RevisionHeadResponse) -> Vec<String> {
    let origin = match &one.draft {
        Some(draft) => format!("draft of {}", draft.agent),
        None => one.origin.to_string(),
    };
    vec![
        one.revision.to_string(),
        output.times.short(&one.at),
        person(&one.by),
        origin,
        one.reason.clone().unwrap_or_default(),
    ]
}

async fn diff(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
    (from, to): (Option<u64>, Option<u64>),
) -> Result<Exit, CommandError> {
    let found = finding::find_even_deleted(client, named).await?;
    let given = [("from", from), ("to", to)];
    let query: Vec<String> = given
        .iter()
        .filter_map(|(name, number)| Some(format!("{name}={}", (*number)?)))
        .collect();
    let path = format!("{}/diff?{}", found.path(), query.join("&"));
    let sent = client.get(&path).await;
    let sent = sent.map_err(|error| no_revision(error, &found))?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    show_diff(output, &read(sent)?);
    Ok(Exit::Done)
}

fn show_diff(output: &Output, diff: &RevisionDiffResponse) {
    output.line(format!(
        "revision {} → {}   +{} −{} words",
        diff.from.revision, diff.to.revision, diff.words_added, diff.words_removed
    ));
    for hidden in &diff.hidden {
        let words = format!("look closely: it {hidden}");
        output.line(format!("  {}", output.tone(Tone::Bad, &words)));
    }
    let unified = match &diff.unified {
        Some(unified) => unified.clone(),
        None => whole_spans(diff),
    };
    let (lines, legend) = diffs::lines(&unified);
    for line in lines {
        let tone = match line.chars().next() {
            Some('+') => Some(Tone::Good),
            Some('-') => Some(Tone::Bad),
            _ => None,
        };
        let shown = tone.map_or_else(|| line.clone(), |tone| output.tone(tone, &line));
        output.line(format!("  {shown}"));
    }
    if let Some(legend) = legend {
        output.hanging("  ", legend);
    }
}

/// What has no unified form: the older text, then the newer one, without what is the same.
fn whole_spans(diff: &RevisionDiffResponse) -> String {
    let mut text = String::new();
    for span in &diff.spans {
        let sign = match span.kind.as_ref() {
            "added" => '+',
            "removed" => '-',
            _ => continue,
        };
        for line in span.text.lines() {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

async fn restore(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
    revision: Option<u64>,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, named).await?;
    let Some(revision) = revision else {
        return Err(
            CommandError::usage("say which revision: --revision takes its number")
                .next(command_for("history", &found)),
        );
    };
    let body = RestoreRequest {
        revision: Some(revision),
        base_revision: None,
    };
    let path = format!("{}/restore", found.path());
    let sent = client.post(&path, &body).await;
    let sent = sent.map_err(|error| no_revision(error, &found))?;
    written(
        session,
        sent,
        &format!("Went back to revision {revision} of"),
    )
}

async fn vouch(
    session: &Session<'_>,
    client: &Client,
    named: &KbNamedArgs,
    revision: Option<u64>,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, named).await?;
    let Some(revision) = revision else {
        let entity: EntityResponse = client.get_as(&found.path()).await?;
        let (EntityHeadResponse { revision, .. }, ..) = parts(&entity);
        let message = format!("say which revision you have read; it is {revision} now");
        let next = format!("{} --revision {revision}", command_for("vouch", &found));
        return Err(CommandError::usage(message).next(next));
    };
    let path = format!("{}/vouch", found.path());
    let sent = client.post(&path, &json!({"revision": revision})).await?;
    written(session, sent, "You answer for")
}

/// It was found a moment ago: what is not there is the revision.
fn no_revision(error: CommandError, found: &Found) -> CommandError {
    match error.exit {
        Exit::NotFound => {
            let code = FailureCode::NotFound;
            CommandError::new(code, "it has no such revision").next(command_for("history", found))
        }
        _ => error,
    }
}

/// A command about this one, to be copied.
fn command_for(verb: &str, found: &Found) -> String {
    format!("void kb {verb} {}", quoted(&found.id))
}
