//! `void kb new` and `void kb edit`

use std::io::IsTerminal as _;
use std::path::Path;

use serde_json::{Map, Value, json};
use void_api::entity_responses::EntityResponse;
use void_api::runbooks::SetRunbookRequest;
use void_domain::failures::FailureCode;
use void_domain::text;

use super::super::Session;
use super::super::run::segment;
use super::editor::{EditedFile, read_file};
use super::finding::{self, Found};
use super::{command_for, parts, written};
use crate::cli::{
    KbEditArgs, KbFieldArgs, KbKind, KbNamedArgs, KbNewArgs, KbRunbookArgs, KbState, KbTextArgs,
};
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};

/// The word by which a field is emptied.
const NONE: &str = "none";

pub(super) async fn new(
    session: &Session<'_>,
    client: &Client,
    args: KbNewArgs,
) -> Result<Exit, CommandError> {
    refuse_of_others(&args.fields, args.kind).map_err(|(error, of)| {
        let of = finding::word(of);
        error.next(format!("add --kind {of}, if it is to be a {of}"))
    })?;
    let mut fields = args.fields;
    let path = match args.kind {
        KbKind::Space => "/api/spaces".to_owned(),
        kind => {
            let space = finding::of_space(client, args.space.as_deref()).await?;
            fields.project = project(client, fields.project, &space).await?;
            format!("/api/spaces/{}/{}", segment(&space), finding::noun(kind))
        }
    };
    let mut body = members(fields);
    body.insert("title".to_owned(), json!(args.title));
    let edited = match given_text(&args.text)? {
        Some(text) => {
            body.insert("body".to_owned(), json!(text));
            None
        }
        None if args.kind == KbKind::Page => {
            let (text, file) = ask_for_text(session, &args.title)?;
            body.insert("body".to_owned(), json!(text));
            file
        }
        None => None,
    };
    // What is empty is not said: a new one has nothing to be taken away.
    body.retain(|_, value| !value.is_null());
    match (client.post(&path, &body).await, edited) {
        (Ok(sent), file) => {
            if let Some(file) = file {
                file.forget();
            }
            written(session, sent, "Wrote")
        }
        (Err(error), Some(file)) => Err(file.kept(error)),
        (Err(error), None) => Err(error),
    }
}

/// The text of a new page: from the editor in front of a terminal, else all of standard input.
fn ask_for_text(
    session: &Session<'_>,
    title: &str,
) -> Result<(String, Option<EditedFile>), CommandError> {
    if !std::io::stdin().is_terminal() {
        return Ok((read_file(Path::new("-"))?, None));
    }
    let file = EditedFile::new(title, "")?;
    let text = file.edit(session.environment)?;
    if text.trim().is_empty() {
        file.forget();
        return Err(CommandError::new(
            FailureCode::Interrupted,
            "the text is empty; nothing was written",
        ));
    }
    Ok((text, Some(file)))
}

pub(super) async fn edit(
    session: &Session<'_>,
    client: &Client,
    args: KbEditArgs,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, &args.named).await?;
    refuse_of_others(&args.fields, found.kind).map_err(|(error, _)| error)?;
    let current: EntityResponse = client.get_as(&found.path()).await?;
    let (head, text, _) = parts(&current);
    let mut fields = args.fields;
    fields.project = project(client, fields.project, &head.space_id).await?;
    let mut body = members(fields);
    if let Some(title) = &args.title {
        body.insert("title".to_owned(), json!(title));
    }
    if let Some(text) = given_text(&args.text)? {
        body.insert("body".to_owned(), json!(text));
    }
    let is_said = body.keys().any(|name| name != "reason");
    let mut edited = None;
    if !is_said {
        if !std::io::stdin().is_terminal() {
            return Err(CommandError::usage("there is nothing to change it to")
                .next("use --text or --file, or edit it in front of a terminal"));
        }
        let file = EditedFile::new(&head.title, text)?;
        let new = file.edit(session.environment)?;
        if new == *text {
            file.forget();
            session.output.note("Nothing was changed.");
            return Ok(Exit::Done);
        }
        body.insert("body".to_owned(), json!(new));
        edited = Some(file);
    }
    body.insert("base_revision".to_owned(), json!(head.revision));
    save(session, client, (&found, head.revision), (body, edited)).await
}

/// Saves against the revision that was shown. Who was slower keeps the text.
async fn save(
    session: &Session<'_>,
    client: &Client,
    (found, base): (&Found, u64),
    (body, edited): (Map<String, Value>, Option<EditedFile>),
) -> Result<Exit, CommandError> {
    let path = found.path();
    let saved = match found.kind {
        KbKind::Space => client.patch(&path, &body).await,
        KbKind::Page | KbKind::Task | KbKind::Ref | KbKind::Project => {
            client.put(&path, &body).await
        }
    };
    match (saved, edited) {
        (Ok(sent), file) => {
            if let Some(file) = file {
                file.forget();
            }
            // Read before it is told: an answer of another version is said to be one.
            let now: EntityResponse = read(sent.clone())?;
            let did = match parts(&now).0.revision == base {
                true => "Nothing changed in",
                false => "Changed",
            };
            written(session, sent, did)
        }
        (Err(error), Some(file)) => {
            let is_moved = error.code.known() == Some(FailureCode::Changed);
            let error = file.kept(error);
            Err(match is_moved {
                true => error.next(command_for("diff", found)),
                false => error,
            })
        }
        (Err(error), None) => Err(error),
    }
}

/// What only another kind has is named before anything is asked.
fn refuse_of_others(fields: &KbFieldArgs, kind: KbKind) -> Result<(), (CommandError, KbKind)> {
    let given = [
        ("--state", fields.state.is_some(), KbKind::Task),
        ("--due", fields.due.is_some(), KbKind::Task),
        ("--address", fields.address.is_some(), KbKind::Ref),
        ("--agent", fields.agent.is_some(), KbKind::Space),
    ];
    let others = |(_, is_given, of): &(&str, bool, KbKind)| *is_given && *of != kind;
    match given.into_iter().find(others) {
        None => Ok(()),
        Some((flag, _, of)) => {
            let (of_word, word) = (finding::word(of), finding::word(kind));
            let message = format!("{flag} is of a {of_word}, and this is a {word}");
            Err((CommandError::usage(message), of))
        }
    }
}

/// The id of the project that is meant.
async fn project(
    client: &Client,
    named: Option<String>,
    space: &str,
) -> Result<Option<String>, CommandError> {
    match named {
        Some(name) if name != NONE => {
            let named = KbNamedArgs {
                name,
                kind: Some(KbKind::Project),
                space: Some(space.to_owned()),
            };
            Ok(Some(finding::find(client, &named).await?.id))
        }
        named => Ok(named),
    }
}

fn given_text(text: &KbTextArgs) -> Result<Option<String>, CommandError> {
    match (&text.text, &text.file) {
        (Some(text), _) => Ok(Some(text.clone())),
        (None, Some(file)) => read_file(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// What was said of its fields; null empties one.
fn members(fields: KbFieldArgs) -> Map<String, Value> {
    let or_none = |value: String| match value.as_str() {
        NONE => Value::Null,
        _ => json!(value),
    };
    let mut members = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            members.insert(name.to_owned(), value);
        }
    };
    add("project_id", fields.project.map(or_none));
    add("due", fields.due.map(or_none));
    add("agent", fields.agent.map(or_none));
    add("url", fields.address.map(Value::from));
    add("reason", fields.reason.map(Value::from));
    add("state", fields.state.map(|state| json!(word(state))));
    let tags = fields.tags;
    add("tags", (!tags.is_empty()).then(|| json!(tags)));
    members
}

const fn word(state: KbState) -> &'static str {
    match state {
        KbState::Open => "open",
        KbState::Done => "done",
        KbState::Dropped => "dropped",
    }
}

/// Writes the head of a page, against the revision that is there now.
pub(super) async fn runbook(
    session: &Session<'_>,
    client: &Client,
    args: KbRunbookArgs,
) -> Result<Exit, CommandError> {
    let found = finding::find(client, &args.named).await?;
    let current: EntityResponse = client.get_as(&found.path()).await?;
    let (head, _, _) = parts(&current);
    if head.kind != "page" {
        let message = format!("a {} is no runbook; a page can be one", head.kind);
        return Err(CommandError::usage(message));
    }
    let about = [("services", &args.service), ("actions", &args.action)];
    let unknown = unknown_names(client, about).await;
    let body = SetRunbookRequest {
        base_revision: Some(head.revision),
        services: args.service,
        actions: args.action,
    };
    let path = format!("{}/runbook", found.path());
    let sent = client.post(&path, &body).await?;
    for name in unknown {
        let name = text::escaped(&name);
        session.output.note(format!(
            "nothing here is called {name}: it is a runbook of that when there is one"
        ));
    }
    written(session, sent, "Wrote the head of")
}

/// The names that are of nothing here. Where that cannot be asked, none is.
async fn unknown_names(client: &Client, about: [(&str, &Vec<String>); 2]) -> Vec<String> {
    let mut unknown = Vec::new();
    for (noun, names) in about {
        for name in names {
            let path = format!("/api/{noun}/{}", segment(name));
            let answer = client.get(&path).await;
            if answer.is_err_and(|error| error.exit == Exit::NotFound) {
                unknown.push(name.clone());
            }
        }
    }
    unknown
}
