//! `/api/agents/{name}/config` and `POST /api/agents`: configs of agents. What is asked for here waits like everybody's;
//! the owner says yes to it where its card is shown.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use void_api::agent_configs::{
    AgentConfigResponse, ApplyConfigRequest, ConfigCommitResponse, ConfigFileResponse,
    CreateAgentRequest, WaitingConfigResponse,
};
use void_api::proposals::RowResponse;
use void_control::Ctx;
use void_control::agent_configs::{
    self, AgentConfigError, ApplyCommitRequest, ConfigView, InitConfigRequest, RequestNotes,
};
use void_control::proposals::Proposed;
use void_domain::agent_configs::CommitId;
use void_domain::agents::AgentName;
use void_domain::failures::FailureCode;

use super::actions::current;
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/agents",
        access: Access::Owner,
        operation: "createAgent",
        summary: "Propose a new agent with a process of its own; it waits for the owner's yes",
        query: &[],
        request: Some(schema::<CreateAgentRequest>),
        response: json::<RowResponse>(),
        handler: || post(create),
    },
    Route {
        method: "GET",
        path: "/api/agents/{name}/config",
        access: Access::Owner,
        operation: "getAgentConfig",
        summary: "What is applied of an agent's config, what its repository has, and what waits",
        query: &[],
        request: None,
        response: json::<AgentConfigResponse>(),
        handler: || get(show),
    },
    Route {
        method: "POST",
        path: "/api/agents/{name}/config/apply",
        access: Access::Owner,
        operation: "applyAgentConfig",
        summary: "Propose that a commit of an agent's config is applied; it waits for the owner's yes",
        query: &[],
        request: Some(schema::<ApplyConfigRequest>),
        response: json::<RowResponse>(),
        handler: || post(apply),
    },
];

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<AgentConfigResponse>, ApiError> {
    let name = name.parse().map_err(|_| no_such_agent())?;
    let view = agent_configs::view(app.control(), &ctx, &name).await;
    Ok(Json(response(view.map_err(refused)?)))
}

fn response(view: ConfigView) -> AgentConfigResponse {
    let files = view.files.iter().flat_map(|files| files.iter());
    AgentConfigResponse {
        files: files
            .map(|(path, text)| ConfigFileResponse {
                path: path.to_owned(),
                text: text.to_owned(),
            })
            .collect(),
        name: view.name.to_string(),
        parent: view.parent.as_ref().map(AgentName::to_string),
        applied: view.applied.as_ref().map(CommitId::to_string),
        history: (view.history.into_iter())
            .map(|commit| ConfigCommitResponse {
                id: commit.id.to_string(),
                author: commit.author,
                subject: commit.subject,
                at: commit.at.to_string(),
            })
            .collect(),
        waiting: (view.waiting.iter())
            .map(|(proposal, commit)| WaitingConfigResponse {
                proposal_id: proposal.to_string(),
                commit: commit.as_ref().map(CommitId::to_string),
            })
            .collect(),
        problem: view.problem,
    }
}

pub(crate) async fn create(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<CreateAgentRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let invalid = |member: &'static str| {
        move |_| ApiError::invalid_field(member, "must be the name of an agent")
    };
    let parent = request.parent.map(|parent| parent.parse());
    let wanted = InitConfigRequest {
        name: request.name.parse().map_err(invalid("name"))?,
        parent: parent.transpose().map_err(invalid("parent"))?,
        config: request.config,
        notes: notes(request.reason),
    };
    let proposed = agent_configs::request_init_config(app.control(), &ctx, wanted).await;
    row(&app, &ctx, proposed).await
}

pub(crate) async fn apply(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
    Body(request): Body<ApplyConfigRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let commit = CommitId::parse(&request.commit);
    let wanted = ApplyCommitRequest {
        commit: commit.map_err(|error| ApiError::invalid_field("commit", error.to_string()))?,
        agent: name.parse().map_err(|_| no_such_agent())?,
        notes: notes(request.reason),
    };
    let proposed = agent_configs::request_apply_commit(app.control(), &ctx, wanted).await;
    row(&app, &ctx, proposed).await
}

fn notes(reason: Option<String>) -> RequestNotes {
    RequestNotes {
        reason,
        ..RequestNotes::default()
    }
}

async fn row(
    app: &App,
    ctx: &Ctx,
    proposed: Result<Proposed, AgentConfigError>,
) -> Result<Json<RowResponse>, ApiError> {
    match proposed.map_err(refused)? {
        Proposed::Queued(proposal) | Proposed::Started(proposal) => {
            current(app.control(), ctx, proposal.id).await.map(Json)
        }
        Proposed::Refused(refusal, proposal) => {
            let row = current(app.control(), ctx, proposal.id).await?;
            Err(ApiError::new(refusal.code(), refusal.message()).row(row))
        }
    }
}

fn no_such_agent() -> ApiError {
    ApiError::not_found("there is no such agent in the tree").hint("void agents tree shows who is")
}

fn refused(error: AgentConfigError) -> ApiError {
    let (code, message) = (error.code(), error.to_string());
    match error {
        AgentConfigError::Unknown(_) => no_such_agent(),
        AgentConfigError::ReasonTooLong => ApiError::reason_too_long(),
        AgentConfigError::TooManyRows(error) => ApiError::too_many_rows(&error),
        AgentConfigError::Store(error) => error.into(),
        AgentConfigError::Broken(_) => {
            ApiError::new(FailureCode::TreeBroken, message).hint("void doctor says what to do")
        }
        AgentConfigError::Config(_) if code == FailureCode::Invalid => {
            ApiError::invalid_saying("config", message)
        }
        AgentConfigError::Read(_) if code == FailureCode::Invalid => {
            ApiError::invalid_saying("commit", message)
        }
        AgentConfigError::Inputs(_) if code == FailureCode::Invalid => {
            ApiError::invalid_saying("inputs", message)
        }
        AgentConfigError::Forbidden(_)
        | AgentConfigError::Resident(_)
        | AgentConfigError::Name(_)
        | AgentConfigError::Read(_)
        | AgentConfigError::Config(_)
        | AgentConfigError::Inputs(_) => ApiError::new(code, message),
    }
}
