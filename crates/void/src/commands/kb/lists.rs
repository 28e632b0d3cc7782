//! `void kb ls`

use serde_json::Value;
use void_api::entities::EntityHeadResponse;
use void_api::pages::PagesResponse;
use void_api::projects::ProjectsResponse;
use void_api::refs::RefsResponse;
use void_api::spaces::{SpaceResponse, SpacesResponse};
use void_api::tasks::TasksResponse;

use super::super::run::segment;
use super::super::{Session, counted, quoted};
use super::finding;
use crate::cli::{KbListArgs, KbNoun};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output::Output;

/// A page, unless another size is asked for.
const ROWS_SHOWN: u32 = 50;

pub(super) async fn list(
    session: &Session<'_>,
    client: &Client,
    args: &KbListArgs,
) -> Result<Exit, CommandError> {
    let what = match args.what {
        Some(what) => what,
        None if args.due => KbNoun::Tasks,
        None if args.space.is_some() || finding::all_spaces(client).await?.len() == 1 => {
            KbNoun::Pages
        }
        None => KbNoun::Spaces,
    };
    if args.due && what != KbNoun::Tasks {
        return Err(CommandError::usage(
            "--due lists tasks: void kb ls tasks --due",
        ));
    }
    let path = path(client, what, args).await?;
    let sent = client.get(&path).await?;
    let output = session.output;
    if output.json {
        output.value(sent);
        return Ok(Exit::Done);
    }
    let next = show(session, (what, args), sent)?;
    if let Some(next) = next {
        output.note(format!(
            "there is more: {}",
            more(session, what, args, &next)
        ));
    }
    Ok(Exit::Done)
}

/// Shows a page of a list; the cursor of the rest.
fn show(
    session: &Session<'_>,
    (what, args): (KbNoun, &KbListArgs),
    sent: Value,
) -> Result<Option<String>, CommandError> {
    let output = session.output;
    let table = |header: &[&str], rows: Vec<Vec<String>>| match rows.is_empty() {
        true => output.note(none(session, what, args)),
        false => output.table(header, &rows),
    };
    Ok(match what {
        KbNoun::Spaces => {
            let SpacesResponse { spaces, next } = read(sent)?;
            let heads = spaces.iter().map(|one| row(output, &one.entity, []));
            table(&["TITLE", "CHANGED", "ID"], heads.collect());
            next
        }
        KbNoun::Projects => {
            let ProjectsResponse { projects, next } = read(sent)?;
            let heads = projects.iter().map(|one| row(output, &one.entity, []));
            table(&["TITLE", "CHANGED", "ID"], heads.collect());
            next
        }
        KbNoun::Pages => {
            let PagesResponse { pages, next } = read(sent)?;
            let heads = pages.iter().map(|one| row(output, &one.entity, []));
            table(&["TITLE", "CHANGED", "ID"], heads.collect());
            next
        }
        KbNoun::Tasks => {
            let TasksResponse { tasks, next } = read(sent)?;
            let heads = tasks.iter().map(|one| {
                let due = one.due.clone().unwrap_or_else(|| "-".to_owned());
                row(output, &one.entity, [one.state.to_string(), due])
            });
            table(&["TITLE", "STATE", "DUE", "CHANGED", "ID"], heads.collect());
            next
        }
        KbNoun::Refs => {
            let RefsResponse { refs, next } = read(sent)?;
            let heads = refs
                .iter()
                .map(|one| row(output, &one.entity, [address(&one.url)]));
            table(&["TITLE", "ADDRESS", "CHANGED", "ID"], heads.collect());
            next
        }
    })
}

async fn path(client: &Client, what: KbNoun, args: &KbListArgs) -> Result<String, CommandError> {
    let noun = noun(what);
    let list = match what {
        KbNoun::Spaces => "/api/spaces".to_owned(),
        KbNoun::Projects | KbNoun::Pages | KbNoun::Tasks | KbNoun::Refs => {
            let space = finding::of_space(client, args.space.as_deref()).await?;
            format!("/api/spaces/{}/{noun}", segment(&space))
        }
    };
    let mut path = format!("{list}?limit={}", args.limit.unwrap_or(ROWS_SHOWN));
    if args.due {
        path.push_str("&order=due");
    }
    if args.deleted {
        path.push_str("&deleted=true");
    }
    if let Some(cursor) = &args.cursor {
        path.push_str(&format!("&cursor={}", segment(cursor)));
    }
    Ok(path)
}

const fn noun(what: KbNoun) -> &'static str {
    match what {
        KbNoun::Spaces => "spaces",
        KbNoun::Projects => "projects",
        KbNoun::Pages => "pages",
        KbNoun::Tasks => "tasks",
        KbNoun::Refs => "refs",
    }
}

/// Its title, what only its kind has, when it was changed, and its id.
fn row<const OWN: usize>(
    output: &Output,
    head: &EntityHeadResponse,
    own: [String; OWN],
) -> Vec<String> {
    let title = match head.foreign {
        true => format!("{} (foreign)", head.title),
        false => head.title.clone(),
    };
    let mut row = vec![title];
    row.extend(own);
    row.push(output.times.short(&head.updated_at));
    row.push(head.id.clone());
    row
}

/// Where a ref was found; what was made from a file has no address that leads anywhere.
pub(super) fn address(url: &str) -> String {
    match url.starts_with(REF_OF_FILE) {
        true => "a file".to_owned(),
        false => url.to_owned(),
    }
}

/// How the addresses of refs begin that were made from a file.
const REF_OF_FILE: &str = "void:attachment/";

/// That a list is empty, and how that changes.
fn none(session: &Session<'_>, what: KbNoun, args: &KbListArgs) -> String {
    if args.deleted {
        return "nothing was thrown away".to_owned();
    }
    let space = args
        .space
        .as_deref()
        .map(|space| format!(" --space {}", quoted(space)));
    let space = space.unwrap_or_default();
    let (one, command) = match what {
        KbNoun::Spaces => ("space", "kb new TITLE --kind space".to_owned()),
        KbNoun::Projects => ("project", format!("kb new TITLE --kind project{space}")),
        KbNoun::Pages => ("page", format!("kb new TITLE{space}")),
        KbNoun::Tasks => ("task", format!("kb new TITLE --kind task{space}")),
        KbNoun::Refs => ("ref", format!("kb capture ADDRESS{space}")),
    };
    format!("there is no {one}; {} makes one", session.again(&command))
}

/// How the next page is asked for.
fn more(session: &Session<'_>, what: KbNoun, args: &KbListArgs, next: &str) -> String {
    let mut command = format!("kb ls {}", noun(what));
    if let Some(space) = &args.space {
        command.push_str(&format!(" --space {}", quoted(space)));
    }
    if args.due {
        command.push_str(" --due");
    }
    if args.deleted {
        command.push_str(" --deleted");
    }
    if let Some(limit) = args.limit {
        command.push_str(&format!(" --limit {limit}"));
    }
    command.push_str(&format!(" --cursor {}", quoted(next)));
    session.again(&command)
}

/// `3 pages, 1 task`
pub(super) fn counts(space: &SpaceResponse) -> String {
    let parts = [
        (space.project_count, "project"),
        (space.page_count, "page"),
        (space.task_count, "task"),
        (space.ref_count, "ref"),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(usize::try_from(*count).unwrap_or(usize::MAX), what))
        .collect();
    match told.is_empty() {
        true => "nothing".to_owned(),
        false => told.join(", "),
    }
}
