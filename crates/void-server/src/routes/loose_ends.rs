//! `/api/agents/{name}/loose-ends`: what is open for an agent and everybody below it.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use void_api::loose_ends::{AgentLooseEndsResponse, LooseEndsResponse, WaitingProposalResponse};
use void_control::loose_ends::{self, AgentLooseEnds, LooseEndsError};
use void_domain::proposals::Proposal;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Caller, Segment};
use crate::table::{Access, Route, json};
use crate::wire::{question_response, reminder_response};

pub(super) const ROUTES: &[Route] = &[Route {
    method: "GET",
    path: "/api/agents/{name}/loose-ends",
    access: Access::Owner,
    operation: "getLooseEnds",
    summary: "What is open for an agent and everybody below it: questions, reminders, what waits for the owner",
    query: &[],
    request: None,
    response: json::<LooseEndsResponse>(),
    handler: || get(look),
}];

pub(crate) async fn look(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(name): Segment,
) -> Result<Json<LooseEndsResponse>, ApiError> {
    let name = name.parse().map_err(|_| error(LooseEndsError::NotFound))?;
    let found = loose_ends::look(app.control(), &ctx, &name).await;
    let found = found.map_err(error)?;
    Ok(Json(LooseEndsResponse {
        agents: found.agents.iter().map(agent).collect(),
        answered: found.answered.iter().map(question_response).collect(),
        is_cut: found.is_cut,
    }))
}

fn agent(one: &AgentLooseEnds) -> AgentLooseEndsResponse {
    AgentLooseEndsResponse {
        agent: one.agent.to_string(),
        asked: one.asked.iter().map(question_response).collect(),
        to_answer: one.to_answer.iter().map(question_response).collect(),
        reminders: one.reminders.iter().map(reminder_response).collect(),
        proposals: one.proposals.iter().map(proposal).collect(),
    }
}

fn proposal(proposal: &Proposal) -> WaitingProposalResponse {
    WaitingProposalResponse {
        id: proposal.id.to_string(),
        code: proposal.code.to_string(),
        label: proposal.subject.label.clone(),
        action_id: proposal.subject.action_id().map(ToString::to_string),
        created_at: proposal.created_at.to_string(),
        expires_at: proposal.expires_at.to_string(),
    }
}

fn error(error: LooseEndsError) -> ApiError {
    let message = error.to_string();
    match error {
        LooseEndsError::NotFound => {
            ApiError::not_found(message).hint("void agents tree shows who is there")
        }
        LooseEndsError::Store(error) => error.into(),
    }
}
