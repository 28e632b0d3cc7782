//! `/api/agents/topology`, `…/can` and `…/move`: who stands under whom, what one may do to another because of it, and
//! moving somebody.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use void_api::tree::{
    AgentMoveRequest, AgentMoveResponse, CanResponse, MemberResponse, NAMES_MAX, OperationResponse,
    RightShiftResponse, RightsChangeResponse, RightsResponse, TopologyResponse,
};
use void_control::agent_processes;
use void_control::tree::{self, CanOver, MemberView, MoveError, Moved};
use void_domain::agents::AgentName;
use void_domain::capabilities::Capability;
use void_domain::failures::FailureCode;
use void_domain::relations::Relation;
use void_tree::{MoveRefusal, Operation, Right, RightShift, RightsChange};

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows};
use crate::table::{Access, CURSOR, LIMIT, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/agents/topology",
        access: Access::Owner,
        operation: "getTopology",
        summary: "The tree of agents: who stands under whom, and what is wrong with it",
        query: &[],
        request: None,
        response: json::<TopologyResponse>(),
        handler: || get(show),
    },
    Route {
        method: "GET",
        path: "/api/agents/{slug}/can",
        access: Access::Owner,
        operation: "getRights",
        summary: "What an agent may do to everybody in the tree: alone, with a nod, never",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<CanResponse>(),
        handler: || get(can),
    },
    Route {
        method: "POST",
        path: "/api/agents/{slug}/move",
        access: Access::OwnerRecent,
        operation: "moveAgent",
        summary: "Move an agent and everybody below it under another parent, or tell what that would change",
        query: &[],
        request: Some(schema::<AgentMoveRequest>),
        response: json::<AgentMoveResponse>(),
        handler: || post(move_agent),
    },
];

fn member(view: &MemberView) -> MemberResponse {
    MemberResponse {
        name: view.name.to_string(),
        kind: view.kind.as_str().into(),
        parent: view.parent.as_ref().map(AgentName::to_string),
        depth: view.depth,
    }
}

pub(crate) async fn show(State(app): State<App>) -> Result<Json<TopologyResponse>, ApiError> {
    let view = tree::show(app.control()).await;
    let processes = agent_processes::list(app.processes()).await?;
    Ok(Json(TopologyResponse {
        agents: view.members.iter().map(member).collect(),
        processes: processes
            .into_iter()
            .map(super::agent_processes::response)
            .collect(),
        problems: view.problems,
        commit: view.commit,
    }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CanQuery {
    cursor: Option<String>,
    limit: Option<u32>,
}

/// Everybody in the order of the tree; the cursor is the last name.
pub(crate) async fn can(
    State(app): State<App>,
    Segment(slug): Segment,
    Query(page): Query<CanQuery>,
) -> Result<Json<CanResponse>, ApiError> {
    let limit = page_rows(page.limit)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let found = match slug.parse() {
        Ok(name) => tree::can(app.control(), &name).await?,
        Err(_) => None,
    };
    let view = found.ok_or_else(no_such_agent)?;
    let last = |over: &CanOver| page.cursor.as_deref() == Some(over.target.name.as_str());
    let start = match &page.cursor {
        None => 0,
        Some(_) => match view.over.iter().position(last) {
            Some(at) => at.saturating_add(1),
            None => return Err(ApiError::invalid_field("cursor", "is not of this list")),
        },
    };
    let rest = view.over.get(start..).unwrap_or_default();
    let shown = rest.get(..limit.min(rest.len())).unwrap_or_default();
    let next = shown.last().filter(|_| shown.len() < rest.len());
    let next = next.map(|over| over.target.name.to_string());
    let capabilities = view.capabilities.as_ref();
    Ok(Json(CanResponse {
        withdrawn: capabilities.is_none(),
        capabilities: (capabilities.iter().flat_map(|all| all.iter()))
            .map(|one| one.to_string())
            .collect(),
        operations: Operation::ALL.into_iter().map(operation).collect(),
        over: shown.iter().map(rights).collect(),
        agent: member(&view.member),
        next,
    }))
}

fn operation(operation: Operation) -> OperationResponse {
    OperationResponse {
        operation: operation.as_str().into(),
        words: operation.words().into(),
        needs: operation.needs().map(Capability::as_str).map(Into::into),
    }
}

fn rights(over: &CanOver) -> RightsResponse {
    let those = |wanted: Right| {
        let all = over
            .rights
            .iter()
            .filter(move |(_, right)| *right == wanted);
        all.map(|(operation, _)| operation.as_str().into())
            .collect()
    };
    let (relation, generations) = match over.relation {
        Relation::Same => ("self", None),
        Relation::Ancestor { depth } => ("ancestor", Some(depth)),
        Relation::Descendant { depth } => ("descendant", Some(depth)),
        Relation::Sibling => ("sibling", None),
        Relation::Stranger => ("stranger", None),
    };
    RightsResponse {
        agent: member(&over.target),
        relation: relation.into(),
        generations,
        alone: those(Right::Alone),
        with_nod: those(Right::WithNod),
        never: those(Right::Never),
    }
}

pub(crate) async fn move_agent(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(slug): Segment,
    Body(request): Body<AgentMoveRequest>,
) -> Result<Json<AgentMoveResponse>, ApiError> {
    let name: AgentName = slug.parse().map_err(|_| no_such_agent())?;
    let invalid = |_| ApiError::invalid_field("parent", "must be the name of an agent");
    let wanted = tree::MoveRequest {
        parent: request.parent.parse().map_err(invalid)?,
        is_dry_run: request.dry_run,
        seen: request.commit,
        name: name.clone(),
    };
    let moved = tree::move_agent(app.control(), &ctx, wanted).await;
    Ok(Json(moved_response(
        &moved.map_err(|error| move_error(error, &name))?,
    )))
}

fn moved_response(moved: &Moved) -> AgentMoveResponse {
    AgentMoveResponse {
        name: moved.name.to_string(),
        from: moved.from.as_ref().map(AgentName::to_string),
        to: moved.to.to_string(),
        below: moved.below,
        moved: moved.commit.is_some(),
        before: moved.before.clone(),
        commit: moved.commit.clone(),
        changes: moved.rights.iter().map(change).collect(),
        words: moved.rights.iter().flat_map(RightsChange::words).collect(),
    }
}

fn change(change: &RightsChange) -> RightsChangeResponse {
    let names = |all: &[AgentName]| {
        let told = all.iter().take(NAMES_MAX);
        told.map(AgentName::to_string).collect()
    };
    RightsChangeResponse {
        who: names(&change.who),
        who_count: change.who.len(),
        over: names(&change.over),
        over_count: change.over.len(),
        gains: change.shifts_of(true).map(shift).collect(),
        loses: change.shifts_of(false).map(shift).collect(),
    }
}

fn shift(shift: RightShift) -> RightShiftResponse {
    RightShiftResponse {
        operation: shift.operation.as_str().into(),
        from: shift.from.as_str().into(),
        to: shift.to.as_str().into(),
    }
}

fn no_such_agent() -> ApiError {
    ApiError::not_found("there is no such agent in the tree").hint("void agents tree shows who is")
}

fn move_error(error: MoveError, name: &AgentName) -> ApiError {
    let message = error.to_string();
    match error {
        MoveError::OwnerOnly => ApiError::owner_only(),
        MoveError::Unknown(unknown) if unknown == *name => no_such_agent(),
        MoveError::Unknown(_) => {
            ApiError::invalid_saying("parent", message).hint("void agents tree shows who is")
        }
        MoveError::Refused(MoveRefusal::Already { .. }) => {
            ApiError::new(FailureCode::NotNeeded, message)
        }
        MoveError::Refused(
            MoveRefusal::NoPosition(_)
            | MoveRefusal::Root
            | MoveRefusal::Cycle { .. }
            | MoveRefusal::Itself
            | MoveRefusal::TooDeep(_),
        ) => ApiError::invalid_saying("parent", message),
        MoveError::Changed => ApiError::new(FailureCode::Changed, message).hint(
            "look at the difference again; what was done in meta by hand counts after void reload",
        ),
        MoveError::Broken(_) | MoveError::Repository(_) => {
            ApiError::new(FailureCode::TreeBroken, message).hint("void doctor says what to do")
        }
        MoveError::Store(error) => error.into(),
    }
}
