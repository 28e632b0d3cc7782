//! `/api/proposals`: the life of a proposal.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use void_api::actions::PendingDecideRequest;
use void_api::proposals::{
    DecideRequest, DecisionWord, OutcomeWord, ProposalsResponse, RowResponse, SettleRequest,
};
use void_control::proposals::{
    self, CancelError, Decision, Listed, ProposalKey, SettleError, Settled,
};
use void_control::{Control, nodes, token_taints};
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::proposals::{Sight, Status};
use void_domain::taint::Taint;

use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::routes::actions::{self, WaitQuery, current};
use crate::table::{Access, CURSOR, LIMIT, Parameter, Route, WAIT, json, schema};
use crate::wire::{listed_response, row_response};

const UNTRUSTED: Parameter = Parameter {
    name: "untrusted",
    kind: "string",
    meaning: "true: what a machine or a stranger could have written too; the token of an agent is marked by it, and from then on \
        its safe actions wait",
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/proposals",
        access: Access::Read,
        operation: "listProposals",
        summary: "Proposals, newest first; an agent sees its own",
        query: &[
            Parameter {
                name: "status",
                kind: "string",
                meaning: "only those in this state",
            },
            CURSOR,
            LIMIT,
        ],
        request: None,
        response: json::<ProposalsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "GET",
        path: "/api/proposals/{id}",
        access: Access::Read,
        operation: "getProposal",
        summary: "One proposal, by id or code",
        query: &[UNTRUSTED],
        request: None,
        response: json::<RowResponse>(),
        handler: || get(show),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/decide",
        access: Access::Owner,
        operation: "decideProposal",
        summary: "Approve or reject, bound to the digest that was seen",
        query: &[WAIT],
        request: Some(schema::<DecideRequest>),
        response: json::<RowResponse>(),
        handler: || post(decide),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/cancel",
        access: Access::Withdraw,
        operation: "cancelProposal",
        summary: "Withdraw one's own request or draft while it waits; the owner also what is approved and has not started",
        query: &[],
        request: None,
        response: json::<RowResponse>(),
        handler: || post(cancel),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/settle",
        access: Access::OwnerRecent,
        operation: "settleProposal",
        summary: "Say what became of a run whose outcome is unknown",
        query: &[],
        request: Some(schema::<SettleRequest>),
        response: json::<RowResponse>(),
        handler: || post(settle),
    },
];

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowQuery {
    #[serde(default)]
    untrusted: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposalsQuery {
    status: Option<String>,
    cursor: Option<String>,
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(query): Query<ProposalsQuery>,
) -> Result<Json<ProposalsResponse>, ApiError> {
    let status = match query.status.as_deref() {
        None => None,
        Some(text) => Some(
            Status::parse(text)
                .ok_or_else(|| ApiError::invalid_field("status", "is no state of a proposal"))?,
        ),
    };
    let cursor: Option<ProposalId> = parse_cursor(query.cursor.as_deref())?;
    let page =
        proposals::list(app.control(), &ctx, status, cursor, page_rows(query.limit)?).await?;
    let sight = Sight::of(&ctx.actor);
    let rows = page.items.iter();
    Ok(Json(ProposalsResponse {
        proposals: rows.map(|row| listed_response(row, sight)).collect(),
        next: page.next,
    }))
}

pub(crate) async fn show(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
    Query(query): Query<ShowQuery>,
) -> Result<Json<RowResponse>, ApiError> {
    let missing = || ApiError::no_proposal();
    let key = ProposalKey::parse(&key).ok_or_else(missing)?;
    let (control, ctx) = (app.control(), &ctx);
    let found = proposals::find(control, ctx, key).await?;
    let found = found.ok_or_else(missing)?;
    let row = row_now(control, &found, Sight::of(&ctx.actor));
    if !query.untrusted {
        return Ok(Json(row));
    }
    let whole = row_now(control, &found, Sight::Whole);
    let proposal = &found.proposal;
    let mut given = Taint::clean();
    given.unite(&proposal.taint);
    let message = |row: &RowResponse| row.error.as_ref().map(|error| error.message.clone());
    if row.result != whole.result || message(&row) != message(&whole) {
        given.add(&format!("output of {}", proposal.code));
    }
    token_taints::mark(control, ctx, &given).await?;
    Ok(Json(whole))
}

/// The row, with what a node has said so far while it runs.
pub(super) fn row_now(control: &Control, found: &Listed, sight: Sight) -> RowResponse {
    let mut row = row_response(found, sight);
    let said = nodes::progress(control, &found.proposal);
    if !said.is_empty() && sight.is_whole() {
        row.result = Some(json!({ "progress": said }));
    }
    row
}

pub(crate) async fn decide(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
    Query(wait): Query<WaitQuery>,
    Body(request): Body<DecideRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let patience = wait.patience()?;
    let decision = match request.decision {
        Some(DecisionWord::Approve) => Decision::Approve,
        Some(DecisionWord::Reject) => Decision::Reject,
        None => {
            return Err(ApiError::invalid_field(
                "decision",
                "must be approve or reject",
            ));
        }
    };
    if request.digest.is_none() {
        return Err(ApiError::invalid_field(
            "digest",
            "is required: send the digest of the row that you saw",
        ));
    }
    let bound = PendingDecideRequest {
        digest: request.digest,
        revision: request.revision,
        reason: request.reason,
    };
    actions::decide(app.control(), &ctx, &key, decision, bound, patience)
        .await
        .map(Json)
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(id): Segment,
) -> Result<Json<RowResponse>, ApiError> {
    let id: ProposalId = id.parse().map_err(|_| ApiError::no_proposal())?;
    match proposals::cancel(app.control(), &ctx, id).await {
        Ok(cancelled) => current(app.control(), &ctx, cancelled.id).await.map(Json),
        Err(error @ CancelError::NotFound) => Err(ApiError::not_found(error.to_string())),
        Err(error @ (CancelError::Forbidden | CancelError::NoCapability)) => {
            Err(ApiError::forbidden(error.to_string()))
        }
        Err(CancelError::NotPending(row)) => {
            let message = format!("it no longer waits: it is {}", row.status().as_str());
            let row = current(app.control(), &ctx, row.id).await?;
            Err(ApiError::new(FailureCode::AlreadyDecided, message).row(row))
        }
        Err(error @ CancelError::Offered(_)) => {
            let message = error.to_string();
            let row = current(app.control(), &ctx, id).await?;
            Err(ApiError::new(FailureCode::Busy, message).row(row))
        }
        Err(CancelError::Store(error)) => Err(error.into()),
    }
}

pub(crate) async fn settle(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
    Body(request): Body<SettleRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let missing = || ApiError::no_proposal();
    let key = ProposalKey::parse(&key).ok_or_else(missing)?;
    let said = match request.outcome {
        Some(OutcomeWord::Executed) => Settled::Executed,
        Some(OutcomeWord::Failed) => Settled::Failed,
        None => {
            return Err(ApiError::invalid_field(
                "outcome",
                "must be executed or failed",
            ));
        }
    };
    match proposals::settle(app.control(), &ctx, key, said).await {
        Ok(settled) => current(app.control(), &ctx, settled.id).await.map(Json),
        Err(SettleError::NotFound) => Err(missing()),
        Err(SettleError::OwnerOnly) => Err(ApiError::owner_only()),
        Err(SettleError::NotUnknown(row)) => {
            let message = format!(
                "its outcome is not unknown: it is {}",
                row.status().as_str()
            );
            let row = current(app.control(), &ctx, row.id).await?;
            Err(ApiError::new(FailureCode::AlreadyDecided, message).row(row))
        }
        Err(SettleError::Store(error)) => Err(error.into()),
    }
}
