//! `/api/agents/{name}/start` and its like: processes of agents that have one.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::agent_processes::{
    AgentDestroyedResponse, AgentLogLineResponse, AgentLogResponse, AgentPauseResponse,
    AgentProcessResponse,
};
use void_control::agent_processes::{
    self, AgentProcessError, AgentProcessView, LogLine, ProcessState,
};
use void_control::agents::{self, AgentPauseError};
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
        method: "POST",
        path: "/api/agents/{name}/update",
        access: Access::Owner,
        operation: "updateAgent",
        summary: "Restart an agent on the newest config that was applied and on the program as it is now",
        query: &[],
        request: None,
        response: json::<AgentProcessResponse>(),
        handler: || post(update),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/destroy",
        access: Access::OwnerRecent,
        operation: "destroyAgent",
        summary: "End an agent for good: its process, its tokens and its place go, its name is nobody's, its folder is archived",
        query: &[],
        request: None,
        response: json::<AgentDestroyedResponse>(),
        handler: || post(destroy),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/pause",
        access: Access::Owner,
        operation: "pauseAgent",
        summary: "Let an agent rest: it is not woken and gets no turn, also over a restart",
        query: &[],
        request: None,
        response: json::<AgentPauseResponse>(),
        handler: || post(pause),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/resume",
        access: Access::Owner,
        operation: "resumeAgent",
        summary: "Let a paused agent go on",
        query: &[],
        request: None,
        response: json::<AgentPauseResponse>(),
        handler: || post(resume),
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

pub(super) fn response(view: AgentProcessView) -> AgentProcessResponse {
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
        paused: view.is_paused,
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

pub(crate) async fn update(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentProcessResponse>, ApiError> {
    let view = agent_processes::update(app.processes(), &ctx, &parse(&name)?).await;
    Ok(Json(response(view.map_err(refused)?)))
}

pub(crate) async fn destroy(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentDestroyedResponse>, ApiError> {
    let name = parse(&name)?;
    let archive = agent_processes::destroy(app.processes(), &ctx, &name).await;
    Ok(Json(AgentDestroyedResponse {
        name: name.to_string(),
        archive: archive.map_err(refused)?,
    }))
}

pub(crate) async fn pause(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentPauseResponse>, ApiError> {
    let name = parse(&name)?;
    let paused = agents::pause(app.control(), &ctx, &name).await;
    paused.map_err(not_paused)?;
    Ok(Json(AgentPauseResponse {
        name: name.to_string(),
        paused: true,
    }))
}

pub(crate) async fn resume(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentPauseResponse>, ApiError> {
    let name = parse(&name)?;
    let resumed = agents::resume(app.control(), &ctx, &name).await;
    resumed.map_err(not_paused)?;
    Ok(Json(AgentPauseResponse {
        name: name.to_string(),
        paused: false,
    }))
}

fn not_paused(error: AgentPauseError) -> ApiError {
    match error {
        AgentPauseError::OwnerOnly => ApiError::owner_only(),
        AgentPauseError::Nobody(_) => ApiError::not_found(error.to_string())
            .hint("an agent that lives in Void is known from its first turn on"),
        AgentPauseError::Store(error) => error.into(),
    }
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
        AgentProcessError::NotAbove { .. } => ApiError::forbidden(message),
        AgentProcessError::Frozen => ApiError::new(FailureCode::Frozen, message),
        AgentProcessError::Broken | AgentProcessError::Tree(_) => {
            ApiError::new(FailureCode::TreeBroken, message).hint("void doctor says what to do")
        }
        AgentProcessError::Archive(error) => {
            tracing::error!(%error, "the folder of a destroyed agent");
            ApiError::new(FailureCode::Unavailable, message)
        }
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
