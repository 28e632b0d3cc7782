//! `/api/questions`: what agents ask the owner and each other, and what the owner asks them. Agents ask and answer by their
//! tools, where it is known that they act inside.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::questions::{
    AnswerQuestionRequest, AskQuestionRequest, QuestionResponse, QuestionsResponse,
};
use void_control::questions::{self, AnswerRequest, AskError, AskRequest, EndError, QuestionKey};
use void_domain::failures::FailureCode;
use void_domain::ids::QuestionId;
use void_domain::questions::{InvalidQuestion, QuestionParty, ReplyChoice};
use void_domain::taint::Taint;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, json, schema};
use crate::wire::question_response;

const OPEN: Parameter = Parameter {
    name: "open",
    kind: "string",
    meaning: "`true`: only what is open",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/questions",
        access: Access::Owner,
        operation: "listQuestions",
        summary: "What agents ask the owner and each other, and what the owner asks them, newest first",
        query: &[OPEN, CURSOR, LIMIT],
        request: None,
        response: json::<QuestionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/questions",
        access: Access::Owner,
        operation: "askQuestion",
        summary: "Ask an agent something",
        query: &[],
        request: Some(schema::<AskQuestionRequest>),
        response: json::<QuestionResponse>(),
        handler: || post(ask),
    },
    Route {
        method: "POST",
        path: "/api/questions/{id}/answer",
        access: Access::Owner,
        operation: "answerQuestion",
        summary: "Answer a question by its id or code, in words or with one of its options",
        query: &[],
        request: Some(schema::<AnswerQuestionRequest>),
        response: json::<QuestionResponse>(),
        handler: || post(answer),
    },
    Route {
        method: "POST",
        path: "/api/questions/{id}/cancel",
        access: Access::Owner,
        operation: "cancelQuestion",
        summary: "Take a question back by its id or code, whoever asked",
        query: &[],
        request: None,
        response: json::<QuestionResponse>(),
        handler: || post(cancel),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionsQuery {
    open: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Query(page): Query<QuestionsQuery>,
) -> Result<Json<QuestionsResponse>, ApiError> {
    let cursor: Option<QuestionId> = parse_cursor(page.cursor.as_deref())?;
    let open_only = page.open.as_deref() == Some("true");
    let limit = page_rows(page.limit)?;
    let found = questions::list(app.control(), open_only, cursor, limit).await?;
    Ok(Json(QuestionsResponse {
        questions: found.items.iter().map(question_response).collect(),
        next: found.next,
    }))
}

pub(crate) async fn ask(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<AskQuestionRequest>,
) -> Result<Json<QuestionResponse>, ApiError> {
    let to = QuestionParty::parse(&request.to);
    let wanted = AskRequest {
        to: to.ok_or_else(|| ApiError::invalid_field("to", "must be the name of an agent"))?,
        text: request.text,
        options: request.options,
        expires_after: request.expires_s.map(Duration::from_secs),
        taint: Taint::clean(),
    };
    let asked = questions::ask(app.control(), &ctx, wanted).await;
    Ok(Json(question_response(&asked.map_err(ask_error)?)))
}

pub(crate) async fn answer(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
    Body(request): Body<AnswerQuestionRequest>,
) -> Result<Json<QuestionResponse>, ApiError> {
    let choice = match (request.text, request.option) {
        (Some(text), None) => ReplyChoice::Words(text),
        (None, Some(option)) => ReplyChoice::Option(option),
        (None, None) | (Some(_), Some(_)) => {
            return Err(ApiError::invalid_saying(
                "text",
                "answer either in words or with the number of an option",
            ));
        }
    };
    let wanted = AnswerRequest {
        choice,
        taint: Taint::clean(),
        key: None,
    };
    let answered = questions::answer(app.control(), &ctx, key(&id)?, wanted).await;
    Ok(Json(question_response(&answered.map_err(end_error)?)))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<QuestionResponse>, ApiError> {
    let cancelled = questions::cancel(app.control(), &ctx, key(&id)?).await;
    Ok(Json(question_response(&cancelled.map_err(end_error)?)))
}

fn key(text: &str) -> Result<QuestionKey, ApiError> {
    QuestionKey::parse(text).ok_or_else(|| end_error(EndError::NotFound))
}

fn ask_error(error: AskError) -> ApiError {
    let message = error.to_string();
    match error {
        AskError::Invalid(invalid) => ApiError::invalid_saying(field(invalid), message),
        AskError::NotAllowed => ApiError::forbidden(message),
        AskError::UnknownAgent => {
            ApiError::not_found(message).hint("void agents tree shows who is there")
        }
        AskError::TooMany { .. } => ApiError::new(FailureCode::TooMany, message),
        AskError::TooOften => ApiError::rate_limited(message),
        AskError::Store(error) => error.into(),
    }
}

const fn field(invalid: InvalidQuestion) -> &'static str {
    match invalid {
        InvalidQuestion::Text | InvalidQuestion::Reply => "text",
        InvalidQuestion::Options | InvalidQuestion::Option => "options",
        InvalidQuestion::Expiry => "expires_s",
        InvalidQuestion::NoSuchOption => "option",
    }
}

fn end_error(error: EndError) -> ApiError {
    let message = error.to_string();
    match error {
        EndError::NotFound => {
            ApiError::not_found(message).hint("void inbox shows what is asked of you")
        }
        EndError::NotAsked | EndError::NotAsker => ApiError::forbidden(message),
        EndError::Over { over, .. } if over.0 == "expired" => {
            ApiError::new(FailureCode::Expired, message)
        }
        EndError::Over { .. } => ApiError::new(FailureCode::AlreadyDecided, message),
        EndError::Invalid(invalid) => ApiError::invalid_saying(field(invalid), message),
        EndError::KeyUsed => ApiError::new(FailureCode::Used, message),
        EndError::Store(error) => error.into(),
    }
}
