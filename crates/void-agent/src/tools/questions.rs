//! `ask`, `answer` and `cancel`: what an agent of the tree says to the owner and to others, and takes back.
//!
//! What is asked and answered carries what the agent has read so far. Whether it may is decided in the use cases, by
//! where it stands.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use void_control::questions::{self, AnswerRequest, AskError, AskRequest, EndError, QuestionKey};
use void_control::reminders::{self, ReminderError};
use void_domain::failures::FailureCode;
use void_domain::questions::{Question, QuestionParty, QuestionState, ReplyChoice};
use void_domain::text;

use super::{Call, Effect, Outcome, Reach, RunningTool, Tool, ToolError, schema, written_schema};

pub(super) static ASK: Tool = Tool {
    name: "ask",
    title: "Ask the owner or another agent",
    description: "Asks the owner (to: \"owner\") or an agent that you may write to something, with up to eight options \
        or in free words. It returns at once; the answer wakes you later, and loose_ends shows it. An answer \
        approves nothing.",
    needs: &[],
    reach: Reach::Tree,
    effect: Effect::Tells,
    arguments: schema::<AskArguments>,
    result: written_schema::<QuestionResult>,
    run: ask,
};

pub(super) static ANSWER: Tool = Tool {
    name: "answer",
    title: "Answer a question",
    description: "Answers a question that you were asked, by its code, in words or with the number of one of its options. \
        Read it first with loose_ends.",
    needs: &[],
    reach: Reach::Tree,
    effect: Effect::Tells,
    arguments: schema::<AnswerArguments>,
    result: written_schema::<QuestionResult>,
    run: answer,
};

pub(super) static CANCEL: Tool = Tool {
    name: "cancel",
    title: "Take back a question or a reminder",
    description: "Takes back an open question by its code, or a reminder by its id: your own, or one of an agent below you.",
    needs: &[],
    reach: Reach::Tree,
    effect: Effect::Withdraws,
    arguments: schema::<CancelArguments>,
    result: written_schema::<CancelResult>,
    run: cancel,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    /// owner, or the name of an agent.
    to: String,
    text: String,
    #[serde(default)]
    options: Vec<String>,
    /// Seconds, 60 to 604800; a day if it is left out.
    #[serde(default)]
    expires_s: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerArguments {
    /// The code, such as Q-7F3K.
    question: String,
    /// Words, or
    #[serde(default)]
    text: Option<String>,
    /// the number of an option, from 1 on.
    #[serde(default)]
    option: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CancelArguments {
    /// The code of a question, or
    #[serde(default)]
    question: Option<String>,
    /// the id of a reminder.
    #[serde(default)]
    reminder: Option<String>,
}

/// What Void knows of a question, without anybody's words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QuestionResult {
    code: String,
    asker: String,
    asked: String,
    /// open, answered, cancelled or expired
    status: &'static str,
    asked_at: String,
    expires_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CancelResult {
    cancelled: bool,
}

pub(super) fn result(question: &Question) -> QuestionResult {
    QuestionResult {
        code: question.code.to_string(),
        asker: question.asker.to_string(),
        asked: question.asked.to_string(),
        status: question.state.as_str(),
        asked_at: question.asked_at.to_string(),
        expires_at: question.expires_at.to_string(),
    }
}

fn ask(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: AskArguments = call.arguments()?;
        let to = QuestionParty::parse(&arguments.to);
        let wanted = AskRequest {
            to: to
                .ok_or_else(|| told(FailureCode::InvalidArguments, "to is no name of an agent"))?,
            text: arguments.text,
            options: arguments.options,
            expires_after: arguments.expires_s.map(Duration::from_secs),
            taint: call.taint.clone(),
        };
        match questions::ask(&call.control, &call.ctx, wanted).await {
            Ok(asked) => Ok(Outcome::of(json!(result(&asked)))),
            Err(error) => Err(ask_error(error)),
        }
    })
}

fn answer(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: AnswerArguments = call.arguments()?;
        let choice = match (arguments.text, arguments.option) {
            (Some(words), None) => ReplyChoice::Words(words),
            (None, Some(number)) => ReplyChoice::Option(number),
            (None, None) | (Some(_), Some(_)) => {
                let message = "answer either in words or with the number of an option";
                return Err(told(FailureCode::InvalidArguments, message));
            }
        };
        let wanted = AnswerRequest {
            choice,
            taint: call.taint.clone(),
            key: None,
        };
        let key = key(&arguments.question)?;
        match questions::answer(&call.control, &call.ctx, key, wanted).await {
            Ok(answered) => Ok(Outcome::of(json!(result(&answered)))),
            Err(error) => Err(end_error(error)),
        }
    })
}

fn cancel(mut call: Call) -> RunningTool {
    Box::pin(async move {
        let arguments: CancelArguments = call.arguments()?;
        match (arguments.question, arguments.reminder) {
            (Some(question), None) => {
                let key = key(&question)?;
                let cancelled = questions::cancel(&call.control, &call.ctx, key).await;
                cancelled.map_err(end_error)?;
            }
            (None, Some(id)) => {
                let id = id
                    .parse()
                    .map_err(|_| reminder_error(ReminderError::NotFound))?;
                let cancelled = reminders::cancel(&call.control, &call.ctx, id).await;
                cancelled.map_err(reminder_error)?;
            }
            (None, None) | (Some(_), Some(_)) => {
                let message = "name either a question or a reminder";
                return Err(told(FailureCode::InvalidArguments, message));
            }
        }
        Ok(Outcome::of(json!(CancelResult { cancelled: true })))
    })
}

pub(super) fn key(text: &str) -> Result<QuestionKey, ToolError> {
    QuestionKey::parse(text.trim()).ok_or_else(|| end_error(EndError::NotFound))
}

fn told(code: FailureCode, message: &str) -> ToolError {
    ToolError::new(code, message)
}

fn ask_error(error: AskError) -> ToolError {
    let message = text::escaped(&error.to_string());
    let code = match error {
        AskError::Invalid(_) => FailureCode::InvalidArguments,
        AskError::NotAllowed => FailureCode::Forbidden,
        AskError::UnknownAgent => FailureCode::NotFound,
        AskError::TooMany { .. } => FailureCode::TooMany,
        AskError::TooOften => FailureCode::RateLimited,
        AskError::Store(error) => return error.into(),
    };
    ToolError::new(code, message)
}

fn end_error(error: EndError) -> ToolError {
    let message = text::escaped(&error.to_string());
    let code = match error {
        EndError::NotFound => FailureCode::NotFound,
        EndError::NotAsked | EndError::NotAsker => FailureCode::Forbidden,
        EndError::Over { question, .. } => match question.state {
            QuestionState::Open | QuestionState::Expired { .. } => FailureCode::Expired,
            QuestionState::Answered { .. } | QuestionState::Cancelled { .. } => {
                FailureCode::AlreadyDecided
            }
        },
        EndError::Invalid(_) => FailureCode::InvalidArguments,
        EndError::KeyUsed => FailureCode::Used,
        EndError::Store(error) => return error.into(),
    };
    ToolError::new(code, message)
}

fn reminder_error(error: ReminderError) -> ToolError {
    let message = text::escaped(&error.to_string());
    let code = match error {
        ReminderError::NotFound => FailureCode::NotFound,
        ReminderError::OwnersOwn => FailureCode::OwnerOnly,
        ReminderError::Over(_) => FailureCode::AlreadyDecided,
        ReminderError::Store(error) => return error.into(),
    };
    ToolError::new(code, message)
}
