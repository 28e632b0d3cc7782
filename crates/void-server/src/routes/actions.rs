//! `/api/actions`: the catalogue, naming an action, and the source documents' routes for what waits.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::Value;
use void_api::Word;
use void_api::actions::{
    ActionResponse, ActionsResponse, CatalogueResponse, ParamResponse, PendingDecideRequest,
    PendingResponse, RecentResponse, RunRequest, RunResponse, WarningResponse,
};
use void_api::proposals::RowResponse;
use void_control::proposals::{
    self, DecideError, DecideRequest, Decision, InvalidDraftEdit, ProposalKey, ProposeError,
    ProposeRequest, Proposed,
};
use void_control::{Control, Ctx, StoreError, freezes, health};
use void_domain::actors::{Actor, ActorKind};
use void_domain::cards::{self, Eyes};
use void_domain::catalogue::{Action, ParamSpec, Problem};
use void_domain::digests::Digest;
use void_domain::executions::{self, ActionKind, Execution};
use void_domain::failures::FailureCode;
use void_domain::freezes::Freeze;
use void_domain::ids::ProposalId;
use void_domain::limits::DIFF_BYTES_MAX;
use void_domain::policy::{self, Refusal};
use void_domain::proposals::{Proposal, Sight, State as ProposalState};
use void_domain::taint::Taint;

use crate::app::App;
use crate::errors::ApiError;
use crate::parameters::WAIT_SECONDS_MAX;
use crate::requests::{Body, Caller, Query, Segment, page_rows, parse_cursor};
use crate::routes::cards::moved;
use crate::routes::entities::invalid_fields;
use crate::table::{Access, CURSOR, LIMIT, Route, WAIT, json, schema};
use crate::wire::{listed_response, result_with_check, row_error, row_response};

pub(super) const ROUTES: &[Route] = &[
    Route {
        method: "GET",
        path: "/api/actions",
        access: Access::Read,
        operation: "listActions",
        summary: "The catalogue: everything that may run, with its digests and the commit it is at",
        query: &[],
        request: None,
        response: json::<ActionsResponse>(),
        handler: || get(list),
    },
    Route {
        method: "POST",
        path: "/api/actions/{id}/run",
        access: Access::Act,
        operation: "runAction",
        summary: "Name an action: safe ones run at once, risky ones wait for the owner",
        query: &[WAIT],
        request: Some(schema::<RunRequest>),
        response: json::<RunResponse>(),
        handler: || post(run),
    },
    Route {
        method: "GET",
        path: "/api/actions/pending",
        access: Access::Owner,
        operation: "listPending",
        summary: "What waits for the owner, oldest first",
        query: &[CURSOR, LIMIT],
        request: None,
        response: json::<PendingResponse>(),
        handler: || get(pending),
    },
    Route {
        method: "POST",
        path: "/api/actions/pending/{rowId}/approve",
        access: Access::Owner,
        operation: "approvePending",
        summary: "Approve what waits; answers with the row once it ended or the wait is over",
        query: &[WAIT],
        request: Some(schema::<PendingDecideRequest>),
        response: json::<RowResponse>(),
        handler: || post(approve),
    },
    Route {
        method: "POST",
        path: "/api/actions/pending/{rowId}/reject",
        access: Access::Owner,
        operation: "rejectPending",
        summary: "Reject what waits",
        query: &[],
        request: Some(schema::<PendingDecideRequest>),
        response: json::<RowResponse>(),
        handler: || post(reject),
    },
    Route {
        method: "GET",
        path: "/api/actions/recent",
        access: Access::Owner,
        operation: "listRecent",
        summary: "What ended, newest first",
        query: &[LIMIT],
        request: None,
        response: json::<RecentResponse>(),
        handler: || get(recent),
    },
];

const WAIT_DEFAULT: Duration = Duration::from_secs(30);

fn warning_response(warning: &Problem) -> WarningResponse {
    WarningResponse {
        severity: "warning".into(),
        line: warning.line,
        path: warning.path.clone(),
        message: warning.message.clone(),
        hint: warning.hint.clone(),
    }
}

fn param_response(spec: &ParamSpec) -> ParamResponse {
    match spec.clone() {
        ParamSpec::Integer { min, max } => ParamResponse::Integer { min, max },
        ParamSpec::Enum { values } => ParamResponse::Enum { values },
        ParamSpec::Pattern { pattern, max_len } => ParamResponse::Pattern { pattern, max_len },
    }
}

pub(super) fn action_response(action: &Action, eyes: &Eyes) -> ActionResponse {
    let execution = &action.execution;
    let (mut host, mut node, mut service, mut vmid, mut op) = (None, None, None, None, None);
    let mut guest = None;
    match &execution.kind {
        ActionKind::ServiceRestart {
            host: on,
            service: name,
        } => {
            (host, service) = (Some(on.name.to_string()), Some(name.clone()));
        }
        ActionKind::GuestPower { power, .. } => {
            guest = Some(Word::from(power.guest.as_str()));
            (node, vmid) = (Some(power.node.clone()), Some(power.vmid));
            op = Some(power.op.as_str().into());
        }
        ActionKind::OnNode {
            node: on,
            service: name,
            ..
        } => {
            (node, service) = (Some(on.clone()), Some(name.clone()));
        }
    }
    ActionResponse {
        id: action.id.to_string(),
        label: action.label.clone(),
        kind: execution.kind.as_str().into(),
        tier: action.tier.as_str().into(),
        risk: action.risk.as_str().into(),
        raised: action.raised.clone(),
        target: execution.kind.target(),
        host,
        node,
        service,
        vmid,
        kind_path: guest.clone(),
        guest,
        via: match Execution::route(execution) {
            executions::Route::Host(_) => "host".into(),
            executions::Route::Proxmox(_) => "proxmox".into(),
            executions::Route::Node(_) => "node".into(),
            executions::Route::File => "file".into(),
        },
        op,
        params: (action.params.iter())
            .map(|(name, spec)| (name.to_owned(), param_response(spec)))
            .collect(),
        verify: execution.verify.clone(),
        checked_by: cards::checked_with(Some(execution), eyes),
        inverse: action.inverse.as_ref().map(ToString::to_string),
        cooldown_s: action.cooldown.map(|cooldown| cooldown.as_secs()),
        agent_cooldown_s: policy::cooldown(action.cooldown, action.tier, ActorKind::Agent)
            .map(|cooldown| cooldown.as_secs()),
        max_per_hour: action.max_per_hour,
        timeout_s: execution.timeout.as_secs(),
        expires_s: action.expires_after.as_secs(),
        agents: action.agents.clone(),
        digest: action.digest().to_string(),
        exec_digest: action.exec_digest().to_string(),
    }
}

/// The answer of [`list`], or why it cannot be written.
struct ActionsText(Result<Bytes, String>);

/// All of it was read at the start, so it is written once.
pub(crate) async fn list(State(app): State<App>) -> Result<Response, ApiError> {
    let control = app.control();
    let text = control.derived(|| {
        let text = serde_json::to_vec(&actions_response(control));
        ActionsText(text.map(Bytes::from).map_err(|error| error.to_string()))
    });
    match &text.0 {
        Ok(text) => {
            Ok(([(header::CONTENT_TYPE, "application/json")], text.clone()).into_response())
        }
        Err(error) => Err(StoreError::Internal(error.clone()).into()),
    }
}

fn actions_response(control: &Control) -> ActionsResponse {
    let catalogue = control.catalogue();
    let eyes = health::eyes(control);
    ActionsResponse {
        actions: catalogue
            .actions()
            .map(|action| action_response(action, &eyes))
            .collect(),
        catalogue: CatalogueResponse {
            digest: catalogue.digest().to_string(),
            commit: control.catalogue_commit().map(str::to_owned),
            warnings: catalogue.warnings().iter().map(warning_response).collect(),
        },
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitQuery {
    wait: Option<u64>,
}

impl WaitQuery {
    pub(crate) fn patience(&self) -> Result<Duration, ApiError> {
        match self.wait {
            None => Ok(WAIT_DEFAULT),
            Some(seconds) if seconds <= WAIT_SECONDS_MAX => Ok(Duration::from_secs(seconds)),
            Some(_) => Err(ApiError::invalid_field(
                "wait",
                format!("must be 0 to {WAIT_SECONDS_MAX} seconds"),
            )),
        }
    }
}

pub(crate) async fn run(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(action_id): Segment,
    Query(wait): Query<WaitQuery>,
    Body(request): Body<RunRequest>,
) -> Result<Json<RunResponse>, ApiError> {
    let patience = wait.patience()?;
    let is_object = matches!(request.params, Value::Null | Value::Object(_));
    let wanted = ProposeRequest {
        action_id,
        params: request.params,
        reason: request.reason,
        diff: request.diff,
        taint: Taint::clean(),
    };
    let proposed = proposals::propose(app.control(), &ctx, wanted).await;
    let propose_error = |error| match error {
        ProposeError::InvalidParams(_) if !is_object => {
            ApiError::invalid_field("params", "must be an object")
        }
        error => propose_error(error),
    };
    match proposed.map_err(propose_error)? {
        Proposed::Queued(proposal) => Ok(Json(RunResponse::Queued {
            queued: true,
            action_row_id: proposal.id.to_string(),
        })),
        Proposed::Refused(refusal, proposal) => {
            let row = current(app.control(), &ctx, proposal.id).await?;
            let error = match refusal {
                Refusal::Frozen => frozen(app.control(), &ctx, refusal.message()).await?,
                Refusal::WordsTooSoon { until } => {
                    let wait = until.since(app.control().clock().now());
                    ApiError::held_back(&refusal.message(), wait)
                }
                refusal => ApiError::new(refusal.code(), refusal.message()),
            };
            Err(error.row(row))
        }
        Proposed::Started(proposal) => {
            let ended = proposals::wait_for_end(app.control(), proposal.id, patience).await?;
            Ok(Json(run_response(&ended, Sight::of(&ctx.actor))))
        }
    }
}

fn run_response(proposal: &Proposal, sight: Sight) -> RunResponse {
    let action_row_id = proposal.id.to_string();
    match &proposal.state {
        ProposalState::Executed {
            result,
            verification,
            ..
        } => RunResponse::Executed {
            executed: true,
            result: result_with_check(result, verification.as_ref(), sight),
            action_row_id,
        },
        ProposalState::Failed { failure, .. } | ProposalState::Unknown { failure, .. } => {
            RunResponse::NotExecuted {
                executed: false,
                status: proposal.status().as_str().into(),
                action_row_id,
                error: Some(row_error(&proposal.state, failure, sight)),
            }
        }
        _ => RunResponse::NotExecuted {
            executed: false,
            status: proposal.status().as_str().into(),
            action_row_id,
            error: None,
        },
    }
}

fn propose_error(error: ProposeError) -> ApiError {
    match error {
        ProposeError::UnknownAction { ref nearest, .. } => {
            let hint = match nearest {
                Some(id) => format!("did you mean {id}?"),
                None => "void actions ls shows what there is".to_owned(),
            };
            ApiError::new(FailureCode::UnknownAction, error.to_string()).hint(hint)
        }
        ProposeError::InvalidParams(invalid) => ApiError::invalid(
            invalid
                .0
                .into_iter()
                .map(|(name, problem)| (format!("params.{name}"), problem)),
        ),
        ProposeError::DiffTooLong => {
            ApiError::invalid_field("diff", format!("is longer than {DIFF_BYTES_MAX} bytes"))
        }
        ProposeError::ReasonTooLong => ApiError::reason_too_long(),
        ProposeError::TooManyRows(error) => ApiError::too_many_rows(&error),
        ProposeError::Store(error) => error.into(),
    }
}

/// Frozen, with what everybody asks next: by whom, why, until when, and how it ends.
async fn frozen(control: &Control, ctx: &Ctx, message: String) -> Result<ApiError, ApiError> {
    let told = match freezes::shown_to(control, ctx).await? {
        Freeze::Frozen(frozen) => format!(
            "{message} ({})",
            frozen.told_to(&ctx.actor, |at| at.to_string())
        ),
        Freeze::Thawed => message,
    };
    let hint = match ctx.actor {
        Actor::Owner { .. } => "void thaw",
        _ => "wait until the owner thaws it, then ask again",
    };
    Ok(ApiError::new(FailureCode::Frozen, told).hint(hint))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecentQuery {
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

pub(crate) async fn pending(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(page): Query<RecentQuery>,
) -> Result<Json<PendingResponse>, ApiError> {
    let cursor: Option<ProposalId> = parse_cursor(page.cursor.as_deref())?;
    let page = proposals::list_waiting(app.control(), cursor, page_rows(page.limit)?).await?;
    let sight = Sight::of(&ctx.actor);
    let rows = page.items.iter();
    Ok(Json(PendingResponse {
        pending: rows.map(|row| listed_response(row, sight)).collect(),
        next: page.next,
    }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitQuery {
    pub limit: Option<u32>,
}

pub(crate) async fn recent(
    State(app): State<App>,
    Caller(ctx): Caller,
    Query(page): Query<LimitQuery>,
) -> Result<Json<RecentResponse>, ApiError> {
    let recent = proposals::list_ended(app.control(), page_rows(page.limit)?).await?;
    let sight = Sight::of(&ctx.actor);
    let rows = recent.iter();
    Ok(Json(RecentResponse {
        recent: rows.map(|row| listed_response(row, sight)).collect(),
    }))
}

pub(crate) async fn approve(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(row_id): Segment,
    Query(wait): Query<WaitQuery>,
    Body(request): Body<PendingDecideRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    let patience = wait.patience()?;
    decide(
        app.control(),
        &ctx,
        &row_id,
        Decision::Approve,
        request,
        patience,
    )
    .await
    .map(Json)
}

pub(crate) async fn reject(
    State(app): State<App>,
    Caller(ctx): Caller,
    Segment(row_id): Segment,
    Body(request): Body<PendingDecideRequest>,
) -> Result<Json<RowResponse>, ApiError> {
    decide(
        app.control(),
        &ctx,
        &row_id,
        Decision::Reject,
        request,
        Duration::ZERO,
    )
    .await
    .map(Json)
}

pub(crate) async fn decide(
    control: &Control,
    ctx: &Ctx,
    key: &str,
    decision: Decision,
    request: PendingDecideRequest,
    patience: Duration,
) -> Result<RowResponse, ApiError> {
    let key = ProposalKey::parse(key).ok_or_else(ApiError::no_proposal)?;
    let digest: Option<Digest> =
        match request.digest {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                ApiError::invalid_field("digest", "must be 64 hexadecimal characters")
            })?),
        };
    let bound = DecideRequest {
        decision,
        digest,
        revision: request.revision,
        reason: request.reason,
        key: None,
    };
    let decided = match proposals::decide(control, ctx, key, bound).await {
        Ok(decided) => decided,
        Err(error) => return Err(decide_error(control, ctx, error).await?),
    };
    if decision == Decision::Approve {
        proposals::wait_for_end(control, decided.id, patience).await?;
    }
    current(control, ctx, decided.id).await
}

pub(super) async fn decide_error(
    control: &Control,
    ctx: &Ctx,
    error: DecideError,
) -> Result<ApiError, ApiError> {
    let message = error.to_string();
    Ok(match error {
        DecideError::NotFound => ApiError::no_proposal(),
        DecideError::OwnerOnly => ApiError::owner_only(),
        DecideError::DigestNeeded => ApiError::invalid_field(
            "digest",
            "is required: send the digest of the row that you saw",
        ),
        DecideError::FreshLoginNeeded => ApiError::fresh_login_needed(message),
        DecideError::OtherSurfaceNeeded => ApiError::forbidden(message),
        DecideError::ReasonTooLong => ApiError::reason_too_long(),
        DecideError::NotADraft => ApiError::forbidden(message),
        DecideError::InvalidEdit(InvalidDraftEdit::Fields(wrong)) => invalid_fields(wrong),
        DecideError::InvalidEdit(_) => ApiError::invalid_saying("fields", message),
        DecideError::Conflict { code, message, row } => {
            let error = match code {
                FailureCode::Frozen => frozen(control, ctx, message).await?,
                FailureCode::AlreadyDecided | FailureCode::Expired | FailureCode::Changed => {
                    ApiError::new(code, message).hint(format!("void inbox show {}", row.code))
                }
                FailureCode::BaseMoved => ApiError::new(code, message)
                    .hint("ask again: a new draft says the same of what is there now")
                    .moved(moved::of(control, ctx, &row).await?),
                code => ApiError::new(code, message),
            };
            error.row(current(control, ctx, row.id).await?)
        }
        DecideError::Store(error) => error.into(),
    })
}

/// The row as it is stored now, with all its steps: one look, so that they agree.
pub(crate) async fn current(
    control: &Control,
    ctx: &Ctx,
    id: ProposalId,
) -> Result<RowResponse, ApiError> {
    let found = proposals::find(control, ctx, ProposalKey::Id(id)).await?;
    let listed = found.ok_or_else(ApiError::no_proposal)?;
    Ok(row_response(&listed, Sight::of(&ctx.actor)))
}
