//! `/api/pending-changes/decide`, `/api/proposals/{id}/approve-edited` and `/api/proposals/{id}/again`: what the owner does with
//! drafts beside a yes or a no to one.

use axum::Json;
use axum::extract::State;
use axum::routing::post;
use void_api::cards::MergeConflictResponse;
use void_api::draft_decisions::{
    AgainRequest, ApproveEditedRequest, DraftDecisionsRequest, DraftResult, DraftResultsResponse,
    SeenDraft,
};
use void_api::entities::TEXT_REQUEST_BYTES_MAX;
use void_api::proposals::{DecisionWord, RowResponse};
use void_control::proposals::{
    self, AgainError, DecideDraftsError, DecideError, DecideRequest, Decision, DraftDecision,
    MovedBase, ProposalKey,
};
use void_control::{Control, Ctx};
use void_domain::digests::Digest;
use void_domain::knowledge::merges::{MergeConflict, NoMerge};
use void_domain::limits::DRAFTS_AT_ONCE_MAX;
use void_domain::proposals::Proposal;

use super::actions::{current, decide_error};
use super::cards::moved;
use super::drafts::{invalid_draft, patch};
use crate::app::App;
use crate::errors::ApiError;
use crate::requests::{Body, Caller, Segment};
use crate::table::{Access, Route, json, schema};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "POST",
        path: "/api/pending-changes/decide",
        access: Access::Owner,
        operation: "decideDrafts",
        summary: "Approve or reject several drafts of what the owner keeps, each bound to the digest that was seen",
        query: &[],
        request: Some(schema::<DraftDecisionsRequest>),
        response: json::<DraftResultsResponse>(),
        handler: || post(decide),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/approve-edited",
        access: Access::Owner,
        operation: "approveEdited",
        summary: "Approve a draft with the owner's own words in it",
        query: &[],
        request: Some(schema::<ApproveEditedRequest>),
        response: json::<RowResponse>(),
        handler: || post(approve_edited),
    },
    Route {
        method: "POST",
        path: "/api/proposals/{id}/again",
        access: Access::Owner,
        operation: "askAgain",
        summary: "Make a new draft that says the same of what is there now, for a draft that was not applied",
        query: &[],
        request: Some(schema::<AgainRequest>),
        response: json::<RowResponse>(),
        handler: || post(again),
    },
];

pub(crate) async fn decide(
    State(app): State<App>,
    Caller(ctx): Caller,
    Body(request): Body<DraftDecisionsRequest>,
) -> Result<Json<DraftResultsResponse>, ApiError> {
    let decision = match request.decision {
        Some(DecisionWord::Approve) => Decision::Approve,
        Some(DecisionWord::Reject) => Decision::Reject,
        None => {
            let problem = "must be approve or reject";
            return Err(ApiError::invalid_field("decision", problem));
        }
    };
    if request.drafts.is_empty() {
        return Err(ApiError::invalid_field("drafts", "must name at least one"));
    }
    let reason = request.reason;
    let seen = request.drafts.iter();
    let drafts = seen.map(|seen| draft_decision(seen, decision, reason.clone()));
    let drafts: Vec<DraftDecision> = drafts.collect::<Result<_, ApiError>>()?;
    let decided = proposals::decide_drafts(app.control(), &ctx, drafts).await;
    let decided = decided.map_err(|error| match error {
        DecideDraftsError::TooMany => {
            let problem = format!("are more than {DRAFTS_AT_ONCE_MAX}; decide them in parts");
            ApiError::invalid_field("drafts", problem)
        }
        DecideDraftsError::Store(error) => error.into(),
    })?;
    let mut results = Vec::with_capacity(decided.len());
    for (SeenDraft { id, .. }, answer) in request.drafts.into_iter().zip(decided) {
        let told = told(app.control(), &ctx, answer).await;
        let (row, error) = match told {
            Ok(row) => (Some(row), None),
            Err(error) => (None, Some(error.into_body())),
        };
        results.push(DraftResult { id, row, error });
    }
    Ok(Json(DraftResultsResponse { results }))
}

fn draft_decision(
    seen: &SeenDraft,
    decision: Decision,
    reason: Option<String>,
) -> Result<DraftDecision, ApiError> {
    let key = ProposalKey::parse(&seen.id);
    Ok(DraftDecision {
        key: key.ok_or_else(|| ApiError::invalid_field("drafts", "have an id that is none"))?,
        request: DecideRequest {
            decision,
            digest: Some(digest(&seen.digest)?),
            revision: seen.revision,
            reason,
            key: None,
        },
    })
}

fn digest(text: &str) -> Result<Digest, ApiError> {
    let problem = "must be 64 hexadecimal characters";
    (text.parse()).map_err(|_| ApiError::invalid_field("digest", problem))
}

/// The row as it is after a decision, or why there is none.
async fn told(
    control: &Control,
    ctx: &Ctx,
    answer: Result<Proposal, DecideError>,
) -> Result<RowResponse, ApiError> {
    match answer {
        Ok(decided) => current(control, ctx, decided.id).await,
        Err(error) => Err(decide_error(control, ctx, error).await?),
    }
}

pub(crate) async fn approve_edited(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
    Body(request): Body<ApproveEditedRequest, TEXT_REQUEST_BYTES_MAX>,
) -> Result<Json<RowResponse>, ApiError> {
    let key = ProposalKey::parse(&key).ok_or_else(ApiError::no_proposal)?;
    let Some(seen) = request.digest else {
        let problem = "is required: send the digest of the row that you saw";
        return Err(ApiError::invalid_field("digest", problem));
    };
    if request.fields.is_none() {
        let problem = "is missing: what is stored instead of what was drafted";
        return Err(ApiError::invalid_field("fields", problem));
    }
    let bound = DecideRequest {
        decision: Decision::Approve,
        digest: Some(digest(&seen)?),
        revision: request.revision,
        reason: None,
        key: None,
    };
    let (control, fields) = (app.control(), patch(request.fields)?);
    let answer = proposals::approve_edited(control, &ctx, key, bound, fields).await;
    told(control, &ctx, answer).await.map(Json)
}

pub(crate) async fn again(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(key): Segment,
    Body(AgainRequest {}): Body<AgainRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let key = ProposalKey::parse(&key).ok_or_else(ApiError::no_proposal)?;
    match proposals::again(app.control(), &ctx, key).await {
        Ok(made) => current(app.control(), &ctx, made.id).await.map(Json),
        Err(error) => Err(again_error(app.control(), &ctx, error).await?),
    }
}

async fn again_error(
    control: &Control,
    ctx: &Ctx,
    error: AgainError,
) -> Result<ApiError, ApiError> {
    let told = ApiError::new(error.code(), error.to_string());
    Ok(match error {
        AgainError::NotFound => ApiError::no_proposal(),
        AgainError::OwnerOnly => ApiError::owner_only(),
        AgainError::NotADraft | AgainError::Withdrawn | AgainError::Refused(_) => told,
        AgainError::Gone => told.hint("take it back first: void kb restore"),
        AgainError::NotNeeded(row) => told.row(current(control, ctx, row.id).await?),
        AgainError::NoMerge { why, there } => {
            let now = moved::response(MovedBase {
                base: None,
                now: Some(*there),
            });
            let told = told.moved(Some(now.await?));
            match *why {
                NoMerge::Conflicts {
                    conflicts,
                    left_out,
                } => told.conflicts(
                    conflicts.into_iter().map(conflict_response).collect(),
                    left_out,
                ),
                NoMerge::TooDifferent(_) | NoMerge::Invalid(_) => told,
            }
        }
        AgainError::Invalid(wrong) => invalid_draft(wrong),
        AgainError::Store(error) => error.into(),
    })
}

fn conflict_response(conflict: MergeConflict) -> MergeConflictResponse {
    MergeConflictResponse {
        line: conflict.line as u64,
        base: conflict.base,
        draft: conflict.draft,
        now: conflict.now,
    }
}
