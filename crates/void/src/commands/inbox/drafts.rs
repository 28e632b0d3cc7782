//! What the owner does with drafts of what is kept, beside a yes or a no to one: several at once, and one with the owner's own
//! words in it.

use serde_json::json;
use void_api::cards::CardResponse;
use void_api::draft_decisions::{
    ApproveEditedRequest, DraftDecisionsRequest, DraftResult, DraftResultsResponse, SeenDraft,
};
use void_api::drafts::DraftFields;
use void_api::proposals::{ChangeResponse, DecisionWord, RowResponse};
use void_api::revisions::RevisionDiffResponse;
use void_domain::diffs;
use void_domain::failures::FailureCode;
use void_domain::limits::DRAFTS_AT_ONCE_MAX;
use void_domain::text;

use super::super::kb::editor::{EditedFile, read_file};
use super::super::rows;
use super::super::run::segment;
use super::super::{Session, patiently};
use super::{card, path, print};
use crate::cli::InboxEditArgs;
use crate::client::{Client, read};
use crate::exit::{CommandError, Exit};
use crate::output;

/// Decides several, each bound to what was shown of it; what became of each is told, and the first that was not decided as it
/// was meant gives the exit code.
pub(super) async fn decide(
    session: &Session<'_>,
    ids: &[String],
    decision: DecisionWord,
    is_agreed: bool,
    reason: Option<String>,
) -> Result<Exit, CommandError> {
    if ids.len() > DRAFTS_AT_ONCE_MAX {
        let message = format!("at most {DRAFTS_AT_ONCE_MAX} are decided at once");
        return Err(CommandError::usage(message));
    }
    let client = session.client()?;
    let mut cards = Vec::with_capacity(ids.len());
    for id in ids {
        cards.push(card(&client, id).await?);
    }
    if let Some(other) = cards.iter().find(|card| !rows::is_knowledge(&card.row)) {
        let code = &other.row.code;
        let message = format!("{code} is no draft of what you keep, and is decided by itself");
        return Err(CommandError::usage(message).next(format!("void inbox show {code}")));
    }
    let is_approval = matches!(decision, DecisionWord::Approve);
    if is_approval && !is_agreed && !agreed(session, &cards)? {
        session.output.note("Nothing was approved.");
        return Ok(Exit::Interrupted);
    }
    let drafts = cards.iter().map(|card| SeenDraft {
        id: card.row.id.clone(),
        digest: card.row.digest.clone(),
        revision: Some(card.row.revision),
    });
    let request = DraftDecisionsRequest {
        decision: Some(decision),
        drafts: drafts.collect(),
        reason,
    };
    let deciding = client.post("/api/pending-changes/decide", &request);
    let sent = patiently(session, "deciding", deciding).await?;
    let answer: DraftResultsResponse = read(sent.clone())?;
    if session.output.json {
        session.output.value(sent);
    }
    let mut exit = Exit::Done;
    for (result, card) in answer.results.iter().zip(&cards) {
        let of_one = match told(session, result, &card.row) {
            // That is what was wanted.
            Exit::Rejected if !is_approval => Exit::Done,
            other => other,
        };
        if exit == Exit::Done {
            exit = of_one;
        }
    }
    Ok(exit)
}

/// Shows each of them, and asks once.
fn agreed(session: &Session<'_>, cards: &[CardResponse]) -> Result<bool, CommandError> {
    if !output::is_interactive() {
        return Err(
            CommandError::usage("there is nobody to ask here").next("add --yes, once you saw them")
        );
    }
    for card in cards {
        rows::show_card(session.output, card);
    }
    Ok(output::confirm(&format!("Store all {} now?", cards.len())))
}

fn told(session: &Session<'_>, result: &DraftResult, seen: &RowResponse) -> Exit {
    let output = session.output;
    let (word, exit) = match (&result.row, &result.error) {
        (Some(row), None) => (rows::state(row).0, rows::exit(row)),
        (_, Some(error)) => (
            format!("not decided: {}", text::escaped(&error.message)),
            Exit::Refused,
        ),
        (None, None) => ("not decided".to_owned(), Exit::Refused),
    };
    if !output.json {
        output.line(format!("{}  {}  {word}", seen.code, rows::title(seen)));
    }
    exit
}

/// A title and a text, as differences have them.
struct DraftText {
    title: String,
    body: String,
}

/// The draft with the owner's own words in it is what a yes stores.
pub(super) async fn edit(session: &Session<'_>, args: InboxEditArgs) -> Result<Exit, CommandError> {
    let client = session.client()?;
    let card = card(&client, &args.id).await?;
    let row = &card.row;
    let drafted = drafted(&client, &card).await?;
    let (body, file) = match &args.file {
        Some(file) => (read_file(file)?, None),
        None if args.title.is_some() => (drafted.body.clone(), None),
        None => {
            refuse_hidden(&card)?;
            let file = EditedFile::new(&drafted.title, &drafted.body)?;
            (file.edit(session.environment)?, Some(file))
        }
    };
    let kept = |error: CommandError| match &file {
        Some(file) => file.kept(error),
        None => error,
    };
    let fields = DraftFields {
        title: args.title.filter(|title| *title != drafted.title),
        body: Some(body).filter(|body| *body != drafted.body),
        ..DraftFields::default()
    };
    if fields.title.is_none() && fields.body.is_none() {
        if let Some(file) = &file {
            file.forget();
        }
        let message = "nothing of it was edited, and nothing was stored";
        let next = format!("void inbox approve {}", row.code);
        return Err(CommandError::new(FailureCode::Interrupted, message).next(next));
    }
    if !args.yes {
        if !output::is_interactive() {
            let error = CommandError::usage("there is nobody to ask here").next("add --yes");
            return Err(kept(error));
        }
        if !output::confirm("Store it as you edited it?") {
            let error = CommandError::new(FailureCode::Interrupted, "nothing was stored");
            return Err(kept(error));
        }
    }
    let request = ApproveEditedRequest {
        digest: Some(row.digest.clone()),
        revision: Some(row.revision),
        fields: Some(fields),
    };
    let path = format!("{}/approve-edited", path(&row.id));
    let sent = client.post(&path, &json!(request)).await.map_err(kept)?;
    if let Some(file) = &file {
        file.forget();
    }
    let row = print(session, sent)?;
    Ok(rows::exit(&row))
}

/// What hides from a reader is not put into an editor where nobody sees it.
fn refuse_hidden(card: &CardResponse) -> Result<(), CommandError> {
    let hidden = card.difference.as_ref().map(|one| &one.hidden);
    match hidden.is_none_or(Vec::is_empty) {
        true => Ok(()),
        false => {
            let message =
                "something of this draft hides from a reader; an editor would not show it";
            Err(CommandError::usage(message).next("give the whole text with --file"))
        }
    }
}

/// What the draft makes of its text, read from the difference that its digest binds.
async fn drafted(client: &Client, card: &CardResponse) -> Result<DraftText, CommandError> {
    let row = &card.row;
    let change = row.change.as_ref().filter(|_| rows::is_knowledge(row));
    let no_text = || {
        let message = "there is no text of a draft to edit here";
        CommandError::usage(message).next(format!("void inbox show {}", row.code))
    };
    let change = change
        .filter(|change| change.op != "delete" && row.status == "pending")
        .ok_or_else(no_text)?;
    let base = base_text(client, change).await?;
    let written = diffs::apply(&base, &change.diff).map_err(|_| no_text())?;
    let (head, body) = written.split_once("\n\n").unwrap_or((written.as_str(), ""));
    let title = head.lines().find_map(|line| line.strip_prefix("title: "));
    Ok(DraftText {
        title: title.unwrap_or_default().to_owned(),
        body: body.to_owned(),
    })
}

/// The text that the draft was made against, as differences have it.
async fn base_text(client: &Client, change: &ChangeResponse) -> Result<String, CommandError> {
    let (Some(id), Some(base)) = (&change.entity_id, &change.base_revision) else {
        return Ok(String::new());
    };
    let (noun, id, base) = (&change.entity, segment(id), segment(base));
    let path = format!("/api/{noun}s/{id}/diff?from={base}&to={base}");
    let same: RevisionDiffResponse = client.get_as(&path).await?;
    Ok(same.spans.into_iter().map(|span| span.text).collect())
}
