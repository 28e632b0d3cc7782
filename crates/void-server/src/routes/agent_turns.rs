//! `/api/agents/{name}/turn` and what follows it: an agent's process comes for its turn and leads it, step by step. All of
//! it is asked with the token of the process; what belongs to one turn with the pass of that turn beside it.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::routing::post;
use schemars::JsonSchema;
use serde::Deserialize;
use void_agent::turns::{Asks, FileCall, FileOutcome, FileWish, LedCall, NextStep, NotLed};
use void_api::agent_turns::{
    AgentWokenResponse, TakenTurnResponse, TurnCallResponse, TurnFileResponse, TurnStepResponse,
};
use void_control::{Ctx, agent_turns};
use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::ids::{AgentId, MessageId};
use void_domain::limits::TURN_TOOL_CALLS_MAX;

use super::agent_processes::{parse, refused};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

/// Where the pass of a turn is shown: it is no token, and opens nothing by itself.
const PASS_HEADER: &str = "x-void-turn";

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/agents/{name}/turn",
        access: Access::OwnProcess,
        operation: "takeTurn",
        summary: "Come for the turn that waits for this process, if one does",
        query: &[],
        request: None,
        response: json::<TakenTurnResponse>(),
        handler: || post(take),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/turns/{id}/step",
        access: Access::OwnProcess,
        operation: "stepTurn",
        summary: "The next step of a turn: its model is asked, with what came of the files of the step before",
        query: &[],
        request: Some(schema::<StepRequest>),
        response: json::<TurnStepResponse>(),
        handler: || post(step),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/turns/{id}/calls",
        access: Access::OwnProcess,
        operation: "answerCall",
        summary: "Have the server answer one of the model's calls",
        query: &[],
        request: Some(schema::<CallRequest>),
        response: json::<TurnStepResponse>(),
        handler: || post(call),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/turns",
        access: Access::Owner,
        operation: "requestTurn",
        summary: "Have an agent with a process look around, in a turn of its own",
        query: &[],
        request: None,
        response: json::<AgentWokenResponse>(),
        handler: || post(wake),
    },
];

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepRequest {
    /// What came of the files that the step before asked for: all of them.
    answers: Vec<FileAnswer>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileAnswer {
    #[schemars(range(max = TURN_TOOL_CALLS_MAX))]
    call: usize,
    file: FileOutcome,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallRequest {
    #[schemars(range(max = TURN_TOOL_CALLS_MAX))]
    call: usize,
}

/// The process that asks, about itself.
fn own(ctx: &Ctx, asked: &str) -> Result<(AgentName, AgentId), ApiError> {
    match &ctx.actor {
        Actor::Agent { id, name } if name.as_str() == asked => Ok((name.clone(), *id)),
        _ => Err(nothing()),
    }
}

pub(crate) async fn take(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<TakenTurnResponse>, ApiError> {
    let (name, id) = own(&ctx, &name)?;
    let taken = app.talk().take_turn(&name, id).await?;
    let (turn, pass) = taken.map(|taken| (taken.turn, taken.pass)).unzip();
    Ok(Json(TakenTurnResponse {
        turn: turn.map(|turn| turn.to_string()),
        pass: pass.map(|pass| pass.expose().to_owned()),
    }))
}

pub(crate) async fn step(
    State(app): State<App>,
    Caller(ctx): Caller,
    Path((name, turn)): Path<(String, String)>,
    headers: HeaderMap,
    Body(request): Body<StepRequest>,
) -> Result<Json<TurnStepResponse>, ApiError> {
    let answers = request.answers.into_iter();
    let answers = answers.map(|answer| (answer.call, answer.file)).collect();
    lead(&app, &ctx, (&name, &turn), &headers, Asks::Step(answers)).await
}

pub(crate) async fn call(
    State(app): State<App>,
    Caller(ctx): Caller,
    Path((name, turn)): Path<(String, String)>,
    headers: HeaderMap,
    Body(request): Body<CallRequest>,
) -> Result<Json<TurnStepResponse>, ApiError> {
    lead(
        &app,
        &ctx,
        (&name, &turn),
        &headers,
        Asks::Call(request.call),
    )
    .await
}

async fn lead(
    app: &App,
    ctx: &Ctx,
    (name, turn): (&str, &str),
    headers: &HeaderMap,
    asks: Asks,
) -> Result<Json<TurnStepResponse>, ApiError> {
    let (name, id) = own(ctx, name)?;
    let turn: MessageId = turn.parse().map_err(|_| nothing())?;
    let mut passes = headers.get_all(PASS_HEADER).iter();
    let pass = passes.next().and_then(|pass| pass.to_str().ok());
    let pass = pass
        .filter(|_| passes.next().is_none())
        .ok_or_else(nothing)?;
    let next = app.talk().lead((&name, id), turn, pass, asks).await;
    let next = next.map_err(not_led)?;
    let calls = match &next {
        NextStep::Calls(calls) => calls.iter().map(told).collect(),
        NextStep::Answered | NextStep::Over => Vec::new(),
    };
    Ok(Json(TurnStepResponse {
        over: next == NextStep::Over,
        calls,
    }))
}

fn told(call: &LedCall) -> TurnCallResponse {
    TurnCallResponse {
        call: call.number,
        file: call.file.as_ref().map(file),
    }
}

fn file(asked: &FileCall) -> TurnFileResponse {
    let told = TurnFileResponse {
        agent: asked.agent.to_string(),
        path: asked.path.clone(),
        wish: "list".into(),
        from: None,
        bytes_max: None,
        text: None,
        find: None,
        replace: None,
    };
    match &asked.wish {
        FileWish::List => told,
        FileWish::Read { from, bytes_max } => TurnFileResponse {
            wish: "read".into(),
            from: Some(*from),
            bytes_max: Some(*bytes_max),
            ..told
        },
        FileWish::Write { text } => TurnFileResponse {
            wish: "write".into(),
            text: Some(text.clone()),
            ..told
        },
        FileWish::Edit { find, replace } => TurnFileResponse {
            wish: "edit".into(),
            find: Some(find.clone()),
            replace: Some(replace.clone()),
            ..told
        },
    }
}

pub(crate) async fn wake(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentWokenResponse>, ApiError> {
    let name = parse(&name)?;
    let woken = agent_turns::wake_by_owner(app.control(), &ctx, &name).await;
    woken.map_err(refused)?;
    Ok(Json(AgentWokenResponse {
        name: name.to_string(),
    }))
}

fn nothing() -> ApiError {
    ApiError::not_found("there is no such turn of this process")
}

fn not_led(why: NotLed) -> ApiError {
    let message = why.to_string();
    match why {
        NotLed::Over => ApiError::not_found(message),
        NotLed::Busy => ApiError::new(FailureCode::Busy, message),
        NotLed::Unfit => ApiError::invalid_field("answers", message),
    }
}
