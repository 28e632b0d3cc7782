//! `void agents ask`, `void inbox answer`, and questions in `void inbox`

use serde_json::{Value, json};
use void_api::inbox::{InboxResponse, ItemResponse};
use void_api::questions::{AnswerQuestionRequest, AskQuestionRequest, QuestionResponse};
use void_domain::actors::person;
use void_domain::text;

use super::Session;
use super::freeze::seconds;
use super::run::segment;
use crate::cli::{AgentAskArgs, InboxAnswerArgs};
use crate::client::read;
use crate::exit::{CommandError, Exit};
use crate::output::Output;

/// What the code of a question begins with; a proposal's never does.
const CODE: [&str; 2] = ["Q-", "q-"];

pub(super) fn is_question(id: &str) -> bool {
    CODE.iter().any(|prefix| id.starts_with(prefix))
}

pub(super) async fn ask(session: &Session<'_>, args: AgentAskArgs) -> Result<Exit, CommandError> {
    let expires_s = args.expires.as_deref().map(duration).transpose()?;
    let body = AskQuestionRequest {
        to: args.name,
        text: args.text,
        options: args.options,
        expires_s,
    };
    let asked = session.client()?.post("/api/questions", &body).await?;
    print(session, asked)
}

pub(super) fn duration(text: &str) -> Result<u64, CommandError> {
    seconds(text).map_err(|_| {
        let text = text::escaped(text);
        CommandError::usage(format!("{text} is not a duration such as 30m or 4h"))
    })
}

pub(super) async fn answer(
    session: &Session<'_>,
    args: InboxAnswerArgs,
) -> Result<Exit, CommandError> {
    let body = AnswerQuestionRequest {
        text: args.text,
        option: args.option,
    };
    let path = format!("/api/questions/{}/answer", segment(&args.code));
    let answered = session.client()?.post(&path, &body).await?;
    print(session, answered)
}

pub(super) async fn cancel(session: &Session<'_>, code: &str) -> Result<Exit, CommandError> {
    let path = format!("/api/questions/{}/cancel", segment(code));
    let cancelled = session.client()?.post(&path, &json!({})).await?;
    print(session, cancelled)
}

fn print(session: &Session<'_>, sent: Value) -> Result<Exit, CommandError> {
    let question: QuestionResponse = read(sent.clone())?;
    match session.output.json {
        true => session.output.value(sent),
        false => show(session.output, &question),
    }
    Ok(Exit::Done)
}

/// A question in the list of what waits.
pub(super) fn row(output: &Output, question: &QuestionResponse) -> Vec<String> {
    const CHARS_MAX: usize = 60;
    let text = text::escaped(&question.text);
    let begun: String = text.chars().take(CHARS_MAX).collect();
    let more = if begun.len() < text.len() { "…" } else { "" };
    vec![
        question.code.clone(),
        "asks you".to_owned(),
        "-".to_owned(),
        format!("\"{begun}{more}\""),
        question.asker.clone(),
        output.times.short(&question.expires_at),
    ]
}

/// Below the list: what is asked, whole.
pub(super) fn show_all(output: &Output, inbox: &InboxResponse) {
    for item in &inbox.items {
        if let ItemResponse::Question(item) = item {
            output.line("");
            show(output, &item.question);
        }
    }
}

/// Who asks whom, in the asker's words and marked as theirs.
pub(super) fn show(output: &Output, question: &QuestionResponse) {
    let (asker, asked) = (
        text::escaped(&question.asker),
        text::escaped(&question.asked),
    );
    output.line(format!(
        "{} · {asker} asks {asked}, {}",
        question.code, question.status
    ));
    output.line(format!(
        "  {asker} says: {}",
        text::words_in_quotes(&question.text)
    ));
    for (option, number) in question.options.iter().zip(1..) {
        output.line(format!("  {number}. {}", text::words_in_quotes(option)));
    }
    if !question.taint.is_empty() {
        let sources: Vec<String> = question
            .taint
            .iter()
            .map(|one| text::escaped(one))
            .collect();
        output.line(format!("  it had read: {}", sources.join(", ")));
    }
    let by = question.ended_by.as_deref().map(person).unwrap_or_default();
    match &question.answer {
        Some(answer) => {
            let words = text::words_in_quotes(&answer.text);
            output.line(format!("  {by} answered: {words}"));
        }
        None if question.status == "open" && question.asked == "owner" => {
            let command = format!("void inbox answer {} TEXT", question.code);
            output.line(format!("  answer:   {}", output.typed(&command)));
        }
        None if !by.is_empty() => output.line(format!("  taken back by {by}")),
        None => {}
    }
}
