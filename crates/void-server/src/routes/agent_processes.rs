//! `/api/agents/{name}/start` and its like: processes of agents that have one.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::agent_processes::{AgentLogLineResponse, AgentLogResponse, AgentProcessResponse};
use void_control::agent_processes::{
    self, AgentProcessError, AgentProcessView, LogLine, ProcessState,
};
use void_domain::actors::Actor;
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;
use void_domain::time::Timestamp;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Query, Segment, page_rows};
use crate::table::{Access, LIMIT, Route, json};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/agents/{name}/process",
        access: Access::Process,
        operation: "getAgentProcess",
        summary: "How an agent's process stands; a process asks about its own",
        query: &[],
        request: None,
        response: json::<AgentProcessResponse>(),
        handler: || get(show),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/start",
        access: Access::Owner,
        operation: "startAgent",
        summary: "Keep an agent's process running from now on; the answer does not wait for it",
        query: &[],
        request: None,
        response: json::<AgentProcessResponse>(),
        handler: || post(start),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/stop",
        access: Access::Owner,
        operation: "stopAgent",
        summary: "End an agent's process; when this answers, nothing of it is left",
        query: &[],
        request: None,
        response: json::<AgentProcessResponse>(),
        handler: || post(stop),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/restart",
        access: Access::Owner,
        operation: "restartAgent",
        summary: "End an agent's process and start another one",
        query: &[],
        request: None,
        response: json::<AgentProcessResponse>(),
        handler: || post(restart),
    },
    Route {
        method: "GET",
        path: "/api/agents/{name}/logs",
        access: Access::Owner,
        operation: "getAgentLogs",
        summary: "What an agent's processes wrote, newest last",
        query: &[LIMIT],
        request: None,
        response: json::<AgentLogResponse>(),
        handler: || get(logs),
    },
];

fn response(view: AgentProcessView) -> AgentProcessResponse {
    let failures = match view.status.state {
        ProcessState::Crashed { failures } | ProcessState::GivenUp { failures } => failures,
        ProcessState::Stopped
        | ProcessState::Starting
        | ProcessState::Running
        | ProcessState::Asleep => 0,
    };
    AgentProcessResponse {
        name: view.name.to_string(),
        state: view.status.state.word().into(),
        wanted: view.wanted.map(|wanted| wanted.as_str().into()),
        pid: view.status.pid,
        failures,
        why: view.status.ending.map(|ending| ending.to_string()),
    }
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentProcessResponse>, ApiError> {
    let name = parse(&name)?;
    // Whoever else asks is told what there is about nobody.
    if let Actor::Agent { name: own, .. } = &ctx.actor
        && *own != name
    {
        return Err(refused(AgentProcessError::Unknown));
    }
    let view = agent_processes::view(app.processes(), &name).await;
    Ok(Json(response(view.map_err(refused)?)))
}

pub(crate) async fn start(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentProcessResponse>, ApiError> {
    let view = agent_processes::start(app.processes(), &ctx, &parse(&name)?).await;
    Ok(Json(response(view.map_err(refused)?)))
}

pub(crate) async fn stop(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentProcessResponse>, ApiError> {
    let view = agent_processes::stop(app.processes(), &ctx, &parse(&name)?).await;
    Ok(Json(response(view.map_err(refused)?)))
}

pub(crate) async fn restart(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentProcessResponse>, ApiError> {
    let view = agent_processes::restart(app.processes(), &ctx, &parse(&name)?).await;
    Ok(Json(response(view.map_err(refused)?)))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogsQuery {
    limit: Option<u32>,
}

pub(crate) async fn logs(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Query(query): Query<LogsQuery>,
) -> Result<Json<AgentLogResponse>, ApiError> {
    let lines = usize::try_from(page_rows(query.limit)?).unwrap_or(usize::MAX);
    let name = parse(&name)?;
    let lines = agent_processes::logs(app.processes(), &ctx, &name, lines).await;
    let line = |line: LogLine| AgentLogLineResponse {
        at: Timestamp::from_ms(line.at_ms).to_string(),
        text: line.text,
    };
    let lines = lines.map_err(refused)?.into_iter().map(line).collect();
    Ok(Json(AgentLogResponse { lines }))
}

pub(super) fn parse(name: &str) -> Result<AgentName, ApiError> {
    name.parse()
        .map_err(|_| refused(AgentProcessError::Unknown))
}

pub(super) fn refused(error: AgentProcessError) -> ApiError {
    let message = error.to_string();
    match error {
        AgentProcessError::OwnerOnly => ApiError::owner_only(),
        AgentProcessError::Unknown => {
            ApiError::not_found(message).hint("meta/topology.json in the data folder is the tree")
        }
        AgentProcessError::Resident(_) => ApiError::forbidden(message),
        AgentProcessError::Nobody(name) => ApiError::not_found(message).hint(format!(
            "void token new --kind agent --name {name} makes it known"
        )),
        AgentProcessError::Elsewhere { .. } => {
            ApiError::new(FailureCode::Busy, message).hint("stop it there first")
        }
        AgentProcessError::Over(_) => ApiError::new(FailureCode::Unavailable, message),
        AgentProcessError::Log(error) => {
            tracing::error!(%error, "the log of an agent");
            ApiError::new(FailureCode::Unavailable, message)
        }
        AgentProcessError::Store(error) => error.into(),
    }
}
