//! `void conversations`: what was said to agents and by them, in the terminal. Words of a model or of anybody stand behind a bar, so
//! that none of them passes for a line of ours.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use void_api::agents::{AgentsResponse, ConversationsResponse};
use void_api::conversations::{AttachedConversationsResponse, MessageResponse, MessagesResponse};
use void_domain::failures::FailureCode;
use void_domain::text;

use super::run::segment;
use super::{Session, chat, kb, quoted};
use crate::cli::{ConversationListArgs, ConversationsCommand};
use crate::client::{Client, next_page, read};
use crate::exit::{CommandError, Exit};
use crate::output::{Output, Tone, confirm, is_interactive};

/// A page, unless another size is asked for.
const ROWS_SHOWN: u32 = 20;
const WORDS_CHARS_MAX: usize = 60;

pub(super) async fn run(
    session: &Session<'_>,
    command: ConversationsCommand,
) -> Result<Exit, CommandError> {
    let client = session.client()?;
    match command {
        ConversationsCommand::Ls(args) => list(session, &client, &args, None).await,
        ConversationsCommand::Search { words, list: args } => {
            list(session, &client, &args, Some(&words.join(" "))).await
        }
        ConversationsCommand::Show { id, limit, cursor } => {
            show(session, &client, &id, (limit, cursor)).await
        }
        ConversationsCommand::Export { id, file } => {
            export(session, &client, &id, file.as_deref()).await
        }
        ConversationsCommand::Rm { id, yes } => remove(session, &client, &id, yes).await,
    }
}

async fn list(
    session: &Session<'_>,
    client: &Client,
    args: &ConversationListArgs,
    words: Option<&str>,
) -> Result<Exit, CommandError> {
    let is_everywhere = args.agent.is_none() && args.space.is_none();
    if is_everywhere && args.cursor.is_some() {
        return Err(CommandError::usage(
            "a page ends in the list of an agent or of a space: add --agent or --space",
        ));
    }
    let sent = match is_everywhere {
        true => everywhere(client, args, words).await?,
        false => client.get(&path(client, args, words).await?).await?,
    };
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let is_cut = sent.get(CUT) == Some(&Value::Bool(true));
    let (rows, next) = rows(output, args.agent.as_deref(), sent)?;
    table(output, rows);
    if let Some(next) = next {
        output.note(format!(
            "there is more: {}",
            more(session, args, words, &next)
        ));
    } else if is_cut {
        output.note("there is more: add --agent or --space");
    }
    Ok(Exit::Done)
}

/// Says in the lists of all of them that there is more than is shown.
const CUT: &str = "cut";

/// What was said to every agent and in every space, newest first, as one page.
async fn everywhere(
    client: &Client,
    args: &ConversationListArgs,
    words: Option<&str>,
) -> Result<Value, CommandError> {
    let agents: AgentsResponse = client.get_as("/api/agents").await?;
    let mut all: Vec<Value> = Vec::new();
    let mut is_cut = false;
    let query = query(args, words);
    let of_agents = agents.agents.into_iter().map(|agent| {
        let path = format!("/api/agents/{}/conversations?{query}", segment(&agent.slug));
        (path, Some(agent.slug))
    });
    let spaces = kb::all_spaces(client).await?.into_iter();
    let of_spaces = spaces.map(|(id, _)| {
        let path = format!("/api/conversations?space={}&{query}", segment(&id));
        (path, None)
    });
    for (path, agent) in of_agents.chain(of_spaces) {
        let page = client.get(&path).await?;
        is_cut |= next_page(&page)?.is_some();
        let rows = page.get("conversations").and_then(Value::as_array);
        for mut row in rows.into_iter().flatten().cloned() {
            if let (Some(agent), Value::Object(members)) = (&agent, &mut row) {
                members.insert("agent".to_owned(), json!(agent));
                members.insert("about".to_owned(), Value::Null);
            }
            all.push(row);
        }
    }
    let last = |row: &Value| {
        row.get("last_at")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    all.sort_by_key(|row| std::cmp::Reverse(last(row)));
    let most = usize::try_from(args.limit.unwrap_or(ROWS_SHOWN)).unwrap_or(usize::MAX);
    is_cut |= all.len() > most;
    all.truncate(most);
    Ok(json!({"conversations": all, "next": null, CUT: is_cut}))
}

async fn path(
    client: &Client,
    args: &ConversationListArgs,
    words: Option<&str>,
) -> Result<String, CommandError> {
    let list = match (&args.space, &args.agent) {
        (Some(space), _) => {
            let id = kb::of_space(client, Some(space)).await?;
            format!("/api/conversations?space={}&", segment(&id))
        }
        (None, agent) => {
            let agent = agent.as_deref().unwrap_or(chat::LITTLE_BLUE);
            format!("/api/agents/{}/conversations?", segment(agent))
        }
    };
    Ok(format!("{list}{}", query(args, words)))
}

fn query(args: &ConversationListArgs, words: Option<&str>) -> String {
    let mut query = format!("limit={}", args.limit.unwrap_or(ROWS_SHOWN));
    for (name, value) in [("q", words), ("cursor", args.cursor.as_deref())] {
        if let Some(value) = value {
            query.push_str(&format!("&{name}={}", segment(value)));
        }
    }
    query
}

/// The rows of a page, and the cursor of the next. In the list of one agent no row says whose it is.
fn rows(
    output: &Output,
    agent: Option<&str>,
    sent: Value,
) -> Result<(Vec<Vec<String>>, Option<String>), CommandError> {
    Ok(match agent {
        None => {
            let AttachedConversationsResponse {
                conversations,
                next,
            } = read(sent)?;
            let rows = conversations.into_iter().map(|one| {
                let about = one
                    .about
                    .map(|about| format!("{} {}", about.kind, about.id));
                let said = one.found.unwrap_or(one.words);
                let last = output.times.short(&one.last_at);
                vec![
                    last,
                    one.agent,
                    about.unwrap_or_default(),
                    brief(&said),
                    one.conversation_id,
                ]
            });
            (rows.collect(), next)
        }
        Some(agent) => {
            let ConversationsResponse {
                conversations,
                next,
            } = read(sent)?;
            let rows = conversations.into_iter().map(|one| {
                let said = one.found.unwrap_or(one.words);
                let last = output.times.short(&one.last_at);
                vec![
                    last,
                    agent.to_owned(),
                    String::new(),
                    brief(&said),
                    one.conversation_id,
                ]
            });
            (rows.collect(), next)
        }
    })
}

fn table(output: &Output, rows: Vec<Vec<String>>) {
    match rows.is_empty() {
        true => output.note("there is nothing"),
        false => output.table(&["LAST", "AGENT", "ABOUT", "WORDS", "ID"], &rows),
    }
}

fn more(
    session: &Session<'_>,
    args: &ConversationListArgs,
    words: Option<&str>,
    next: &str,
) -> String {
    let mut command = match words {
        Some(words) => format!("conversations search {}", quoted(words)),
        None => "conversations ls".to_owned(),
    };
    let limit = args.limit.map(|limit| limit.to_string());
    for (flag, value) in [
        ("--agent", args.agent.as_deref()),
        ("--space", args.space.as_deref()),
        ("--limit", limit.as_deref()),
        ("--cursor", Some(next)),
    ] {
        if let Some(value) = value {
            command.push_str(&format!(" {flag} {}", quoted(value)));
        }
    }
    session.again(&command)
}

/// One line, and not all of a long one.
fn brief(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().take(WORDS_CHARS_MAX).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    text::escaped(&shown)
}

async fn show(
    session: &Session<'_>,
    client: &Client,
    id: &str,
    (limit, cursor): (Option<u32>, Option<String>),
) -> Result<Exit, CommandError> {
    let mut path = format!("/api/conversations/{}/messages", segment(id));
    path.push_str(&format!("?limit={}", limit.unwrap_or(ROWS_SHOWN)));
    if let Some(cursor) = &cursor {
        path.push_str(&format!("&cursor={}", segment(cursor)));
    }
    let sent = client.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let MessagesResponse { messages, next } = read(sent)?;
    for message in &messages {
        tell(output, message);
    }
    if messages.is_empty() {
        output.note("there is nothing");
    }
    if let Some(next) = next {
        let command = format!(
            "conversations show {} --cursor {}",
            quoted(id),
            quoted(&next)
        );
        output.note(format!("there is more before: {}", session.again(&command)));
    }
    Ok(Exit::Done)
}

fn tell(output: &Output, message: &MessageResponse) {
    let who = match &message.turn {
        None => "you",
        Some(_) => "agent",
    };
    let at = output.times.short(&message.created_at);
    output.line(output.tone(Tone::Dim, &format!("{who}, {at}")));
    chat::draw(output, &message.body);
    if let Some(turn) = &message.turn {
        let line = format!("Void: {}", text::escaped(&turn.truth_line));
        output.hanging("", &output.tone(Tone::Dim, &line));
    }
    output.line("");
}

async fn export(
    session: &Session<'_>,
    client: &Client,
    id: &str,
    file: Option<&Path>,
) -> Result<Exit, CommandError> {
    let path = format!("/api/conversations/{}/export", segment(id));
    let sent = client.get(&path).await?;
    let output = session.output;
    let Some(file) = file else {
        match output.json {
            true => output.value(sent),
            false => output.line(format!("{sent:#}")),
        }
        return Ok(Exit::Done);
    };
    // What is there already is somebody's: it is not written over.
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file);
    let written = written.and_then(|mut file| {
        std::io::Write::write_all(&mut file, format!("{sent:#}\n").as_bytes())
    });
    written.map_err(|error| {
        let message = format!("{} cannot be written: {error}", file.display());
        CommandError::new(FailureCode::Invalid, message)
    })?;
    match output.json {
        true => output.value(json!({"file": file.display().to_string()})),
        false => output.line(format!("Wrote the conversation to {}", file.display())),
    }
    Ok(Exit::Done)
}

/// Deletes it after a question: nothing brings it back.
async fn remove(
    session: &Session<'_>,
    client: &Client,
    id: &str,
    is_sure: bool,
) -> Result<Exit, CommandError> {
    let output = session.output;
    if !is_sure && !is_interactive() {
        return Err(CommandError::usage(
            "nobody is here to be asked, and it would be gone for good",
        )
        .next("add --yes"));
    }
    let question = "Delete it for good, with all that was said in it?";
    if !is_sure && !confirm(question) {
        output.note("Nothing was deleted.");
        return Ok(Exit::Done);
    }
    let path = format!("/api/conversations/{}", segment(id));
    let sent = client.delete(&path).await?;
    match output.json {
        true => output.value(sent),
        false => output.line(format!("Deleted the conversation {}", text::escaped(id))),
    }
    Ok(Exit::Done)
}
